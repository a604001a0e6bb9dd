"""Games in ordinary Python: the same in both modes, from any thread, and no exception is lost."""

import gc
import signal
import subprocess
import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ludus import make
from ludus.errors import BadOption, BadPosition, IllegalMove, Unsuitable
from ludus.native import below, bounds_checked, kernel
from ludus.python_games import PythonGame
from ludus.rng import generator
from ludus.rules import EVERYONE, fingerprint, heuristic, legal, observe, outcome, play, play_together, reset, to_move


class Nim(PythonGame):
    """Take any number from one pile; who takes the last wins. Action 10 * pile + number - 1."""

    name, title = "nim", "Nim"
    defaults = {"first": 3, "second": 4, "third": 5}
    calls = 0

    def setup(self):
        piles = vars(self.settings).values()
        self.actions = 30
        self.most_legal = self.longest = sum(piles)
        self.observation = (2, 3)

    def initial(self, seed):
        return (*vars(self.settings).values(), 0)

    def mover(self, board):
        return board[3]

    def legal_actions(self, board, player):
        return [10 * pile + take for pile in range(3) for take in range(board[pile])]

    def after(self, board, action):
        self.calls += 1
        piles = list(board[:3])
        piles[action // 10] -= action % 10 + 1
        return (*piles, 1 - board[3])

    def result(self, board):
        return None if any(board[:3]) else [-1.0 if player == board[3] else 1.0 for player in range(2)]

    def features(self, board, player):
        return [board[:3], [player] * 3]

    def heuristic(self, board, player):
        return (board[0] ^ board[1] ^ board[2]) / 7 * (1 if player == board[3] else -1)

    def key(self, board):
        return board

    def move_name(self, board, player, action):
        return f"{'abc'[action // 10]} {action % 10 + 1}"

    def picture(self, board):
        return "/".join("|" * pile for pile in board[:3])


class Duel(PythonGame):
    """Three rounds: both name a number and the higher one scores; after a tie the first player gives the point away.
    In the last round the second player has nothing to say. Random: who is ahead at the start."""

    name, title = "duel", "Duel"
    simultaneous = seeded = True

    def setup(self):
        self.actions = self.most_legal = 3
        self.longest = 6

    def initial(self, seed):
        return (0, seed % 3 - 1, False)  # round, lead of the first player, is there a tie to break?

    def mover(self, board):
        return 0 if board[2] else EVERYONE

    def legal_actions(self, board, player):
        if board[2]:
            return [0, 2]
        return range(3) if player == 0 or board[0] < 2 else []

    def after(self, board, action):
        number, lead, tie = board
        if tie:
            return (number + 1, lead + action - 1, False)
        first, second = action
        assert (second == -1) == (number == 2)
        if first == second:
            return (number, lead, True)
        return (number + 1, lead + (1 if first > second else -1), False)

    def result(self, board):
        return (np.sign(board[1]), -np.sign(board[1])) if board[0] == 3 else None

    def move_name(self, board, player, action):
        return ("left", "mid", "right")[action] + (",!" if action == 2 else "")


class Broken(Nim):
    """Fails in the way it is told to, once the game has gone on for a while."""

    name = "broken"
    way = ""

    def gone_on(self, board):
        return sum(board[:3]) < 5

    def after(self, board, action):
        if self.way == "after" and self.gone_on(board):
            raise ZeroDivisionError("in after")
        return super().after(board, action)

    def mover(self, board):
        return 7 if self.way == "mover" and self.gone_on(board) else super().mover(board)

    def legal_actions(self, board, player):
        more = {"many": [0] * 99, "none": [], "range": [-1], "large": [30], "type": ["a"], "exit": None}
        if self.way in more and self.gone_on(board):
            return more[self.way] if self.way != "exit" else sys.exit(3)
        return super().legal_actions(board, player)

    def result(self, board):
        ended = super().result(board)
        if self.way == "endless" and ended:
            return None
        return {"values": [2.0, 0.0], "count": [1.0]}.get(self.way, ended) if ended else None


@kernel
def play_games(rules, states, random, actions, joint, values, totals, games):
    """Random games from the start; returns plies and a checksum of all fingerprints, adds the values to `totals`."""
    plies = 0
    mixed = np.uint64(0)
    for _ in range(games):
        reset(rules, states[0], random)
        while not outcome(rules, states[0], values):
            mixed = (mixed ^ fingerprint(rules, states[0])) * np.uint64(0x9E3779B97F4A7C15)
            mover = to_move(rules, states[0])
            if mover == EVERYONE:
                for player in range(joint.size):
                    count = legal(rules, states[0], player, actions)
                    joint[player] = actions[below(random, count)] if count > 0 else -1
                play_together(rules, states[0], joint)
            else:
                count = legal(rules, states[0], mover, actions)
                play(rules, states[0], actions[below(random, count)])
            plies += 1
        for player in range(values.size):
            totals[player] += values[player]
    return plies, mixed


@kernel
def look_closely(rules, states, player, planes):
    observe(rules, states[0], player, planes)
    return heuristic(rules, states[0], player), fingerprint(rules, states[0])


def random_games(game, seed=1, games=20, run=play_games, rules=None):
    totals = np.zeros(game.players)
    room = (np.zeros(game.most_legal, np.int32), np.zeros(game.players, np.int32), np.zeros(game.players, np.float32))
    with np.errstate(over="ignore"):
        plies, mixed = run(rules or game.rules, game.new_states(1), generator(seed), *room, totals, games)
    return plies, int(mixed), totals.tolist()


@pytest.fixture(params=["plain", "compiled"])
def mode(request):
    return (lambda game: game) if request.param == "plain" else (lambda game: game.compile())


def test_positions(mode):
    game = mode(Nim(first="2"))
    start = game.start()
    assert start.moves == ["a_1", "a_2", *(f"b_{n}" for n in range(1, 5)), *(f"c_{n}" for n in range(1, 6))]
    assert (start.to_move, start.is_over, start.text, str(start)) == (0, False, "start", "||/||||/|||||")
    later = start.play("b 4").play("A_1").play(23)
    assert (later.text, later.to_move, later.moves) == ("b_4 a_1 c_4", 1, ["a_1", "c_1"])
    assert game.board(later.state) == (1, 0, 1, 1)
    end = later.play("a_1").play("c_1")
    assert (end.is_over, end.values, end.actions, end.text) == (True, (1.0, -1.0), [], "b_4 a_1 c_4 a_1 c_1")
    assert game.parse(end.text) == end
    assert game.parse("start") == game.parse(" ") == start
    assert start.play("a_1").play("b_1") != start.play("b_1").play("a_1")
    with pytest.raises(IllegalMove, match="legal: a_1 b_1"):
        game.parse("a_1").play("a_2")


def test_planes_guesses_and_fingerprints(mode):
    game = mode(Nim())
    position = game.parse("a_1 b_1")
    planes = np.zeros(game.observation, np.float32)
    guess, mark = (look_closely if game.compiled else look_closely.py_func)(game.rules, position.states, 1, planes)
    assert planes.tolist() == position.observe(1).tolist() == [[2, 3, 5], [1, 1, 1]]
    assert guess == pytest.approx(-4 / 7, abs=1e-12)
    assert mark == fingerprint(game.rules, game.parse("b_1 a_1").state)
    assert mark != fingerprint(game.rules, game.parse("b_1 a_2").state)
    assert [game.has(name) for name in ("observe", "heuristic", "fingerprint", "play_together", "symmetry")] == [
        *[True] * 3,
        *[False] * 2,
    ]
    duel = Duel()
    assert [duel.has(name) for name in ("observe", "heuristic", "play_together")] == [False, False, True]
    with pytest.raises(BadOption, match="no observation"):
        duel.start().observe()


@pytest.mark.parametrize("kind", [Nim, Duel])
def test_compiled_and_plain_are_the_same(kind):
    game = kind().compile()
    assert random_games(game) == random_games(kind(), run=play_games.py_func) == random_games(game, seed=1)
    assert random_games(game) != random_games(game, seed=2)
    assert random_games(game) == random_games(game, rules=bounds_checked(game.rules))


def test_one_machine_code_for_all():
    for game in (Nim(), Nim(third=2), Duel()):
        random_games(game.compile())
    plain = [types for types in play_games.signatures if "BoundsChecked" not in types[0].name]
    assert len(plain) == 1


def test_machine_code_is_kept_for_other_processes():
    expected = random_games(Nim().compile())
    script = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import test_python_games as it\n"
        "print(it.random_games(it.Nim().compile()), sum(it.play_games.stats.cache_misses.values()))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{expected} 0"


def test_import_needs_no_numba():
    script = "import sys, ludus.python_games, ludus.openspiel; assert not {'numba', 'pyspiel'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_everyone_moves(mode):
    game = mode(Duel())
    texts = set()
    for seed in range(40):
        position = game.start(seed)
        rng = np.random.default_rng(seed)
        while not position.is_over:
            number, lead, tie = game.board(position.state)
            assert position.to_move == (0 if tie else EVERYONE)
            assert len(position.actions) == (2 if tie else 9 if number < 2 else 3)
            position = position.play(position.moves[rng.integers(len(position.actions))])
            assert game.parse(position.text) == position
        lead = game.board(position.state)[1]
        assert position.values == (np.sign(lead), -np.sign(lead))
        assert not lead or position.values[0] in (-1.0, 1.0)
        texts.add(position.text)
    assert len(texts) == 40
    assert game.parse("#4 mid,mid left").moves[1] == "left,mid"
    assert game.parse("#4 mid,left right;!,left mid,-").is_over


def test_text_says_where_it_is_wrong():
    game, duel = Nim(), Duel()
    for wrong, place, words in [
        ("a_1 a_3 b_1", 4, "move 2: 'a_3' is not a legal move here; legal: a_1 a_2 b_1"),
        ("a_3  b_4 c_5 a_1", 13, "move 4: the game is over before 'a_1'"),
        ("start a_1", 0, "move 1: 'start' is not"),
    ]:
        with pytest.raises(BadPosition, match=words) as caught:
            game.parse(wrong)
        assert caught.value.place == place
    for wrong, place, words in [
        ("", 0, "such as #7"),
        ("#99999999999", 0, "such as #7"),
        ("#1 mid,mid,mid", 3, "move 1: 'mid,mid,mid': everyone moves here, so it takes 2"),
        ("#1 mid,up", 3, "move 1: 'up' is not"),
    ]:
        with pytest.raises(BadPosition, match=words) as caught:
            duel.parse(wrong)
        assert caught.value.place == place
    with pytest.raises(BadOption, match="its options are first, second, third"):
        Nim(fourth=1)


def test_names_that_differ_only_in_letters():
    class Chesslike(Nim):
        def move_name(self, board, player, action):
            return {0: "bxc4", 1: "Bxc4", 2: "Other"}.get(action, str(action))

    start = Chesslike().start()
    assert [start.action_of(name) for name in ("bxc4", "Bxc4", "other")] == [0, 1, 2]
    with pytest.raises(IllegalMove):
        start.action_of("BXC4")


def play_last_moves(position):
    while not position.is_over:
        position = position.play(position.actions[-1])


WAYS = {
    "after": (ZeroDivisionError, "in after"),
    "mover": (Unsuitable, r"mover\(\) gave 7"),
    "many": (Unsuitable, "99 legal actions, and most_legal is 12"),
    "none": (Unsuitable, "no legal action for player"),
    "range": (Unsuitable, r"legal_actions\(\) gave -1; the ids are 0 .. 29"),
    "large": (Unsuitable, r"legal_actions\(\) gave 30"),
    "type": (TypeError, "str"),
    "exit": (SystemExit, "3"),
    "values": (Unsuitable, r"result\(\) gave \(2.0, 0.0\)"),
    "count": (Unsuitable, r"result\(\) gave \(1.0,\)"),
    "endless": (Unsuitable, "no legal action for player"),
}


@pytest.mark.parametrize("way", WAYS)
def test_exceptions(way, mode):
    kind, words = WAYS[way]
    game = mode(Broken())
    game.way = way
    with pytest.raises(kind, match=words):
        play_last_moves(game.start())
    if game.compiled:
        began = time.monotonic()
        random_games(game, games=10_000)
        with pytest.raises(kind, match=words):
            game.raise_pending()
        assert time.monotonic() - began < 20
        game.raise_pending()  # only once
        game.way = ""
        assert random_games(game, seed=3) == random_games(Nim(), seed=3)
    else:
        with pytest.raises(kind, match=words):
            random_games(game, games=100, run=play_games.py_func)


def test_longer_than_it_said(mode):
    game = mode(Nim())
    game.state = (np.int32, 3 + 2)
    position = game.start().play("a_1").play("a_1")
    with pytest.raises(Unsuitable, match="which is its `longest`"):
        position.play("a_1")


def test_history_that_goes_on_after_the_end():
    game = Nim()
    end = game.parse("a_3 b_4 c_5")
    with pytest.raises(Unsuitable, match="after its end at action 4"):
        play(game.rules, end.state, 0)


class Alarm(Exception):
    pass


def play_until_alarm(game, seconds):
    signal.setitimer(signal.ITIMER_REAL, seconds)
    random_games(game, games=30_000)
    game.raise_pending()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs signals of Unix")
def test_interrupts_are_not_lost(capfd):
    """Most come at the moment when compiled code enters Python, before the first line of any function has run."""
    game = Nim().compile()
    random_games(game, games=1)
    capfd.readouterr()  # what compiling said
    alarm = Alarm("time is up")

    def ring(*_):
        raise alarm

    gc.collect()  # Python itself loses what is raised in a finalizer of something that earlier tests left behind
    before = signal.signal(signal.SIGALRM, ring)
    try:
        for attempt in range(30):
            with pytest.raises(Alarm) as caught:
                play_until_alarm(game, 0.005 + 0.0003 * attempt)
            assert caught.value is alarm
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert capfd.readouterr().err == ""
    assert random_games(game) == random_games(Nim())


@pytest.mark.parametrize("remembered", [1, 30, 20_000])
def test_threads(remembered):
    game = Nim().compile()
    game.remembered = remembered
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda seed: random_games(game, seed, 50), range(8)))
    game.raise_pending()
    assert results == [random_games(Nim(), seed, 50) for seed in range(8)]


