"""What each move of a role changes, for the effects of a circuit (see ludus.gdl.circuit)."""

from __future__ import annotations

import heapq
from collections import Counter
from typing import TYPE_CHECKING

from ludus.gdl.network import AND, FALSE, TRUE

if TYPE_CHECKING:
    from ludus.gdl.circuit import Maker


class TooManyGates(Exception):
    """Moves reach more gates than were allowed."""


class AfterMove:
    """The facts after each move of the only role that chooses in a mode.

    One move after the other is made, and only the gates are evaluated that differ from one move to the next: a gate may
    have thousands of moves among its inputs, and a fact that some move was made may reach all others.
    """

    def __init__(
        self, maker: Maker, no_move: dict[int, int], plain: dict[int, int], mode: dict[int, bool], most_gates: int
    ):
        """`most_gates`: TooManyGates is raised when all moves together have changed the inputs of more gates."""
        self.maker, self.made, self.left = maker, -1, most_gates
        self.no_move, self.plain = no_move, plain
        self.offset = maker.bases + maker.input_starts[-1]
        self.inner: dict[int, Counter[int]] = {}
        """By gate that a move reached: its inputs as literals of the circuit, without neutral ones, and how often each
        one stands there."""
        self.values: dict[int, int] = {}
        """By gate that a move reached: its literal."""
        self.following = maker.network.next.tolist()
        self.changes: dict[int, int] = {}
        """The facts that are not as before, and their literals."""
        self.facts = {base for base in range(maker.bases) if base not in mode}
        for base in self.facts:
            self._set_fact(base, maker.moved(self.following[base], no_move, plain))

    def _inputs(self, gate: int) -> Counter[int]:
        """The inputs of a gate. Until the first change reaches it they are those before any move."""
        found = self.inner.get(gate)
        if found is None:
            kind, literals = self.maker.rows[gate]
            found = Counter(self.maker.moved(literal, self.no_move, self.plain) for literal in literals)
            del found[TRUE if kind == AND else FALSE]
            self.inner[gate] = found
            self.values[gate] = self.maker.moved(2 * (self.offset + gate), self.no_move, self.plain)
        return found

    def _set_fact(self, base: int, literal: int) -> None:
        if literal != 2 * base:
            self.changes[base] = literal
        else:
            self.changes.pop(base, None)

    def move(self, node: int) -> list[tuple[int, int]]:
        """The facts that the move of a node changes, and their literals."""
        changed = {node: (FALSE, TRUE)}
        if self.made >= 0:
            changed[self.made] = (TRUE, FALSE)
        self.made = node
        waiting: list[int] = []
        for each, (before, now) in changed.items():
            self._pass_on(each, before, now, waiting)
        last = -1
        while waiting:
            gate = heapq.heappop(waiting)
            if gate == last:
                continue
            last = gate
            kind, inner = self.maker.rows[gate][0], self._inputs(gate)
            absorbing = FALSE if kind == AND else TRUE
            now = absorbing if absorbing in inner else self.maker.gate(kind, inner)
            if now != self.values[gate]:
                self._pass_on(self.offset + gate, self.values[gate], now, waiting)
                self.values[gate] = now
        return sorted(self.changes.items())

    def _pass_on(self, node: int, before: int, now: int, waiting: list[int]) -> None:
        """Change the literal of a node in the gates and facts that depend on it directly."""
        gates = self.maker.gates_of.get(node, ())
        self.left -= len(gates)
        if self.left < 0:
            raise TooManyGates
        for gate, literal in gates:
            inner, sign = self._inputs(gate), literal & 1
            neutral = TRUE if self.maker.rows[gate][0] == AND else FALSE
            if before ^ sign != neutral:
                inner[before ^ sign] -= 1
                if not inner[before ^ sign]:
                    del inner[before ^ sign]
            if now ^ sign != neutral:
                inner[now ^ sign] += 1
            heapq.heappush(waiting, gate)
        for base in self.maker.facts_of.get(node, ()):
            if base in self.facts:
                self._set_fact(base, now ^ (self.following[base] & 1))
