"""Stepping through a recorded game."""

import pytest

import ludus
from ludus.terminal import replay

GAME = ludus.make("tictactoe")


@pytest.fixture
def stored(tmp_path):
    """A recorded game."""
    file = tmp_path / "results.sqlite"
    ludus.play_match(GAME, ["random", "uct:30"], 2, parallel=1, results=file)
    with ludus.open_results(file) as results:
        yield results.game(1)


def test_a_person_steps_forth_and_back(stored, monkeypatch, capsys):
    asked = []
    answers = iter(["", "", "b", "nonsense", "0", "9" * 5000, "e"])
    monkeypatch.setattr(replay, "read_line", lambda prompt: asked.append(prompt) or next(answers))
    replay.replay(GAME, stored, step=True)
    last = len(stored.record.moves)
    assert [int(prompt.split()[0]) for prompt in asked] == [0, 1, 2, 1, 1, 0, 0]
    assert asked[0] == f"0 of {last}> "
    assert capsys.readouterr().out.count("Enter: the next move") == 2


def test_a_person_can_leave(stored, monkeypatch):
    monkeypatch.setattr(replay, "read_line", lambda prompt: "q")
    with pytest.raises(replay.Quit):
        replay.replay(GAME, stored, step=True)
