"""Game: the class that a game file derives from to give its rules a name, sizes, notation and a drawing.

Games and positions work in plain Python from the first moment; `Game.compile()` switches to machine code.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ludus import rules as generic
from ludus import stepping
from ludus.errors import (
    BadOption,
    BadPosition,
    BrokenGame,
    IllegalMove,
    LudusError,
    UnknownGame,
    Unsuitable,
    describe_error,
)
from ludus.fields import read_fields, write_fields
from ludus.options import convert
from ludus.position import Action, Position
from ludus.rng import generator
from ludus.sources import Source, has_relative_imports, read_source
from ludus.spec import GameSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ludus.board.parts import Board, Cell

BUILT_IN = "ludus.games."
"""Prefix of the module names of the built-in games."""


class GraphShape(NamedTuple):
    """The sizes and relations of the graphs of a game."""

    nodes: int
    """The largest number of nodes of a graph, including those of the moves."""
    edges: int
    """The largest number of edges of a graph."""
    features: int
    """The number of features of a node."""
    relations: tuple[str, ...]
    """The kinds of edges, by name; their index is the first number of an edge."""


class GroupShape(NamedTuple):
    """The sizes of what `groups` of the rules fills."""

    planes: int
    """The number of planes."""
    rows: int
    columns: int
    groups: tuple[int, ...]
    """The number of groups in each grouping."""

    @property
    def cells(self) -> int:
        """The number of cells of a plane."""
        return self.rows * self.columns

    @property
    def inputs(self) -> tuple[int, int, int]:
        """The shape of planes and groupings as one array: the ids of a grouping are one more plane."""
        return self.planes + len(self.groups), self.rows, self.columns


class TouchShape(NamedTuple):
    """The sizes of what `touches` of the rules tells of a move."""

    kinds: int
    """The number of kinds of moves."""
    roles: int
    """The number of roles of cells, such as: from, to, taken."""
    cells: int
    """The largest number of cells that a move touches."""


class Game:
    """The part of a game beside its rules: its name, its sizes, and how it is written and drawn."""

    Rules: ClassVar[type]
    """The NamedTuple class of the options. The functions of the rules stand beside it in the same module."""
    name: ClassVar[str]
    title: ClassVar[str]
    version: ClassVar[int] = 1
    """The version of the rules. Raise it if the same moves may lead to other positions or results than before."""
    players: int = 2
    simultaneous: bool = False
    """True if there are positions in which all players move at once."""
    zero_sum: bool = True
    """True if the values of all players always add up to 0."""
    parallel: bool = True
    """False if several threads search no faster than one, as for games in ordinary Python."""

    # Set in setup(), since they may depend on the options.
    state: np.dtype | tuple[type, int]
    """The dtype of a state's record; or (integer type, length) for a plain row of integers."""
    scratch: int = 0
    """If states are rows of integers: how many more of these, at first 0, a search keeps behind a state that it plays
    on. The functions of the rules may use them to remember what they have worked out."""
    actions: int
    """Action ids are 0 .. actions - 1."""
    most_legal: int
    """The largest number of legal actions of a player."""
    longest: int
    """The largest number of plies of a game."""
    observation: tuple[int, ...] | None = None
    """The shape of the planes that `observe` fills."""
    observation_bounds: tuple[float, float] = (-np.inf, np.inf)
    """The lowest and the highest number that `observe` writes."""
    places: NDArray[np.int32] | None = None
    """The place of each action on the board, for networks that play boards of all sizes: int32 [1, actions, 3], or
    [players, actions, 3] if it depends on the observing player. A place is (kind, row, column). Row and column refer to
    the observed planes; a row of -1 means a whole column, a column of -1 a whole row, both the whole board. The kind,
    from 0, separates moves at the same place, and has the same meaning on all boards."""
    words: NDArray[np.int32] | None = None
    """The words that each action is made of, int32 [actions, most], numbered from 0 on; -1 for none. Networks without a
    board score an action by its words: (take 3 red) by "take", by a first argument 3 and by a second argument red."""
    mask: int | None = None
    """The number of the plane that is 1 on the board and 0 around it, where the planes may be larger than the board."""
    graph: GraphShape | None = None
    """The sizes of the arrays that `graph` of the rules fills."""
    groups: GroupShape | None = None
    """The sizes of the arrays that `groups` of the rules fills."""
    touches: TouchShape | None = None
    """The sizes of what `touches` of the rules tells; cells are numbered as in `groups`."""
    symmetries: int = 1
    """The number of symmetries, the identity included."""
    variants: ClassVar[Sequence[Mapping[str, Any]]] = ()
    """Options other than the defaults that `ludus check` tries, such as ({"rows": 4}, {"rows": 6, "columns": 5})."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "Rules" in cls.__dict__:
            generic.register(cls.Rules, sys.modules[cls.Rules.__module__].__dict__)

    def __init__(self, /, **options: Any):
        if not hasattr(self, "name"):
            raise BrokenGame(f"{type(self).__name__}: the class must set name to a text")
        self._given = options
        self.rules: Any = self.make_rules(**options)
        self.compiled = False
        self.setup()

    # --- methods that a game file may override ----------------------------------------------------------------------

    def curriculum(self) -> Sequence[tuple[float, Game]]:
        """Easier versions of the game that a training plays first, each until a fraction of the run; by default none.

        Their states, actions and observations have the same shapes. Games under way continue in the next version, so a
        position must not be over there without being over in the version before, as with an earlier limit of plies.
        """
        return ()

    def make_rules(self, **options: Any) -> Any:
        """The rules for a user's options; by default, the options are the fields of the rules."""
        for field in getattr(self.Rules, "_fields", ()):
            if type(self.options().get(field)) not in (bool, int, float, str):
                kinds = "a default that is a whole number, a number, a text, True or False"
                raise BrokenGame(f"{type(self).__name__}: option {field} of {self.Rules.__name__} must have {kinds}")
        return self.Rules(**convert_options(self.name, self.options(), options))

    @classmethod
    def options(cls) -> dict[str, Any]:
        """The options and their defaults."""
        return dict(cls.Rules._field_defaults)  # type: ignore[attr-defined]

    def setup(self) -> None:
        """Check `self.rules` (raise BadOption) and set the sizes above."""
        raise NotImplementedError(f"{type(self).__name__} must define setup()")

    def write(self, state: Any) -> str:
        """The position as one line of text. By default, the numbers of all fields: `heap=5 turn=1`."""
        return write_fields(state)

    def read(self, text: str, state: Any) -> None:
        """Fill `state`, which is zeroed, from a text; raise BadPosition, with the place of the error.

        By default, read what the default of `write` writes.
        """
        read_fields(text, state)
        self.require_playable(state)

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
        """The name of a player for people."""
        return f"player {player + 1}"

    def draw(self, state: Any) -> str:
        """The board as text for a terminal, of one or more lines."""
        return self.write(state)

    def describe(self, state: Any) -> dict[str, Any]:
        """The position in lists, texts and numbers of the game's own choice, for other programs (see Position.json)."""
        return {}

    def drawing(self, position: Position) -> Board | None:
        """The board for people to see and click (see ludus.board); None shows the text and a list of moves."""
        return None

    def attempt(self, position: Position, player: int, touched: list[str]) -> str | None:
        """The move, legal or not, that clicking these cells and hand pieces would be, in notation; None if unknown.

        `read_move` then says why it is not legal. By default, the ids of the cells are joined.
        """
        return "".join(touched)

    def arrange(self, placed: Mapping[str, Any], player: int) -> str:
        """The text of the position with these pieces, in which a player is to move, for `read`; raise BadPosition.

        `placed` gives for each cell that is not empty the number of its piece in the `stock` of the board; if the board
        says `stacks`, a list of such numbers from the bottom up. If the table says `holds`, it also gives a list of the
        numbers of the pieces in each row, under the name of the row.
        """
        raise BadPosition(f"{self.name} cannot be set up by hand: give the position as text")

    def cells_to_set_up(self, ids: Sequence[str]) -> Sequence[Cell] | None:
        """The cells to show while a position is set up and there are pieces on these cells, whether or not it is legal.

        None stands for the cells of the initial position. A board without bounds grows with its pieces.
        """
        return None

    # --- methods for callers ------------------------------------------------------------------------------------------

    def start(self, seed: int = 0) -> Position:
        """The initial position; the seed matters where the set-up is random."""
        states = self.new_states(1)
        with np.errstate(over="ignore"):
            generic.reset(self.rules, self.state_view(states), generator(seed))
        return Position(self, states)

    def parse(self, text: str) -> Position:
        """The position that a text describes; BadPosition says what is wrong with it."""
        if not isinstance(text, str):
            raise BadPosition(f"a position is given as text, not as {type(text).__name__}")
        states = self.new_states(1)
        self.read(text, self.state_view(states))
        return Position(self, states)

    def compile(self) -> Game:
        """Use machine code from now on. The first time on a machine this takes some seconds, and is reported."""
        if not self.compiled:
            from ludus import native

            if not type(self).__module__.startswith("ludus."):
                self._try_out()
            native.enable(type(self.rules))
            self.compiled = True
        return self

    def _try_out(self) -> None:
        """Play the first plies of a user's game in plain Python.

        A mistake in the rules then gets a readable message; machine code would give none, or write out of bounds.
        """
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

    def require_playable(self, state: Any) -> None:
        """For `read`: raise BadPosition if the rules fail in a state, or give players or actions that do not exist."""
        try:
            with np.errstate(over="ignore"):
                values = np.zeros(self.players, np.float32)
                if generic.outcome(self.rules, state, values):
                    sound = bool((np.abs(values) <= 1).all())
                else:
                    mover = int(generic.to_move(self.rules, state))
                    sound = -1 <= mover < self.players
                    movers = range(self.players) if mover == generic.EVERYONE else (mover,)
                    listed = [self.legal(state, player) for player in movers] if sound else []
                    sound = any(listed) and all(0 <= id < self.actions for ids in listed for id in ids)
        except LudusError:
            raise
        except Exception as error:
            raise BadPosition(f"{self.name} has no such position: {describe_error(error)}") from error
        if not sound:
            raise BadPosition(f"{self.name} has no such position: its rules give no legal move there")

    def new_states(self, count: int, scratch: bool = False) -> NDArray[Any]:
        """An array of zeroed states: records [count], or rows of integers [count, length], with scratch if asked."""
        if isinstance(self.state, tuple):
            kind, length = self.state
            return np.zeros((count, length + self.scratch * scratch), kind)
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
        """Raise the exception of a game in ordinary Python that occurred in a kernel. Call it after every kernel."""

    def legal(self, state: Any, player: int) -> list[int]:
        """One player's legal actions, in plain Python."""
        buffer = np.empty(self.most_legal, np.int32)
        return buffer[: generic.legal(self.rules, state, player, buffer)].tolist()

    def has(self, name: str) -> bool:
        """True if the game defines this optional function (see ludus.rules)."""
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
        """All options that make this game again; by default, the fields of the rules that are options.

        Override it if `make_rules` turns an option into a field of the same name with another meaning.
        """
        fields = self.rules._asdict()
        values = {name: fields.get(name, self._given.get(name, usual)) for name, usual in self.options().items()}
        return {name: value for name, value in values.items() if not isinstance(value, np.ndarray)}

    @property
    def spec(self) -> GameSpec:
        """The spec that makes this game again in any process; raises Unsuitable for a class that is not in a file."""
        kind = type(self)
        if kind.__module__.startswith(BUILT_IN):
            return GameSpec(kind.__module__.removeprefix(BUILT_IN), self.options_in_use())
        source = source_of(kind)
        if source is None:
            raise Unsuitable(
                f"{self.name} cannot be made again, in another process or later: save {kind.__qualname__} in a Python "
                "file that holds no other game, and make it by ludus.make(FILE)"
            )
        return GameSpec(str(source.path), self.options_in_use(), source.digest)

    @property
    def identity(self) -> str:
        """Name, options, version and, for a user's file, the digest of its source.

        It is equal for games with the same behaviour.
        """
        options = ",".join(f"{name}={_brief(value)}" for name, value in self.identity_options().items())
        return f"{self.name}({options})v{self.version}" + (f"#{self.digest}" if self.digest else "")

    @property
    def source(self) -> Source | None:
        """The source of a game in a user's file, else None."""
        return None if type(self).__module__.startswith("ludus.") else source_of(type(self))

    @property
    def digest(self) -> str:
        """The digest of the rules' source if they are in a user's file (see ludus.sources), else empty."""
        return "" if self.source is None else self.source.digest

    def identity_options(self) -> dict[str, Any]:
        """The options as the identity shows them: all fields of the rules."""
        return self.rules._asdict()

    def __repr__(self) -> str:
        return self.identity


