"""Games by name: built in, in a user's own file, or through a bridge to another library.

`make` is for people, who name what they want. `remake` is for stored specs, which may come from anyone: it runs a
Python file only with `trust`. A description in GDL, a .kif file, is data and needs no trust.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import importlib
import importlib.util
import json
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
)
from pathlib import Path, PureWindowsPath
from types import CodeType, ModuleType
from typing import Any

from ludus.errors import BadPosition, ChangedRules, LudusError, UnknownGame, Unsuitable, Untrusted, describe_error
from ludus.game import Game, game_classes, source_of
from ludus.position import Position
from ludus.sources import DESCRIPTION, Source, may_be_helper, read_source, real_path
from ludus.spec import GameSpec, shortened, split_identity

BRIDGES = {"gdl": "ludus.gdl.game", "openspiel": "ludus.openspiel"}
"""What may stand before a colon in a game's name, and the module whose `make(rest, **options)` answers for it."""


def names() -> list[str]:
    """The built-in games."""
    return sorted(file.stem for file in (Path(__file__).parent / "games").glob("*.py") if not file.stem.startswith("_"))


def make(source: str | os.PathLike[str] | GameSpec, /, **options: Any) -> Game:
    """A game by its name ("connect4"), its file ("path/to/mygame.py"), through a bridge ("openspiel:hex") or its spec.

    A file that ends in .kif is a description in GDL, which is data. A Python file is run, also if a spec names it: for
    specs from others use `remake`.
    """
    if isinstance(source, GameSpec):
        return remake(GameSpec(source.source, {**source.options, **options}, source.digest), trust=True)
    name = os.fspath(source)
    scheme, colon, rest = name.partition(":")
    if colon and scheme in BRIDGES:
        return importlib.import_module(BRIDGES[scheme]).make(rest, **options)
    if name.endswith(DESCRIPTION):
        return importlib.import_module(BRIDGES["gdl"]).make_file(name, **options)
    return game_class(name)(**options)


def remake(spec: GameSpec, trust: bool = False, strict: bool = False) -> Game:
    """The game that a stored spec describes.

    A user's Python file is run only with `trust`, else Untrusted says which code it is. If the rules in the file have
    changed since the spec was made, ChangedRules warns, or, if `strict`, Unsuitable is raised.
    """
    if runs_code(spec) and not trust:
        raise Untrusted(f"{spec.source} is Python code ({describe_source(read_source(Path(spec.source)))})")
    if has_file(spec):
        spec = GameSpec(str(real_path(spec.source)), spec.options, spec.digest)
    game = make(spec.source, **_stored_options(spec))
    if spec.digest and game.digest != spec.digest:
        changed = f"{spec.source} has changed: its rules are {game.digest} now and were {spec.digest}"
        if strict:
            raise Unsuitable(changed)
        warnings.warn(changed, ChangedRules, stacklevel=2)
    return game


def _stored_options(spec: GameSpec) -> Mapping[str, Any]:
    """The options of a spec. One of a game in GDL from before the option `counters` means a game without them."""
    is_described = spec.source.startswith("gdl:") or spec.source.endswith(DESCRIPTION)
    is_older = is_described and "reasoner" in spec.options and "counters" not in spec.options
    return {**spec.options, "counters": False} if is_older else spec.options


def require_view(name: object, spec: GameSpec, game: Game) -> None:
    """Raise Unsuitable if a network that was trained by this spec sees the game by another option than `game` has.

    Both are the same game: such an option is not part of its identity.
    """
    seen, mine = game.identity_options(), game.options_in_use()
    for option, value in _stored_options(spec).items():
        if option not in seen and mine.get(option, value) != value:
            shown = {True: "yes", False: "no"}.get(value, value)
            raise Unsuitable(f"{name} was trained with {option}={shown}: add --option {option}={shown}")


def has_file(spec: GameSpec) -> bool:
    """True if the game comes from a user's file."""
    return spec.source.partition(":")[0] not in BRIDGES and is_file(spec.source)


def runs_code(spec: GameSpec) -> bool:
    """True if making the game runs a Python file that is not part of Ludus or of a bridge."""
    return has_file(spec) and not spec.source.endswith(DESCRIPTION)


def is_file(name: str) -> bool:
    """True if a game of this name comes from a file."""
    return name.endswith((".py", DESCRIPTION)) or "/" in name or "\\" in name


def file_name(spec: GameSpec) -> str:
    """The name of a spec's file without its folders, wherever the spec was made."""
    return PureWindowsPath(spec.source).name


def describe_source(source: Source) -> str:
    """The checksum and the number of helper files of a source, for a message."""
    count = source.helpers
    return f"checksum {source.checksum}, {count or 'no'} helper file{'' if count == 1 else 's'}"


def title_of(identity: str) -> str:
    """The title and the options of the game with this identity, for people; of a user's own game, its name."""
    found = re.fullmatch(r"(.*?)\((.*)\)v\d+", split_identity(identity)[0], re.DOTALL)
    name, options = (found[1], found[2]) if found else (identity, "")
    title = game_class(name).title if name in names() else name
    return f"{title} ({options.replace(',', ', ')})" if options else title


