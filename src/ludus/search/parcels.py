"""Parcels: parts of one tree that several threads search at the same time.

Once a tree is large enough, its search goes on in rounds. A round begins with a choice of *parcels*. The selection rule
is followed from the root down to the first node with few visits, the *frontier*; the subtree of this node gets a parcel
of some simulations. They are counted on the path above at once, each with the mean value of its edge, so the next walk
may lead elsewhere. Then every parcel is searched as if its subtree were a tree of its own. Afterwards the sums of the
results replace the assumed values, and proofs go on up to the root.

The subtrees of a round do not overlap, because the nodes on the paths above them are beyond the frontier. So threads
need no locks. Each parcel has a *lane*: a row in the arrays of the forest, as a tree has, with a root, an rng, and
nodes and edges in reserve. Lane 0 is the whole tree, which is searched by itself while it is small, or when the memory
for more nodes runs out. Parcels, and the order of all changes, depend on the seed and the number of simulations alone.
So the tree is the same for two threads and for twenty. One thread alone searches without parcels, a little better.

A parcel may be run in slices, such that clocks can be read. Between slices the results so far are in the tree, and no
assumed values. Shapes use L lanes (the trees of a forest without parcels) and P players.
"""

from typing import Any, NamedTuple

import numpy as np

from ludus.native import bundle, kernel, part
from ludus.search.batch import rows_apart
from ludus.search.selection import select
from ludus.search.tree import LOST, NOTHING, Trees, prove, room_for

LANES = 64
"""The most parcels of a round."""
FROM = 1000
"""Visits of the root from which on there are parcels."""
ROUND = 32
"""A round has one simulation for each 32 visits of the root."""
PARCEL = 16
"""A parcel has one simulation for each 16 visits of its subtree. It doubles whenever a walk leads to it again."""
LARGEST = 16384
"""The most simulations of a round."""
FRONTIER = 128
"""Nodes with fewer visits than this share of the root's get a parcel."""
WALKS = 2 * LANES
"""The most walks of a round. Two of them may lead to the same subtree."""
DEEPEST = 16
"""The longest path to a parcel."""
SLICES = 4
"""A round that is run in slices has about so many in turn for each thread."""
FEWEST = 4 * FROM
"""Trees with space for fewer nodes have no parcels."""
CHANGE = np.dtype(
    [
        ("total", np.float64),  # of the edge
        ("node", np.int32),
        ("edge", np.int32),
        ("node_visits", np.int32),
        ("edge_visits", np.int32),
    ],
    align=True,
)
"""What a node and an edge on the path to a parcel were before they were changed; or after, while that is undone."""

# Fields of Parcels.state: the lanes of the round under way, from FIRST to before LAST, equal if there is none;
# the numbers of changes by ASSUMED values and by RESULTS in the log; are the assumed values in the tree? are parcels
# ALLOWED by the selection rule? how many nodes were in reserve and are lost?
FIRST, LAST, ASSUMED, RESULTS, IS_ASSUMED, ALLOWED, LOST_NODES = range(7)


@bundle
class Parcels(NamedTuple):
    """The parcels of the round under way, by their lanes."""

    goal: Any  # int32 [L]: simulations of the lane at the end of the round, as trees.done counts them
    slice: Any  # int32 [L]: simulations to run now
    sums: Any  # float64 [L, P or more]: sums of the results
    depth: Any  # int32 [L]: length of the path
    path: Any  # int32 [L, DEEPEST, 2]: nodes and edges from the root to the parcel
    log: Any  # CHANGE [many], or [0] if there are no parcels: the changes by assumed values, then those by results
    state: Any  # int64 [7]: the fields that are named above


def make_parcels(trees: int, lanes: int, players: int) -> Parcels:
    """Parcels for a tree and so many lanes besides; or, with no lanes, for so many trees that have no parcels."""
    deepest = DEEPEST if lanes else 0
    return Parcels(
        goal=np.zeros(trees + lanes, np.int32),
        slice=np.zeros(trees + lanes, np.int32),
        sums=rows_apart(trees + lanes, room_for(players), np.float64) if lanes else np.zeros((trees, players)),
        depth=np.zeros(trees + lanes, np.int32),
        path=np.zeros((trees + lanes, deepest, 2), np.int32),
        log=np.zeros((WALKS + lanes) * deepest, CHANGE),
        state=np.zeros(7, np.int64),
    )


