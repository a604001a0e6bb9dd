"""The view of an arena shows something from its first moment on."""

import io

from rich.console import Console
from rich.live import Live

from ludus.terminal.arena import ArenaView


def test_what_is_shown_before_the_first_progress():
    shown = io.StringIO()
    live = Live(console=Console(file=shown, force_terminal=True, width=80), auto_refresh=False)
    view = ArenaView(live)
    with live:
        live.refresh()
        assert "Starting the agents" in shown.getvalue()
        assert "Compiling" not in shown.getvalue()
        view.compiling("Compiling Tic-tac-toe")
        live.refresh()
        assert "Compiling Tic-tac-toe" in shown.getvalue()
        shown.truncate(0)
        view.compiling(None)
        live.refresh()
        assert "Starting the agents" in shown.getvalue()
        assert "Compiling" not in shown.getvalue()
