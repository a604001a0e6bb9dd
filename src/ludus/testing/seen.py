"""Statistics of random games: their length, the number of moves, who wins, and which images differ."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ludus.intervals import wilson_interval
from ludus.rng import generator
from ludus.rules import EVERYONE
from ludus.testing.lockstep import Lockstep, some_symmetries

if TYPE_CHECKING:
    from ludus.game import Game

GAMES = 400
"""Number of random games, if they take no longer than SECONDS."""
SECONDS = 1.0
FEWEST = 20
"""Number of games below which nothing is said about the players' chances."""


@dataclass(frozen=True)
class Seen:
    """Figures of random games, in which every legal move is equally likely."""

    games: int
    plies: tuple[int, float, int]
    """The length of a game: least, mean, most."""
    choices: tuple[int, float, int]
    """The number of legal moves of a player that has any: least, mean, most."""
    wins: tuple[int, ...]
    """For each player, the number of games in which its value is above all others' (above 0, in a game for one)."""
    images: float
    """The mean number of different images of a position under all symmetries, or under some if there are many."""

    @property
    def undecided(self) -> int:
        """The number of games that nobody has won."""
        return self.games - sum(self.wins)

    def lines(self, game: Game) -> list[str]:
        """The figures in words."""
        won = ", ".join(
            f"{game.player_name(player)} {_percent(count, self.games)}" for player, count in enumerate(self.wins)
        )
        tried = len(some_symmetries(game))
        under = f" under {tried} of them" if tried < game.symmetries else ""
        symmetries = f"{game.symmetries:,}, {self.images:.1f} different images of a position in the mean{under}"
        return [
            f"length: {_range(self.plies, 'plies')}; longest says {game.longest:,}",
            f"choices: {_range(self.choices, 'moves')}; most_legal says {game.most_legal:,}",
            f"wins: {won}; nobody {_percent(self.undecided, self.games)}",
            f"symmetries: {symmetries if game.symmetries > 1 else 'none'}",
        ]

    def warnings(self, game: Game) -> list[str]:
        """What is unusual for a game that is fair."""
        if self.games < FEWEST:
            return []
        found = []
        fair = (1 + 1 / game.players) / 2  # halfway between an equal share and all
        for player, count in enumerate(self.wins):
            if game.players > 1 and wilson_interval(count / self.games, self.games)[0] > fair:
                share = _percent(count, self.games)
                found.append(
                    f"{game.player_name(player)} wins {share} of all random games: "
                    "is that meant, or does a rule favour a seat?"
                )
        if game.players > 1 and self.undecided == self.games:
            found.append("nobody wins any random game: can a game be won at all?")
        if 2 * self.plies[2] <= game.longest and game.longest > 1000:
            found.append(f"no random game has more than {self.plies[2]:,} plies; a closer longest saves memory")
        return found


def _range(figures: tuple[int, float, int], what: str) -> str:
    least, mean, most = figures
    return f"{least:,} {what}" if least == most else f"{least:,} to {most:,} {what}, {mean:.1f} in the mean"


def _percent(count: int, of: int) -> str:
    return f"{100 * count / max(of, 1):.0f} %"


def play_and_count(run: Lockstep, games: int = GAMES, seconds: float = SECONDS) -> Seen:
    """Play random games in the fastest way, for at most `seconds`; at least one is played to its end."""
    until = time.monotonic() + seconds
    game, way = run.game, run.ways[-1]
    choose = np.random.default_rng(run.seed)
    plies: list[int] = []
    choices: list[int] = []
    images: list[int] = []
    wins = np.zeros(game.players, int)
    values = np.zeros(game.players, np.float32)
    actions = np.zeros((game.players, game.most_legal), np.int32)
    counts = np.zeros(game.players, np.int32)
    states, image, none = game.new_states(1), game.new_states(1), np.zeros(0, np.int32)
    while len(plies) < games and (not plies or time.monotonic() < until):
        way.call("reset", states, generator(run.seed, len(plies)))
        ply = 0
        while True:
            values[:], counts[:] = 0.0, 0
            over, mover = way.call("inspect", states, values, actions, counts)
            if over:
                break
            if ply % 8 == 0 and game.symmetries > 1 and game.has("symmetry"):
                found = set()
                for which in some_symmetries(game):
                    way.call("symmetry", states, which, image, none, 0)
                    found.add(image.tobytes())
                images.append(len(found))
            choices += [count for count in counts.tolist() if count]
            rows = zip(actions, counts, strict=True)
            picked = [int(row[choose.integers(count)]) if count else -1 for row, count in rows]
            way.call("step", states, np.array(picked if mover == EVERYONE else [picked[mover]], np.int32))
            ply += 1
        plies.append(ply)
        best = int(values.argmax())
        if values[best] > (np.delete(values, best).max() if game.players > 1 else 0.0):
            wins[best] += 1
    mean_images = float(np.mean(images)) if images else 1.0
    return Seen(len(plies), _figures(plies), _figures(choices), tuple(wins.tolist()), mean_images)


def _figures(numbers: list[int]) -> tuple[int, float, int]:
    return (min(numbers), sum(numbers) / len(numbers), max(numbers)) if numbers else (0, 0.0, 0)
