"""The command line. A mistake of the user gets one line on standard error and exit code 2, never a traceback."""

from __future__ import annotations

import _thread
import contextlib
import importlib
import io
import os
import sys
import threading
import warnings
from collections.abc import Sequence
from typing import Any

import typer

from ludus.terminal.commands.app import app
from ludus.terminal.compiling import show_compiling
from ludus.terminal.loading import loading

KINDS = ("playing", "rating", "training", "analysis", "authoring", "web", "gdl", "ggp", "protocols")
"""The modules with the commands, in the order of `ludus --help`."""
for _kind in KINDS:
    importlib.import_module(f"ludus.terminal.commands.{_kind}")


EXTRAS = {
    **{"PIL": "plots", "matplotlib": "plots", "ray": "cluster", "clingo": "gdl", "pyspiel": "openspiel"},
    **{"gymnasium": "envs", "pettingzoo": "envs", "tensorboard": "tensorboard"},
}
"""The extra of Ludus that installs a package which some commands import."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    command = typer.main.get_command(app)
    given = list(sys.argv[1:] if arguments is None else arguments)
    show_compiling()
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, "backslashreplace")):
        if hasattr(stream, "reconfigure"):
            with contextlib.suppress(io.UnsupportedOperation):  # a program that calls this may have read from it
                stream.reconfigure(errors=errors)
    sys.unraisablehook = unraisable
    try:
        with loading(), warnings.catch_warnings(), command.make_context("ludus", given) as context:
            warnings.showwarning = Warner()
            if not sys.warnoptions:  # deprecations concern the authors of libraries, as Python has it by default
                warnings.simplefilter("ignore", DeprecationWarning)
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as exit:
        return exit.exit_code
    except KeyboardInterrupt:
        return fail("interrupted", 130)
    except BrokenPipeError:  # the reader of the output has closed it, as head does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:
        if os.environ.get("LUDUS_TRACEBACK"):
            raise
        return fail(explain(error), 2)
    return 0


def unraisable(failure: Any) -> None:
    """Ctrl-C during a callback of a library, such as the compiler, is repeated a moment later, after the callback."""
    if failure.exc_type is KeyboardInterrupt:
        later = threading.Timer(0.05, _thread.interrupt_main)
        later.daemon = True
        later.start()
    else:
        sys.__unraisablehook__(failure)


class Warner:
    """Shows a warning of Ludus once, as one line on standard error, and one of a library as Python does."""

    def __init__(self) -> None:
        self.shown: set[str] = set()

    def __call__(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: Any = None,
        line: Any = None,
    ) -> None:
        from ludus.errors import LudusWarning

        if not issubclass(category, LudusWarning):
            sys.stderr.write(warnings.formatwarning(message, category, filename, lineno))
        elif str(message) not in self.shown:
            self.shown.add(str(message))
            fail(f"warning: {message}", 0)


def fail(message: str, code: int) -> int:
    """Print one line on standard error, after everything on standard output. Returns the exit code."""
    from ludus.terminal.show import complain

    complain(f"ludus: {message}")
    return code


def explain(error: Any) -> str:
    """The error in one line."""
    from ludus.errors import LudusError, describe_compile_error, missing_package

    if isinstance(error, LudusError):
        return str(error)
    if hasattr(error, "format_message"):  # the command could not be understood
        message = error.format_message().rstrip(".")
        where = getattr(getattr(error, "ctx", None), "command_path", "ludus")
        return f"{message[:1].lower()}{message[1:]}" + ("" if message.endswith("?") else f"; see {where} --help")
    if isinstance(error, ModuleNotFoundError) and error.name in EXTRAS:
        return str(missing_package("this command", error.name, EXTRAS[error.name]))
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    if type(error).__module__.startswith("numba."):
        return f"{describe_compile_error(error)}; ludus check says more"
    message = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{message[:400]} (LUDUS_TRACEBACK=1 shows where)"


if __name__ == "__main__":
    sys.exit(main())
