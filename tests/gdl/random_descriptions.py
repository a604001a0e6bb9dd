"""Random small descriptions, and three ways to evaluate a state: the reasoner, the network, and clingo itself.

A description is stratified and within the recursion restriction, with at least one legal move for each role. It uses
what real ones use: recursion, negation, or, distinct, nested functions, bare variables, odd names. It is safe unless it
is *wild*: then negations and distinct may have variables that nothing binds, connectives are nested, and relations
depend on each other.
"""

from __future__ import annotations

import io
from random import Random
from unittest import mock

import numpy as np

from ludus.gdl import plans, propagate
from ludus.gdl import rules as network_rules
from ludus.gdl.alternatives import expand
from ludus.gdl.circuit import build_circuit
from ludus.gdl.game import action_terms, roles_of, rules_of
from ludus.gdl.grounder import ground_text
from ludus.gdl.grounding import Translator, read_ground, relevant, ways_to_ground
from ludus.gdl.kif import names_of
from ludus.gdl.language import Description
from ludus.gdl.network import build_network
from ludus.gdl.reasoner import Reasoner
from ludus.gdl.repair import repair

CONSTANTS = ["a", "A", "b", "1", "01", "step++", "?".replace("?", "non-é")]
VARIABLES = ["?x", "?y", "?z", "?X"]


