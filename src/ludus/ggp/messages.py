"""The messages of a general game manager, as text and as objects.

    ( INFO )
    ( START matchId role (rule rule ...) startclock playclock)
    ( PREVIEW (rule ...) previewclock )
    ( PLAY matchId NIL )                    the first step
    ( PLAY matchId (( mark 3 1 ) noop ) )   the joint move of the last step, in the order of the roles
    ( STOP matchId (( mark 3 3 ) noop ) )
    ( ABORT matchId )

The name of a message is read in any case, and further arguments are ignored. Roles, moves and rules keep their
spelling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ludus.errors import LudusError
from ludus.gdl.kif import BadDescription, Expression, Group, Symbol, parse, shorten, show

LONGEST_CLOCK = 7 * 24 * 3600
"""Seconds of a clock, at most."""
LONGEST_NAME = 256
"""Characters of a match id, at most."""
READY, BUSY, DONE, ABORTED = "ready", "busy", "done", "aborted"
"""Answers to messages."""


class BadMessage(LudusError):
    """A text that is no message of the protocol."""


@dataclass(frozen=True)
class Info:
    """Asks whether the player is available."""


@dataclass(frozen=True)
class Start:
    """Begins a match."""

    match: str
    role: str
    rules: str
    """The description, one rule in a line."""
    start_clock: int
    """Seconds until the first PLAY."""
    play_clock: int
    """Seconds for each move."""


@dataclass(frozen=True)
class Preview:
    """Shows a game that may be played later."""

    rules: str
    clock: int


@dataclass(frozen=True)
class Play:
    """Asks for a move."""

    match: str
    moves: tuple[str, ...] | None
    """The joint move of the last step in the order of the roles; None at the first step."""


@dataclass(frozen=True)
class Stop:
    """Ends a match that is over."""

    match: str
    moves: tuple[str, ...] | None


@dataclass(frozen=True)
class Abort:
    """Ends a match before its time."""

    match: str


Message = Info | Start | Preview | Play | Stop | Abort


def read_message(text: str) -> Message:
    """The message of a text; BadMessage says what is wrong with it."""
    try:
        parsed = parse(text, "the message")
    except BadDescription as error:
        raise BadMessage(str(error)) from None
    name, *arguments = parsed[0] if len(parsed) == 1 and isinstance(parsed[0], Group) and parsed[0] else [Group()]
    if not isinstance(name, Symbol):
        raise BadMessage(f"a message is one list that begins with a name, such as (INFO), not {shorten(text, 40)!r}")
    match name.upper(), arguments:
        case "INFO", _:
            return Info()
        case "START", [match, role, Group() as rules, start, play, *_]:
            return Start(_name(match), _role(role), _rules(rules), _clock(start), _clock(play))
        case "PREVIEW", [Group() as rules, clock, *_]:
            return Preview(_rules(rules), _clock(clock))
        case "PLAY", [match, moves, *_]:
            return Play(_name(match), _moves(moves))
        case "STOP", [match, moves, *_]:
            return Stop(_name(match), _moves(moves))
        case "ABORT", [match, *_]:
            return Abort(_name(match))
        case ("START" | "PREVIEW" | "PLAY" | "STOP" | "ABORT") as known, _:
            raise BadMessage(f"{known} lacks arguments, or has them in another order: {shorten(text, 60)!r}")
    raise BadMessage(f"no message is called {shorten(name, 40)!r}; there are INFO, START, PREVIEW, PLAY, STOP, ABORT")


def write_message(message: Message) -> str:
    """A message as text, in the layout of the customary manager."""
    match message:
        case Info():
            return "( INFO )"
        case Start(match, role, rules, start_clock, play_clock):
            return f"( START {match} {role} ({rules}\n) {start_clock} {play_clock})"
        case Preview(rules, clock):
            return f"( PREVIEW ({rules}\n) {clock} )"
        case Play(match, moves):
            return f"( PLAY {match} {_written(moves)} )"
        case Stop(match, moves):
            return f"( STOP {match} {_written(moves)} )"
        case Abort(match):
            return f"( ABORT {match} )"


def read_move(text: str) -> str:
    """The move of an answer to PLAY, with single spaces; BadMessage if it is not one term."""
    try:
        parsed = parse(text, "the move")
    except BadDescription as error:
        raise BadMessage(str(error)) from None
    if len(parsed) != 1:
        raise BadMessage(f"a move is one term, not {shorten(text, 40)!r}")
    return _term(parsed[0])


def find_spelling(text: str, names: Sequence[str]) -> int | None:
    """The index of a name or move: the one spelled so, else the only one that differs in capitals; None if there is
    none."""
    if text in names:
        return names.index(text)
    folded = text.lower()
    close = [index for index, name in enumerate(names) if name.lower() == folded]
    return close[0] if len(close) == 1 else None


def names_in_brackets(rules: str) -> frozenset[str]:
    """Names without arguments that rules write in brackets, such as `(noop)`, where they say which moves are legal.

    Ludus reads `(noop)` and `noop` as one; a manager may not. A name that legal moves do not show, as where they are a
    variable, counts if it stands in brackets everywhere.
    """
    places: dict[tuple[bool, bool], set[str]] = {
        (legal, bare): set() for legal in (True, False) for bare in (True, False)
    }

    def collect(given: Expression, legal: bool) -> None:
        if isinstance(given, Symbol):
            places[legal, True].add(str(given))
        elif len(given) == 1 and isinstance(given[0], Symbol):
            places[legal, False].add(str(given[0]))
        else:
            for part in given[1:]:
                collect(part, legal)

    for rule in parse(rules):
        head = rule[1] if isinstance(rule, Group) and len(rule) > 1 and rule[0] == "<=" else rule
        if isinstance(head, Group) and len(head) == 3 and isinstance(head[0], Symbol) and head[0].lower() == "legal":
            collect(head[2], True)
        collect(rule, False)
    return frozenset(places[True, False] | (places[False, False] - places[False, True]))


def with_brackets(move: str, names: frozenset[str]) -> str:
    """A move with these names in brackets where they have no arguments."""
    if not names:
        return move

    def written(given: Expression) -> str:
        if isinstance(given, Symbol):
            return f"({given})" if given in names else str(given)
        return f"({' '.join([str(given[0]), *map(written, given[1:])])})"

    return written(parse(move)[0])


def _written(moves: tuple[str, ...] | None) -> str:
    return "NIL" if moves is None else f"({' '.join(moves)})"


def _name(given: Expression) -> str:
    if not isinstance(given, Symbol) or len(given) > LONGEST_NAME:
        raise BadMessage(f"the name of a match is a word, not {shorten(show(given), 40)!r}")
    return str(given)


def _role(given: Expression) -> str:
    role = _term(given)
    if len(role) > LONGEST_NAME:
        raise BadMessage(f"the name of a role is a short term, not {shorten(role, 40)!r}")
    return role


def _clock(given: Expression) -> int:
    if not isinstance(given, Symbol) or not (given.isascii() and given.isdecimal()):
        raise BadMessage(f"a clock is a whole number of seconds, not {shorten(show(given), 40)!r}")
    return min(LONGEST_CLOCK, int(given[:9]))


def _rules(given: Group) -> str:
    return "\n".join(show(rule) for rule in given)


def _moves(given: Expression) -> tuple[str, ...] | None:
    if isinstance(given, Symbol):
        if given.lower() != "nil":
            raise BadMessage(f"a joint move is NIL or a list of moves, not {shorten(given, 40)!r}")
        return None
    return tuple(_term(move) for move in given) or None


def _term(given: Expression) -> str:
    """A term as Ludus writes it: single spaces, and `noop` for `(noop)`."""
    if isinstance(given, Group) and len(given) == 1:
        return _term(given[0])
    if isinstance(given, Symbol):
        return str(given)
    return f"({' '.join(_term(part) for part in given)})"
