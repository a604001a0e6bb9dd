"""`ludus new`: files to start from, which are complete games."""

import pytest

import ludus
from ludus.cli import main
from ludus.errors import BadOption
from ludus.templates import KINDS, new_game
from ludus.testing import check_game


@pytest.mark.parametrize("kind", KINDS)
def test_each_template_is_a_game_that_keeps_its_promises(tmp_path, kind):
    path = new_game(tmp_path / "two_words.py", kind)
    report = check_game(path, games=3)
    assert report.warnings == ()
    assert any(what.startswith("the variant ") for what in report.checked)
    assert report.seen.games == 400
    game = ludus.make(path)
    assert (game.name, game.title) == ("two_words", "Two words")
    assert game.observation is not None  # so that it can be trained
    assert game.observation_bounds == (0.0, 1.0)  # Gymnasium's checker warns of infinite ones
    text = path.read_text()
    assert "mygame" not in text.lower()
    assert text.splitlines()[0].startswith('"""Two words: ')


def test_the_command_shows_commands_that_can_be_pasted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my games").mkdir()
    assert main(["new", "my games/hop.py", "--kind", "simultaneous"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert "  ludus check 'my games/hop.py'" in shown
    assert "  ludus train 'my games/hop.py' --minutes 5" in shown
    assert "python -m pydoc ludus.rules" in shown[-1]
    assert not any("docs/" in line for line in shown)  # which an installed package does not have
    assert ludus.make("my games/hop.py").simultaneous


def test_a_file_is_never_overwritten(tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text("precious")
    assert main(["new", str(path)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert path.read_text() == "precious"


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("random.py", "grid", "has the name of a Python module"),
        ("my-game.py", "grid", "letters, digits and _"),
        ("mygame.txt", "grid", "a file such as mygame.py"),
        ("mygame.py", "cards", "kinds are grid, simultaneous, python"),
    ],
)
def test_names_that_cannot_be_games_are_refused(tmp_path, name, kind, message):
    with pytest.raises(BadOption, match=message):
        new_game(tmp_path / name, kind)
    assert not list(tmp_path.iterdir())
