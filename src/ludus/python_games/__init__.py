"""Games in ordinary Python, with any objects and libraries. The same compiled code searches them as every other game.

Derive from `PythonGame` and define the rules as methods on a `board`, which may be any object:

    class Countdown(PythonGame):
        '''Take one, two or three from a heap; who takes the last one wins.'''

        name, title = "countdown", "Countdown"
        defaults = {"heap": 10}

        def setup(self):
            self.actions = self.most_legal = 3
            self.longest = self.settings.heap

        def initial(self, seed):
            return (self.settings.heap, 0)

        def mover(self, board):
            return board[1]

        def legal_actions(self, board, player):
            return range(min(3, board[0]))

        def after(self, board, action):
            return (board[0] - action - 1, 1 - board[1])

        def result(self, board):
            return None if board[0] else [1.0 if player != board[1] else -1.0 for player in range(2)]

A search copies, stores and compares states in arrays, which is not possible with Python objects. So the state is the
history of the game, a row of integers, and the boards of recent histories are cached:

    rules.py    the functions of the rules, which query the game about a history
    native.py   calls from compiled code, in any thread, into Python
    boards.py   the cache of boards, and the answers to the queries

All these games have the same class of rules with the same types of fields, so they share the same machine code.

An exception in a method of the game cannot pass through compiled code. It is kept, all further queries return values
that end the search soon, and `raise_pending()` raises it. If searches in several threads share a game, one of them
raises the exception, and the results of all searches that ran at that time are invalid.
"""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from ludus import rules as generic
from ludus.errors import BadPosition, IllegalMove
from ludus.game import Game, convert_options
from ludus.python_games import rules as python_rules
from ludus.python_games.boards import OVER, STATUS, Boards, call_address
from ludus.python_games.rules import FIRST, MOVER, SEED, PythonRules, ask, history_of, play, play_together
from ludus.rules import EVERYONE


