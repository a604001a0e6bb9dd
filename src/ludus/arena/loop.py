"""The arena: plays what tells most next, and keeps the ratings up to date, until somebody stops it.

The file of results is the memory: an arena that is stopped or killed goes on from it, and several on one file see each
other's games.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from ludus.arena.pairing import next_pairing
from ludus.arena.ratings import Ratings, Tally, fit
from ludus.arena.record import GameRecord, Task, tasks_of
from ludus.arena.workers import MOVE_LIMIT, Unfit, Workers
from ludus.errors import BadOption

if TYPE_CHECKING:
    from ludus.agents.identity import Identity
    from ludus.arena.roster import Roster
    from ludus.arena.series import Series
    from ludus.arena.store import Store
    from ludus.game import Game

OPENING = 4
"""Random plies at the start of every game: agents that always answer alike would play the same game for ever."""
RESCAN = 5.0
"""Seconds between two looks at the runs."""


@dataclass
class Group:
    """The games of one start, recorded together."""

    agents: tuple[Identity, ...]
    pair: tuple[str, str]
    """Whom it is for; more than two players are filled up."""
    records: dict[int, GameRecord] = field(default_factory=dict)


class Arena:
    """One sitting of an arena."""

    def __init__(
        self,
        game: Game,
        store: Store,
        roster: Roster,
        *,
        parallel: int = 1,
        anchor_rating: float = 500.0,
        series: Series | None = None,
        move_limit: float = MOVE_LIMIT,
        opening: int = OPENING,
        seed: int | None = None,
        complain: Callable[[str], None] = print,
    ):
        if game.players < 2:
            raise BadOption(f"{game.name} has one player: there is nobody to be rated against")
        if len(roster.entrants) < 2:
            raise BadOption("the arena needs at least two different agents")
        self.game, self.store, self.roster, self.series = game, store, roster, series
        self.parallel, self.anchor_rating, self.move_limit, self.opening = parallel, anchor_rating, move_limit, opening
        # Another sitting must not play the same games again: they would not count.
        self.seed = random.SystemRandom().getrandbits(62) if seed is None else seed
        self.complain = complain
        self.random = Random(self.seed)
        self.groups: dict[int, Group] = {}
        """Under way, by their number."""
        self.unrated: list[tuple[str, str]] = []
        """Recorded since the last rating: whose games they were."""
        self.begun = 0
        self.games = 0
        """Recorded in this sitting."""
        self.lost: list[str] = []
        """Games of this sitting that ended before their end: who lost, and why."""
        self.seconds: dict[str, tuple[float, int]] = {}
        """What each agent's games cost: seconds of thought in all, and games."""
        self.tallies: list[Tally] = []
        self.ratings: Ratings
        self.rate()

    def run(self, go_on: Callable[[], bool], report: Callable[[Arena], None], games: int | None = None) -> None:
        """Play as long as `go_on` says so, or until so many games were played; `report` is called all the time."""
        queue: list[Task] = []
        scanned = time.monotonic()
        with Workers(self.game, self.parallel, self.move_limit) as workers:
            while go_on():
                if time.monotonic() - scanned > RESCAN:
                    self.roster.refresh()
                    scanned = time.monotonic()
                while workers.busy < workers.count:
                    if not queue and (games is None or self.begun * self.game.players < games):
                        queue = self._next_start()
                    if not queue:
                        break
                    workers.begin(queue.pop(0))
                if not workers.busy:
                    return
                for task, result in workers.wait(0.2):
                    if isinstance(result, Unfit):
                        queue = [each for each in queue if result.name not in each.agents]
                    self._take(task, result)
                report(self)

    def rate(self) -> None:
        """Read the results, other processes' too, and rate everybody; not so often that it takes up the time."""
        began = time.monotonic()
        self.unrated = []
        self.tallies = self.store.tallies(self.game.identity)
        self.ratings = fit(self.tallies, self.roster.anchor, self.anchor_rating)
        self.next_rating = time.monotonic() + 20 * (time.monotonic() - began)

    def _next_start(self) -> list[Task]:
        if time.monotonic() > self.next_rating:
            self.rate()
        pair = self._next_pair()
        others = [text for text in self.roster.entrants if text not in pair]
        filled = [*pair, *(self.random.choice(others or pair) for _ in range(self.game.players - 2))]
        agents = tuple(self.roster.entrants[text] for text in filled)
        number, self.begun = self.begun, self.begun + 1
        self.groups[number] = Group(agents, pair)
        players = self.game.players
        names = tuple(each.name for each in agents)
        return tasks_of(names, players, self.seed, self.opening, first=number * players)

    def _next_pair(self) -> tuple[str, str]:
        pending = [*self.unrated, *(group.pair for group in self.groups.values())]
        agents = list(self.roster.entrants)
        busy = {text for pair in pending for text in pair}
        rated = {text for text in agents if text in self.ratings.places and self.ratings[text].connected}
        if self.series is not None and rated | busy >= set(agents):  # first, all must be comparable
            pair = self.series.next_pairing(self.roster, self.tallies, self.ratings, pending)
            if pair is not None:
                return pair
        return next_pairing(agents, self.tallies, self.ratings, cost=self._costs(), pending=pending)

    def _costs(self) -> Callable[[str, str], float]:
        """Seconds that a game of two takes, by the games so far; of somebody new, what others take."""
        total, games = (sum(column) for column in zip((0.0, 0), *self.seconds.values(), strict=True))
        usual = total / games if games else 1.0
        each = {text: spent / count for text, (spent, count) in self.seconds.items()}
        # some time goes into the game itself
        return lambda one, other: each.get(one, usual) + each.get(other, usual) + 0.01

    def _take(self, task: Task, result: GameRecord | Unfit) -> None:
        """A game has ended: record its group if that is the last of it."""
        number = task.number // self.game.players
        if isinstance(result, Unfit):
            if result.name in [each.name for each in self.roster.entrants.values()]:
                self.complain(f"{result.name} is left out: {result}")
                self.roster.drop(result.name)
            gone = [each for each, group in self.groups.items() if result.name in [who.name for who in group.agents]]
            for each in gone:
                del self.groups[each]
            if len(self.roster.entrants) < 2:
                raise result
            return
        group = self.groups.get(number)
        if group is None:
            return
        group.records[task.number] = result
        for index in result.seats:
            self._spent(group.agents[index].text, 0.0, 1)
        thoughts = [thought for ply in result.thoughts for thought in ply]
        for thought in thoughts:
            self._spent(group.agents[result.seats[thought.player]].text, thought.seconds, 0)
        if result.reason:
            loser = group.agents[result.seats[result.values.index(-1.0)]]
            self._spent(loser.text, result.seconds - sum(thought.seconds for thought in thoughts), 0)
            self.lost.append(f"{loser.label} {result.reason}")
        if len(group.records) == self.game.players:
            records = [group.records[each] for each in sorted(group.records)]
            self.games += self.store.add(self.game, group.agents, records)
            self.unrated.append(self.groups.pop(number).pair)

    def _spent(self, text: str, seconds: float, games: int) -> None:
        total, count = self.seconds.get(text, (0.0, 0))
        self.seconds[text] = total + seconds, count + games
