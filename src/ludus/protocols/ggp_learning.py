"""Learning inside a start clock: train a network, then choose who plays by short games.

The clock is divided: a first part for training, a second for games of the candidates, and a reserve. The candidates are
plain UCT (`uct`), the search with the network (`zero`) and their mixture, a search whose playouts the network plays
(`rollout`). A candidate plays the role in question, and UCT plays all other roles: so the comparison means the same for
one, two or more players, also where they play together. Everything ends when the clock says so.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING

from ludus.agents import make_agent
from ludus.agents.budget import Budget
from ludus.agents.rollout import RolloutAgent, RolloutEvaluator
from ludus.agents.search import think
from ludus.agents.uct import UctAgent
from ludus.agents.zero import ZeroAgent
from ludus.arena.record import random_action
from ludus.errors import LudusError
from ludus.nets.evaluator import make_evaluator
from ludus.rng import derived_seed
from ludus.rules import EVERYONE
from ludus.runs.config import Config, with_settings
from ludus.stopping import NEVER, Deadline
from ludus.training.events import IterationDone, Planned
from ludus.training.planning import check_fit, mean_plies, settings_for
from ludus.training.selfplay import LocalSelfPlay
from ludus.training.session import train

if TYPE_CHECKING:
    from ludus.agents import Agent
    from ludus.game import Game, Position
    from ludus.runs.run import Run
    from ludus.stopping import Stop
    from ludus.training.events import TrainingEvent

FEWEST_ROWS = 2_000
"""A training that is not expected to reach this number of rows is not begun, and UCT plays."""
PREFLIGHT, SHORT_PREFLIGHT = 12.0, 7.0
"""Seconds that the preflight of a training takes, about, in a long and in a short clock."""
SHORT = 120.0
"""A clock is short below this number of seconds: then the preflight does not compare the settings below with others."""
SHORT_SETTINGS = {"parallel_games": 32, "learner_threads": 1}
CHOOSING, MOST_CHOOSING = 0.2, 120.0
"""The part of the clock for games between the candidates, and its limit in seconds."""
RESERVE, LEAST_RESERVE, MOST_RESERVE = 0.03, 2.0, 10.0
"""The part of the clock that stays unused, and its limits in seconds."""
OPENING = 2
"""Random plies at the start of the candidates' games, so that games differ."""
LEAST_MOVE, MOST_MOVE = 0.02, 1.0
"""Limits of the time for a move in the candidates' games, in seconds."""
GAMES_WANTED = 8
"""Games of each candidate that the time for a move is chosen for."""


@dataclass(frozen=True)
class Learning:
    """The training reports: an iteration is done."""

    games: int
    rows: int
    seconds_left: float

    def __str__(self) -> str:
        return f"learned from {self.games:,} games, {self.rows:,} positions; {self.seconds_left:.0f} s left"


@dataclass(frozen=True)
class NotLearned:
    """UCT plays, without a network."""

    reason: str

    def __str__(self) -> str:
        return f"plain uct: {self.reason}"


@dataclass
class Chosen:
    """The agent that plays, and the games that decided it."""

    agent: str = "uct"
    """Its name, for `ludus.make_agent`."""
    games: dict[str, list[float]] = field(default_factory=dict)
    """For each candidate, the values that it reached in its games."""
    move_seconds: float = 0.0
    """Time for a move in the later of these games."""
    run: Run | None = None

    def __str__(self) -> str:
        if not self.games:
            return f"{_kind(self.agent)} plays"
        shown = (f"{_kind(name)} {_mean(values):+.2f} of {len(values)}" for name, values in self.games.items())
        return f"{_kind(self.agent)} plays; values in games of {self.move_seconds:.2g} s a move: {', '.join(shown)}"


LearningEvent = Learning | NotLearned | Chosen
OnEvent = Callable[[LearningEvent], object]


def learn_within(
    game: Game,
    seconds: float,
    *,
    folder: Path,
    player: int | None = None,
    on_event: OnEvent | None = None,
    on_training: Callable[[TrainingEvent], object] | None = None,
    stop: Stop = NEVER,
    seed: int = 0,
) -> Chosen:
    """Train a network for a game and choose who plays the role `player`, by default all roles alike; takes `seconds`.

    The run is written into `folder`. If `stop` is set, it ends soon with the best that is known then.
    """
    tell = on_event or (lambda event: None)
    began = time.monotonic()
    reserve = min(MOST_RESERVE, max(LEAST_RESERVE, RESERVE * seconds))
    choosing = min(MOST_CHOOSING, CHOOSING * seconds)
    whole = Deadline(max(0.0, seconds - reserve), stop)
    chosen = Chosen()
    try:
        chosen.run = _train(game, folder, seconds - reserve - choosing, whole, seed, tell, on_training)
    except _NotWorthIt as error:
        tell(NotLearned(str(error)))
    if chosen.run is not None:
        names = ["uct", f"rollout:{folder}", f"zero:{folder}"]
        left = seconds - reserve - (time.monotonic() - began)
        _choose(game, names, player, left, whole, seed, chosen)
        tell(chosen)
    return chosen


def warm_up(game: Game) -> None:
    """Compile, or load, the machine code for learning a game and playing it with a network."""
    config = with_settings(Config(), settings_for(game))
    check_fit(game, config)
    network = config.make_network(game)
    mean_plies(game, 1)
    LocalSelfPlay(game, config, network, games=2, workers=1, seed=0).play(1, 2)
    evaluator = make_evaluator(game, network, "auto")
    for agent in (UctAgent(game), ZeroAgent(game, evaluator), RolloutAgent(game, RolloutEvaluator(game, evaluator))):
        agent.prepare()


