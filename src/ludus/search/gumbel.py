"""Gumbel search: sequential halving at the root, an improved policy below (Danihelka et al., 2022).

It improves the policy even with a handful of simulations, and plays without Dirichlet noise or temperature.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ludus.rules import register
from ludus.search.arithmetic import exponential, logarithm
from ludus.search.visits import LOST, edge_value, settles

DRAWS_GUMBEL_NOISE = True
IN_TURN_ONLY = True
HAS_SPECIAL_ROOT = True


class Gumbel(NamedTuple):
    schedule: Any
    """int32 [considered + 1, simulations]: the visits that the next root move must have, see `gumbel`."""
    visit_weight: float = 50.0
    value_weight: float = 0.1
    """How far a value, mapped to [0, 1], shifts the logits: (visit_weight + most visits) * value_weight * value."""


def gumbel(
    simulations: int,
    considered: int = 16,
    visit_weight: float = 50.0,
    value_weight: float = 0.1,
    schedule_length: int = 0,
) -> Gumbel:
    """The rule for a search of `simulations` that considers `considered` moves at the root.

    Its schedule is at least `schedule_length` long: for a GPU, rules of one size are compiled once.
    """
    rows = [halving(count, simulations) for count in range(considered + 1)]
    longer = [(0, 0), (0, max(0, schedule_length - simulations))]
    return Gumbel(np.pad(np.array(rows, np.int32), longer, mode="edge"), visit_weight, value_weight)


def halving(considered: int, simulations: int) -> list[int]:
    """For each simulation, the number of visits that the move to try must have: each round tries half as many moves."""
    if considered <= 1:
        return list(range(simulations))
    rounds = math.ceil(math.log2(considered))
    visits = [0] * considered
    sequence: list[int] = []
    while len(sequence) < simulations:
        for _ in range(max(1, simulations // (rounds * considered))):
            sequence += visits[:considered]
            visits[:considered] = [count + 1 for count in visits[:considered]]
        considered = max(2, considered // 2)
    return sequence[:simulations]


def improve(rule, trees, tree, node, first, count, player):
    """Write log prior + weighted value of each edge into trees.scratch. Returns the value assumed for unvisited edges,
    and the weight."""
    total = 0
    most = 0
    mass = 0.0
    mean = 0.0
    for index in range(first, first + count):
        edge = trees.edges[index]
        if edge.visits > 0:
            total += edge.visits
            most = max(most, edge.visits)
            mass += abs(edge.prior)
            mean += abs(edge.prior) * edge_value(edge, 0.0)
    unseen = np.float64(trees.nodes[node].value[player])
    if mass > 0.0:
        unseen = (unseen + total * mean / mass) / (1 + total)
    scale = (rule.visit_weight + most) * rule.value_weight
    scratch = trees.scratch[tree]
    for i in range(count):
        scratch[i] = abs(trees.edges[first + i].prior) + np.float32(1e-12)
    for i in range(count):
        scratch[i] = logarithm(scratch[i])
    for i in range(count):
        scratch[i] += np.float32(scale * (0.5 + 0.5 * edge_value(trees.edges[first + i], unseen)))
    return unseen, scale


def softmax(trees, tree, count):
    """Turn trees.scratch into probabilities."""
    scratch = trees.scratch[tree]
    highest = np.float32(-np.inf)
    for i in range(count):
        highest = max(highest, scratch[i])
    for i in range(count):
        scratch[i] = exponential(scratch[i] - highest)
    total = np.float32(0.0)
    for i in range(count):
        total += scratch[i]
    share = np.float32(1.0) / total
    for i in range(count):
        scratch[i] *= share


def select(rule, trees, tree, node, first, count, player):
    improve(rule, trees, tree, node, first, count, player)
    best = first
    highest = -math.inf
    if node == trees.root[tree]:
        offset = first - trees.nodes[node].first
        row = min(count, rule.schedule.shape[0] - 1)
        wanted = rule.schedule[row, min(trees.done[tree], rule.schedule.shape[1] - 1)]
        for i in range(count):
            edge = trees.edges[first + i]
            score = trees.scratch[tree, i] + trees.bonus[tree, offset + i]
            if edge.visits - trees.before[tree, offset + i] != wanted:
                score -= 1e9  # not considered in this round; if no move is, the best of all is chosen
            if edge.total == LOST:
                score -= 1e12
            if score > highest:
                highest = score
                best = first + i
        return best
    softmax(trees, tree, count)
    visits = 0
    for index in range(first, first + count):
        visits += trees.edges[index].visits
    for i in range(count):
        edge = trees.edges[first + i]
        score = trees.scratch[tree, i] - edge.visits / (1.0 + visits)
        if edge.total == LOST:
            score -= 1e9
        if score > highest:
            highest = score
            best = first + i
    return best


def explain(rule, trees, tree, node, first, count, player, q, u):
    """Split the score of `select` into q and u. At the root, q + u is the score divided by the weight of a value: u is
    made of log prior and noise, and is -inf for moves that halving leaves out. Below the root, the score is the
    improved policy minus the edge's share of the visits, and u is the score minus q."""
    unseen, scale = improve(rule, trees, tree, node, first, count, player)
    block = [trees.edges[index] for index in range(first, first + count)]
    q[:] = [edge_value(edge, unseen) for edge in block]
    lost = np.array([edge.total == LOST for edge in block])
    if node == trees.root[tree]:
        offset = first - trees.nodes[node].first
        row = min(count, rule.schedule.shape[0] - 1)
        wanted = rule.schedule[row, min(trees.done[tree], rule.schedule.shape[1] - 1)]
        visits = np.array([edge.visits for edge in block]) - trees.before[tree, offset : offset + count]
        scores = trees.scratch[tree, :count] + trees.bonus[tree, offset : offset + count]
        u[:] = (scores - 0.5 * scale) / (0.5 * scale) - q
        considered = ~lost & (visits == wanted)
        if considered.any():  # if no move is, the best of all is chosen
            u[~considered] = -np.inf
    else:
        softmax(trees, tree, count)
        visits = np.array([edge.visits for edge in block])
        u[:] = trees.scratch[tree, :count] - visits / (1.0 + visits.sum()) - q
    if not lost.all():
        u[lost] = -np.inf


