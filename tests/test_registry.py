"""Games by name, by file and through a bridge."""

import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

import ludus
from ludus import registry
from ludus.errors import BadOption, LudusError, UnknownGame

TOGETHER = Path(__file__).parent / "broken_games" / "together.py"
OWN = """
from ludus.game import Game
from ludus.games.connect4 import *
from ludus.games.connect4 import Connect4Game


class Own(Connect4Game):
    Rules = Connect4
    name = "own"
    title = "Own {number}"
"""


@pytest.fixture
def own(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(OWN.format(number=1))
    return file


@pytest.mark.parametrize("name", ludus.names())
def test_built_in_games_are_made_by_the_name_they_bear(name):
    game = ludus.make(name)
    assert game.name == name
    assert game.title
    assert not game.compiled
    assert ludus.make(name, **game.options()).identity == game.identity


def test_names_are_those_of_the_games_and_nothing_else():
    assert "connect4" in ludus.names()
    assert ludus.names() == sorted(ludus.names())
    assert not [name for name in ludus.names() if name.startswith("_")]


def test_options_reach_the_rules():
    game = ludus.make("connect4", rows="4", columns=5)
    assert tuple(game.rules) == (4, 5, 4)
    with pytest.raises(BadOption, match="connect4 has no option 'size'; its options are rows, columns, line"):
        ludus.make("connect4", size=3)
    with pytest.raises(BadOption, match="rows and columns must be from 1 to 120"):
        ludus.make("connect4", rows=0)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("conect4", "no game is called 'conect4'; did you mean connect4? A file of your own ends in .py"),
        ("", "no game is called ''; there are "),
        ("_grid", "no game is called '_grid'"),
        ("nowhere:chess", "no game is called 'nowhere:chess'"),
        ("no/such/file.py", "there is no game file "),
        ("..", "no game is called '..'"),
        ("./", "./ is no game: a file of your own ends in .py (Python) or .kif (rules in GDL)"),
        ("run/config.toml", "run/config.toml is no game"),
    ],
)
def test_unknown_games(name, told):
    with pytest.raises(UnknownGame) as caught:
        ludus.make(name)
    assert told in str(caught.value)
    assert isinstance(caught.value, LudusError)


# --- Files ------------------------------------------------------------------------------------------------------------


def test_a_file_is_given_in_any_way_and_loaded_once(own, monkeypatch):
    monkeypatch.chdir(own.parent)
    games = [ludus.make(way) for way in (str(own), own, "own.py", "./own.py", f"../{own.parent.name}/own.py")]
    assert {game.title for game in games} == {"Own 1"}
    assert len({type(game) for game in games}) == 1
    monkeypatch.setenv("HOME", str(own.parent))
    assert type(ludus.make("~/own.py")) is type(games[0])


