"""Damaged descriptions: each is a game or gets one clear line, and none takes long."""

import time
from random import Random

import pytest

from ludus.errors import LudusError
from ludus.gdl.checks import require_valid
from ludus.gdl.described import GAMES
from ludus.gdl.game import game_of
from ludus.gdl.kif import TOKEN
from ludus.gdl.language import read_description
from ludus.gdl.reasoner import Reasoner

BASES = [(GAMES / f"{name}.kif").read_text() for name in ("tictactoe", "babel", "connect4", "eightpuzzle", "tron")]
TEXTS = 300
LONGEST_LINE = 600


def mutated(random):
    """A description with a few symbols or characters removed, doubled, exchanged or replaced."""
    text = random.choice(BASES)
    if random.random() < 0.3:
        at = random.randrange(len(text))
        return text[:at] + random.choice(["", "(", ")", "\0", "?", ";", "é", " "]) + text[at + random.randrange(3) :]
    tokens = [token for token in TOKEN.findall(text) if not token.startswith(";")]
    for _ in range(random.choice((1, 1, 2, 5))):
        at, other = random.randrange(len(tokens)), random.randrange(len(tokens))
        change = random.randrange(5)
        if change == 0:
            del tokens[at]
        elif change == 1:
            tokens.insert(at, tokens[other])
        elif change == 2:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif change == 3:
            tokens[at] = random.choice(["?x", "not", "or", "distinct", "true", "does", "next", "init", "role", "100"])
        else:
            tokens[at:at] = tokens[other : other + 6]
    return " ".join(tokens)


def play(reasoner, random):
    """Some random plies."""
    facts = reasoner.initial
    for _ in range(5):
        over, legal, _ = reasoner.inspect(facts)
        if over or not all(legal):
            return
        facts = reasoner.next(facts, dict(zip(reasoner.roles, map(random.choice, legal), strict=True)))


def refusal(act):
    """The one line in which `act` is refused; empty where it is not."""
    try:
        act()
    except LudusError as error:
        line = str(error)
        assert line.isprintable()
        assert len(line) < LONGEST_LINE
        return line
    return ""


def test_damaged_descriptions_are_games_or_get_one_line():
    random, slowest = Random(5), 0.0
    refused = 0
    for _ in range(TEXTS):
        text, began = mutated(random), time.process_time()

        def read_and_play(text=text):
            description = read_description(text, "rules.kif")
            require_valid(description)
            play(Reasoner(description, seconds=2.0), random)

        refused += refusal(read_and_play) != ""
        slowest = max(slowest, time.process_time() - began)
    assert TEXTS // 10 < refused < TEXTS * 9 // 10
    assert slowest < 10


@pytest.mark.parametrize("seed", range(6))
def test_damaged_descriptions_are_grounded_or_get_one_line(seed):
    random = Random(100 + seed)
    text = mutated(random)

    def ground_and_play():
        position = game_of(read_description(text, "rules.kif")).start()
        for _ in range(5):
            if not position.is_over:
                position = position.play(random.choice(position.actions))

    refusal(ground_and_play)
