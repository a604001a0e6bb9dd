"""A command shows a line on a terminal before it imports anything that takes long."""

import io
import os
import subprocess
import sys

import pytest

from ludus.terminal import loading as module
from ludus.terminal.loading import TEXT, loading

ERASED = f"\r{' ' * len(TEXT)}\r"

COMMANDS = (
    "match connect4 random random",
    "grade random tictactoe",
    "arena random uct:10 --game tictactoe",
    "solve tictactoe",
    "perft connect4 --depth 2",
    "analyse connect4",
    "play connect4",
    "bench connect4 --seconds 0.1",
    "check tictactoe",
    "train tictactoe --games 1 --run nowhere",
    "games",
    "web --port 0",
)
INTERRUPTED = """
import sys
from ludus.cli import main
from ludus.terminal.loading import HEAVY

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name in HEAVY:
            raise KeyboardInterrupt  # as if Ctrl-C were pressed during the import

sys.meta_path.insert(0, Interrupting())
for line in sys.argv[1:]:
    print(f"[{line}]", flush=True)
    main(line.split())
"""


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def on_streams(monkeypatch, tmp_path):
    """Sets standard output and standard error; and there is a heavy library, which sees what was shown before it."""
    (tmp_path / "heavy_for_a_test.py").write_text("import sys\nseen = sys.stderr.getvalue()\n")
    monkeypatch.setattr(module, "HEAVY", {"heavy_for_a_test"})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "heavy_for_a_test", raising=False)

    def set_streams(output, errors):
        monkeypatch.setattr(sys, "stdout", output)
        monkeypatch.setattr(sys, "stderr", errors)
        return output, errors

    return set_streams


def load():
    import heavy_for_a_test

    return heavy_for_a_test.seen


def test_the_line_is_there_before_the_import_and_gone_before_other_output(on_streams):
    output, errors = on_streams(Terminal(), Terminal())
    before = list(sys.meta_path)
    with loading():
        assert load() == TEXT
        print("result")
        assert errors.getvalue() == TEXT + ERASED
        assert (sys.stdout, sys.stderr) == (output, errors)
        assert sys.meta_path == before
    assert output.getvalue() == "result\n"
    assert errors.getvalue() == TEXT + ERASED


def test_the_line_goes_without_any_output(on_streams):
    output, errors = on_streams(Terminal(), Terminal())
    with loading():
        assert load() == TEXT
    assert errors.getvalue() == TEXT + ERASED
    assert (sys.stdout, sys.stderr) == (output, errors)


@pytest.mark.parametrize("read", [lambda: next(iter(sys.stdin)), lambda: sys.stdin.readline(), input])
def test_the_line_goes_before_a_command_waits_for_input(on_streams, monkeypatch, read):
    _, errors = on_streams(Terminal(), Terminal())
    given = Terminal("one\ntwo\n")
    monkeypatch.setattr(sys, "stdin", given)
    with loading():
        kept = sys.stdin
        assert load() == TEXT
        assert sys.stdin.isatty()
        assert errors.getvalue() == TEXT
        assert read().strip() == "one"
        assert errors.getvalue() == TEXT + ERASED
        assert sys.stdin is given
    assert kept.readline() == "two\n"


def test_no_line_below_other_output(on_streams):
    _, errors = on_streams(Terminal(), Terminal())
    with loading():
        print("bar", file=sys.stderr)
        load()
    assert errors.getvalue() == "bar\n"


def test_no_line_without_a_heavy_import(on_streams):
    _, errors = on_streams(Terminal(), Terminal())
    with loading():
        print("text")
    assert errors.getvalue() == ""


def test_standard_output_alone_may_be_the_terminal(on_streams):
    output, errors = on_streams(Terminal(), io.StringIO())
    with loading():
        kept = sys.stdout
        load()
        print("result")
    kept.writelines(["and", " more\n"])
    assert output.getvalue() == f"{TEXT}{ERASED}result\nand more\n"
    assert errors.getvalue() == ""


def test_nothing_in_a_pipe(on_streams):
    output, errors = on_streams(io.StringIO(), io.StringIO())
    with loading():
        load()
    assert output.getvalue() == errors.getvalue() == ""


def test_every_command_shows_something_before_it_imports_anything_heavy(tmp_path):
    pty = pytest.importorskip("pty")  # not on Windows
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", INTERRUPTED, *COMMANDS]
    environment = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, cwd=tmp_path, env=environment):
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # Linux has it so when the other side is closed
            pass
    os.close(ours)
    text = shown.decode().replace("\r\n", "\n")
    assert text == "".join(f"[{each}]\n{TEXT}{ERASED}ludus: interrupted\n" for each in COMMANDS)