class Writer:
    """Writes one description."""

    def __init__(self, seed: int, wild: bool = False):
        self.random, self.wild = Random(seed), wild
        self.constants = self.random.sample(CONSTANTS, self.random.randint(2, 4))
        self.roles = ["red", "Red"][: self.random.randint(1, 2)]
        self.facts: list[str] = [f"(role {role})" for role in self.roles]
        self.static: dict[str, int] = {"dom": 1}
        """Relations by name, with the number of their arguments."""
        self.state: dict[str, int] = {}
        self.moves: dict[str, int] = {}
        self.bases = {"p": 1, "q": 2, "r": 2, "on": 0}
        self.rules: list[str] = []

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, choices):
        return self.random.choice(list(choices))

    def term(self, variables: list[str], deep: bool = True) -> str:
        """A variable, a constant or a function of some."""
        if deep and self.chance(0.12):
            return f"(f {self.term(variables, False)} {self.term(variables, False)})"
        return self.pick(variables) if variables and self.chance(0.75) else self.pick(self.constants)

    def atom(self, name: str, count: int, variables: list[str]) -> str:
        if not count:
            return self.pick([name, f"({name})"])
        return f"({name} {' '.join(self.term(variables) for _ in range(count))})"

    def fact(self, variables: list[str]) -> str:
        name = self.pick(self.bases)
        count = self.bases[name]
        if name == "r":  # a fact with a term inside
            return (
                f"(r (pair {self.term(variables, False)} {self.term(variables, False)}) {self.term(variables, False)})"
            )
        inner = " ".join(self.term(variables, False) for _ in range(count))
        return f"({name} {inner})" if count else name

    def literal(self, variables: list[str], relations: dict[str, int], state: bool, moves: bool) -> str:
        """A positive literal."""
        kinds = ["relation"] * bool(relations) * 2 + ["fact"] * state * 2 + ["does"] * moves
        kind = self.pick(kinds)
        if kind == "fact":
            if self.chance(0.08):
                return f"(true {self.pick(variables)})"
            return f"(true {self.fact(variables)})"
        if kind == "does":
            role = self.pick([*self.roles, *variables])
            return f"(does {role} {self.pick([self.pick(variables), f'(go {self.term(variables, False)})', 'noop'])})"
        name = self.pick(relations)
        return self.atom(name, relations[name], variables)

    def body(
        self, head_variables: set[str], relations: dict[str, int], lower: dict[str, int], state: bool, moves: bool
    ) -> str:
        """A safe conjunction: variables that no positive literal binds get (dom ...)."""
        variables = self.random.sample(VARIABLES, self.random.randint(1, 3))
        variables += [name for name in head_variables if name not in variables]
        positive = [self.literal(variables, relations, state, moves) for _ in range(self.random.randint(1, 3))]
        others: list[str] = []
        if self.chance(0.35):
            others.append(f"(not {self.literal(variables, lower, state, moves)})")
        if self.chance(0.3):
            distinct = f"(distinct {self.term(variables)} {self.term(variables)})"
            others.append(f"(not {distinct})" if self.chance(0.3) else distinct)
        if self.chance(0.3):
            branches = [self.literal(variables, lower, state, moves) for _ in range(self.random.randint(1, 3))]
            branches += [f"(not {self.literal(variables, lower, state, moves)})"] * self.chance(0.4)
            branches += [f"(distinct {self.pick(variables)} {self.pick(self.constants)})"] * self.chance(0.3)
            others.append(f"(or {' '.join(branches)})")
        if self.wild and self.chance(0.5):
            others.append(self.nested(variables, lower, state, moves, self.random.randint(1, 3)))
        bound = names_in(" ".join(positive))
        loose = (names_in(" ".join(others)) | head_variables) - bound
        if self.wild and self.chance(0.4):
            loose &= head_variables
        items = [*positive, *others, *(f"(dom {name})" for name in sorted(loose))]
        self.random.shuffle(items)
        return " ".join(items)

    def nested(self, variables: list[str], lower: dict[str, int], state: bool, moves: bool, depth: int) -> str:
        """Connectives inside of each other."""
        if not depth:
            if self.chance(0.2):
                return f"(distinct {self.term(variables)} {self.term(variables)})"
            return self.literal(variables, lower, state, moves)
        inner = [self.nested(variables, lower, state, moves, depth - 1) for _ in range(self.random.randint(1, 2))]
        return self.pick([f"(not {inner[0]})", f"(and {' '.join(inner)})", f"(or {' '.join(inner)})"])

    def circle(self, names: list[str], known: dict[str, int], state: bool, moves: bool) -> None:
        """Define relations of one argument that depend on each other in a circle."""
        for name, other in zip(names, names[1:] + names[:1], strict=True):
            body = self.body({"?x"}, known, known, state, moves)
            self.rules.append(f"(<= ({name} ?x) (dom ?x) {body})")
            rest = self.pick(["", self.literal(["?x", "?y"], known, state, moves)])
            self.rules.append(f"(<= ({name} ?y) ({other} ?x) (link {self.pick(['?x ?y', '?y ?x'])}) {rest})")
            if self.chance(0.3):
                self.rules.append(f"(<= ({name} ?x) ({other} ?x))")
        known.update(dict.fromkeys(names, 1))

    def relation(self, name: str, known: dict[str, int], state: bool, moves: bool) -> int:
        """Define a relation over those that are known; some of its rules use the relation itself."""
        count = self.random.randint(0, 2)
        for number in range(self.random.randint(1, 3)):
            variables = self.random.sample(VARIABLES, 2)
            recursive = number > 0 and count and self.chance(0.5)
            if recursive:  # the arguments of the recursive literal stand in the head or in a literal outside
                inner = [self.pick(variables) for _ in range(count)]
                outer = [self.pick(variables) for _ in range(count)]
                link = " ".join(f"(link {a} {b})" for a, b in zip(inner, outer, strict=True))
                rest = self.literal(variables, known, state, moves) if self.chance(0.4) else ""
                names = sorted(names_in(rest))
                dom = " ".join(f"(dom {each})" for each in names)
                self.rules.append(f"(<= ({name} {' '.join(outer)}) {link} ({name} {' '.join(inner)}) {rest} {dom})")
                continue
            args = [self.term(variables, deep=self.chance(0.2)) for _ in range(count)]
            head = f"({name} {' '.join(args)})" if count else name
            self.rules.append(f"(<= {head} {self.body(names_in(head), known, known, state, moves)})")
        return count

    def text(self) -> str:
        pick, chance = self.pick, self.chance
        self.facts += [f"(dom {constant})" for constant in self.constants]
        pairs = [(a, b) for a in self.constants for b in self.constants]
        for a, b in self.random.sample(pairs, self.random.randint(2, min(6, len(pairs)))):
            self.facts.append(f"(link {a} {b})")
        self.static["link"] = 2
        for number in range(self.random.randint(0, 3)):
            name = f"s{number}"
            self.static[name] = self.relation(name, self.static, False, False)
        known = dict(self.static)
        for number in range(self.random.randint(1, 4)):
            name = f"t{number}"
            known[name] = self.state[name] = self.relation(name, known, True, False)
        if self.wild:
            self.circle(["c0", "c1", "c2"][: self.random.randint(2, 3)], known, True, False)
            self.rules += ["(<= (legal ?anyone (pass)) (not (c0 ?x)))", "(<= (legal ?p rest) (not (true (p ?p))))"]
        for role in self.roles:
            self.facts.append(pick([f"(legal {role} noop)", f"(<= (legal {role} noop) (role {role}))"]))
        for _ in range(self.random.randint(1, 3)):
            role = pick(["?r", *self.roles])
            move = pick(["(go ?y)", "(go ?y)", f"(go {pick(self.constants)})", "(jump ?y (f ?z ?y))"])
            body = self.body(names_in(move), known, known, True, False)
            self.rules.append(f"(<= (legal {role} {move}) {'(role ?r)' * (role == '?r')} {body})")
        if chance(0.3):
            self.facts += ["(choice (go wide))", f"(choice {pick(self.constants)})"]
            self.rules.append("(<= (legal ?r ?m) (role ?r) (choice ?m))")
        if chance(0.4):
            known["busy"] = 1
            self.rules.append("(<= (busy ?r) (legal ?r (go ?x)))")
        after = dict(known)
        for number in range(self.random.randint(0, 2)):
            name = f"m{number}"
            after[name] = self.relation(name, after, True, True)
        self.rules.append(
            "(<= (next ?f) (true ?f) (kept ?f))" if chance(0.2) else "(<= (next (p ?x)) (does ?r (go ?x)) (dom ?x))"
        )
        self.rules.append("(<= (kept ?f) (true ?f) (does ?r noop))")
        for _ in range(self.random.randint(2, 5)):
            head = self.fact(self.random.sample(VARIABLES, 2))
            # Facts are made of constants only: with functions the states would have no end.
            doms = " ".join(f"(dom {name})" for name in sorted(names_in(head)))
            self.rules.append(f"(<= (next {head}) {doms} {self.body(names_in(head), after, after, True, True)})")
        if chance(0.2):
            self.facts.append(f"(next (p {pick(self.constants)}))")
        for _ in range(self.random.randint(2, 12)):
            self.facts.append(f"(init {self.fact([])})")
        self.rules.append(f"(<= terminal (true on) {self.body(set(), known, known, True, False)})")
        for value in self.random.sample([0, 25, 50, 75, 100], 2):
            self.rules.append(f"(<= (goal ?r {value}) (role ?r) {self.body(set(), known, known, True, False)})")
        lines = self.facts + self.rules
        if chance(0.5):
            self.random.shuffle(lines)
        return "\n".join(lines)