def decide(rule, trees, tree, node, first, count, player):
    """Among the moves that halving kept, the one with the highest sum of noise, log prior and weighted value."""
    improve(rule, trees, tree, node, first, count, player)
    offset = first - trees.nodes[node].first
    best = first
    highest = -math.inf
    most = 0
    for i in range(count):
        if trees.edges[first + i].total != LOST:
            most = max(most, trees.edges[first + i].visits - trees.before[tree, offset + i])
    for i in range(count):
        edge = trees.edges[first + i]
        if trees.nodes[node].solved and settles(trees, node, edge, player):
            return first + i
        score = trees.scratch[tree, i] + trees.bonus[tree, offset + i]
        if edge.visits - trees.before[tree, offset + i] != most:
            score -= 1e9
        if edge.total == LOST:
            score -= 1e12
        if score > highest:
            highest = score
            best = first + i
    return best


def target_policy(rule, trees, tree, node, first, count, player, policy):
    """Write the improved policy, with 0 for lost moves; at a solved node, only its best moves get a probability."""
    improve(rule, trees, tree, node, first, count, player)
    softmax(trees, tree, count)
    total = 0.0
    for i in range(count):
        edge = trees.edges[first + i]
        if trees.nodes[node].solved:
            policy[i] = 1.0 if settles(trees, node, edge, player) else 0.0
        else:
            policy[i] = 0.0 if edge.total == LOST else trees.scratch[tree, i]
        total += policy[i]
    for i in range(count):
        policy[i] = policy[i] / total if total > 0.0 else 1.0 / count


register(Gumbel, globals())
