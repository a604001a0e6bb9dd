"""Further boards of a run: other sizes of the game, which are played and learned at the same time by the same weights.

The game of a run is its first board. Every board has self-play and a replay window of its own; each step of the learner
takes its rows from one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ludus.errors import BadOption
from ludus.nets.rows import empty_rows
from ludus.nets.sharing import share_weights
from ludus.training.replay import Window
from ludus.training.selfplay import Counts, LocalSelfPlay
from ludus.training.state import State, with_prefix

if TYPE_CHECKING:
    from collections.abc import Callable

    from ludus.game import Game
    from ludus.nets.rows import Rows
    from ludus.runs.config import Config


def further_games(game: Game, config: Config) -> list[Game]:
    """The games of the further boards, as the setting `boards` names them by options: n=5;n=11."""
    games = []
    for text in filter(None, map(str.strip, config.boards.split(";"))):
        given = {}
        for option in text.split(","):
            name, equals, value = option.partition("=")
            if not equals:
                raise BadOption(f"boards must be options of the game such as n=5;n=11, not {config.boards!r}")
            given[name.strip()] = value.strip()
        games.append(type(game)(**{**game.options_in_use(), **given}))
    return games


class Board:
    """A further board: its game, its self-play with a network of its size, and its replay window."""

    def __init__(self, number: int, game: Game, config: Config, weights: Any, games: int, workers: int):
        """`number` is from 1 on; `weights` is a network of another size, whose weights play at first."""
        self.prefix, self.game = f"board{number}.", game.compile()
        self.network = share_weights(config.make_network(game).to(next(weights.parameters()).device), weights).eval()
        shares = {"games": games, "workers": workers, "seed": 7919 * config.seed + 104_729 * number}
        self.selfplay = LocalSelfPlay(game, config, self.network, **shares, watch=False)
        self.window = Window(config, empty_rows(game.new_states(1), game.players))

    def load(self, weights: Any, calibration: Any) -> None:
        """Play with the weights of a network of another size from now on."""
        self.selfplay.load(share_weights(self.network, weights), calibration)

    def state(self) -> State:
        played, window = self.selfplay.state(), self.window.state()
        return State(
            arrays=with_prefix(self.prefix, played.arrays), facts={self.prefix: {**played.facts, **window.facts}}
        )

    def restore(self, state: State, load: Callable[[int], list[Rows]]) -> None:
        own = State(arrays=state.arrays_of(self.prefix), facts=state.facts[self.prefix])
        self.selfplay.restore(own)
        self.window.restore(own, load)


def add_counts(counts: list[Counts]) -> Counts:
    """The counts of all boards together; the game to watch is that of the first."""
    return Counts(
        games=sum(each.games for each in counts),
        plies=sum(each.plies for each in counts),
        simulations=sum(each.simulations for each in counts),
        seconds=sum(each.seconds for each in counts),
        resign_error=max(each.resign_error for each in counts),
        wins=tuple(map(sum, zip(*(each.wins for each in counts), strict=True))),
        draws=sum(each.draws for each in counts),
        watched=counts[0].watched,
    )