def names_in(text: str) -> set[str]:
    return {word for word in text.replace("(", " ").replace(")", " ").split() if word.startswith("?")}


# --- three ways -----------------------------------------------------------------------------------------------------


class ByReasoner:
    def __init__(self, description: Description):
        self.reasoner = Reasoner(description)
        self.roles = self.reasoner.roles

    def initial(self):
        return frozenset(self.reasoner.initial)

    def inspect(self, facts):
        """(over, by role the legal moves, by role the goals)"""
        facts = tuple(facts)
        return (
            self.reasoner.is_terminal(facts),
            [frozenset(self.reasoner.legal(facts, role)) for role in self.roles],
            [frozenset(self.reasoner.goals(facts, role)) for role in self.roles],
        )

    def next(self, facts, joint):
        return frozenset(self.reasoner.next(tuple(facts), dict(zip(self.roles, joint, strict=True))))


class RandomScan:
    """In place of Planner._should_scan: yes or no at random, where a relation may be evaluated as a whole."""

    def __init__(self, random: Random):
        self.random = random

    def __get__(self, planner, kind):
        return lambda key, *_: planner.may_scan(key) and self.random.random() < 0.5


class ByAnyPlan(ByReasoner):
    """The reasoner with plans drawn at random and, for recursion, always with the agenda: the answers are the same."""

    def __init__(self, description: Description, seed: int = 0):
        random = Random(seed)
        with (
            mock.patch.object(plans, "_merit", side_effect=lambda _: random.random()),
            mock.patch.object(plans.Planner, "_should_scan", RandomScan(random)),
        ):
            super().__init__(description)
        for component in self.reasoner.tables.components.values():
            component.has_circle = not component.negative


