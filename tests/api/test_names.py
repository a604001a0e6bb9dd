"""`import ludus`: everything has its name there, and nothing heavy is loaded before it is used."""

import subprocess
import sys

import pytest

import ludus

HEAVY = {"numba", "torch", "rich", "typer", "scipy", "matplotlib", "onnx", "onnxruntime", "PIL"}


def loaded_by(code):
    """The modules that a new process has loaded after some code."""
    script = f"import sys\n{code}\nprint(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_every_name_can_be_had():
    for name in ludus.__all__:
        assert getattr(ludus, name) is not None
        assert name in dir(ludus)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = ludus.nonsense


def test_import_loads_nothing_heavy():
    assert not loaded_by("import ludus") & (HEAVY | {"numpy"})


@pytest.mark.parametrize("name", ["Session", "analyse", "Tree", "solve", "perft", "make_agent", "make"])
def test_no_name_loads_anything_heavy_before_it_is_used(name):
    assert not loaded_by(f"import ludus; ludus.{name}") & HEAVY
