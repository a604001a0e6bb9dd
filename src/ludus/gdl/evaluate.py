"""Evaluation of a propositional network for one position: plain functions that are compiled once for all descriptions.

`values` uint8 [nodes] holds 0 or 1 for each fact, move and gate. A gate stops at the first literal that decides it.
"""

import numpy as np

FALSE, TRUE = -2, -1
AND = 0


def literal_value(values, literal):
    """1 or 0: the value of a literal."""
    if literal < 0:
        return literal & 1
    return values[literal >> 1] ^ (literal & 1)


def evaluate_gate(rules, values, gate):
    """1 or 0: the value of a gate whose inputs are known."""
    stop = 0 if rules.kinds[gate] == AND else 1
    for i in range(rules.starts[gate], rules.starts[gate + 1]):
        literal = rules.literals[i]
        if values[literal >> 1] ^ (literal & 1) == stop:
            return stop
    return 1 - stop


def sweep(rules, values, stretch):
    """Evaluate the gates of one stretch (see ludus.gdl.network) in their order."""
    first = rules.first_gate
    gate = rules.stretches[stretch]
    end = rules.stretches[stretch + 1]
    loop = 0
    while gate < end:
        while loop < rules.loops.shape[0] and rules.loops[loop, 0] < gate:
            loop += 1
        if loop < rules.loops.shape[0] and rules.loops[loop, 0] == gate:
            gate = sweep_loop(rules, values, rules.loops[loop, 0], rules.loops[loop, 1])
        else:
            values[first + gate] = evaluate_gate(rules, values, gate)
            gate += 1


def sweep_loop(rules, values, begin, end):
    """Evaluate gates that depend on each other: from all false until nothing changes, which is the least fixpoint."""
    first = rules.first_gate
    for gate in range(begin, end):
        values[first + gate] = 0
    changed = True
    while changed:
        changed = False
        for gate in range(begin, end):
            value = evaluate_gate(rules, values, gate)
            if value != values[first + gate]:
                values[first + gate] = value
                changed = True
    return end


def unpack(rules, state, values):
    """The facts of a state, bits in bytes, into values[:bases]."""
    for base in range(rules.bases):
        values[base] = (state[base >> 3] >> np.uint8(base & 7)) & np.uint8(1)


def pack_next(rules, values, state):
    """The facts that are true next into a state."""
    for byte in range((rules.bases + 7) >> 3):
        word = np.uint8(0)
        for bit in range(min(8, rules.bases - 8 * byte)):
            word |= np.uint8(literal_value(values, rules.next[8 * byte + bit]) << bit)
        state[byte] = word
