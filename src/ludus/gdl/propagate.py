"""Differential evaluation of a circuit (see ludus.gdl.circuit): plain functions, compiled once for all descriptions.

`work` uint64 is the circuit in some position, at first a copy of `rules.work`, the initial one. To look at another
position, the facts that differ are flipped and the flips propagated, gates in topological order, so each gate flips at
most once.
"""

import numpy as np

from ludus.games._bits import count_bits, lowest
from ludus.gdl.evaluate import literal_value, sweep, unpack
from ludus.gdl.scratch import give_back, take_beside, take_copy, take_near
from ludus.rng import below

MOVES, FLIPS, GATES, OUTPUTS, COUNTERS, BLOCK = 0, 1, 2, 3, 4, 5
"""Indices of `rules.places`."""
ONE = np.uint64(1)
TERMINAL, GOAL = 0, 3
"""Stretches of the network."""
OVER, TOGETHER = 255, 254
"""Values of the status byte of a state (see ludus.gdl.rules)."""


def scratch_at(rules):
    """Where the scratch behind a state begins (see ludus.gdl.rules)."""
    return (((rules.bases + 7) >> 3) + 3 + 7) & ~7


def release_circuit(rules, state, work):
    """Give back a circuit of `take_near`; one in the scratch stays there for the next position."""
    if state.size <= scratch_at(rules):
        give_back(work)


def fact_word(rules, state, w):
    """64 facts of a state as a word."""
    if state.size > scratch_at(rules):  # the state begins at a multiple of eight bytes
        return state[8 * w : 8 * w + 8].view(np.uint64)[0] & fact_mask(rules, w)
    word = np.uint64(0)
    size = (rules.bases + 7) >> 3
    for byte in range(8 * w, min(8 * w + 8, size)):
        word |= np.uint64(state[byte]) << np.uint64(8 * (byte - 8 * w))
    return word


def fact_mask(rules, w):
    """Word number w of a state's facts: 1 for the bits that are facts."""
    return ~np.uint64(0) >> np.uint64(max(0, 64 * (w + 1) - rules.bases))


def find_mode(rules, state):
    """The mode of a state; -1 if its cyclic facts are those of no mode, or the rules have no circuit."""
    for mode in range(rules.mode_after.size):
        same = True
        for w in range(rules.mode_facts.shape[1]):
            cyclic = rules.mode_facts[0, w]
            if cyclic and fact_word(rules, state, w) & cyclic != rules.mode_facts[mode + 1, w]:
                same = False
        if same:
            return mode
    return -1


def set_facts(rules, state, work):
    """Put the facts of a state into the circuit, in which no move is made."""
    flips = rules.places[FLIPS]
    for w in range(rules.places[MOVES]):
        word = fact_word(rules, state, w)
        work[flips + w] = (word ^ work[w]) & ~rules.mode_facts[0, w]
        work[w] = word
    propagate(rules.consumers, rules.consumer_starts, rules.places, work)


def propagate(consumers, starts, places, work):
    """Let the flips of facts and moves flip the gates and outputs that depend on them."""
    counters = work[places[COUNTERS] :].view(np.int16)
    first_flip, first_gate, first_output = places[FLIPS], places[GATES], places[OUTPUTS]
    for w in range(first_gate - first_flip):
        word = work[first_flip + w]
        if word:
            work[first_flip + w] = np.uint64(0)
            now = work[w]
            while word:
                place = lowest(word)
                word &= word - ONE
                is_one = np.int64((now >> np.uint64(place)) & ONE)
                node = 64 * w + place
                for i in range(starts[node], starts[node + 1]):
                    tell(consumers[i], is_one, first_gate, work, counters)
    before = 64 * (first_gate - first_flip)
    for w in range(first_gate, first_output):
        while work[w]:
            place = lowest(work[w])
            work[w] &= work[w] - ONE
            gate = 64 * (w - first_gate) + place
            is_one = np.int64(counters[np.uint64(gate)] != 0)
            for i in range(starts[before + gate], starts[before + gate + 1]):
                tell(consumers[i], is_one, first_gate, work, counters)


def tell(consumer, is_one, first_gate, work, counters):
    """Change the counter of a consumer of a node whose bit is 0 or 1 now, and note whether that flips it."""
    target = np.uint64(consumer >> np.uint32(1))
    before = np.int64(counters[target])
    now = before + 2 * (is_one ^ np.int64(consumer & np.uint32(1))) - 1
    counters[target] = now
    flips = np.uint64((before == 0) | (now == 0))
    work[np.uint64(first_gate) + (target >> np.uint64(6))] ^= flips << (target & np.uint64(63))


def block_of(rules, mode):
    """The first word of a mode's outputs."""
    return rules.places[OUTPUTS] + mode * rules.places[BLOCK]


def is_terminal(rules, work, mode):
    return work[block_of(rules, mode) + rules.block[rules.block.size - 1]] & ONE != 0


def count_moves(rules, work, mode, role):
    """The number of legal moves of a role."""
    count = 0
    first = block_of(rules, mode)
    for w in range(first + rules.block[role], first + rules.block[role + 1]):
        count += count_bits(work[w])
    return count


def ranked_move(rules, work, mode, role, rank):
    """The input of the legal move number `rank` of a role, which has more."""
    first = block_of(rules, mode) + rules.block[role]
    w = first
    here = count_bits(work[w])
    while rank >= here:
        rank -= here
        w += 1
        here = count_bits(work[w])
    word = work[w]
    for _ in range(rank):
        word &= word - ONE
    return rules.input_starts[role] + 64 * (w - first) + lowest(word)


