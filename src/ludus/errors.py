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


class FiguresLost(LudusWarning):
    """The figures of a training can no longer be logged to another program, and the training goes on."""


class NothingKept(LudusWarning):
    """Machine code cannot be written to the cache."""


class ChangedRules(LudusWarning):
    """The source of a game differs from the one that a run, a result or a position was made with."""


def missing_package(what: str, package: str | None, extra: str) -> BadOption:
    """The error that `what` needs a package which an extra of Ludus installs."""
    return BadOption(f"{what} needs {package or 'more packages'}: pip install 'ludus[{extra}]'")


def describe_compile_error(error: BaseException) -> str:
    """A failure to compile rules, in one line: the file and the line of the code, and the reason that Numba gives."""
    text = without_colours(str(error))
    reasons: dict[int, str] = {}  # by indentation: why a call failed is indented more than the call's own message
    reason, call, is_code = "", -1, False
    for line in text.splitlines():
        indent, line = len(line) - len(line.lstrip()), line.strip()
        is_code = bool(line) and (is_code or line.startswith('File "'))  # the lines after it, up to an empty one
        if line.startswith("No implementation of function") and "<intrinsic" not in line:
            call = indent  # a line with ">>>" and the call follows
        elif line.startswith(">>> ") and call >= 0:
            reasons[call], call = f"no implementation of {line[4:]}", -1
        elif line and not is_code and "Failed in" not in line and not line.startswith(_NO_REASON):
            reason = reasons[indent] = _NOT_FOR_AUTHORS.sub("", line)
        place = _PLACE.match(line)
        if place is not None and not _is_library(file := place[1] or place[3]):  # the innermost one comes first
            told = _NEEDS_RUNTIME if _lacks_runtime(text) else reasons.get(indent, reason)
            return f"{Path(file).name}, line {place[2] or place[4]}: Numba cannot compile this: {told}"
    return f"Numba cannot compile this: {reason or type(error).__name__}"


_PLACE = re.compile(r'File "([^"]+)", line (\d+)|(?:.*\bat|.*Raised from) (.+) \((\d+)\)$')
"""A line of Numba's messages that names a line of code."""
_NOT_FOR_AUTHORS = re.compile(r"(\. Raised from|, defined at) .*$|^\w+Error: (?=there is)|'args=.*' to ")
"""Parts of reasons that an author of a game does not need."""
_NEEDS_RUNTIME = "it makes an array, a list, a set or a text, which LEAN = True rules out; use numbers, or remove LEAN"
"""What an author reads where Numba's message is about its own runtime."""


def _lacks_runtime(text: str) -> bool:
    return "NRT required" in text or "Only accept returning of array passed into the function" in text


COMPILER_NOISE = (
    *("Failed in", "During: Pass", "During: resolving", "There are", "- Of which", "Overload", "With argument"),
    *("Rejected as", "raised from", ">>>", "No implementation of function Function(<function", "This error may"),
    *("No implementation of function Function(<intrinsic", "Intrinsic in"),
)
"""How lines of Numba's messages begin that are about Numba itself."""
_NO_REASON = (*COMPILER_NOISE, "During", "File", "<source", "No match")


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
