"""Parcels: games and trained players as bytes, for nodes that do not have their files.

The code of a user's game was run by this process before it is sent, so the user's trust is settled before. A node
writes the files into a private folder of its own, which is removed when its actor ends.
"""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludus.errors import BrokenGame
from ludus.registry import file_name, remake
from ludus.spec import GameSpec

if TYPE_CHECKING:
    from ludus.game import Game


@dataclass(frozen=True)
class GameParcel:
    """A game that another machine can make."""

    spec: dict[str, Any]
    """GameSpec.json() of the game."""
    identity: str
    files: dict[str, bytes]
    """The files of a user's game by their path relative to the folder of the game; empty for other games."""


@dataclass(frozen=True)
class Files:
    """Files by their paths relative to a folder, with a key by which a node knows them again."""

    key: str
    content: dict[str, bytes]


def pack_game(game: Game) -> GameParcel:
    """The parcel of a game. A user's file and its helpers, or a description in GDL, are part of it."""
    spec = game.spec
    source = game.source if spec.digest else None
    return GameParcel(spec.json(), game.identity, {} if source is None else dict(source.files))


def unpack_game(parcel: GameParcel, folder: Path) -> Game:
    """The game of a parcel. The files of a user's game are written into `folder`, and its code is run."""
    spec = GameSpec.from_json(parcel.spec)
    if parcel.files:
        write_files(parcel.files, folder)
        spec = GameSpec(str(folder / file_name(spec)), spec.options, spec.digest)
    game = remake(spec, trust=True, strict=True)  # the sender has run it before
    if game.identity != parcel.identity:
        raise BrokenGame(f"{parcel.spec['source']} makes {game.identity} on this node, not {parcel.identity}")
    return game


def read_files(folder: Path, names: list[str]) -> Files:
    """The files of these names in a folder."""
    content = {name: (folder / name).read_bytes() for name in names}
    hashed = hashlib.sha256()
    for name, data in content.items():
        hashed.update(f"{name}\0{len(data)}\0".encode() + data)
    return Files(hashed.hexdigest()[:16], content)


def write_files(files: dict[str, bytes], folder: Path) -> None:
    """Write files into a folder, which need not exist."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def private_folder() -> tempfile.TemporaryDirectory[str]:
    """A new folder that only this user can read. It is removed with the object."""
    return tempfile.TemporaryDirectory(prefix="ludus-node-")
