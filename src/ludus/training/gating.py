"""Gates: which weights play. Without gating they are the learner's averaged weights; with it, the best so far."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ludus.training.playoff import Tally
from ludus.training.state import State, with_prefix

if TYPE_CHECKING:
    from ludus.runs.config import Config

Match = Callable[[Any, Any, int], Tally]
"""Plays a match: the new network, the old network or None, and the simulations of UCT, which plays instead of the old
network if they are not 0. Returns the results of the new network."""


class GateResult(NamedTuple):
    """A match at the gate, and its verdict."""

    wins: int
    draws: int
    losses: int
    passed: bool
    """True if the new network plays from now on."""


class Gate(ABC):
    """Keeps the weights that play, `best`, and decides whether a candidate's weights replace them."""

    best: Any
    """The network that plays."""
    result: GateResult | None = None
    """The latest match at the gate; None without gating, or before the first."""

    @abstractmethod
    def decide(self, play: Match) -> None:
        """Let the candidate's weights play from now on, if they are good enough."""

    @abstractmethod
    def state(self) -> State:
        """What the checkpoint needs beside the weights of `best`."""

    @abstractmethod
    def restore(self, state: State, playing: dict[str, Any]) -> None:
        """Continue from a state; `playing` are the weights of `best`."""


class NoGate(Gate):
    """The candidate's weights always play."""

    def __init__(self, candidate: Any):
        self.best = candidate

    def decide(self, play: Match) -> None:
        pass

    def state(self) -> State:
        return State()

    def restore(self, state: State, playing: dict[str, Any]) -> None:
        self.best.load_state_dict(playing)


class MatchGate(Gate):
    """The base of gates at which the candidate plays a match."""

    uct = 0
    """The simulations of UCT, if it is the opponent."""

    def __init__(self, candidate: Any):
        self.candidate, self.best = candidate, copy.deepcopy(candidate)

    @abstractmethod
    def passes(self, tally: Tally) -> bool:
        """True if a candidate with these results plays from now on."""

    def decide(self, play: Match) -> None:
        tally = play(self.candidate, None if self.uct else self.best, self.uct)
        passed = self.passes(tally)
        self.result = GateResult(*tally, passed)
        if passed:
            self.best.load_state_dict(self.candidate.state_dict())

    def state(self) -> State:
        return State(tensors=with_prefix("average.", self.candidate.state_dict()))

    def restore(self, state: State, playing: dict[str, Any]) -> None:
        self.best.load_state_dict(playing)
        self.candidate.load_state_dict(state.tensors_of("average."))


class ScoreGate(MatchGate):
    """The candidate plays the best so far. It must reach a score, or win a number of times per loss."""

    def __init__(self, candidate: Any, threshold: float):
        """A threshold up to 1 is a score; above 1 it is the number of wins for every loss."""
        super().__init__(candidate)
        self.threshold = threshold

    def passes(self, tally: Tally) -> bool:
        if self.threshold > 1:
            return tally.wins > self.threshold * tally.losses
        return tally.wins + tally.draws / 2 >= self.threshold * tally.games


class UctGate(MatchGate):
    """The candidate plays UCT and must score more than the best did.

    When UCT loses all games, it gets twice the simulations.
    """

    def __init__(self, candidate: Any, simulations: int):
        super().__init__(candidate)
        self.uct = simulations
        self.best_score = -1.0
        """The score of `best` against UCT with its present simulations; -1 if it has not played them."""

    def passes(self, tally: Tally) -> bool:
        better = tally.score > self.best_score
        if better:
            self.best_score = tally.score
        if tally.wins == tally.games:
            self.uct *= 2
            self.best_score = -1.0
        return better

    def state(self) -> State:
        return super().state() | State(facts={"uct_gate": [self.uct, self.best_score]})

    def restore(self, state: State, playing: dict[str, Any]) -> None:
        super().restore(state, playing)
        self.uct, self.best_score = state.facts["uct_gate"]


def make_gate(config: Config, candidate: Any) -> Gate:
    """The gate that the settings ask for, in front of a candidate's weights."""
    if config.gating_uct:
        return UctGate(candidate, config.gating_uct)
    return ScoreGate(candidate, config.gating) if config.gating else NoGate(candidate)
