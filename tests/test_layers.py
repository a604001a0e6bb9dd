"""The packages form layers: the order stands in pyproject.toml, and every import, lazy ones included, keeps to it."""

import ast
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_lower_layers_never_import_higher_ones():
    script = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 kept, 0 broken" in done.stdout


def imported(path):
    """The names of all modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_only_the_tests_of_the_terminal_import_it():
    found = set()
    for path in [*ROOT.glob("benchmarks/**/*.py"), *ROOT.glob("tests/**/*.py")]:
        if not path.is_relative_to(ROOT / "tests" / "terminal"):
            found |= {str(path.relative_to(ROOT)) for name in imported(path) if name.startswith("ludus.terminal")}
    assert not found
