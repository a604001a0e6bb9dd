"""The page and the server together: the lobby, a reload, two people, an agent that dies, runs and arenas."""

import json
import re
import time

import pytest

import ludus
from ludus.runs.config import Config, with_settings
from ludus.runs.lock import StopRequests, training_lock
from ludus.runs.run import Run
from ludus.stopping import NEVER
from tests.web.serving import QUICK, running, wait_for

pytestmark = pytest.mark.browser

PATIENCE = 120_000
"""Milliseconds to wait for a training."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("web")) as server:
        yield server


@pytest.fixture
def new_page(browser, server):
    """Call it for the page of another person, in a profile of its own."""
    contexts, errors = [], []

    def make():
        context = browser.new_context(viewport={"width": 1200, "height": 900}, reduced_motion="reduce")
        context.set_default_timeout(60_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        return page

    yield make
    for context in contexts:
        context.close()
    assert errors == []


def moves_shown(page):
    return [text.split("\n")[0] for text in page.locator(".history li").all_inner_texts()][1:]


def start_in_the_lobby(page, server, game="tictactoe", seats=("human", "human")):
    page.goto(server.url)
    page.select_option("select[name=game]", game)
    for player, seat in enumerate(seats, 1):
        page.get_by_label(f"Player {player}", exact=True).select_option(seat)
    page.click("form button[type=submit]")
    page.wait_for_selector(".board-svg .hit", state="attached")


def test_a_game_begins_in_the_lobby_and_a_reload_comes_back_to_it(server, new_page):
    page = new_page()
    start_in_the_lobby(page, server, seats=("human", "uct:1000"))
    page.locator("[data-cell=b2]").click()
    page.wait_for_selector(".history li[value='2'] [aria-current]")
    before = moves_shown(page)
    page.reload()
    page.wait_for_selector(".history li[value='2'] [aria-current]")
    assert moves_shown(page) == before
    page.goto(f"{server.url}/#/play")
    page.get_by_role("link", name="Tic-tac-toe").first.click()
    page.wait_for_selector(".history li[value='2'] [aria-current]")


def test_the_trained_player_is_the_opponent_where_one_comes_with_ludus(server, new_page):
    page = new_page()
    page.goto(server.url)
    other = page.get_by_label("Player 2", exact=True)
    for game, seat in (("connect4", "zero"), ("gdl:tictactoe", "uct:1000"), ("sevn", "zero"), ("tictactoe", "zero")):
        page.select_option("select[name=game]", game)
        assert other.input_value() == seat
    page.select_option("select[name=game]", "connect4")
    page.get_by_label("rows").fill("4")
    page.get_by_label("rows").blur()
    page.wait_for_function("() => !document.querySelector('form select option[value=zero]')")
    assert other.input_value() == "uct:1000"
    page.get_by_label("rows").fill("6")
    page.get_by_label("rows").blur()
    page.wait_for_function("() => document.querySelector('form select option[value=zero]')")
    assert other.input_value() == "zero"


def test_a_closed_tab_stops_its_search(server, new_page):
    page = new_page()
    start_in_the_lobby(page, server)
    page.get_by_label("Seat of x", exact=True).select_option("other")
    page.get_by_label("Seat of x: name of the agent").fill("uct:60s:reuse=no:threads=1")
    page.get_by_label("Seat of x: name of the agent").press("Enter")
    page.wait_for_selector(".thinking progress:not([hidden])")
    room = next(room for room in server.rooms.all() if room.session.thinking)
    page.close()
    closed = time.monotonic()
    wait_for(lambda: not room.session.thinking)
    assert time.monotonic() - closed < 10.0


def test_two_people_play_each_other_and_each_has_the_controls_of_one_seat(server, new_page):
    one, two = new_page(), new_page()
    start_in_the_lobby(one, server, seats=("human", "open"))
    two.goto(one.url)
    two.get_by_role("button", name="Take this seat").click()
    two.get_by_role("button", name="Resign", exact=True).wait_for()
    one.locator("[data-cell=b2]").click()
    two.wait_for_selector(".history li[value='1'] [aria-current]")
    one.locator("[data-cell=a1]").click()
    one.wait_for_selector("text=It is not your turn.")
    two.locator("[data-cell=a1]").click()
    one.wait_for_selector(".history li[value='2'] [aria-current]")
    two.get_by_role("button", name="Resign", exact=True).click()
    two.get_by_role("button", name="Yes, resign").click()
    one.wait_for_selector(".result:not([hidden])")
    assert "resigned" in one.locator(".result").inner_text()


def test_an_agent_that_dies_is_told_and_another_takes_its_seat(server, new_page, misbehaving):
    page = new_page()
    start_in_the_lobby(page, server, seats=("random", "random"))
    page.wait_for_selector(".result:not([hidden])")
    page.goto(server.url)
    client = server.client()
    id = client.new_game(game="tictactoe", seats=["misbehaving:die", "random"])
    page.goto(f"{server.url}/#/game/{id}")
    page.wait_for_selector(".status:has-text('cannot move')")
    page.get_by_label("Seat of x", exact=True).select_option("random")
    page.wait_for_selector(".result:not([hidden])")


def test_a_game_is_downloaded_and_loaded_again(server, new_page, tmp_path):
    page = new_page()
    start_in_the_lobby(page, server)
    page.locator("[data-cell=b2]").click()
    page.wait_for_selector(".history li[value='1'] [aria-current]")
    with page.expect_download() as found:
        page.get_by_role("link", name="Download").click()
    file = tmp_path / "game.json"
    found.value.save_as(file)
    assert json.loads(file.read_text())["format"] == "ludus game 1"
    page.goto(f"{server.url}/#/play")
    page.get_by_text("Clock, position and more").click()
    page.get_by_label("Load a game").set_input_files(file)
    page.wait_for_selector(".history li[value='1'] [aria-current]")


def test_text_from_files_is_never_markup(server, new_page):
    client = server.client()
    id = client.new_game(game="tictactoe", moves=["b2"])
    record = client.get(f"/api/games/{id}/record").json()
    evil = "<img src=x onerror=alert(1)>"
    record["moves"][0]["choices"] = [
        {"player": 0, "by": evil, "value": 0.5, "solved": False, "simulations": 1, "seconds": 0.1, "line": [evil]}
    ]
    record["seats"] = ["human", f"uct:{evil}"]
    again = client.new_game(record=record)
    page = new_page()
    page.goto(f"{server.url}/#/game/{again}")
    page.wait_for_selector(".history li[value='1'] [aria-current]")
    assert page.locator("img").count() == 0


def test_the_dashboard_shows_a_run_in_progress(server, new_page):
    folder = server.settings.runs / "growing"
    run = Run.create(folder, ludus.make("tictactoe"), with_settings(Config(), {"blocks": 1, "width": 8}))
    line = {"rows": 100, "steps": 3, "plies": 7.0, "rating": 10.0, "rating_low": -50.0, "rating_high": 60.0}
    line |= {"policy": 2.0, "value": 0.9, "wins": [50, 30], "draws": 20, "graded": None, "gate": None}
    page = new_page()
    with training_lock(folder):
        run.add_to_log({"iteration": 1, "games": 100, "seconds": 5.0, **line})
        page.goto(f"{server.url}/#/learn")
        page.wait_for_selector(".state.training")
        page.wait_for_selector("text=iteration 1, 100 games")
        run.add_to_log({"iteration": 2, "games": 200, "seconds": 9.0, **line, "policy": 1.5})
        page.wait_for_selector("text=iteration 2, 200 games")
        page.get_by_role("img", name="Policy loss. growing: 1.5, from 2").wait_for()
        page.get_by_role("img", name="seat 1 wins: 50 %").wait_for()
        assert page.locator(".chart .band").count() == 1
    run.add_watched({"iteration": 2, "start": run.game.start().text, "moves": ["b2", "a1"], "results": [1.0, -1.0]})
    page.wait_for_selector(".state.stopped")
    page.get_by_role("button", name="Watch the game of growing").click()
    page.wait_for_selector(".history li[value='2'] [aria-current]")


def test_a_training_is_started_watched_stopped_and_resumed_from_the_page(server, new_page):
    page = new_page()
    page.goto(f"{server.url}/#/learn")
    form = page.locator("form", has_text="New training")
    form.get_by_role("combobox").first.select_option("tictactoe")
    form.get_by_label("Name of the run").fill("clicked")
    form.get_by_text("Settings", exact=True).click()
    form.get_by_label("One on each line").fill("\n".join(f"{name}={value}" for name, value in QUICK.items()))
    form.get_by_role("button", name="Start training").click()
    row = page.locator("section[aria-labelledby=runs] li", has_text="clicked")
    row.locator(".state.training").wait_for()
    page.get_by_role("img", name=re.compile("Policy loss.* clicked: [0-9]")).wait_for(timeout=PATIENCE)
    page.get_by_role("button", name="Stop clicked").click()
    row.locator(".state.stopped").wait_for(timeout=PATIENCE)
    done = server.client().get("/api/runs/clicked").json()["log"][-1]["iteration"]
    page.get_by_role("button", name="Resume clicked").click()
    row.locator(".state.training").wait_for()
    wait_for(lambda: int(re.search(r"iteration (\d+)", row.inner_text())[1]) > done)
    page.get_by_role("button", name="Stop clicked").click()
    row.locator(".state.stopped").wait_for(timeout=PATIENCE)
    page.get_by_role("button", name="Play against clicked").click()
    page.wait_for_selector(".board-svg .hit", state="attached")


def test_a_training_of_another_process_is_asked_to_stop(server, new_page):
    folder = server.settings.runs / "foreign"
    Run.create(folder, ludus.make("tictactoe"), with_settings(Config(), {"blocks": 1, "width": 8}))
    page = new_page()
    with training_lock(folder):
        page.goto(f"{server.url}/#/learn")
        row = page.locator("section[aria-labelledby=runs] li", has_text="foreign")
        row.get_by_text("trained by another process").wait_for()
        page.get_by_role("button", name="Stop foreign").click()
        row.locator(".state.stopping").wait_for()
        assert page.get_by_role("button", name="Stop foreign").is_disabled()
        assert StopRequests(folder, NEVER).is_set()
    row.locator(".state.stopped").wait_for()


def test_the_arena_shows_ratings_and_replays_games(server, new_page):
    ludus.play_match("tictactoe", ["uct:50", "random"], 4, parallel=1, results=server.settings.results)
    page = new_page()
    page.goto(f"{server.url}/#/arena")
    page.wait_for_selector(".matrix td.won")
    assert "random (anchor)" in page.locator("[aria-label='Table of ratings']").inner_text()
    page.get_by_role("button", name="Replay game 1", exact=True).click()
    page.wait_for_selector(".history li[value='0'] [aria-current]")
    assert len(moves_shown(page)) >= 5


def test_the_interface_is_described_by_a_page_of_its_own(server, new_page):
    page = new_page()
    page.goto(f"{server.url}/api/docs")
    page.wait_for_selector("text=POST /api/choose")
    assert "The key of a game of the catalogue." in page.inner_text("#routes")
