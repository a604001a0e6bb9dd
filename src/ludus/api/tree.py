"""`ludus.Tree`: the tree that an agent's search has built, node by node.

agent = ludus.make_agent("uct:10000", game)
agent.choose(position)
for edge in ludus.Tree(agent).root.edges:
    print(edge.move, edge.visits, edge.value, edge.exploration)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ludus.agents.search import SearchAgent
from ludus.api.tree_picture import draw_tree
from ludus.errors import BadAgent, LudusError
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from ludus.agents.agent import Agent
    from ludus.game import Action, Position
    from ludus.search.forest import Forest

Result = TypeVar("Result")

LARGEST_JOINT = 1 << 18
"""The most joint moves of one node that are looked up. Of a node with more, those of the most visited moves are."""


class StaleTree(LudusError):
    """The agent has moved on, and the nodes of this tree stand for other positions now."""


class Tree:
    """A read-only view of the tree of an agent that searches, during a search or after it.

    A node is read when it is asked for, and keeps what it read: visits, values and edges of one node belong to one
    moment between two rounds of the search. While the search goes on the tree grows, so two nodes may have been read at
    different moments; `Node.refresh` reads a node again. Reading waits for the end of a round, about 4 ms or one batch
    of a network, and the search waits while a node is read.

    When the agent goes on to another position, starts a new game or needs more memory, its nodes are moved or dropped.
    From then on `is_stale` is True, and reading raises StaleTree. What was read before stays as it was.

    Reading costs microseconds for each edge and never walks the tree, so it is quick in a tree of millions of nodes.
    """

    def __init__(self, agent: Agent):
        if not isinstance(agent, SearchAgent):
            raise BadAgent(f"{agent.name} builds no tree; agents that do are uct, zero and rollout")
        self.agent = agent
        with agent.reading():
            self._generation = agent.generation
            self.root = Node(self, int(agent.grown.trees.root[0]), agent.root, None, None)
            """The node of the position that was searched."""

    @property
    def is_stale(self) -> bool:
        """True if the agent has moved on: the tree cannot be read any more."""
        return self.agent.generation != self._generation

    @property
    def size(self) -> int:
        """The number of nodes."""
        return self._read(lambda forest: forest.size)

    def node(self, moves: Iterable[Action | str]) -> Node | None:
        """The node that moves from the root lead to, each an action or in notation; None if there is none."""
        node: Node | None = self.root
        for move in moves:
            node = None if node is None else node.child(move)
        return node

    def __repr__(self) -> str:
        return f"<tree of {self.agent.name}{', stale' * self.is_stale}>"

    def _repr_svg_(self) -> str | None:
        """The most visited nodes, which a notebook shows; None if the tree is stale and was not read before."""
        return self.root._repr_svg_()

    def _read(self, function: Callable[[Forest], Result]) -> Result:
        """Call a function that reads the forest, while no search changes it."""
        with self.agent.reading():
            if self.is_stale:
                raise StaleTree(f"{self.agent.name} has moved on to another position: take a new Tree of it")
            return function(self.agent.grown)


@dataclass(frozen=True)
class Edge:
    """A legal move of one player at a node. Visits and values are those of `player`."""

    node: Node
    player: int
    action: int
    visits: int
    """N: the number of simulations that took this move here."""
    value: float | None
    """The mean result of those simulations for `player`, in [-1, 1], exact if the move is solved; None before the first
    visit."""
    assumed_value: float
    """Q: the value that the selection rule works with. It differs from `value` only before the first visit."""
    prior: float | None
    """P: the network's probability of this move; None where there is no network."""
    exploration: float
    """U: the exploration term of the selection rule. The next simulation takes the move with the highest Q + U."""
    policy: float
    """The probability of this move in the policy to learn from; below the root, its share of the visits."""
    solved: bool
    """True if `value` is proven."""
    length: int
    """Plies to the end of the game along the proof, this move included, if the move is solved; else 0."""
    child_index: int
    """The index of the node that the move leads to; -1 if there is none, or if everyone moves at once."""

    @property
    def move(self) -> str:
        """The action in notation."""
        return self.node.position.game.write_move(self.node.position.state, self.player, self.action)

    @cached_property
    def child(self) -> Node | None:
        """The node that this move leads to; None if no simulation has taken it, or if everyone moves at once (then
        `Node.children` has the joint moves). With transpositions, several edges may lead to one node."""
        return self.node._child(self.action, self.child_index) if self.child_index >= 0 else None


@dataclass(frozen=True)
class _Content:
    """What a node holds at the moment it is read."""

    visits: int
    mover: int
    solved: bool
    length: int
    values: tuple[float | None, ...]
    edges: tuple[Edge, ...]
    joints: tuple[tuple[tuple[int, ...], Node], ...]


