"""The readable part of a game under way: position, moves, seats, clocks and result. Nothing here changes it."""

from __future__ import annotations

import threading
from typing import Any

from ludus.api.clock import Clocks
from ludus.api.moves import MoveList, Ply
from ludus.api.result import Result
from ludus.api.seats import Seat, Task
from ludus.errors import IllegalMove
from ludus.game import Game, Position


class SessionView:
    """The readable part of a Session, which fills the fields. All of it may be read from any thread."""

    game: Game
    _lock: threading.RLock
    """Protects all other fields."""
    _moves: MoveList
    _seats: list[Seat]
    _clocks: Clocks
    _draw_offers: set[int]
    _tasks: dict[int, Task]
    """For each player whose agent thinks, its task."""

    @property
    def position(self) -> Position:
        return self._moves.position

    @property
    def players(self) -> list[str]:
        """The names of the players, as the game calls them."""
        return [self.game.player_name(player) for player in range(self.game.players)]

    @property
    def seats(self) -> list[str]:
        """Who plays: "human" or the agent's name, for each player."""
        return [seat.name for seat in self._seats]

    @property
    def people(self) -> list[int]:
        """The players whose seat a person has."""
        return [player for player, seat in enumerate(self._seats) if seat.is_person]

    @property
    def ply(self) -> int:
        """The number of moves that led to the present position."""
        return self._moves.ply

    @property
    def plies(self) -> list[Ply]:
        """All moves of the game, those that were undone and can be redone included."""
        with self._lock:
            return list(self._moves.plies)

    @property
    def history(self) -> list[str]:
        """The moves that led to the present position, in notation."""
        with self._lock:
            return [ply.move for ply in self._moves.plies[: self.ply]]

    @property
    def last_move(self) -> str | None:
        return self.history[-1] if self.ply else None

    def position_at(self, ply: int) -> Position:
        """The position after `ply` moves of the game, undone ones included."""
        with self._lock:
            if not 0 <= ply < len(self._moves.positions):
                raise IllegalMove(f"there is no ply {ply}; the game has 0 to {len(self._moves.plies)}")
            return self._moves.positions[ply]

    @property
    def waiting_for(self) -> list[int]:
        """The players whose move is awaited; empty when the game is over."""
        with self._lock:
            return self._moves.waiting_for

    @property
    def hidden(self) -> list[int]:
        """Where everyone moves at once, the players who have moved and wait for the others."""
        with self._lock:
            return sorted(self._moves.hidden)

    @property
    def hidden_moves(self) -> dict[int, str]:
        """The moves of the players in `hidden`, in notation. `record` omits them, and no front end may show them."""
        with self._lock:
            return {player: choice.move for player, (choice, _) in self._moves.hidden.items()}

    @property
    def draw_offers(self) -> list[int]:
        """The players who offer a draw."""
        with self._lock:
            return sorted(self._draw_offers)

    @property
    def thinking(self) -> list[int]:
        """The players whose agent thinks now."""
        with self._lock:
            return sorted(self._tasks)

    @property
    def running(self) -> tuple[int, ...]:
        """The players whose clock runs."""
        with self._lock:
            return self._clocks.running

    @property
    def result(self) -> Result | None:
        """The result of the game; None while it goes on."""
        with self._lock:
            return self._moves.result

    @property
    def is_over(self) -> bool:
        return self.result is not None

    @property
    def left(self) -> tuple[float | None, ...]:
        """The seconds that each player has left; None for a player without a clock."""
        with self._lock:
            return self._clocks.left

    @property
    def expectations(self) -> list[dict[int, float]]:
        """For each move of the game, what each agent that moved expected for its player, in [-1, 1]."""
        return [
            {choice.player: choice.value for choice in ply.choices if choice.value is not None} for ply in self.plies
        ]

    def moves(self, player: int | None = None) -> list[str]:
        """The legal moves of a player, in notation; empty if that player's move is not awaited."""
        with self._lock:
            position, waiting = self.position, self.waiting_for
            who = [each for each in waiting if player in (None, each)]
            return [
                self.game.write_move(position.state, each, action)
                for each in who
                for action in position.actions_of(each)
            ]

    @property
    def json(self) -> dict[str, Any]:
        """All that a front end shows, ready for json.dumps. Moves that are still hidden are not in it."""
        with self._lock:
            result = self.result
            return {
                "position": self.position.json,
                "players": self.players,
                "seats": self.seats,
                "people": self.people,
                "ply": self.ply,
                "moves": [ply.move for ply in self._moves.plies],
                "expectations": self.expectations,
                "waiting_for": self.waiting_for,
                "thinking": sorted(self._tasks),
                "left": list(self._clocks.left),
                "running": list(self._clocks.running),
                "result": None if result is None else vars(result),
            }
