"""My Game: in turn, take up to three sticks from one of the heaps; who takes the last stick wins.

This is a complete game in ordinary Python to start from: a board may be any object, from any library. It is searched
some hundred times more slowly than a game whose rules are compiled (`ludus new --kind grid`). Change the methods below,
and run `ludus check mygame.py` after every change.
"""

import numpy as np

from ludus.errors import BadOption
from ludus.python_games import PythonGame

MOST = 3


class MyGame(PythonGame):
    """A board is a pair: the heaps as a tuple, and the player to move. Boards never change: `after` makes a new one."""

    name, title = "mygame", "My Game"
    version = 1  # raise it when you change the rules of a game that others have played
    defaults = {"heaps": "3,4,5"}  # the options of the game: ludus play mygame.py --option heaps=2,2,7
    variants = ({"heaps": "4"},)  # options that ludus check tries too

    def setup(self):
        words = self.settings.heaps.split(",")
        if not all(word.isdecimal() and 1 <= int(word) <= 20 for word in words):
            raise BadOption("mygame: heaps must be numbers from 1 to 20, joined by commas")
        self.heaps = tuple(int(word) for word in words)
        self.actions = self.most_legal = MOST * len(self.heaps)  # take 1, 2 or 3 from heap 0, then from heap 1 ...
        self.longest = sum(self.heaps)  # the largest number of moves of a game
        self.observation, self.observation_bounds = (len(self.heaps), max(self.heaps)), (0.0, 1.0)

    def initial(self, seed):
        return self.heaps, 0

    def mover(self, board):
        return board[1]

    def legal_actions(self, board, player):
        return [MOST * heap + take for heap, left in enumerate(board[0]) for take in range(min(MOST, left))]

    def after(self, board, action):
        heaps, player = board
        heap, take = divmod(action, MOST)
        return (*heaps[:heap], heaps[heap] - take - 1, *heaps[heap + 1 :]), 1 - player

    def result(self, board):
        """None while the game is on, else the value of each player: 1 for a win, -1 for a loss, 0 for a draw."""
        heaps, player = board
        if any(heaps):
            return None
        return [-1.0 if each == player else 1.0 for each in range(2)]

    def features(self, board, player):
        """The input of a network: for each heap, a 1 for each stick that is left."""
        planes = np.zeros(self.observation, np.float32)
        for heap, left in enumerate(board[0]):
            planes[heap, :left] = 1.0
        return planes

    def key(self, board):
        """Boards with the same key have the same future: the search counts them as one."""
        return board

    def move_name(self, board, player, action):
        heap, take = divmod(action, MOST)
        return f"{'abcdefghij'[heap]}{take + 1}"

    def picture(self, board):
        return "\n".join(f"{'abcdefghij'[heap]} {'|' * left}" for heap, left in enumerate(board[0]))
