"""The program that a worker process runs: `python -P worker_main.py SYS_PATH`, with SYS_PATH a JSON list of folders.

It is run by its path and loads the package `ludus` that contains it. So parent and worker run the same code for any
module path, and the current folder need not be on the path. Standard input and output carry the messages (see
channel.py); the output of an agent that prints goes to standard error.
"""

import contextlib
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

    from ludus.arena.serving import serve

    serve(requests, replies)


if __name__ == "__main__":
    main()
