"""`ludus ggp train-within` in a terminal."""

from pathlib import Path

import pytest

from ludus.errors import BadOption
from ludus.protocols import ggp_learning
from ludus.terminal.ggp import run_train_within


def test_a_folder_that_no_agent_can_name_is_refused_before_anything_is_learned(monkeypatch):
    monkeypatch.setattr(ggp_learning, "learn_within", lambda *given, **options: pytest.fail("learned"))
    for folder in ("runs/a=b", "100"):
        with pytest.raises(BadOption, match="--run"):
            run_train_within("gdl:tictactoe", 60.0, folder, None, 0)
        assert not Path(folder).exists()
