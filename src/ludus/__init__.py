"""Ludus: AlphaZero for any board game on ordinary hardware."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["EVERYONE", "Game", "LudusError", "Position", "__version__", "from_json", "make", "names", "train"]

if TYPE_CHECKING:
    from ludus.errors import LudusError
    from ludus.game import Game, Position
    from ludus.registry import from_json, make, names
    from ludus.rules import EVERYONE
    from ludus.training.session import train

_HOMES = {
    "LudusError": "errors",
    "Game": "game",
    "Position": "game",
    "from_json": "registry",
    "make": "registry",
    "names": "registry",
    "EVERYONE": "rules",
    "train": "training.session",
}


def __getattr__(name: str) -> Any:
    """Load a part when it is first asked for, so that `import ludus` and `ludus --help` stay quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ludus' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"ludus.{_HOMES[name]}"), name)
