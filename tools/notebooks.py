"""Execute notebooks from start to end, and keep their output: `python -m tools.notebooks notebooks/*.ipynb`."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

SECONDS = 1800
"""Time limit for one cell."""
COMPILING = re.compile(r"^Compiling .* for this use, once on this machine \.\.\.\n", re.MULTILINE)
"""Lines that appear only while the cache of machine code is empty."""


def execute(path: Path, **variables: str) -> nbformat.NotebookNode:
    """A notebook with the output of a new kernel, which runs in an empty folder with these environment variables.

    CellExecutionError if a cell fails. The kernel listens on sockets in the file system, not on a port, where the
    platform has them. Settings and history of Jupyter and IPython are not used.
    """
    book = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        own = dict.fromkeys(("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"), folder)
        kernel = {"transport": "tcp" if os.name == "nt" else "ipc", "connection_file": f"{folder}/kernel.json"}
        client = NotebookClient(
            book,
            config=Config({"ConnectionFileMixin": kernel}),
            timeout=SECONDS,
            record_timing=False,
            resources={"metadata": {"path": folder}},
        )
        client.execute(env={**os.environ, **own, **variables})
    book.metadata["language_info"] = {"name": "python"}
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = _tidy(cell.outputs)
    return book


def _tidy(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """The outputs with texts that belong together joined, without the lines that say that something is compiled."""
    kept: list[nbformat.NotebookNode] = []
    for output in outputs:
        if output.output_type == "stream":
            if output.name == "stderr":
                output.text = COMPILING.sub("", output.text)
            if not output.text:
                continue
            if kept and kept[-1].output_type == "stream" and kept[-1].name == output.name:
                kept[-1].text += output.text
                continue
        kept.append(output)
    return kept


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"executing {name} ...", flush=True)
        nbformat.write(execute(Path(name)), name)
