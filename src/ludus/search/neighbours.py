"""Positions as graphs for a network: the features of all nodes, and the neighbours of each node in each relation.

A game lists the edges of a graph in any order (see `graph` in ludus.rules). Sorted by relation, and by the node that
they lead to, the neighbours of a node in a relation are one run of `sources`. Nothing is padded, and nothing is cut.
"""

from ludus.native import kernel, part
from ludus.rules import graph
from ludus.search.batch import spread_values


@part
def sort_edges(edges, count, nodes, starts, sources):
    """Sort `count` edges int32 [M, 3] (relation, from, to) between `nodes` nodes.

    The neighbours of node i in relation r become sources[starts[r, i] : starts[r, i + 1]]; starts int32 [R, nodes + 1]
    and sources int32 [M] may be larger.
    """
    for relation in range(starts.shape[0]):
        for node in range(nodes + 1):
            starts[relation, node] = 0
    for edge in range(count):
        starts[edges[edge, 0], edges[edge, 2] + 1] += 1
    total = 0
    for relation in range(starts.shape[0]):
        starts[relation, 0] = total
        for node in range(nodes):  # the run of a node begins where this says; it is moved to its end while it is filled
            number = starts[relation, node + 1]
            starts[relation, node + 1] = total
            total += number
    for edge in range(count):
        relation, node = edges[edge, 0], edges[edge, 2]
        sources[starts[relation, node + 1]] = edges[edge, 1]
        starts[relation, node + 1] += 1


@part
def view_graph(rules, state, player, actions, count, features, edges, sizes, starts, sources):
    """Write one position as a graph: features float32 [N, F], sizes int32 [2] (nodes, edges), starts and sources.

    actions int32 [R] and count are the legal moves; edges int32 [M, 3] is scratch.
    """
    graph(rules, state, player, actions, count, features, edges, sizes)
    sort_edges(edges, sizes[1], sizes[0], starts, sources)


@part
def spread_nodes(first, mover, count, policy, outputs, logits, values, k):
    """Write a network's answer for position k of a batch into its logits and values.

    policy float32 has a number for each node; `first` is the node of the first of `count` moves. outputs float32
    [K, outputs] as for `spread_values`.
    """
    for i in range(count):
        logits[k, i] = policy[first + i]
    spread_values(mover, outputs, values, k)


# --- batches on the CPU -----------------------------------------------------------------------------------------------


@kernel
def build_graphs(rules, states, players, actions, counts, most, features, edges, ends):
    """Write the graphs of up to K positions, while the largest possible graph still fits; returns the number written.

    players int8 [K], actions int32 [K, R] and counts int32 [K] are as in a Batch; `most` is the upper limit of one
    graph, (nodes, edges). Fills features float32 [N, F]; edges int32 [M, 3], with nodes numbered through all graphs;
    and ends int32 [K, 2], the numbers of nodes and edges up to the end of each graph.
    """
    node, edge = 0, 0
    for k in range(counts.size):
        if node + most[0] > features.shape[0] or edge + most[1] > edges.shape[0]:
            return k
        graph(rules, states[k], players[k], actions[k], counts[k], features[node:], edges[edge:], ends[k])
        last = edge + ends[k, 1]
        for i in range(edge, last):
            edges[i, 1] += node
            edges[i, 2] += node
        node += ends[k, 0]
        edge = last
        ends[k, 0] = node
        ends[k, 1] = edge
    return counts.size


@kernel
def sort_all_edges(edges, count, starts, sources):
    """Sort the edges of a batch (see sort_edges), with starts int32 [R, N + 1] for exactly N nodes."""
    sort_edges(edges, count, starts.shape[1] - 1, starts, sources)


@kernel
def spread_all_nodes(ends, moves, movers, policy, outputs, logits, values):
    """Write a network's answer into the logits and values of a batch.

    ends int32 [K] are the ends of the graphs in policy float32 [N], moves int32 [K] their numbers of moves.
    """
    for k in range(ends.size):
        spread_nodes(ends[k] - moves[k], movers[k], moves[k], policy, outputs, logits, values, k)
