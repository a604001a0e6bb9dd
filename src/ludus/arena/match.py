"""Matches: each start is played once for every seat, and the agents move on by one seat each time.

Everything random follows from the seed of the match: the starts, the openings, and a seed for each agent in each game.
The same seed repeats a match exactly, on any number of processes.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ludus.agents import Agent
from ludus.agents.human import Quit
from ludus.agents.identity import identify, takes_run, with_time
from ludus.arena.cluster_workers import open_crew, refuse_times
from ludus.arena.events import GameEnded, MatchEvent, MatchFinished, MatchStarted, MovePlayed, VerdictReached
from ludus.arena.openings import check_opening
from ludus.arena.play import Listener, play_task
from ludus.arena.record import GameRecord, tasks_of
from ludus.arena.remote import MOVE_LIMIT, RemoteAgent, agent_for
from ludus.arena.result import MatchResult, pair_points
from ludus.arena.store import Store
from ludus.arena.workers import can_work, one_game_at_a_time, warm_up
from ludus.errors import BadAgent, BadOption
from ludus.machine import cpu_count
from ludus.stopping import Stop, is_stopped

if TYPE_CHECKING:
    from ludus.arena.record import Thought
    from ludus.arena.sequential import Sequential
    from ludus.game import Game, Position

GAMES = 20
"""Default number of games."""
MOST_GAMES = 10_000
"""Default number of games of a match with a sequential test, which usually ends long before."""
MOST_PARALLEL = 256
"""Upper limit for the number of games at once."""


class Match:
    """A match whose arguments were checked and that can be played."""

    def __init__(
        self,
        game: Game,
        agents: Sequence[Agent | str],
        games: int | None = None,
        seed: int = 0,
        *,
        test: Sequential | None = None,
        openings: int = 0,
        parallel: int | None = None,
        equal_time: float | None = None,
        move_limit: float = MOVE_LIMIT,
        results: Path | str | None = None,
        cluster: str | None = None,
    ):
        self.cluster = cluster
        self.game, self.seed, self.openings = game, seed, check_opening(openings)
        self.move_limit, self.results = check_move_limit(move_limit), results
        if equal_time is not None:
            agents = [with_time(_name(agent), equal_time) for agent in agents]
        self.agents = [
            agent_for(agent, game, move_limit=move_limit) if isinstance(agent, str) else agent for agent in agents
        ]
        check_agents(game, self.agents)
        if test is not None and game.players != 2:
            raise BadOption(f"a sequential test compares two agents; {game.name} has {game.players} players")
        if games is None:
            games = (GAMES if test is None else MOST_GAMES) // game.players * game.players
        check_games(game, games)
        self.names = [_fixed(agent, game) if isinstance(agent, str) else agent.name for agent in agents]
        self.parallel = self._games_at_once(parallel, agents)
        if cluster is not None and results is not None:
            refuse_times(self.names)
        self.identities = [identify(_name(agent), game) for agent in agents] if results is not None else []
        shown = [agent if isinstance(agent, str) else agent.name for agent in agents]
        fresh = None if test is None else test.fresh()
        self.result = MatchResult(game.identity, shown, game.players, games, seed, fresh)

    def _games_at_once(self, given: int | None, agents: Sequence[Agent | str]) -> int:
        elsewhere = all(isinstance(agent, str) for agent in agents) and can_work(self.names)
        if self.cluster is not None and not elsewhere:
            raise BadOption("people, and agents that exist in this process only, cannot play on a cluster")
        single = one_game_at_a_time(agent for agent in agents if isinstance(agent, str))
        if given is None and single:
            return 1
        if given is None and self.cluster is not None:
            given = MOST_PARALLEL
        if given is None:
            # At least two: an agent that fails can lose its game only in a process of its own.
            given = max(2, cpu_count()) if elsewhere else 1
        if check_parallel(given) > 1 and not elsewhere:
            raise BadOption("people, and agents that exist in this process only, need one game at a time: parallel 1")
        if given > 1 and single:
            raise BadOption(f"{single} can be in one game at a time: parallel 1")
        return given

    def play(self, on_event: Callable[[MatchEvent], None] | None = None, stop: Stop | None = None) -> MatchResult:
        """Play the match. The games that have ended are kept when it is stopped."""
        tell = on_event or (lambda event: None)
        result = self.result
        with contextlib.ExitStack() as stack:
            store = None if self.results is None else stack.enter_context(Store(self.results))
            result.recorded = None if store is None else 0
            for agent in self.agents:
                if isinstance(agent, RemoteAgent):
                    stack.callback(agent.close)
            self._get_ready()
            tell(MatchStarted(result, self.parallel))
            try:
                for record in self._records(tell, stop):
                    start = result.add(record)
                    tell(GameEnded(record, result))
                    if start and store is not None:
                        added = store.add(self.game, self.identities, start)
                        result.recorded = (result.recorded or 0) + added
                        result.known += len(start) - added
                    if start and result.test is not None and (verdict := result.test.add(pair_points(start))):
                        result.ending = "decided"
                        tell(VerdictReached(verdict, result))
                        break
                else:
                    result.ending = "finished" if result.played == result.planned else "stopped"
            except Quit:
                result.ending = "left"
        tell(MatchFinished(result))
        return result

    def _get_ready(self) -> None:
        """Compile the code that the agents need, so that this takes no time of a move."""
        if self.cluster is not None or self.parallel > 1:
            warm_up(self.names, self.game)
        else:
            for index, agent in enumerate(self.agents):
                if not isinstance(agent, RemoteAgent):  # these get ready in their processes, before each game
                    agent.new_game(index)

    def _records(self, tell: Callable[[MatchEvent], None], stop: Stop | None) -> Iterator[GameRecord]:
        """The records of the games as they end, in the order of their numbers."""
        result = self.result
        tasks = tasks_of(tuple(self.names), result.planned, self.seed, self.openings)
        began = time.perf_counter()

        def moved(plies: int) -> None:
            result.seconds = time.perf_counter() - began
            tell(MovePlayed(result, plies))

        if self.cluster is not None or self.parallel > 1:
            count = min(self.parallel, result.planned)
            with open_crew(self.game, count, self.move_limit, self.cluster, tell) as workers:
                for record in workers.play(tasks, stop):
                    result.seconds = time.perf_counter() - began
                    if record is None:
                        moved(workers.plies)
                    else:
                        yield record
            return
        watcher = _Watcher(moved, stop)
        for task in tasks:
            for agent in self.agents:
                if isinstance(agent, RemoteAgent):
                    agent.start()  # it may have ended since the last game
            try:
                record = play_task(self.game, task, self.agents, watcher, strict=True)
            except _Stopped:
                return
            result.seconds = time.perf_counter() - began
            yield record


class _Stopped(Exception):
    """The stop signal was set during a game."""


class _Watcher(Listener):
    """Reports the plies of a game, and ends it when the stop signal is set."""

    def __init__(self, moved: Callable[[int], None], stop: Stop | None):
        self.moved, self.stop = moved, stop

    def asks(self, player: int) -> None:
        if is_stopped(self.stop):
            raise _Stopped

    def played(self, position: Position, thoughts: tuple[Thought, ...]) -> None:
        self.moved(len(position.history) - 1)


def _name(agent: Agent | str) -> str:
    if not isinstance(agent, str):
        raise BadAgent(f"{agent.name} must be given by its name here: an equal time and recorded games need it")
    return agent


def _fixed(name: str, game: Game) -> str:
    """The name with its current checkpoint: a run may write a newer one while the match is played."""
    return identify(name, game).name if takes_run(name) else name


def check_agents(game: Game, agents: Sequence[Agent]) -> None:
    """BadAgent unless there is one agent for each player."""
    seats = game.players
    if len(agents) != seats:
        raise BadAgent(
            f"{game.name} has {seats} player{'s' * (seats != 1)}: a match needs as many agents, not {len(agents)}"
        )
    if len({id(agent) for agent in agents}) < seats:
        raise BadAgent("every seat needs an agent of its own: make a second one of the same name")


def check_games(game: Game, games: int) -> None:
    """BadOption unless every start can be played from each seat."""
    if games < 1 or games % game.players:
        raise BadOption(
            f"a match of {game.name} needs a multiple of {game.players} games, as every start is played from each "
            f"seat, not {games}"
        )


def check_parallel(games: int) -> int:
    """A number of games at once that a user gave; BadOption if it is out of range."""
    if not 1 <= games <= MOST_PARALLEL:
        raise BadOption(f"parallel must be at least 1 and at most {MOST_PARALLEL} games at once, not {games}")
    return games


def check_move_limit(seconds: float) -> float:
    """A time limit for a move that a user gave; BadOption if it is out of range."""
    if not 0 < seconds < math.inf:
        raise BadOption(f"move_limit must be a time above 0 seconds, not {seconds:g}")
    return seconds
