"""Bots of OpenSpiel as agents, for OpenSpiel's games and for those of Ludus (see ludus.openspiel.to_pyspiel).

openspiel:mcts                   OpenSpiel's own tree search with random playouts, 1000 simulations a move
openspiel:mcts:5000:c=1.4        5000 simulations, and the exploration constant; 2s would be a time
openspiel:uniform_random         any bot that pyspiel.registered_bots() lists

The bot is C++ code that stops its process at the first mistake: like every external agent, it has a process of its own.
For a game of Ludus it calls back into Python for each move of a playout, and is slow.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ludus.agents.agent import Choice, player_asked
from ludus.agents.budget import Budget
from ludus.agents.external.program import choice_of
from ludus.agents.naming import number_from_0, whole_from_1, yes_or_no
from ludus.errors import BadAgent
from ludus.openspiel import OpenSpielGame, to_pyspiel

if TYPE_CHECKING:
    from ludus.agents.agent import Progress
    from ludus.agents.naming import Spec
    from ludus.game import Game
    from ludus.position import Position

BUDGET = Budget(simulations=1000)
OPTIONS = {"c": number_from_0, "rollouts": whole_from_1, "solve": yes_or_no, "memory": whole_from_1}
MCTS = "mcts"


class OpenSpielAgent:
    """A bot for the seat in which it is asked to move; it is told all moves, and made anew for each game and seat."""

    def __init__(
        self,
        game: Game,
        name: str,
        bot: str,
        budget: Budget | None = None,
        seed: int = 0,
        c: float = 2.0,
        rollouts: int = 1,
        solve: bool = True,
        memory: int = 1000,
    ):
        self.game, self.name, self.bot, self.budget = game, name, bot, budget
        self.c, self.rollouts, self.solve, self.memory = c, rollouts, solve, memory
        """Exploration constant, playouts for each leaf, whether proven results are used, and megabytes of the tree."""
        self.seed = seed & 0x7FFFFFFF
        self._seat: tuple[int, Budget | None] | None = None
        """The player and the budget that the bot was made for."""
        self._bot: Any = None
        self._spiel = to_pyspiel(game)
        self._state: Any = None
        self._told: list[Position] = []
        """The positions that the bot knows."""
        self._make_bot(0, budget)  # refuses a game that it cannot play

    def new_game(self, seed: int) -> None:
        if not isinstance(self.game, OpenSpielGame):  # whose states are OpenSpiel's own
            self.game.compile()
        self.seed = seed & 0x7FFFFFFF
        self._seat = None

    def choose(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        progress: Progress | None = None,
    ) -> Choice:
        player = player_asked(position, player)
        allowed = self.budget if budget is None else Budget.of(budget)
        began = time.monotonic()
        line = position.history
        if self._seat != (player, allowed) or line[: len(self._told)] != self._told:
            self._bot = self._make_bot(player, allowed)
            self._seat = player, allowed
            self._state, self._told = self._first_state(line[0]), line[:1]
        for after in line[len(self._told) :]:
            before = self._state.clone()
            mover = before.current_player()
            assert isinstance(after.action, int)
            self._state.apply_action(after.action)
            if mover != player:
                self._bot.inform_action(before, mover, after.action)
        self._told = line
        action, known = self._search() if self.bot == MCTS else (self._bot.step(self._state), {})
        move = position.game.write_move(position.state, player, int(action))
        return choice_of(position, player, move, seconds=time.monotonic() - began, **known)

    def _search(self) -> tuple[int, dict[str, Any]]:
        """The action that OpenSpiel's tree search prefers, and what it knows about it.

        In OpenSpiel 2.0, `step` of this bot ends the process for games in Python, `mcts_search` does not.
        """
        root = self._bot.mcts_search(self._state)
        best = root.best_child()
        value = best.total_reward / best.explore_count if best.explore_count else None
        is_ours = not isinstance(self.game, OpenSpielGame)  # utilities of OpenSpiel's games have other ranges
        return best.action, {"simulations": root.explore_count, "value": value if is_ours else None}

    def _first_state(self, first: Position) -> Any:
        """The state of OpenSpiel at the beginning of a line."""
        if not isinstance(self.game, OpenSpielGame):
            return self._spiel.state_at(first)
        if first != self.game.start():
            raise BadAgent(f"{self.name} cannot play from this position: give the moves from the start instead")
        return self._spiel.new_initial_state()

    def _make_bot(self, player: int, budget: Budget | None) -> Any:
        import pyspiel

        spiel = self._spiel
        if self.bot != MCTS:
            return pyspiel.load_bot(self.bot, spiel, player)
        limits = budget or BUDGET
        simulations = limits.simulations if limits.simulations is not None else 2**31 - 1
        timed = {} if limits.seconds is None else {"max_wall_clock_time": limits.seconds}
        evaluator = pyspiel.RandomRolloutEvaluator(self.rollouts, self.seed)
        common = spiel, evaluator, self.c, simulations, self.memory, self.solve, self.seed, False
        try:
            return pyspiel.MCTSBot(*common, **timed)
        except TypeError:
            if not timed:
                raise
            raise BadAgent(f"{self.name}: this version of OpenSpiel counts simulations only; give 1000, say") from None


def usual_budget(spec: Spec) -> Budget | None:
    """The budget of an agent whose name gives none."""
    return BUDGET if spec.words == [MCTS] else None


def facts_of(spec: Spec) -> dict[str, str]:
    """The part of an agent's identity that its name does not tell: the version of OpenSpiel."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return {"open_spiel": version("open_spiel")}
    except PackageNotFoundError:
        return {"open_spiel": "unknown"}


def make(spec: Spec, game: Game, seed: int) -> OpenSpielAgent:
    options = spec.read_options(OPTIONS)
    try:
        import pyspiel
    except ImportError as error:
        raise BadAgent(f"{spec.text} needs OpenSpiel ({error}): pip install 'ludus[openspiel]'") from None
    known = [MCTS, *pyspiel.registered_bots()]
    if len(spec.words) != 1 or spec.words[0] not in known:
        raise BadAgent(f"{spec.text}: name a bot of OpenSpiel, as in openspiel:mcts; there are {', '.join(known)}")
    if game.simultaneous:
        raise BadAgent(
            f"{spec.text} cannot play {game.name}: OpenSpiel's bots play games in which players move in turn"
        )
    if spec.words[0] != MCTS:
        spec.refuse_budget()
    return OpenSpielAgent(game, spec.text, spec.words[0], spec.budget, seed, **options)
