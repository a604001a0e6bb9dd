"""The Python side of ludus.python_games: the cache of boards, and the answers to the queries of compiled code.

A history is bytes: the seed of the set-up and the actions, an int32 each. If a history is not in the cache, its board
is made by replay from its longest prefix in the cache.
"""

from __future__ import annotations

import itertools
import sys
import weakref
from array import array
from collections.abc import Iterator
from ctypes import memmove
from functools import partial
from hashlib import blake2b
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.errors import Unsuitable
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from ludus.python_games import PythonGame

OVER = -2
"""The value of the mover if the game is over. Also the answer to every query after an exception."""
STATUS, LEGAL, VALUES, OBSERVE, HEURISTIC, FINGERPRINT, TOO_LONG, NO_ACTION, ESCAPED = range(9)
"""The queries. STATUS returns the mover, EVERYONE or OVER. LEGAL, VALUES and OBSERVE write into an array at an address.
HEURISTIC returns the estimate times ONE, FINGERPRINT 64 bits. The last three report an error."""
ONE = 1 << 52
WORD = 4

Known = tuple[Any, int, tuple[float, ...] | None]
"""The cache entry of a history: the board, the mover (or EVERYONE, or OVER), and the values if the game is over. It is
a plain tuple because the garbage collector scans objects again and again, which took a quarter of the time."""

_integers = {1: "b", 2: "h", 4: "i", 8: "q"}
_integer = partial(int.from_bytes, byteorder=sys.byteorder, signed=True)
_handles = itertools.count(1)
_boards: dict[int, weakref.ref[Boards]] = {}


class Boards:
    """The boards of a game by their histories, and the answers to queries."""

    def __init__(self, game: PythonGame):
        self.game = game
        self.handle = next(_handles)
        # Dead references are removed here and not in a callback of weakref, in which an interrupt would be lost.
        for handle in [handle for handle, known in list(_boards.items()) if known() is None]:
            _boards.pop(handle, None)
        _boards[self.handle] = weakref.ref(self)
        # A cache of two generations needs no lock: each step is one operation of a dict. When the young generation is
        # full, it becomes the old one. An old entry that is used becomes young again.
        self.young: dict[bytes, Known] = {}
        self.old: dict[bytes, Known] = {}
        self.trouble: BaseException | None = None

    def recall(self, history: bytes) -> Known | None:
        known = self.young.get(history)
        if known is None:
            known = self.old.get(history)
            if known is not None:
                self._remember(history, known)
        return known

    def _remember(self, history: bytes, known: Known) -> None:
        if len(self.young) >= self.game.remembered:
            self.old, self.young = self.young, {}
        self.young[history] = known

    def find(self, history: bytes) -> Known:
        """The cache entry of a history, made by replay if it is missing."""
        known = self.recall(history)
        end = len(history)
        while known is None and end > WORD:
            end -= WORD
            known = self.recall(history[:end])
        if known is None:
            known = self._learn(history, WORD, self.game.initial(_integer(history[:WORD])))
        while end < len(history):
            action, end = self._action(known, history, end)
            known = self._learn(history, end, self.game.after(known[0], action))
        return known

    def line(self, history: bytes) -> Iterator[tuple[Known, Any]]:
        """Every position of a history except the last, with the action played there."""
        end = WORD
        while end < len(history):
            known = self.find(history[:end])
            action, end = self._action(known, history, end)
            yield known, action

    def _action(self, known: Known, history: bytes, start: int) -> tuple[Any, int]:
        """The action after the first `start` bytes, an id or a tuple of ids, and the index of the byte after it."""
        status = known[1]
        if status >= 0:
            return _integer(history[start : start + WORD]), start + WORD
        end = start + WORD * self.game.players
        if status == OVER or end > len(history):
            raise Unsuitable(f"{self.game.name}: the history goes on after its end at action {start // WORD}")
        return tuple(array("i", history[start:end])), end

    def _learn(self, history: bytes, end: int, board: Any) -> Known:
        game = self.game
        values = game.result(board)
        if values is None:
            status = int(game.mover(board))
            if not 0 <= status < game.players and not (status == EVERYONE and game.simultaneous):
                raise Unsuitable(f"{game.name}: mover() gave {status}, which is no player")
        else:
            status, values = OVER, tuple(float(value) for value in values)
            if len(values) != game.players or not all(-1.0 <= value <= 1.0 for value in values):
                raise Unsuitable(f"{game.name}: result() gave {values}; it takes a value in [-1, 1] for each player")
        known = (board, status, values)
        self._remember(history[:end], known)
        return known

    def answer(self, question: int, history: bytes, argument: int, target: int, width: int) -> int:
        """The answer to a query. `argument` is a player; `target` is the address of an array of `width`-byte items."""
        board, status, values = self.find(history)
        if question == STATUS:
            return status
        if question == LEGAL:
            return self._legal(board, status, argument, target, width)
        game = self.game
        if question == VALUES:
            if values is None:
                raise Unsuitable(f"{game.name}: an exception left this state behind; it cannot be used")
            memmove(target, np.array(values, f"f{width}").tobytes(), width * game.players)
        elif question == OBSERVE:
            planes = np.ascontiguousarray(game.features(board, argument), f"f{width}")
            if game.observation is None or planes.size != prod(game.observation):
                raise Unsuitable(f"{game.name}: features() gave {planes.shape}; self.observation is {game.observation}")
            memmove(target, planes.ctypes.data, planes.nbytes)
        elif question == HEURISTIC:
            return int(min(1.0, max(-1.0, float(game.heuristic(board, argument)))) * ONE)
        elif question == FINGERPRINT:
            key = game.key(board)
            digest = blake2b(key if isinstance(key, bytes) else repr(key).encode(), digest_size=8).digest()
            return int.from_bytes(digest, "little", signed=True)
        elif question == NO_ACTION:
            raise Unsuitable(f"{game.name}: legal_actions() gave {argument}; the ids are 0 .. {game.actions - 1}")
        elif question == TOO_LONG:
            raise Unsuitable(f"{game.name}: this game has no end after {game.longest} plies, which is its `longest`")
        return 0

    def _legal(self, board: Any, status: int, player: int, target: int, width: int) -> int:
        game = self.game
        if status == OVER:
            return 0
        actions = array(_integers[width], game.legal_actions(board, player))
        if len(actions) > game.most_legal:
            raise Unsuitable(f"{game.name}: {len(actions)} legal actions, and most_legal is {game.most_legal}")
        if not actions and status != EVERYONE:
            raise Unsuitable(f"{game.name}: no legal action for player {player}, and the game is not over")
        memmove(target, actions.buffer_info()[0], width * len(actions))
        return len(actions)

    def raise_pending(self) -> None:
        trouble, self.trouble = self.trouble, None
        if trouble is not None:
            raise trouble


def boards_of(handle: int) -> Boards:
    known = _boards.get(handle)
    boards = known() if known is not None else None
    if boards is None:
        raise LookupError("the game of these rules is gone; keep the game, or the rules as it made them")
    return boards


def call(handle: int, question: int, history: Any, argument: int, target: int, width: int) -> int:
    """The function that compiled code calls. It never raises: the first exception is kept for raise_pending()."""
    boards = boards_of(handle)
    try:
        if boards.trouble is None:
            if question == ESCAPED:  # an interrupt came before this function began (see ludus.python_games.native)
                raise history
            return boards.answer(question, history, argument, target, width)
    except BaseException as error:
        boards.trouble = error
    return OVER


def call_address() -> int:
    """The address of `call`, which is CPython's id(). The function lives as long as this module."""
    return id(call)
