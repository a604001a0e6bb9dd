"""A Hive engine for the tests, of which each turn is scripted: it answers by the Universal Hive Protocol, badly."""

import os
import sys
import time

mode, file = sys.argv[1], sys.argv[2]


def say(*lines):
    print(*lines, "ok", sep="\n", flush=True)


say("id odd 1", "Mosquito" if mode == "mosquito" else "Mosquito;Ladybug;Pillbug")
asked = 0
for line in sys.stdin:
    with open(file, "a") as log:
        log.write(line)
    if line.startswith("bestmove"):
        asked += 1
        if mode == "crash" and asked == 2:
            os._exit(9)
        if mode == "hang":
            time.sleep(3600)
        if mode == "illegal":
            say("wA1 bQ/")
        elif mode == "flood":
            say(*["thinking"] * 5000)
        else:
            say("wG1;1;0.5", "wG1" if asked == 1 else "wQ -wG1")
    elif line.startswith("play") and mode == "disagree":
        say("invalidmove I see it differently")
    else:
        say("Base")
