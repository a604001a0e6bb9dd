"""Mistakes that a user can make. Each message is one line that says what to do."""

import re
import sysconfig
import traceback
from pathlib import Path

LONGEST_MESSAGE = 1000
"""Number of characters of a message. A longer one, which quotes what it is about, is cut."""


def one_line(message: object) -> str:
    """A message without line breaks, cut if it is long."""
    return _cut(" ".join(str(message).split()))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]} ..."


class LudusError(ValueError):
    """Any mistake in what Ludus was asked to do; the command line prints it and exits with 2."""

    def __str__(self) -> str:
        return _cut(super().__str__())


class UnknownGame(LudusError):
    """No built-in game, file or bridge has this name."""


class BadOption(LudusError):
    """A game's option is unknown or out of range."""


class BadPosition(LudusError):
    """A position's text cannot be read."""

    def __init__(self, message: str, place: int | None = None):
        """`place` counts characters of the text from 0; people read it counted from 1."""
        self.place = place
        self.reason = message
        """The message without the place."""
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


class NothingKept(LudusWarning):
    """Machine code cannot be written to the cache."""


class ChangedRules(LudusWarning):
    """The source of a game differs from the one that a run, a result or a position was made with."""


def missing_package(what: str, package: str | None, extra: str) -> BadOption:
    """The error that `what` needs a package which an extra of Ludus installs."""
    return BadOption(f"{what} needs {package or 'more packages'}: pip install 'ludus[{extra}]'")


def describe_compile_error(error: BaseException) -> str:
    """A failure to compile rules, in one line: the file and the line of the code, and the reason that Numba gives."""
    reason = ""
    for line in map(str.strip, without_colours(str(error)).splitlines()):
        place = re.match(r'File "([^"]+)", line (\d+)', line)
        if place is not None and not _is_library(place[1]):  # the innermost one comes first, after its reason
            return f"{Path(place[1]).name}, line {place[2]}: Numba cannot compile this: {reason}"
        if line and "Failed in" not in line and not line.startswith((*COMPILER_NOISE, "During", "File", "<source")):
            reason = line
    return f"Numba cannot compile this: {reason or type(error).__name__}"


COMPILER_NOISE = (
    *("Failed in", "During: Pass", "During: resolving", "There are", "- Of which", "Overload", "With argument"),
    *("Rejected as", "raised from", ">>>", "No implementation of function Function(<function", "This error may"),
)
"""How lines of Numba's messages begin that are about Numba itself."""


def without_colours(text: str) -> str:
    """A text without the escape codes by which terminals show colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def _is_library(file: str) -> bool:
    folder, path = Path(__file__).resolve().parent, Path(file).resolve()
    is_engine = folder in path.parents and folder / "games" not in path.parents
    is_python = Path(sysconfig.get_path("stdlib")).resolve() in path.parents
    return file.startswith("<") or "site-packages" in path.parts or is_engine or is_python


def place_of(frames: traceback.StackSummary) -> str:
    """The last line of these calls that is in a file of the user, else in any file: " (FILE, line N)", or ""."""
    files = [frame for frame in frames if not frame.filename.startswith("<")]
    own = [frame for frame in files if not _is_library(frame.filename)]
    return "".join(f" ({Path(frame.filename).name}, line {frame.lineno})" for frame in (own or files)[-1:])


def describe_error(error: BaseException) -> str:
    """An exception in one line, with the line of the user's file, if there is one, that it came from."""
    if type(error).__module__.startswith("numba."):
        return describe_compile_error(error)
    # The text of a SyntaxError names the line itself.
    where = "" if isinstance(error, SyntaxError) else place_of(traceback.extract_tb(error.__traceback__))
    return f"{type(error).__name__}: {(str(error).strip() or 'no message').splitlines()[0]}{where}"
