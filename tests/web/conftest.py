"""One server and one browser for all tests of the page, in the process of one xdist worker."""

import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import ludus
from ludus.runs.config import Config, with_settings
from ludus.runs.run import Run, detached
from tests.guide import write_chomp
from tests.web.browsing import Table

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
TIMEOUT = 20_000
"""Milliseconds that a test waits for something to appear in the page."""


@pytest.fixture(scope="session")
def own_game(tmp_path_factory) -> Path:
    """A user's own file: the game of docs/writing-a-game.md with the drawing of docs/board.md."""
    return write_chomp(tmp_path_factory.mktemp("own"))


def make_run(folder: Path) -> None:
    """A run of tic-tac-toe with one checkpoint of a small network with random weights."""
    from ludus.nets.families import make_network

    game = ludus.make("tictactoe")
    run = Run.create(folder, game, with_settings(Config(), {"blocks": 1, "width": 8}))
    run.save(1, detached(make_network("residual", game, blocks=1, width=8).state_dict()), {}, {}, {})


@pytest.fixture(scope="session")
def address(tmp_path_factory, own_game) -> Iterator[str]:
    """The address of a server on loopback, with a user's own game."""
    pytest.importorskip("fastapi", reason="the server needs fastapi: pip install 'ludus[web]'")
    folder = tmp_path_factory.mktemp("web")
    make_run(folder / "runs" / "young")
    command = [sys.executable, "-c", "from ludus.cli import main; main()", "web", "--port", "0", "--no-browser"]
    command += ["--games", str(folder / "games"), "--runs", str(folder / "runs"), "--game", str(own_game)]
    command += ["--results", str(folder / "results.sqlite")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder) as server:
        lines = []
        for line in server.stdout:
            lines.append(line)
            found = re.search(r"http://\S+", line)
            if found:
                break
        else:
            pytest.fail(f"the server did not start:\n{''.join(lines)}")
        reader = threading.Thread(target=lambda: lines.extend(server.stdout), daemon=True)
        reader.start()
        yield found[0]
        server.terminate()


@pytest.fixture(scope="session")
def browser():
    """Chromium, started once."""
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="tests of the page need playwright: pip install playwright"
    )
    if CHROMIUM is None:
        pytest.skip("tests of the page need Chromium: apt install chromium")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def desktop(browser, address) -> Iterator[Table]:
    """A page of desktop width in an empty profile, loaded once."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(TIMEOUT)
    yield Table(context.new_page(), address)
    context.close()


@pytest.fixture(scope="session")
def handset(browser, address) -> Iterator[Table]:
    """A page of phone width with touch, loaded once."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    context.set_default_timeout(TIMEOUT)
    yield Table(context.new_page(), address)
    context.close()


@pytest.fixture
def table(desktop) -> Iterator[Table]:
    """The page of desktop width; a test must end without errors of its scripts."""
    desktop.errors.clear()
    yield desktop
    assert desktop.errors == []


@pytest.fixture
def phone(handset) -> Iterator[Table]:
    """The page of phone width; a test must end without errors of its scripts."""
    handset.errors.clear()
    yield handset
    assert handset.errors == []
