"""The runner: `python -m tests.fuzz` runs the fixed seeds of the tests, `--minutes 10` fresh ones (make fuzz).

A failure is printed with the command that repeats it: `python -m tests.fuzz --case TARGET SEED`.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Iterable
from random import Random, SystemRandom

from tests.fuzz import commands, parsers
from tests.fuzz.corpus import CORPUS

BRIEF = {"command": 2, "sevn-picture": 20, "uhp": 40}
"""Number of cases of a target in the tests, for kinds of targets that take long; others have BRIEF_USUAL."""
BRIEF_USUAL = 150
SLICE = {"command": 4, "sevn-picture": 40, "uhp": 80}
"""Number of cases of a target in turn, with --minutes; others have SLICE_USUAL."""
SLICE_USUAL = 300
TIME_LIMIT = 30.0
"""Seconds for one input of a parser."""
SPACE = 2 << 30
"""Bytes of address space that a parser may take."""
SHOWN = 600
"""Number of characters of an input that are shown."""

TARGETS = {**parsers.TARGETS, **commands.targets()}


def input_of(name: str, seed: int) -> object:
    """The input of a case: a seed from 0, or a place in the corpus, counted from -1 downwards."""
    if seed < 0:
        return [given for target, given in CORPUS if target == name][-1 - seed]
    return TARGETS[name]().generate(Random(f"{name} {seed}"))


def run_case(name: str, seed: int) -> str | None:
    """What is wrong with a case; None if nothing is."""
    try:
        TARGETS[name]().check(input_of(name, seed))
    except Exception as error:
        return str(error) if isinstance(error, commands.Fault) else traceback.format_exc(limit=-4)
    return None


def run_cases(name: str, seeds: Iterable[int]) -> list[int]:
    """Run cases in a process with limits; the seeds of those that failed, after they were printed."""
    left, failed = list(seeds), []
    while left:
        for seed, problem in _run_in_child(name, left):
            left.remove(seed)
            if problem is not None:
                failed.append(seed)
                print(f"\nFAILED: python -m tests.fuzz --case {name} {seed}")
                print(f"input: {repr(input_of(name, seed))[:SHOWN]}\n{problem}", flush=True)
    return failed


def _run_in_child(name: str, seeds: list[int]) -> list[tuple[int, str | None]]:
    """The results of the cases that a child process has run. If one ends or stops it, that one is the last."""
    TARGETS[name]()
    if name.startswith("command:"):
        commands.template()
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.close(reader)
        if not name.startswith("command:"):
            commands.limit_memory(SPACE)
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
        for seed in seeds:
            os.write(writer, json.dumps([seed, run_case(name, seed)]).encode() + b"\n")
        os._exit(0)
    os.close(writer)
    text, patience = b"", commands.LONGEST if name.startswith("command:") else TIME_LIMIT
    while select.select([reader], [], [], patience)[0]:
        part = os.read(reader, 1 << 16)
        if not part:
            break
        text += part
    else:
        os.kill(child, signal.SIGKILL)
    os.close(reader)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    done = [tuple(json.loads(line)) for line in text.decode().splitlines()]
    if len(done) < len(seeds):
        done.append((seeds[len(done)], f"the process ended with {code}" if code != -9 else f"more than {patience:g} s"))
    return done


def chosen(only: str) -> list[str]:
    """Targets whose name begins with `only`; parsers are all that are no commands."""
    if only == "parsers":
        return [name for name in TARGETS if not name.startswith("command:")]
    return [name for name in TARGETS if name.startswith(only)]


def run_briefly(only: str) -> int:
    """The corpus and the first seeds of every target: (failures, cases)."""
    failures = cases = 0
    for name in chosen(only):
        began = time.monotonic()
        known = sum(target == name for target, _ in CORPUS)
        seeds = range(-known, BRIEF.get(name.partition(":")[0], BRIEF_USUAL))
        failures += len(run_cases(name, seeds))
        cases += len(seeds)
        print(f"{name}: {len(seeds)} cases in {time.monotonic() - began:.1f} s", flush=True)
    print(f"{cases} cases, {failures} failures")
    return failures


def run_long(only: str, minutes: float) -> int:
    """Fresh seeds for some minutes, all targets in turn."""
    began, base = time.monotonic(), SystemRandom().randrange(10**9) * 1000
    failures = cases = rounds = 0
    while True:
        for name in chosen(only):
            count = SLICE.get(name.partition(":")[0], SLICE_USUAL)
            first = base + rounds * count
            failures += len(run_cases(name, range(first, first + count)))
            cases += count
            passed = (time.monotonic() - began) / 60
            print(f"{passed:5.1f} of {minutes:g} min, {cases:,} cases, {failures} failures; {name}", flush=True)
            if passed >= minutes:
                return failures
        rounds += 1


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, help="run with fresh seeds for this number of minutes")
    parser.add_argument("--only", default="", help="targets whose name begins so, or parsers")
    parser.add_argument("--case", nargs=2, metavar=("TARGET", "SEED"), help="repeat one case")
    given = parser.parse_args()
    if given.case:
        name, seed = given.case[0], int(given.case[1])
        print(f"input: {input_of(name, seed)!r}")
        return 1 if run_cases(name, [seed]) else 0
    failures = run_briefly(given.only) if given.minutes is None else run_long(given.only, given.minutes)
    return 1 if failures else 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.exit(code)
