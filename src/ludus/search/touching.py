"""Positions and moves for networks that see groups of cells, and moves by the cells that they touch.

Such a network answers with hidden numbers instead of logits: `parts` float32 [K, cells * roles + kinds, H], a row for
each cell in each role, and one for each kind of move. A move's row is the sum of the rows that it touches. Its logit is
the sum of the positive numbers in the first half of that row, minus the sum of those in the second half. (Any layer
of rectified units and a linear unit after it can be written like this: the size of a weight moves before the
rectifier.) So a network needs no output for each action id, and the same weights fit boards of all sizes.
"""

import numpy as np

from ludus.native import kernel, part
from ludus.rules import groups, touches
from ludus.search.batch import spread_values


@part
def view_position(rules, state, player, planes, groupings):
    """Fill planes float32 [planes + groupings, rows, columns] with a position in a player's view (see GroupShape)."""
    first = planes.shape[0] - groupings
    planes[:first] = 0.0
    planes[first:] = -1.0
    groups(rules, state, player, planes[:first], planes[first:])


@part
def score_move(rules, state, player, action, roles, cells, role_count, kinds, parts):
    """The logit of a move from parts float32 [cells * roles + kinds, H]; roles and cells int32 [most] are scratch."""
    kind, count = touches(rules, state, player, action, roles, cells)
    first = parts.shape[0] - kinds
    half = parts.shape[1] // 2
    logit = np.float32(0.0)
    for unit in range(parts.shape[1]):
        total = parts[first + kind, unit]
        for i in range(count):
            total += parts[cells[i] * role_count + roles[i], unit]
        if total > 0:
            logit += total if unit < half else -total
    return logit


@part
def spread_parts(
    rules, states, movers, actions, counts, roles, cells, role_count, kinds, parts, outputs, logits, values, k
):
    """Write a network's answer for position k of a batch into its logits and values.

    parts float32 [K, cells * roles + kinds, H] and outputs float32 [K, outputs] are the answer. A single output is the
    mover's value, and its negative is the other player's. Several are the values of all players, from the mover on.
    Scratch: roles and cells int32 [K, most].
    """
    mover = movers[k]
    for i in range(counts[k, 0]):
        logits[k, i] = score_move(
            rules, states[k], mover, actions[k, i], roles[k], cells[k], role_count, kinds, parts[k]
        )
    spread_values(mover, outputs, values, k)


@kernel
def view_batch(rules, states, movers, planes, groupings):
    """Fill planes float32 [K, planes + groupings, rows, columns] with positions in the view of their movers."""
    for k in range(planes.shape[0]):
        view_position(rules, states[k], movers[k], planes[k], groupings)


@kernel
def spread_all_parts(
    rules, states, movers, actions, counts, roles, cells, role_count, kinds, parts, outputs, logits, values
):
    """Write a network's answer into the logits and values of a batch, for all positions (see spread_parts)."""
    for k in range(values.shape[0]):
        spread_parts(
            *(rules, states, movers, actions, counts, roles, cells, role_count, kinds),
            *(parts, outputs, logits, values, k),
        )
