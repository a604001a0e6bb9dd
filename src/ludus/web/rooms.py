"""All rooms: those in memory, and those kept as files, so that a restart of the server comes back to the same games.

A file holds the record of the session (`Session.record`) and the browsers that have its seats. It is written whole, in
a thread of its own, after each change.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ludus.api.record import BadRecord
from ludus.api.seats import HUMAN
from ludus.api.session import Session
from ludus.bounded import read_text
from ludus.errors import BadOption, LudusError
from ludus.runs.files import write_bytes, write_whole
from ludus.spec import GameSpec
from ludus.web.catalogue import Catalogue
from ludus.web.making import Makers, Making
from ludus.web.memory import TreeMemory
from ludus.web.room import OPEN, Refused, Room
from ludus.web.settings import GAMES_LIMIT

FORMAT = "ludus web game 1"
ID = re.compile(r"[A-Za-z0-9_-]{16}")
LARGEST_FILE = 16 << 20
"""Largest file of a game in bytes."""
MOST_PLIES = 4000
"""Largest number of moves in a record that is loaded."""
DELAY = 0.1
"""Seconds for which changes of games are collected before they are written."""
IDLE = 120.0
"""Seconds after which a room without viewers leaves the memory; its file stays."""


class NotThere(LudusError):
    """There is no such game."""


class Rooms:
    """The rooms of a server, by id."""

    def __init__(self, catalogue: Catalogue, memory: TreeMemory, folder: Path):
        self.catalogue, self.memory, self.folder = catalogue, memory, folder
        self._makers = Makers(catalogue)
        self._rooms: dict[str, Room] = {}
        self._lock = threading.RLock()
        self._writing = threading.Lock()
        """Held while a file is written or removed."""
        self._dirty: dict[str, Room] = {}
        self._news = threading.Condition()
        self._closing = False
        folder.mkdir(parents=True, exist_ok=True)
        self._writer = threading.Thread(target=self._write_all, name="ludus games writer", daemon=True)
        self._writer.start()

    def close(self) -> None:
        """Stop all agents and write all games."""
        self._makers.close()
        for room in self.all():
            room.session.cancel()
        with self._news:
            self._closing = True
            self._news.notify_all()
        self._writer.join(10)

    # --- making and finding -------------------------------------------------------------------------------------------

    def create(
        self,
        browser: str,
        key: str | None,
        options: Mapping[str, Any] | None = None,
        seats: Sequence[str] | None = None,
        clocks: str | Sequence[str | None] | None = None,
        seed: int = 0,
        position: str | None = None,
        moves: Sequence[str] = (),
        record: Mapping[str, Any] | None = None,
        caption: str = "",
    ) -> Room:
        """A new game. The browser gets all human seats but those given as "open"."""
        if sum(1 for _ in self.folder.glob("*.json")) >= GAMES_LIMIT:
            raise BadOption(f"{GAMES_LIMIT} games are kept at most: delete some first")
        if record is not None:
            key, options = self._recorded_game(record)
        elif key is None:
            raise BadOption("name a game, or give a record")
        making = self._makers.make(key, options or {})
        game = making.game
        open_seats = [player for player, seat in enumerate(seats or ()) if seat == OPEN]
        names = None if seats is None else [HUMAN if seat == OPEN else seat for seat in seats]
        agents: dict[str, Any] = {"make_agent": self.catalogue.make_agent, "is_late": making.is_late}
        if record is not None:
            session = Session.from_record(dict(record), game, names, **agents)
        else:
            session = Session(game, names, text=position, moves=moves, seed=seed, clocks=clocks, **agents)
        claims = {player: browser for player in session.people if player not in open_seats}
        trained = self.catalogue.has_player_for(key, game)
        room = Room(secrets.token_urlsafe(12), key, session, self.memory, claims, self._changed, trained)
        room.caption = caption
        with self._lock:
            self._rooms[room.id] = room
        making.finish(room)
        self._changed(room)
        return room

    def _recorded_game(self, record: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The key and the options of a record, which may come from anyone: a game of the catalogue."""
        moves = record.get("moves")
        if not isinstance(moves, list) or len(moves) > MOST_PLIES:
            raise BadRecord(f"a record has a list of at most {MOST_PLIES:,} moves")
        spec = GameSpec.from_json(record.get("game"))
        key = self.catalogue.key_of(spec)
        if key is None:
            raise BadRecord(f"this server has no game {Path(spec.source).name!r}: start it with --game FILE")
        return key, self._known_options(key, spec)

    def _known_options(self, key: str, spec: GameSpec) -> dict[str, Any]:
        known = self.catalogue.entry(key).defaults
        return {name: value for name, value in spec.options.items() if name in known}

    def get(self, id: str) -> Room:
        """The room of an id, read from its file if it is not in memory; NotThere if there is none."""
        with self._lock:
            room = self._rooms.get(id)
        if room is None:
            loaded, making = self._load(id)
            with self._lock:
                room = self._rooms.setdefault(id, loaded)
            if room is loaded:  # another thread may have read it meanwhile
                making.finish(room)
        room.updated = max(room.updated, time.time() - IDLE / 2)  # it is about to be used
        return room

    def _load(self, id: str) -> tuple[Room, Making]:
        path = self._path(id)
        if not path.is_file():
            raise NotThere("there is no such game: it may have been deleted")
        try:
            data = json.loads(read_text(path, LARGEST_FILE))
            if data["format"] != FORMAT:
                raise NotThere("this game was written by another version of Ludus")
            key, record = data["key"], data["record"]
            making = self._makers.make(key, self._known_options(key, GameSpec.from_json(record["game"])))
            agents: dict[str, Any] = {"make_agent": self.catalogue.make_agent, "is_late": making.is_late}
            session = Session.from_record(record, making.game, **agents)
            claims = {int(player): str(browser) for player, browser in data["claims"].items()}
            clocks_ran, caption = data.get("clocks_run") is True, str(data.get("caption", ""))
        except LudusError:
            raise
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise NotThere(f"the file of this game is damaged: {error}") from None
        trained = self.catalogue.has_player_for(key, making.game)
        room = Room(id, key, session, self.memory, claims, self._changed, trained, clocks_ran)
        room.caption, room.updated = caption, path.stat().st_mtime
        if making.is_pending:
            room.await_rules()
        return room, making

    def delete(self, id: str, browser: str) -> None:
        """Remove a game of a browser, in memory and on disk."""
        room = self.get(id)
        if room.claims and browser not in room.claims.values():
            raise Refused("this game is not yours")
        with self._lock, self._news:
            self._rooms.pop(id, None)
            self._dirty.pop(id, None)
        with self._writing:
            self._path(id).unlink(missing_ok=True)
        room.close()

    def of_browser(self, browser: str) -> list[dict[str, Any]]:
        """The games in which a browser has a seat, the latest first."""
        found = []
        for path in self.folder.glob("*.json"):
            try:
                data = json.loads(read_text(path, LARGEST_FILE))
                record = data["record"]
                if browser not in data["claims"].values():
                    continue
                found.append(
                    {
                        "id": path.stem,
                        "game": data["key"],
                        "title": data["title"],
                        "players": record["players"],
                        "seats": record["seats"],
                        "ply": record["ply"],
                        "over": record["result"] is not None,
                        "result": None if record["result"] is None else record["result"]["text"],
                        "updated": path.stat().st_mtime,
                    }
                )
            except (OSError, ValueError, TypeError, KeyError, AttributeError):
                continue
        return sorted(found, key=lambda game: -game["updated"])

    def all(self) -> list[Room]:
        """The rooms in memory."""
        with self._lock:
            return list(self._rooms.values())

    def tick(self) -> None:
        """Read the clocks of all games, and let rooms without viewers leave the memory."""
        for room in self.all():
            room.tick()
        self.forget_idle()

    def forget_idle(self) -> None:
        """Let rooms without viewers leave the memory, with the trees of their agents."""
        for room in self.all():
            if room.session.thinking:  # asked without the lock: a session may be busy
                continue
            with self._lock:
                if room.viewers or room.id in self._dirty or time.time() - room.updated < IDLE:
                    continue
                self._rooms.pop(room.id, None)
            room.close()

    # --- files --------------------------------------------------------------------------------------------------------

    def _path(self, id: str) -> Path:
        if not ID.fullmatch(id):
            raise NotThere("there is no such game")
        return self.folder / f"{id}.json"

    def _changed(self, room: Room) -> None:
        with self._news:
            self._dirty[room.id] = room
            self._news.notify_all()

    def _write_all(self) -> None:
        """Write rooms that have changed, until the server closes."""
        while True:
            with self._news:
                self._news.wait_for(lambda: self._dirty or self._closing)
                if not self._dirty:
                    return
                if not self._closing:
                    self._news.wait_for(lambda: self._closing, DELAY)  # moves that follow at once are written together
                rooms, self._dirty = self._dirty, {}
            for id, room in rooms.items():
                self._write(id, room)

    def _write(self, id: str, room: Room) -> None:
        """Write one room to its file, unless it was deleted."""
        data = {
            "format": FORMAT,
            "key": room.key,
            "title": room.session.game.title,
            "caption": room.caption,
            "claims": {str(player): browser for player, browser in room.claims.items()},
            "clocks_run": room.clocks_run,
            "record": room.record(),
        }
        try:
            text = json.dumps(data)
            with self._writing:
                if self._rooms.get(id) is room:  # it may have been deleted
                    write_whole(self._path(id), partial(write_bytes, content=text))
        except LudusError as error:  # a full disk: people play on, and know it
            room.tell({"type": "error", "message": f"this game cannot be kept: {error}"})