def game_classes(module: ModuleType) -> list[type[Game]]:
    """The games that a module defines itself."""
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Game)
        and value.__module__ == module.__name__
        and hasattr(value, "Rules")
    ]


def source_of(kind: type[Game]) -> Source | None:
    """The source of the file that `ludus.make` makes this class from; None if there is no such file."""
    if kind not in _sources:
        _sources[kind] = _find_source(kind)
    return _sources[kind]


_sources: dict[type, Source | None] = {}


def _find_source(kind: type[Game]) -> Source | None:
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    if module is None or file is None or not file.endswith(".py") or game_classes(module) != [kind]:
        return None
    if hasattr(module, "__source__"):  # ludus.registry loaded it, and the file may have changed since
        return module.__source__
    try:
        source = read_source(Path(file))
    except UnknownGame:
        return None
    return None if has_relative_imports(source.path.name, source.files[source.path.name]) else source


def _brief(value: Any) -> str:
    """An option as text; an array as a digest of its content."""
    if not isinstance(value, np.ndarray):
        return str(value)
    return hashlib.sha256(f"{value.dtype}{value.shape}".encode() + value.tobytes()).hexdigest()[:12]


def convert_options(name: str, known: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Options given as text or as values, converted to the types of the defaults; raises BadOption."""
    options = dict(known)
    for key, value in given.items():
        if key not in known:
            has = f"its options are {', '.join(known)}" if known else "it has no options"
            raise BadOption(f"{name} has no option {key!r}; {has}")
        if value is None and known[key] is None:
            continue
        try:
            options[key] = convert(value, type(known[key]))
        except ValueError as wanted:
            raise BadOption(f"{name}: option {key} must be {wanted}, not {value!r}") from None
    return options


def require(condition: bool, message: str) -> None:
    """For setup(): raise BadOption unless the condition holds."""
    if not condition:
        raise BadOption(message)


__all__ = [
    "Action",
    "BadPosition",
    "Game",
    "GraphShape",
    "GroupShape",
    "Position",
    "TouchShape",
    "convert_options",
    "require",
]