def test_forgotten_boards_are_made_again(mode):
    game = mode(Nim())
    game.remembered = 1
    position = game.parse("a_1 b_1 c_1 a_1")
    random_games(game, games=3)
    before = game.calls
    assert position.play("c_1").text == "a_1 b_1 c_1 a_1 c_1"
    assert game.calls > before
    assert len(game.boards.young) + len(game.boards.old) <= 2


def test_lifetime():
    rules = Nim().compile().rules
    gc.collect()
    assert random_games(Nim(), rules=rules) == random_games(Nim())  # the rules keep their game
    gone = weakref.ref(rules.game)
    copy = type(rules)(*rules)
    del rules
    gc.collect()
    assert gone() is None
    with pytest.raises(LookupError, match="the game of these rules is gone"):
        random_games(Nim(), rules=copy, run=play_games.py_func)


def test_game_in_a_file(tmp_path):
    """The example in the documentation of the module."""

    from ludus import python_games

    example = python_games.__doc__.partition("    class Countdown")[2].partition("\n\nA search")[0]
    source = "from ludus.python_games import PythonGame\n\n    class Countdown" + example
    (tmp_path / "countdown.py").write_text(source.replace("\n    ", "\n"))
    game = make(str(tmp_path / "countdown.py"), heap=5).compile()
    assert repr(game) == f"countdown(heap=5)v1#{game.digest}"
    end = game.start().play("2").play("0").play("0")
    assert end.values == (1.0, -1.0)
