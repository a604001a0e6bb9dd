"""Random playouts of many games at once: a bit for each game in 64-bit words, WORDS words for each node.

The network is swept once for 64 * WORDS games, so a ply of one game costs a few nanoseconds; choosing the moves costs
more. For that the words of a role's legal moves are transposed in blocks of 64 x 64 bits, after which each game has a
word of its own legal moves. A game that ends is replaced by the next position of the queue.
"""

from typing import Any, NamedTuple

import numpy as np

from ludus.games import _bits
from ludus.gdl import rules as plain
from ludus.gdl.evaluate import AND
from ludus.gdl.rules import GOAL, LEGAL, NEXT, OVER, TERMINAL, GdlRules
from ludus.native import below, bundle, compiled_names, intensive_kernel, part

_compiled = compiled_names(plain)
facts_bytes, plies = _compiled["facts_bytes"], _compiled["plies"]
lowest, count_bits = part(_bits.lowest), part(_bits.count_bits)

WORDS = 8
"""64-bit words for each node: 8 are as many as one cache line holds."""
LANES = 64 * WORDS
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
NOBODY = -1


@bundle
class Lanes(NamedTuple):
    """Scratch for LANES games at once."""

    values: Any  # uint64 [nodes, WORDS]
    following: Any  # uint64 [bases, WORDS]: the facts of the next ply
    moves: Any  # uint64 [most moves of a role, rounded up to 64]: legal moves, then, transposed, games
    inputs: Any  # int32 [the same]: the input of each row of `moves`
    job: Any  # int64 [LANES]: the number of the position that a game began from, or NOBODY
    left: Any  # int32 [LANES]: plies until the game is cut off
    active: Any  # uint64 [WORDS]: games under way
    over: Any  # uint64 [WORDS]: games that ended this ply
    before: Any  # uint64 [WORDS]: a gate's former value


