"""The rules of every game in GDL: the network is data, so one machine code serves all descriptions.

A state is a row of bytes: the facts, one bit each; then the status byte; then the number of plies, two bytes. A search
gives the states that it plays on scratch, from the next multiple of eight bytes on: a word that is 0 before the first
use, the circuit in the position that was looked at last, and a circuit for a playout. Then a look at a position costs
what differs from the last one.

An action is the number of a move's term among those of all roles, so `(mark 1 1)` has one id for every role. Where a
single role has a choice it is that role's turn, and the others' only moves are made with its own. Where several have
one, all move at once.
"""

from typing import Any, NamedTuple

import numpy as np

from ludus.gdl import propagate as circuit
from ludus.gdl.evaluate import literal_value, pack_next, sweep, unpack
from ludus.gdl.propagate import OVER, TOGETHER, find_mode, release_circuit, scratch_at, set_facts
from ludus.gdl.scratch import give_back, take_copy, take_near
from ludus.rules import EVERYONE

TITLE = "games in GDL"
TERMINAL, LEGAL, NEXT, GOAL = 0, 1, 2, 3
LEAN = True
"""No function allocates arrays with Numba's runtime."""
NATIVE = "ludus.gdl.scratch_native"
INLINE = True
"""Helper functions become part of their callers: to pass all arrays of the rules takes longer than most of them."""
MAX_ROLES = 250


class GdlRules(NamedTuple):
    """A network (see ludus.gdl.network) as arrays, and what else the functions below need."""

    kinds: Any  # uint8 [gates]
    starts: Any  # int32 [gates + 1]
    literals: Any  # int32
    stretches: Any  # int32 [5]
    loops: Any  # int32 [n, 2]
    legal: Any  # int32 [inputs]: literals, role after role
    next: Any  # int32 [bases]: literals
    goal_literals: Any  # int32 [goals]
    goal_values: Any  # float32 [goals]: in [-1, 1]
    goal_starts: Any  # int32 [roles + 1]: where the goals of each role begin
    input_starts: Any  # int32 [roles + 1]: where the inputs of each role begin
    action_of: Any  # int32 [inputs]
    input_of: Any  # int32 [roles, actions]: the input of an action of a role, or -1
    initial: Any  # uint8 [bytes of the facts]
    shown: Any  # int32 [n, 2]: stretches of a network's input, the first number and how many
    shown_values: Any  # float32 [n]: the numbers to write there
    shown_starts: Any  # int32 [bases + roles + 1]: where the stretches of each fact, and of the role that looks, begin
    fact_images: Any  # int32 [symmetries, bases]: the fact that each becomes in a symmetry; the first is the identity
    action_images: Any  # int32 [symmetries, actions]
    consumers: Any  # uint32: the circuit (see ludus.gdl.circuit), which has no modes if the network is swept instead
    consumer_starts: Any  # int32
    work: Any  # uint64
    places: Any  # int32 [6]
    block: Any  # int32 [roles + 2]
    mode_facts: Any  # uint64 [modes + 1, words]
    mode_after: Any  # int32 [modes]
    changing: Any  # uint64 [modes, words]
    forced: Any  # int32 [modes, roles]
    effects: Any  # int32 [n, 2]
    effect_starts: Any  # int32 [modes, inputs + 1]
    effect_roles: Any  # int32 [modes]
    blank: Any  # uint8 [nodes of the network]: zeros
    has_goals: int  # 1: the circuit has the goals
    terminal: int  # literal
    bases: int
    first_gate: int
    longest: int  # the number of plies after which a game is over


def facts_bytes(rules):
    return (rules.bases + 7) >> 3


def scratch_bytes(rules):
    """The size of the scratch behind a state, with what aligns it; 0 if the network is swept."""
    if not rules.mode_after.size:
        return 0
    return scratch_at(rules) - facts_bytes(rules) - 3 + 8 * (1 + 2 * rules.work.size)


