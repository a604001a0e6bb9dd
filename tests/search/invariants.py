"""What must hold of every tree after every search, whatever the game and the rule."""

import numpy as np

from ludus.search.forest import Forest
from ludus.search.tree import LOST, NOTHING, Trees


def check_trees(forest: Forest, transpositions: bool = False) -> None:
    trees = forest.trees
    count = len(trees.root)
    nodes_each, edges_each = len(trees.nodes) // count, len(trees.edges) // count
    for index in range(count):
        first_node, first_edge = index * nodes_each, index * edges_each
        end_node, end_edge = trees.used[index, :2]
        assert first_node < end_node <= first_node + nodes_each
        assert first_edge <= end_edge <= first_edge + edges_each
        assert first_node <= trees.root[index] < end_node
        owned = np.zeros(edges_each, np.int32)
        parents = np.zeros(nodes_each, np.int32)
        numbers = reachable(trees, index)
        assert all(first_node <= number < end_node for number in numbers)
        if count == 1 and not transpositions and not forest.game.simultaneous:
            assert len(numbers) == forest.size, "nodes are lost"
        for number in numbers:
            node = trees.nodes[number]
            assert node["first"] >= NOTHING, "an evaluation is still awaited"
            if node["first"] < 0:
                assert node["visits"] == 0
                continue
            assert not (node["solved"] and not np.isfinite(node["value"]).all())
            begin = node["first"]
            for edges_count in node["counts"]:
                block = trees.edges[begin : begin + edges_count]
                owned[begin - first_edge : begin + edges_count - first_edge] += 1
                if edges_count:
                    assert block["visits"].sum() == node["visits"], "visits of a block differ from its node's"
                    assert len(set(block["action"].tolist())) == edges_count
                    assert np.all((np.abs(block["total"]) <= block["visits"] + 1e-3) | (block["total"] == LOST))
                for edge in block:
                    if edge["child"] != NOTHING:
                        child = trees.nodes[edge["child"]]
                        parents[edge["child"] - first_node] += 1
                        if not transpositions:
                            assert child["visits"] <= edge["visits"]
                begin += edges_count
        assert owned.max(initial=0) <= 1, "an edge belongs to two nodes"
        if not transpositions:
            assert parents.max(initial=0) <= 1, "a node has two parents"


def reachable(trees: Trees, index: int) -> list[int]:
    """The nodes of one tree, from its root on. Nodes in reserve are not among them."""
    joints = trees.joints[index]
    by_parent: dict[int, list[int]] = {}
    for joint in joints[joints["child"] != 0]:
        by_parent.setdefault(int(joint["parent"]), []).append(int(joint["child"]) - 1)
    numbers = {int(trees.root[index]): None}
    queue = list(numbers)
    for number in queue:
        node = trees.nodes[number]
        children = by_parent.get(number, [])
        if node["first"] >= 0:
            edges = trees.edges[node["first"] : node["first"] + node["counts"].sum()]
            children = children + edges["child"][edges["child"] != NOTHING].tolist()
        for child in children:
            if child not in numbers:
                numbers[child] = None
                queue.append(child)
    return list(numbers)
