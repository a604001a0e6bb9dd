"""The notebooks run from start to end with small budgets, and are committed with clean output."""

import tempfile
from pathlib import Path

import nbformat
import pytest

from tools.notebooks import execute

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))
PICTURES = {"connect4": 5, "sevn": 6, "tree": 11}
"""Number of pictures in the output of each notebook."""
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def outputs_of(book):
    return [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]


def pictures_in(book):
    kinds = {"image/svg+xml", "image/png"}
    return sum(bool(kinds & output.get("data", {}).keys()) for output in outputs_of(book))


def test_there_are_three():
    assert {path.stem for path in NOTEBOOKS} == set(PICTURES)


@each_notebook
def test_a_notebook_is_committed_with_clean_output(path):
    book = nbformat.read(path, as_version=4)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert all(output.output_type != "error" and output.get("name") != "stderr" for output in outputs_of(book))
    assert pictures_in(book) == PICTURES[path.stem]
    text = path.read_text(encoding="utf-8")
    for private in ("/home/", "/root/", "/work/", "Users", tempfile.gettempdir() + "/", " object at 0x", "<script"):
        assert private not in text
    assert len(text) < 1_500_000


@each_notebook
def test_a_notebook_runs_from_start_to_end(path):
    book = execute(path, LUDUS_NOTEBOOK_BUDGET="test")
    assert [output.text for output in outputs_of(book) if output.get("name") == "stderr"] == []
    assert pictures_in(book) == PICTURES[path.stem]
