"""The child process that grounds with clingo: `python -m ludus.gdl.grounder SECONDS MEGABYTES BYTES [LIFELINE]`.

It reads a logic program from standard input and writes the ground program to standard output: a line of JSON, then the
ground rules as int32. Grounding cannot be interrupted and may not end, so it runs in a process of its own whose memory
and CPU time are limited, and which the parent ends when the time is up. It gives up as soon as the ground rules have
more than BYTES: what is hopeless is known early then. LIFELINE is the file descriptor of a pipe that
closes when the parent ends; this process ends with it.

    {"atoms": [[name, atom], ...], "facts": [name, ...], "asked": [atom, ...], "rules": n}
    then the head of each rule, the length of each body, and the literals of all bodies (negative: negated atoms)

Only atoms of the relations in WANTED are listed, and no choice rules: the parent knows those. "asked" are the atoms of
relations whose names are ASKED and a number.
"""

from __future__ import annotations

import array
import json
import sys
from collections.abc import Sequence

from ludus.child import end_with_parent

WANTED = {"true": 1, "does": 2, "legal": 2, "next": 1, "goal": 2, "terminal": 0, "init": 1, "role": 1}
"""Relations, with the number of their arguments. Most atoms belong to others, and writing their names takes long."""

ASKED = "asked"
"""Begins the names of relations that say with which arguments others are asked (ludus.gdl.demand)."""

TOO_LARGE = "the ground rules are too large"


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


def ground_text(program: str, most_bytes: int = sys.maxsize) -> bytes:
    """The ground program in the form that is described above; RuntimeError says why there is none, or MemoryError if
    its rules have more than `most_bytes`."""
    import clingo

    heads, lengths, literals = array.array("i"), array.array("i"), array.array("i")
    most = most_bytes // heads.itemsize

    class Collector(clingo.Observer):
        def rule(self, choice: bool, head: Sequence[int], body: Sequence[int]) -> None:
            if not choice:
                for atom in head:
                    heads.append(atom)
                    lengths.append(len(body))
                    literals.extend(body)
                if 2 * len(heads) + len(literals) > most:
                    raise MemoryError(f"{TOO_LARGE}: more than {most_bytes >> 20:,} MiB")

    messages: list[str] = []
    control = clingo.Control(["--warn=none"], logger=lambda _, text: messages.append(text))
    control.register_observer(Collector())
    try:
        control.add("base", [], program)
        control.ground([("base", [])])
    except RuntimeError as error:
        raise RuntimeError(f"{messages[0] if messages else error}") from None
    atoms, facts = [], []
    for name, arity in WANTED.items():
        for atom in control.symbolic_atoms.by_signature(name, arity):
            shown = str(atom.symbol)
            (facts.append(shown) if atom.is_fact else atoms.append([shown, atom.literal]))
    asked = [
        atom.literal
        for name, arity, _ in control.symbolic_atoms.signatures
        if name.startswith(ASKED)
        for atom in control.symbolic_atoms.by_signature(name, arity)
        if not atom.is_fact
    ]
    header = json.dumps({"atoms": atoms, "facts": facts, "asked": asked, "rules": len(heads)})
    return b"".join([header.encode(), b"\n", heads.tobytes(), lengths.tobytes(), literals.tobytes()])


def main() -> None:
    limit(float(sys.argv[1]), int(sys.argv[2]))
    if len(sys.argv) > 4:
        end_with_parent(int(sys.argv[4]))
    try:
        sys.stdout.buffer.write(ground_text(sys.stdin.buffer.read().decode(), int(sys.argv[3])))
        sys.stdout.buffer.flush()
    except (RuntimeError, MemoryError) as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
