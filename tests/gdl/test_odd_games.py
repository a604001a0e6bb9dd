"""Descriptions that are legal but odd, in the commands that take a game."""

import pytest

from ludus.cli import main
from ludus.gdl.game import make_file
from ludus.gdl.summary import play_randomly

OVER = """(role x) (role y) (init done) (<= (legal ?r stay) (role ?r)) (<= (legal ?r go) (role ?r))
(<= (next done) (does x stay)) (<= terminal (true done)) (goal x 100) (goal y 0)"""
"""Over before the first move."""
STUCK = """(role w) (role b) (init (at w 1)) (init (at b 1)) (edge 1 2) (edge 1 3) (edge 1 4) (edge 3 4)
(<= (legal ?r (go ?y)) (true (at ?r ?x)) (edge ?x ?y)) (<= (next (at ?r ?y)) (does ?r (go ?y)))
(<= terminal (true (at ?r 4))) (<= (goal ?r 100) (true (at ?r 4))) (<= (goal ?r 70) (true (at ?r 4)))"""
"""After the move to 2 a role has none, and at the end a role has two goals or none."""
ENDLESS = """(role r) (init (lit)) (legal r on) (legal r off) (<= (next (lit)) (does r on))
(<= terminal (true never)) (goal r 50)"""


@pytest.fixture
def sheet(tmp_path):
    """Writes a description into a file and gives its path."""

    def write(text):
        path = tmp_path / "sheet.kif"
        path.write_text(text)
        return str(path)

    return write


@pytest.mark.parametrize("reasoner", [False, True])
def test_info_says_what_is_unusual_about_the_ends_of_games(sheet, reasoner):
    figures = play_randomly(make_file(sheet(STUCK), reasoner=reasoner), games=40)
    assert figures.games == 40
    assert not figures.cut
    assert all(count > 0 for count in (*figures.stuck, *figures.several_goals, *figures.without_goal))
    endless = play_randomly(make_file(sheet(ENDLESS), longest=20, reasoner=reasoner), games=5)
    assert endless.cut == endless.games == 5
    assert not any(endless.stuck)


def test_a_game_without_such_ends_has_no_line_about_them(sheet, capsys):
    assert main(["gdl", "info", "gdl:tictactoe"]) == 0
    assert "\nends " not in capsys.readouterr().out
    assert main(["gdl", "info", sheet(STUCK)]) == 0
    shown = capsys.readouterr().out
    assert "\nends        w has no legal move at the end of" in shown
    assert "b has several goals at the end of" in shown


@pytest.mark.parametrize("learn", [["train", "--games", "2"], ["ggp", "train-within", "--start-clock", "20"]])
def test_a_game_that_is_over_before_the_first_move_cannot_be_learned(sheet, tmp_path, capsys, learn):
    """Self-play would wait for a move forever."""
    assert main([*learn, sheet(OVER), "--run", str(tmp_path / "run")]) == 2
    assert capsys.readouterr().err.endswith("gdl:sheet cannot be learned: it is over before the first move\n")
    assert not (tmp_path / "run").exists()
