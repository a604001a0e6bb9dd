"""The games of OpenSpiel: ludus.make("openspiel:hex(board_size=5)"), or ludus.make("openspiel:hex", board_size=5).

Games with any number of players are supported if players move in turn, nothing is hidden and nothing is random.
OpenSpiel's states are the boards of a PythonGame, so such a game is slower than a game written for Ludus.

Some games may last very long (chess: 17,695 plies), and a search keeps the history of every position it stores. So a
game ends after 1,000 plies with the returns so far, which for nearly all games means a draw. The option `longest` sets
another limit: ludus.make("openspiel:chess", longest=300).

In the other direction, `ludus.openspiel.to_pyspiel(game)` makes a game of OpenSpiel from any game of Ludus
(exported.py).
"""

from __future__ import annotations

import difflib
import re
from typing import Any

import numpy as np

from ludus.errors import BadOption, UnknownGame, Unsuitable
from ludus.game import Game, convert_options, require
from ludus.python_games import PythonGame
from ludus.spec import GameSpec

LONGEST = 1000


class OpenSpielGame(PythonGame):
    """A game of OpenSpiel; `spiel` is its pyspiel.Game."""

    def __init__(self, spiel: Any, longest: int = 0):
        self.spiel = spiel
        kind = spiel.get_type()
        natural = min(spiel.max_game_length(), LONGEST)
        self.longest = longest or natural
        name, _, parameters = str(spiel).removesuffix(")").partition("(")
        cut = [f"longest={longest}"] if longest not in (0, natural) else []
        self.parameters = _parameters_of(spiel) | ({"longest": longest} if cut else {})
        """The options that were given. The others are left to OpenSpiel, as some defaults depend on other options."""
        given = ",".join([parameters] * bool(parameters) + cut)
        self.name = f"openspiel:{name}({given})" if given else f"openspiel:{name}"  # type: ignore[misc]
        self.title = f"{kind.long_name} (OpenSpiel)"  # type: ignore[misc]
        self.players = spiel.num_players()
        self.zero_sum = kind.utility.name == "ZERO_SUM"
        lowest, highest = spiel.min_utility(), spiel.max_utility()
        # If the utilities add up to 0, a utility of 0 becomes the value 0; otherwise the whole range is used.
        self.middle = 0.0 if self.zero_sum else (lowest + highest) / 2
        self.scale = max(highest - self.middle, self.middle - lowest) or 1.0
        self.actions = self.most_legal = spiel.num_distinct_actions()
        if kind.provides_observation_tensor:
            planes, *size = spiel.observation_tensor_shape()
            self.observation = (planes + self.players, *size)
        sizes = (self.actions, self.longest, *(self.observation or ()))
        require(min(sizes) > 0, f"{self.name}: a parameter is out of range")
        super().__init__()

    def setup(self) -> None:
        pass  # __init__ has set the sizes

    def options_in_use(self) -> dict[str, Any]:
        return dict(self.parameters)

    @property
    def spec(self) -> GameSpec:
        return GameSpec(f"openspiel:{self.spiel.get_type().short_name}", self.parameters)

    @property
    def identity(self) -> str:
        return f"{self.name}{'' if self.name.endswith(')') else '()'}v{self.version}"

    def initial(self, seed: int) -> Any:
        return self.spiel.new_initial_state()

    def mover(self, board: Any) -> int:
        return board.current_player()

    def legal_actions(self, board: Any, player: int) -> list[int]:
        return board.legal_actions(player)

    def after(self, board: Any, action: int) -> Any:
        return board.child(action)

    def result(self, board: Any) -> list[float] | None:
        if not board.is_terminal() and board.move_number() < self.longest:
            return None
        return [min(1.0, max(-1.0, (value - self.middle) / self.scale)) for value in board.returns()]

    def features(self, board: Any, player: int) -> Any:
        """OpenSpiel's observation, and a plane for each player that marks the observer, which many games leave out."""
        assert self.observation is not None
        planes = np.zeros(self.observation, np.float32)
        planes[: -self.players] = np.reshape(board.observation_tensor(player), planes[: -self.players].shape)
        planes[player - self.players] = 1.0
        return planes

    def move_name(self, board: Any, player: int, action: int) -> str:
        return board.action_to_string(player, action)

    def picture(self, board: Any) -> str:
        return str(board)


