"""A program that plays any game of Ludus at random, without importing Ludus: a start for an engine of your own.

    ludus match tictactoe "engine:python3 examples/engine.py" uct:100

It speaks the protocol of docs/engine-protocol.md: one command a line on standard input, answers on standard output. It
knows no rules: it asks the referee for the legal moves, and for what would follow them.
"""

import json
import random
import sys


def say(word, content=None):
    print(word if content is None else f"{word} {json.dumps(content)}", flush=True)


def ask(*moves):
    """The position after these moves from the present one: its text, legal moves by player, and the result."""
    say("ask", list(moves))
    return json.loads(sys.stdin.readline().removeprefix("answer "))


def choose(player, simultaneous):
    """A move that wins at once if there is one, else any legal move."""
    legal = ask()["legal"][player]
    for move in [] if simultaneous else legal:
        after = ask(move)
        if after["over"] and after["values"][player] == 1:
            return move
    return random.choice(legal)


simultaneous, player = False, 0
for line in sys.stdin:
    command, _, rest = line.strip().partition(" ")
    content = json.loads(rest) if rest else None
    if command == "ludus":
        say("engine", {"name": "example", "version": "1"})
    elif command == "game":
        simultaneous = content["simultaneous"]
        say("ready")
    elif command == "new":
        random.seed(content["seed"])
        say("ready")
    elif command == "position":
        player = content["player"]
    elif command == "go":
        print("move", choose(player, simultaneous), flush=True)
    elif command == "quit":
        break
