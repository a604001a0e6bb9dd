"""PUCT: the mean value plus an exploration term, prior * sqrt(visits of the node) / (1 + visits) (AlphaZero, 2017)."""

import math
from typing import NamedTuple

from ludus.rules import register
from ludus.search.visits import LOST, edge_value, jitter, most_visited, share_of_visits


class Puct(NamedTuple):
    c: float = 1.5
    """Weight of the prior."""
    fpu_reduction: float = 0.2
    """FPU reduction: an unvisited move's value is the node's mean minus this, times sqrt(sum of visited priors)."""


def select(rule, trees, tree, node, first, count, player):
    weight = rule.c * math.sqrt(max(1, trees.nodes[node].visits))
    total = 0.0
    visits = 0
    explored = 0.0
    best = first
    highest = -math.inf
    untried = first
    eagerness = -math.inf  # exploration term of the best unvisited move; all unvisited moves have the same value
    for index in range(first, first + count):
        edge = trees.edges[index]
        if edge.visits == 0:
            wish = weight * edge.prior + jitter(trees, tree, node)
            if wish > eagerness:
                eagerness = wish
                untried = index
        elif edge.total != LOST:
            total += edge.total
            visits += edge.visits
            explored += abs(edge.prior)
            score = edge.total / edge.visits + weight * abs(edge.prior) / (1 + edge.visits) + jitter(trees, tree, node)
            if score > highest:
                highest = score
                best = index
    unseen = (trees.nodes[node].value[player] + total) / (1 + visits) - rule.fpu_reduction * math.sqrt(explored)
    return untried if unseen + eagerness > highest else best


def explain(rule, trees, tree, node, first, count, player, q, u):
    weight = rule.c * math.sqrt(max(1, trees.nodes[node].visits))
    block = [trees.edges[index] for index in range(first, first + count)]
    tried = [edge for edge in block if edge.visits > 0 and edge.total != LOST]
    mean = (trees.nodes[node].value[player] + sum(edge.total for edge in tried)) / (1 + sum(e.visits for e in tried))
    unseen = mean - rule.fpu_reduction * math.sqrt(sum(abs(float(edge.prior)) for edge in tried))
    for i, edge in enumerate(block):
        q[i] = edge_value(edge, unseen)
        u[i] = -math.inf if edge.total == LOST else weight * abs(float(edge.prior)) / (1 + edge.visits)


def decide(rule, trees, tree, node, first, count, player):
    return most_visited(trees, node, first, count, player)


def target_policy(rule, trees, tree, node, first, count, player, policy):
    share_of_visits(trees, node, first, count, player, policy)


register(Puct, globals())
