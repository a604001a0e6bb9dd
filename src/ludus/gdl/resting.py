"""What is asked before any move is made, of rules that depend on moves although GDL forbids it.

`legal`, `goal` and `terminal` belong to a state. Where they depend on `does`, the reference prover of ggp-base finds no
move there, so `does` never holds. The relations in between get copies for this, since `next` may use them as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ludus.gdl.alternatives import expand
from ludus.gdl.language import Atom, Item, Literal, Rule, literals_in

Key = tuple[str, int]
DOES: Key = ("does", 2)
ASKED_AT_REST: tuple[Key, ...] = (("legal", 2), ("goal", 2), ("terminal", 0))


def without_moves(rules: Iterable[Rule]) -> list[Rule]:
    """The rules, with `does` false wherever legal, goal or terminal depend on it."""
    rules = list(rules)
    by_key: dict[Key, list[Rule]] = defaultdict(list)
    users: dict[Key, set[Key]] = defaultdict(set)
    for rule in rules:
        by_key[rule.head.key].append(rule)
        for literal in literals_in(rule.body):
            users[literal.atom.key].add(rule.head.key)
    moving = _reached({DOES}, users)
    if moving.isdisjoint(ASKED_AT_REST):
        return rules
    uses: dict[Key, set[Key]] = defaultdict(set)
    for used, keys in users.items():
        for key in keys:
            uses[key].add(used)
    resting = (moving & _reached(set(ASKED_AT_REST), uses)) - {DOES}
    made = [rule for rule in rules if rule.head.key not in resting or rule.head.key not in ASKED_AT_REST]
    for key in sorted(resting):
        for rule in expand(by_key[key]):
            body = _body(rule.body, resting)
            if body is not None:
                made.append(Rule(_at_rest(rule.head, resting), body, rule.offset))
    return made


def _reached(starts: set[Key], edges: dict[Key, set[Key]]) -> set[Key]:
    reached, queue = set(starts), list(starts)
    while queue:
        for key in edges.get(queue.pop(), set()) - reached:
            reached.add(key)
            queue.append(key)
    return reached


def _at_rest(atom: Atom, resting: set[Key]) -> Atom:
    return Atom(f"{atom.name} at rest", atom.args) if atom.key in resting - set(ASKED_AT_REST) else atom


def _body(items: Iterable[Item], resting: set[Key]) -> tuple[Item, ...] | None:
    """A conjunction where no move is made; None if it never holds."""
    kept: list[Item] = []
    for item in items:
        if not isinstance(item, Literal):
            kept.append(item)
        elif item.atom.key != DOES:
            kept.append(Literal(_at_rest(item.atom, resting), item.negated))
        elif not item.negated:
            return None
    return tuple(kept)