class ByNetwork:
    """The ground rules as gates, evaluated in plain Python."""

    def __init__(self, description: Description, way: str = "plain"):
        translator, order = Translator(), names_of(description.text)
        ways = ways_to_ground(description)
        program = translator.program(ways.get(way, ways["plain"]))
        grounded = read_ground(io.BytesIO(ground_text(program)), translator)
        self.roles = roles_of(description, grounded, order)
        self.network = build_network(grounded, self.roles, order)
        wide = build_network(grounded, self.roles, order, factored=False)
        terms = action_terms(self.network)
        self.rules = rules_of(self.network, {term: i for i, term in enumerate(terms)}, 1000, None, build_circuit(wide))
        self.inputs = [(role, move) for role, moves in enumerate(self.network.inputs) for move in moves]

    def initial(self):
        return frozenset(base for base, true in zip(self.network.bases, self.network.initial, strict=True) if true)

    def values(self, facts):
        values = np.zeros(self.rules.first_gate + self.rules.kinds.size, np.uint8)
        for number, base in enumerate(self.network.bases):
            values[number] = base in facts
        return values

    def inspect(self, facts):
        rules, values = self.rules, self.values(facts)
        network_rules.sweep(rules, values, network_rules.TERMINAL)
        network_rules.sweep(rules, values, network_rules.LEGAL)
        network_rules.sweep(rules, values, network_rules.GOAL)
        value = network_rules.literal_value
        legal = [set() for _ in self.roles]
        for (role, move), literal in zip(self.inputs, rules.legal, strict=True):
            if value(values, literal):
                legal[role].add(move)
        goals = [
            frozenset(str(goal) for goal, literal in each if value(values, literal)) for each in self.network.goals
        ]
        return bool(value(values, rules.terminal)), [frozenset(each) for each in legal], goals

    def next(self, facts, joint):
        rules, values = self.rules, self.values(facts)
        network_rules.sweep(rules, values, network_rules.TERMINAL)
        network_rules.sweep(rules, values, network_rules.LEGAL)
        for role, move in enumerate(joint):
            values[rules.bases + self.inputs.index((role, move))] = 1
        network_rules.sweep(rules, values, network_rules.NEXT)
        value = network_rules.literal_value
        return frozenset(
            base for base, literal in zip(self.network.bases, rules.next, strict=True) if value(values, literal)
        )


class ByCircuit(ByNetwork):
    """The circuit, evaluated in plain Python; a network whose gates depend on each other has none and is swept."""

    def state_of(self, facts):
        state = np.zeros(network_rules.facts_bytes(self.rules) + 3, np.uint8)
        bits = np.array([base in facts for base in self.network.bases], np.bool_)
        packed = np.packbits(bits, bitorder="little")
        state[: len(packed)] = packed
        return state

    def work_of(self, facts):
        """(mode, work), or None where the network is swept."""
        state = self.state_of(facts)
        mode = propagate.find_mode(self.rules, state)
        if mode < 0:
            return None
        work = self.rules.work.copy()
        propagate.set_facts(self.rules, state, work)
        return mode, work

    def inspect(self, facts):
        found = self.work_of(facts)
        if found is None:
            return super().inspect(facts)
        mode, work = found
        legal = []
        for role in range(len(self.roles)):
            count = propagate.count_moves(self.rules, work, mode, role)
            inputs = [propagate.ranked_move(self.rules, work, mode, role, rank) for rank in range(count)]
            legal.append(frozenset(self.inputs[i][1] for i in inputs))
        return bool(propagate.is_terminal(self.rules, work, mode)), legal, super().inspect(facts)[2]

    def next(self, facts, joint):
        found = self.work_of(facts)
        if found is None:
            return super().next(facts, joint)
        mode, work = found
        for role, move in enumerate(joint):
            propagate.make_move(self.rules, work, mode, role, self.inputs.index((role, move)))
        propagate.advance(self.rules, work, mode)
        state = self.state_of(())
        propagate.write_facts(self.rules, work, state)
        return frozenset(base for i, base in enumerate(self.network.bases) if state[i >> 3] >> (i & 7) & 1)


