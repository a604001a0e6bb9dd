"""What a search knows at one moment: the moves of a position with their visits, values and priors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ludus.displays import html_table

if TYPE_CHECKING:
    from ludus.agents.agent import Choice
    from ludus.game import Position
    from ludus.search.forest import Root

MOST_ROWS = 20
"""Number of moves that a notebook shows of a snapshot."""


@dataclass(frozen=True)
class MoveStats:
    """One legal move of one player, in that player's view; None stands for what the agent does not know."""

    action: int
    move: str
    """The action in notation."""
    visits: int | None
    """The number of simulations that began with this move."""
    value: float | None
    """The mean result after this move, in [-1, 1]."""
    prior: float | None
    """The probability that the network gave this move before the search."""
    policy: float | None
    """The probability of this move after the search."""
    length: int
    """Plies to the end of the game along the proof, if the move is solved; else 0."""


@dataclass(frozen=True)
class Block:
    """What is known for one player that decides in the position. Lists are aligned with `actions`."""

    player: int
    actions: Sequence[int]
    """The legal actions, in the game's order."""
    best: int
    """The action that the agent would play now."""
    value: float | None
    """The result that this player can expect, in [-1, 1]."""
    visits: Sequence[int] | None = None
    values: Sequence[float] | None = None
    """The mean result after each action; NaN where there is none."""
    priors: Sequence[float] | None = None
    policy: Sequence[float] | None = None
    lengths: Sequence[int] | None = None


@dataclass(frozen=True, repr=False)
class Snapshot:
    """The state of a search at one moment. Notation is made when it is first asked for."""

    position: Position
    player: int
    """The player for whom the agent thinks."""
    blocks: tuple[Block, ...]
    """One for each player that decides here: one in a sequential position, several where all move at once."""
    principal: tuple[int, ...] | tuple[str, ...]
    """The principal variation, as actions or in notation; empty where everyone moves at once."""
    simulations: int
    """Simulations run so far for this move. What an earlier search left in the tree is not counted."""
    seconds: float
    fraction: float | None
    """The fraction of the budget that is spent, from 0 to 1; None where there is no limit."""
    solved: bool
    """True if the value of the position is proven."""
    final: bool = False
    """True for the last snapshot of a search."""
    ended: str = ""
    """Why the search ended: "budget", "solved", "full" (the tree's memory) or "stopped"; empty while it goes on."""

    @property
    def block(self) -> Block:
        """The block of `player`."""
        return next(block for block in self.blocks if block.player == self.player)

    @property
    def value(self) -> float | None:
        """The result that `player` can expect, in [-1, 1]."""
        return self.block.value

    @property
    def best(self) -> str:
        """The move that the agent would play now, in notation."""
        return self._notation(self.player, self.block.best)

    @cached_property
    def moves(self) -> list[MoveStats]:
        """The legal moves of `player`, in the game's order."""
        return self.moves_of(self.player)

    def moves_of(self, player: int) -> list[MoveStats]:
        """The legal moves of one player that decides here, in the game's order."""
        block = next((block for block in self.blocks if block.player == player), None)
        if block is None:
            return []
        return [
            MoveStats(
                action,
                self._notation(player, action),
                None if block.visits is None else block.visits[i],
                _number(block.values, i),
                _number(block.priors, i),
                _number(block.policy, i),
                0 if block.lengths is None else block.lengths[i],
            )
            for i, action in enumerate(block.actions)
        ]

    @cached_property
    def line(self) -> list[str]:
        """The principal variation in notation; empty where everyone moves at once.

        It stops where the game is over. With transpositions, a path in the tree can go on: positions with different
        histories share a node, and a repetition may end the game in one of them only.
        """
        moves, position = [], self.position
        for move in self.principal:
            if isinstance(move, str):
                moves.append(move)
            else:
                if position.is_over:
                    break
                moves.append(position.notation(move))
                position = position.play(move)
        return moves

    @property
    def json(self) -> dict[str, Any]:
        """The snapshot in lists, texts and numbers, ready for json.dumps."""
        return {
            "player": self.player,
            "value": self.value,
            "best": self.best,
            "line": self.line,
            "simulations": self.simulations,
            "seconds": self.seconds,
            "fraction": self.fraction,
            "solved": self.solved,
            "final": self.final,
            "ended": self.ended,
            "blocks": [
                {
                    "player": block.player,
                    "value": block.value,
                    "best": self._notation(block.player, block.best),
                    "moves": [vars(stats) for stats in self.moves_of(block.player)],
                }
                for block in self.blocks
            ],
        }

    def __repr__(self) -> str:
        value = "" if self.value is None else f", value {self.value:+.2f}"
        return f"<snapshot after {self.simulations:,} simulations: {self.best}{value}>"

    def _repr_html_(self) -> str:
        """The moves with their figures, most visited first, which a notebook shows: a table for each player."""
        return "".join(self._table(block) for block in self.blocks)

    def _table(self, block: Block) -> str:
        moves = self.moves_of(block.player)
        moves.sort(key=lambda stats: (stats.visits or 0, stats.policy or 0.0), reverse=True)
        rows = [
            (
                stats.move,
                "" if stats.visits is None else f"{stats.visits:,}",
                _text(stats.value, "+.3f"),
                _text(stats.prior, ".1%"),
                _text(stats.policy, ".1%"),
                str(stats.length or ""),
            )
            for stats in moves[:MOST_ROWS]
        ]
        who = self.position.game.player_name(block.player)
        left_out = f", {len(moves) - MOST_ROWS} more moves" if len(moves) > MOST_ROWS else ""
        caption = f"{who}: {self.simulations:,} simulations in {self.seconds:.2f} s, value {_text(block.value, '+.3f')}"
        return html_table(("move", "N", "Q", "P", "policy", "proven in"), rows, caption + left_out)

    def _notation(self, player: int, action: int) -> str:
        return self.position.game.write_move(self.position.state, player, action)


def _number(numbers: Sequence[float] | None, i: int) -> float | None:
    return None if numbers is None or math.isnan(numbers[i]) else numbers[i]


def _text(number: float | None, layout: str) -> str:
    """A number in a layout of `format`; empty where there is none."""
    return "" if number is None else format(number, layout)


def block_of(root: Root, has_priors: bool) -> Block:
    """What a forest knows for one player at its root."""
    return Block(
        root.player,
        root.actions.tolist(),
        root.best,
        root.value,
        root.visits.tolist(),
        root.values.tolist(),
        root.priors.tolist() if has_priors else None,
        root.policy.tolist(),
        root.lengths.tolist(),
    )


def snapshot_of(position: Position, choice: Choice, ended: str = "budget") -> Snapshot:
    """The one snapshot of an agent that cannot be watched: its answer."""
    block = Block(
        choice.player,
        choice.actions or position.actions_of(choice.player),
        choice.action,
        choice.value,
        choice.visits,
        choice.values,
        choice.priors,
        choice.policy,
    )
    return Snapshot(
        position,
        choice.player,
        (block,),
        tuple(choice.line),
        choice.simulations,
        choice.seconds,
        1.0,
        choice.solved,
        True,
        "solved" if choice.solved else ended,
    )
