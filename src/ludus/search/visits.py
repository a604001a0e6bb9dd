"""Functions that selection rules share. They are plain functions, compiled with the file of each rule."""

import math

from ludus.rules import EVERYONE
from ludus.search.arithmetic import gumbel_noise

LOST = -math.inf


def jitter(trees, tree, node):
    """Noise to add to the score of each move where everyone moves at once; 0 where one player moves.

    Players who move at once must mix their moves, but a rule that takes the highest score always picks the same. With
    Gumbel noise, the highest score is a sample from the softmax of the scores, here with temperature 1 / sqrt(visits).
    In two-player zero-sum games the visits of both players converge to an equilibrium.
    """
    if trees.nodes[node].mover != EVERYONE:
        return 0.0
    return gumbel_noise(trees.random[tree]) / math.sqrt(1 + trees.nodes[node].visits)


def edge_value(edge, unseen):
    """The mean value of an edge for its player, exact if it is proven; `unseen` if it has not been visited."""
    if edge.total == LOST:
        return -1.0
    if edge.visits == 0:
        return unseen
    return edge.total / edge.visits


def settles(trees, node, edge, player):
    """True if this edge leads to the exact value of a solved node."""
    child = edge.child
    return (
        child >= 0 and trees.nodes[child].solved and trees.nodes[child].value[player] == trees.nodes[node].value[player]
    )


def most_visited(trees, node, first, count, player):
    """The edge to play: a proven best one; else the most visited one, or a solved one of the same value or more."""
    best = first
    visits = -1
    sure = -1
    for index in range(first, first + count):
        edge = trees.edges[index]
        if trees.nodes[node].solved and settles(trees, node, edge, player):
            return index
        if edge.total == LOST:
            continue
        if edge.prior < 0.0:
            if sure < 0 or edge_value(edge, 0.0) > edge_value(trees.edges[sure], 0.0):
                sure = index
        elif edge.visits > visits:
            best = index
            visits = edge.visits
    if sure >= 0 and (visits <= 0 or edge_value(trees.edges[sure], 0.0) >= edge_value(trees.edges[best], 0.0)):
        return sure
    return best


def share_of_visits(trees, node, first, count, player, policy):
    """Write the policy in proportion to visits, without lost moves; on the proven best moves if the node is solved."""
    total = 0.0
    for i in range(count):
        edge = trees.edges[first + i]
        if trees.nodes[node].solved:
            policy[i] = 1.0 if settles(trees, node, edge, player) else 0.0
        else:
            policy[i] = 0.0 if edge.total == LOST else edge.visits
        total += policy[i]
    for i in range(count):
        policy[i] = policy[i] / total if total > 0.0 else 1.0 / count