class ByClingo:
    """The rules with the facts of a state, given to clingo as they are."""

    def __init__(self, description: Description):
        self.translator = Translator()
        rules = relevant(list(expand(repair(description.rules))))
        self.program = "\n".join(self.translator.rule(rule) for rule in rules)
        self.start = self.solve(())
        self.roles = [row[0] for row in self.start["role"]]
        self.roles.sort(key=[rule.head.args[0] for rule in rules if rule.head.name == "role"].index)

    def solve(self, facts, does=()):
        import clingo

        control = clingo.Control(["--warn=none"])
        given = [f"true({self.translator.term(fact, {})})." for fact in facts]
        given += [f"does({self.translator.term(r, {})},{self.translator.term(m, {})})." for r, m in does]
        control.add("base", [], self.program + "\n" + "\n".join(given))
        control.ground([("base", [])])
        found = {name: [] for name in ("role", "init", "legal", "goal", "next", "terminal")}
        with control.solve(yield_=True) as models:
            for model in models:
                for symbol in model.symbols(atoms=True):
                    if symbol.name in found:
                        name, arguments = self.translator.read_atom(str(symbol))
                        found[name].append(arguments)
        return found

    def initial(self):
        return frozenset(row[0] for row in self.start["init"])

    def inspect(self, facts):
        found = self.solve(facts)
        return (
            bool(found["terminal"]),
            [frozenset(m for r, m in found["legal"] if r == role) for role in self.roles],
            [frozenset(v for r, v in found["goal"] if r == role) for role in self.roles],
        )

    def next(self, facts, joint):
        found = self.solve(facts, list(zip(self.roles, joint, strict=True)))
        return frozenset(row[0] for row in found["next"])


def usual_ways(description: Description, seed: int = 0) -> list:
    return [
        ByReasoner(description),
        ByAnyPlan(description, seed),
        ByNetwork(description),
        ByNetwork(description, "split"),
        ByCircuit(description),
        ByClingo(description),
    ]


def differences(description: Description, seed: int = 0, plies: int = 5, ways=None) -> str | None:
    """The first thing in which the ways differ in a random game, which goes on beyond terminal states."""
    random = Random(seed)
    ways = ways or usual_ways(description, seed)
    names = [f"{type(way).__name__} {i}" for i, way in enumerate(ways)]

    def compare(what, answers):
        for name, answer in zip(names[1:], answers[1:], strict=True):
            if answer != answers[0]:
                return f"{what}: {names[0]} says {answers[0]}, {name} says {answer}"
        return None

    found = compare("roles", [way.roles for way in ways]) or compare("init", [way.initial() for way in ways])
    facts = None if found else ways[0].initial()
    for _ in range(plies):
        if found:
            return found
        looks = [way.inspect(facts) for way in ways]
        found = compare(f"in {sorted(map(str, facts))}", looks)
        legal = looks[0][1]
        if found or not all(legal):
            return found
        joint = [random.choice(sorted(moves, key=str)) for moves in legal]
        after = [way.next(facts, joint) for way in ways]
        found = compare(f"after {joint} in {sorted(map(str, facts))}", after)
        facts = after[0]
    return found