class PythonGame(Game):
    """A game on Python objects. Boards are immutable: `after` returns a new one."""

    Rules = PythonRules
    parallel = False
    defaults: ClassVar[dict[str, Any]] = {}
    """The options and their defaults. The values for this game are in `self.settings`."""
    seeded: bool = False
    """True if the set-up is random: `initial` then gets a seed."""
    remembered: int = 20_000
    """Size of the cache: a board is dropped if it was not used while this number of new ones was added. A dropped board
    is made again by replay."""

    # --- required methods --------------------------------------------------------------------------------------------

    def initial(self, seed: int) -> Any:
        """The board at the start; the same seed always gives the same board."""
        raise NotImplementedError(f"{type(self).__name__} must define initial()")

    def mover(self, board: Any) -> int:
        """The player to move, from 0, or EVERYONE."""
        raise NotImplementedError(f"{type(self).__name__} must define mover()")

    def legal_actions(self, board: Any, player: int) -> Any:
        """The ids of a player's legal actions, from 0 to self.actions - 1."""
        raise NotImplementedError(f"{type(self).__name__} must define legal_actions()")

    def after(self, board: Any, action: Any) -> Any:
        """A new board, after an action; where everyone moves, after a tuple of actions, -1 for a player without one."""
        raise NotImplementedError(f"{type(self).__name__} must define after()")

    def result(self, board: Any) -> Any:
        """None while the game is on, else each player's value, in [-1, 1]."""
        raise NotImplementedError(f"{type(self).__name__} must define result()")

    # --- optional methods --------------------------------------------------------------------------------------------

    def features(self, board: Any, player: int) -> Any:
        """A network's input from that player's view, of the shape self.observation, which setup() sets."""
        raise NotImplementedError(f"{type(self).__name__} must define features()")

    def heuristic(self, board: Any, player: int) -> float:
        """An estimate of that player's value, in [-1, 1]."""
        return 0.0

    def key(self, board: Any) -> Any:
        """For transpositions: bytes, or anything with an exact repr(), equal only for boards with the same future."""
        raise NotImplementedError

    def move_name(self, board: Any, player: int, action: int) -> str:
        """An action in notation; white space in it becomes _."""
        return str(action)

    def picture(self, board: Any) -> str:
        """The board as text for a terminal."""
        return str(board)

    # --- methods of Game ---------------------------------------------------------------------------------------------

    def __init__(self, **options: Any):
        super().__init__(**options)
        self.state = (np.int32, FIRST + self.longest * (self.players if self.simultaneous else 1))
        self.boards = Boards(self)
        flags = (self.seeded, self.has("fingerprint"), self.has("heuristic"))
        self.rules = PythonRules(call_address(), self.boards.handle, self.actions, *map(int, flags))
        self.rules.game = self

    def make_rules(self, **options: Any) -> None:
        """Set the settings. The rules are made after setup(), which sets the sizes that they contain."""
        self.settings = SimpleNamespace(**convert_options(self.name, self.options(), options))

    @classmethod
    def options(cls) -> dict[str, Any]:
        return dict(cls.defaults)

    def has(self, name: str) -> bool:
        mine = type(self)
        known = {
            "observe": self.observation is not None,
            "heuristic": mine.heuristic is not PythonGame.heuristic,
            "fingerprint": mine.key is not PythonGame.key,
            "play_together": self.simultaneous,
        }
        return known[name] if name in known else super().has(name)

    def raise_pending(self) -> None:
        """Raise the exception that a method of this game raised while compiled code called it."""
        self.boards.raise_pending()

    def board(self, state: Any) -> Any:
        """The board of a state."""
        return self.boards.find(history_of(state))[0]

    def options_in_use(self) -> dict[str, Any]:
        return dict(vars(self.settings))

    def identity_options(self) -> dict[str, Any]:
        return self.options_in_use()

    def draw(self, state: Any) -> str:
        return self.picture(self.board(state))

    def write_move(self, state: Any, player: int, action: int) -> str:
        return self._notation(self.board(state), player, action)

    def _notation(self, board: Any, player: int, action: int) -> str:
        name = "_".join(self.move_name(board, player, action).split())
        return name.replace(",", ";") if self.simultaneous else name  # a comma separates the moves of a joint move

    def read_move(self, state: Any, player: int, text: str) -> int:
        """The action of a move as written; or in upper or lower case, if only one move matches (not bxc4 and Bxc4)."""
        wanted = "_".join(text.split())
        ids = {self.write_move(state, player, action): action for action in self.legal(state, player)}
        if wanted in ids:
            return ids[wanted]
        close = [action for name, action in ids.items() if name.lower() == wanted.lower()]
        if len(close) == 1:
            return close[0]
        shown = " ".join(list(ids)[:12]) + (" ..." if len(ids) > 12 else "")
        raise IllegalMove(f"{text!r} is not a legal move here; legal: {shown}")

    def write(self, state: Any) -> str:
        """The moves from the start, after #seed if the set-up is random; `start` if there are no moves."""
        words = [f"#{state[SEED]}"] if self.seeded else []
        for (board, mover, _), action in self.boards.line(history_of(state)):
            if isinstance(action, tuple):
                names = (self._notation(board, who, id) if id >= 0 else "-" for who, id in enumerate(action))
                words.append(",".join(names))
            else:
                words.append(self._notation(board, mover, action))
        return " ".join(words) or "start"

    def read(self, text: str, state: Any) -> None:
        words = [(match.group(), match.start()) for match in re.finditer(r"\S+", text)]
        if self.seeded:
            if not words or not re.fullmatch(r"#\d{1,10}", words[0][0]) or int(words[0][0][1:]) >= 2**31:
                raise BadPosition("the text must begin with # and the seed of the set-up, such as #7", 0)
            state[SEED] = int(words.pop(0)[0][1:])
        elif [word for word, _ in words] == ["start"]:
            words = []
        state[MOVER] = ask(self.rules, STATUS, state, 0, 0, 0)
        for number, (word, place) in enumerate(words, 1):
            if state[MOVER] == OVER:
                raise BadPosition(f"move {number}: the game is over before {word!r}", place)
            try:
                self._play_word(state, word)
            except IllegalMove as error:
                raise BadPosition(f"move {number}: {error}", place) from None

    def _play_word(self, state: Any, word: str) -> None:
        if state[MOVER] != EVERYONE:
            play(self.rules, state, self.read_move(state, int(state[MOVER]), word))
            return
        parts = word.split(",")
        if len(parts) != self.players:
            raise IllegalMove(f"{word!r}: everyone moves here, so it takes {self.players} moves joined by commas")
        actions = [
            self.read_move(state, player, part) if self.legal(state, player) else -1
            for player, part in enumerate(parts)
        ]
        play_together(self.rules, state, np.array(actions, np.int32))


generic.register(PythonRules, python_rules.__dict__)
