"""A description in GDL as a game like any other."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import math
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from ludus import rules as generic
from ludus.board import Board
from ludus.errors import BadPosition, LudusWarning, UnknownGame
from ludus.game import convert_options, require
from ludus.gdl import rules as gdl_rules
from ludus.gdl.checks import Problem
from ludus.gdl.circuit import Circuit, build_circuit
from ludus.gdl.counters import Counter, find_counters
from ludus.gdl.described import GAMES, MOST_LONGEST, DescribedGame
from ludus.gdl.drawing import draw_described
from ludus.gdl.grounding import CannotGround, Ground, ground
from ludus.gdl.kif import BadDescription, decode, names_of, shorten, show
from ludus.gdl.language import Description, Term, rank, read_description
from ludus.gdl.network import Network, TooWide, build_network
from ludus.gdl.notation import find_move, read_position, write_position
from ludus.gdl.proofs import Samples, prove
from ludus.gdl.reasoned import ReasonedGame
from ludus.gdl.rules import MAX_ROLES, GdlRules, facts_bytes, scratch_bytes, settle
from ludus.gdl.sheets import names
from ludus.gdl.structure import Grid, find_grid, unique, words_of
from ludus.gdl.symmetries import Symmetry, find_symmetries
from ludus.gdl.views import view_of
from ludus.gdl.waiting import told_if_slow
from ludus.position import Position
from ludus.rules import EVERYONE
from ludus.sources import Source, read_source

SAMPLE_GAMES, SAMPLES, SAMPLED_MOVES = 20, 2000, 4_000_000
"""Random games, positions from them at most, and the number of moves that these may have together: they show which
properties of a game are worth a proof."""


MANY_GATES, MANY_RULES = 10_000, 1_000_000
"""A network with more gates, or of more ground rules, serves for sweeps and for the circuit."""
WIDEST = 1.3
"""A circuit has wide gates if they have at most this number of times the connections of factored ones: beyond, flips
cost more, up to ten times."""
TIMED = 60
"""Positions, of random games from the start, on which two ways of evaluation are compared."""
CIRCUIT_MERIT = 1.5
"""The circuit may take this much longer for single positions: playouts go on with it from one position to the next."""


class SlowGame(LudusWarning):
    """A description cannot be grounded and is played by the reasoner."""


class IncompleteRules(LudusWarning):
    """A part of a description is missing, or has a mistake and is left out."""


def make(name: str, /, **options: Any) -> GdlGame | ReasonedGame:
    """The game of a description that comes with Ludus."""
    if name not in names():
        raise UnknownGame(
            f"no description is called gdl:{shorten(name, 40)}; there are {', '.join(names())}. "
            "A description of your own is named by its path, which ends in .kif"
        )
    return make_file(GAMES / f"{name}.kif", **options)


def make_file(path: str | Path, /, **options: Any) -> GdlGame | ReasonedGame:
    """The game of a file.

    A description that cannot be grounded, or any with the option reasoner=yes, is played by the reasoner.
    """
    source = read_source(Path(path))
    description = read_description(decode(source.files[source.path.name]), source.path.name)
    return game_of(description, source.path.stem, source, **options)


def game_of(
    description: Description, name: str = "description", source: Source | None = None, /, **options: Any
) -> GdlGame | ReasonedGame:
    """The game of a description: on its network or, if it cannot be grounded or with reasoner=yes, by the reasoner.

    With reasoner=no a description that cannot be grounded is an error.
    """
    given = convert_options(f"gdl:{name}", DescribedGame.options(), options)
    game, told = _made(description, name, source, given, must_ground="reasoner" in options)
    lost = [problem for problem in game.warnings if problem.is_loss]
    if lost:
        more = f" (and {len(lost) - 1} more: ludus gdl check lists them)" if len(lost) > 1 else ""
        warnings.warn(f"{lost[0]}{more}", IncompleteRules, stacklevel=3)
    if told:
        game.warnings.append(Problem(told, is_error=False))
        warnings.warn(told, SlowGame, stacklevel=3)
    return game


def _made(
    description: Description, name: str, source: Source | None, given: dict[str, Any], must_ground: bool
) -> tuple[GdlGame | ReasonedGame, str]:
    """The game of a description, and why it is played by the reasoner, if it could not be grounded."""
    if given["reasoner"]:
        return ReasonedGame(description, name, source, **given), ""
    try:
        return GdlGame(description, name, source, **given), ""
    except CannotGround as error:
        if must_ground:
            raise
        told = f"{description.source}: {error}; the game is played by the reasoner, which is slower"
        return ReasonedGame(description, name, source, **{**given, "reasoner": True}), told


class GdlGame(DescribedGame):
    """A game whose rules are a propositional network."""

    Rules = GdlRules
    counters: Sequence[Counter] = ()
    """The facts that a network sees as numbers."""

    def make_rules(self, **options: Any) -> GdlRules:
        given = convert_options(self.name, self.options(), options)
        self.longest, self.has_counters = given["longest"], given["counters"]
        require(0 < self.longest <= MOST_LONGEST, f"{self.name}: longest must be from 1 to {MOST_LONGEST}")
        require(not given["reasoner"], f"{self.name}: reasoner must be no for a game on a network")
        with told_if_slow(self.description.source), collector_at_rest():
            return self._rules()

    def _rules(self) -> GdlRules:
        self.network, wide = networks_of(self.description)
        self.terms = action_terms(self.network)
        self.actions_by_term = {term: action for action, term in enumerate(self.terms)}
        self.grid = find_grid(self.description, self.network.bases, self.terms)
        rules = rules_of(self.network, self.actions_by_term, self.longest, self.grid, build_circuit(wide))
        turns = find_symmetries(self.network, self.grid, turns_only=True)
        return with_symmetries(rules, turns)

    def setup(self) -> None:
        network = self.network
        self.players = len(network.roles)
        self.state = (np.uint8, facts_bytes(self.rules) + 3)
        self.actions = len(self.terms)
        self.most_legal = max(len(moves) for moves in network.inputs)
        if self.grid is not None and unique(self.grid.moves):
            spots = [(spot.kind, spot.row, spot.column) for spot in self.grid.moves]
            self.places = np.array([spots], np.int32)
        self.words = words_of(self.terms)
        self.simultaneous = self.players > 1
        self.compile()  # some thousand plies in plain Python would take seconds
        samples = self._samples()
        if self.has_counters:
            self.counters = find_counters(self.description, network.bases, self.grid, samples)
        view = view_of(network, self.grid, self.counters)
        self.observation, self.observation_bounds = view.shape, (0.0, 1.0)
        self.rules = self.rules._replace(**{name: getattr(view, name) for name in view._fields[1:]})
        self._choose_evaluation(samples)
        self.scratch = scratch_bytes(self.rules)
        self.symmetries = len(self.rules.fact_images)
        self.proven = prove(network, samples)
        self.simultaneous, self.zero_sum = not self.proven.in_turn, self.proven.zero_sum

    def _samples(self) -> Samples:
        """Positions and results of random games."""
        facts: list[np.ndarray] = []
        games: list[int] = []
        in_turn = zero_sum = True
        most = min(SAMPLES, 1 + SAMPLED_MOVES // max(1, sum(map(len, self.network.inputs))))
        for seed in range(SAMPLE_GAMES):
            choose, position = Random(seed), self.start()
            while not position.is_over and len(facts) < most:
                facts.append(np.unpackbits(position.states[0], bitorder="little")[: len(self.network.bases)])
                games.append(seed)
                in_turn = in_turn and position.to_move != EVERYONE
                if position.to_move == EVERYONE:
                    ids = (position.actions_of(player) for player in range(self.players))
                    position = position.play(tuple(map(choose.choice, ids)))
                else:
                    position = position.play(choose.choice(position.actions_of(position.to_move)))
            zero_sum = zero_sum and abs(sum(position.values)) < 1e-6
        seen = np.array(facts, np.bool_).reshape(len(facts), len(self.network.bases))
        return Samples(seen, np.array(games, np.int32), in_turn, zero_sum)

    def _choose_evaluation(self, samples: Samples) -> None:
        """Sweep the network in each step if the circuit takes much longer to evaluate positions of a random game."""
        if not len(self.rules.mode_after):
            return
        swept = self.rules._replace(mode_after=self.rules.mode_after[:0])
        facts = np.packbits(samples.facts[:TIMED], axis=1, bitorder="little")
        states = np.zeros((len(facts), facts_bytes(self.rules) + 3), np.uint8)
        states[:, : facts.shape[1]] = facts
        if self._time_of_evaluation(swept, states) * CIRCUIT_MERIT < self._time_of_evaluation(self.rules, states):
            self.rules = swept

    def _time_of_evaluation(self, rules: GdlRules, states: np.ndarray) -> float:
        """Seconds for the legal moves in all states, at best of three times."""
        from ludus import native

        values, counts = np.zeros(self.players, np.float32), np.zeros(self.players, np.int32)
        actions = np.zeros((self.players, self.most_legal), np.int32)
        best = math.inf
        for _ in range(3):
            began = time.perf_counter()
            for i in range(len(states)):
                native.STEPPING["inspect"](rules, states[i : i + 1], values, actions, counts)
            best = min(best, time.perf_counter() - began)
        return best

    def options_in_use(self) -> dict[str, Any]:
        return {"longest": self.longest, "reasoner": False, "counters": self.has_counters}

    # --- text -------------------------------------------------------------------------------------------------------

    def player_name(self, player: int) -> str:
        return show(self.network.roles[player])

    def move_term(self, state: Any, player: int, action: int) -> Term:
        return self.terms[action]

    def write_move(self, state: Any, player: int, action: int) -> str:
        return self.move_text(self.terms[action])

    def read_move(self, state: Any, player: int, text: str) -> int:
        return find_move(text, {self.move_text(self.terms[action]): action for action in self.legal(state, player)})

    def facts(self, state: Any) -> list[Term]:
        return [base for number, base in enumerate(self.network.bases) if state[number >> 3] >> (number & 7) & 1]

    def drawing(self, position: Position) -> Board | None:
        return None if self.grid is None else draw_described(self, self.grid, position)

    def attempt(self, position: Position, player: int, touched: list[str]) -> str | None:
        return None  # terms name cells in many ways

    def write(self, state: Any) -> str:
        return write_position(gdl_rules.plies(self.rules, state), self.facts(state))

    def read(self, text: str, state: Any) -> None:
        numbers = {base: number for number, base in enumerate(self.network.bases)}
        count, facts = read_position(text)
        if count >= self.longest:
            raise BadPosition(f"#{count} is beyond the longest game of {self.longest} plies", 0)
        for fact, place in facts:
            if fact not in numbers:
                raise BadPosition(f"{shorten(show(fact), 40)} is no fact of {self.name}", place)
            state[numbers[fact] >> 3] |= np.uint8(1 << (numbers[fact] & 7))
        at = facts_bytes(self.rules) + 1
        state[at], state[at + 1] = count & 255, count >> 8
        settle(self.rules, state)


generic.register(GdlRules, gdl_rules.__dict__)


@contextlib.contextmanager
def collector_at_rest() -> Iterator[None]:
    """Without garbage collection: the millions of small objects of a network are in no cycles, and to look through them
    again and again takes a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


