"""Last Stone: three players in turn take stones from one heap; who takes the last stone wins, the next comes second."""

from typing import NamedTuple

import numpy as np

from ludus.board import Board, Cell, Piece
from ludus.errors import BadPosition, IllegalMove
from ludus.game import Game, require
from ludus.options import small_number
from ludus.spec import shortened

# Action i takes i + 1 stones. The player who takes the last one gets 1, the player after it 0, the player before it -1.
#
# No player is indifferent between two endings, so backward induction gives one result. With r = stones mod (most + 2):
#
#     r = 1 .. most    the mover takes r stones, and will take the last stone;
#     r = 0            the mover takes 1 stone, and comes second: the player before takes the last one;
#     r = most + 1     for every choice of the mover, the next player will take the last one.
#
# For, by induction, leaving r = 0 wins (the next player comes second), leaving r = most + 1 comes second (the player
# after the next wins) and leaving anything else comes last; and each kind of heap reaches the best kind it can.


LEAN = True
"""No function of the rules allocates an array, so ludus.native need not compile them twice to find out."""


class LastStone(NamedTuple):
    stones: int = 12
    most: int = 3


STATE = np.dtype([("stones", np.int16), ("turn", np.int8)])
MOST_DRAWN = 100
"""Larger heaps are shown as text."""


def reset(rules, state, random):
    state.stones = rules.stones
    state.turn = 0


def to_move(rules, state):
    return state.turn


def legal(rules, state, player, actions):
    count = min(rules.most, state.stones)
    for action in range(count):
        actions[action] = action
    return count


def play(rules, state, action):
    state.stones -= action + 1
    state.turn = (state.turn + 1) % 3


def outcome(rules, state, values):
    if state.stones > 0:
        return False
    # The turn has passed on from the player who took the last stone.
    values[(state.turn + 2) % 3] = 1.0
    values[state.turn] = 0.0
    values[(state.turn + 1) % 3] = -1.0
    return True


def observe(rules, state, player, planes):
    """Planes: one cell for each stone; then all ones in the plane of the player to move: own, next, third player."""
    for place in range(rules.stones):
        planes[0, 0, place] = 1.0 if place < state.stones else 0.0
        planes[1 + (state.turn - player) % 3, 0, place] = 1.0


class LastStoneGame(Game):
    Rules = LastStone
    name = "laststone"
    title = "Last Stone"
    players = 3
    state = STATE

    def setup(self):
        stones, most = self.rules
        require(1 <= stones <= 10_000, "laststone: stones must be from 1 to 10000")
        require(
            1 <= most <= stones, "laststone: most, what one may take at once, must be from 1 to the number of stones"
        )
        self.actions = self.most_legal = most
        self.longest = stones
        self.observation = (4, 1, stones)
        self.observation_bounds = (0.0, 1.0)

    def solution(self, stones):
        """The values of mover, next and third player under perfect play, and the number of stones that the mover takes.

        The stones are 0 if all choices are equally good.
        """
        rest = stones % (self.rules.most + 2)
        if rest == 0:
            return (0, -1, 1), min(stones, 1)
        if rest == self.rules.most + 1:
            return (-1, 1, 0), 0
        return (1, 0, -1), rest

    def write(self, state):
        return f"{state.stones} {'abc'[state.turn]}"

    def read(self, text, state):
        begin = len(text) - len(text.lstrip())
        stones, _, side = text.strip().partition(" ")
        count = small_number(stones)
        if count is None or count > self.rules.stones:
            raise BadPosition(f"the number of stones must be from 0 to {self.rules.stones}, not {stones!r}", begin)
        if side not in ("a", "b", "c"):
            place = begin + len(stones) + 1
            raise BadPosition(f"after the stones and a space comes a, b or c, whose turn it is, not {side!r}", place)
        state.stones, state.turn = count, "abc".index(side)

    def write_move(self, state, player, action):
        return str(action + 1)

    def read_move(self, state, player, text):
        number = small_number(text.strip())
        if number is None:
            raise IllegalMove(f"{shortened(text)} is not a move; give the number of stones to take")
        if not 1 <= number <= self.rules.most:
            raise IllegalMove(f"one takes 1 to {self.rules.most} stones, not {number}")
        if number > state.stones:
            raise IllegalMove(f"{number} is more than the {state.stones} stones that are left")
        return number - 1

    def player_name(self, player):
        return "abc"[player]

    def draw(self, state):
        if state.stones == 0:
            return f"{self.player_name((state.turn + 2) % 3)} took the last stone"
        heap = " ".join("ooooo"[: state.stones - place] for place in range(0, state.stones, 5))
        return f"{heap}\n{self.player_name(state.turn)} to move"

    def drawing(self, position):
        """Stones in rows of ten; a click takes a stone and all after it."""
        if self.rules.stones > MOST_DRAWN:
            return None
        left, names = int(position.state.stones), [str(stone + 1) for stone in range(self.rules.stones)]
        cells = [Cell(name, stone % 10, stone // 10, "circle") for stone, name in enumerate(names)]
        pieces = [Piece(name, paint="grey", name="stone") for name in names[:left]]
        return Board(
            cells, pieces, {action: [names[left - 1 - action]] for action in range(min(self.rules.most, left))}
        )

    def attempt(self, position, player, touched):
        return str(int(position.state.stones) - int(touched[0]) + 1)
