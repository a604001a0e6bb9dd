"""An engine for the tests that plays the first legal move, or misbehaves as its argument says. No Ludus in it."""

import json
import os
import subprocess
import sys
import time

mode = sys.argv[1] if len(sys.argv) > 1 else "good"


def say(line):
    print(line, flush=True)


def ask(moves):
    say("ask " + json.dumps(moves))
    return json.loads(sys.stdin.readline().removeprefix("answer "))


if mode == "ends":
    sys.exit(3)
if mode == "parent":
    with open(sys.argv[2], "w") as file:
        file.write(f"{os.getpid()} {subprocess.Popen(['sleep', '300']).pid}")
player, turns = 0, 0
for line in sys.stdin:
    command, _, rest = line.strip().partition(" ")
    content = json.loads(rest) if rest else None
    if command == "ludus":
        if mode == "dumb":
            continue
        say("some words that mean nothing")
        say('engine {"name": "odd", "version": "1"}')
    elif command == "game":
        say("refuse I know no such game" if mode == "choosy" else "ready")
    elif command == "new":
        turns = 0
        say("ready")
    elif command == "position":
        player = content["player"]
    elif command == "go":
        turns += 1
        legal = ask([])["legal"][player]
        if turns == 2:
            if mode == "crash":
                sys.exit(7)
            if mode == "hang":
                time.sleep(3600)
            if mode == "shout":
                sys.stdout.write("x" * 200_000)
                sys.stdout.flush()
            if mode == "chatter":
                while True:
                    say("info {}")
            if mode == "mute":
                os.close(1)
                time.sleep(3600)
            if mode == "illegal":
                say("move z9")
                continue
            if mode == "wait":  # until it is told to stop
                while sys.stdin.readline().strip() != "stop":
                    pass
        say('info {"value": 7, "line": 5}')
        say("info nonsense")
        say(f'info {{"value": 0.25, "simulations": {os.getpid()}, "line": ["{legal[0]}"]}}')
        say(f"move {legal[0]}\nmove {legal[0]}" if mode == "twice" else f"move {legal[0]}")
