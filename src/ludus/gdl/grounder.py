"""The child process that grounds a program with clingo: `python -m ludus.gdl.grounder SECONDS MEGABYTES [LIFELINE]`.

It reads a logic program from standard input and writes the ground program to standard output: a line of JSON, then the
ground rules as int32. Grounding cannot be interrupted and may not end, so it runs in a process of its own whose memory
and CPU time are limited, and which the parent ends when the time is up. LIFELINE is the file descriptor of a pipe that
closes when the parent ends; this process ends with it.

    {"atoms": [[name, atom], ...], "facts": [name, ...], "rules": n}
    then n times: choice (0 or 1), head atom, length of the body, literals of the body (negative: negated atoms)

Only atoms whose names begin with one of the relations in WANTED are listed.
"""

from __future__ import annotations

import array
import json
import sys
from collections.abc import Sequence

from ludus.child import end_with_parent

WANTED = ("true(", "does(", "legal(", "next(", "goal(", "terminal", "init(", "role(")


def limit(seconds: float, megabytes: int) -> None:
    """Limit this process, where the operating system can. Lower limits that it has already stay as they are."""
    try:
        import resource
    except ImportError:  # not on Windows: there the parent's clock is the only limit
        return
    for kind, soft, hard in (
        (resource.RLIMIT_CPU, int(seconds) + 1, int(seconds) + 2),
        (resource.RLIMIT_AS, megabytes << 20, megabytes << 20),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        _, most = resource.getrlimit(kind)
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        resource.setrlimit(kind, (soft, hard))


def ground_text(program: str) -> bytes:
    """The ground program in the form that is described above; RuntimeError says why there is none."""
    import clingo

    numbers = array.array("i")
    rules = 0

    class Collector(clingo.Observer):
        def rule(self, choice: bool, head: Sequence[int], body: Sequence[int]) -> None:
            nonlocal rules
            for atom in head:
                numbers.append(choice)
                numbers.append(atom)
                numbers.append(len(body))
                numbers.extend(body)
                rules += 1

    messages: list[str] = []
    control = clingo.Control(["--warn=none"], logger=lambda _, text: messages.append(text))
    control.register_observer(Collector())
    try:
        control.add("base", [], program)
        control.ground([("base", [])])
    except RuntimeError as error:
        raise RuntimeError(f"{messages[0] if messages else error}") from None
    atoms, facts = [], []
    for atom in control.symbolic_atoms:
        name = str(atom.symbol)
        if name.startswith(WANTED):
            (facts.append(name) if atom.is_fact else atoms.append([name, atom.literal]))
    head = json.dumps({"atoms": atoms, "facts": facts, "rules": rules})
    return head.encode() + b"\n" + numbers.tobytes()


def main() -> None:
    limit(float(sys.argv[1]), int(sys.argv[2]))
    if len(sys.argv) > 3:
        end_with_parent(int(sys.argv[3]))
    try:
        sys.stdout.buffer.write(ground_text(sys.stdin.buffer.read().decode()))
        sys.stdout.buffer.flush()
    except (RuntimeError, MemoryError) as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
