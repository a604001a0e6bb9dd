"""What is asked before any move is made, or before there is a state, of rules that depend on these although GDL forbids
it.

`legal`, `goal` and `terminal` belong to a state. Where they depend on `does`, the reference prover of ggp-base finds no
move there, so `does` never holds. Where `init` depends on `true` or `does`, neither ever holds. The relations in
between get copies for this, since `next` may use them as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ludus.gdl.alternatives import expand
from ludus.gdl.language import Atom, Item, Literal, Rule, literals_in

Key = tuple[str, int]
TRUE: Key = ("true", 1)
DOES: Key = ("does", 2)
BEFORE_ALL: tuple[Key, ...] = (("init", 1),)
AT_REST: tuple[Key, ...] = (("legal", 2), ("goal", 2), ("terminal", 0))


def without_moves(rules: Iterable[Rule]) -> list[Rule]:
    """The rules, with `does` false wherever legal, goal or terminal depend on it, and `true` as well for init."""
    return _without(_without(list(rules), BEFORE_ALL, {TRUE, DOES}, "before all"), AT_REST, {DOES}, "at rest")


def _without(rules: list[Rule], asked: tuple[Key, ...], absent: set[Key], when: str) -> list[Rule]:
    """The rules, with the relations in `absent` false wherever those in `asked` depend on them."""
    by_key: dict[Key, list[Rule]] = defaultdict(list)
    users: dict[Key, set[Key]] = defaultdict(set)
    for rule in rules:
        by_key[rule.head.key].append(rule)
        for literal in literals_in(rule.body):
            users[literal.atom.key].add(rule.head.key)
    moving = _reached(absent, users)
    if moving.isdisjoint(asked):
        return rules
    uses: dict[Key, set[Key]] = defaultdict(set)
    for used, keys in users.items():
        for key in keys:
            uses[key].add(used)
    copied = (moving & _reached(set(asked), uses)) - absent
    names = {key: f"{key[0]} {when}" for key in copied.difference(asked)}
    made = [rule for rule in rules if rule.head.key not in copied or rule.head.key not in asked]
    for key in sorted(copied):
        for rule in expand(by_key[key]):
            body = _body(rule.body, absent, names)
            if body is not None:
                made.append(Rule(_renamed(rule.head, names), body, rule.offset))
    return made


def _reached(starts: set[Key], edges: dict[Key, set[Key]]) -> set[Key]:
    reached, queue = set(starts), list(starts)
    while queue:
        for key in edges.get(queue.pop(), set()) - reached:
            reached.add(key)
            queue.append(key)
    return reached


def _renamed(atom: Atom, names: dict[Key, str]) -> Atom:
    return Atom(names.get(atom.key, atom.name), atom.args)


def _body(items: Iterable[Item], absent: set[Key], names: dict[Key, str]) -> tuple[Item, ...] | None:
    """A conjunction where nothing in `absent` holds; None if it never does."""
    kept: list[Item] = []
    for item in items:
        if not isinstance(item, Literal):
            kept.append(item)
        elif item.atom.key not in absent:
            kept.append(Literal(_renamed(item.atom, names), item.negated))
        elif not item.negated:
            return None
    return tuple(kept)
