"""The actor of self-play on a node of a cluster: weights in, batches of rows out.

`Player` plays freely: each call continues its games for about a second. `SeatPlayer` plays in lockstep: a call takes
the state of one worker, plays its rows and returns the state after them, so any actor can do it and the result is the
same (see cluster_play.py and lockstep.py).
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ludus.cluster.parcel import GameParcel, pack_game, private_folder, unpack_game
from ludus.errors import BadOption
from ludus.rng import derived_seed
from ludus.stopping import Deadline
from ludus.training.planning import PARALLEL_GAMES
from ludus.training.selfplay import LocalSelfPlay, Played
from ludus.training.state import State

if TYPE_CHECKING:
    from ludus.cluster.placement import Slot
    from ludus.game import Game
    from ludus.runs.config import Config

FORESTS = 2
"""Threads of an actor on a GPU: while the GPU searches for one, the CPU plays the moves of the other."""


class Weights(NamedTuple):
    """The weights that play, in the object store of the cluster."""

    version: int
    """Later weights have a larger number."""
    reference: Any
    """Ray's reference of a tuple: the weights by name, and the positions to calibrate with or None. It is put into a
    list, because Ray would fetch the object itself for every call."""


class Batch(NamedTuple):
    """The rows and counts of one job."""

    job: int
    played: Played
    state: dict[str, np.ndarray] | None = None
    """In lockstep, the state of the worker after it."""


class Recipe(NamedTuple):
    """All that an actor needs to play a run."""

    version: str
    """The version of Ludus."""
    game: GameParcel
    config: Config


class Share(NamedTuple):
    """What the games of a free-running actor follow from."""

    games: int
    """Games side by side on the machine that the run was planned on."""
    workers: int
    """Workers of that machine."""
    planned_on: str
    """The kind of that machine: cpu or cuda."""
    seed: int
    """The seed of the run, from which each actor derives its own."""

    def games_for(self, threads: int, has_gpu: bool) -> int:
        """The games of an actor: on a GPU those of one GPU, else for each thread those of one worker."""
        if has_gpu:
            return self.games if self.planned_on == "cuda" else PARALLEL_GAMES["cuda"]
        return threads * min(-(-self.games // self.workers), PARALLEL_GAMES["cpu"])


def recipe_for(game: Game, config: Config) -> Recipe:
    """The recipe of a run that this process trains."""
    from ludus import __version__

    return Recipe(__version__, pack_game(game), config)


def weights_of(network: Any) -> dict[str, np.ndarray]:
    """The weights of a network as arrays on the CPU; copies."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in network.state_dict().items()}


def engine_for(engine: str, has_gpu: bool) -> str:
    """The engine of an actor: a GPU runs `auto`; without one, the engine of the run, if that needs no GPU."""
    return "auto" if has_gpu or engine == "cuda" else engine


class Actor:
    """The base: the game, the settings and the network of a run on this node."""

    def __init__(self, slot: Slot, number: int, recipe: Recipe):
        """`number` is the number of the actor, and no other actor of the run has it."""
        from ludus import __version__

        if recipe.version != __version__:
            raise BadOption(f"this node has Ludus {__version__}, and the learner {recipe.version}: install the same")
        if not slot.gpus:
            os.environ["CUDA_VISIBLE_DEVICES"] = ""  # before PyTorch looks for GPUs
        import torch

        torch.set_num_threads(1)  # the threads of self-play are parallel, operations are not
        self.slot, self.number = slot, number
        self.folder = private_folder()
        self.game = unpack_game(recipe.game, Path(self.folder.name))
        self.config = dataclasses.replace(recipe.config, engine=engine_for(recipe.config.engine, slot.gpus > 0))
        self.network = self.config.make_network(self.game).eval()
        self.version = -1

    def fetch(self, weights: Weights) -> tuple[Any] | None:
        """Take over newer weights; returns the positions to calibrate with, in a tuple, or None if nothing is new."""
        import ray
        import torch

        if weights.version == self.version:
            return None
        arrays, calibration = ray.get(weights.reference[0])
        self.network.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in arrays.items()})
        self.version = weights.version
        return (calibration,)


class Player(Actor):
    """Plays games without end, and hands out their rows."""

    def __init__(self, slot: Slot, number: int, recipe: Recipe, share: Share):
        super().__init__(slot, number, recipe)
        self.share = share
        threads = min(FORESTS, slot.threads) if slot.gpus else slot.threads
        self.selfplay = self._make(threads)
        if slot.gpus and not self.selfplay.workers[0].forest.on_gpu:
            self.selfplay = self._make(slot.threads)

    def _make(self, threads: int) -> LocalSelfPlay:
        games = self.share.games_for(threads, self.slot.gpus > 0)
        seed = derived_seed(self.share.seed, self.number)
        return LocalSelfPlay(self.game, self.config, self.network, games=games, workers=threads, seed=seed)

    def play(self, job: int, weights: Weights, simulations: int, seconds: float) -> Batch:
        """Play for about `seconds` and return the rows of the games that have ended."""
        news = self.fetch(weights)
        if news is not None:
            self.selfplay.load(self.network, *news)
        return Batch(job, self.selfplay.play(1 << 40, simulations, Deadline(seconds)))


class SeatPlayer(Actor):
    """Plays for any worker of a run in lockstep."""

    def __init__(self, slot: Slot, number: int, recipe: Recipe):
        super().__init__(slot, number, recipe)
        self.seats: dict[int, LocalSelfPlay] = {}
        """Workers that this actor has played for."""
        self.loaded: dict[int, int] = {}
        """The version of the weights of each."""
        self.calibration: Any = None

    def play(
        self,
        job: int,
        weights: Weights,
        seat: int,
        games: int,
        seed: int,
        state: dict[str, np.ndarray] | None,
        rows: int,
        simulations: int,
    ) -> Batch:
        """Play `rows` rows for the worker `seat`, which has `games` games, from its state or from the start."""
        news = self.fetch(weights)
        if news is not None:
            (self.calibration,) = news
        if state is None or seat not in self.seats:
            self.seats[seat] = LocalSelfPlay(
                self.game, self.config, self.network, games=games, workers=1, seed=seed, watch=seat == 0
            )
            self.loaded.pop(seat, None)
        selfplay = self.seats[seat]
        if self.loaded.get(seat) != weights.version:
            selfplay.load(self.network, self.calibration)
            self.loaded[seat] = weights.version
        if state is not None:
            selfplay.restore(
                State(facts={"workers": 1}, arrays={f"worker0.{name}": each for name, each in state.items()})
            )
        played = selfplay.play(rows, simulations)
        return Batch(job, played, selfplay.state().arrays_of("worker0."))
