"""Rates of playouts, searches and games on this machine. The time to compile is not counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

import numpy as np

from ludus.game import Game, Position
from ludus.machine import cpu_count
from ludus.rng import generator
from ludus.search.forest import Forest, Uniform
from ludus.search.puct import Puct
from ludus.search.random_play import play_games

TREES = 64
SIMULATIONS = 256
"""Simulations of each tree before it starts anew, as in self-play."""


@dataclass(frozen=True)
class Figure:
    """One measurement."""

    what: str
    rate: float
    """Units per second."""
    unit: str
    meaning: str
    """A description of the measurement."""


def measure(game: Game, seconds: float = 1.2) -> Iterator[Figure]:
    """All figures of a game, each measured for about `seconds`."""
    game.compile()
    start = game.start()
    threads = cpu_count()
    yield playouts(game, start, seconds)
    for count in sorted({1, threads}):
        yield uct(game, start, seconds, count)
    for count in sorted({1, threads}):
        yield trees(game, start, seconds, count)
    yield positions(start, seconds)


def playouts(game: Game, start: Position, seconds: float) -> Figure:
    states, random = game.new_states(1), generator(0)
    actions = np.zeros(game.most_legal, np.int32)
    joint, values = np.zeros(game.players, np.int32), np.zeros(game.players, np.float32)

    def run(count: int) -> int:
        play_games(game.rules, start.states, states, random, actions, joint, values, count)
        game.raise_pending()
        return count

    rate = rate_of(run, seconds)
    return Figure("random playouts", rate, "playouts/s", "games of random moves from the start, one thread")


def uct(game: Game, start: Position, seconds: float, threads: int) -> Figure:
    forest = Forest(game, memory=1 << 28, threads=threads)

    def run(count: int) -> int:
        forest.plant(start)
        return forest.search(simulations=count)

    rate = rate_of(run, seconds, most=100_000)
    meaning = f"tree search with random playouts, one tree, {'one thread' if threads == 1 else f'{threads} threads'}"
    return Figure("uct", rate, "simulations/s", meaning)


def trees(game: Game, start: Position, seconds: float, threads: int) -> Figure:
    forest = Forest(game, Puct(), trees=TREES, nodes=SIMULATIONS + 1, memory=1 << 30, threads=threads)
    evaluator = Uniform()

    def run(count: int) -> int:
        forest.plant(start)
        return forest.search(evaluator, simulations=min(count, SIMULATIONS))

    rate = rate_of(run, seconds, most=SIMULATIONS)
    meaning = f"{TREES} trees, null evaluator, {'one thread' if threads == 1 else f'{threads} threads'}"
    return Figure("tree operations", rate, "simulations/s", meaning)


def positions(start: Position, seconds: float) -> Figure:
    random = Random(0)

    def run(count: int) -> int:
        for _ in range(count):
            position = start
            while not position.is_over:
                position = position.play(random.choice(position.actions))
        return count

    rate = rate_of(run, seconds)
    return Figure("games from Python", rate, "games/s", "whole random games, move by move through Position.play")


def rate_of(run: Callable[[int], int], seconds: float, most: int = 1 << 30) -> float:
    """The rate per second of `run(count)`, which returns the number it did. The first call, which compiles, is not
    counted."""
    run(1)
    count, done, spent = 1, 0, 0.0
    while spent < seconds:
        began = time.perf_counter()
        did = run(count)
        took = time.perf_counter() - began
        if did == 0:  # nothing to do: the game is solved, or over, at the start
            return float("nan")
        done, spent = done + did, spent + took
        if took < 0.1 and count < most:
            count, done, spent = min(most, 4 * count), 0, 0.0  # too short for a precise measurement
    return done / spent