class Node:
    """A position in the tree. It is read when it is first asked for more than its position."""

    def __init__(self, tree: Tree, index: int, position: Position | None, parent: Node | None, action: Action | None):
        self.tree, self.index, self.parent, self.action = tree, index, parent, action
        self._position = position
        self._content: _Content | None = None

    @property
    def position(self) -> Position:
        """The position, played from the root's."""
        if self._position is None:
            assert self.parent is not None
            assert self.action is not None
            self._position = self.parent.position.play(self.action)
        return self._position

    @property
    def visits(self) -> int:
        """N: the number of simulations that went on from here. The one that made the node is not counted."""
        return self._read().visits

    @property
    def to_move(self) -> int:
        """The player to move, from 0, or EVERYONE (-1)."""
        return self._read().mover

    @property
    def solved(self) -> bool:
        """True if `values` are proven. The end of a game is solved."""
        return self._read().solved

    @property
    def length(self) -> int:
        """Plies to the end of the game along the proof, if the node is solved."""
        return self._read().length

    @property
    def values(self) -> tuple[float | None, ...]:
        """For each player, the mean result of the simulations that went on from here, exact if the node is solved.

        Where a player does not decide, it is made from the nodes below, in which it does. None where nothing is known.
        """
        return self._read().values

    @property
    def edges(self) -> tuple[Edge, ...]:
        """All players' legal moves, in the order of the search; empty where the search has not gone on."""
        return self._read().edges

    def edges_of(self, player: int) -> tuple[Edge, ...]:
        """The legal moves of one player."""
        return tuple(edge for edge in self.edges if edge.player == player)

    @property
    def children(self) -> dict[Action, Node]:
        """The nodes that the search has reached from here, by the action, or the joint action, that leads there."""
        content = self._read()
        reached: dict[Action, Node] = {edge.action: edge.child for edge in content.edges if edge.child is not None}
        return {**reached, **dict(content.joints)}

    def child(self, move: Action | str) -> Node | None:
        """The node after a move, given as an action or in notation; None if the search has not reached it."""
        return self.children.get(self.position.action_of(move) if isinstance(move, str) else move)

    def refresh(self) -> None:
        """Read the node again when it is next asked for, as the search may have gone on."""
        self._content = None

    @property
    def json(self) -> dict[str, Any]:
        """The node and its edges, ready for json.dumps. An exploration term that is infinite is None."""
        content = self._read()
        shown = ("player", "action", "move", "visits", "value", "assumed_value", "prior", "policy", "solved", "length")
        return {
            "position": self.position.text,
            "visits": content.visits,
            "to_move": content.mover,
            "values": list(content.values),
            "solved": content.solved,
            "length": content.length,
            "edges": [
                {
                    **{name: getattr(edge, name) for name in shown},
                    "exploration": edge.exploration if math.isfinite(edge.exploration) else None,
                    "has_child": edge.child is not None,
                }
                for edge in content.edges
            ],
            "joint_moves": [self.position.notation(joint) for joint, _ in content.joints],
        }

    def _child(self, action: Action, index: int) -> Node:
        return Node(self.tree, index, None, self, action)

    def _read(self) -> _Content:
        if self._content is None:
            self._content = self.tree._read(lambda forest: _Reader(forest, self).content())
        return self._content

    def _repr_svg_(self) -> str | None:
        """The node and the most visited nodes below it, which a notebook shows.

        None if the tree is stale and the nodes were not read before.
        """
        try:
            return draw_tree(self)
        except StaleTree:
            return None

    def __repr__(self) -> str:
        return f"<node {self.index} of {self.tree.agent.name}: {self.position!r}>"