def take_reserves_back(lanes: Trees, parcels: Parcels) -> None:
    """Take back all nodes and edges in reserve, as the tree is about to be planted or compacted. Ends the round."""
    if len(parcels.log):
        lanes.used[1:] = 0
        lanes.room[1:] = 0
        parcels.state[FIRST] = parcels.state[LAST] = parcels.state[IS_ASSUMED] = parcels.state[LOST_NODES] = 0


def count_nodes(lanes: Trees, parcels: Parcels) -> int:
    """The number of nodes of the first tree, without those in reserve."""
    if not len(parcels.log):
        return int(lanes.used[0, 0])
    used, room = lanes.used[1:], lanes.room[1:]
    reserve = (room[:, 0] - used[:, 0] + room[:, 3] - room[:, 2]).sum()
    return int(lanes.used[0, 0] - reserve - parcels.state[LOST_NODES])


@part
def begin_slice(rule, trees, parcels, budget, portion, threads):
    """Set the simulations that each lane shall run next, about `portion` in all; returns their number.

    It is 0 if all parcels are solved positions, and NOTHING if the search is over.
    """
    state = parcels.state
    if state[FIRST] < state[LAST]:
        resume(trees, parcels)
    elif not begin_round(rule, trees, parcels, budget):
        return np.int64(NOTHING)
    total = 0
    for lane in range(state[FIRST], state[LAST]):
        total += left(trees, parcels, lane)
    most = portion
    if total > portion and state[FIRST] > 0:
        most = max(1, portion // (SLICES * threads))
    given = 0
    for lane in range(state[FIRST], state[LAST]):
        parcels.slice[lane] = min(left(trees, parcels, lane), most) if given < portion else 0
        given += parcels.slice[lane]
    return given


@part
def left(trees, parcels, lane):
    """The simulations that a lane has still to run."""
    return 0 if trees.nodes[trees.root[lane]].solved else parcels.goal[lane] - trees.done[lane]


@part
def end_slice(trees, parcels):
    """Put the results of a slice into the tree; end the round if it was the last slice."""
    state = parcels.state
    for lane in range(state[FIRST], state[LAST]):
        parcels.slice[lane] = 0
    settle(trees, parcels)
    for lane in range(state[FIRST], state[LAST]):
        if left(trees, parcels, lane) > 0:
            return
    end_round(trees, parcels)


# --- a round ----------------------------------------------------------------------------------------------------------


@part
def begin_round(rule, trees, parcels, budget):
    """Choose the parcels of a round: one of the whole tree while it is small. False if there is nothing to do."""
    state = parcels.state
    root = trees.nodes[trees.root[0]]
    allowed = budget - trees.done[0]
    if allowed <= 0 or root.solved:
        return False
    if not state[ALLOWED]:
        search_whole(trees, parcels, allowed)
    elif root.visits < FROM:
        search_whole(trees, parcels, min(allowed, FROM - root.visits))
    else:
        allowed = min(allowed, root.visits // ROUND, LARGEST)
        choose_parcels(rule, trees, parcels, allowed)
        if not give_reserves(trees, parcels) and not is_full(trees):
            change_back(trees, parcels, 0, state[ASSUMED])
            search_whole(trees, parcels, allowed)
    return True


@part
def search_whole(trees, parcels, simulations):
    """Make a round of one parcel, which is the whole tree."""
    state = parcels.state
    state[FIRST], state[LAST], state[ASSUMED], state[RESULTS], state[IS_ASSUMED] = 0, 1, 0, 0, 1
    parcels.goal[0] = trees.done[0] + simulations
    parcels.depth[0] = 0


@part
def choose_parcels(rule, trees, parcels, simulations):
    """Choose parcels of up to `simulations` in all."""
    state = parcels.state
    frontier = trees.nodes[trees.root[0]].visits // FRONTIER
    state[FIRST], state[LAST], state[ASSUMED], state[RESULTS], state[IS_ASSUMED] = 1, 1, 0, 0, 1
    for _ in range(WALKS):
        if simulations == 0 or state[LAST] == trees.root.size:
            return
        lane = find_parcel(rule, trees, parcels, frontier)
        if lane == NOTHING:
            return
        depth = parcels.depth[lane]
        visits = (
            trees.edges[parcels.path[lane, depth - 1, 1]].visits if depth > 0 else trees.nodes[trees.root[0]].visits
        )
        root = trees.nodes[trees.root[lane]]
        # Visits of a solved position cost nothing: in larger parcels, they would use up any budget at once.
        size = 1 if root.solved else min(simulations, max(1, visits // PARCEL, parcels.goal[lane]))
        simulations -= size
        parcels.goal[lane] += size
        if root.solved:
            trees.done[lane] += size
            for player in range(root.value.size):
                parcels.sums[lane, player] += size * root.value[player]
        assume(trees, parcels, lane, size)


@part
def find_parcel(rule, trees, parcels, frontier):
    """Walk from the root to the frontier: returns the lane of the subtree there, or NOTHING if it overlaps another.

    A walk ends above the frontier where the next node does not exist. So this node may be above another parcel.
    """
    state = parcels.state
    lane = state[LAST]
    path = parcels.path[lane]
    index = np.int64(trees.root[0])
    depth = 0
    while depth < path.shape[0] and trees.nodes[index].visits >= frontier and not trees.nodes[index].solved:
        node = trees.nodes[index]
        edge = select(rule, trees, 0, index, node.first, node.counts[0], node.mover)
        child = trees.edges[edge].child
        if child == NOTHING:
            break
        path[depth, 0], path[depth, 1] = index, edge
        depth += 1
        index = np.int64(child)
    for other in range(1, lane):
        if trees.root[other] == index:
            return other
    if trees.nodes[index].visits >= frontier:
        for other in range(1, lane):
            if parcels.depth[other] > depth and parcels.path[other, depth, 0] == index:
                return NOTHING
    state[LAST] += 1
    trees.root[lane] = index
    trees.done[lane] = 0
    parcels.goal[lane] = 0
    for player in range(trees.nodes[index].value.size):
        parcels.sums[lane, player] = 0.0
    parcels.depth[lane] = depth
    return lane


@part
def assume(trees, parcels, lane, size):
    """Count simulations on the path to a parcel, each with the mean value of its edge."""
    for level in range(parcels.depth[lane]):
        note(trees, parcels.log[parcels.state[ASSUMED]], parcels.path[lane, level])
        parcels.state[ASSUMED] += 1
        trees.nodes[parcels.path[lane, level, 0]].visits += size
        edge = trees.edges[parcels.path[lane, level, 1]]
        edge.total += size * (edge.total / max(1, edge.visits))
        edge.visits += size


@part
def settle(trees, parcels):
    """Replace the assumed values by the results so far."""
    state = parcels.state
    if not state[IS_ASSUMED]:
        return
    state[IS_ASSUMED] = 0
    change_back(trees, parcels, 0, state[ASSUMED])
    for lane in range(state[FIRST], state[LAST]):
        if lane > 0:
            trees.done[0] += trees.done[lane]
        for level in range(parcels.depth[lane]):
            note(trees, parcels.log[state[ASSUMED] + state[RESULTS]], parcels.path[lane, level])
            state[RESULTS] += 1
            node, edge = trees.nodes[parcels.path[lane, level, 0]], trees.edges[parcels.path[lane, level, 1]]
            node.visits += trees.done[lane]
            edge.visits += trees.done[lane]
            if edge.prior < 0.0 and edge.total != LOST:  # solved: the value stays exact
                edge.total = np.float64(trees.nodes[edge.child].value[node.mover]) * edge.visits
            else:
                edge.total += parcels.sums[lane, node.mover]


@part
def resume(trees, parcels):
    """Replace the results so far by the assumed values: what `settle` did is undone."""
    state = parcels.state
    change_back(trees, parcels, state[ASSUMED], state[RESULTS])
    state[RESULTS] = 0
    for lane in range(max(1, state[FIRST]), state[LAST]):
        trees.done[0] -= trees.done[lane]
    for i in range(state[ASSUMED]):
        swap(trees, parcels.log[i])
    state[IS_ASSUMED] = 1


@part
def end_round(trees, parcels):
    """End a round whose results are in the tree: back up the proofs of its parcels."""
    state = parcels.state
    for lane in range(max(1, state[FIRST]), state[LAST]):
        root = np.int64(trees.root[lane])
        if trees.nodes[root].solved:
            prove(trees, parcels.path[lane], parcels.depth[lane], root)
    state[FIRST] = state[LAST] = 0


@kernel
def end_early(trees, parcels):
    """End a round in which parcels are left to run, if one is under way."""
    settle(trees, parcels)
    end_round(trees, parcels)


# --- changes that can be undone ---------------------------------------------------------------------------------------


@part
def note(trees, change, path_row):
    """Write a node and an edge of a path, as they are, into a change of the log."""
    change.node, change.edge = path_row[0], path_row[1]
    change.node_visits = trees.nodes[path_row[0]].visits
    change.edge_visits = trees.edges[path_row[1]].visits
    change.total = trees.edges[path_row[1]].total


@part
def swap(trees, change):
    """Exchange what a change says of its node and its edge with what they are."""
    node, edge = trees.nodes[change.node], trees.edges[change.edge]
    change.node_visits, node.visits = node.visits, change.node_visits
    change.edge_visits, edge.visits = edge.visits, change.edge_visits
    change.total, edge.total = edge.total, change.total


@part
def change_back(trees, parcels, first, count):
    """Undo changes of the log, the last one first."""
    for i in range(first + count - 1, first - 1, -1):
        swap(trees, parcels.log[i])


# --- memory -----------------------------------------------------------------------------------------------------------


@part
def is_full(trees):
    """True if the tree cannot grow any more."""
    used, room = trees.used[0], trees.room[0]
    return used[0] >= room[0] or used[1] + trees.bonus.shape[1] > room[1]


@part
def count_used(trees, kind):
    """The number of nodes (kind 0) or edges (kind 1) of the tree, without those in reserve."""
    total = np.int64(trees.used[0, kind])
    spare = 2 + 2 * kind
    for lane in range(1, trees.root.size):
        room = trees.room[lane]
        total -= room[kind] - trees.used[lane, kind] + room[spare + 1] - room[spare]
    return total


@part
def give_reserves(trees, parcels):
    """Give every parcel of the round nodes and edges in reserve; False if there are too few.

    A simulation needs a node at most. How many edges it needs can only be estimated. If they are used up within the
    round, the parcel goes on without growing, as a full tree does.
    """
    edges_each = 1 + count_used(trees, 1) // count_used(trees, 0)
    enough = True
    for lane in range(parcels.state[FIRST], parcels.state[LAST]):
        depth = parcels.depth[lane]
        parent = parcels.path[lane, depth - 1, 0] if depth > 0 else trees.root[0]
        simulations = left(trees, parcels, lane)
        edges = 2 * (trees.nodes[parent].counts[0] + simulations * edges_each)
        enough &= give_reserve(trees, parcels.state, lane, 0, simulations, simulations)
        enough &= give_reserve(trees, parcels.state, lane, 1, edges, 2 * edges)
    return enough


@part
def give_reserve(trees, state, lane, kind, needed, size):
    """Give a lane `size` more spare nodes (kind 0) or edges (kind 1) if it has fewer than it needs; False if it keeps
    fewer."""
    used, room = trees.used[lane], trees.room[lane]
    spare = 2 + 2 * kind
    if room[kind] - used[kind] + room[spare + 1] - room[spare] >= needed:
        return True
    first = trees.used[0, kind]
    size = min(size, trees.room[0, kind] - first)
    if size < needed:
        return False
    if room[spare] < room[spare + 1]:
        if kind == 0:
            state[LOST_NODES] += room[kind] - used[kind]
        used[kind], room[kind] = room[spare], room[spare + 1]
    room[spare], room[spare + 1] = first, first + size
    trees.used[0, kind] += size
    return True
