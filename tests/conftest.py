"""Which tests run in one process: those of a file, or, where a file goes through all games, those of a game.

All tests in a browser share one process, with its browser and its server.

Most of the time goes into compiling, and what a process has compiled it need not load or compile again.
"""

import pytest

from tests.fixtures import hollow_run, misbehaving, run_that_plays  # noqa: F401


def pytest_collection_modifyitems(items):
    for item in items:
        call = getattr(item, "callspec", None)
        game = call.params.get("name") if call and "tests/games" in str(item.path) else None
        file = "test_browser" if item.path.stem.startswith("test_browser") else item.path.stem
        item.add_marker(pytest.mark.xdist_group(f"{game}" if isinstance(game, str) else file))