# --- training ---------------------------------------------------------------------------------------------------------


class _NotWorthIt(Exception):
    """There is no network to play with."""


def _train(
    game: Game,
    folder: Path,
    seconds: float,
    stop: Stop,
    seed: int,
    tell: OnEvent,
    on_training: Callable[[TrainingEvent], object] | None,
) -> Run:
    """A run with at least one checkpoint that is ready after `seconds`."""
    ended = threading.Event()
    until = Deadline(seconds, stop)
    reasons: list[str] = []

    def show(event: TrainingEvent) -> None:
        if on_training is not None:
            on_training(event)
        if isinstance(event, Planned) and event.config.planned_rows < FEWEST_ROWS:
            reasons.append(f"only {event.config.planned_rows:,} positions could be learned from in this time")
            ended.set()
        elif isinstance(event, IterationDone):
            tell(Learning(event.report.games, event.report.rows, event.seconds_left))

    is_short = seconds < SHORT
    settings = {"checkpoint_every": 1, "seed": seed, **(SHORT_SETTINGS if is_short else {})}
    minutes = max(seconds / 2, seconds - (SHORT_PREFLIGHT if is_short else PREFLIGHT)) / 60
    try:
        run = train(game, minutes=minutes, run=folder, settings=settings, on_event=show, stop=_Either(until, ended))
    except LudusError as error:  # the game has no network, or the time was up before the run began
        raise _NotWorthIt(str(error)) from None
    if reasons or not run.checkpoints():
        raise _NotWorthIt(reasons[0] if reasons else "the time was too short for a checkpoint")
    return run


class _Either:
    """A stop signal that is set when one of two is."""

    def __init__(self, one: Stop, other: Stop):
        self.one, self.other = one, other

    def is_set(self) -> bool:
        return self.one.is_set() or self.other.is_set()


# --- choosing ---------------------------------------------------------------------------------------------------------


def _choose(
    game: Game, names: list[str], player: int | None, seconds: float, stop: Stop, seed: int, chosen: Chosen
) -> None:
    """Let the candidates play until the time is up, and take the one with the highest mean value."""
    until = Deadline(seconds, stop)
    partners: list[Agent] = [make_agent("uct", game, seed + number) for number in range(game.players)]
    candidates = {name: make_agent(name, game, seed) for name in names}
    chosen.games = {name: [] for name in names}
    for agent in (*partners, *candidates.values()):
        agent.new_game(seed)
        if until.is_set():
            break
    chosen.move_seconds = LEAST_MOVE  # in the first round, which shows how long games are: random ones may be shorter
    thoughts: list[int] = []
    for number, role in _rounds(game, player):
        if 0 < number < GAMES_WANTED:
            wanted = (GAMES_WANTED - number) * len(names) * max(1.0, fmean(thoughts))
            chosen.move_seconds = min(MOST_MOVE, max(LEAST_MOVE, (until.at - time.perf_counter()) / wanted))
        budget = Budget(seconds=chosen.move_seconds)
        for name in names:  # one game each: all have played alike when the time is up
            played = _play(game, candidates[name], partners, role, derived_seed(seed, number), budget, until)
            if played is None:
                chosen.agent = _best(chosen.games)
                return
            chosen.games[name].append(played[0])
            thoughts.append(played[1])


def _best(games: dict[str, list[float]]) -> str:
    """The candidate with the highest mean, of equal ones the later in the list; UCT if there was no time for a game.

    Only rounds that all candidates have played count.
    """
    rounds = min(map(len, games.values()))
    if not rounds:
        return "uct"
    return max(reversed(games), key=lambda name: fmean(games[name][:rounds]))


def _rounds(game: Game, player: int | None) -> Iterator[tuple[int, int]]:
    """Numbers from 0 on, and the role of the candidate."""
    number = 0
    while True:
        yield number, number % game.players if player is None else player
        number += 1


def _play(
    game: Game, candidate: Agent, partners: list[Agent], role: int, seed: int, budget: Budget, stop: Stop
) -> tuple[float, int] | None:
    """The value that the candidate reaches in one game, and how often agents had to think in it; None if the time is up
    before its end."""
    position = _opening(game, Random(seed))
    agents = [candidate if player == role else partners[player] for player in range(game.players)]
    for player, agent in enumerate(agents):
        agent.new_game(derived_seed(seed, player))
    thoughts = 0
    while not position.is_over:
        if stop.is_set():
            return None
        choosers = range(game.players) if position.to_move == EVERYONE else [position.to_move]
        thoughts += sum(len(position.actions_of(player)) > 1 for player in choosers)
        position = _step(position, agents, budget, stop)
    return position.values[role], thoughts


def _step(position: Position, agents: list[Agent], budget: Budget, stop: Stop) -> Position:
    def choose(player: int) -> int:
        if len(position.actions_of(player)) == 1:
            return position.actions_of(player)[0]
        return think(agents[player], position, budget, player, is_stopped=stop.is_set)[0].action

    if position.to_move != EVERYONE:
        return position.play(choose(position.to_move))
    players = range(position.game.players)
    return position.play(tuple(choose(player) if position.actions_of(player) else -1 for player in players))


def _opening(game: Game, random: Random) -> Position:
    position = game.start()
    for _ in range(OPENING):
        after = position.play(random_action(position, random))
        if after.is_over:
            break
        position = after
    return position


def _kind(name: str) -> str:
    return name.partition(":")[0]


def _mean(values: list[float]) -> float:
    return fmean(values) if values else 0.0
