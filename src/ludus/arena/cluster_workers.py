"""Games on the nodes of a cluster: one actor for each core, which plays whole games in a worker process of its own.

On its node, an actor is the parent of a worker (workers.py). So time limits, crashes and foreign agents are dealt with
there as on one machine. A game whose node dies is played again elsewhere. Its moves depend on the task only, so the
record is the same. Runs and packed players that agents name are sent to the nodes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ludus.agents.identity import takes_run
from ludus.agents.naming import KINDS, parse
from ludus.agents.zero import player_named
from ludus.arena import wire
from ludus.arena.crew import Crew
from ludus.arena.remote import Unfit
from ludus.arena.workers import Workers
from ludus.cluster.connection import Connection, connect
from ludus.cluster.fleet import Fleet
from ludus.cluster.parcel import Files, GameParcel, pack_game, private_folder, read_files, unpack_game, write_files
from ludus.cluster.placement import place_single_threads
from ludus.errors import BadOption, BrokenGame
from ludus.runs.players import find_player

if TYPE_CHECKING:
    from ludus.arena.record import GameRecord, Task
    from ludus.cluster.events import ClusterEvent
    from ludus.cluster.placement import Slot
    from ludus.game import Game


class Setup(NamedTuple):
    """All that an actor needs to play games."""

    version: str
    """The version of Ludus."""
    game: GameParcel
    kinds: dict[str, str]
    """The kinds of agents that have a module."""
    move_limit: float


class Shipped(NamedTuple):
    """The files behind a word of an agent's name."""

    word: str
    """The word, which names a run or a pack."""
    place: str
    """What replaces the word on a node, relative to the folder of the files."""
    key: str
    """The key of the files."""
    reference: Any
    """Ray's reference of the Files, in a list, because Ray would fetch the object itself for every call."""


class GamePlayer:
    """The actor: plays one game at a time."""

    def __init__(self, slot: Slot, number: int, setup: Setup):
        from ludus import __version__

        if setup.version != __version__:
            raise BadOption(f"this node has Ludus {__version__}, and the arena {setup.version}: install the same")
        KINDS.update(setup.kinds)
        self.folder = private_folder()
        self.game = unpack_game(setup.game, Path(self.folder.name) / "game")
        self.workers = Workers(self.game, 1, setup.move_limit)

    def play(self, task: dict[str, Any], shipped: dict[str, Shipped]) -> str:
        """Play a task; `shipped` are the files of agents by their names. Returns the end of the game as JSON:
        ["over", RECORD], ["unfit", I, WHY] or ["broken", WHY], as a worker reports it."""
        mine = wire.task_of(task)
        names = tuple(self._unpack(name, shipped.get(name)) for name in mine.agents)
        try:
            self.workers.begin(dataclasses.replace(mine, agents=names))
            while not (ended := self.workers.wait(1.0)):
                pass
        except BrokenGame as error:
            return json.dumps(["broken", str(error)])
        ((_, result),) = ended
        if isinstance(result, Unfit):
            return json.dumps(["unfit", names.index(result.name), str(result)])
        return json.dumps(["over", wire.record_json(result)])

    def _unpack(self, name: str, shipped: Shipped | None) -> str:
        """The name of an agent on this node, after its files were written there."""
        if shipped is None:
            return name
        folder = Path(self.folder.name) / shipped.key
        if not folder.exists():
            import ray

            write_files(ray.get(shipped.reference[0]).content, folder)
        return ":".join(str(folder / shipped.place) if part == shipped.word else part for part in name.split(":"))


