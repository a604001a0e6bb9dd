"""Games and positions, for people: make a game, look at a position, play a move.

`Game` is what a game file derives from to give its rules a name, sizes and a voice. `Position` is immutable; playing a
move gives a new one. Both work in plain Python from the first moment; `Game.compile()` switches to machine code.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ludus import rules as generic
from ludus import stepping
from ludus.errors import BadOption, BadPosition, BrokenGame, IllegalMove, LudusError, Unsuitable, describe_error
from ludus.options import convert
from ludus.rng import generator
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ludus.graphs import Graph

Action = int | tuple[int, ...]
"""One player's action id, or in a simultaneous position one id for each player (-1 for a player without a choice)."""


class GraphShape(NamedTuple):
    """What the graphs of a game are like, and how large they get."""

    nodes: int
    """No graph has more nodes than this, those of the moves included."""
    edges: int
    features: int
    """Numbers for each node."""
    relations: tuple[str, ...]
    """The kinds of edges, by name; their index is the first number of an edge."""


class Game:
    """What a game's rules do not say: its name, its sizes, and how it is written and drawn."""

    Rules: ClassVar[type]
    """The NamedTuple class of the options. The functions of the rules stand beside it in the same module."""
    name: ClassVar[str]
    title: ClassVar[str]
    version: ClassVar[int] = 1
    """Raised whenever the same moves may lead elsewhere than before."""
    players: int = 2
    simultaneous: bool = False
    """Are there positions where everyone moves at once?"""
    zero_sum: bool = True
    """Do the values of all players always add up to 0?"""
    parallel: bool = True
    """False if several threads search no faster than one, as for games in ordinary Python."""

    made_by: tuple[str, dict[str, Any]] | None = None
    """The name and the options that `ludus.make` was given: they make the game again, in another process too."""

    # Set in setup(), since they may depend on the options.
    state: np.dtype | tuple[type, int]
    """The dtype of a state's record; or (integer type, length) for a plain row of integers."""
    actions: int
    """Action ids are 0 .. actions - 1."""
    most_legal: int
    """No player ever has more legal actions than this."""
    longest: int
    """No game has more plies than this."""
    observation: tuple[int, ...] | None = None
    """The shape of the planes that `observe` fills."""
    places: NDArray[np.int32] | None = None
    """Where each action is on the board, so that a network can play boards of all sizes: int32 [1, actions, 3], or
    [players, actions, 3] where it depends on who looks. Each place is (kind, row, column): row and column in the planes
    as the player sees them, -1 for a whole column, a whole row or both; the kind, from 0, tells moves at one place
    apart, and means the same on all boards."""
    mask: int | None = None
    """The number of the plane that is 1 on the board and 0 around it, where the planes may be larger than the board."""
    graph: GraphShape | None = None
    """The sizes of what `graph` of the rules fills."""
    symmetries: int = 1
    """The number of symmetries, the identity included."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "Rules" in cls.__dict__:
            import sys

            generic.register(cls.Rules, sys.modules[cls.Rules.__module__].__dict__)

    def __init__(self, **options: Any):
        self.rules: Any = self.make_rules(**options)
        self.compiled = False
        self.setup()

    # --- what a game file may override ------------------------------------------------------------------------------

    def make_rules(self, **options: Any) -> Any:
        """The rules for a user's options; by default, the options are the fields of the rules."""
        return self.Rules(**convert_options(self.name, self.options(), options))

    @classmethod
    def options(cls) -> dict[str, Any]:
        """The options and their defaults."""
        return dict(cls.Rules._field_defaults)  # type: ignore[attr-defined]

    def setup(self) -> None:
        """Check `self.rules` (raise BadOption) and set the sizes above."""
        raise NotImplementedError(f"{type(self).__name__} must define setup()")

    def write(self, state: Any) -> str:
        """The position as one line of text."""
        raise NotImplementedError(f"{type(self).__name__} must define write()")

    def read(self, text: str, state: Any) -> None:
        """Fill `state`, which arrives zeroed, from a text; raise BadPosition, with the place."""
        raise NotImplementedError(f"{type(self).__name__} must define read()")

    def write_move(self, state: Any, player: int, action: int) -> str:
        """An action in notation."""
        return str(action)

    def read_move(self, state: Any, player: int, text: str) -> int:
        """An action from its notation; raise IllegalMove, with the reason. By default, compare with the legal ones."""
        wanted = text.strip().lower()
        ids = self.legal(state, player)
        for action in ids:
            if self.write_move(state, player, action).lower() == wanted:
                return action
        shown = " ".join(self.write_move(state, player, action) for action in ids[:12])
        raise IllegalMove(f"{text!r} is not a legal move here; legal: {shown}{' ...' if len(ids) > 12 else ''}")

    def player_name(self, player: int) -> str:
        """What people call this player."""
        return f"player {player + 1}"

    def draw(self, state: Any) -> str:
        """The board as people like to see it in a terminal."""
        return self.write(state)

    def describe(self, state: Any) -> dict[str, Any]:
        """What a browser needs to draw the board, in lists, texts and numbers (see Position.json)."""
        return {}

    # --- what callers use ---------------------------------------------------------------------------------------------

    def start(self, seed: int = 0) -> Position:
        """The initial position; the seed matters where the set-up is random."""
        states = self.new_states(1)
        with np.errstate(over="ignore"):
            generic.reset(self.rules, self.state_view(states), generator(seed))
        return Position(self, states)

    def parse(self, text: str) -> Position:
        """The position that a text describes."""
        states = self.new_states(1)
        self.read(text, self.state_view(states))
        return Position(self, states)

    def compile(self) -> Game:
        """Use machine code from now on; the first time on a machine this takes some seconds, and says so."""
        if not self.compiled:
            from ludus import native

            if not type(self).__module__.startswith("ludus."):
                self._try_out()
            native.enable(type(self.rules))
            self.compiled = True
        return self

    def _try_out(self) -> None:
        """The first plies of somebody's game in plain Python, which fails with a message where machine code would fail
        with an unreadable one, or write where it must not."""
        try:
            position = self.start()
            for _ in range(3):
                if not position.is_over:
                    position = position.play(position.actions[0])
        except LudusError:
            raise
        except Exception as error:
            raise BrokenGame(
                f"{self.name} fails at the first try: {describe_error(error)}; ludus check says more"
            ) from error

    def new_states(self, count: int) -> NDArray[Any]:
        """An array of zeroed states: records [count], or rows of integers [count, length]."""
        if isinstance(self.state, tuple):
            kind, length = self.state
            return np.zeros((count, length), kind)
        return np.zeros(count, self.state)

    def state_view(self, states: NDArray[Any], index: int = 0) -> Any:
        """One state of an array, in place, as the functions of the rules take it in plain Python."""
        return states[index] if states.ndim == 2 else states.view(np.recarray)[index]

    def run(self, name: str, states: NDArray[Any], *arguments: Any) -> Any:
        """Call a function of ludus.stepping on `states`: compiled if the game is, else as plain Python."""
        if self.compiled:
            from ludus import native

            result = native.STEPPING[name](self.rules, states, *arguments)
            self.raise_pending()
            return result
        with np.errstate(over="ignore"):  # fingerprints and bit boards wrap around, as they do in machine code
            plain = states if states.ndim == 2 else states.view(np.recarray)
            return getattr(stepping, name)(self.rules, plain, *arguments)

    def raise_pending(self) -> None:
        """Call this after every kernel: raises what a game in ordinary Python raised in it (see ludus.python_games)."""

    def legal(self, state: Any, player: int) -> list[int]:
        """One player's legal actions, in plain Python."""
        buffer = np.empty(self.most_legal, np.int32)
        return buffer[: generic.legal(self.rules, state, player, buffer)].tolist()

    def has(self, name: str) -> bool:
        """Does the game define this optional function (see ludus.rules)?"""
        return generic.implementation(type(self.rules), name) is not None

    @property
    def two_player_zero_sum(self) -> bool:
        """True if two players move in turn, and one player's win is the other's loss."""
        return self.players == 2 and self.zero_sum and not self.simultaneous

    def require_two_player_zero_sum(self, refused: str, error: type[LudusError] = Unsuitable) -> None:
        """Raise `error` unless the game is a two-player zero-sum one; `refused` says what is not possible with it."""
        if not self.two_player_zero_sum:
            raise error(f"{self.name} {refused}: that needs two players who move in turn and whose values cancel")

    def options_in_use(self) -> dict[str, Any]:
        """The options that make this game again; by default, the fields of the rules but for tables that they carry."""
        return {name: value for name, value in self.rules._asdict().items() if not isinstance(value, np.ndarray)}

    @property
    def identity(self) -> str:
        """Name, options and version: equal for games in which the same moves mean the same."""
        options = ",".join(f"{name}={_brief(value)}" for name, value in self.rules._asdict().items())
        return f"{self.name}({options})v{self.version}"

    def __repr__(self) -> str:
        return self.identity


