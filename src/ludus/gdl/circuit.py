"""The network as a circuit for differential evaluation: a change of facts costs only the gates that it changes.

Many games have facts that follow a fixed cycle whatever is played, such as `control`. Each state of such a cycle is a
*mode*. In a mode the cyclic facts are constants, and so are moves that can never be made there, or must be made. The
circuit has a simplified copy of the network for each mode, with equal gates merged: whose turn it is then changes no
gate. A description without such facts has one mode.

Where a single role can choose in a mode, each of its moves has a list of *effects*: the facts that it may change, and
the literals that say whether they are true afterwards. Elsewhere moves are nodes, whose flips reach the next facts.

Nodes are numbered facts, moves, gates, outputs; each group begins at a multiple of 64, because a node is a bit. A gate
or output has a counter that is 0 if all literals of an AND are true, or if no literal of an OR is. When the counter
becomes 0 or stops being 0, the node *flips* and its consumers' counters change. Outputs have no consumers: their bits
are the results (see the layout in `Circuit`). ludus.gdl.propagate evaluates the circuit.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any

import numpy as np

from ludus.gdl.effects import AfterMove, TooManyGates
from ludus.gdl.modes import find_modes
from ludus.gdl.network import AND, FALSE, TRUE, Network

MAX_INPUTS = 30_000
"""The most literals of a gate: its counter has 16 bits."""
MAX_EFFECTS = 24
"""Moves change facts directly if they change at most this number on average."""
GATES_FOR_EFFECTS, GATES_PER_MOVE = 50_000, 500
"""Moves change facts directly if they reach at most this number of gates together, and this for each of them. Where all
that follows depends on a move, as on a speed, a copy of the network for each move would be made."""
MOST_TIMES = 4
"""Of a network with this number of times more gates it is not tried."""
MAX_GOAL_SHARE = 0.5
"""Goals are swept at the end of a game if they have more gates than this share of the others."""


@dataclass
class Circuit:
    """Arrays for ludus.gdl.propagate. Words have 64 bits; a bit of `work` stands for a node.

    `work` begins with the current facts and moves, one bit each. The flips that are not propagated yet follow, one bit
    for each fact, move and gate; then the outputs, one block for each mode; then the counters, four to a word.
    A block of outputs has the legal moves of each role, the next facts, and last whether the game is over, followed by
    the goals. Each of these groups begins with a new word. The outputs that effects look at come last; the first of
    them is always 1.
    """

    consumers: np.ndarray
    """uint32: 2 * node for a counter that rises when the bit of a node becomes 1, and 2 * node + 1 for one that falls;
    nodes are counted from the first gate."""
    consumer_starts: np.ndarray
    """int32 [nodes before the outputs + 1]"""
    work: np.ndarray
    """uint64: the circuit in the initial position, before any move is made."""
    places: np.ndarray
    """int32: the first words of moves, flips, gates, outputs and counters, then the words in the block of a mode."""
    block: np.ndarray
    """int32 [roles + 2]: where each role's legal moves, the next facts, and the end and goals begin in a block."""
    mode_facts: np.ndarray
    """uint64 [modes + 1, words]: the cyclic facts, then those that are true in each mode."""
    mode_after: np.ndarray
    """int32 [modes]"""
    changing: np.ndarray
    """uint64 [modes, words]: facts that can change when a move is made, without the cyclic ones."""
    forced: np.ndarray
    """int32 [modes, roles]: the input that is a role's only legal move in all positions of a mode, or -1."""
    effects: np.ndarray
    """int32 [n, 2]: a fact, and 2 * the bit of `work` that it becomes equal to, plus 1 if it becomes the opposite."""
    effect_starts: np.ndarray
    """int32 [modes, inputs + 1]: where the effects of a move begin."""
    effect_roles: np.ndarray
    """int32 [modes]: the role whose moves have effects; -1 if the moves of a mode are nodes."""
    has_goals: bool
    """False: goals are not among the outputs."""

    @property
    def arrays(self) -> dict[str, Any]:
        """The arrays by name, which are fields of GdlRules."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "has_goals"}


def words_for(bits: int) -> int:
    return (bits + 63) >> 6


def build_circuit(network: Network) -> Circuit:
    """The circuit of a network; one without modes if gates depend on each other or have too many inputs."""
    maker = Maker(network)
    if len(network.loops) or max(map(len, (literals for _, literals in maker.rows)), default=0) > MAX_INPUTS:
        return maker.nothing()
    return maker.make()


class Maker:
    """Makes the gates of all modes, and flattens them. Literals of the circuit are as in ludus.gdl.network."""

    def __init__(self, network: Network):
        self.network = network
        self.roles = len(network.roles)
        self.bases = len(network.bases)
        self.input_starts = network.input_starts.tolist()
        self.first_input = 64 * words_for(self.bases)
        self.first_gate = self.first_input + 64 * words_for(self.input_starts[-1])
        self.kinds: list[int] = []
        self.inputs_of: list[tuple[int, ...]] = []
        self.known: dict[tuple[int, tuple[int, ...]], int] = {}
        self.effects: list[dict[int, list[tuple[int, int]]]] = []
        """By mode and input: the facts that change, and their literals afterwards."""
        self.effect_roles: list[int] = []
        starts, literals = network.starts.tolist(), network.literals.tolist()
        self.rows = [
            (kind, literals[begin:end])
            for kind, begin, end in zip(network.kinds.tolist(), starts[:-1], starts[1:], strict=True)
        ]
        self.gates_of: dict[int, list[tuple[int, int]]] = {}
        """By node: the gates for the next facts that depend on it, each with the literal that it has of the node."""
        for gate in range(int(network.stretches[2]), int(network.stretches[3])):
            for literal in self.rows[gate][1]:
                self.gates_of.setdefault(literal >> 1, []).append((gate, literal))
        self.facts_of: dict[int, list[int]] = {}
        """By node: the next facts that it decides."""
        for base, literal in enumerate(network.next.tolist()):
            self.facts_of.setdefault(literal >> 1, []).append(base)

    def gate(self, kind: int, literals: Iterable[int]) -> int:
        neutral, absorbing = (TRUE, FALSE) if kind == AND else (FALSE, TRUE)
        kept = set(literals)
        kept.discard(neutral)
        if absorbing in kept or any(literal ^ 1 in kept for literal in kept):
            return absorbing
        if not kept:
            return neutral
        if len(kept) == 1:
            return kept.pop()
        ordered = tuple(sorted(kept))
        found = self.known.get((kind, ordered))
        if found is None:
            found = self.known[kind, ordered] = 2 * (self.first_gate + len(self.kinds))
            self.kinds.append(kind)
            self.inputs_of.append(ordered)
        return found

    def make(self) -> Circuit:
        modes, after = find_modes(self.network)
        outputs: list[list[int]] = []
        goal_outputs: list[list[int]] = []
        forced = np.full((len(modes), self.roles), -1, np.int32)
        plain: dict[int, int] = {}
        """Literals of network nodes that are the same in every mode."""
        places = []
        for number, mode in enumerate(modes):
            legal, following, terminal, place = self._mode(mode, plain, forced[number])
            places.append(place)
            outputs.append([*legal, *following, terminal])
        *_, first_goal, end = self.network.stretches.tolist()
        has_goals = end - first_goal <= MAX_GOAL_SHARE * first_goal + 16
        for place in places:
            goal_outputs.append(self._goals(place, plain) if has_goals else [])
        return self._flatten(modes, after, forced, outputs, goal_outputs, has_goals)

    def nothing(self) -> Circuit:
        """A circuit without modes, whose other arrays are never read."""
        self.effects, self.effect_roles = [{}], [-1]
        circuit = self._flatten(
            [{}],
            [0],
            np.full((1, self.roles), -1, np.int32),
            [[FALSE] * (self.input_starts[-1] + self.bases + 1)],
            [[]],
            False,
        )
        return replace(circuit, mode_after=circuit.mode_after[:0])

    def _mode(
        self, mode: dict[int, bool], plain: dict[int, int], forced: np.ndarray
    ) -> tuple[list[int], list[int], int, dict[int, int]]:
        """The literals of legal moves, next facts and the end in a mode, and those of all nodes that differ there."""
        network = self.network
        place = {base: TRUE if value else FALSE for base, value in mode.items()}
        self._copy(place, plain, 0, int(network.stretches[2]))
        legal = [self.moved(literal, place, plain) for literal in network.legal.tolist()]
        for role in range(self.roles):
            begin, end = self.input_starts[role], self.input_starts[role + 1]
            possible = [i for i in range(begin, end) if legal[i] != FALSE]
            only = len(possible) == 1
            if only and legal[possible[0]] == TRUE:
                forced[role] = possible[0]
            for i in range(begin, end):
                if legal[i] == FALSE or only:
                    place[self.bases + i] = TRUE if only and i == possible[0] else FALSE
        terminal = self.moved(network.terminal, place, plain)
        choosing = []
        for role in range(self.roles):
            inputs = range(self.input_starts[role], self.input_starts[role + 1])
            if any(self.bases + i not in place for i in inputs):
                choosing.append(role)
        effects = self._effects(place, plain, choosing[0], legal, mode) if len(choosing) == 1 else None
        if effects is not None:
            self.effects.append(effects)
            self.effect_roles.append(choosing[0])
            return legal, [2 * base for base in range(self.bases)], terminal, place
        self.effects.append({})
        self.effect_roles.append(-1)
        self._copy(place, plain, int(network.stretches[2]), int(network.stretches[3]))
        following = [self.moved(literal, place, plain) for literal in network.next.tolist()]
        return legal, following, terminal, place

    def _effects(
        self, place: dict[int, int], plain: dict[int, int], role: int, legal: list[int], mode: dict[int, bool]
    ) -> dict[int, list[tuple[int, int]]] | None:
        """By input of the only role that chooses: its effects; None if they are many, or hard to find."""
        network = self.network
        inputs = range(self.input_starts[role], self.input_starts[role + 1])
        possible = [i for i in inputs if legal[i] != FALSE]
        most_gates = GATES_FOR_EFFECTS + GATES_PER_MOVE * len(possible)
        if network.stretches[3] - network.stretches[2] > MOST_TIMES * most_gates:
            return None
        no_move = place | {self.bases + i: FALSE for i in inputs}
        self._copy(no_move, plain, int(network.stretches[2]), int(network.stretches[3]))
        found: dict[int, list[tuple[int, int]]] = {}
        after = AfterMove(self, no_move, plain, mode, most_gates)
        left = MAX_EFFECTS * max(1, len(possible))
        for i in possible:
            try:
                found[i] = after.move(self.bases + i)
            except TooManyGates:
                return None
            left -= len(found[i])
            if left < 0:
                return None
        return found

    def _goals(self, place: dict[int, int], plain: dict[int, int]) -> list[int]:
        stretches = self.network.stretches.tolist()
        self._copy(place, plain, stretches[3], stretches[4])
        return [self.moved(literal, place, plain) for each in self.network.goals for _, literal in each]

    def _copy(self, place: dict[int, int], plain: dict[int, int], begin: int, end: int) -> None:
        """Make the gates of a range; those that a mode does not change are made once."""
        offset = self.bases + self.input_starts[-1]
        for gate in range(begin, end):
            kind, literals = self.rows[gate]
            if not place.keys().isdisjoint([literal >> 1 for literal in literals]):
                place[offset + gate] = self.gate(kind, [self.moved(literal, place, plain) for literal in literals])
            elif offset + gate not in plain:
                plain[offset + gate] = self.gate(kind, [self.moved(literal, place, plain) for literal in literals])

    def moved(self, literal: int, place: dict[int, int], plain: dict[int, int]) -> int:
        """A literal of the network as a literal of the circuit."""
        if literal < 0:
            return literal
        node = literal >> 1
        found = place.get(node)
        if found is None:
            if node < self.bases:
                found = 2 * node
            elif node < self.bases + self.input_starts[-1]:
                found = 2 * (self.first_input + node - self.bases)
            else:
                found = plain[node]
        return found ^ (literal & 1)

    def _flatten(
        self,
        modes: list[dict[int, bool]],
        after: list[int],
        forced: np.ndarray,
        outputs: list[list[int]],
        goals: list[list[int]],
        has_goals: bool,
    ) -> Circuit:
        fact_words = words_for(self.bases)
        block = [0]
        for role in range(self.roles):
            block.append(block[-1] + words_for(self.input_starts[role + 1] - self.input_starts[role]))
        block.append(block[-1] + fact_words)
        block_words = block[-1] + words_for(1 + len(goals[0]))
        changing = np.zeros((len(modes), 64 * fact_words), np.bool_)
        wanted: list[tuple[int, int]] = []
        """(output, counted from the first, and its literal)"""
        for mode, (literals, extra) in enumerate(zip(outputs, goals, strict=True)):
            at = 64 * mode * block_words
            for role in range(self.roles):
                for i in range(self.input_starts[role], self.input_starts[role + 1]):
                    wanted.append((at + 64 * block[role] + i - self.input_starts[role], literals[i]))
            for base in range(self.bases):
                literal = literals[self.input_starts[-1] + base]
                if base not in modes[0] and literal != 2 * base:  # a fact that stays as it is needs no output
                    changing[mode, base] = True
                    wanted.append((at + 64 * block[self.roles] + base, literal))
            for i, literal in enumerate([literals[-1], *extra]):
                wanted.append((at + 64 * block[-1] + i, literal))
        seen = {literal & ~1 for each in self.effects for effects in each.values() for _, literal in effects}
        self.read_by_effects = {TRUE & ~1: 64 * block_words * len(modes)}
        """By positive literal: the output that effects read."""
        wanted.append((self.read_by_effects[TRUE & ~1], TRUE))
        for literal in sorted(seen):
            if literal >= 0:
                self.read_by_effects[literal] = wanted[-1][0] + 1
                wanted.append((wanted[-1][0] + 1, literal))
        return self._arrays(modes, after, forced, wanted, changing, block, block_words, has_goals)

    def _order(self, needed: list[bool]) -> list[int]:
        """Needed gates in topological order, those with few inputs early: they flip often, and share words then."""
        first = 2 * self.first_gate
        missing = [0] * len(self.kinds)
        users: list[list[int]] = [[] for _ in self.kinds]
        ready: list[tuple[int, int]] = []
        for gate, inputs in enumerate(self.inputs_of):
            if needed[gate]:
                sources = [(each - first) >> 1 for each in inputs if each >= first]
                missing[gate] = len(sources)
                for source in sources:
                    users[source].append(gate)
                if not sources:
                    ready.append((len(inputs), gate))
        heapq.heapify(ready)
        order = []
        while ready:
            _, gate = heapq.heappop(ready)
            order.append(gate)
            for user in users[gate]:
                missing[user] -= 1
                if not missing[user]:
                    heapq.heappush(ready, (len(self.inputs_of[user]), user))
        return order

    def _initial_values(self) -> np.ndarray:
        """By literal of the circuit: whether it is true in the initial position, before any move is made."""
        values = bytearray(2 * (self.first_gate + len(self.kinds)))
        values[1::2] = b"\1" * (len(values) // 2)
        for base in np.flatnonzero(self.network.initial).tolist():
            values[2 * base : 2 * base + 2] = b"\1\0"
        for gate, (kind, inputs) in enumerate(zip(self.kinds, self.inputs_of, strict=True), self.first_gate):
            each = map(values.__getitem__, inputs)
            if all(each) if kind == AND else any(each):
                values[2 * gate : 2 * gate + 2] = b"\1\0"
        return np.frombuffer(values, np.bool_)

    def _arrays(
        self,
        modes: list[dict[int, bool]],
        after: list[int],
        forced: np.ndarray,
        wanted: list[tuple[int, int]],
        changing: np.ndarray,
        block: Sequence[int],
        block_words: int,
        has_goals: bool,
    ) -> Circuit:
        fact_words, input_words = words_for(self.bases), words_for(self.input_starts[-1])
        uses = [0] * len(self.kinds)
        needed = [False] * len(self.kinds)
        for _, literal in wanted:
            if literal >= 2 * self.first_gate:
                needed[(literal >> 1) - self.first_gate] = True
                uses[(literal >> 1) - self.first_gate] += 1
        for gate in range(len(self.kinds) - 1, -1, -1):
            if needed[gate]:
                for literal in self.inputs_of[gate]:
                    if literal >= 2 * self.first_gate:
                        needed[(literal >> 1) - self.first_gate] = True
                        uses[(literal >> 1) - self.first_gate] += 1
        merged = {}
        """By gate: the output that it is, where it has no other use."""
        for output, literal in wanted:
            gate = (literal >> 1) - self.first_gate
            if literal >= 0 and gate >= 0 and uses[gate] == 1:
                merged[gate] = output
        inner = [gate for gate in self._order(needed) if gate not in merged]
        place = {gate: self.first_gate + i for i, gate in enumerate(inner)}
        first_output = self.first_gate + 64 * words_for(len(inner))
        place |= {gate: first_output + output for gate, output in merged.items()}
        nodes = first_output + 64 * (block_words * len(modes) + words_for(len(self.read_by_effects)))

        # A node's bit is 1 if its counter is not 0: for an AND, if the gate is false.
        node_of = np.arange(self.first_gate + len(self.kinds))
        is_and = np.zeros(len(node_of), np.int64)
        is_and[self.first_gate :] = np.array(self.kinds, np.uint8) == AND
        kept = [gate for gate in range(len(self.kinds)) if needed[gate]]
        node_of[self.first_gate + np.array(kept, np.int64)] = [place[gate] for gate in kept]

        def edges(literals: np.ndarray, targets: np.ndarray) -> np.ndarray:
            """int64 [n, 2]: the node of each literal, and how it changes the counter of its target."""
            nodes = literals >> 1
            falls = (literals & 1) ^ is_and[nodes]
            return np.stack([node_of[nodes], 2 * (targets - self.first_gate) + falls], axis=1)

        counters = np.zeros(nodes - self.first_gate, np.int16)
        values = self._initial_values()
        lengths = np.array([len(self.inputs_of[gate]) for gate in kept], np.int64)
        targets = node_of[self.first_gate + np.array(kept, np.int64)]
        literals = np.fromiter(chain.from_iterable(self.inputs_of[gate] for gate in kept), np.int64, lengths.sum())
        true = np.add.reduceat(values[literals], lengths.cumsum() - lengths, dtype=np.int64) if kept else lengths
        counters[targets - self.first_gate] = true - lengths * is_and[self.first_gate + np.array(kept, np.int64)]
        results = np.zeros(nodes - first_output, np.bool_)
        direct: list[tuple[int, int]] = []
        """The literals of outputs that are no gates themselves, and the outputs."""
        for output, literal in wanted:
            results[output] = literal == TRUE if literal < 0 else values[literal]
            if literal >= 0 and merged.get((literal >> 1) - self.first_gate) != output:
                direct.append((literal, first_output + output))
                counters[first_output + output - self.first_gate] = values[literal]
        pairs = np.array(direct, np.int64).reshape(-1, 2)
        found = np.concatenate([edges(literals, np.repeat(targets, lengths)), edges(pairs[:, 0], pairs[:, 1])])
        found = found[np.lexsort((found[:, 1], found[:, 0]))]
        head = np.zeros(64 * (fact_words + input_words), np.bool_)
        head[: self.bases] = self.network.initial
        flips = np.zeros(first_output, np.bool_)
        padded = np.zeros(4 * -(-len(counters) // 4), np.int16)
        padded[: len(counters)] = counters
        work = np.concatenate([_words(head), _words(flips), _words(results), padded.view(np.uint64)])
        flips_at = fact_words + input_words
        outputs_at = flips_at + first_output // 64
        facts = np.zeros((len(modes) + 1, 64 * fact_words), np.bool_)
        for base in modes[0]:
            facts[0, base] = True
            for number, mode in enumerate(modes):
                facts[number + 1, base] = mode[base]
        effects: list[tuple[int, int]] = []
        effect_starts: list[list[int]] = []
        for each in self.effects:
            effect_starts.append([])
            for i in range(self.input_starts[-1]):
                effect_starts[-1].append(len(effects))
                for base, literal in each.get(i, ()):
                    # FALSE is the opposite of the output that is always 1.
                    opposite = literal == FALSE if literal < 0 else literal & 1
                    bit = 64 * outputs_at + self.read_by_effects[literal & ~1]
                    effects.append((base, 2 * bit + opposite))
            effect_starts[-1].append(len(effects))
        return Circuit(
            consumers=found[:, 1].astype(np.uint32),
            consumer_starts=np.searchsorted(found[:, 0], np.arange(first_output + 1)).astype(np.int32),
            work=work,
            places=np.array(
                [
                    fact_words,
                    flips_at,
                    flips_at + self.first_gate // 64,
                    outputs_at,
                    outputs_at + len(results) // 64,
                    block_words,
                ],
                np.int32,
            ),
            block=np.array(block, np.int32),
            mode_facts=np.stack([_words(row) for row in facts]),
            mode_after=np.array(after, np.int32),
            changing=np.stack([_words(row) for row in changing]),
            forced=forced,
            effects=np.array(effects, np.int32).reshape(-1, 2),
            effect_starts=np.array(effect_starts, np.int32),
            effect_roles=np.array(self.effect_roles, np.int32),
            has_goals=has_goals,
        )


def _words(bits: np.ndarray) -> np.ndarray:
    """Bits, a multiple of 64, as words."""
    return np.packbits(bits, bitorder="little").view(np.uint64)


__all__ = ["Circuit", "build_circuit"]
