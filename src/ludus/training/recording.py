"""Compiled parts of self-play: the noise of the root, the rows of a move, the move itself, the results of rows."""

import math

import numpy as np

from ludus.native import kernel, uniform
from ludus.rules import EVERYONE, legal, outcome, to_move
from ludus.search.random_play import play_joint
from ludus.search.tree import LOST, NOTHING


@kernel
def concentrate(rules, states, alpha, actions, shapes):
    """Write the parameters of Dirichlet noise into shapes float32 [B, R]: alpha / (number of legal moves) each.

    The moves are in the order of a root's edges, block after block; the rest is 0. Scratch: actions [most_legal].
    """
    blocks = shapes.shape[1] // actions.size
    for tree in range(shapes.shape[0]):
        shapes[tree, :] = 0.0
        mover = to_move(rules, states[tree])
        begin = 0
        for block in range(blocks):
            if mover != EVERYONE and block > 0:
                break
            count = legal(rules, states[tree], block if mover == EVERYONE else mover, actions)
            shapes[tree, begin : begin + count] = alpha / max(1, count)
            begin += count


@kernel
def record(trees, edges, policy, players, starts, actions, probabilities, expected, surprise):
    """Record the result of a search at every root: a row for each player who decides there, tree after tree.

    edges int32 [B, D] and policy float32 [B, R] are those of Forest.conclude. Fills players int8 [B * D] (-1 where
    nobody decides), starts int64 [B * D + 1], actions and probabilities [B * R], expected float32 [B * D], the value of
    the position, and surprise float32 [B * D], the Kullback-Leibler divergence of the network's from the search's
    policy.
    """
    blocks = edges.shape[1]
    starts[0] = 0
    for tree in range(edges.shape[0]):
        root = trees.nodes[trees.root[tree]]
        first = np.int64(root.first)
        for block in range(blocks):
            row = tree * blocks + block
            at = starts[row]
            players[row] = -1
            surprise[row] = 0.0
            if edges[tree, block] != NOTHING:
                player = block if root.mover == EVERYONE else root.mover
                players[row] = player
                total = np.float64(root.value[player])
                visits = 1
                begin = first - root.first
                for i in range(root.counts[block]):
                    edge = trees.edges[first + i]
                    actions[at] = edge.action
                    chance = policy[tree, begin + i]
                    probabilities[at] = chance
                    at += 1
                    if chance > 0.0:
                        surprise[row] += chance * math.log(chance / max(abs(edge.prior), 1e-6))
                    if edge.visits > 0:
                        total += -np.float64(edge.visits) if edge.total == LOST else edge.total
                        visits += edge.visits
                expected[row] = root.value[player] if root.solved else total / visits
                first += root.counts[block]
            starts[row + 1] = at


@kernel
def play_moves(
    rules, states, random, edges, trees, players, starts, actions, probabilities, sampled, joint, played, results, over
):
    """Play a move in every game: a draw from the policy where sampled bool [B] is True, else the search's decision.

    Fills played int32 [B] (valid where one player moves), over bool [B], and results float32 [B, P] where a game is
    over. Scratch: joint [P].
    """
    blocks = edges.shape[1]
    for tree in range(edges.shape[0]):
        joint[:] = -1
        for block in range(blocks):
            row = tree * blocks + block
            if players[row] < 0:
                continue
            chosen = trees.edges[edges[tree, block]].action
            if sampled[tree]:
                left = uniform(random[tree])
                for i in range(starts[row], starts[row + 1]):
                    if probabilities[i] > 0.0:
                        chosen = actions[i]
                        left -= probabilities[i]
                        if left < 0.0:
                            break
            joint[block] = chosen
        played[tree] = joint[0]
        play_joint(rules, states[tree], joint)
        over[tree] = outcome(rules, states[tree], results[tree])


@kernel
def settle(over, results, trees, known, kept):
    """Write the results float32 [B, P] of games that are over, bool [B], into their rows; returns the number of rows.

    trees int64 [n] is the game of each row; known bool [n] and kept float32 [n, P] are filled.
    """
    count = 0
    for row in range(trees.size):
        if over[trees[row]] and not known[row]:
            known[row] = True
            count += 1
            for player in range(results.shape[1]):
                kept[row, player] = results[trees[row], player]
    return count
