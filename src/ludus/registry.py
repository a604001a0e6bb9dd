"""Games by name: built in, in a user's own file, or through a bridge to another library."""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import json
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES, ExtensionFileLoader, FileFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

from ludus.errors import BadPosition, LudusError, UnknownGame, describe_error
from ludus.game import Game, Position

BRIDGES = {"openspiel": "ludus.openspiel"}
"""What may stand before a colon in a game's name, and the module whose `make(rest, **options)` answers for it."""


def names() -> list[str]:
    """The built-in games."""
    return sorted(file.stem for file in (Path(__file__).parent / "games").glob("*.py") if not file.stem.startswith("_"))


def make(name: str | os.PathLike[str], **options: Any) -> Game:
    """A game by its name ("connect4"), by its file ("path/to/mygame.py") or through a bridge ("openspiel:hex")."""
    name = os.fspath(name)
    scheme, colon, rest = name.partition(":")
    if colon and scheme in BRIDGES:
        game = importlib.import_module(BRIDGES[scheme]).make(rest, **options)
    else:
        game = game_class(name)(**options)
        name = str(Path(name).expanduser().resolve()) if _is_file(name) else name
    game.made_by = name, options
    return game


def from_json(data: dict[str, Any] | str, game: Game | None = None) -> Position:
    """The position that `Position.json` described, as a dictionary or as text; `game` where it is none of a name."""
    try:
        data = json.loads(data) if isinstance(data, str) else data
        name, options, version, text = (data[key] for key in ("game", "options", "version", "position"))
    except (ValueError, TypeError, KeyError) as error:
        raise BadPosition(f"this is not the JSON of a position: {describe_error(error)}") from None
    game = make(name, **options) if game is None else game
    if (game.name, game.version) != (name, version):
        raise BadPosition(f"a position of {name}, version {version}, cannot be read by {game.name} {game.version}")
    return game.parse(text)


def game_class(name: str) -> type[Game]:
    """The Game class of a built-in name or of a file."""
    if _is_file(name):
        return _class_in(_load_file(Path(name)), name)
    if name not in names():
        close = difflib.get_close_matches(name, names(), 1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names())}."
        raise UnknownGame(f"no game is called {name!r}; {hint} A file of your own ends in .py")
    return _class_in(importlib.import_module(f"ludus.games.{name}"), name)


def _is_file(name: str) -> bool:
    return name.endswith(".py") or "/" in name


def _load_file(path: Path) -> Any:
    path = path.expanduser().resolve()
    if not path.is_file():
        raise UnknownGame(f"there is no game file {path}")
    # One module for each path and content: an edited file is loaded anew, and its stale code left alone.
    source = path.read_bytes()
    module_name = f"ludus_game_{path.stem}_{hashlib.sha256(bytes(path) + source).hexdigest()[:12]}"
    known = sys.modules.get(module_name)
    if known is not None and all(_content(helper) == helper.__content__ for helper in known.__helpers__):
        return known
    loader = _SourceLoader(module_name, str(path))
    spec = importlib.util.spec_from_loader(module_name, loader, origin=str(path))
    assert spec is not None
    module: Any = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    sys.modules[module_name] = module
    folder = str(path.parent)
    before = set(sys.modules)
    sys.path.insert(0, folder)  # so that the game may import helpers that lie beside it
    sys.path_importer_cache[folder] = FileFinder(
        folder, (ExtensionFileLoader, EXTENSION_SUFFIXES), (_SourceLoader, SOURCE_SUFFIXES)
    )
    try:
        loader.exec_module(module)
    except BaseException as error:
        del sys.modules[module_name]
        if isinstance(error, LudusError | KeyboardInterrupt):
            raise
        raise UnknownGame(f"{path.name} cannot be loaded: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)
        del sys.path_importer_cache[folder]
        # Helpers belong to this game alone: another folder may have one of the same name, and this one may be edited.
        module.__helpers__ = [
            sys.modules.pop(name)
            for name in sorted(set(sys.modules) - before)
            if _lies_beside(path, name.partition(".")[0])
        ]
        for helper in module.__helpers__:
            helper.__content__ = _content(helper)
    return module


class _SourceLoader(SourceFileLoader):
    """Reads the source itself: a compiled .pyc may be stale if a file is edited twice in one second."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _lies_beside(path: Path, name: str) -> bool:
    return name != "ludus" and any((path.parent / place).is_file() for place in (f"{name}.py", f"{name}/__init__.py"))


def _content(module: Any) -> bytes | None:
    """What the file of a module holds now; None where there is none."""
    file = Path(module.__file__ or "")
    return file.read_bytes() if file.is_file() else None


def _class_in(module: Any, name: str) -> type[Game]:
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Game)
        and value.__module__ == module.__name__
        and hasattr(value, "Rules")
    ]
    if len(found) != 1:
        raise UnknownGame(
            f"{name} must define exactly one class derived from ludus.Game with Rules; it has {len(found)}"
        )
    return found[0]