def plies(rules, state):
    at = facts_bytes(rules) + 1
    return np.int64(state[at]) + 256 * np.int64(state[at + 1])


def count_legal(rules, values, role):
    """The number of legal moves of a role, and the last of them (an input)."""
    count = 0
    last = -1
    for i in range(rules.input_starts[role], rules.input_starts[role + 1]):
        if literal_value(values, rules.legal[i]):
            count += 1
            last = i
    return count, last


def settle(rules, state):
    """Write the status byte of a state whose facts and plies are in place."""
    mode = find_mode(rules, state)
    if mode >= 0:
        work = take_near(rules.work, state, scratch_at(rules))
        set_facts(rules, state, work)
        write_status(rules, state, work, mode)
        release_circuit(rules, state, work)
    else:
        settle_by_sweep(rules, state)


def write_status(rules, state, work, mode):
    """Write the status byte of a state that the circuit is in."""
    status, _ = circuit.find_chooser(rules, work, mode)
    if circuit.is_terminal(rules, work, mode) or plies(rules, state) >= rules.longest:
        status = OVER
    state[facts_bytes(rules)] = status


def settle_by_sweep(rules, state):
    values = take_copy(rules.blank)
    unpack(rules, state, values)
    sweep(rules, values, TERMINAL)
    if literal_value(values, rules.terminal) or plies(rules, state) >= rules.longest:
        status = OVER
    else:
        sweep(rules, values, LEGAL)
        status = swept_status(rules, values)
    state[facts_bytes(rules)] = status
    give_back(values)


def swept_status(rules, values):
    """The status byte of a position that is not terminal and whose legal moves are evaluated."""
    choosers = 0
    status = 0
    for role in range(rules.input_starts.size - 1):
        count, _ = count_legal(rules, values, role)
        if count == 0:  # the description breaks its promise that every role has a move: the game ends here
            return OVER
        if count > 1:
            choosers += 1
            status = role
    return TOGETHER if choosers > 1 else status


def reset(rules, state, random):
    state[:] = np.uint8(0)
    for byte in range(facts_bytes(rules)):
        state[byte] = rules.initial[byte]
    settle(rules, state)


def to_move(rules, state):
    status = state[facts_bytes(rules)]
    return EVERYONE if status >= TOGETHER else np.int64(status)


def legal(rules, state, player, actions):
    mode = find_mode(rules, state)
    if mode >= 0:
        work = take_near(rules.work, state, scratch_at(rules))
        set_facts(rules, state, work)
        count = circuit.count_moves(rules, work, mode, player)
        for rank in range(count):
            actions[rank] = rules.action_of[circuit.ranked_move(rules, work, mode, player, rank)]
        release_circuit(rules, state, work)
        return count
    values = take_copy(rules.blank)
    unpack(rules, state, values)
    sweep(rules, values, TERMINAL)
    sweep(rules, values, LEGAL)
    count = 0
    for i in range(rules.input_starts[player], rules.input_starts[player + 1]):
        if literal_value(values, rules.legal[i]):
            actions[count] = rules.action_of[i]
            count += 1
    give_back(values)
    return count


def play(rules, state, action):
    mover = np.int64(state[facts_bytes(rules)])
    mode = find_mode(rules, state)
    if mode >= 0:
        work = take_near(rules.work, state, scratch_at(rules))
        set_facts(rules, state, work)
        for role in range(rules.input_starts.size - 1):
            if role == mover:
                circuit.make_move(rules, work, mode, role, rules.input_of[role, action])
            elif rules.forced[mode, role] < 0:
                circuit.make_move(rules, work, mode, role, circuit.ranked_move(rules, work, mode, role, 0))
        advance_circuit(rules, state, work, mode)
        return
    values = take_copy(rules.blank)
    unpack(rules, state, values)
    sweep(rules, values, TERMINAL)
    sweep(rules, values, LEGAL)
    for role in range(rules.input_starts.size - 1):
        if role == mover:
            made = rules.input_of[role, action]
        else:
            _, made = count_legal(rules, values, role)
        values[rules.bases + made] = 1
    advance(rules, state, values)