class ClusterWorkers(Crew):
    """Plays games on the nodes of a cluster."""

    def __init__(
        self,
        connection: Connection,
        game: Game,
        most: int,
        move_limit: float,
        tell: Callable[[ClusterEvent], None],
    ):
        """`most` is the largest number of games at once, if the cluster has as many cores."""
        from ludus import __version__

        self.ray, self.game, self.tell = connection.ray, game, tell
        kinds = {kind: home for kind, home in KINDS.items() if isinstance(home, str)}
        setup = Setup(__version__, pack_game(game), kinds, move_limit)
        self.fleet = Fleet(connection, GamePlayer, (setup,), lambda nodes: place_single_threads(nodes)[:most])
        self.count = 1
        self.jobs = 0
        self.waiting: list[Task] = []
        """Games that no actor plays yet."""
        self.playing: dict[int, Task] = {}
        """Games under way by their job."""
        self.shipped: dict[str, Shipped | None] = {}
        """The files of each agent by its name; None for an agent without files."""

    def __enter__(self) -> ClusterWorkers:
        self._refresh()
        return self

    def __exit__(self, *failure: object) -> None:
        self.fleet.close()

    def _refresh(self) -> None:
        self.fleet.refresh()
        self.count = max(1, len(self.fleet.members))  # without actors, a game waits until a node joins

    @property
    def busy(self) -> int:
        return len(self.waiting) + len(self.playing)

    @property
    def plies(self) -> int:
        return 0

    def begin(self, task: Task) -> None:
        self.waiting.append(task)
        self._give()

    def _give(self) -> None:
        """Give games to idle actors."""
        for member in self.fleet.members:
            if self.waiting and not member.jobs:
                task = self.waiting.pop(0)
                files = {name: sent for name in task.agents if (sent := self._ship(name)) is not None}
                self.playing[self.jobs] = task
                self.fleet.submit(member, self.jobs, "play", wire.task_json(task), files)
                self.jobs += 1

    def wait(self, seconds: float) -> list[tuple[Task, GameRecord | Unfit]]:
        self._refresh()
        self._give()
        finished = []
        for result in self.fleet.collect(seconds):
            task = self.playing.pop(result.job)
            if result.is_lost:
                self.waiting.insert(0, task)
            else:
                finished.append((task, self._read(result.value, task)))
        while self.fleet.events:
            self.tell(self.fleet.events.popleft())
        return finished

    def _read(self, message: str, task: Task) -> GameRecord | Unfit:
        match json.loads(message):
            case ["over", record]:
                return wire.record_of(record, task)
            case ["unfit", agent, why]:
                return Unfit(task.agents[wire.index_of(agent, len(task.agents))], wire.text_of(why))
            case ["broken", why]:
                raise BrokenGame(wire.text_of(why))
        raise BrokenGame(f"a node sent nonsense about a game of {self.game.name}")

    def abandon(self) -> None:
        """End the actors of the games under way; the next game starts new ones."""
        self.waiting, self.playing = [], {}
        self.fleet.drop_busy()

    def _ship(self, name: str) -> Shipped | None:
        """The files of an agent, put into the object store once."""
        if name not in self.shipped:
            found = files_of(name, self.game)
            if found is None:
                self.shipped[name] = None
            else:
                word, place, files = found
                self.shipped[name] = Shipped(word, place, files.key, [self.ray.put(files)])
        return self.shipped[name]


def files_of(name: str, game: Game) -> tuple[str, str, Files] | None:
    """The word of an agent's name that names a run or a pack, what replaces it beside the files, and the files.

    None for agents without such a word.
    """
    word = player_named(parse(name)) if takes_run(name) else None
    if word is None:
        return None
    player = find_player(word, game)
    if player.checkpoint is None:
        return word, player.file.name, read_files(player.file.parent, [player.file.name])
    run = Path(player.run)
    weights = player.file.relative_to(run)
    names = [Path("config.toml"), Path("about.json"), weights, weights.with_name("SHA256SUMS")]
    files = read_files(run, [each.as_posix() for each in names if (run / each).is_file()])
    return word, f".@{player.checkpoint}", files


def refuse_times(names: list[str]) -> None:
    """BadOption for agents with a time budget: recorded ratings are of one machine, and nodes differ in speed."""
    for name in names:
        budget = parse(name).budget
        if budget is not None and budget.seconds is not None:
            raise BadOption(f"{name}: on a cluster, recorded games need budgets in simulations, as machines differ")


@contextlib.contextmanager
def open_crew(
    game: Game,
    count: int,
    move_limit: float,
    cluster: str | None,
    tell: Callable[[ClusterEvent], None],
) -> Iterator[Crew]:
    """A crew of at most `count` games at once, on a cluster if its address is given."""
    if cluster is None:
        with Workers(game, count, move_limit) as workers:
            yield workers
        return
    with connect(cluster) as connection, ClusterWorkers(connection, game, count, move_limit, tell) as nodes:
        yield nodes
