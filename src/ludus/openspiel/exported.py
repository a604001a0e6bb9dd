"""Games of Ludus as games of OpenSpiel: `to_pyspiel(game)`, or `pyspiel.load_game("ludus(game=connect4)")`.

Importing this module registers the game `ludus` with OpenSpiel. Its parameters make the game of Ludus again:

    game       its name, or the path of its file
    options    its options as JSON, with characters that OpenSpiel does not allow written as %XX
    seed       the seed of the start, which matters for games with a random set-up such as Sevn

Games of any number of players are supported, also those in which all players move at once. A start with a random
set-up is fixed by the seed, so that the game has no chance nodes. Values are the utilities, from -1 to 1.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
import pyspiel

from ludus.errors import Unsuitable
from ludus.game import Game
from ludus.position import Action, Position
from ludus.registry import remake
from ludus.rules import EVERYONE
from ludus.spec import GameSpec

NAME = "ludus"
PARAMETERS = {"game": "tictactoe", "options": "", "seed": 0}
MOST_PLAYERS = 64

_made: dict[tuple[str, str], Game] = {}
"""The games that were made, by the parameters `game` and `options`."""


def to_pyspiel(game: Game, seed: int = 0) -> pyspiel.Game:
    """The game of OpenSpiel whose positions are those of a game of Ludus, from the start with this seed.

    Compile the game before (`game.compile()`), if it is searched: positions are then several times faster.
    """
    parameters = _parameters(game, seed)
    _made[parameters["game"], parameters["options"]] = game
    return LudusGame(parameters)


def _parameters(game: Game, seed: int) -> dict[str, Any]:
    spec = game.spec
    options = quote(json.dumps(dict(spec.options), sort_keys=True), safe="") if spec.options else ""
    return {"game": quote(spec.source, safe="/:."), "options": options, "seed": seed}


def _game_of(parameters: dict[str, Any]) -> Game:
    """The game of these parameters. Python files are run by `ludus.make` only, whose game `to_pyspiel` gets."""
    key = parameters["game"], parameters["options"]
    if key not in _made:
        options = json.loads(unquote(key[1])) if key[1] else {}
        _made[key] = remake(GameSpec(unquote(key[0]), options))
    return _made[key]


def _type_of(game: Game | None) -> pyspiel.GameType:
    """The type of a game, or of all of them: then it states what any of them may be."""
    kinds = pyspiel.GameType
    players = (1, MOST_PLAYERS) if game is None else (game.players, game.players)
    together = game is not None and game.simultaneous
    return kinds(
        short_name=NAME,
        long_name="Ludus" if game is None else f"{game.title} (Ludus)",
        dynamics=kinds.Dynamics.SIMULTANEOUS if together else kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.DETERMINISTIC,
        information=kinds.Information.PERFECT_INFORMATION,
        utility=kinds.Utility.ZERO_SUM if game is None or game.zero_sum else kinds.Utility.GENERAL_SUM,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=players[1],
        min_num_players=players[0],
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=game is not None and game.observation is not None,
        parameter_specification=PARAMETERS,
    )


class LudusGame(pyspiel.Game):
    """A game of Ludus. `ludus_game` is that game."""

    def __init__(self, parameters: dict[str, Any] | None = None):
        given = {**PARAMETERS, **(parameters or {})}
        game = _game_of(given)
        if game.players > MOST_PLAYERS:
            raise Unsuitable(f"{game.name} has {game.players} players; OpenSpiel gets {MOST_PLAYERS} at most")
        self.ludus_game = game
        self.start = game.start(given["seed"])
        info = pyspiel.GameInfo(
            num_distinct_actions=game.actions,
            max_chance_outcomes=0,
            num_players=game.players,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0 if game.zero_sum else None,
            max_game_length=game.longest,
        )
        super().__init__(_type_of(game), info, given)

    def new_initial_state(self, state: Any = None) -> LudusState:
        return LudusState(self)

    def state_at(self, position: Position) -> LudusState:
        """The state of any position of the game. Its history begins there."""
        state = LudusState(self)
        state._held = _Held(position)
        return state

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> LudusObserver:
        return LudusObserver(self.ludus_game, iig_obs_type is not None and iig_obs_type.perfect_recall)


class _Held:
    """The position of a state. Copies share it, since it never changes; a pickle holds the start and the actions."""

    __slots__ = ("position",)

    def __init__(self, position: Position):
        self.position = position

    def __deepcopy__(self, memo: Any) -> _Held:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        line, made = self.position.history, _parameters(self.position.game, 0)
        return _restored, (made, line[0].states.tobytes(), [each.action for each in line[1:]])


def _restored(parameters: dict[str, Any], start: bytes, actions: list[Action]) -> _Held:
    """The position that `_Held.__reduce__` described."""
    game = _game_of(parameters)
    states = game.new_states(1)
    states[...] = np.frombuffer(start, states.dtype).reshape(states.shape)
    position = Position(game, states)
    for action in actions:
        position = position.play(action)
    return _Held(position)


class LudusState(pyspiel.State):
    """A position of a game of Ludus."""

    def __init__(self, game: LudusGame):
        super().__init__(game)
        self._held = _Held(game.start)

    @property
    def position(self) -> Position:
        return self._held.position

    def current_player(self) -> int:
        position = self.position
        if position.is_over:
            return pyspiel.PlayerId.TERMINAL
        return pyspiel.PlayerId.SIMULTANEOUS if position.to_move == EVERYONE else position.to_move

    def is_terminal(self) -> bool:
        return self.position.is_over

    def returns(self) -> list[float]:
        return list(self.position.values)

    def _legal_actions(self, player: int) -> list[int]:
        return sorted(self.position.actions_of(player))

    def _apply_action(self, action: int) -> None:
        self._held = _Held(self.position.play(int(action)))

    def _apply_actions(self, actions: list[int]) -> None:
        position = self.position
        joint = tuple(int(each) if position.actions_of(player) else -1 for player, each in enumerate(actions))
        self._held = _Held(position.play(joint))

    def _action_to_string(self, player: int, action: int) -> str:
        position = self.position
        return position.game.write_move(position.state, max(player, 0), int(action))

    def __str__(self) -> str:
        return str(self.position)


class LudusObserver:
    """What a player sees: the planes of the game as a tensor, and the text of the position or of the moves so far."""

    def __init__(self, game: Game, perfect_recall: bool):
        self.perfect_recall = perfect_recall
        self.tensor: np.ndarray | None = None
        self.dict: dict[str, np.ndarray] = {}
        if game.observation is not None and not perfect_recall:
            self.tensor = np.zeros(int(np.prod(game.observation)), np.float32)
            self.dict = {"observation": self.tensor.reshape(game.observation)}

    def set_from(self, state: LudusState, player: int) -> None:
        if self.tensor is not None:
            self.tensor[:] = state.position.observe(player).reshape(-1)

    def string_from(self, state: LudusState, player: int) -> str:
        return state.history_str() if self.perfect_recall else state.position.text


pyspiel.register_game(_type_of(None), LudusGame)
