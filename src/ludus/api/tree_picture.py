"""The picture of a search tree as SVG: the most visited nodes, from left to right, with N, Q and P on each."""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ludus.board import PAINTS
from ludus.displays import picture, text_at
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from ludus.api.tree import Edge, Node

MOST_NODES = 24
"""Number of nodes in a picture."""
MOST_CHILDREN = 5
"""Number of moves that are drawn of one node."""
DEEPEST = 5
"""Number of plies that are drawn below the first node."""
WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN, HEAD = 140, 34, 32, 8, 12, 24
"""Size of a box, distances between boxes, and the margins of the picture, in pixels."""
LONGEST = 18
"""Characters of a move that fit into a box."""
STRIPES = tuple(PAINTS[name] for name in ("red", "yellow", "blue", "green", "purple", "orange"))
"""A colour for each player; more players use them again."""
BOX, EDGE, LINK, INK, PALE = "#f7f5f0", "#b9b19c", "#9aa7b8", "#2b2d33", "#77715f"


@dataclass
class Box:
    """A node in the picture, with the move that leads to it."""

    node: Node | None
    """None if the move was visited but leads to no node that can be read."""
    player: int
    """The player who made the move, or EVERYONE."""
    move: str
    figures: str
    visits: int
    share: float
    """The fraction of the simulations at the parent that went on to this node."""
    depth: int
    children: list[Box] = field(default_factory=list)
    y: float = 0.0


def draw_tree(node: Node) -> str:
    """A node and the most visited nodes below it. The picture has at most MOST_NODES boxes, however large the tree."""
    searcher = node.tree.agent
    first = Box(node, EVERYONE, _whose_turn(node), _figures_of(node), node.visits, 1.0, 0)
    _grow(first)
    rows = _place(first, 0)
    note = f"{searcher.name}: the most visited nodes. N: simulations, Q: mean result for the player who moves"
    note += ", P: probability by the network." if searcher.evaluator is not None else "."
    width = max(MARGIN * 2 + (WIDTH + GAP_X) * _depth(first) + WIDTH, 2 * MARGIN + 6 * len(note))
    height = HEAD + MARGIN * 2 + rows * (HEIGHT + GAP_Y)
    parts = [text_at(MARGIN, 18, note, 11, PALE, "start")]
    _draw(first, parts)
    return picture(width, height, f"{node.position.game.title}: search tree of {searcher.name}", "".join(parts))


# --- which nodes --------------------------------------------------------------------------------------------------


def _grow(first: Box) -> None:
    """Add the moves of the first node, then the most visited nodes below, MOST_NODES in all."""
    first.children = _moves(first)[:MOST_CHILDREN]
    count = 1 + len(first.children)
    order = itertools.count()  # of two nodes with equal visits, the one found first is taken
    waiting = [(-below.visits, next(order), below, box) for box in first.children for below in _below(box)]
    heapq.heapify(waiting)
    while waiting and count < MOST_NODES:
        _, _, box, parent = heapq.heappop(waiting)
        parent.children.append(box)
        count += 1
        for below in _below(box):
            heapq.heappush(waiting, (-below.visits, next(order), below, box))


def _below(box: Box) -> list[Box]:
    """The nodes below a box that may be drawn."""
    return _moves(box)[:MOST_CHILDREN] if box.depth < DEEPEST else []


def _moves(box: Box) -> list[Box]:
    """The moves at a node that simulations took, the most visited first; of those with equal visits, the best first."""
    if box.node is None:
        return []
    all_visits = max(1, box.node.visits)
    if box.node.to_move == EVERYONE:
        found = [
            Box(
                child,
                EVERYONE,
                box.node.position.notation(joint),
                _figures_of(child),
                child.visits,
                child.visits / all_visits,
                box.depth + 1,
            )
            for joint, child in box.node.children.items()
        ]
    else:
        found = [
            Box(
                edge.child,
                edge.player,
                edge.move,
                _figures(edge),
                edge.visits,
                edge.visits / all_visits,
                box.depth + 1,
            )
            for edge in sorted(box.node.edges, key=lambda edge: -edge.assumed_value)
            if edge.visits > 0
        ]
    return sorted(found, key=lambda each: -each.visits)


# --- what is written ----------------------------------------------------------------------------------------------


def _whose_turn(node: Node) -> str:
    if node.position.is_over:
        return "the game is over"
    if node.to_move == EVERYONE:
        return "everyone moves"
    return f"{node.position.game.player_name(node.to_move)} moves"


def _figures(edge: Edge) -> str:
    """N, Q and P of an edge; instead of Q, the proven value with the plies to the end."""
    value = "" if edge.value is None else f"  Q {edge.value:+.2f}"
    if edge.solved and edge.value is not None:
        value = f"  {edge.value:+g} in {edge.length}"
    prior = "" if edge.prior is None else f"  P {100 * edge.prior:.0f}%"
    return f"N {_short(edge.visits)}{value}{prior}"


def _figures_of(node: Node) -> str:
    """N and the mean result for each player, for a node that no single player's move leads to."""
    values = " ".join(f"{value:+.2f}" for value in node.values if value is not None)
    visits = "" if node.position.is_over else f"N {_short(node.visits)}  "
    return f"{visits}Q {values}" if values else visits


def _short(visits: int) -> str:
    return f"{visits:,}" if visits < 100_000 else f"{visits / 1000:,.0f}k"


# --- where it is drawn --------------------------------------------------------------------------------------------


def _place(box: Box, row: int) -> int:
    """Give a box and those below it their heights, from `row` on, and return the next free row."""
    if not box.children:
        box.y = HEAD + MARGIN + row * (HEIGHT + GAP_Y)
        return row + 1
    for child in box.children:
        row = _place(child, row)
    box.y = (box.children[0].y + box.children[-1].y) / 2
    return row


def _depth(box: Box) -> int:
    return max([box.depth, *(_depth(child) for child in box.children)])


def _draw(box: Box, parts: list[str]) -> None:
    x, middle = MARGIN + box.depth * (WIDTH + GAP_X), box.y + HEIGHT / 2
    for child in box.children:
        end, to = x + WIDTH + GAP_X, child.y + HEIGHT / 2
        parts.append(
            f"<path d='M{x + WIDTH} {middle:.1f}C{x + WIDTH + GAP_X / 2} {middle:.1f} {end - GAP_X / 2} {to:.1f} "
            f"{end} {to:.1f}' fill='none' stroke='{LINK}' stroke-width='{1 + 6 * min(1.0, child.share):.1f}'/>"
        )
        _draw(child, parts)
    stripe = PALE if box.player == EVERYONE else STRIPES[box.player % len(STRIPES)]
    move = box.move if len(box.move) <= LONGEST else box.move[: LONGEST - 1] + "…"
    parts.append(
        f"<rect x='{x}' y='{box.y:.1f}' width='{WIDTH}' height='{HEIGHT}' rx='4' fill='{BOX}' stroke='{EDGE}'/>"
        f"<rect x='{x}' y='{box.y:.1f}' width='4' height='{HEIGHT}' rx='2' fill='{stripe}'/>"
        + text_at(x + 10, box.y + 14, move, 11, INK, "start", bold=True)
        + text_at(x + 10, box.y + 28, box.figures, 10, PALE, "start")
    )
