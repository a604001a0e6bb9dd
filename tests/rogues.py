"""Agents that attack the referee or the opponent, `rogue:exit` and so on; `rogue:good` behaves.

They play at random, and misbehave at their second move. The simulations they report are the number of their process.
"""

import ctypes
import fcntl
import os
import re
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

from ludus.agents.random import RandomAgent
from ludus.arena.channel import LENGTH, write_message


class BadToDescribe(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class BadToDelete:
    def __init__(self, act):
        self.act = act

    def __del__(self):
        self.act()


class Rogue(RandomAgent):
    def __init__(self, name, how, words, seed):
        super().__init__(name, seed)
        self.how, self.words, self.moves = how, words, 0

    def new_game(self, seed):
        super().new_game(seed)
        self.moves = 0

    def choose(self, position, budget=None, player=None, progress=None):
        self.moves += 1
        choice = replace(super().choose(position, budget, player), simulations=os.getpid())
        if self.moves == 2 or self.how == "watch":
            return getattr(self, self.how.replace("-", "_"))(position, choice, *self.words)
        return choice

    def good(self, position, choice):
        return choice

    def sleepy(self, position, choice):
        time.sleep(1)
        return choice

    # --- attacks on the game: they have no effect ---------------------------------------------------------------------

    def write(self, position, choice):
        vandalise(position)
        return choice

    def chatter(self, position, choice):
        print("Hello!\n" * 20_000, flush=True)
        os.write(1, b"\0\0\0\2[]")
        return choice

    def bad_del(self, position, choice):
        BadToDelete(lambda: 1 / 0)
        return choice

    def boast(self, position, choice):
        return replace(choice, value=7.0)

    def unknown(self, position, choice):
        return replace(choice, value=float("nan"))

    def patch(self, position, choice):
        """Declare every game to be over and won, for all the code in this process."""
        type(position).values = property(lambda self: (1.0, 1.0))
        type(position).is_over = property(lambda self: True)
        return choice

    # --- failures: the agent loses ------------------------------------------------------------------------------------

    def exit(self, position, choice):
        os._exit(7)

    def sys_exit(self, position, choice):
        sys.exit("enough")

    def kill(self, position, choice):
        os.kill(os.getpid(), signal.SIGKILL)

    def kill_group(self, position, choice):
        os.killpg(0, signal.SIGKILL)

    def segfault(self, position, choice):
        ctypes.string_at(0)

    def deadly_del(self, position, choice):
        BadToDelete(lambda: os._exit(5))

    def bequeath(self, position, choice):
        """Leave a process that keeps the pipes open."""
        if os.fork() == 0:
            os.setsid()
            time.sleep(8)
            os._exit(0)
        os._exit(4)

    def hang(self, position, choice):
        time.sleep(3600)

    def hog(self, position, choice, file=None):
        """Hang without letting other threads run."""
        if file:
            Path(file).write_text(str(os.getpid()))
        re.match("(a+)+b", "a" * 60)

    def rude(self, position, choice):
        raise ZeroDivisionError("oh no")

    def unspeakable(self, position, choice):
        raise BadToDescribe

    def recurse(self, position, choice):
        return self.recurse(position, choice)

    def illegal(self, position, choice):
        return replace(choice, action=99)

    def half(self, position, choice):
        return replace(choice, action=0.5)

    def huge(self, position, choice):
        return replace(choice, action=10**30)

    def mute(self, position, choice):
        return None

    def assassin(self, position, choice):
        """Kill the referee while the opponent thinks."""
        threading.Timer(0.3, os.kill, (os.getppid(), signal.SIGKILL)).start()
        return choice

    # --- attacks on the pipe ------------------------------------------------------------------------------------------

    def babble(self, position, choice):
        replies = served()["replies"]
        replies.write(b"Hello, world!")
        replies.flush()
        return choice

    def flood(self, position, choice):
        replies = served()["replies"]
        while True:
            replies.write(b"\0\0\0\2[]")

    def giant(self, position, choice):
        replies = served()["replies"]
        replies.write(LENGTH.pack(1 << 30))
        while True:
            replies.write(bytes(1 << 20))

    def early(self, position, choice):
        """Answer a question that was not asked yet."""
        write_message(served()["replies"], ["0" * 16, "ready", [0, None, 0, [], False]])
        return choice

    def twice(self, position, choice):
        """Answer this question now, and again after the real answer: the second one comes late."""
        variables = served()
        write_message(variables["replies"], [variables["token"], "ready", [choice.action, None, 1, [], False]])
        return choice

    def close(self, position, choice):
        os.close(served()["replies"].fileno())
        time.sleep(3600)

    # --- attacks on the opponent --------------------------------------------------------------------------------------

    def exit_later(self, position, choice, folder):
        """End during the opponent's next turn. Until then this process holds a lock."""
        self.lock = os.open(f"{folder}/lock", os.O_CREAT | os.O_RDWR)
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        threading.Thread(target=exit_when_there, args=(Path(folder, "asked"),), daemon=True).start()
        return choice

    def watch(self, position, choice, folder):
        """Wait until the process of `exit_later` has ended."""
        if Path(folder, "lock").exists():
            Path(folder, "asked").touch()
            with open(f"{folder}/lock") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
        return choice


def vandalise(position):
    """Write into a position and its history."""
    at = position
    while at is not None:
        at.states.view("uint8")[...] = 1
        at.action = 0
        at = at.parent
    position.parent = None


def exit_when_there(file):
    while not file.exists():
        time.sleep(0.001)
    os._exit(9)


def served():
    """The variables of the loop in ludus.arena.answering that asked this agent."""
    frame = sys._getframe()
    while "replies" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals


def make(spec, game, seed):
    return Rogue(spec.text, spec.words[0], spec.words[1:], seed)
