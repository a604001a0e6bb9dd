"""The view of a training says what a finished run means."""

from types import SimpleNamespace

import pytest

import ludus
from ludus.terminal.training import TrainingView
from ludus.training.events import Resumed, TrainingFinished


@pytest.mark.parametrize(("last", "spent"), [(12, True), (13, False)])
def test_a_resumed_run_whose_budget_was_spent_before_says_so(capsys, last, spent):
    run = SimpleNamespace(folder="runs/one", game=ludus.make("tictactoe"))
    with TrainingView() as view:
        view(Resumed(run, 12, 1000, 19.0))
        view(TrainingFinished(run, last))
    shown = capsys.readouterr().out
    assert "Going on from iteration 12: 1,000 rows, 0:19 of training\n" in shown
    assert ("This budget was spent before" in shown) is spent
    assert "Play against it: ludus play tictactoe --against zero:runs/one\n" in shown