# --- from a description to arrays -----------------------------------------------------------------------------------


def networks_of(description: Description) -> tuple[Network, Network]:
    """The network of a valid description, for sweeps, and another for a circuit, with wide gates where that is good.

    A large network serves both, because it takes a second or more to build another one.
    """
    if importlib.util.find_spec("clingo") is None:
        raise UnknownGame(
            "games in GDL need clingo: pip install 'ludus[gdl]' (or, much slower, the option reasoner=yes)"
        )
    order = names_of(description.text)
    grounded = ground(description)
    roles = roles_of(description, grounded, order)
    network = build_network(grounded, roles, order)
    if len(network.kinds) > MANY_GATES or len(grounded.rules) > MANY_RULES:
        return network, network
    connections = len(network.literals)
    with contextlib.suppress(TooWide):
        wide = build_network(grounded, roles, order, False, most_connections=4 * connections + 1000)
        if len(wide.literals) <= WIDEST * connections:
            return network, wide
    return network, network


def roles_of(description: Description, grounded: Ground, order: dict[str, int]) -> list[Term]:
    """The roles in the order of the text."""
    roles = description.roles(sorted((row[0] for row in grounded.atoms["role"]), key=lambda term: rank(term, order)))
    if not 0 < len(roles) <= MAX_ROLES:
        raise BadDescription(f"{description.source} has {len(roles)} roles; from 1 to {MAX_ROLES} can play")
    return roles


