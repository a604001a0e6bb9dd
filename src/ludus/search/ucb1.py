"""UCB1: every move once, then the highest mean plus uncertainty (Auer et al., 2002).

A solved move has no uncertainty: it is followed only while its value exceeds the upper bounds of all other moves.
"""

import math
from typing import NamedTuple

from ludus.rules import register
from ludus.search.visits import LOST, edge_value, jitter, most_visited, share_of_visits


class Ucb1(NamedTuple):
    c: float = 1.0
    """Weight of the uncertainty, for values from -1 to 1."""


def select(rule, trees, tree, node, first, count, player):
    spread = rule.c * rule.c * math.log(max(1, trees.nodes[node].visits))
    best = first
    highest = -math.inf
    for index in range(first, first + count):
        edge = trees.edges[index]
        if edge.visits == 0:  # edges are in random order, and tried from the first on
            return index
        share = 1.0 / edge.visits
        score = edge.total * share + jitter(trees, tree, node)
        if not edge.prior < 0.0:
            score += math.sqrt(spread * share)
        if score > highest:
            highest = score
            best = index
    return best


def explain(rule, trees, tree, node, first, count, player, q, u):
    spread = rule.c * rule.c * math.log(max(1, trees.nodes[node].visits))
    for i in range(count):
        edge = trees.edges[first + i]
        q[i] = edge_value(edge, 0.0)
        if edge.visits == 0:
            u[i] = math.inf
        elif edge.total == LOST:
            u[i] = -math.inf
        else:
            u[i] = 0.0 if edge.prior < 0.0 else math.sqrt(spread / edge.visits)


def decide(rule, trees, tree, node, first, count, player):
    return most_visited(trees, node, first, count, player)


def target_policy(rule, trees, tree, node, first, count, player, policy):
    share_of_visits(trees, node, first, count, player, policy)


register(Ucb1, globals())
