"""Whole games in the browser: by clicks, by keyboard alone, and by touch at phone width."""

import json

import pytest

from tests.web.browsing import COMPILING, OTHERS_HAVE_MOVED, short_game

pytestmark = pytest.mark.browser

GAMES = {
    "connect4": {},
    "tictactoe": {},
    "breakthrough": {"height": 5, "width": 4},
    "sevn": {"base": 3},
    "hive": {"surround": 2},
    "cachex": {"n": 4},
}


@pytest.mark.parametrize("name", GAMES)
def test_a_whole_game_is_played_by_clicks(name, table):
    moves = short_game(name, **GAMES[name])
    table.open(name, options=GAMES[name])
    table.play_all(moves)
    state = table.state()
    assert [each["move"] for each in state["history"]] == moves
    assert state["result"]["text"] in table.page.locator(".result").inner_text()


@pytest.mark.parametrize("name", GAMES)
def test_a_whole_game_is_played_by_keyboard_alone(name, table):
    moves = short_game(name, **GAMES[name])
    table.open(name, options=GAMES[name])
    table.play_all(moves, table.key)
    assert [each["move"] for each in table.state()["history"]] == moves


@pytest.mark.parametrize("name", GAMES)
def test_a_whole_game_is_played_by_touch_at_phone_width(name, phone):
    moves = short_game(name, **GAMES[name])
    phone.open(name, options=GAMES[name])
    phone.play_all(moves, phone.tap)
    assert [each["move"] for each in phone.state()["history"]] == moves
    wide, inner = phone.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= inner  # nothing to scroll sideways


def test_a_game_of_a_users_own_file_has_its_board(table):
    table.open("file:chomp.py", options={"rows": 2, "columns": 3})
    table.play_all(["b1", "a1"])
    assert "wins" in table.page.locator(".result").inner_text()


def test_a_described_game_is_played_on_the_grid_that_its_rules_show(table):
    table.open("gdl:tictactoe")
    table.page.wait_for_selector(".table [data-cell]", timeout=COMPILING)  # the reasoner plays until it is compiled
    assert table.page.locator(".table [data-cell]").count() == 9
    table.play_all(["(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)", "(mark 1 3)"])


def test_a_described_game_without_a_grid_is_played_from_the_list_of_its_moves(table):
    table.open("gdl:babel", seats=["human"] * 3)
    assert "(round 1)" in table.page.locator(".table .board-text").inner_text()
    for _ in range(3):
        state = table.state()
        move = state["moves"][0]
        table.click(f'.table button[data-move="{move["move"]}"]')
        before = json.dumps(state["hidden"], separators=(",", ":"))
        table.page.wait_for_function(OTHERS_HAVE_MOVED, arg=[table.id, before])
    table.wait_for_ply(1)
    assert "(round 2)" in table.page.locator(".table .board-text").inner_text()


def test_moves_at_once_stay_hidden_until_all_have_moved(table):
    table.open("roshambo")
    table.click('.table [data-cell="rock"]')
    table.page.wait_for_selector("text=has moved")
    assert table.state()["ply"] == 0
    table.click('.table [data-cell="paper"]')
    table.wait_for_ply(1)
    assert table.state()["history"][0]["move"] == "rock,paper"


def test_an_agent_answers_a_click(table):
    table.open("tictactoe", seats=["human", "random"])
    table.click('.table [data-cell="b2"]')
    table.wait_for_ply(2)


def test_an_agent_that_thinks_long_is_told_to_move_now(table):
    table.open("connect4", seats=["human", "uct:600s"])
    table.click('.table [data-cell="d1"]')
    button = table.page.get_by_role("button", name="Make the agent move now")
    button.wait_for(timeout=COMPILING)
    assert table.page.locator(".player.agent").evaluate("(card) => card.scrollWidth <= card.clientWidth")
    button.click()
    table.wait_for_ply(2)


def test_a_selected_piece_shows_its_destinations_and_escape_cancels(table):
    table.open("breakthrough")
    table.click('.table [data-cell="d2"]')
    assert table.page.locator(".table .target").count() == 3
    assert table.page.locator('.table [data-cell="d2"]').get_attribute("aria-pressed") == "true"
    table.page.locator('.table [data-cell="e3"]').hover()
    assert table.page.locator(".table .board-hint").inner_text() == "d2e3"
    table.page.keyboard.press("Escape")
    assert table.page.locator(".table .target").count() == 0


@pytest.mark.parametrize(
    ("name", "cells", "words"),
    [
        ("breakthrough", ["a1"], "white has a piece of its own on a2"),
        ("breakthrough", ["a2", "a5"], "a piece moves one row forward"),
        ("sevn", ["d4"], "d4 is not a corner"),
        ("hive", ["0,0"], "no legal move begins with 0,0"),
    ],
)
def test_an_illegal_attempt_is_answered_in_words(table, name, cells, words):
    table.open(name)
    for cell in cells:
        table.click(f'.table [data-cell="{cell}"]')
    table.page.wait_for_function(
        "words => document.querySelector('.table .board-hint').textContent.includes(words)", arg=words
    )


def test_sevn_tiles_lift_and_several_are_taken_together(table):
    table.open("sevn", options={"base": 3}, position="1/aaa/aba.bcb.cac")
    table.click('.table [data-cell="a3"]')
    assert table.page.locator(".table .lifted").count() == 1
    table.click('.table [data-cell="c3"]')  # the last corner of its colour: the move is complete
    table.wait_for_ply(1)
    assert table.state()["history"][0]["move"] == "a:a3+c3"


STOPS = """() => {
  const { activeElement } = document;
  return [activeElement.tagName.toLowerCase(), activeElement.dataset.cell ?? ""];
}"""