@pytest.mark.parametrize("where", ["own.py", "titles.py"])
def test_an_edit_is_seen_even_within_the_second(own, monkeypatch, where):
    """The size and the second of the change are all that Python looks at before it trusts a .pyc."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    own.write_text(OWN.format(number=1).replace('"Own 1"', "TITLE"))
    (own.parent / "titles.py").write_text("TITLE = 'first'\n")
    own.write_text("from titles import TITLE\n" + own.read_text() + "# first\n")
    titles, classes = [], []
    for word in ("first", "other"):
        edited = own.parent / where
        edited.write_text(edited.read_text().replace("first", word))
        if where == "own.py":
            edited.write_text(edited.read_text().replace("title = TITLE", f"title = {word!r}").replace("first", word))
        os.utime(edited, (1_700_000_000, 1_700_000_000))
        game = ludus.make(own)
        titles.append(game.title)
        classes.append(type(game))
    assert titles == ["first", "other"]
    assert classes[0] is not classes[1]


def test_helpers_of_the_same_name_in_two_folders(tmp_path):
    games = []
    for number in (1, 2):
        folder = tmp_path / f"folder{number}"
        folder.mkdir()
        (folder / "titles.py").write_text(f"TITLE = 'Own {number}'\n")
        (folder / "own.py").write_text("from titles import TITLE\n" + OWN.replace('"Own {number}"', "TITLE"))
        games.append(ludus.make(folder / "own.py"))
    assert [game.title for game in games] == ["Own 1", "Own 2"]
    assert [ludus.make(tmp_path / f"folder{number}" / "own.py").title for number in (1, 2)] == ["Own 1", "Own 2"]
    assert "titles" not in sys.modules
    sys.modules["titles"] = mine = types.ModuleType("titles")  # one that a program has from elsewhere
    try:
        (tmp_path / "folder1" / "own.py").write_text((tmp_path / "folder1" / "own.py").read_text() + "# edited\n")
        assert ludus.make(tmp_path / "folder1" / "own.py").title == "Own 1"
        assert sys.modules["titles"] is mine
    finally:
        del sys.modules["titles"]
    assert not [entry for entry in sys.path if entry.startswith(str(tmp_path))]


def test_files_that_cannot_be_loaded(tmp_path):
    file = tmp_path / "own.py"
    for source, told in (
        ("import no_such_module", "own.py cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"),
        ("1 / 0", "own.py cannot be loaded: ZeroDivisionError: division by zero (own.py, line 1)"),
        ("def play(", "own.py cannot be loaded: SyntaxError: "),
        ("x = 1", "must define exactly one class derived from ludus.Game with Rules; it has 0"),
        (OWN + OWN.replace("class Own", "class Other"), "with Rules; it has 2"),
    ):
        file.write_text(source)
        before = set(sys.modules)
        with pytest.raises(UnknownGame) as caught:
            ludus.make(file)
        assert told in str(caught.value)
        assert ("loaded" in told) == (set(sys.modules) <= before)
        assert str(tmp_path) not in sys.path
    file.write_text("from ludus.errors import BadOption\nraise BadOption('not today')")
    with pytest.raises(BadOption, match="not today"):
        ludus.make(file)
    file.write_text("raise KeyboardInterrupt")
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            ludus.make(file)


def test_own_games_are_independent_of_the_built_in_one(own):
    game = ludus.make(own)
    assert game.identity == f"own(rows=6,columns=7,line=4)v1#{game.digest}"
    assert game.start().play("d").text == ludus.make("connect4").start().play("d").text


# --- Bridges ----------------------------------------------------------------------------------------------------------


def test_bridges_get_what_stands_after_the_colon(monkeypatch, tmp_path):
    (tmp_path / "some_bridge.py").write_text(
        "from types import SimpleNamespace\n"
        "def make(rest, **options):\n"
        "    return SimpleNamespace(rest=rest, options=options)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(registry.BRIDGES, "some", "some_bridge")
    game = ludus.make("some:game(a=1)", b=2)
    assert (game.rest, game.options) == ("game(a=1)", {"b": 2})


# --- Weight -----------------------------------------------------------------------------------------------------------


def test_import_is_light_and_playing_needs_no_compiler():
    script = (
        "import sys, ludus; light = set(sys.modules); assert not light & {'numpy', 'numba', 'torch'}, light; "
        "ludus.make('connect4').start().play('d').moves; assert 'numba' not in sys.modules; print(dir(ludus))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with pytest.raises(AttributeError, match="module 'ludus' has no attribute 'nothing'"):
        ludus.nothing  # noqa: B018


def test_the_title_of_an_identity_is_for_people():
    assert registry.title_of(ludus.make("connect4", rows=5).identity) == "Connect-4 (rows=5, columns=7, line=4)"
    assert registry.title_of(ludus.make("tictactoe").identity) == "Tic-tac-toe"
    assert registry.title_of("mine(size=3)v2#0123456789abcdef") == "mine (size=3)"
    assert registry.title_of("of an old file") == "of an old file"
