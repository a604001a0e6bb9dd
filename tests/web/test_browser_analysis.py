"""Analysis, review and tree in the browser; and an automated check of accessibility on every page."""

import pytest

from tests.web.browsing import COMPILING

pytestmark = pytest.mark.browser


def start_analysis(table, agent="uct"):
    table.page.get_by_label("Agent that analyses").select_option(agent)
    table.page.locator("#panel-analysis").get_by_role("button", name="Analyse", exact=True).click()
    table.page.wait_for_selector(".analysis-bars tr.best", timeout=COMPILING)


def test_an_analysis_shows_bars_heat_and_a_line_that_can_be_played(table):
    table.open("tictactoe", "analysis", moves=["b2"])
    start_analysis(table)
    page = table.page
    assert page.locator(".analysis-bars tbody tr").count() == 8
    page.wait_for_selector(".table .heat.best")
    assert "simulations" in page.locator(".analysis-summary").inner_text()
    page.wait_for_selector(".analysis-line .chip:not(.primary)")
    page.locator(".analysis-line .chip").first.click()
    page.get_by_role("button", name="Back to the game").click()
    page.wait_for_selector(".table .heat.best")  # drawn again on the position of the game
    page.locator(".analysis-line .chip.primary").click()
    table.wait_for_ply(2)
    page.locator("#panel-analysis").get_by_role("button", name="Stop analysis").click()
    page.wait_for_selector(".table .heat", state="detached")


def test_an_analysis_by_a_network_shows_its_raw_policy_beside_the_search(table):
    table.open("tictactoe", "analysis", moves=["b2"])
    assert table.page.get_by_label("Agent that analyses").input_value() == "zero"  # the one that comes with Ludus
    start_analysis(table, "zero:young")
    assert table.page.locator(".analysis-bars thead th").all_inner_texts() == ["Move", "Visits", "Value", "Network"]
    assert table.page.locator(".analysis-bars .bar.prior").count() == 8
    assert table.page.locator(".analysis-bars").evaluate("bars => bars.scrollWidth <= bars.clientWidth")
    table.page.locator("#panel-analysis").get_by_role("button", name="Stop analysis").click()


DRAW = """async (moves) => {
  const { BoardView } = await import("/static/board.js");
  const board = (await (await fetch(`/api/games/${location.hash.split("/")[2]}`)).json()).view.board;
  const view = new BoardView(document.createElement("div"));
  view.show(board);
  const known = (name) => board.moves.find(({ move }) => move === name);
  view.overlay(moves.map(([name, share], i) => ({ move: known(name), share, label: name, best: i === 0 })));
  return [...view.element.querySelectorAll(".arrow")].map((arrow) => [arrow.getAttribute("class"), arrow.textContent]);
}"""


def test_moves_between_cells_are_drawn_as_arrows(table):
    table.open("breakthrough")
    arrows = table.page.evaluate(DRAW, [["a2a3", 0.7], ["b2b3", 0.2]])
    assert arrows == [["arrow", "b2b3"], ["arrow best", "a2a3"]]


def test_a_review_marks_the_mistakes_of_a_game_exactly(table):
    table.open("tictactoe", "analysis", moves=["a1", "b1", "c1", "b2", "b3", "a2", "a3", "c2"])  # o has a line
    page = table.page
    page.get_by_role("button", name="Review the game").click()
    page.wait_for_function("() => document.querySelector('.analysis').textContent.includes('positions exact')")
    mistakes = page.locator(".mistakes .chip").all_inner_texts()
    assert mistakes
    assert all("(exact)" in each for each in mistakes)
    assert "9 of 9 positions exact" in page.locator(".analysis").inner_text()
    assert page.locator(".curve .mistake").count() == len(mistakes)
    ply = int(mistakes[0].partition(".")[0]) - 1
    page.locator(".mistakes .chip").first.click()
    table.wait_for_ply(ply)
    box = page.locator(".curve").bounding_box()
    page.locator(".curve").click(position={"x": box["width"] - 3, "y": 20})
    table.wait_for_ply(8)


def test_the_tree_is_opened_node_by_node(table):
    table.open("tictactoe", "analysis", moves=["b2"])
    start_analysis(table)
    page = table.page
    page.locator("#tab-tree").click()
    page.wait_for_selector(".tree-row[aria-level='2']")
    first = page.locator(".tree-row[aria-level='2']").first
    move = first.locator(".tree-move").inner_text().lstrip("\u25b8 ")
    first.locator(".twist").click()
    page.wait_for_selector(".tree-row[aria-level='3']")
    assert move in page.locator(".tree-facts").inner_text()
    assert page.locator(".tree-details .layer-pieces > g").count() == 2  # the node has its board
    page.locator(".tree-grid").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator(".tree-row[aria-selected='true']").get_attribute("aria-level") == "3"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector(".tree-row[aria-level='3']", state="detached")


def test_a_large_tree_keeps_few_rows_in_the_page(table):
    table.open("tictactoe", "analysis")
    start_analysis(table)
    page = table.page
    page.wait_for_function("() => /[kM] simulations/.test(document.querySelector('.analysis-summary').textContent)")
    page.locator("#tab-tree").click()
    page.wait_for_selector(".tree-row[aria-level='2']")
    for level in range(2, 7):
        page.locator(f".tree-row[aria-level='{level}'] .twist").first.click()
        page.wait_for_selector(f".tree-row[aria-level='{level + 1}']")
    assert int(page.locator(".tree-grid").get_attribute("aria-rowcount")) > 35
    assert page.locator(".tree-row[data-path]").count() < 35
    page.locator("#tab-analysis").click()
    page.locator("#panel-analysis").get_by_role("button", name="Stop analysis").click()


PLACES = ["#/play", "#/analyse", "#/learn", "#/arena", "sevn", "hive", "gdl:babel", "analysis", "tree"]


@pytest.mark.parametrize(
    ("place", "theme"),
    [*((place, "light") for place in PLACES), *((place, "dark") for place in ("#/play", "hive", "analysis", "tree"))],
)
def test_no_page_has_serious_findings_of_accessibility(table, place, theme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python").Axe()
    page = table.page
    if place.startswith("#"):
        page.goto(f"{table.address}{place}")
        page.wait_for_selector("main h1, main h2", state="attached")
    elif place in ("analysis", "tree"):
        table.open("tictactoe", "analysis", moves=["b2"])
        start_analysis(table)
        if place == "tree":
            page.locator("#tab-tree").click()
            page.wait_for_selector(".tree-row[aria-level='2']")
    else:
        table.open(place, seats=["human"] * (3 if place == "gdl:babel" else 2))
    page.evaluate("theme => (document.documentElement.dataset.theme = theme)", theme)
    found = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
    serious = [
        f"{each['id']}: {each['help']}: {each['nodes'][0]['html'][:200]} {each['nodes'][0]['any'][:1]}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
    assert serious == []