def test_the_board_is_one_stop_of_the_tab_key(table):
    table.open("tictactoe")
    table.page.locator(".brand").focus()
    stops = []
    while len(stops) < 40 and stops[-1:] != [["input", ""]]:  # the last one is the text of the position
        table.page.keyboard.press("Tab")
        stops.append(table.page.evaluate(STOPS))
    assert [cell for _, cell in stops if cell] == ["a3"]
    assert "svg" not in [name for name, _ in stops]


def test_the_last_move_is_marked_and_undo_takes_it_back(table):
    table.open("connect4", moves=["d", "d"])
    assert table.page.locator(".table .last").count() == 1
    table.page.get_by_role("button", name="One move back").click()
    table.wait_for_ply(1)
    assert table.page.locator(".table .layer-pieces > g").count() == 1


def test_a_position_is_set_up_by_hand_and_played(table):
    page = table.page
    page.goto(f"{table.address}#/play")
    page.locator("select[name=game]").select_option("tictactoe")
    page.get_by_text("Clock, position and more").click()
    page.get_by_role("button", name="Set up by hand").click()
    page.wait_for_selector('.setup [data-cell="b2"]')
    page.locator('.setup [data-cell="b2"]').click()
    page.wait_for_function("() => document.querySelector('.setup-message').textContent.includes('can be played')")
    page.locator('.setup [data-cell="a1"]').click()
    page.wait_for_function("() => document.querySelector('.setup-message').textContent.includes('x has 2 stones')")
    page.locator('.setup [data-kind="1"]').click()
    page.locator('.setup [data-cell="a1"]').click()
    page.wait_for_function("() => document.querySelector('.setup-message').textContent.includes('can be played')")
    page.get_by_role("button", name="Use this position").click()
    page.get_by_label("Player 2").first.select_option("human")
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_selector(".history li[value='0'] [aria-current]", state="attached")
    assert page.locator(".table .layer-pieces > g").count() == 2


def open_set_up(page, address, game):
    page.goto(f"{address}#/analyse")
    page.locator("select[name=game]").select_option(game)
    page.evaluate("document.querySelector('details').open = true")
    page.get_by_role("button", name="Set up by hand").click()
    page.wait_for_selector(".setup [data-cell]")


def wait_for_message(page, words):
    told = "words => document.querySelector('.setup-message').textContent.includes(words)"
    page.wait_for_function(told, arg=words)


def test_hive_and_sevn_are_set_up_by_hand_at_phone_width(phone):
    page = phone.page
    open_set_up(page, phone.address, "hive")
    for piece, cell in (("white spider", "0,0"), ("black ant", "1,0"), ("white queen", "-1,0"), ("black queen", "2,0")):
        page.get_by_role("button", name=piece, exact=True).tap()
        phone.tap(f'.setup [data-cell="{cell}"]')
    wait_for_message(page, "can be played")
    page.get_by_role("button", name="white beetle", exact=True).tap()
    phone.tap('.setup [data-cell="2,0"]')
    page.wait_for_selector('.setup [data-cell="2,0"][aria-label*="white beetle on black queen"]')
    page.get_by_role("button", name="remove", exact=True).focus()
    page.keyboard.press("Enter")
    page.locator('.setup [data-cell][tabindex="0"]').focus()
    for key in ("ArrowLeft", "ArrowLeft", "Enter"):  # the white spider
        page.keyboard.press(key)
    wait_for_message(page, "the hive is not in one piece")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")

    open_set_up(page, phone.address, "sevn")
    page.get_by_role("button", name="player 2 takes", exact=True).tap()
    phone.tap('.setup [data-cell="d4"]')
    wait_for_message(page, "row 4 has a gap between its tiles")
    phone.tap('.setup [data-cell="a7"]')
    page.locator('.setup [data-kind="4"]').tap()  # the colour of d4, which seed 0 has put there
    phone.tap('.setup [data-cell="d4"]')
    wait_for_message(page, "can be played")
    taken = page.locator('.setup .entry[aria-disabled="false"]')
    assert taken.get_attribute("aria-label").startswith("player 2 has 1 of")
    taken.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector('.setup .entry[aria-label^="player 1 has 1 of"]')
    wait_for_message(page, "can be played")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_role("button", name="Use this position").tap()
    page.get_by_role("button", name="Analyse", exact=True).tap()
    page.wait_for_selector(".table [data-cell=a7][aria-label='a7, empty']")


def test_a_board_without_bounds_is_moved_and_zoomed(table):
    table.open("hive", moves=["wA1", "bA1 wA1-"])
    board = table.page.locator(".table .board-svg")
    before = board.get_attribute("viewBox")
    box = board.bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    table.page.mouse.move(*middle)
    table.page.mouse.down()
    table.page.mouse.move(middle[0] + 80, middle[1] + 40, steps=4)
    table.page.mouse.up()
    moved = board.get_attribute("viewBox")
    assert moved != before
    assert table.page.locator(".table .selected").count() == 0  # dragging is not a click
    table.page.mouse.wheel(0, -300)
    table.page.wait_for_function(
        "before => document.querySelector('.table .board-svg').getAttribute('viewBox') !== before", arg=moved
    )
    table.page.get_by_role("button", name="Show the whole board").click()
    assert board.get_attribute("viewBox") == before


def test_the_theme_switches_and_stays(table):
    table.open("tictactoe")
    switch = table.page.get_by_role("button", name="Light or dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    light = table.page.evaluate(colour)
    switch.click()
    dark = table.page.evaluate(colour)
    assert dark != light
    table.page.reload()
    table.page.wait_for_selector('.table [data-cell="a1"]')
    assert table.page.evaluate(colour) == dark
    switch.click()
    assert table.page.evaluate(colour) == light
