"""Ask `ludus web` for a move and an analysis over HTTP, with the standard library alone.

ludus web --no-browser &
python examples/web_http.py http://127.0.0.1:8000
"""

from __future__ import annotations

import json
import sys
from typing import Any
from urllib.request import Request, urlopen


def ask(server: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """The answer to a GET, or to a POST if there is a body."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(server + path, data, {"Content-Type": "application/json"})
    with urlopen(request, timeout=60) as answer:
        return json.load(answer)


def main(server: str) -> None:
    games = ask(server, "/api/catalogue")["games"]
    print(f"{len(games)} games: {', '.join(game['key'] for game in games)}")
    question = {"game": "connect4", "moves": ["d", "d", "c"], "agent": "uct:500ms"}
    choice = ask(server, "/api/choose", question)
    print(f"{question['agent']} plays {choice['move']} after d d c, and expects {choice['value']:+.2f}")
    analysis = ask(server, "/api/analyse", question)
    for move in sorted(analysis["blocks"][0]["moves"], key=lambda move: -move["visits"]):
        print(f"  {move['move']}  {move['visits']:8,} visits  {move['value']:+.3f}")


if __name__ == "__main__":
    main((sys.argv[1:] or ["http://127.0.0.1:8000"])[0])
