"""The program of the processes that Ludus starts: `python -P worker_main.py SYS_PATH SERVICE [LIFELINE]`.

SYS_PATH is a JSON list of folders, SERVICE a module with a function `serve`, and LIFELINE the file descriptor of a pipe
that closes when the parent ends. The program is run by its path and loads the package `ludus` that contains it. So
parent and child run the same code for any module path, and the current folder need not be on the path. Standard input
and output carry the messages (see channel.py); the output of an agent that prints goes to standard error.
"""

import contextlib
import importlib
import importlib.util
import json
import os
import sys
from pathlib import Path


def main() -> None:
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "r+b") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)
    with contextlib.suppress(OSError):  # there may be no standard error
        os.dup2(2, 1)
    sys.path[:] = json.loads(sys.argv[1])
    package = Path(__file__).resolve().parents[1]
    spec = importlib.util.spec_from_file_location("ludus", package / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    sys.modules["ludus"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["ludus"])
    if len(sys.argv) > 3:
        importlib.import_module("ludus.child").end_with_parent(int(sys.argv[3]))

    importlib.import_module(sys.argv[2]).serve(requests, replies)


if __name__ == "__main__":
    main()
