"""Pictures of the page: each game, light and dark, desktop and phone, and the panels. `make screenshots` runs it.

The pictures go to build/screenshots. A server on loopback and Debian's Chromium are started for them.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

import ludus

FOLDER = Path("build/screenshots")
ARGUMENTS = "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync"
SIZES = {"desktop": (1280, 880), "phone": (390, 844)}
GAMES: dict[str, tuple[dict[str, Any], int]] = {
    "connect4": ({}, 13),
    "sevn": ({}, 7),
    "hive": ({"expansions": "MLP"}, 17),
    "cachex": ({"n": 7}, 15),
    "breakthrough": ({}, 14),
    "tictactoe": ({}, 4),
    "laststone": ({}, 2),
    "roshambo": ({"rounds": 3}, 1),
    "gdl:othello": ({}, 12),
    "gdl:babel": ({}, 2),
}
"""Each game with its options, and the number of moves that are played at random before the picture."""
MAKE = """async (request) => {
  const headers = {"content-type": "application/json"};
  const answer = await fetch("/api/games", {method: "POST", headers, body: JSON.stringify(request)});
  return (await answer.json()).id;
}"""


def opening(name: str, options: dict[str, Any], plies: int) -> tuple[list[str], int]:
    """Moves at random that do not end the game, and the number of players."""
    game = ludus.make(name, **options)
    for seed in range(100):
        choose, position = random.Random(seed), game.start(1)
        while not position.is_over and len(position.played) < plies:
            position = position.play(choose.choice(position.actions))
        if not position.is_over:
            return position.played, game.players
    raise ValueError(f"{name} has no game of {plies} moves")


def show(page: Page, address: str, theme: str, request: dict[str, Any], panel: str = "") -> None:
    """Open a game in the page."""
    page.goto(address)
    page.wait_for_selector("form button[type=submit]")
    page.evaluate("theme => localStorage.setItem('ludus-theme', theme)", theme)
    id = page.evaluate(MAKE, request)
    page.goto(f"{address}#/game/{id}{panel}")
    page.reload()
    page.wait_for_selector(f".history li[value='{len(request['moves'])}'] [aria-current]", state="attached")


def take(browser: Browser, address: str, only: list[str]) -> None:
    openings = {name: opening(name, *rest) for name, rest in GAMES.items() if not only or name in only}
    for device, (width, height) in SIZES.items():
        for theme in ("light", "dark"):
            page = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce")
            for name, (moves, players) in openings.items():
                request = {
                    "game": name,
                    "options": GAMES[name][0],
                    "seed": 1,
                    "moves": moves,
                    "seats": ["human"] * players,
                }
                show(page, address, theme, request)
                picture(page, name, theme, device)
            if not only or "panels" in only:
                panels(page, address, theme, device)
            page.close()


def panels(page: Page, address: str, theme: str, device: str) -> None:
    """The lobby, an analysis, a reviewed game and a tree."""
    page.goto(f"{address}#/play")
    page.evaluate("theme => localStorage.setItem('ludus-theme', theme)", theme)
    page.reload()
    page.wait_for_selector("form button[type=submit]")
    picture(page, "lobby", theme, device)
    page.locator("select[name=game]").select_option("breakthrough")
    page.get_by_text("Clock, position and more").click()
    page.get_by_role("button", name="Set up by hand").click()
    page.wait_for_selector('.setup [data-cell="a1"]')
    picture(page, "setup", theme, device)
    request = {"game": "connect4", "seats": ["human", "human"], "moves": list("ddddce")}
    show(page, address, theme, request, "/analysis")
    page.locator("#panel-analysis").get_by_role("button", name="Analyse", exact=True).click()
    page.wait_for_selector(".analysis-bars tr.best", timeout=120_000)
    page.wait_for_function("() => /[kM] simulations/.test(document.querySelector('.analysis-summary').textContent)")
    if device == "phone":
        page.locator("#panel-analysis").scroll_into_view_if_needed()
    else:
        page.evaluate("scrollTo(0, 0)")
    picture(page, "analysis", theme, device)
    page.locator("#tab-tree").click()
    page.locator(".tree-row[aria-level='2'] .twist").first.click()
    page.wait_for_selector(".tree-row[aria-level='3']")
    picture(page, "tree", theme, device)
    game = ["a1", "b1", "c1", "b2", "b3", "a2", "a3", "c2"]
    show(page, address, theme, {"game": "tictactoe", "seats": ["human", "human"], "moves": game}, "/analysis")
    page.get_by_role("button", name="Review the game").click()
    page.wait_for_function("() => document.querySelector('.analysis').textContent.includes('positions exact')")
    picture(page, "review", theme, device)


def picture(page: Page, name: str, theme: str, device: str) -> None:
    file = FOLDER / f"{name.replace(':', '-')}-{theme}-{device}.png"
    page.screenshot(path=file)
    print(file)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("pictures of the page need Chromium: apt install chromium")
    command = [sys.executable, "-c", "from ludus.cli import main; main()", "web", "--port", "0", "--no-browser"]
    command += ["--games", str(FOLDER / "games")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = next((found for line in server.stdout if (found := re.search(r"http://\S+", line))), None)
        try:
            if found is None:
                sys.exit("the server did not start")
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS.split())
                take(browser, found[0], sys.argv[1:])
                browser.close()
        finally:
            server.terminate()
    shutil.rmtree(FOLDER / "games", ignore_errors=True)


if __name__ == "__main__":
    main()