def from_json(data: Mapping[str, Any] | str, game: Game | None = None, trust: bool = False) -> Position:
    """The position that `Position.json` described, as a dictionary or as text.

    `game`, if given, reads the position. Otherwise the game is made as the data say: a Python file that they name is
    run only with `trust`.
    """
    try:
        data = json.loads(data) if isinstance(data, str) else data
        text = str(data["position"])
        game = described_game(data, game, trust)
    except LudusError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadPosition(f"this is not the JSON of a position: {describe_error(error)}") from None
    return game.parse(text)


def described_game(data: Mapping[str, Any], game: Game | None = None, trust: bool = False) -> Game:
    """The game of a stored position or record, by its spec, name and version; `game`, if given, must be the same."""
    if isinstance(data["game"], str):  # as Ludus 0.1 wrote it
        name, spec = data["game"], GameSpec(data["game"], data["options"])
    else:
        name, spec = data["name"], GameSpec.from_json(data["game"])
    given = game is not None
    if game is None:
        game = remake(spec, trust)
    if (game.name, game.version) != (name, data["version"]):
        told = f"a position of {shortened(name)}, version {shortened(data['version'])}"
        raise BadPosition(f"{told}, cannot be read by {game.name} {game.version}")
    if given and spec.digest and game.digest != spec.digest:
        warnings.warn(f"the rules of {game.name} have changed since this was written", ChangedRules, stacklevel=3)
    return game


def game_class(name: str) -> type[Game]:
    """The Game class of a built-in name or of a file."""
    if is_file(name):
        if not name.endswith(".py"):
            raise UnknownGame(f"{name} is no game: a file of your own ends in .py (Python) or .kif (rules in GDL)")
        found = game_classes(_load_file(Path(name)))
        if len(found) != 1:
            raise UnknownGame(
                f"{name} must define exactly one class derived from ludus.Game with Rules; it has {len(found)}"
            )
        source_of(found[0])  # as it is now: the file may change while the class is in use
        return found[0]
    if name not in names():
        close = difflib.get_close_matches(name, names(), 1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names())}."
        raise UnknownGame(f"no game is called {name!r}; {hint} A file of your own ends in .py or .kif")
    (found_class,) = game_classes(importlib.import_module(f"ludus.games.{name}"))
    return found_class


# --- files ------------------------------------------------------------------------------------------------------------


def _load_file(path: Path) -> Any:
    """The module in a file, run once for each content of the file and of its helpers."""
    path = real_path(path)
    source = read_source(path)
    # One module for each path and content: an edited file is loaded anew, and its stale code left alone.
    content = hashlib.sha256(bytes(path) + source.files[path.name]).hexdigest()
    module_name = f"ludus_game_{path.stem}_{content[:12]}"
    known = sys.modules.get(module_name)
    if known is not None and all(_content(helper) == helper.__content__ for helper in known.__helpers__):
        return known
    loader = _SourceLoader(module_name, str(path))
    spec = importlib.util.spec_from_loader(module_name, loader, origin=str(path))
    assert spec is not None
    module: Any = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    module.__home__ = f"ludus_game_{path.stem}"
    module.__content__ = source.files[path.name]
    sys.modules[module_name] = module
    try:
        with _helpers_of(source) as module.__helpers__:
            loader.exec_module(module)
    except BaseException as error:
        del sys.modules[module_name]
        if isinstance(error, LudusError | KeyboardInterrupt):
            raise
        raise UnknownGame(f"{path.name} cannot be loaded: {describe_error(error)}") from error
    module.__source__ = read_source(path, [helper.__file__ for helper in module.__helpers__ if helper.__file__])
    return module


@contextlib.contextmanager
def _helpers_of(source: Source) -> Iterator[list[ModuleType]]:
    """Let the code in the `with` statement import the helpers of a game; the list has their modules afterwards.

    Helpers belong to this game alone: another folder may have one of the same name, and this one may be edited.
    """
    folder = source.path.parent
    files = [Path(name) for name in source.files if name != source.path.name]
    packages = {str(folder), *(str((folder / file).parent) for file in files)}
    names = {file.parts[0].partition(".")[0] for file in files}
    others = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] in names}
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    for package in packages:
        sys.path_importer_cache[package] = _HelperFinder(
            package, (ExtensionFileLoader, EXTENSION_SUFFIXES), (_SourceLoader, SOURCE_SUFFIXES)
        )
    loaded: list[ModuleType] = []
    try:
        yield loaded
    finally:
        sys.path.remove(str(folder))
        for package in packages:
            sys.path_importer_cache.pop(package, None)
        new = [name for name in sorted(set(sys.modules) - before) if _lies_beside(source.path, name.partition(".")[0])]
        for helper in (sys.modules.pop(name) for name in new):
            helper.__content__ = _content(helper)  # type: ignore[attr-defined]
            loaded.append(helper)
        sys.modules.update(others)


class _HelperFinder(FileFinder):
    """Finds the helpers in the folder of a game, and nothing that bears the name of a library."""

    def find_spec(self, fullname: str, target: Any = None) -> ModuleSpec | None:
        return super().find_spec(fullname, target) if may_be_helper(fullname) else None


class _SourceLoader(SourceFileLoader):
    """Reads the source itself: a compiled .pyc may be stale if a file is edited twice in one second."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _lies_beside(path: Path, name: str) -> bool:
    places = (f"{name}.py", f"{name}/__init__.py")
    return may_be_helper(name) and any((path.parent / place).is_file() for place in places)


def _content(module: ModuleType) -> bytes | None:
    """The present content of a module's file; None if there is no file."""
    file = Path(module.__file__ or "")
    return file.read_bytes() if file.is_file() else None