def to_pyspiel(game: Game, seed: int = 0) -> Any:
    """The pyspiel.Game of any game; of one that comes from OpenSpiel, its own.

    `seed` is the seed of the start, for games with a random set-up. docs/engines.md says more.
    """
    if isinstance(game, OpenSpielGame):
        return game.spiel
    try:
        from ludus.openspiel.exported import to_pyspiel
    except ImportError as error:
        raise Unsuitable(
            f"{game.name} as a game of OpenSpiel needs OpenSpiel ({error}): pip install 'ludus[openspiel]'"
        ) from None
    return to_pyspiel(game, seed)


def make(rest: str, /, **options: Any) -> OpenSpielGame:
    """The game that OpenSpiel knows by this name, with its parameters in brackets or as options."""
    try:
        import pyspiel
    except ImportError as error:
        raise UnknownGame(f"openspiel:{rest} needs OpenSpiel ({error}): pip install 'ludus[openspiel]'") from None
    name, given = _parse(pyspiel, rest)
    given.update(options)
    kind = _kind_of(pyspiel, name)
    known = dict(kind.parameter_specification)
    nested = {key: given.pop(key) for key in list(given) if isinstance(known.get(key), dict)}
    converted = convert_options(f"openspiel:{name}", {**known, "longest": 0}, given)
    longest = converted["longest"]
    for key, default in known.items():
        require(default != {} or key in nested, f"openspiel:{name} needs the option {key}")
    require(longest >= 0, f"openspiel:{name}: longest must be at least 1, or 0 for the game's own")
    # Only the given options are passed: the defaults of some parameters depend on other parameters.
    parameters = {key: converted[key] for key in given if key != "longest"}
    for key, value in nested.items():
        parameters[key] = pyspiel.game_parameters_from_string(value) if isinstance(value, str) else value
    try:
        spiel = pyspiel.load_game(name, parameters)
        _check(spiel.get_type(), name)
        return OpenSpielGame(spiel, longest)
    except (pyspiel.SpielError, TypeError) as error:  # TypeError: a parameter that is a list, from JSON
        raise BadOption(f"openspiel:{name}: OpenSpiel says: {' '.join(str(error).split())[:200]}") from None


def _parameters_of(spiel: Any) -> dict[str, Any]:
    """The parameters that a game of OpenSpiel was made with, as pyspiel.load_game takes them."""
    import pyspiel

    parameters = pyspiel.game_parameters_from_string(str(spiel))
    del parameters["name"]
    return parameters


def _parse(pyspiel: Any, rest: str) -> tuple[str, dict[str, Any]]:
    # OpenSpiel also reports unreadable names on standard error, so the name is checked here first.
    rest = re.sub(r"\s*([(),=])\s*", r"\1", rest.strip())
    if not re.fullmatch(r"\w+(\(.*\))?", rest) or rest.count("(") != rest.count(")"):
        raise UnknownGame(f"openspiel:{rest} cannot be read; write it like openspiel:hex(board_size=5)")
    parameters = pyspiel.game_parameters_from_string(rest)
    return parameters.pop("name"), parameters


def _kind_of(pyspiel: Any, name: str) -> Any:
    if name.startswith("python_"):
        import open_spiel.python.games  # noqa: F401  (registers them)
    kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
    if name not in kinds:
        close = difflib.get_close_matches(name, kinds, 1)
        hint = f"did you mean {close[0]}?" if close else "pyspiel.registered_names() lists them"
        raise UnknownGame(f"OpenSpiel has no game {name!r}; {hint}")
    return kinds[name]


def _check(kind: Any, name: str) -> None:
    """Raise Unsuitable for a game that cannot be searched."""
    wants = (
        (kind.dynamics, "SEQUENTIAL", "players who move in turn"),
        (kind.chance_mode, "DETERMINISTIC", "no chance"),
        (kind.information, "PERFECT_INFORMATION", "nothing hidden"),
    )
    for value, wanted, words in wants:
        if value.name != wanted:
            found = value.name.lower().replace("_", " ")
            raise Unsuitable(
                f"openspiel:{name} cannot be searched: it is {found}, and the bridge takes games with {words}"
            )
