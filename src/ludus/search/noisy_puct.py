"""PUCT for self-play: noise on the root's priors, forced playouts, and a target policy without the forced playouts.

Below the root it is PUCT. Forced playouts and policy target pruning follow KataGo (Wu, 2019).
"""

import math
from typing import NamedTuple

from ludus.rules import register
from ludus.search.puct import explain as explain_below
from ludus.search.puct import select as select_below
from ludus.search.visits import LOST, edge_value, most_visited, settles

HAS_SPECIAL_ROOT = True


class NoisyPuct(NamedTuple):
    c: float = 1.5
    fpu_reduction: float = 0.2
    noise: float = 0.25
    """The weight of the noise in a root move's prior. The noise is trees.bonus, scaled to a sum of 1."""
    forced: float = 2.0
    """A root move with at least one visit gets at least sqrt(forced * prior * simulations) visits."""


def total_noise(trees, tree, offset, count):
    total = 1e-30
    for i in range(offset, offset + count):
        total += trees.bonus[tree, i]
    return total


def noisy_prior(rule, trees, tree, index, place, total):
    return (1.0 - rule.noise) * abs(trees.edges[index].prior) + rule.noise * trees.bonus[tree, place] / total


def select(rule, trees, tree, node, first, count, player):
    if node != trees.root[tree] or rule.noise == 0.0:
        return select_below(rule, trees, tree, node, first, count, player)
    offset = first - trees.nodes[node].first
    noise = total_noise(trees, tree, offset, count)
    simulations = trees.nodes[node].visits
    weight = rule.c * math.sqrt(max(1, simulations))
    total = 0.0
    visits = 0
    for index in range(first, first + count):
        if trees.edges[index].visits > 0 and trees.edges[index].total != LOST:
            total += trees.edges[index].total
            visits += trees.edges[index].visits
    unseen = (trees.nodes[node].value[player] + total) / (1 + visits)
    best = first
    highest = -math.inf
    for index in range(first, first + count):
        edge = trees.edges[index]
        if edge.total == LOST:
            continue
        prior = noisy_prior(rule, trees, tree, index, offset + index - first, noise)
        if 0 < edge.visits < math.sqrt(rule.forced * prior * simulations) and edge.prior > 0.0:
            return index
        score = edge_value(edge, unseen) + weight * prior / (1 + edge.visits)
        if score > highest:
            highest = score
            best = index
    return best


def explain(rule, trees, tree, node, first, count, player, q, u):
    if node != trees.root[tree] or rule.noise == 0.0:
        explain_below(rule, trees, tree, node, first, count, player, q, u)
        return
    offset = first - trees.nodes[node].first
    noise = total_noise(trees, tree, offset, count)
    simulations = trees.nodes[node].visits
    weight = rule.c * math.sqrt(max(1, simulations))
    block = [trees.edges[index] for index in range(first, first + count)]
    tried = [edge for edge in block if edge.visits > 0 and edge.total != LOST]
    unseen = (trees.nodes[node].value[player] + sum(edge.total for edge in tried)) / (1 + sum(e.visits for e in tried))
    for i, edge in enumerate(block):
        prior = float(noisy_prior(rule, trees, tree, first + i, offset + i, noise))
        q[i] = edge_value(edge, unseen)
        if edge.total == LOST:
            u[i] = -math.inf
        elif 0 < edge.visits < math.sqrt(rule.forced * prior * simulations) and edge.prior > 0.0:
            u[i] = math.inf
        else:
            u[i] = weight * prior / (1 + edge.visits)


def decide(rule, trees, tree, node, first, count, player):
    return most_visited(trees, node, first, count, player)


def target_policy(rule, trees, tree, node, first, count, player, policy):
    """Write the policy in proportion to visits, without forced visits that PUCT would not have made. A move that keeps
    a single visit gets 0."""
    offset = first - trees.nodes[node].first
    noise = total_noise(trees, tree, offset, count)
    simulations = trees.nodes[node].visits
    weight = rule.c * math.sqrt(max(1, simulations))
    best = most_visited(trees, node, first, count, player)
    edge = trees.edges[best]
    goal = edge_value(edge, 0.0) + weight * abs(edge.prior) / (1 + edge.visits)
    total = 0.0
    for i in range(count):
        edge = trees.edges[first + i]
        if trees.nodes[node].solved:
            policy[i] = 1.0 if settles(trees, node, edge, player) else 0.0
        elif edge.total == LOST:
            policy[i] = 0.0
        else:
            kept = float(edge.visits)
            if first + i != best and edge.visits > 0:
                prior = noisy_prior(rule, trees, tree, first + i, offset + i, noise)
                needed = kept
                if goal > edge_value(edge, 0.0):  # visits that keep the PUCT score at the best move's or below
                    needed = weight * abs(edge.prior) / (goal - edge_value(edge, 0.0)) - 1.0
                kept = max(kept - math.sqrt(rule.forced * prior * simulations), min(kept, needed))
                kept = kept if kept > 1.0 else 0.0
            policy[i] = kept
        total += policy[i]
    for i in range(count):
        policy[i] = policy[i] / total if total > 0.0 else 1.0 / count


register(NoisyPuct, globals())
