"""A game in the browser, for tests: opened, played by clicks, taps or keys, and read back."""

import json
import random
from functools import lru_cache

import ludus

COMPILING = 240_000
"""Milliseconds to wait for something that may have to be compiled."""
STEPS = {"ArrowLeft": (-1, 0), "ArrowRight": (1, 0), "ArrowUp": (0, -1), "ArrowDown": (0, 1)}
MAKE = """async (request) => {
  const headers = {"content-type": "application/json"};
  const answer = await fetch("/api/games", {method: "POST", headers, body: JSON.stringify(request)});
  return await answer.json();
}"""

MIDDLE = """(selector) => {
  const element = document.querySelector(selector);
  element.scrollIntoView({block: "nearest"});
  const box = element.getBoundingClientRect();
  return [box.left + box.width / 2, box.top + box.height / 2];
}"""
OTHERS_HAVE_MOVED = """([id, before]) => fetch(`/api/games/${id}`)
  .then((answer) => answer.json())
  .then((state) => JSON.stringify(state.hidden) !== before)"""


@lru_cache
def short_game(name, seed=0, tries=40, **options):
    """The moves, in notation, of the shortest of some random games."""
    game, games = ludus.make(name, **options), []
    for attempt in range(tries):
        choose, position = random.Random(attempt), game.start(seed)
        while not position.is_over and (not games or len(position.played) < len(games[-1])):
            position = position.play(choose.choice(position.actions))
        if position.is_over:
            games.append(position.played)
    return games[-1]


class Table:
    """A game that the browser shows. `page` is a page of Playwright."""

    def __init__(self, page, address):
        self.page, self.address = page, address
        self.errors = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: message.type == "error" and self.note(message.text))

    def note(self, text):
        """Keep an error of the console. A refused request is none: the page shows the reason."""
        if "status of 400" not in text:
            self.errors.append(text)

    def open(self, game, panel="", seats=("human", "human"), **request):
        """Make a game and open its page."""
        if self.page.url == "about:blank":
            self.page.goto(self.address)
            self.page.wait_for_selector("form button[type=submit]")
        made = self.page.evaluate(MAKE, {"game": game, "seats": list(seats), **request})
        assert "id" in made, made
        self.id = made["id"]
        self.page.goto(f"{self.address}#/game/{self.id}{panel and '/' + panel}")
        self.page.wait_for_selector(f".game[data-game='{self.id}']", state="attached")
        self.wait_for_ply(len(request.get("moves", ())))

    def state(self):
        """The state of the game, as the server tells it to this browser."""
        return self.page.evaluate("id => fetch(`/api/games/${id}`).then((answer) => answer.json())", self.id)

    def wait_for_ply(self, ply):
        self.page.wait_for_selector(f".history li[value='{ply}'] [aria-current]", state="attached")

    def move(self, text):
        """The move of the board with this notation."""
        state = self.state()
        return next(move for move in state["moves"] if move["move"] == text), state

    def play(self, text, press):
        """Make a move by pressing what it touches; `press` is given a selector."""
        move, state = self.move(text)
        for ids in move["touches"]:
            kind = "cell" if any(cell["id"] == ids[0] for cell in state["view"]["board"]["cells"]) else "hand"
            press(f".table [data-{kind}={json.dumps(ids[0])}]")
        same = [other for other in state["moves"] if _begins(move, other, state["view"]["board"]["any_order"])]
        if not move["touches"] or len(same) > 1:
            press(f".table button[data-move={json.dumps(text)}]")
        return state

    def click(self, selector):
        self.page.mouse.click(*self.middle_of(selector))

    def tap(self, selector):
        self.page.touchscreen.tap(*self.middle_of(selector))

    def middle_of(self, selector):
        """The place of an element on the screen, which is scrolled there; without waiting for it to be still."""
        self.page.wait_for_selector(selector)
        return self.page.evaluate(MIDDLE, selector)

    def play_all(self, moves, press=None):
        for ply, move in enumerate(moves, 1):
            self.play(move, press or self.click)
            self.wait_for_ply(ply)
        self.page.wait_for_selector(".result:not([hidden])")

    # --- keyboard -----------------------------------------------------------------------------------------------------

    def key(self, selector):
        """Go to an element by Tab and arrow keys alone, and press Enter."""
        cell = selector.partition("[data-cell=")[2]
        if cell:
            self.tab_to(".table [data-cell]")
            self.walk_to(json.loads(cell[:-1]))
        else:
            self.tab_to(selector)
        self.page.keyboard.press("Enter")

    def tab_to(self, selector):
        for back in (False, True):
            for _ in range(40):
                if self.page.evaluate("each => document.activeElement.matches(each)", selector):
                    return
                self.page.keyboard.press("Shift+Tab" if back else "Tab")
        raise AssertionError(f"no Tab leads to {selector}")

    def walk_to(self, target):
        """Press arrow keys until the cell is focused, as a person does: towards it, up and down first."""
        cells = {cell["id"]: cell for cell in self.state()["view"]["board"]["cells"]}
        for _ in range(60):
            here = self.page.evaluate("document.activeElement.dataset.cell")
            if here == target:
                return
            dx, dy = cells[target]["x"] - cells[here]["x"], cells[target]["y"] - cells[here]["y"]
            if abs(dy) > 0.4:
                self.page.keyboard.press("ArrowDown" if dy > 0 else "ArrowUp")
            else:
                self.page.keyboard.press("ArrowRight" if dx > 0 else "ArrowLeft")
        raise AssertionError(f"no arrow keys lead to {target}")


def _begins(move, other, any_order):
    """True if the clicks of a move are the first clicks of another one, or all of them."""
    clicks, others = move["touches"], other["touches"]
    if any_order:
        return all(ids in others for ids in clicks)
    return bool(clicks) and others[: len(clicks)] == clicks
