"""A player of general game playing, over HTTP, for games that are described in GDL.

ggp:127.0.0.1:9147               10 seconds a move (the play clock)
ggp:http://127.0.0.1:9147:5s     5 seconds a move, in whole seconds
ggp:127.0.0.1:9147:start=30      30 seconds between the rules and the first move; by default 10

A player learns its role with the rules, so that the start clock runs in its first turn. It is asked at every step, also
in the turns of others, where it has one move only. `ludus ggp match` is a manager by the customary rules, which
replaces moves that are late or illegal: here the player loses, as every agent does. A player can be in one game at a
time, so that its matches play one game after the other.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from ludus.agents.agent import AgentFault, Choice, player_asked
from ludus.agents.budget import Budget
from ludus.agents.external.program import choice_of, shown
from ludus.agents.naming import whole_from_1
from ludus.errors import BadAgent, BadOption
from ludus.gdl.described import DescribedGame
from ludus.gdl.kif import decode, parse, show
from ludus.ggp.http import NoAnswer, post, read_address
from ludus.ggp.line import Line
from ludus.ggp.messages import READY, Abort, BadMessage, Info, Message, Play, Start, read_move, write_message
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from ludus.agents.agent import Progress
    from ludus.agents.naming import Spec
    from ludus.game import Game
    from ludus.position import Position

BUDGET = Budget(seconds=10.0)
OPTIONS = {"start": whole_from_1}
MATCH = "ludus.agent"
"""The name of every match. A match that a process left unfinished is ended by this name before the next one."""
SHORT_CLOCK = 5.0
"""Seconds for the answers to INFO and ABORT."""
GRACE = 1.0
"""Seconds that an answer may be late, for the way over the network."""


class GgpAgent:
    def __init__(
        self, game: DescribedGame, name: str, address: tuple[str, int], budget: Budget | None = None, start: int = 10
    ):
        self.game, self.name, self.budget, self.start = game, name, budget, start
        self.host, self.port = address
        self._rules = "\n".join(show(rule) for rule in parse(game.description.text))
        self._line: Line | None = None
        """The steps of the match that the player is in; None if it is in none."""
        self._role, self._clock, self._asked = -1, 0, 0
        """Its role and play clock in this match, and the number of PLAY messages that it was sent."""
        self._send(Info(), SHORT_CLOCK)

    def new_game(self, seed: int) -> None:
        self._line = None  # the match begins with the first move, as the role is not known before

    def choose(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        progress: Progress | None = None,
    ) -> Choice:
        player = player_asked(position, player)
        allowed = (self.budget if budget is None else Budget.of(budget)) or BUDGET
        began = time.monotonic()
        try:
            answer = self._ask(position, player, max(1, round(allowed.seconds or BUDGET.seconds or 1)))
            line = self._line
            assert line is not None
            move = read_move(answer)
        except NoAnswer as error:
            raise AgentFault(f"{'hung' if error.kind == 'late' else 'crashed'}: {error}") from None
        except BadMessage as error:
            raise AgentFault(f"illegal move: {shown(str(error), 200)}") from None
        action = line.moves(player).get(line.find(player, move) or "")
        if action is None:
            raise AgentFault(f"illegal move: {shown(move)} is not a legal move of {line.roles[player]}")
        written = position.game.write_move(position.state, player, action)
        return choice_of(position, player, written, seconds=time.monotonic() - began)

    def _ask(self, position: Position, player: int, clock: int) -> str:
        """The player's answer to PLAY in a position. Steps that it has not seen are sent first."""
        history = position.history
        if history[0] != self.game.start():
            raise BadAgent(f"{self.name} cannot play from this position: such players know games from their start only")
        line = self._line
        if line is None or player != self._role or not self._is_on(line, history):
            line = self._line = self._begin(player, clock)
        for after in history[len(line.played) + 1 :]:
            assert after.action is not None
            line.play(joint_move(line, after.action))
        answer = ""
        for step in range(self._asked, len(line.played) + 1):
            self._asked += 1
            answer = self._send(Play(MATCH, line.played[step - 1] if step else None), self._clock + GRACE)
        if not answer:
            raise NoAnswer("garbled", f"{self.host}:{self.port} sent an empty answer")
        return answer

    def _is_on(self, line: Line, history: list[Position]) -> bool:
        """True if the player has seen nothing but earlier positions of this game."""
        return self._asked <= len(history) - 1 and line.position == history[len(line.played)]

    def _begin(self, player: int, clock: int) -> Line:
        with contextlib.suppress(NoAnswer):
            self._send(Abort(MATCH), SHORT_CLOCK)
        self._role, self._clock, self._asked = player, clock, 0
        line = Line(self.game)
        answer = self._send(Start(MATCH, line.roles[player], self._rules, self.start, clock), self.start + GRACE)
        if answer.lower() != READY:
            raise NoAnswer("garbled", f"{self.host}:{self.port} is not ready: it answers {shown(answer)!r} to START")
        return line

    def _send(self, message: Message, seconds: float) -> str:
        content = write_message(message).encode("utf-8", "surrogateescape")
        return decode(post(self.host, self.port, content, seconds)).strip()


def joint_move(line: Line, action: int | tuple[int, ...]) -> tuple[str, ...]:
    """The moves of all roles in a step, spelled as in the rules; roles that are not to move have a single one."""
    mover = line.position.to_move
    moves = []
    for role in range(len(line.roles)):
        known = line.moves(role)
        wanted = action[role] if isinstance(action, tuple) else action
        chooses = mover in (role, EVERYONE)
        moves.append(next(move for move, each in known.items() if each == wanted or not chooses))
    return tuple(moves)


def make(spec: Spec, game: Game, seed: int) -> GgpAgent:
    options = spec.read_options(OPTIONS)
    if not isinstance(game, DescribedGame):
        raise BadAgent(
            f"{spec.text} cannot play {game.name}: such players need a description in GDL, a .kif file or gdl:NAME"
        )
    if spec.budget is not None and spec.budget.seconds is None:
        raise BadAgent(f"{spec.text}: the budget of such a player is a time, such as 10s")
    given = (spec.words[0] if spec.words else "").removeprefix("http://").rstrip("/")
    try:
        address = read_address(given)
        return GgpAgent(game, spec.text, address, spec.budget, **options)
    except (BadOption, NoAnswer) as error:
        raise BadAgent(f"{spec.text}: {error}") from None