class _Reader:
    """Reads one node of a forest, while no search changes it."""

    def __init__(self, forest: Forest, node: Node):
        self.forest, self.node, self.has_priors = forest, node, node.tree.agent.evaluator is not None
        self.record = forest.trees.nodes[node.index]

    def content(self) -> _Content:
        record = self.record
        players = range(self.forest.game.players)
        # With transpositions, positions with different histories share a node. A repetition may end the game in this
        # one and not in the one that the node was made for, which has edges.
        goes_on = record["first"] >= 0 and not self.node.position.is_over
        return _Content(
            int(record["visits"]),
            int(record["mover"]),
            bool(record["solved"]),
            int(record["length"]),
            tuple(self.value(self.node.index, player, self.forest.game.players - 1) for player in players),
            tuple(self.edges()) if goes_on else (),
            tuple(self.joints()) if goes_on else (),
        )

    # --- edges --------------------------------------------------------------------------------------------------------

    def blocks(self, index: int) -> Iterator[tuple[int, int, int]]:
        """(player, first edge, number of edges) of each block of a node."""
        record = self.forest.trees.nodes[index]
        first = int(record["first"])
        if first < 0:
            return
        for block, count in enumerate(record["counts"].tolist()):
            if count:
                yield (block if record["mover"] == EVERYONE else int(record["mover"])), first, count
            first += count

    def edges(self) -> Iterator[Edge]:
        for player, first, count in self.blocks(self.node.index):
            block = self.forest.settled_edges(0, first, count)
            q, u, policy = self.scores(player, first, count)
            values = _means(block)
            lengths = self.forest.proof_lengths(block["child"])
            for i in range(count):
                value = float(values[i])
                yield Edge(
                    self.node,
                    player,
                    int(block["action"][i]),
                    int(block["visits"][i]),
                    None if math.isnan(value) else value,
                    float(q[i]),
                    abs(float(block["prior"][i])) if self.has_priors else None,
                    float(u[i]),
                    float(policy[i]),
                    bool(block["prior"][i] < 0.0 or block["total"][i] == -np.inf),
                    int(lengths[i]),
                    int(block["child"][i]),
                )

    def scores(self, player: int, first: int, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Q, U and the policy of a block of edges, float64 [count] each, by the functions of the selection rule."""
        from ludus.search.selection import explain, target_policy
        from ludus.search.visits import share_of_visits

        trees: Any = self.forest.trees
        plain = trees._replace(
            nodes=trees.nodes.view(np.recarray),
            edges=trees.edges.view(np.recarray),
            scratch=np.zeros_like(trees.scratch),  # the search's own may be in use
        )
        q, u, policy = np.zeros(count), np.zeros(count), np.zeros(count)
        rule, index = self.forest.rule, self.node.index
        explain(rule, plain, 0, index, first, count, player, q, u)
        if index == trees.root[0]:
            target_policy(rule, plain, 0, index, first, count, player, policy)
        else:
            share_of_visits(plain, index, first, count, player, policy)
        return q, u, policy

    # --- values -------------------------------------------------------------------------------------------------------

    def value(self, index: int, player: int, depth: int) -> float | None:
        """A player's mean result at a node; at most `depth` plies below it are read."""
        record = self.forest.trees.nodes[index]
        if record["solved"]:
            return float(record["value"][player])
        rivals = self.forest.trees.zero_sum
        for decides, first, count in self.blocks(index):
            if decides == player or rivals:
                edges = self.forest.settled_edges(0, first, count)
                visited = edges["visits"] > 0
                if visited.any():
                    mean = np.average(_means(edges)[visited], weights=edges["visits"][visited])
                    return float(mean if decides == player else -mean)
        parts = []
        if depth > 0 and record["mover"] != EVERYONE:
            for _, first, count in self.blocks(index):
                for edge in self.forest.settled_edges(0, first, count):
                    if edge["child"] >= 0 and edge["visits"] > 0:
                        parts.append((self.value(int(edge["child"]), player, depth - 1), int(edge["visits"])))
        known = [(value, visits) for value, visits in parts if value is not None]
        if known:
            return float(np.average([value for value, _ in known], weights=[visits for _, visits in known]))
        return float(record["value"][player]) if self.has_priors and record["first"] >= 0 else None

    # --- joint moves --------------------------------------------------------------------------------------------------

    def joints(self) -> Iterator[tuple[tuple[int, ...], Node]]:
        """Each joint action that leads to a node, and that node."""
        from ludus.search.tree import find_children

        blocks = {player: (first, count) for player, first, count in self.blocks(self.node.index)}
        if self.record["mover"] != EVERYONE or not blocks:
            return
        all_edges = self.forest.trees.edges
        most = int(LARGEST_JOINT ** (1 / self.forest.game.players))
        choices = []
        for player in range(self.forest.game.players):
            first, count = blocks.get(player, (0, 0))
            visits = all_edges["visits"][first : first + count]
            tried = first + np.flatnonzero(visits)
            if len(tried) > most:
                tried = first + np.argsort(-visits, kind="stable")[:most]
            choices.append(tried if count else np.array([-1]))
        chosen = np.stack([axis.ravel() for axis in np.meshgrid(*choices, indexing="ij")], axis=1)
        rows = np.insert(chosen, 0, self.node.index, axis=1).astype(np.int32)
        found = np.empty(len(rows), np.int32)
        find_children(self.forest.trees, 0, rows, found)
        actions = np.where(chosen >= 0, all_edges["action"][chosen], -1)
        for i in np.flatnonzero(found >= 0):
            joint = tuple(actions[i].tolist())
            yield joint, self.node._child(joint, int(found[i]))


def _means(edges: np.ndarray) -> np.ndarray:
    """The mean value of each edge for its player, float64 [k]; NaN where it was not visited."""
    with np.errstate(invalid="ignore", divide="ignore"):
        means = edges["total"] / edges["visits"]
    return np.where(edges["total"] == -np.inf, -1.0, means)
