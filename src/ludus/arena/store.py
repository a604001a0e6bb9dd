"""Results in one SQLite file. Every game is stored completely or not at all, and never twice.

    agents    one row for each agent: its full identity, a label, and a name that makes the agent again
    rules     one row for each kind of game: its identity, and the source (`name`) and `options` of its spec
    games     one row for each game: seed, opening, moves, times and thoughts, reason of a forfeit, code version, date
    seats     one row for each seat of a game: the agent, its seed and its result

All games of one start are one transaction: a killed process loses only its unfinished starts. Several processes may
write at once; SQLite serialises them. The key of a game is made of agents, seats and seeds, so a match that is played
again with the same seed is not counted again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import json
import operator
import sqlite3
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Self

from ludus.arena import guard, wire
from ludus.arena.guard import BadResults
from ludus.arena.ratings import Tally
from ludus.arena.record import REPLACED, GameRecord, Thought
from ludus.arena.tallies import GameCounts, Result
from ludus.errors import Unsuitable
from ludus.registry import remake
from ludus.spec import GameSpec, same_rules, shortened, split_identity

if TYPE_CHECKING:
    from ludus.agents.identity import Identity
    from ludus.game import Game

FILE = "results.sqlite"
"""The name of the file in the folder of a run."""
MARK = 0x4C756475
"""SQLite's application_id, which marks a file of results."""
VERSION = 1
"""Version of the tables below (SQLite's user_version)."""
LAST_NUMBER = 2**63 - 1
"""The largest number that SQLite can give to a game."""

TABLES = """
    CREATE TABLE agents (
        id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, label TEXT NOT NULL, name TEXT NOT NULL,
        kind TEXT NOT NULL, run TEXT NOT NULL, checkpoint INTEGER
    );
    CREATE TABLE rules (
        id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE, name TEXT NOT NULL, options TEXT NOT NULL,
        players INTEGER NOT NULL
    );
    CREATE TABLE games (
        id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, rules INTEGER NOT NULL REFERENCES rules,
        seed INTEGER NOT NULL, opening INTEGER NOT NULL, actions TEXT NOT NULL, moves TEXT NOT NULL,
        thoughts TEXT NOT NULL, reason TEXT NOT NULL, seconds REAL NOT NULL, code TEXT NOT NULL, ended TEXT NOT NULL
    );
    CREATE TABLE seats (
        game INTEGER NOT NULL REFERENCES games, player INTEGER NOT NULL, agent INTEGER NOT NULL REFERENCES agents,
        seed INTEGER NOT NULL, value REAL NOT NULL, PRIMARY KEY (game, player)
    ) WITHOUT ROWID;
    CREATE INDEX games_by_rules ON games (rules);
"""
TABLE_NAMES = ("agents", "rules", "games", "seats")


@dataclass(frozen=True)
class StoredGame:
    """A game as it was recorded."""

    number: int
    rules: str
    """The identity of the game that was played."""
    agents: tuple[str, ...]
    """The label of each player's agent."""
    identities: tuple[str, ...]
    """The identity of each player's agent."""
    record: GameRecord
    code: str
    ended: str


@dataclass(frozen=True)
class StoredRules:
    """A game that was played."""

    identity: str
    name: str
    """The source of the game's spec."""
    options: str
    """The options of the game's spec, as JSON."""
    players: int
    games: int
    """The number of recorded games."""

    @property
    def spec(self) -> GameSpec:
        """The spec of the game; BadResults if the file holds none."""
        try:
            return GameSpec(self.name, json.loads(self.options), split_identity(self.identity)[1])
        except (ValueError, TypeError, RecursionError) as error:
            raise BadResults(f"the results do not say how {shortened(self.identity)} is made: {error}") from None

    def make(self, trust: bool = False) -> Game:
        """The game; a Python file that the results name is run only with `trust`, else Untrusted is raised."""
        try:
            return self.check(remake(self.spec, trust, strict=True))
        except Unsuitable as error:
            raise BadResults(f"{error}; these are games of {self.identity}") from None

    def check(self, game: Game) -> Game:
        """Return `game` if it is the one that was played; else raise BadResults."""
        if not same_rules(self.identity, game.identity):
            raise BadResults(f"{game.spec.source} makes {game.identity}; these are games of {self.identity}")
        return game


