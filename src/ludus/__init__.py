"""Ludus: AlphaZero for any board game on ordinary hardware."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "EVERYONE",
    "Game",
    "GameSpec",
    "LudusError",
    "Position",
    "__version__",
    "from_json",
    "grade",
    "make",
    "names",
    "open_results",
    "play_match",
    "rate",
]

if TYPE_CHECKING:
    from ludus.api.matches import grade, open_results, play_match, rate
    from ludus.errors import LudusError
    from ludus.game import Game
    from ludus.position import Position
    from ludus.registry import from_json, make, names
    from ludus.rules import EVERYONE
    from ludus.spec import GameSpec

_HOMES = {
    "LudusError": "errors",
    "Game": "game",
    "GameSpec": "spec",
    "Position": "position",
    "from_json": "registry",
    "make": "registry",
    "grade": "api.matches",
    "names": "registry",
    "open_results": "api.matches",
    "play_match": "api.matches",
    "rate": "api.matches",
    "EVERYONE": "rules",
}


def __getattr__(name: str) -> Any:
    """Load a part when it is first asked for, so that `import ludus` and `ludus --help` stay quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ludus' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"ludus.{_HOMES[name]}"), name)
