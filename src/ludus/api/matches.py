"""Matches, ratings and grades: `ludus.play_match`, `ludus.rate`, `ludus.open_results` and `ludus.grade`.

Each function runs in the calling thread and returns its result. `on_event` is called with small frozen dataclasses
(`ludus.arena.events`, `ludus.grading.events`) while it runs. `stop` is a `threading.Event`, or any object with
`is_set()`: when it is set, the function ends soon and returns what it has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludus.arena.events import ArenaEvent, ArenaFinished, ArenaStarted, MatchEvent
from ludus.arena.loop import Arena
from ludus.arena.match import MOST_PARALLEL, Match, check_move_limit, check_parallel
from ludus.arena.openings import check_opening
from ludus.arena.ratings import check_anchor_rating
from ludus.arena.remote import MOVE_LIMIT
from ludus.arena.results import Results, open_results
from ludus.arena.roster import Roster, find_entrants, read_plan
from ludus.arena.series import read_series
from ludus.arena.store import FILE
from ludus.arena.workers import one_game_at_a_time, warm_up
from ludus.errors import BadOption
from ludus.grading.drawing import LIMIT
from ludus.grading.report import GradeReport, grade_agent
from ludus.machine import cpu_count
from ludus.registry import make
from ludus.stopping import is_stopped

if TYPE_CHECKING:
    from ludus.agents import Agent
    from ludus.arena.report import Standings
    from ludus.arena.result import MatchResult
    from ludus.arena.sequential import Sequential
    from ludus.game import Game
    from ludus.grading.events import GradingEvent
    from ludus.grading.positions import Positions
    from ludus.runs.run import Run
    from ludus.stopping import Stop

__all__ = ["grade", "open_results", "play_match", "rate"]


def play_match(
    game: Game | str,
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
    on_event: Callable[[MatchEvent], None] | None = None,
    stop: Stop | None = None,
) -> MatchResult:
    """Let agents play each other, and return their scores. Every start is played from all seats.

    `games` is 20 by default, and 10,000 with a `test` that ends the match when it is decided. Games begin with
    `openings` random plies. `parallel` is the number of games at once: by default one for each CPU core, in processes
    of their own. There, an agent that fails or takes longer than `move_limit` seconds for a move loses the game. With
    `parallel=1`, games are played in this process, and the exception of an agent is raised. Agents given as objects
    need that. Agents of kinds that a program registered as a module play in processes of their own, also then, and lose
    the game if they fail. `equal_time` gives every agent this number of seconds a move. `results` is a file that the
    games are recorded in. `cluster` is the address HOST:PORT of a Ray cluster whose nodes play the games, or `auto`
    (see docs/cluster.md); there, `parallel` is by default one game for each core.
    """
    match = Match(
        _game(game),
        agents,
        games,
        seed,
        test=test,
        openings=openings,
        parallel=parallel,
        equal_time=equal_time,
        move_limit=move_limit,
        results=results,
        cluster=cluster,
    )
    return match.play(on_event, stop)


def rate(
    entrants: Sequence[str | Path | Run],
    game: Game | str | None = None,
    *,
    results: Path | str | None = None,
    minutes: float | None = None,
    games: int | None = None,
    parallel: int | None = None,
    anchor: str = "random",
    anchor_rating: float = 500.0,
    simulations: int | None = None,
    every: int | None = None,
    series: str | None = None,
    openings: int | None = None,
    move_limit: float = MOVE_LIMIT,
    trust: bool = False,
    cluster: str | None = None,
    on_event: Callable[[ArenaEvent], None] | None = None,
    stop: Stop | None = None,
) -> Standings:
    """Rate agents and the checkpoints of runs by games between them, and return the table of ratings.

    `entrants` are names of agents and folders of runs. Agents without a run need a `game`. The arena plays until
    `minutes` are over, `games` were played or `stop` is set, and goes on from the games in the file of `results`: by
    default results.sqlite in the folder of the run, or in this folder for several runs or none.

    `parallel` is the number of games at once, by default one for each CPU core. The rating of `anchor` is fixed at
    `anchor_rating`. Checkpoints play with `simulations` a move (100), every K-th of a run takes part (`every`), and
    `series` says which games they play (see docs/arena.md). Games begin with `openings` random plies, by default up to
    4, depending on the length of the game. An agent that takes longer than `move_limit` seconds for a move loses.
    Python code of a game that comes with a run, and external programs that its settings name, are used only with
    `trust`. `cluster` as for play_match.
    """
    for name, value in (("minutes", minutes), ("games", games)):
        if value is not None and not 0 < value < math.inf:
            raise BadOption(f"{name} must be above 0, not {value:g}")
    found = find_entrants(entrants, None if game is None else _game(game), trust)
    settings: dict[str, Any] = {"simulations": simulations, "every": every, "series": series}
    for name in ("simulations", "every"):
        if settings[name] is not None and not found.runs:
            raise BadOption(f"{name} is about the checkpoints of a run: name one")
    plans = [(run, read_plan(run.folder, trust, **settings)) for run in found.runs]
    single = one_game_at_a_time([anchor, *found.agents, *(name for _, plan in plans for name in plan.agents)])
    usual = cpu_count() if cluster is None else MOST_PARALLEL
    at_once = (1 if single else usual) if parallel is None else check_parallel(parallel)
    if single and at_once > 1:
        raise BadOption(f"{single} can be in one game at a time: parallel 1")
    line = next((plan.series for _, plan in plans if plan.series), series or "")
    if line and not found.runs:
        raise BadOption("a series is about the checkpoints of a run: name one")
    roster = Roster(found.game, anchor, found.agents, plans)
    if results is None:
        results = found.runs[0].folder / FILE if len(found.runs) == 1 else FILE
    tell = on_event or (lambda event: None)
    with Results(results) as store:
        arena = Arena(
            found.game,
            store,
            roster,
            parallel=at_once,
            anchor_rating=check_anchor_rating(anchor_rating),
            series=read_series(line) if line else None,
            move_limit=check_move_limit(move_limit),
            opening=None if openings is None else check_opening(openings),
            cluster=cluster,
            on_event=tell,
        )
        labels = tuple(each.label for each in roster.entrants.values())
        other_rules = store.count_other_rules(found.game.identity)
        tell(ArenaStarted(found.game, labels, store.path, arena.counts.games, other_rules, at_once, arena.opening))
        warm_up([each.name for each in roster.entrants.values()], found.game)
        arena.run(stop, None if minutes is None else 60 * minutes, games)
        arena.rate()
        standings = arena.standings()
    tell(ArenaFinished(standings, arena.games, is_stopped(stop)))
    return standings


def grade(
    agent: Agent | str,
    game: Game | str,
    *,
    positions: Positions | Path | str | None = None,
    count: int | None = None,
    seed: int = 0,
    limit: float = LIMIT,
    on_event: Callable[[GradingEvent], None] | None = None,
    stop: Stop | None = None,
) -> GradeReport:
    """Grade the moves of an agent against exact truth, for two-player zero-sum games in which players take turns.

    `positions` is a set of positions or its file; a file that does not exist is made. Without it, `count` positions
    (300) are drawn from play and solved, each within `limit` seconds. With a file, `count` limits the positions used.
    """
    return grade_agent(agent, _game(game), positions, count, seed, limit, on_event, stop)


def _game(game: Game | str) -> Game:
    return make(game) if isinstance(game, str) else game