class Position:
    """A position of a game; it never changes."""

    def __init__(self, game: Game, states: NDArray[Any], parent: Position | None = None, action: Action | None = None):
        self.game = game
        self.states = states
        """An array with this one state in it, as kernels take it."""
        self.parent = parent
        self.action = action
        """The action that led here from `parent`."""

    @property
    def state(self) -> Any:
        return self.game.state_view(self.states)

    @cached_property
    def _facts(self) -> tuple[bool, int, tuple[float, ...], tuple[tuple[int, ...], ...]]:
        """Over or not, who moves, the values, and every player's legal actions."""
        game = self.game
        values = np.zeros(game.players, np.float32)
        actions = np.zeros((game.players, game.most_legal), np.int32)
        counts = np.zeros(game.players, np.int32)
        over, mover = game.run("inspect", self.states, values, actions, counts)
        legal = tuple(tuple(actions[player, :count].tolist()) for player, count in enumerate(counts.tolist()))
        return bool(over), int(mover), tuple(values.tolist()), legal

    @property
    def is_over(self) -> bool:
        return self._facts[0]

    @property
    def to_move(self) -> int:
        """The player to move, from 0, or EVERYONE (-1)."""
        return self._facts[1]

    @property
    def values(self) -> tuple[float, ...]:
        """The result for each player, in [-1, 1]; all 0 while the game is on."""
        return self._facts[2]

    def actions_of(self, player: int) -> list[int]:
        """One player's legal actions; none where it is not that player's turn."""
        return list(self._facts[3][player])

    @property
    def actions(self) -> Sequence[Action]:
        """What can be played: action ids, or where everyone moves at once, one tuple for each joint move."""
        if self.is_over:
            return []
        if self.to_move != EVERYONE:
            return self.actions_of(self.to_move)
        choices = [self.actions_of(player) or [-1] for player in range(self.game.players)]
        return list(itertools.product(*choices))

    @property
    def moves(self) -> list[str]:
        """The same as `actions`, in notation."""
        return [self.notation(action) for action in self.actions]

    def notation(self, action: Action) -> str:
        """An action in the game's notation; the parts of a joint move are joined by commas."""
        if isinstance(action, tuple):
            parts = ("-" if id < 0 else self.game.write_move(self.state, who, id) for who, id in enumerate(action))
            return ",".join(parts)
        return self.game.write_move(self.state, self.to_move, action)

    def action_of(self, move: str) -> Action:
        """The action that a move in notation stands for; IllegalMove says why it cannot be played."""
        if self.is_over:
            raise IllegalMove(f"{move!r} cannot be played: the game is over")
        if self.to_move != EVERYONE:
            return self.game.read_move(self.state, self.to_move, move)
        parts = [part.strip() for part in move.split(",")]
        if len(parts) != self.game.players:
            raise IllegalMove(f"{move!r}: everyone moves here, so give {self.game.players} moves joined by commas")
        return tuple(
            -1 if not self.actions_of(player) else self.game.read_move(self.state, player, part)
            for player, part in enumerate(parts)
        )

    def play(self, move: str | Action) -> Position:
        """The position after a move, given in notation or as an action id (a tuple of ids where everyone moves)."""
        action = self.action_of(move) if isinstance(move, str) else move
        action = tuple(int(part) for part in action) if np.ndim(action) else int(action)  # type: ignore
        self._check(action)
        states = self.states.copy()
        joint = np.array(action if isinstance(action, tuple) else (action,), np.int32)
        self.game.run("step", states, joint)
        return Position(self.game, states, self, action)

    def _check(self, action: Action) -> None:
        if self.is_over:
            raise IllegalMove(f"{action} cannot be played: the game is over")
        if (self.to_move == EVERYONE) != isinstance(action, tuple):
            needs = "one id for each player" if self.to_move == EVERYONE else "one id"
            raise IllegalMove(f"{action} cannot be played: this position takes {needs}")
        if isinstance(action, tuple):
            legal = len(action) == self.game.players and all(
                id in (self.actions_of(player) or [-1]) for player, id in enumerate(action)
            )
        else:
            legal = action in self.actions_of(self.to_move)
        if not legal:
            raise IllegalMove(f"action {action} is not legal in this position")

    @property
    def history(self) -> list[Position]:
        """The positions from the first known one to this one."""
        line: list[Position] = [self]
        while line[-1].parent is not None:
            line.append(line[-1].parent)
        return line[::-1]

    @property
    def played(self) -> list[str]:
        """The moves, in notation, that led from the first known position to this one."""
        line = self.history
        return [before.notation(after.action) for before, after in itertools.pairwise(line) if after.action is not None]

    @property
    def text(self) -> str:
        """The position as one line of text; `Game.parse` reads it."""
        return self.game.write(self.state)

    def observe(self, player: int | None = None) -> NDArray[np.float32]:
        """A network's input as a player sees it (by default the one to move), float32 of shape game.observation."""
        if self.game.observation is None:
            raise BadOption(f"{self.game.name} has no observation")
        planes = np.zeros(self.game.observation, np.float32)
        generic.observe(self.game.rules, self.state, max(self.to_move, 0) if player is None else player, planes)
        return planes

    def graph(self, player: int | None = None) -> Graph:
        """The position as a graph, as a player sees it (by default the one to move)."""
        from ludus.graphs import graph_of

        return graph_of(self, max(self.to_move, 0) if player is None else player)

    @property
    def json(self) -> dict[str, Any]:
        """All about the position, ready for json.dumps; `ludus.from_json` reads it."""
        return {
            "game": self.game.name,
            "options": self.game.options_in_use(),
            "version": self.game.version,
            "position": self.text,
            "to_move": None if self.is_over else self.to_move,
            "is_over": self.is_over,
            "values": list(self.values),
            "moves": [{"action": action, "move": self.notation(action)} for action in self.actions],
            "board": self.game.describe(self.state),
        }

    def __str__(self) -> str:
        return self.game.draw(self.state)

    def __repr__(self) -> str:
        return f"<{self.game.name} {self.text}>"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Position)
            and self.game.identity == other.game.identity
            and self.states.tobytes() == other.states.tobytes()
        )

    def __hash__(self) -> int:
        return hash(self.states.tobytes())


def _brief(value: Any) -> str:
    """An option in a word; of an array, a digest of all that it holds."""
    if not isinstance(value, np.ndarray):
        return str(value)
    return hashlib.sha256(f"{value.dtype}{value.shape}".encode() + value.tobytes()).hexdigest()[:12]


def convert_options(name: str, known: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Options given as text or as values, converted to the types of the defaults; BadOption names what is wrong."""
    options = dict(known)
    for key, value in given.items():
        if key not in known:
            has = f"its options are {', '.join(known)}" if known else "it has no options"
            raise BadOption(f"{name} has no option {key!r}; {has}")
        try:
            options[key] = convert(value, type(known[key]))
        except ValueError as wanted:
            raise BadOption(f"{name}: option {key} must be {wanted}, not {value!r}") from None
    return options


def require(condition: bool, message: str) -> None:
    """For setup(): raise BadOption unless the condition holds."""
    if not condition:
        raise BadOption(message)


__all__ = ["Action", "BadPosition", "Game", "GraphShape", "Position", "convert_options", "require"]
