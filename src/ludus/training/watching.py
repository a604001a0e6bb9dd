"""Games of self-play that people can watch: one game of the first worker is recorded move by move.

The recording is not part of the algorithm, nor of the state of a run: a resumed run records the next game that begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.position import Position

if TYPE_CHECKING:
    from ludus.game import Game

MOST_PLIES = 2000
"""Longest game that is recorded."""


class WatchedGame:
    """Records the first game of a worker. For games in which players move in turn."""

    def __init__(self, game: Game):
        self.game = game
        self._start: np.ndarray | None = None
        """The first state of the game under way; None until a game begins."""
        self._actions: list[int] = []
        self._waits = True
        """True until a game ends: the one under way at first may have begun earlier."""
        self._finished: list[tuple[np.ndarray, list[int], list[float]]] = []

    def add(self, state: np.ndarray, action: int, is_over: bool, results: np.ndarray) -> None:
        """A move from `state` [1], which may end the game with `results` float32 [P]."""
        if not self._waits and len(self._actions) < MOST_PLIES:
            if self._start is None:
                self._start = state.copy()
            self._actions.append(action)
        if is_over:
            if self._start is not None:
                self._finished.append((self._start, self._actions, results.tolist()))
            self._start, self._actions, self._waits = None, [], False

    def take(self) -> dict[str, Any] | None:
        """The last finished game since the last call, in notation; None if there is none."""
        if not self._finished:
            return None
        start, actions, results = self._finished[-1]
        self._finished = []
        position = Position(self.game, start)
        text, moves = position.text, []
        for action in actions:
            moves.append(position.notation(action))
            position = position.play(action)
        return {"start": text, "moves": moves, "results": results}
