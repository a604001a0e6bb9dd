"""Play a game against an agent through the WebSocket of `ludus web`, choosing the first legal move each time.

ludus web --no-browser &
python examples/web_socket.py http://127.0.0.1:8000 tictactoe uct:1000
"""

from __future__ import annotations

import asyncio
import json
import sys

import httpx
import websockets


async def play(server: str, game: str, agent: str) -> str:
    """Play one game; returns its result in words."""
    async with httpx.AsyncClient(base_url=server) as client:
        answer = await client.post("/api/games", json={"game": game, "seats": ["human", agent]})
        answer.raise_for_status()
        cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())  # this program has the seat
    address = f"{server.replace('http', 'ws', 1)}/api/games/{answer.json()['id']}/live"
    async with websockets.connect(address, additional_headers={"Cookie": cookies}) as socket:
        played = -1
        async for text in socket:
            message = json.loads(text)
            if message["type"] == "error":
                raise RuntimeError(message["message"])
            if message["type"] != "state":
                continue
            if message["result"]:
                return message["result"]["text"]
            if message["moves"] and message["ply"] != played:
                played = message["ply"]
                print(message["view"]["drawing"], "\n")
                await socket.send(json.dumps({"type": "play", "action": message["moves"][0]["action"], "player": 0}))
    raise RuntimeError("the server closed the socket")


if __name__ == "__main__":
    server, game, agent = (sys.argv[1:] + ["http://127.0.0.1:8000", "tictactoe", "uct:1000"][len(sys.argv) - 1 :])[:3]
    print(asyncio.run(play(server, game, agent)))