def action_terms(network: Network) -> list[Term]:
    """The moves of all roles, each term once, in the order of the first role that has it."""
    return list(dict.fromkeys(move for moves in network.inputs for move in moves))


def rules_of(network: Network, actions: dict[Term, int], longest: int, grid: Grid | None, circuit: Circuit) -> GdlRules:
    """A network and its circuit as the arrays of their rules."""
    flat = [(role, move) for role, moves in enumerate(network.inputs) for move in moves]
    input_of = np.full((len(network.roles), len(actions)), -1, np.int32)
    for number, (role, move) in enumerate(flat):
        input_of[role, actions[move]] = number
    goals = [goal for each in network.goals for goal in each]
    facts = np.packbits(network.initial, bitorder="little")
    return GdlRules(
        network.kinds,
        network.starts,
        network.literals,
        network.stretches,
        network.loops,
        network.legal,
        network.next,
        np.array([literal for _, literal in goals], np.int32),
        np.array([value / 50 - 1 for value, _ in goals], np.float32),
        np.cumsum([0, *(len(each) for each in network.goals)]).astype(np.int32),
        network.input_starts,
        np.array([actions[move] for _, move in flat], np.int32),
        input_of,
        facts,
        *view_of(network, grid)[1:],
        fact_images=np.arange(len(network.bases), dtype=np.int32).reshape(1, -1),
        action_images=np.arange(len(actions), dtype=np.int32).reshape(1, -1),
        **circuit.arrays,
        blank=np.zeros(len(network.bases) + len(flat) + len(network.kinds), np.uint8),
        has_goals=int(circuit.has_goals),
        terminal=network.terminal,
        bases=len(network.bases),
        first_gate=len(network.bases) + len(flat),
        longest=longest,
    )


def with_symmetries(rules: GdlRules, symmetries: Sequence[Symmetry]) -> GdlRules:
    """Rules with symmetries that keep the roles, besides the identity."""
    actions = [np.arange(rules.input_of.shape[1], dtype=np.int32)]
    for each in symmetries:
        images = actions[0].copy()
        images[rules.action_of] = rules.action_of[each.inputs]  # a move of several roles becomes the same for all
        actions.append(images)
    facts = [np.arange(rules.bases, dtype=np.int32), *(each.bases for each in symmetries)]
    return rules._replace(fact_images=np.stack(facts), action_images=np.stack(actions))
