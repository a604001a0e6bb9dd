"""Text from files is shown without the control characters that could be in it."""

import io
import sqlite3

import pytest
from rich.console import Console

import ludus
from ludus.cli import main
from ludus.terminal import show
from ludus.terminal.show import complain, counted, describe, new_table, one_line, plain, print_table, typed, wrapped

HOSTILE = "\x1b]0;owned\x07\x1b[2Jred\x9b31m\r\n\u202egnp.exe\x00\udc80"


def is_harmless(text):
    return all(each.isprintable() or each == "\n" for each in text)


def test_control_characters_are_shown_as_escapes():
    assert plain("uct:1000 ∞ é 棋") == "uct:1000 ∞ é 棋"
    assert plain("\x1b[31mred") == "\\x1b[31mred"
    assert plain("a\nb\tc\x07\x7f\x9b") == "a\\nb\\tc\\x07\\x7f\\x9b"
    assert plain("\u202egnp.exe\u2028") == "\\u202egnp.exe\\u2028"
    assert is_harmless(plain(HOSTILE))


def test_long_text_is_cut():
    assert plain("x" * 1000, most=10) == "x" * 10 + " ..."
    assert len(plain("x" * 10_000_000)) < 200_000


def test_everything_that_prints_is_harmless(capsys):
    table = new_table()
    table.add_column("agent")
    table.add_row(HOSTILE)
    table.add_row("x" * 10_000)
    print_table(table)
    complain(HOSTILE)
    print(wrapped(HOSTILE), one_line(HOSTILE))
    shown = capsys.readouterr()
    assert is_harmless(shown.out)
    assert is_harmless(shown.err)
    assert "\\x1b]0;owned" in shown.out
    assert len(shown.out) < 5000
    assert shown.err.count("\n") == 1


def test_a_table_on_a_terminal_has_styles_and_no_other_escapes(monkeypatch):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100, color_system="standard")
    monkeypatch.setattr(show, "terminal", lambda: console)
    table = new_table()
    table.add_column("agent")
    table.add_row(HOSTILE)
    with console.capture() as capture:
        console.print(table)
    assert "\x1b[1m" in capture.get()  # the bold heading
    assert "\x1b]" not in capture.get()
    assert "\x1b[2J" not in capture.get()


@pytest.fixture
def hostile_file(tmp_path):
    """A file of results in which every text holds escapes."""
    file = tmp_path / "results.sqlite"
    game = ludus.make("tictactoe")
    ludus.play_match(game, ["random", "uct:9"], 4, parallel=1, results=file)
    base = sqlite3.connect(file)
    text = HOSTILE.replace("\udc80", "")
    base.execute("UPDATE agents SET label = label || ?, identity = identity || ?", (text, text))
    base.execute("UPDATE games SET reason = ?, code = ?, ended = ? WHERE id = 1", (text, text, text))
    base.execute("""UPDATE games SET moves = '["a1", "\\u001b[2J"]' WHERE id = 2""")
    base.commit()
    base.close()
    return str(file)


@pytest.mark.parametrize(
    "arguments", [["ratings"], ["replay"], ["replay", "1"], ["replay", "2"], ["ratings", "--anchor"]]
)
def test_a_file_of_results_cannot_write_to_the_terminal(hostile_file, capsys, arguments):
    command, *more = arguments
    if more == ["--anchor"]:
        more = ["--anchor", HOSTILE.replace("\udc80", "")]
    main([command, hostile_file, *more])
    shown = capsys.readouterr()
    assert shown.out + shown.err
    assert is_harmless(shown.out)
    assert is_harmless(shown.err)


def test_one_is_counted_in_the_singular():
    assert [counted(number, "game") for number in (0, 1, 1200)] == ["0 games", "1 game", "1,200 games"]


def test_options_without_a_value_are_visible():
    assert describe(ludus.make("hive", limit=40)).startswith("Hive (expansions='', repetition=no, limit=40, ")
    assert describe(ludus.make("tictactoe")) == "Tic-tac-toe"


def test_a_command_has_the_options_that_are_not_the_default():
    assert typed(ludus.make("hive", repetition=True)) == "hive --option=repetition=yes"
    assert typed(ludus.make("connect4", rows=5)) == "connect4 --option=rows=5"