def make_move(rules, work, mode, role, number):
    """Make a move (an input) of a role; it takes effect in `advance`."""
    if rules.effect_roles[mode] == role:
        flips = rules.places[FLIPS]
        for i in range(rules.effect_starts[mode, number], rules.effect_starts[mode, number + 1]):
            fact, source = rules.effects[i, 0], rules.effects[i, 1]
            after = (work[source >> 7] >> np.uint64((source >> 1) & 63)) ^ np.uint64(source & 1)
            changes = ((work[fact >> 6] >> np.uint64(fact & 63)) ^ after) & ONE
            work[flips + (fact >> 6)] |= changes << np.uint64(fact & 63)
    elif rules.forced[mode, role] < 0:
        bit = ONE << np.uint64(number & 63)
        work[rules.places[MOVES] + (number >> 6)] ^= bit
        work[rules.places[FLIPS] + rules.places[MOVES] + (number >> 6)] ^= bit


def advance(rules, work, mode):
    """Go to the position after the moves that were made; returns its mode."""
    moves, flips = rules.places[MOVES], rules.places[FLIPS]
    after = rules.mode_after[mode]
    if rules.effect_roles[mode] < 0:
        propagate(rules.consumers, rules.consumer_starts, rules.places, work)
        following = block_of(rules, mode) + rules.block[rules.block.size - 2]
        for w in range(moves):
            work[flips + w] = (work[following + w] ^ work[w]) & rules.changing[mode, w]
        for w in range(moves, flips):  # the moves are taken back together with the change of facts
            work[flips + w] = work[w]
            work[w] = np.uint64(0)
    for w in range(moves):
        work[w] ^= work[flips + w] | (rules.mode_facts[mode + 1, w] ^ rules.mode_facts[after + 1, w])
    propagate(rules.consumers, rules.consumer_starts, rules.places, work)
    return after


def write_facts(rules, work, state):
    """The current facts into a state."""
    if state.size > scratch_at(rules):
        words = state.view(np.uint64)
        for w in range(rules.places[MOVES]):
            words[w] = (words[w] & ~fact_mask(rules, w)) | work[w]
        return
    for byte in range((rules.bases + 7) >> 3):
        state[byte] = np.uint8((work[byte >> 3] >> np.uint64(8 * (byte & 7))) & np.uint64(255))


def read_goals(rules, work, mode, values):
    """The value of every role in a position that is terminal; the highest goal that is reached counts."""
    first = block_of(rules, mode) + rules.block[rules.block.size - 1]
    for role in range(rules.goal_starts.size - 1):
        values[role] = 0.0
        for i in range(rules.goal_starts[role], rules.goal_starts[role + 1]):
            if work[first + ((i + 1) >> 6)] >> np.uint64((i + 1) & 63) & ONE:
                values[role] = rules.goal_values[i]


def find_chooser(rules, work, mode):
    """(status, count): the role that chooses and its number of moves; TOGETHER for several, OVER where one has none.

    Where nobody has a choice it is role 0.
    """
    status, moves, choosers = 0, 1, 0
    for role in range(rules.input_starts.size - 1):
        if rules.forced[mode, role] >= 0:
            continue
        count = count_moves(rules, work, mode, role)
        if count == 0:
            return OVER, 0
        if count > 1:
            choosers += 1
            status, moves = role, count
    return (TOGETHER, 0) if choosers > 1 else (status, moves)


def finish_randomly(rules, state, mode, random, values):
    """Play random moves from a state to the end of the game, and write the result; the state is scratch.

    The random numbers are drawn as in ludus.search.random_play, so that the same moves are made.
    """
    work = take_near(rules.work, state, scratch_at(rules))
    set_facts(rules, state, work)
    if state.size > scratch_at(rules):  # the circuit in the scratch stays near the tree
        work = take_beside(work, state, scratch_at(rules))
    roles = rules.input_starts.size - 1
    at = (rules.bases + 7) >> 3
    left = rules.longest - np.int64(state[at + 1]) - 256 * np.int64(state[at + 2])
    while not is_terminal(rules, work, mode):
        status, count = find_chooser(rules, work, mode)
        if status == OVER or left <= 0:
            for role in range(roles):
                values[role] = 0.0
            release_circuit(rules, state, work)
            return
        left -= 1
        for role in range(roles):
            rank = np.int64(0)
            if status == TOGETHER:
                rank = below(random, count_moves(rules, work, mode, role))
            elif role == status:
                rank = below(random, count)
            if rules.forced[mode, role] < 0:
                make_move(rules, work, mode, role, ranked_move(rules, work, mode, role, rank))
        mode = advance(rules, work, mode)
    if rules.has_goals:
        read_goals(rules, work, mode, values)
    else:
        write_facts(rules, work, state)
        sweep_goals(rules, state, values)
    release_circuit(rules, state, work)


def sweep_goals(rules, state, values):
    """The value of every role, by a sweep of the network; all 0 if the position is not terminal."""
    nodes = take_copy(rules.blank)
    unpack(rules, state, nodes)
    sweep(rules, nodes, TERMINAL)
    sweep(rules, nodes, GOAL)
    for role in range(rules.input_starts.size - 1):
        values[role] = 0.0
        if not literal_value(nodes, rules.terminal):  # cut off, or a role without a move: nobody has reached a goal
            continue
        for i in range(rules.goal_starts[role], rules.goal_starts[role + 1]):  # in rising order: the highest counts
            if literal_value(nodes, rules.goal_literals[i]):
                values[role] = rules.goal_values[i]
    give_back(nodes)
