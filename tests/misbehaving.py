"""Agents that go wrong, each in its way; `misbehaving:crash` and so on. They play at random up to their third move."""

import os
import time

from ludus.agents import Choice
from ludus.agents.random import RandomAgent


class Misbehaving(RandomAgent):
    def __init__(self, name, how, seed):
        super().__init__(name, seed)
        self.how, self.moves = how, 0

    def new_game(self, seed):
        super().new_game(seed)
        self.moves = 0
        if self.how == "unready":
            raise RuntimeError("not today")

    def choose(self, position, budget=None, player=None, progress=None):
        self.moves += 1
        choice = super().choose(position, budget, player, progress)
        if self.moves < 3:
            return choice
        match self.how:
            case "crash":
                raise ZeroDivisionError("oh no")
            case "die":
                os._exit(7)
            case "hang":
                time.sleep(3600)
            case "cheat":
                return Choice(player, 99, "?")
            case "mute":
                return None
            case "chatter":
                print("Hello!", flush=True)
                os.write(1, b"\0\0\0\2[]")
        return choice


def make(spec, game, seed):
    if spec.words == ["unmade"]:
        raise RuntimeError("this agent cannot be made")
    if spec.words == ["unmade-and-dead"]:
        os._exit(3)
    return Misbehaving(spec.text, spec.words[0], seed)