class Store:
    """A file of results, which is made if it does not exist. Use it in a `with` statement, or close it."""

    def __init__(self, path: Path | str):
        self.path = Path(path)
        guard.check_path(self.path)
        self.guard: guard.Guard | None = None
        with self._explained():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # autocommit: _writing begins and ends transactions
            self.base = sqlite3.connect(self.path, timeout=guard.PATIENCE, isolation_level=None)
            try:
                self.guard = guard.Guard(self.base)
                guard.check_schema(self.base, self.path, TABLE_NAMES)
                self._prepare()
            except BaseException:
                self.base.close()
                raise

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Open an existing file; BadResults if there is none."""
        if not Path(path).is_file():
            raise BadResults(f"there are no results at {path} yet: ludus arena plays games and records them")
        return cls(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        self.base.close()

    # --- writing ------------------------------------------------------------------------------------------------------

    def add(self, game: Game, agents: Sequence[Identity], records: Sequence[GameRecord]) -> int:
        """Record games in one transaction; seats in the records are indices into `agents`. Games that the file holds
        already are left as they are. Returns the number of games added."""
        with self._writing():
            before = self._count()
            spec = game.spec
            rules = self._id(
                "rules",
                identity=game.identity,
                name=spec.source,
                options=json.dumps(spec.options),
                players=game.players,
            )
            # The file of a user's game may have moved since its first games were recorded.
            self.base.execute("UPDATE rules SET name = ? WHERE id = ? AND name <> ?", (spec.source, rules, spec.source))
            ids = [
                self._id(
                    "agents",
                    identity=each.text,
                    label=each.label,
                    name=each.name,
                    kind=each.kind,
                    run=each.run,
                    checkpoint=each.checkpoint,
                )
                for each in agents
            ]
            for record in records:
                self._add_game(rules, game.identity, [agents[seat].text for seat in record.seats], ids, record)
            added = self._count() - before
        return added

    def _add_game(self, rules: int, game: str, seated: list[str], ids: list[int], record: GameRecord) -> None:
        seeds = [record.agent_seeds[seat] if record.agent_seeds else 0 for seat in record.seats]
        decides = [game, record.seed, record.opening, seated, seeds, record.actions[: record.opening]]
        row = {
            "key": hashlib.sha256(json.dumps(decides).encode()).hexdigest()[:32],
            "rules": rules,
            "seed": record.seed,
            "opening": record.opening,
            "actions": _compact(record.actions),
            "moves": _compact(record.moves),
            "thoughts": _compact([[_brief(thought) for thought in ply] for ply in record.thoughts]),
            "reason": record.reason,
            "seconds": round(record.seconds, 3),
            "code": code_version(),
            "ended": time.strftime("%Y-%m-%d %H:%M:%S"),
        }
        cursor = self._insert("games", row)
        if cursor.rowcount:
            self.base.executemany(
                "INSERT INTO seats (game, player, agent, seed, value) VALUES (?, ?, ?, ?, ?)",
                [
                    (cursor.lastrowid, player, ids[seat], seeds[player], record.values[player])
                    for player, seat in enumerate(record.seats)
                ],
            )

    def _insert(self, table: str, row: dict[str, Any]) -> sqlite3.Cursor:
        """Insert a row, unless it exists."""
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        conflict = "ON CONFLICT DO NOTHING"
        return self.base.execute(f"INSERT INTO {table} ({names}) VALUES ({marks}) {conflict}", tuple(row.values()))

    def _id(self, table: str, **row: Any) -> int:
        self._insert(table, row)
        return self.base.execute(f"SELECT id FROM {table} WHERE identity = ?", (row["identity"],)).fetchone()[0]

    def _count(self) -> int:
        return self.base.execute("SELECT count(*) FROM games").fetchone()[0]

    # --- reading ------------------------------------------------------------------------------------------------------

    def rules(self) -> list[StoredRules]:
        """The kinds of games that were played, the one with most records first."""
        rows = self._all(
            "SELECT rules.identity, name, options, players, count(*) FROM rules JOIN games ON games.rules = rules.id"
            " GROUP BY rules.id ORDER BY count(*) DESC, rules.id"
        )
        for row in rows:
            guard.check_types(self.path, "the table of rules", row, str, str, str, int, int)
            if not 1 <= row[3] <= guard.MOST_PLAYERS:
                raise BadResults(f"{self.path} is damaged: {row[3]} players")
        return [StoredRules(*row) for row in rows]

    def identities(self) -> dict[str, Identity]:
        """All agents, by the text of their identity."""
        from ludus.agents.identity import Identity

        rows = self._all("SELECT identity, label, name, kind, run, checkpoint FROM agents ORDER BY id")
        for row in rows:
            guard.check_types(self.path, "the table of agents", row, str, str, str, str, str, (int, NoneType))
        return {row[0]: Identity(*row) for row in rows}

    def results(self, game: str, after: int = 0) -> Iterator[Result]:
        """The results of a game, given by its identity, with numbers above `after`, in the order of their numbers."""
        seats = self._rows(
            f"SELECT games.id, opening, actions, reason <> '' AND reason NOT LIKE '{REPLACED}%', agents.identity, value"
            " FROM rules JOIN games ON games.rules = rules.id JOIN seats ON seats.game = games.id"
            " JOIN agents ON agents.id = agent WHERE rules.identity = ? AND games.id > ? ORDER BY games.id, player",
            game,
            after,
        )
        for number, rows in itertools.groupby(seats, operator.itemgetter(0)):
            found = list(itertools.islice(rows, guard.MOST_PLAYERS))
            for row in found:
                guard.check_types(self.path, f"game {number}", row[1:], int, str, int, str, (int, float))
            _, openings, actions, failed, agents, values = zip(*found, strict=True)
            yield Result(number, agents, openings[0], actions[0], values, bool(failed[0]))

    def tallies(self, game: str) -> list[Tally]:
        """The results between every two agents in a game, given by its identity. Repeated games count once."""
        counts = GameCounts()
        counts.add(self.results(game))
        return counts.tallies()

    def count(self, game: str) -> int:
        return self._all("SELECT count(*) FROM games JOIN rules ON rules = rules.id WHERE identity = ?", game)[0][0]

    def count_other_rules(self, game: str) -> int:
        """The number of games whose rules differ only in the source's digest from a game, given by its identity."""
        name = split_identity(game)[0]
        return sum(
            each.games for each in self.rules() if each.identity != game and split_identity(each.identity)[0] == name
        )

    def latest(self, count: int, before: int | None = None) -> list[StoredGame]:
        """The latest `count` games, or those with numbers below `before`, the latest first."""
        most = LAST_NUMBER if before is None else max(0, min(before, LAST_NUMBER))
        return self._stored("WHERE games.id < ? ORDER BY games.id DESC LIMIT ?", most, count)

    def game(self, number: int) -> StoredGame:
        found = self._stored("WHERE games.id = ?", number) if 0 < number <= LAST_NUMBER else []
        if not found:
            (last,) = self._all("SELECT max(id) FROM games")
            raise BadResults(f"{self.path} has no game {number}; games are numbered from 1 to {last[0] or 0}")
        return found[0]

    def games(self, game: str, most: int = -1) -> list[StoredGame]:
        """The latest `most` games (-1: all) of a game given by its identity, in the order in which they ended."""
        return self._stored("WHERE rules.identity = ? ORDER BY games.id DESC LIMIT ?", game, most)[::-1]

    def _stored(self, which: str, *given: Any) -> list[StoredGame]:
        chosen = f"FROM games JOIN rules ON rules = rules.id {which}"
        seats: dict[int, list[Any]] = {}
        for game, *seat in self._all(
            "SELECT game, label, identity, seed, value FROM seats JOIN agents ON agents.id = agent"
            f" WHERE game IN (SELECT games.id {chosen}) ORDER BY game, player",
            *given,
        ):
            seats.setdefault(game, []).append(seat)
        rows = self._all(
            "SELECT games.id, rules.identity, seed, opening, actions, moves, thoughts, reason, seconds, code, ended "
            + chosen,
            *given,
        )
        # A game without seats was added between the two queries.
        return [self._read(row, seats[row[0]]) for row in rows if row[0] in seats]

    def _read(self, row: tuple[Any, ...], seats: list[Any]) -> StoredGame:
        what = f"game {row[0]}"
        guard.check_types(self.path, what, row, int, str, int, int, str, str, str, str, (int, float), str, str)
        for seat in seats:
            guard.check_types(self.path, what, seat, str, str, int, (int, float))
        try:
            return _read(row, seats)
        except (ValueError, TypeError, RecursionError) as error:
            raise BadResults(f"{self.path} is damaged: {what} cannot be read ({error})") from None

    def _all(self, query: str, *given: Any) -> list[Any]:
        return guard.limited(self._rows(query, *given), self.path)

    def _rows(self, query: str, *given: Any) -> Iterator[Any]:
        with self._explained():
            for row in self.base.execute(query, given):  # noqa: UP028  (yield from would close a cursor of a closed file)
                yield row

    # --- the file -----------------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Make the tables in a new file; refuse a file of another program or of a newer Ludus."""
        if self._pragma("application_id") != MARK:
            with self._writing():  # another process may have made the tables in the meantime: check again
                if self._pragma("application_id") != MARK:
                    if (
                        self._pragma("user_version")
                        or self.base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
                    ):
                        raise BadResults(f"{self.path} is a database of another program: give another file for results")
                    for statement in TABLES.split(";\n"):
                        self.base.execute(statement)
                    self.base.execute(f"PRAGMA application_id = {MARK}")
                    self.base.execute(f"PRAGMA user_version = {VERSION}")
        if self._pragma("user_version") > VERSION:
            raise BadResults(f"{self.path} was written by a newer Ludus: update this one, or give another file")

    def _pragma(self, name: str) -> int:
        return self.base.execute(f"PRAGMA {name}").fetchone()[0]

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction during which no other process can write."""
        with self._explained():
            self.base.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.base.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self.base.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of SQLite into BadResults with a helpful message, and start the time limit of a query."""
        if self.guard is not None:
            self.guard.restart()
        try:
            yield
        except sqlite3.OperationalError as error:
            text = str(error)
            if "locked" in text:
                text = f"another process has held it for {guard.PATIENCE:g} s"
            elif "interrupted" in text:
                text = f"reading it takes longer than {guard.TIME_LIMIT:g} s, so it is damaged or far too large"
            raise BadResults(f"{self.path} cannot be used: {text}") from error
        except sqlite3.DatabaseError as error:
            if "not a database" in str(error):
                raise BadResults(f"{self.path} is not a file of results: give another one") from error
            raise BadResults(f"{self.path} is damaged ({error}): move it away, and a new one is begun") from error
        except UnicodeDecodeError as error:
            raise BadResults(f"{self.path} is damaged: it holds text that is not UTF-8") from error
        except OSError as error:
            raise BadResults(f"{self.path} cannot be used: {error.strerror or error}") from error


