"""The propositional network: ground rules as gates, simplified and put in the order of evaluation.

Nodes are numbered: first the facts of a state (`bases`), then the moves (`inputs`), then the gates. A *literal* is
2 * node + 1 if it is negated, else 2 * node; the literals FALSE and TRUE belong to no node. A gate is the AND or the OR
of literals. Building the network folds constants, merges equal gates and removes what no result needs.

Gates are kept in four stretches, each in topological order, so that a step evaluates what it needs:

    terminal    is the game over?
    legal       which moves are legal? needs the gates of `terminal`
    next        which facts are true after the moves? needs `terminal` and `legal`; it alone looks at the inputs
    goal        what does each role get? needs `terminal` only: gates shared with the others stand here once more
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ludus.gdl.components import strongly_connected
from ludus.gdl.grounding import CannotGround, Ground
from ludus.gdl.kif import BadDescription
from ludus.gdl.language import Term, goal_of, rank

FALSE, TRUE = -2, -1
"""Literals without a node; TRUE is FALSE ^ 1, as for all literals."""
AND, OR = 0, 1
MAX_GATES = 5_000_000
RESULTS = ("legal", "next", "terminal", "goal")
"""Relations that a step asks for."""


@dataclass
class Network:
    """A game as gates over facts and moves."""

    roles: list[Term]
    bases: list[Term]
    inputs: list[list[Term]]
    """By role: its moves."""
    initial: np.ndarray
    """bool [bases]"""
    kinds: np.ndarray
    """uint8 [gates]: AND or OR."""
    starts: np.ndarray
    """int32 [gates + 1]: where the literals of each gate begin."""
    literals: np.ndarray
    """int32"""
    stretches: np.ndarray
    """int32 [5]: where the gates of terminal, legal, next and goal begin, and where the last ones end."""
    loops: np.ndarray
    """int32 [n, 2]: ranges of gates that depend on each other and are evaluated until nothing changes."""
    legal: np.ndarray
    """int32 [inputs]: the literal that says whether each move is legal, role after role."""
    next: np.ndarray
    """int32 [bases]"""
    terminal: int
    goals: list[list[tuple[int, int]]]
    """By role: (goal from 0 to 100, literal)."""

    @property
    def input_starts(self) -> np.ndarray:
        """int32 [roles + 1]: where the moves of each role begin among the inputs."""
        return np.cumsum([0, *(len(moves) for moves in self.inputs)]).astype(np.int32)

    def __str__(self) -> str:
        return (
            f"{len(self.bases)} facts, {sum(map(len, self.inputs))} moves, {len(self.kinds)} gates, "
            f"{len(self.literals)} connections"
        )


class TooWide(Exception):
    """A network without factors has more connections than were allowed."""


def build_network(
    ground: Ground,
    roles: Sequence[Term],
    order: dict[str, int],
    factored: bool = True,
    most_connections: int | None = None,
) -> Network:
    """The simplified network of a ground program; `order` ranks constants by their first place in the text.

    `factored`: conditions that several rules of an atom share are factored out. A sweep takes less time then. Without,
    the gates are wide, and few of them change when a fact changes. TooWide is raised as soon as the gates have more
    than `most_connections` together, those included that no result needs in the end.
    """
    bases = sorted((arguments[0] for arguments in ground.atoms["true"]), key=lambda term: rank(term, order))
    moves: list[list[Term]] = [[] for _ in roles]
    numbers: dict[Term, int] = {role: number for number, role in enumerate(roles)}
    for role, move in ground.atoms["legal"]:
        if role in numbers:  # of others nobody asks
            moves[numbers[role]].append(move)
    for each in moves:
        each.sort(key=lambda term: rank(term, order))
    inputs = [(role, move) for role, each in zip(roles, moves, strict=True) for move in each]
    builder = _Builder(ground, bases, inputs, factored, most_connections)
    find = builder.literal_of
    legal = [find("legal", (role, move)) for role, each in zip(roles, moves, strict=True) for move in each]
    following = [find("next", (base,)) for base in bases]
    terminal = find("terminal", ())
    goals: list[list[tuple[int, int]]] = [[] for _ in roles]
    for role, value in ground.atoms["goal"]:
        number = goal_of(value)
        if role in numbers and number is not None:
            goals[numbers[role]].append((number, find("goal", (role, value))))
    for values in goals:
        values.sort()
    initial = np.array([(base,) in ground.atoms["init"] for base in bases], np.bool_)
    return builder.finish(list(roles), bases, moves, initial, legal, following, terminal, goals)


def _uses(ground: Ground) -> dict[int, list[int]]:
    """The atoms that results depend on and that rules define: by atom, the atoms in its bodies, each once."""
    queue = [atom for name in RESULTS for atom in ground.atoms[name].values() if atom in ground.bodies]
    uses: dict[int, list[int]] = {}
    while queue:
        atom = queue.pop()
        if atom not in uses:
            uses[atom] = list(dict.fromkeys(abs(literal) for body in ground.bodies[atom] for literal in body))
            queue += [each for each in uses[atom] if each not in uses and each in ground.bodies]
    return uses


class _Builder:
    """Makes gates from the bottom up: atoms after the atoms that they depend on."""

    def __init__(
        self,
        ground: Ground,
        bases: Sequence[Term],
        inputs: Sequence[tuple[Term, Term]],
        factored: bool,
        most_connections: int | None,
    ):
        self.factored = factored
        self.left = most_connections or sys.maxsize
        """Connections that may still be made."""
        self.atoms = ground.atoms
        self.kinds: list[int] = []
        self.inputs_of: list[tuple[int, ...]] = []
        self.known: dict[tuple[int, tuple[int, ...]], int] = {}
        self.first_gate = len(bases) + len(inputs)
        self.literals: dict[int, int] = {}
        """By atom."""
        self.loops: list[set[int]] = []
        """Gates that stand for atoms in a cycle."""
        self.in_loops: set[int] = set()
        """The gates of all loops."""
        for node, base in enumerate(bases):
            self.literals[ground.atoms["true"][(base,)]] = 2 * node
        for node, does in enumerate(inputs, len(bases)):
            if does in ground.atoms["does"]:
                self.literals[ground.atoms["does"][does]] = 2 * node
        self.literals.pop(0, None)
        self.moves_of: dict[Term, set[int]] = {}
        """By role: the literals of its moves."""
        for node, (role, _) in enumerate(inputs, len(bases)):
            self.moves_of.setdefault(role, set()).add(2 * node)
        self.role_of = {literal: role for role, literals in self.moves_of.items() for literal in literals}
        uses = _uses(ground)
        for component in strongly_connected(uses):
            if len(component) == 1 and component[0] not in uses[component[0]]:
                self.literals[component[0]] = self._or_of(ground.bodies[component[0]])
            else:
                self._add_loop(component, ground.bodies)

    def literal_of(self, relation: str, arguments: tuple[Term, ...]) -> int:
        """The literal of an atom; FALSE for one that can never be true."""
        atom = self.atoms[relation].get(arguments)
        if atom is None:
            return FALSE
        return TRUE if atom == 0 else self.literals.get(atom, FALSE)

    def _literal(self, signed: int) -> int:
        literal = self.literals.get(abs(signed), FALSE)
        return literal ^ 1 if signed < 0 else literal

    def _or_of(self, bodies: Iterable[tuple[int, ...]]) -> int:
        """The literal of an atom with these bodies, conjunctions of atoms."""
        products = set()
        for body in bodies:
            product = frozenset(map(self._literal, body)) - {TRUE}
            if not product:
                return TRUE
            if FALSE not in product and (len(product) == 1 or not any(each ^ 1 in product for each in product)):
                products.add(product)
        return self._sum_of(list(products))

    def _sum_of(self, products: list[frozenset[int]]) -> int:
        """The OR of conjunctions; if `factored`, with literals that several share factored out, most frequent first."""
        if len(products) == 1:
            return self.gate(AND, products[0])
        terms: list[int] = []
        left = dict.fromkeys(range(len(products))) if self.factored else {}
        holders: dict[int, set[int]] = {}
        """By literal: the products that have it and are left."""
        for number in left:
            for literal in products[number]:
                holders.setdefault(literal, set()).add(number)
        most = [(-len(numbers), literal) for literal, numbers in holders.items() if len(numbers) > 1]
        heapq.heapify(most)
        while most:
            count, literal = heapq.heappop(most)
            having = holders[literal]
            if len(having) < -count:  # some were factored out meanwhile
                if len(having) > 1:
                    heapq.heappush(most, (-len(having), literal))
                continue
            inside = [products[number] - {literal} for number in sorted(having)]
            for number, product in zip(sorted(having), inside, strict=True):
                del left[number]
                for other in product:
                    holders[other].discard(number)
            rest = TRUE if frozenset() in inside else self._sum_of(inside)
            terms.append(self.gate(AND, (literal, rest)))
        remaining = [products[number] for number in left] if self.factored else products
        terms += [self.gate(AND, product) for product in remaining]
        return self.gate(OR, self._complemented(terms))

    def _complemented(self, terms: list[int]) -> list[int]:
        """The terms of an OR with most of a role's moves replaced by the negation of the others.

        A role makes exactly one move, so "one of these" is "none of the others".
        """
        by_role: dict[Term, set[int]] = {}
        for literal in terms:
            role = self.role_of.get(literal)
            if role is not None:
                by_role.setdefault(role, set()).add(literal)
        for role, made in by_role.items():
            others = self.moves_of[role] - made
            if len(made) > len(others) + 1:
                terms = [literal for literal in terms if literal not in made]
                terms.append(self.gate(OR, sorted(others)) ^ 1)
        return terms

    def gate(self, kind: int, literals: Iterable[int]) -> int:
        """The literal of a gate over these; an existing one, or no gate at all, where that is the same."""
        neutral, absorbing = (TRUE, FALSE) if kind == AND else (FALSE, TRUE)
        kept: set[int] = set()
        for literal in literals:
            if literal == absorbing or literal ^ 1 in kept:
                return absorbing
            if literal == neutral:
                continue
            node = (literal >> 1) - self.first_gate
            if node >= 0 and not literal & 1 and self.kinds[node] == kind and node not in self.in_loops:
                inner = self.inputs_of[node]  # a gate of the same kind inside: take its inputs, if it is small
                if len(inner) <= 2 and not any(each ^ 1 in kept for each in inner):
                    kept.update(inner)
                    continue
            kept.add(literal)
        if not kept:
            return neutral
        if len(kept) == 1:
            return kept.pop()
        return self._make(kind, tuple(sorted(kept)))

    def _make(self, kind: int, literals: tuple[int, ...]) -> int:
        # An OR of negations is the negation of an AND: one form for both, so that equal gates are found.
        negated = kind == OR and all(literal & 1 for literal in literals)
        if negated:
            kind, literals = AND, tuple(literal ^ 1 for literal in literals)
        found = self.known.get((kind, literals))
        if found is None:
            if len(self.kinds) >= MAX_GATES:
                raise CannotGround(f"the description needs more than {MAX_GATES:,} gates")
            found = 2 * (self.first_gate + len(self.kinds))
            self.kinds.append(kind)
            self.inputs_of.append(literals)
            self.known[kind, literals] = found
            self.left -= len(literals)
            if self.left < 0:
                raise TooWide
        return found ^ negated

    def _add_loop(self, component: list[int], bodies: dict[int, list[tuple[int, ...]]]) -> None:
        """Atoms that depend on each other: an OR gate for each, made before its inputs are known."""
        inside = set(component)
        if any(-literal in inside for atom in component for body in bodies[atom] for literal in body):
            raise BadDescription(
                "a relation depends on its own negation (ludus gdl check shows where): no meaning is defined"
            )
        members = set()
        for atom in component:
            members.add(len(self.kinds))
            self.literals[atom] = 2 * (self.first_gate + len(self.kinds))
            self.kinds.append(OR)
            self.inputs_of.append(())
        loop = set(members)
        self.loops.append(loop)
        self.in_loops |= members
        for atom in component:
            before = len(self.kinds)
            ors = [self.gate(AND, map(self._literal, body)) for body in bodies[atom]]
            loop.update(range(before, len(self.kinds)))
            self.in_loops.update(range(before, len(self.kinds)))
            self.inputs_of[(self.literals[atom] >> 1) - self.first_gate] = tuple(
                sorted(literal for literal in set(ors) if literal != FALSE)
            )

    def finish(
        self,
        roles: list[Term],
        bases: list[Term],
        moves: list[list[Term]],
        initial: np.ndarray,
        legal: list[int],
        following: list[int],
        terminal: int,
        goals: list[list[tuple[int, int]]],
    ) -> Network:
        """Only the gates that a result needs, renumbered by stretch."""
        loop_of = {gate: number for number, loop in enumerate(self.loops) for gate in loop}
        order: list[int] = []
        loops: list[tuple[int, int]] = []
        stretches = [0]
        seen: set[int] = set()
        for literals in ([terminal], legal, following):
            for literal in literals:
                self._visit(literal, order, seen, loop_of, loops)
            stretches.append(len(order))
        place = {gate: self.first_gate + index for index, gate in enumerate(order)}
        seen = set(order[: stretches[1]])
        for each in goals:
            for _, literal in each:
                self._visit(literal, order, seen, loop_of, loops)
        goal_place = {gate: self.first_gate + index for index, gate in enumerate(order[: stretches[1]])}
        goal_place |= {gate: self.first_gate + index for index, gate in enumerate(order) if index >= stretches[3]}
        stretches.append(len(order))

        def moved(literal: int, places: dict[int, int] = place) -> int:
            node = (literal >> 1) - self.first_gate
            return literal if literal < 0 or node < 0 else 2 * places[node] + (literal & 1)

        flat = [
            [moved(literal, place if index < stretches[3] else goal_place) for literal in self.inputs_of[gate]]
            for index, gate in enumerate(order)
        ]
        return Network(
            roles,
            bases,
            moves,
            initial,
            kinds=np.array([self.kinds[gate] for gate in order], np.uint8),
            starts=np.cumsum([0, *map(len, flat)]).astype(np.int32),
            literals=np.array([literal for each in flat for literal in each], np.int32),
            stretches=np.array(stretches, np.int32),
            loops=np.array(loops, np.int32).reshape(-1, 2),
            legal=np.array(list(map(moved, legal)), np.int32),
            next=np.array(list(map(moved, following)), np.int32),
            terminal=moved(terminal),
            goals=[[(value, moved(literal, goal_place)) for value, literal in each] for each in goals],
        )

    def _visit(self, literal: int, order: list[int], seen: set[int], loop_of: dict[int, int], loops: list) -> None:
        """Append the gates that a literal needs, those that others need first; the gates of a loop stay together."""
        stack = [(literal >> 1) - self.first_gate] if literal >= 0 else []
        while stack:
            gate = stack[-1]
            if gate < 0 or gate in seen:
                stack.pop()
                continue
            members = self.loops[loop_of[gate]] if gate in loop_of else (gate,)
            inputs = {
                (each >> 1) - self.first_gate for member in members for each in self.inputs_of[member] if each >= 0
            }
            missing = [node for node in inputs if node >= 0 and node not in seen and node not in members]
            if missing:
                stack.extend(missing)
                continue
            if gate in loop_of:
                loops.append((len(order), len(order) + len(members)))
            for member in sorted(members):
                seen.add(member)
                order.append(member)
            stack.pop()