def play_together(rules, state, actions):
    mode = find_mode(rules, state)
    if mode >= 0:
        work = take_near(rules.work, state, scratch_at(rules))
        set_facts(rules, state, work)
        for role in range(rules.input_starts.size - 1):
            circuit.make_move(rules, work, mode, role, rules.input_of[role, actions[role]])
        advance_circuit(rules, state, work, mode)
        return
    values = take_copy(rules.blank)
    unpack(rules, state, values)
    sweep(rules, values, TERMINAL)
    sweep(rules, values, LEGAL)
    for role in range(rules.input_starts.size - 1):
        values[rules.bases + rules.input_of[role, actions[role]]] = 1
    advance(rules, state, values)


def advance_circuit(rules, state, work, mode):
    """Make the moves that are set in the circuit."""
    mode = circuit.advance(rules, work, mode)
    circuit.write_facts(rules, work, state)
    count_ply(rules, state)
    write_status(rules, state, work, mode)
    release_circuit(rules, state, work)


def advance(rules, state, values):
    """Make the moves that are set in `values`."""
    sweep(rules, values, NEXT)
    pack_next(rules, values, state)
    give_back(values)
    count_ply(rules, state)
    settle_by_sweep(rules, state)


def count_ply(rules, state):
    count = plies(rules, state) + 1
    at = facts_bytes(rules) + 1
    state[at] = np.uint8(count & 255)
    state[at + 1] = np.uint8(count >> 8)


def outcome(rules, state, values):
    if state[facts_bytes(rules)] != OVER:
        return False
    mode = find_mode(rules, state)
    if mode >= 0 and rules.has_goals:
        work = take_near(rules.work, state, scratch_at(rules))
        set_facts(rules, state, work)
        if circuit.is_terminal(rules, work, mode):
            circuit.read_goals(rules, work, mode, values)
        else:  # cut off, or a role without a move: nobody has reached a goal
            for role in range(rules.input_starts.size - 1):
                values[role] = 0.0
        release_circuit(rules, state, work)
    else:
        circuit.sweep_goals(rules, state, values)
    return True


def playout(rules, state, random, values):
    if state[facts_bytes(rules)] == OVER:
        return False
    mode = find_mode(rules, state)
    if mode < 0:
        return False
    circuit.finish_randomly(rules, state, mode, random, values)
    return True


def observe(rules, state, player, planes):
    flat = planes.reshape(planes.size)
    for base in range(rules.bases):
        if (state[base >> 3] >> np.uint8(base & 7)) & np.uint8(1):
            show(rules, base, flat)
    show(rules, rules.bases + player, flat)


def show(rules, fact, flat):
    """Write what a network sees of a fact that is true, or of the role that looks."""
    for part in range(rules.shown_starts[fact], rules.shown_starts[fact + 1]):
        first = rules.shown[part, 0]
        for i in range(first, first + rules.shown[part, 1]):
            flat[i] = rules.shown_values[part]


def symmetry(rules, state, which, image, actions, count):
    first = facts_bytes(rules)
    for byte in range(first):
        image[byte] = np.uint8(0)
    for byte in range(first, first + 3):  # a symmetry keeps the roles, so the same one is to move
        image[byte] = state[byte]
    for base in range(rules.bases):
        if (state[base >> 3] >> np.uint8(base & 7)) & np.uint8(1):
            to = rules.fact_images[which, base]
            image[to >> 3] |= np.uint8(1 << (to & 7))
    for i in range(count):
        actions[i] = rules.action_images[which, actions[i]]


def fingerprint(rules, state):
    h = np.uint64(0x243F6A8885A308D3)
    for byte in range(facts_bytes(rules) + 1):
        h = (h ^ np.uint64(state[byte])) * np.uint64(0x9E3779B97F4A7C15)
        h ^= h >> np.uint64(32)
    return h
