"""The description of a run: config.toml with its game and settings, and about.json with their copy and its origin.

Each is checked by a checksum. If one is damaged, the other replaces it.
"""

from __future__ import annotations

import dataclasses
import json
import platform
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludus.bounded import read_text
from ludus.errors import DamagedRun, LudusError
from ludus.runs.checksums import Damaged, check_text, is_sealed, seal_json, seal_text, unseal_json
from ludus.runs.config import FORMER_NAMES, LARGEST_FILE, Config, read_toml, with_settings, write_toml
from ludus.runs.files import BadRun, write_bytes, write_whole
from ludus.spec import GameSpec

if TYPE_CHECKING:
    from ludus.game import Game

CONFIG, ABOUT = "config.toml", "about.json"
LAST_OF_0_1 = "learner_threads"
"""The last setting in files of Ludus 0.1, which have no checksum and no copy."""


@dataclass(frozen=True)
class Description:
    """What the files say."""

    spec: GameSpec | None
    """The game; None if a file of Ludus 0.1 does not name it."""
    config: Config
    trained: str | None
    """The identity of the game; None if about.json is damaged."""


def write_description(folder: Path, game: Game, config: Config) -> None:
    """Write both files; config.toml, which makes the folder a run, comes last."""
    from ludus import __version__

    spec = game.spec
    about = {
        "ludus": __version__,
        "game": game.identity,
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {platform.system()}",
        "began": time.strftime("%Y-%m-%d %H:%M:%S"),
        "spec": spec.json(),
        "settings": dataclasses.asdict(config),
    }
    sealed = json.dumps(seal_json(about), indent=2) + "\n"
    text = seal_text(write_toml(spec, config))
    write_whole(folder / ABOUT, lambda path: write_bytes(path, sealed))
    write_whole(folder / CONFIG, lambda path: write_bytes(path, text))


def read_description(folder: Path) -> Description:
    """The description of the run in a folder. DamagedRun warns if one file had to replace the other."""
    try:
        found = (folder / CONFIG).exists() or (folder / ABOUT).exists()
    except OSError as error:  # a name that no file system takes
        raise BadRun(f"{folder} is not a run: {error.strerror}") from None
    if not found:
        raise BadRun(f"{folder} is not a run: it has no {CONFIG}")
    try:
        about = _read_about(folder / ABOUT)
        problem = None
    except Damaged as error:
        about, problem = {}, error
    try:
        spec, config = _read_config(folder / CONFIG, about.get("settings"))
    except Damaged as error:
        if "settings" not in about:
            raise
        _warn(f"{error}; the run goes on with the copy in {ABOUT}")
        spec, config = GameSpec.from_json(about["spec"]), with_settings(Config(), about["settings"])
    if problem is not None:
        _warn(f"{problem}; the run goes on with the game that {CONFIG} names")
    return Description(spec, config, about.get("game"))


def _warn(text: str) -> None:
    warnings.warn(text, DamagedRun, stacklevel=5)


def _read_about(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(read_text(path, LARGEST_FILE))
        about = unseal_json(data, path)
        if not isinstance(about.get("game"), str):
            raise Damaged(f"{path} is damaged: it names no game")
        if "settings" in about:  # both fields must be of use if they are needed
            GameSpec.from_json(about["spec"])
            with_settings(Config(), about["settings"])
    except Damaged:
        raise
    except (OSError, ValueError, AttributeError, KeyError, TypeError, RecursionError, LudusError) as error:
        raise Damaged(f"{path} is damaged: {_reason(error)}") from None
    return about


def _read_config(path: Path, copy: dict[str, Any] | None) -> tuple[GameSpec | None, Config]:
    """The game and the settings in config.toml; Damaged if it is not as it was written or as a person edited it.

    A file without a checksum was edited, cut off, or written by Ludus 0.1. It must have every setting of the `copy`,
    and end with a whole line.
    """
    try:
        text = read_text(path, LARGEST_FILE)
    except (OSError, UnicodeDecodeError) as error:
        raise Damaged(f"{path} is damaged: {_reason(error)}") from None
    check_text(text, path)
    try:
        spec, settings = read_toml(path)
    except LudusError as error:
        raise Damaged(f"{path} is damaged: {error}") from None
    if not is_sealed(text):
        names = {FORMER_NAMES.get(name, name) for name in settings}
        missing = [name for name in copy or (LAST_OF_0_1,) if name not in names]
        if missing or not text.endswith("\n") or not settings:
            what = f"the setting {missing[0]} is missing" if missing else "its end is missing"
            raise Damaged(f"{path} is damaged: {what}")
    return spec, with_settings(Config(), settings)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return "it is missing" if isinstance(error, FileNotFoundError) else str(error.strerror or error)
    return f"{type(error).__name__}: {error}"
