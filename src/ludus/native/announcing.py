"""Reports what Numba compiles to the listener of ludus.compile_events."""

from __future__ import annotations

import time
from typing import Any

from numba.core import event

from ludus import rules
from ludus.compile_events import CompileEnded, CompileProgress, CompileStarted, on_compile, report
from ludus.native.types import RulesType, enabled_classes

__all__ = ["on_compile"]

PATIENCE = 0.4
"""What is compiled in fewer seconds is not reported."""


class Reporter(event.Listener):
    """Counts the functions that Numba compiles for each game. Numba compiles one kernel at a time."""

    def __init__(self) -> None:
        self.depth = self.functions = 0
        self.began = 0.0
        self.what = ""
        self.started = False
        self.earlier: dict[str, tuple[int, float]] = {}
        """Functions and seconds of the kernels that are compiled already, by game."""

    def on_start(self, started: Any) -> None:
        self.depth += 1
        self.functions += 1
        if self.depth == 1:
            self.began, self.functions, self.started = time.perf_counter(), 1, False
            self.what = _game_in(started.data["args"])
        elif self.started:
            report(CompileProgress(*self._facts()))
        elif time.perf_counter() - self.began > PATIENCE:
            self.started = True
            report(CompileStarted(*self._facts()))

    def on_end(self, ended: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            facts = self._facts()
            self.earlier[self.what] = facts[1:]
            if self.started:
                report(CompileEnded(*facts))

    def _facts(self) -> tuple[str, int, float]:
        functions, seconds = self.earlier.get(self.what, (0, 0.0))
        return self.what, functions + self.functions, seconds + time.perf_counter() - self.began


def _game_in(kinds: Any) -> str:
    """The title of the game among the types of a kernel's arguments; without one, the title of the latest game."""
    classes = [kind.instance_class for kind in kinds if isinstance(kind, RulesType)]
    for each in (*classes, *reversed(enabled_classes())):
        if rules.implementation(each, "legal") is not None:  # which selection rules do not have
            return _title_of(each)
    return "the search"


def _title_of(rules_class: type) -> str:
    namespace = rules.namespace_of(rules_class)
    for value in namespace.values():
        if isinstance(value, type) and getattr(value, "Rules", None) in rules_class.__mro__:
            return getattr(value, "title", rules_class.__qualname__)
    return namespace.get("TITLE", rules_class.__qualname__)


def listen() -> None:
    """Report from now on everything that is compiled in this process."""
    event.register("numba:compile", Reporter())
