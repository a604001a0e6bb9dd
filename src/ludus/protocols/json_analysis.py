"""Analysis for other programs: one JSON request a line in, one JSON result a line out, many at once.

    {"id": "a", "game": "connect4", "moves": ["d", "d"], "agent": "uct", "budget": "2s"}
    {"id": "a", "type": "final", "ply": 2, "snapshot": {...}}

A request has `id` and `game`, and may have `options`, `position` (text), `moves`, `seed`, `agent` ("uct"), `budget` (by
default the agent's own), `player` (where all move at once), `plies` (a list of numbers: the positions after these
numbers of moves are analysed instead of the last one) and `every` (seconds between partial results; by default there
are none).

Results are {"id", "type": "partial" or "final", "ply", "snapshot"}, and {"id", "type": "done"} at the end of a request.
A mistake is {"id", "type": "error", "message"}. {"type": "stop", "id": ID} ends a request, which answers with what it
has; {"type": "stop"} ends all; {"type": "version"} is answered with the version. When the input ends, requests under
way are finished.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from ludus import __version__
from ludus.api.analysis import Analysis, analyse
from ludus.errors import BadOption, IllegalMove, LudusError, describe_error
from ludus.registry import make
from ludus.spec import shortened

if TYPE_CHECKING:
    from ludus.game import Game, Position

FIELDS = ("id", "type", "game", "options", "position", "moves", "seed", "agent", "budget", "player", "plies", "every")
LONGEST_LINE = 1 << 20
"""Largest request in characters."""
LONGEST_SEARCH = 1e9
"""Seconds between partial results if there are none."""


class _Request:
    """A request that waits or runs."""

    def __init__(self) -> None:
        self.is_stopped = False
        self.search: Analysis | None = None

    def stop(self) -> None:
        """End it; what is known by then is its answer."""
        self.is_stopped = True
        if self.search is not None:
            self.search.stop()


class AnalysisServer:
    """Answers requests with `parallel` threads. `write` is given the lines of the results, one at a time."""

    def __init__(self, write: Callable[[str], object], parallel: int):
        if not 1 <= parallel <= 256:
            raise BadOption(f"--parallel must be from 1 to 256, not {parallel}")
        self._write = write
        self._writing = threading.Lock()
        self._threads = ThreadPoolExecutor(parallel, "ludus analysis")
        self._games: dict[str, Game] = {}
        self._lock = threading.Lock()
        self._requests: dict[Any, _Request] = {}
        """The requests that wait or run, by id."""

    def run(self, lines: Iterable[str]) -> None:
        """Answer all lines; returns when the input has ended and everything is answered."""
        try:
            for line in lines:
                if line.strip():
                    self.take(line)
            self._threads.shutdown(wait=True)
        except BaseException:
            self.stop_all()
            self._threads.shutdown(wait=True, cancel_futures=True)
            raise

    def take(self, line: str) -> None:
        """Begin what a line asks for."""
        id = None
        try:
            request = _read(line)
            id = request.get("id")
            match request.get("type", "analyse"):
                case "version":
                    self._send({"id": id, "type": "version", "ludus": __version__})
                case "stop":
                    self._stop(id)
                case "analyse":
                    self._begin(id, request)
                case other:
                    raise BadOption(f"there is no request of type {shortened(other)}; types are analyse, stop, version")
        except LudusError as error:
            self._send({"id": id, "type": "error", "message": str(error)})

    def _begin(self, id: Any, request: Mapping[str, Any]) -> None:
        if not isinstance(id, str | int):
            raise BadOption("a request needs an id, text or a whole number")
        with self._lock:
            if id in self._requests:
                raise BadOption(f"a request with the id {shortened(id)} is under way")
            begun = self._requests[id] = _Request()
        self._threads.submit(self._answer, id, request, begun)

    def _stop(self, id: Any) -> None:
        with self._lock:
            found = self._requests.get(id) if isinstance(id, str | int) else None
        if id is None:
            self.stop_all()
        elif found is None:
            raise BadOption(f"no request with the id {shortened(id)} is under way")
        else:
            found.stop()

    def stop_all(self) -> None:
        """End all requests; each answers with what it has."""
        with self._lock:
            for request in self._requests.values():
                request.stop()

    def _answer(self, id: Any, request: Mapping[str, Any], begun: _Request) -> None:
        try:
            for ply, position in self._positions(request):
                if begun.is_stopped:
                    break
                self._analyse(id, ply, position, request, begun)
            self._send({"id": id, "type": "done"})
        except LudusError as error:
            self._send({"id": id, "type": "error", "message": str(error)})
        except Exception as error:
            self._send({"id": id, "type": "error", "message": describe_error(error)})
        finally:
            with self._lock:
                del self._requests[id]

    def _analyse(self, id: Any, ply: int, position: Position, request: Mapping[str, Any], begun: _Request) -> None:
        every = request.get("every")
        if every is not None and (not isinstance(every, int | float) or not every >= 0.01):
            raise BadOption(f"every must be a number of seconds from 0.01 on, not {shortened(every)}")
        agent, budget = request.get("agent", "uct"), request.get("budget")
        if not isinstance(agent, str):
            raise BadOption(f"agent must be the name of an agent, not {shortened(agent)}")
        about = {"id": id, "ply": ply}
        rate = LONGEST_SEARCH if every is None else every
        with analyse(position, agent, budget, request.get("player"), rate, request.get("seed", 0)) as search:
            begun.search = search
            if begun.is_stopped:
                search.stop()
            for snapshot in search:
                self._send({**about, "type": "final" if snapshot.final else "partial", "snapshot": snapshot.json})

    def _positions(self, request: Mapping[str, Any]) -> list[tuple[int, Position]]:
        """The positions that a request asks about, each with the number of moves before it."""
        unknown = [name for name in request if name not in FIELDS]
        if unknown:
            raise BadOption(f"a request has no field {shortened(unknown[0])}; fields are {', '.join(FIELDS)}")
        game = self._game(request)
        moves, text, seed = request.get("moves", []), request.get("position"), request.get("seed", 0)
        if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
            raise BadOption("moves must be a list of moves in notation")
        if not isinstance(seed, int) or isinstance(seed, bool):
            raise BadOption("seed must be a whole number")
        line = [game.start(seed) if text is None else game.parse(str(text))]
        for number, move in enumerate(moves, 1):
            try:
                line.append(line[-1].play(move))
            except IllegalMove as error:
                raise IllegalMove(f"move {number}: {error}") from None
        plies = request.get("plies", [len(moves)])
        if not isinstance(plies, list) or not all(isinstance(ply, int) and 0 <= ply < len(line) for ply in plies):
            raise BadOption(f"plies must be a list of whole numbers from 0 to {len(moves)}")
        return [(ply, line[ply]) for ply in plies]

    def _game(self, request: Mapping[str, Any]) -> Game:
        """The game of a request, made once for each name and options."""
        name, options = request.get("game"), request.get("options", {})
        if not isinstance(name, str) or not isinstance(options, dict):
            raise BadOption("a request needs a game by its name, and may have options as a table")
        key = json.dumps([name, options], sort_keys=True)
        with self._lock:
            if key not in self._games:
                self._games[key] = make(name, **options)
            return self._games[key]

    def _send(self, result: dict[str, Any]) -> None:
        text = json.dumps(result)
        with self._writing:
            self._write(text)


def _read(line: str) -> dict[str, Any]:
    if len(line) > LONGEST_LINE:
        raise BadOption(f"a request may have {LONGEST_LINE:,} characters at most")
    try:
        request = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadOption(f"a request is one line of JSON: {str(error)[:100]}") from None
    if not isinstance(request, dict):
        raise BadOption(f"a request is a JSON object, not {shortened(request)}")
    return request
