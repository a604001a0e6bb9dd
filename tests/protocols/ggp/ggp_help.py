"""Players and managers for the tests of general game playing: honest ones, and ones that misbehave."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager
from random import Random
from statistics import median

import ludus
from ludus.gdl.described import GAMES
from ludus.gdl.game import game_of
from ludus.gdl.kif import parse, show
from ludus.gdl.language import read_description
from ludus.ggp.http import Server
from ludus.ggp.line import Line
from ludus.ggp.messages import Abort, Info, Play, Start, Stop, read_message

TICTACTOE = "\n".join(show(rule) for rule in parse((GAMES / "tictactoe.kif").read_text()))


def plain_game(rules: str = TICTACTOE):
    """The game of rules, by the reasoner: nothing is compiled."""
    return game_of(read_description(rules), "test", None, reasoner=True)


def described():
    """Tic-tac-toe from its file, by the reasoner, which can be recorded."""
    return ludus.make("gdl:tictactoe", reasoner=True)


class Puppet:
    """A player that makes random legal moves. `fault(step, move)`, if given, answers in its place or returns None."""

    def __init__(self, fault=None, seed: int = 0):
        self.fault, self.random = fault, Random(seed)
        self.line, self.role, self.step, self.heard = None, 0, -1, []

    def answer(self, content: bytes, began: float) -> bytes:
        message = read_message(content.decode())
        self.heard.append(message)
        match message:
            case Info():
                return b"((name puppet) (status available))"
            case Start(_, role, rules, _, _):
                self.line, self.step = Line(plain_game(rules)), -1
                self.role = self.line.roles.index(role)
                return b"ready"
            case Play(_, moves):
                if moves is not None:
                    self.line.play(moves)
                self.step += 1
                move = self.random.choice(list(self.line.moves(self.role)))
                return (self.fault and self.fault(self.step, move)) or move.encode()
            case Stop():
                return b"done"
            case Abort():
                return b"aborted"


@contextmanager
def serving(*players):
    """Serve players on free ports of the loopback; gives their addresses."""
    servers = [Server(player.answer, port=0) for player in players]
    try:
        yield [f"127.0.0.1:{server.__enter__().port}" for server in servers]
    finally:
        for server in servers:
            server.__exit__()


@contextmanager
def raw_server(answer: bytes | None, count: int = 100):
    """A server that reads a little and sends raw bytes; None: it accepts and keeps silent. Gives its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    kept = []

    def accept() -> None:
        for _ in range(count):
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            kept.append(connection)
            if answer is not None:
                connection.settimeout(1.0)
                try:
                    connection.recv(1 << 20)
                    connection.sendall(answer)
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                connection.close()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.close()
        for connection in kept:
            connection.close()


class Hand:
    """A manager by hand for one player: it asks, and plays random moves for the other roles."""

    def __init__(self, player, name: str, rules: str = TICTACTOE, role: str = "x", clocks=(2, 1), seed: int = 0):
        self.player, self.name, self.role, self.clocks, self.rules = player, name, role, clocks, rules
        self.line, self.random = Line(plain_game(rules)), Random(seed)
        self.me = self.line.roles.index(role)
        self.seconds = []
        """How long each answer took."""

    def ask(self, text: str) -> str:
        began = time.monotonic()
        answer = self.player.answer(text.encode()).decode()
        self.seconds.append(time.monotonic() - began)
        return answer

    @property
    def usual(self) -> float:
        """The median of the seconds that answers took: a pause of the machine makes one of them slow."""
        return median(self.seconds)

    def start(self) -> str:
        return self.ask(f"( START {self.name} {self.role} ({self.rules}) {self.clocks[0]} {self.clocks[1]})")

    def shown(self) -> str:
        return f"({' '.join(self.line.played[-1])})" if self.line.played else "NIL"

    def play(self) -> str:
        return self.ask(f"( PLAY {self.name} {self.shown()} )")

    def advance(self, mine: str) -> None:
        """Make the player's move and random ones of the others."""
        moves = [self.random.choice(list(self.line.moves(role))) for role in range(len(self.line.roles))]
        moves[self.me] = mine
        self.line.play(moves)

    def stop(self) -> str:
        return self.ask(f"( STOP {self.name} {self.shown()} )")

    def is_legal(self, move: str) -> bool:
        return move in self.line.moves(self.me)
