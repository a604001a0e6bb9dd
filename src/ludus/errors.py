"""Mistakes that a user can make. Each message is one line that says what to do."""

import traceback
from pathlib import Path


class LudusError(ValueError):
    """Any mistake in what Ludus was asked to do; the command line prints it and exits with 2."""


class UnknownGame(LudusError):
    """No built-in game, file or bridge has this name."""


class BadOption(LudusError):
    """A game's option is unknown or out of range."""


class BadPosition(LudusError):
    """A position's text cannot be read."""

    def __init__(self, message: str, place: int | None = None):
        """`place` counts characters of the text from 0; people read it counted from 1."""
        self.place = place
        super().__init__(message if place is None else f"position text, character {place + 1}: {message}")


class IllegalMove(LudusError):
    """The move is not legal in this position; the message says why."""


class BadAgent(LudusError):
    """An agent's name or budget cannot be understood, or the agent cannot play this game."""


class Unsuitable(LudusError):
    """The game lacks what the request needs, such as two players for the solver."""


class BrokenGame(LudusError):
    """The rules of a game fail at the first try; `ludus check` says more."""


class Untrusted(LudusError):
    """A file names Python code or a program that Ludus runs only if the user says so."""

    def __init__(self, what: str):
        """`what` says which code would be run."""
        self.what = what
        super().__init__(f"{what}; if you trust it, add --trust (in Python: trust=True)")


class LudusWarning(UserWarning):
    """The base of all warnings of Ludus. The command line shows each as one line."""


class DamagedRun(LudusWarning):
    """A file of a run is damaged or missing, and the run goes on without it."""


class ChangedRules(LudusWarning):
    """The source of a game differs from the one that a run, a result or a position was made with."""


def describe_error(error: BaseException) -> str:
    """An exception in one line, with the line of the user's file, if there is one, that it came from."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<")]
    theirs = ("site-packages", str(Path(__file__).parent))
    own = [
        frame for frame in frames if "/games/" in frame.filename or not any(each in frame.filename for each in theirs)
    ]
    last = (own or frames)[-1:]
    where = "".join(f" ({Path(frame.filename).name}, line {frame.lineno})" for frame in last)
    return f"{type(error).__name__}: {(str(error).strip() or 'no message').splitlines()[0]}{where}"
