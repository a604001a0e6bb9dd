"""A description that is played by the reasoner, for rules that cannot be grounded."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, NamedTuple

from ludus.errors import BadPosition, LudusError
from ludus.game import require
from ludus.gdl.described import MOST_LONGEST, DescribedGame
from ludus.gdl.kif import BadDescription, shorten, show
from ludus.gdl.language import Description, Term, goal_of
from ludus.gdl.notation import find_move, read_position, write_position
from ludus.gdl.reasoner import Reasoner
from ludus.options import convert
from ludus.position import Position
from ludus.python_games import PythonGame
from ludus.python_games.boards import STATUS
from ludus.python_games.rules import MOVER, SEED, ask, history_of
from ludus.rules import EVERYONE
from ludus.sources import Source

MAX_ROLES = 250
MOST_LEGAL = 1 << 17
"""Most legal moves that a role may have in one position, and fewer where many roles play."""
MOST_TOGETHER = 1 << 20
"""Most legal moves of all roles together, about: a search has room for them."""
REMEMBERED_TERMS = 4_000_000
"""Facts and moves in all positions that are remembered, about."""


class Board(NamedTuple):
    """A position."""

    facts: tuple[Term, ...]
    plies: int
    legal: list[list[Term]]
    """By role: its legal moves in the order of the text; none where the game is over."""
    mover: int
    """The only role with a choice, the first role where none has one, or EVERYONE."""
    values: tuple[float, ...] | None
    """By role, where the game is over."""


class ReasonedGame(DescribedGame, PythonGame):
    """A game whose rules are evaluated as they stand.

    An action is the place of a move among the legal moves of its role, so that all processes number the moves of a
    position alike. The text of moves and positions is the same as for other games in GDL.
    """

    zero_sum = False

    def __init__(
        self, description: Description, name: str = "description", source: Source | None = None, /, **options: Any
    ):
        self._digests: dict[Term, int] = {}
        super().__init__(description, name, source, **options)

    def setup(self) -> None:
        self.longest = self.settings.longest
        require(0 < self.longest <= MOST_LONGEST, f"{self.name}: longest must be from 1 to {MOST_LONGEST}")
        self.settings.reasoner = True
        self.reasoner = Reasoner(self.description)
        self.roles = self.reasoner.roles
        if not 0 < len(self.roles) <= MAX_ROLES:
            raise BadDescription(f"{self.description.source} has {len(self.roles)} roles; at most {MAX_ROLES} can play")
        self._starts: list[tuple[tuple[Term, ...], int]] = [(self.reasoner.initial, 0)]
        """The facts and plies of positions that play began from: the first position, and those that were read."""
        self._start_numbers = {(frozenset(self.reasoner.initial), 0): 0}
        self.players = len(self.roles)
        self.actions = self.most_legal = min(MOST_LEGAL, max(1 << 14, MOST_TOGETHER // self.players))
        self.simultaneous = self.players > 1
        first = self.initial(0)
        terms = len(first.facts) + sum(map(len, first.legal))
        self.remembered = min(PythonGame.remembered, max(500, REMEMBERED_TERMS // (terms + 1)))

    # --- the game ---------------------------------------------------------------------------------------------------

    def initial(self, seed: int) -> Board:
        """The position that play begins from: 0 is the first position of the game, others were read from text."""
        return self._board(*self._starts[seed])

    def _board(self, facts: tuple[Term, ...], plies: int) -> Board:
        over, legal, goals = self.reasoner.inspect(facts)
        if over:
            return Board(facts, plies, [], 0, tuple(map(_value, goals)))
        if plies >= self.longest or not all(legal):  # cut off, or a role without a move: no goal is reached
            return Board(facts, plies, [], 0, (0.0,) * self.players)
        choosers = [role for role, moves in enumerate(legal) if len(moves) > 1]
        mover = EVERYONE if len(choosers) > 1 else choosers[0] if choosers else 0
        return Board(facts, plies, legal, mover, None)

    def mover(self, board: Board) -> int:
        return board.mover

    def legal_actions(self, board: Board, player: int) -> range:
        return range(len(board.legal[player]))

    def after(self, board: Board, action: Any) -> Board:
        if board.mover == EVERYONE:
            chosen = action
        else:  # the others have one move each
            chosen = [action if role == board.mover else 0 for role in range(self.players)]
        moves = {name: board.legal[role][chosen[role]] for role, name in enumerate(self.roles)}
        return self._board(self.reasoner.next(board.facts, moves), board.plies + 1)

    def result(self, board: Board) -> tuple[float, ...] | None:
        return board.values

    def key(self, board: Board) -> bytes:
        """The same for the same facts in any order."""
        total = 0
        for fact in board.facts:
            digest = self._digests.get(fact)
            if digest is None:
                data = show(fact).encode(errors="surrogatepass")
                digest = self._digests[fact] = int.from_bytes(blake2b(data, digest_size=16).digest(), "little")
            total += digest
        return (total % (1 << 128)).to_bytes(16, "little")

    # --- text -------------------------------------------------------------------------------------------------------

    def player_name(self, player: int) -> str:
        return show(self.roles[player])

    def move_term(self, state: Any, player: int, action: int) -> Term:
        return self.board(state).legal[player][action]

    def write_move(self, state: Any, player: int, action: int) -> str:
        return self.move_text(self.board(state).legal[player][action])

    def read_move(self, state: Any, player: int, text: str) -> int:
        moves = self.board(state).legal
        return find_move(
            text, {self.move_text(move): action for action, move in enumerate(moves[player] if moves else ())}
        )

    def facts(self, state: Any) -> list[Term]:
        return self.reasoner.sorted(self.board(state).facts)

    def write(self, state: Any) -> str:
        """The facts, after the number of plies; then, in a comment, the actions that led there: #2 (control x) ; 4 0.

        A state is the actions since a position that play began from. Where that is not the first position of the game,
        its text follows after the word `from`.
        """
        text = write_position(self.board(state).plies, self.facts(state))
        actions = [self._write_action(action) for _, action in self.boards.line(history_of(state))]
        if not actions:
            return text
        start, plies = self._starts[state[SEED]]
        origin = f" from {write_position(plies, self.reasoner.sorted(start))}" if state[SEED] else ""
        return f"{text} ; {' '.join(actions)}{origin}"

    def _write_action(self, action: Any) -> str:
        return ",".join(map(str, action)) if isinstance(action, tuple) else str(action)

    def read(self, text: str, state: Any) -> None:
        """Without the comment, play begins from this position."""
        facts, _, comment = text.partition(";")
        if not comment.strip():
            self._begin(facts, state)
            return
        actions, _, origin = comment.partition(" from ")
        if origin:
            self._begin(origin, state)
        else:
            state[MOVER] = ask(self.rules, STATUS, state, 0, 0, 0)
        for word in actions.split():
            try:
                joint = tuple(convert(part, int) for part in word.split(","))
                position = Position(self, state.reshape(1, -1)).play(joint if len(joint) > 1 else joint[0])
            except (ValueError, LudusError) as error:
                raise BadPosition(f"the action {shorten(word, 20)} after ; cannot be played: {error}") from None
            state[:] = position.states[0]
        plies, stated = read_position(facts)
        board = self.board(state)
        if plies != board.plies or {fact for fact, _ in stated} != set(board.facts):
            raise BadPosition("the actions after ; do not lead to the facts before it")

    def _begin(self, text: str, state: Any) -> None:
        """Make a state that begins from a position in text."""
        plies, facts = read_position(text)
        if plies >= self.longest:
            raise BadPosition(f"#{plies} is beyond the longest game of {self.longest} plies", 0)
        terms = tuple(dict.fromkeys(fact for fact, _ in facts))
        known = frozenset(terms), plies
        if known not in self._start_numbers:
            self._start_numbers[known] = len(self._starts)
            self._starts.append((terms, plies))
        state[SEED] = self._start_numbers[known]
        state[MOVER] = ask(self.rules, STATUS, state, 0, 0, 0)


def _value(goals: list[Term]) -> float:
    """The highest goal as a value from -1 to 1; 0 where there is none."""
    numbers = [number for number in map(goal_of, goals) if number is not None]
    return max(numbers) / 50 - 1 if numbers else 0.0
