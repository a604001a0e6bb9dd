"""Roshambo: rock, paper, scissors, all at once, where what a win pays depends on what it is won with."""

from typing import NamedTuple

import numpy as np

from ludus.board import Board, Cell, Piece
from ludus.errors import BadPosition, IllegalMove
from ludus.game import Game, require
from ludus.options import small_number
from ludus.rules import EVERYONE

# Actions are 0 rock, 1 paper, 2 scissors: each beats the one before it, and rock beats scissors.
#
# The payoff of the first player, for its choice (row) and the second player's (column):
#
#                 rock    paper   scissors
#     rock          0    -paper    +rock
#     paper      +paper     0    -scissors
#     scissors    -rock  +scissors    0
#
# There is one equilibrium: in every round both play rock, paper and scissors in the proportion scissors : rock : paper
# of the prizes. Against it rock gets rock * paper - paper * rock = 0, and in the same way so do paper and scissors.
# So the value is 0, and the probability of a choice depends on the prizes of the two others.


LEAN = True
"""No function of the rules allocates an array, so ludus.native need not compile them twice to find out."""


class Roshambo(NamedTuple):
    rounds: int = 1
    rock: float = 1.0
    paper: float = 0.5
    scissors: float = 0.25


# wins[player, action] counts the rounds that the player has won with the action.
STATE = np.dtype([("wins", np.int16, (2, 3)), ("played", np.int16)])


def reset(rules, state, random):
    state.wins[:] = 0
    state.played = 0


def to_move(rules, state):
    return EVERYONE


def legal(rules, state, player, actions):
    for action in range(3):
        actions[action] = action
    return 3


def play_together(rules, state, actions):
    ahead = (actions[0] - actions[1]) % 3
    if ahead == 1:
        state.wins[0, actions[0]] += 1
    elif ahead == 2:
        state.wins[1, actions[1]] += 1
    state.played += 1


def outcome(rules, state, values):
    if state.played < rules.rounds:
        return False
    values[0] = (gain(rules, state, 0) - gain(rules, state, 1)) / rules.rounds
    values[1] = (gain(rules, state, 1) - gain(rules, state, 0)) / rules.rounds
    return True


def gain(rules, state, player):
    """The sum of the prizes that the player has won."""
    wins = state.wins[player]
    return wins[0] * rules.rock + wins[1] * rules.paper + wins[2] * rules.scissors


def observe(rules, state, player, planes):
    """Planes of one cell: the fraction of rounds played, the player's prizes, the other's prizes."""
    planes[0, 0, 0] = state.played / rules.rounds
    planes[1, 0, 0] = gain(rules, state, player) / rules.rounds
    planes[2, 0, 0] = gain(rules, state, 1 - player) / rules.rounds


def heuristic(rules, state, player):
    """The prizes so far: the expected gain of the remaining rounds is 0."""
    return (gain(rules, state, player) - gain(rules, state, 1 - player)) / rules.rounds


class RoshamboGame(Game):
    Rules = Roshambo
    name = "roshambo"
    title = "Roshambo"
    simultaneous = True
    state = STATE
    actions = most_legal = 3
    observation = (3, 1, 1)
    observation_bounds = (0.0, 1.0)
    names = ("rock", "paper", "scissors")

    def setup(self):
        rounds, *prizes = self.rules
        require(1 <= rounds <= 10_000, "roshambo: rounds must be from 1 to 10000")
        require(
            all(0 < prize <= 1 for prize in prizes), "roshambo: rock, paper and scissors must be above 0 and at most 1"
        )
        self.longest = rounds

    def equilibrium(self):
        """The probabilities of rock, paper and scissors in the only equilibrium, for both players in every round."""
        _, rock, paper, scissors = self.rules
        return np.array([scissors, rock, paper]) / (rock + paper + scissors)

    def write(self, state):
        """The rounds played and the winning choices of each player: '3 rr/s' is two wins by rock, one by scissors."""
        wins = [
            "".join(name[0] * int(count) for name, count in zip(self.names, row, strict=True)) for row in state.wins
        ]
        return f"{state.played} {wins[0] or '-'}/{wins[1] or '-'}"

    def read(self, text, state):
        begin = len(text) - len(text.lstrip())
        played, _, wins = text.strip().partition(" ")
        rounds = small_number(played)
        if rounds is None or rounds > self.rules.rounds:
            raise BadPosition(
                f"the number of rounds played must be from 0 to {self.rules.rounds}, not {played!r}", begin
            )
        first, slash, second = wins.partition("/")
        begin += len(played) + 1
        if not slash:
            raise BadPosition("after the rounds played comes what each player won with, such as rr/s or -/p", begin)
        state.played = rounds
        for player, won in enumerate((first, second)):
            for place, letter in enumerate(won if won != "-" else ""):
                if letter not in "rps":
                    raise BadPosition(f"{letter!r} is none of r, p, s", begin + place)
                state.wins[player, "rps".index(letter)] += 1
            if not won:
                raise BadPosition(
                    f"the wins of the {self.player_name(player)} player are missing; - stands for none", begin
                )
            begin += len(won) + 1
        if state.wins.sum() > state.played:
            raise BadPosition(f"{state.wins.sum()} rounds are won, but only {played} played")

    def write_move(self, state, player, action):
        return self.names[action]

    def read_move(self, state, player, text):
        """Read the whole word or its first letter."""
        for action, name in enumerate(self.names):
            if text.strip().lower() in (name, name[0]):
                return action
        raise IllegalMove(f"{text!r} is none of {', '.join(self.names)}")

    def player_name(self, player):
        return ("first", "second")[player]

    def draw(self, state):
        won = [f"{self.player_name(player):>6} has won {gain(self.rules, state, player):g}" for player in range(2)]
        return "\n".join([f"{state.played} of {self.rules.rounds} rounds played", *won])

    def drawing(self, position):
        cells = [Cell(name, 1.2 * k, 0, "circle") for k, name in enumerate(self.names)]
        pieces = [Piece(name, shape="bare", symbol=name, paint="grey", name=name) for name in self.names]
        touches = {action: [name] for action, name in enumerate(self.names)}
        return Board(cells, pieces, touches, notes=self.draw(position.state).splitlines(), last=[])
