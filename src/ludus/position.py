"""Position: one immutable position of a game, with its moves, texts and JSON. Playing a move gives a new one."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.errors import BadOption, IllegalMove
from ludus.rules import EVERYONE
from ludus.spec import shortened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ludus.game import Game
    from ludus.graphs import Graph

Action = int | tuple[int, ...]
"""One player's action id, or in a simultaneous position one id for each player (-1 for a player without a choice)."""


class Position:
    """A position of a game; it never changes."""

    def __init__(self, game: Game, states: NDArray[Any], parent: Position | None = None, action: Action | None = None):
        self.game = game
        self.states = states
        """An array of this one state, [1] or [1, length], for kernels."""
        self.parent = parent
        self.action = action
        """The action that led here from `parent`."""
        self._inspected: tuple[bool, int, tuple[float, ...], tuple[tuple[int, ...], ...]] | None = None

    @property
    def state(self) -> Any:
        return self.game.state_view(self.states)

    @property
    def _facts(self) -> tuple[bool, int, tuple[float, ...], tuple[tuple[int, ...], ...]]:
        """Whether the game is over, the player to move, the values, and every player's legal actions.

        Not a `functools.cached_property`: in Python 3.11 it has one lock for all positions of all games, and the first
        position of a game may have to be compiled for half a minute.
        """
        if self._inspected is None:
            self._inspected = self._inspect()
        return self._inspected

    def _inspect(self) -> tuple[bool, int, tuple[float, ...], tuple[tuple[int, ...], ...]]:
        game = self.game
        values = np.zeros(game.players, np.float32)
        actions = np.zeros((game.players, game.most_legal), np.int32)
        counts = np.zeros(game.players, np.int32)
        over, mover = game.run("inspect", self.states, values, actions, counts)
        legal = tuple(tuple(actions[player, :count].tolist()) for player, count in enumerate(counts.tolist()))
        return bool(over), int(mover), tuple(values.tolist()), legal

    @property
    def is_over(self) -> bool:
        return self._facts[0]

    @property
    def to_move(self) -> int:
        """The player to move, from 0, or EVERYONE (-1)."""
        return self._facts[1]

    @property
    def values(self) -> tuple[float, ...]:
        """The result for each player, in [-1, 1]; all 0 while the game is on."""
        return self._facts[2]

    def actions_of(self, player: int) -> list[int]:
        """The legal actions of one player; none if it is not that player's turn."""
        return list(self._facts[3][player])

    @property
    def actions(self) -> Sequence[Action]:
        """The legal action ids; where everyone moves at once, one tuple for each joint move."""
        if self.is_over:
            return []
        if self.to_move != EVERYONE:
            return self.actions_of(self.to_move)
        choices = [self.actions_of(player) or [-1] for player in range(self.game.players)]
        return list(itertools.product(*choices))

    @property
    def moves(self) -> list[str]:
        """The legal moves, `actions`, in notation."""
        return [self.notation(action) for action in self.actions]

    def notation(self, action: Action) -> str:
        """An action in notation; the parts of a joint move are joined by commas. IllegalMove if it is no action."""
        action = _ids(action)
        ids = action if isinstance(action, tuple) else (action,)
        if not all(-1 <= id < self.game.actions for id in ids) or action == -1:
            raise IllegalMove(f"{shortened(action)} is no action: action ids are 0 to {self.game.actions - 1}")
        if isinstance(action, tuple):
            parts = ("-" if id < 0 else self.game.write_move(self.state, who, id) for who, id in enumerate(action))
            return ",".join(parts)
        return self.game.write_move(self.state, self.to_move, action)

    def action_of(self, move: str) -> Action:
        """The action that a move in notation stands for; IllegalMove says why it cannot be played."""
        if not isinstance(move, str):
            raise IllegalMove(f"{shortened(move)} is no move in notation, which is a text")
        if self.is_over:
            raise IllegalMove(f"{move!r} cannot be played: the game is over")
        if self.to_move != EVERYONE:
            return self.game.read_move(self.state, self.to_move, move)
        parts = [part.strip() for part in move.split(",")]
        if len(parts) != self.game.players:
            raise IllegalMove(f"{move!r}: everyone moves here, so give {self.game.players} moves joined by commas")
        return tuple(
            -1 if not self.actions_of(player) else self.game.read_move(self.state, player, part)
            for player, part in enumerate(parts)
        )

    def play(self, move: str | Action) -> Position:
        """The position after a move, given in notation or as an action id (a tuple of ids where everyone moves)."""
        action = self.action_of(move) if isinstance(move, str) else _ids(move)
        self._check(action)
        states = self.states.copy()
        joint = np.array(action if isinstance(action, tuple) else (action,), np.int32)
        self.game.run("step", states, joint)
        return Position(self.game, states, self, action)

    def _check(self, action: Action) -> None:
        if self.is_over:
            raise IllegalMove(f"{action} cannot be played: the game is over")
        if (self.to_move == EVERYONE) != isinstance(action, tuple):
            needs = "one id for each player" if self.to_move == EVERYONE else "one id"
            raise IllegalMove(f"{action} cannot be played: this position takes {needs}")
        if isinstance(action, tuple):
            legal = len(action) == self.game.players and all(
                id in (self.actions_of(player) or [-1]) for player, id in enumerate(action)
            )
        else:
            legal = action in self.actions_of(self.to_move)
        if not legal:
            raise IllegalMove(f"action {action} is not legal in this position")

    @property
    def history(self) -> list[Position]:
        """The positions from the first known one to this one."""
        line: list[Position] = [self]
        while line[-1].parent is not None:
            line.append(line[-1].parent)
        return line[::-1]

    def copy(self) -> Position:
        """The same position with its history, in memory of its own: code that writes into it changes no other one."""
        copied: Position | None = None
        for each in self.history:
            copied = Position(each.game, each.states.copy(), copied, each.action)
            copied._inspected = each._inspected  # immutable
        assert copied is not None
        return copied

    @property
    def played(self) -> list[str]:
        """The moves, in notation, that led from the first known position to this one."""
        line = self.history
        return [before.notation(after.action) for before, after in itertools.pairwise(line) if after.action is not None]

    @property
    def text(self) -> str:
        """The position as one line of text; `Game.parse` reads it."""
        return self.game.write(self.state)

    def observe(self, player: int | None = None) -> NDArray[np.float32]:
        """A network's input from a player's view (by default the player to move): float32, shape game.observation."""
        if self.game.observation is None:
            raise BadOption(f"{self.game.name} has no observation")
        planes = np.zeros(self.game.observation, np.float32)
        self.game.run("view", self.states, max(self.to_move, 0) if player is None else player, planes)
        return planes

    def graph(self, player: int | None = None) -> Graph:
        """The position as a graph, from a player's view (by default the player to move)."""
        from ludus.graphs import graph_of

        return graph_of(self, max(self.to_move, 0) if player is None else player)

    @property
    def json(self) -> dict[str, Any]:
        """The position with its game, moves and drawing, ready for json.dumps; `ludus.from_json` reads it."""
        return {
            "game": self.game.spec.json(),
            "name": self.game.name,
            "version": self.game.version,
            "position": self.text,
            "to_move": None if self.is_over else self.to_move,
            "is_over": self.is_over,
            "values": list(self.values),
            "moves": [{"action": action, "move": self.notation(action)} for action in self.actions],
            "board": self.game.describe(self.state),
        }

    def __str__(self) -> str:
        return self.game.draw(self.state)

    def _repr_svg_(self) -> str:
        """The picture that a notebook shows."""
        from ludus.board import svg

        return svg(self)

    def __repr__(self) -> str:
        return f"<{self.game.name} {self.text}>"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Position)
            and self.game.identity == other.game.identity
            and self.states.tobytes() == other.states.tobytes()
        )

    def __hash__(self) -> int:
        return hash(self.states.tobytes())


def _ids(action: Any) -> Action:
    """An action id, or the ids of all players, as Python integers; raises IllegalMove for anything else."""
    try:
        if np.ndim(action):
            return tuple(operator.index(part) for part in action)
        return operator.index(action)
    except (TypeError, ValueError):
        raise IllegalMove(f"{shortened(action)} is no move: give its notation or its action id") from None