def make_lanes(rules: GdlRules) -> Lanes:
    rows = -(-int(np.diff(rules.input_starts).max()) // 64) * 64
    return Lanes(
        values=np.zeros((rules.first_gate + rules.kinds.size, WORDS), np.uint64),
        following=np.zeros((rules.bases, WORDS), np.uint64),
        moves=np.zeros(rows, np.uint64),
        inputs=np.zeros(rows, np.int32),
        job=np.zeros(LANES, np.int64),
        left=np.zeros(LANES, np.int32),
        active=np.zeros(WORDS, np.uint64),
        over=np.zeros(WORDS, np.uint64),
        before=np.zeros(WORDS, np.uint64),
    )


@part
def literal_word(values, literal, k):
    if literal < 0:
        return ALL if literal & 1 else np.uint64(0)
    return values[literal >> 1, k] ^ (np.uint64(0) - np.uint64(literal & 1))


@part
def sweep_gate(rules, values, gate):
    row = values[rules.first_gate + gate]
    begin, end = rules.starts[gate], rules.starts[gate + 1]
    neutral = ALL if rules.kinds[gate] == AND else np.uint64(0)
    for k in range(WORDS):
        row[k] = neutral
    if rules.kinds[gate] == AND:
        for i in range(begin, end):
            literal = rules.literals[i]
            source, flip = values[literal >> 1], np.uint64(0) - np.uint64(literal & 1)
            for k in range(WORDS):
                row[k] &= source[k] ^ flip
    else:
        for i in range(begin, end):
            literal = rules.literals[i]
            source, flip = values[literal >> 1], np.uint64(0) - np.uint64(literal & 1)
            for k in range(WORDS):
                row[k] |= source[k] ^ flip


@part
def sweep_loop(rules, lanes, begin, end):
    """Gates that depend on each other: from all false until nothing changes, the least fixpoint."""
    values, before = lanes.values, lanes.before
    for gate in range(begin, end):
        for k in range(WORDS):
            values[rules.first_gate + gate, k] = np.uint64(0)
    changed = np.uint64(1)
    while changed:
        changed = np.uint64(0)
        for gate in range(begin, end):
            row = values[rules.first_gate + gate]
            for k in range(WORDS):
                before[k] = row[k]
            sweep_gate(rules, values, gate)
            for k in range(WORDS):
                changed |= before[k] ^ row[k]


@part
def sweep(rules, lanes, stretch):
    """Evaluate the gates of one stretch (see ludus.gdl.network) for all games."""
    gate, end = rules.stretches[stretch], rules.stretches[stretch + 1]
    for loop in range(rules.loops.shape[0]):
        if not gate <= rules.loops[loop, 0] < end:
            continue
        while gate < rules.loops[loop, 0]:
            sweep_gate(rules, lanes.values, gate)
            gate += 1
        sweep_loop(rules, lanes, rules.loops[loop, 0], rules.loops[loop, 1])
        gate = rules.loops[loop, 1]
    while gate < end:
        sweep_gate(rules, lanes.values, gate)
        gate += 1


@part
def transpose(rows, first):
    """Transpose 64 x 64 bits: bit j of row i changes places with bit i of row j."""
    width = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while width:
        row = 0
        while row < 64:
            a, b = first + row, first + row + width
            swapped = ((rows[a] >> np.uint64(width)) ^ rows[b]) & mask
            rows[b] ^= swapped
            rows[a] ^= swapped << np.uint64(width)
            row = (row + width + 1) & ~width
        width >>= 1
        mask ^= mask << np.uint64(width)


@part
def choose_moves(rules, lanes, role, k, playing, random):
    """Draw a legal move of a role in every game of word k that is in `playing`; returns the games that have none."""
    moves, values = lanes.moves, lanes.values
    found = 0
    any_move = np.uint64(0)
    twice = np.uint64(0)
    for i in range(rules.input_starts[role], rules.input_starts[role + 1]):
        word = literal_word(values, rules.legal[i], k) & playing
        if word:
            moves[found] = word
            lanes.inputs[found] = i
            found += 1
            twice |= any_move & word
            any_move |= word
    if not twice:  # one move each: nothing to draw
        for row in range(found):
            values[rules.bases + lanes.inputs[row], k] = moves[row]
        return playing & ~any_move
    blocks = (found + 63) >> 6
    for row in range(found, 64 * blocks):
        moves[row] = np.uint64(0)
    for block in range(blocks):
        transpose(moves, 64 * block)
    waiting = any_move
    while waiting:
        lane = lowest(waiting)
        waiting &= waiting - np.uint64(1)
        total = 0
        for block in range(blocks):
            total += count_bits(moves[64 * block + lane])
        rank = below(random, total)
        block = 0
        word = moves[lane]
        here = count_bits(word)
        while rank >= here:
            rank -= here
            block += 1
            word = moves[64 * block + lane]
            here = count_bits(word)
        for _ in range(rank):
            word &= word - np.uint64(1)
        chosen = lanes.inputs[64 * block + lowest(word)]
        values[rules.bases + chosen, k] |= np.uint64(1) << np.uint64(lane)
    return playing & ~any_move


@part
def take_next(rules, lanes, lane, states, job, results):
    """Give a lane the next position of the queue that is not over; returns the number of the one after it."""
    k, bit = lane >> 6, np.uint64(1) << np.uint64(lane & 63)
    lanes.active[k] &= ~bit
    lanes.job[lane] = NOBODY
    while job < states.shape[0]:
        state = states[job]
        if state[facts_bytes(rules)] != OVER:
            for base in range(rules.bases):
                if (state[base >> 3] >> np.uint8(base & 7)) & np.uint8(1):
                    lanes.values[base, k] |= bit
                else:
                    lanes.values[base, k] &= ~bit
            lanes.job[lane] = job
            lanes.left[lane] = rules.longest - plies(rules, state)
            lanes.active[k] |= bit
            return job + 1
        results[job, 0] = np.nan  # the caller knows the outcome of a position that is over
        job += 1
    return job


@part
def settle(rules, lanes, k, ended, results):
    """Write the goals of the games of word k that ended, 0 for those that were cut off; their gates are evaluated."""
    finished = literal_word(lanes.values, rules.terminal, k)
    for role in range(rules.goal_starts.size - 1):
        waiting = ended
        while waiting:
            lane = lowest(waiting)
            waiting &= waiting - np.uint64(1)
            results[lanes.job[64 * k + lane], role] = 0.0
        for i in range(rules.goal_starts[role], rules.goal_starts[role + 1]):
            waiting = literal_word(lanes.values, rules.goal_literals[i], k) & ended & finished
            while waiting:
                lane = lowest(waiting)
                waiting &= waiting - np.uint64(1)
                results[lanes.job[64 * k + lane], role] = rules.goal_values[i]


@intensive_kernel
def play_out_all(rules, states, random, lanes, results):
    """Play every position to its end by random moves: states uint8 [K, length], results float32 [K, P].

    The first result of a position that is over already is NaN. Returns the number of plies.
    """
    roles = rules.input_starts.size - 1
    values, active, over = lanes.values, lanes.active, lanes.over
    values[: rules.first_gate, :] = np.uint64(0)
    job = 0
    for lane in range(LANES):
        job = take_next(rules, lanes, lane, states, job, results)
    played = 0
    while True:
        busy = np.uint64(0)
        for k in range(WORDS):
            busy |= active[k]
        if not busy:
            return played
        sweep(rules, lanes, TERMINAL)
        sweep(rules, lanes, LEGAL)
        ended = np.uint64(0)
        for k in range(WORDS):
            over[k] = literal_word(values, rules.terminal, k) & active[k]
            playing = active[k] & ~over[k]
            waiting = playing
            while waiting:
                lane = lowest(waiting)
                waiting &= waiting - np.uint64(1)
                if lanes.left[64 * k + lane] <= 0:
                    over[k] |= np.uint64(1) << np.uint64(lane)
                lanes.left[64 * k + lane] -= 1
            playing = active[k] & ~over[k]
            for role in range(roles):
                over[k] |= choose_moves(rules, lanes, role, k, playing, random)
            played += count_bits(active[k] & ~over[k])
            ended |= over[k]
        sweep_next(rules, lanes)
        if ended:
            job = replace_ended(rules, lanes, states, job, results)


@part
def sweep_next(rules, lanes):
    """Put the facts of the next ply in the place of those of this one, and take the moves back.

    The facts of games that are over stay as they are, since their goals have not been looked at.
    """
    values, following, over = lanes.values, lanes.following, lanes.over
    sweep(rules, lanes, NEXT)
    for base in range(rules.bases):
        literal = rules.next[base]
        for k in range(WORDS):
            following[base, k] = literal_word(values, literal, k)
    for base in range(rules.bases):
        for k in range(WORDS):
            values[base, k] = (following[base, k] & ~over[k]) | (values[base, k] & over[k])
    for node in range(rules.bases, rules.first_gate):
        for k in range(WORDS):
            values[node, k] = np.uint64(0)


@part
def replace_ended(rules, lanes, states, job, results):
    """Write the results of the games that are over, whose facts are still in place, and begin others in their lanes."""
    sweep(rules, lanes, GOAL)
    for k in range(WORDS):
        ended = lanes.over[k]
        if ended:
            settle(rules, lanes, k, ended, results)
            while ended:
                lane = lowest(ended)
                ended &= ended - np.uint64(1)
                job = take_next(rules, lanes, 64 * k + lane, states, job, results)
    return job


__all__ = ["LANES", "Lanes", "make_lanes", "play_out_all"]
