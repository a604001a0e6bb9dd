"""The arena: plays the most informative games, and keeps the ratings up to date, until it is stopped.

All state is in the file of results. An arena that was stopped or killed continues from it, and several arenas can share
one file.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from ludus.arena.cluster_workers import open_crew, refuse_times
from ludus.arena.events import ArenaEvent, ArenaProgress, EntrantLeftOut, GameLost
from ludus.arena.openings import default_opening
from ludus.arena.pairing import next_pairing
from ludus.arena.ratings import Ratings, fit
from ludus.arena.record import GameRecord, Task, tasks_of
from ludus.arena.remote import MOVE_LIMIT, Unfit
from ludus.arena.report import Standings
from ludus.arena.tallies import GameCounts
from ludus.errors import BadOption
from ludus.stopping import Stop, is_stopped

if TYPE_CHECKING:
    from ludus.agents.identity import Identity
    from ludus.arena.roster import Roster
    from ludus.arena.series import Series
    from ludus.arena.store import Store
    from ludus.game import Game

RESCAN = 5.0
"""Seconds between two searches for new checkpoints of runs."""
EVENTS_APART = 0.25
"""Least number of seconds between two progress events."""
RATING_SHARE = 20
"""Pause between two ratings, as a multiple of the time that the last rating took."""


@dataclass
class Group:
    """The games of one start, which are recorded together."""

    agents: tuple[Identity, ...]
    pair: tuple[str, str]
    """The two agents that were paired; with more players, others fill the remaining seats."""
    records: dict[int, GameRecord] = field(default_factory=dict)
    """The games that have ended, by their number."""


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
        opening: int | None = None,
        seed: int | None = None,
        cluster: str | None = None,
        on_event: Callable[[ArenaEvent], None] | None = None,
    ):
        if game.players < 2:
            raise BadOption(f"{game.name} has one player: ratings need opponents")
        if len(roster.entrants) < 2:
            raise BadOption("the arena needs at least two different agents")
        if cluster is not None:
            refuse_times([each.name for each in roster.entrants.values()])
        self.game, self.store, self.roster, self.series = game, store, roster, series
        self.parallel, self.anchor_rating, self.move_limit = parallel, anchor_rating, move_limit
        self.cluster = cluster
        self.opening = default_opening(game) if opening is None else opening
        # Another sitting needs another seed: games that are in the file already would not count.
        self.seed = random.SystemRandom().getrandbits(62) if seed is None else seed
        self.random = Random(self.seed)
        self.tell = on_event or (lambda event: None)
        self.groups: dict[int, Group] = {}
        """The starts that are being played, by their number."""
        self.unrated: list[tuple[str, str]] = []
        """The pairs whose games were recorded since the last rating."""
        self.begun = 0
        """Number of starts begun in this sitting."""
        self.games = 0
        """Number of games recorded in this sitting."""
        self.seconds: dict[str, tuple[float, int]] = {}
        """For each agent, its seconds of thought in this sitting and its number of games."""
        self.counts = GameCounts()
        self.ratings: Ratings
        self.rate()

    def run(self, stop: Stop | None = None, seconds: float | None = None, games: int | None = None) -> None:
        """Play until the stop signal is set, the seconds are over or this number of games was begun."""
        queue: list[Task] = []
        began = scanned = time.monotonic()
        told = 0.0
        with open_crew(self.game, self.parallel, self.move_limit, self.cluster, self.tell) as workers:
            while not is_stopped(stop) and (seconds is None or time.monotonic() - began < seconds):
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
                if time.monotonic() - told > EVENTS_APART:
                    told = time.monotonic()
                    self.tell(self._progress(told - began))

    def rate(self) -> None:
        """Read the games that were added to the file, also by other processes, and rate all agents."""
        began = time.monotonic()
        self.unrated = []
        self.counts.add(self.store.results(self.game.identity, self.counts.last))
        self.tallies = self.counts.tallies()
        self.ratings = fit(self.tallies, self.roster.anchor, self.anchor_rating)
        self.known = self.store.identities()
        self.next_rating = time.monotonic() + RATING_SHARE * (time.monotonic() - began)

    def standings(self) -> Standings:
        """The table of ratings at the last rating."""
        agents = {**self.known, **self.roster.entrants}
        return Standings.of(self.game.identity, self.game.players, self.ratings, agents, self.counts, self.store.path)

    def _progress(self, seconds: float) -> ArenaProgress:
        standings = self.standings()
        pairs = [(standings.label(one), standings.label(other)) for one, other in self._playing()]
        return ArenaProgress(standings, self.games, 60 * self.games / max(seconds, 1e-9), tuple(pairs))

    def _playing(self) -> list[tuple[str, str]]:
        return [group.pair for group in self.groups.values()]

    # --- the next games -----------------------------------------------------------------------------------------------

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
        return list(tasks_of(names, players, self.seed, self.opening, first=number * players))

    def _next_pair(self) -> tuple[str, str]:
        pending = [*self.unrated, *self._playing()]
        agents = list(self.roster.entrants)
        busy = {text for pair in pending for text in pair}
        rated = {text for text in agents if text in self.ratings.places and self.ratings[text].connected}
        if self.series is not None and rated | busy >= set(agents):  # before that, games must connect all agents
            played = self.counts.tallies(repeats=True)
            pair = self.series.next_pairing(self.roster, played, self.ratings, pending)
            if pair is not None:
                return pair
        return next_pairing(agents, self.tallies, self.ratings, cost=self._cost(), pending=pending)

    def _cost(self) -> Callable[[str, str], float]:
        """The seconds that a new game of two agents takes, by their games so far.

        An agent without games is taken to need the mean time of the others. Games that repeat earlier ones tell nothing
        new: a pair of whose games only one in ten is new costs ten times as much.
        """
        total, games = (sum(column) for column in zip((0.0, 0), *self.seconds.values(), strict=True))
        usual = total / games if games else 1.0
        each = {text: spent / count for text, (spent, count) in self.seconds.items()}
        novelty = self.counts.novelty(self.opening)

        def cost(one: str, other: str) -> float:
            # 0.01 s for the rules of the game
            seconds = each.get(one, usual) + each.get(other, usual) + 0.01
            return seconds / novelty.get(frozenset((one, other)), 1.0)

        return cost

    # --- games that have ended ----------------------------------------------------------------------------------------

    def _take(self, task: Task, result: GameRecord | Unfit) -> None:
        """Take in a game that has ended; record its start once all its games have ended."""
        if isinstance(result, Unfit):
            self._leave_out(result)
            return
        number = task.number // self.game.players
        group = self.groups.get(number)
        if group is None:
            return  # an agent of the group was left out
        group.records[task.number] = result
        self._account(group, result)
        if len(group.records) == self.game.players:
            records = [group.records[each] for each in sorted(group.records)]
            self.games += self.store.add(self.game, group.agents, records)
            self.unrated.append(self.groups.pop(number).pair)

    def _account(self, group: Group, result: GameRecord) -> None:
        """Add the time of a game to its agents, and report a loss by failing."""
        for index in result.seats:
            self._spend(group.agents[index].text, 0.0, 1)
        thoughts = [thought for ply in result.thoughts for thought in ply]
        for thought in thoughts:
            self._spend(group.agents[result.seats[thought.player]].text, thought.seconds, 0)
        if result.reason:
            loser = group.agents[result.seats[result.values.index(-1.0)]]
            self._spend(loser.text, result.seconds - sum(thought.seconds for thought in thoughts), 0)
            self.tell(GameLost(loser.label, result.reason))

    def _spend(self, text: str, seconds: float, games: int) -> None:
        total, count = self.seconds.get(text, (0.0, 0))
        self.seconds[text] = total + seconds, count + games

    def _leave_out(self, unfit: Unfit) -> None:
        """Continue without an agent that cannot be made. Its starts under way are dropped."""
        if unfit.name in [each.name for each in self.roster.entrants.values()]:
            self.tell(EntrantLeftOut(unfit.name, str(unfit)))
            self.roster.drop(unfit.name)
        gone = [each for each, group in self.groups.items() if unfit.name in [who.name for who in group.agents]]
        for each in gone:
            del self.groups[each]
        if len(self.roster.entrants) < 2:
            raise unfit