def _read(row: tuple[Any, ...], seats: list[Any]) -> StoredGame:
    id, rules, seed, opening, actions, moves, thoughts, reason, seconds, code, ended = row
    names, identities, seeds, values = zip(*seats, strict=True)
    if not 0 <= opening <= len(json.loads(actions)):
        raise ValueError("the opening is longer than the game")
    record = GameRecord(
        seed,
        tuple(range(len(seats))),
        tuple(wire.action_of(action) for action in json.loads(actions)),
        tuple(wire.text_of(move) for move in json.loads(moves)),
        values,
        opening,
        seeds,
        tuple(wire.thoughts_of(ply, len(seats)) for ply in json.loads(thoughts)),
        seconds,
        reason,
    )
    return StoredGame(id, rules, names, identities, record, code, ended)


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _brief(thought: Thought) -> list[Any]:
    value = None if thought.value is None else round(thought.value, 4)
    return [thought.player, value, thought.simulations, round(thought.seconds, 4)]


@functools.cache
def code_version() -> str:
    """The version of Ludus; in a checkout, with the commit, and a + where files differ from it."""
    from ludus import __version__

    home = Path(__file__).parents[3]
    if not (home / ".git").exists():
        return __version__
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        command = ["git", "-C", str(home), "describe", "--always", "--abbrev=10", "--dirty=+", "--exclude=*"]
        commit = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
        return f"{__version__} {commit}"
    return __version__
