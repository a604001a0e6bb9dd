"""Modes of a network: the states of facts that follow a fixed cycle whatever is played, such as `control`."""

from __future__ import annotations

from ludus.gdl.network import AND, TRUE, Network

MAX_MODES = 8


def find_modes(network: Network) -> tuple[list[dict[int, bool]], list[int]]:
    """The modes, each as the values of the cyclic facts, and the mode that follows each."""
    first_gate = len(network.bases) + sum(map(len, network.inputs))
    support = _supports(network, first_gate)
    autonomous = {base for base, nodes in support.items() if nodes is not None}
    while True:
        kept = {base for base in autonomous if support[base] <= autonomous}  # type: ignore[operator]
        if kept == autonomous:
            break
        autonomous = kept
    modes: list[dict[int, bool]] = [{}]
    after = [0]
    for group in _connected({base: support[base] or set() for base in sorted(autonomous)}):
        states, follows = _cycle(network, group)
        joined = _product(modes, after, states, follows)
        if states and len(joined[0]) <= MAX_MODES:
            modes, after = joined
    return modes, after


def _supports(network: Network, first_gate: int) -> dict[int, set[int] | None]:
    """By fact: the facts that it depends on after a ply; None for more than 8, or where it depends on a move."""
    memo: dict[int, set[int] | None] = {}
    kinds, starts, literals = network.kinds, network.starts.tolist(), network.literals.tolist()
    for gate in range(int(network.stretches[3]) if len(kinds) else 0):
        found: set[int] | None = set()
        for literal in literals[starts[gate] : starts[gate + 1]]:
            node = literal >> 1
            inner = {node} if node < len(network.bases) else memo.get(node)
            if inner is None or len(found | inner) > 8:  # type: ignore[operator]
                found = None
                break
            found |= inner  # type: ignore[operator]
        memo[first_gate + gate] = found
    supports: dict[int, set[int] | None] = {}
    for base, literal in enumerate(network.next.tolist()):
        node = literal >> 1
        supports[base] = set() if literal < 0 else {node} if node < len(network.bases) else memo.get(node)
    return supports


def _connected(uses: dict[int, set[int]]) -> list[list[int]]:
    """Groups of facts that depend on each other in any direction, those with the lowest numbers first."""
    group = {base: base for base in uses}

    def root(base: int) -> int:
        while group[base] != base:
            group[base] = group[group[base]]
            base = group[base]
        return base

    for base, others in uses.items():
        for other in others:
            a, b = root(base), root(other)
            group[max(a, b)] = min(a, b)
    members: dict[int, list[int]] = {}
    for base in uses:
        members.setdefault(root(base), []).append(base)
    return list(members.values())


def _cycle(network: Network, group: list[int]) -> tuple[list[dict[int, bool]], list[int]]:
    """The states of a group of facts from the initial position on, and the successor of each; empty if too many."""
    states: list[dict[int, bool]] = []
    state = {base: bool(network.initial[base]) for base in group}
    while state not in states:
        if len(states) == MAX_MODES:
            return [], []
        states.append(state)
        state = {base: _value(network, int(network.next[base]), state, {}) for base in group}
    return states, [*range(1, len(states)), states.index(state)]


def _value(network: Network, literal: int, state: dict[int, bool], known: dict[int, bool]) -> bool:
    """The value of a literal that depends on the facts of `state` only."""
    if literal < 0:
        return literal == TRUE
    node = literal >> 1
    if node not in known:
        gate = node - len(network.bases) - sum(map(len, network.inputs))
        if gate < 0:
            known[node] = state[node]
        else:
            inner = network.literals[network.starts[gate] : network.starts[gate + 1]].tolist()
            values = [_value(network, each, state, known) for each in inner]
            known[node] = all(values) if network.kinds[gate] == AND else any(values)
    return known[node] ^ bool(literal & 1)


def _product(
    modes: list[dict[int, bool]], after: list[int], states: list[dict[int, bool]], follows: list[int]
) -> tuple[list[dict[int, bool]], list[int]]:
    """Two independent sequences that begin together as one."""
    pairs = [(0, 0)]
    for mode, state in pairs:
        pair = (after[mode], follows[state]) if states else (0, 0)
        if pair not in pairs:
            pairs.append(pair)
    if not states:
        return modes, after
    successors = [pairs.index((after[mode], follows[state])) for mode, state in pairs]
    return [modes[mode] | states[state] for mode, state in pairs], successors
