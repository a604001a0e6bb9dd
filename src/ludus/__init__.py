"""Ludus: AlphaZero for any board game on ordinary hardware."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "EVERYONE",
    "Budget",
    "Game",
    "GameSpec",
    "LudusError",
    "Position",
    "Session",
    "Tree",
    "__version__",
    "analyse",
    "from_json",
    "grade",
    "make",
    "make_agent",
    "names",
    "open_results",
    "open_run",
    "perft",
    "play_match",
    "rate",
    "review",
    "solve",
    "train",
]

if TYPE_CHECKING:
    from ludus.agents.budget import Budget
    from ludus.agents.naming import make_agent
    from ludus.api.analysis import analyse
    from ludus.api.matches import grade, open_results, play_match, rate
    from ludus.api.review import review
    from ludus.api.session import Session
    from ludus.api.solving import perft, solve
    from ludus.api.tree import Tree
    from ludus.errors import LudusError
    from ludus.game import Game
    from ludus.position import Position
    from ludus.registry import from_json, make, names
    from ludus.rules import EVERYONE
    from ludus.runs.run import open_run
    from ludus.spec import GameSpec
    from ludus.training.session import train

_HOMES = {
    "Budget": "agents.budget",
    "EVERYONE": "rules",
    "Game": "game",
    "GameSpec": "spec",
    "LudusError": "errors",
    "Position": "position",
    "Session": "api.session",
    "Tree": "api.tree",
    "analyse": "api.analysis",
    "from_json": "registry",
    "grade": "api.matches",
    "make": "registry",
    "make_agent": "agents.naming",
    "names": "registry",
    "open_results": "api.matches",
    "open_run": "runs.run",
    "perft": "api.solving",
    "play_match": "api.matches",
    "rate": "api.matches",
    "review": "api.review",
    "solve": "api.solving",
    "train": "training.session",
}
"""The module of each name, below `ludus`."""


def __getattr__(name: str) -> Any:
    """Load a part when it is first asked for, so that `import ludus` and `ludus --help` stay quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ludus' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"ludus.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
