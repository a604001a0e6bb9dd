"""The evaluator of an agent that plays: in 8-bit integers where that is fast and precise enough, else in float32.

A quantised network needs sample positions for its ranges (calibration). In training they come from the replay window.
An agent and the first iteration of a training have none, and take positions after random moves. On these
positions the quantised answers are compared with float32, and are used only if they agree (see quantised.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.machine import has_fast_int8
from ludus.native import kernel
from ludus.nets.engines import FLOAT32_ON_CPU
from ludus.nets.evaluator import NetworkEvaluator, make_evaluator
from ludus.nets.families import family_of
from ludus.rng import generators
from ludus.rules import to_move
from ludus.search.random_play import begin_games

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.nets.families import Family

POSITIONS = 256
"""Sample positions."""
MOST_PLIES = 60
"""The largest number of random moves before a sample position."""


def make_playing_evaluator(game: Game, network: Any, engine: str = "auto") -> NetworkEvaluator:
    """An evaluator on the engine of this name; `auto`: a GPU, integers if this CPU is fast with them, or float32."""
    family = family_of(network)
    if (
        engine == "auto"
        and family.choose_engine(engine) in FLOAT32_ON_CPU
        and "int8" in family.engines
        and has_fast_int8()
    ):
        engine = "int8"
    if engine != "int8":
        return make_evaluator(game, network, engine)
    evaluator = family.make_evaluator(game, family.make_engine(engine))
    evaluator.load(network, evaluator.see(*sample_positions(game)))
    return evaluator


def usual_inputs(game: Game, family: Family, count: int = POSITIONS) -> Any:
    """The inputs of a family's networks for sample positions, to calibrate with."""
    return family.make_evaluator(game, family.make_engine("int8")).see(*sample_positions(game, count))


@kernel
def write_movers(rules, states, movers):
    """Write the player to move in every position into movers int8 [K]."""
    for k in range(movers.size):
        movers[k] = to_move(rules, states[k])


def sample_positions(game: Game, count: int = POSITIONS) -> tuple[np.ndarray, np.ndarray]:
    """Positions after 0 to MOST_PLIES random moves, always the same: states [count], players to move int8 [count]."""
    game.compile()
    states, movers = game.new_states(count), np.zeros(count, np.int8)
    scratch = np.zeros(game.most_legal, np.int32), np.zeros(game.players, np.int32), np.zeros(game.players, np.float32)
    begin_games(game.rules, states, generators(0, count), np.ones(count, np.bool_), MOST_PLIES, *scratch)
    write_movers(game.rules, states, movers)
    game.raise_pending()
    return states, movers
