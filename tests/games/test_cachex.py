import io
import itertools
import random
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

import ludus
from ludus.agents import make_agent
from ludus.cli import main
from ludus.errors import BadOption, BadPosition, IllegalMove
from ludus.games import cachex
from ludus.registry import make
from ludus.search.perft import perft
from ludus.search.solver import solve
from tests.games.naive_cachex import Naive

RING = [(0, 1), (1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1)]


def stones(position):
    grid = position.game.grid(position.state.stones)
    return {(r, q): ("red", "blue")[grid[r, q] - 1] for r, q in np.argwhere(grid).tolist()}


def board_text(n, red, blue, turn):
    rows = [
        "".join("r" if (r, q) in red else "b" if (r, q) in blue else "." for q in range(n)) for r in reversed(range(n))
    ]
    for length in range(n, 0, -1):
        rows = [row.replace("." * length, str(length)) for row in rows]
    return f"{'/'.join(rows)} {turn}"


def play(position, moves):
    for move in moves.split() if isinstance(moves, str) else moves:
        position = position.play(move)
    return position


# --- against the rules as they are told -------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "games"), [(3, 30), (4, 20), (5, 12), (8, 4), (9, 2), (12, 1), (15, 1)])
@pytest.mark.parametrize("options", [{}, {"steal": False, "view": "planes4", "turns": 50}])
def test_games_go_as_in_a_naive_implementation(n, games, options):
    game = make("cachex", n=n, **options)
    for seed in range(games):
        choose = random.Random(seed)
        naive = Naive(n, options.get("steal", True), options.get("turns", 343))
        position = game.start()
        while not naive.result:
            assert sorted(position.moves) == sorted(naive.moves())
            assert game.player_name(position.to_move) == naive.mover
            move = choose.choice(naive.moves())
            naive.play(move)
            position = position.play(move)
            assert stones(position) == naive.stones
            assert position.is_over == bool(naive.result)
        assert position.values == {"red": (1, -1), "blue": (-1, 1), "draw": (0, 0)}[naive.result]
        assert position == game.parse(position.text)


# Counted by the naive implementation.
PERFT = [
    ({"n": 3}, [8, 72, 512, 3136, 16224, 64640, 207384]),
    ({"n": 3, "steal": False}, [8, 64, 448, 2688, 13536, 51104, 156280]),
    ({"n": 4}, [16, 256, 3600, 47040, 568176]),
    ({"n": 5, "steal": False}, [24, 576, 13248, 291456]),
]


@pytest.mark.parametrize(("options", "counts"), PERFT)
def test_perft(options, counts):
    start = make("cachex", **options).start()
    assert [perft(start, depth) for depth in range(1, len(counts) + 1)] == counts


# --- captures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [8, 9])
@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("near", [True, False], ids=["the two that touch", "the two tips"])
@pytest.mark.parametrize("way", range(6))
def test_each_of_the_twelve_diamonds_captures(n, player, near, way):
    """Also those that lie along the sides of the board, and none that would reach beyond."""
    one, other = RING[way], RING[(way + 2 if near else way + 1) % 6]
    partner = (one[0] + other[0], one[1] + other[1])
    assert (partner in RING) == near
    game = make("cachex", n=n)
    for r, q in itertools.product(range(n), repeat=2):
        cells = [(r + dr, q + dq) for dr, dq in (partner, one, other)]
        mine = {at for at in cells[:1] if min(at) >= 0 and max(at) < n}
        theirs = {at for at in cells[1:] if min(at) >= 0 and max(at) < n}
        away = {(0, 0) if r + q >= n else (n - 1, n - 1)}  # who has just moved must have a stone
        red, blue = (mine, theirs | away) if player == 0 else (theirs | away, mine)
        position = game.parse(board_text(n, red, blue, "rb"[player]))
        after = stones(position.play(f"{r},{q}"))
        whole = len(mine) == 1 and len(theirs) == 2
        assert all((at in after) != whole for at in theirs)
        assert (r, q) in after
        assert mine <= after.keys()
        assert position.play(f"{r},{q}").json["board"]["captured"] == sorted(map(list, theirs if whole else ()))


def test_diamonds_are_judged_before_anything_is_removed():
    """Three red stones around the cell and two partners of blue's: the middle one belongs to both pairs."""
    game = make("cachex", n=7)
    red, blue = {(3, 4), (4, 3), (4, 2), (0, 0)}, {(4, 4), (5, 2)}
    position = game.parse(board_text(7, red, blue, "b"))
    after = position.play("3,3")
    assert stones(after) == {(0, 0): "red", (3, 3): "blue", (4, 4): "blue", (5, 2): "blue"}
    assert after.json["board"]["captured"] == [[3, 4], [4, 2], [4, 3]]
    # What has been captured can be filled again, at once, by either player.
    assert {"3,4", "4,2", "4,3"} <= set(after.moves)
    assert stones(after.play("4,3"))[4, 3] == "red"


def test_a_stone_may_be_placed_where_it_would_be_captured():
    """Only the mover captures: red steps between two blue stones, and nothing happens to it."""
    game = make("cachex", n=6)
    position = game.parse(board_text(6, {(2, 3), (0, 5)}, {(3, 2), (2, 2)}, "r"))
    after = position.play("3,1")  # blue's 2,2 and 3,2 touch both red stones: this one captures
    assert stones(after) == {(2, 3): "red", (0, 5): "red", (3, 1): "red"}
    position = game.parse(board_text(6, {(2, 3), (0, 5)}, {(3, 2), (2, 1)}, "r"))
    after = position.play("2,2")
    assert stones(after)[2, 2] == "red"
    assert not after.json["board"]["captured"]


def test_six_stones_at_once():
    game = make("cachex", n=7)
    ring = {(3 + dr, 3 + dq) for dr, dq in RING}
    tips = {(3 + RING[i][0] + RING[i - 5][0], 3 + RING[i][1] + RING[i - 5][1]) for i in range(6)}
    position = game.parse(board_text(7, ring, tips, "b"))
    assert stones(position.play("3,3")).keys() == tips | {(3, 3)}


# --- the beginning ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 8, 9, 15])
def test_the_first_stone_may_not_stand_in_the_centre_of_an_odd_board(n):
    start = make("cachex", n=n).start()
    assert len(start.actions) == n * n - n % 2
    if n % 2:
        with pytest.raises(IllegalMove, match="first stone may not be placed in the centre"):
            start.play(f"{n // 2},{n // 2}")
        assert f"{n // 2},{n // 2}" in start.play("0,0").moves


@pytest.mark.parametrize("n", [5, 10])
def test_blue_may_steal_the_first_stone(n):
    game = make("cachex", n=n)
    position = game.start().play("3,1").play("steal")
    assert stones(position) == {(1, 3): "blue"}
    assert position.to_move == 0
    assert position.json["board"]["last"] == [1, 3]
    assert "3,1" in position.moves
    assert "steal" not in game.start().moves
    assert "steal" not in position.moves
    assert "steal" not in game.start().play("0,0").play("0,1").moves
    with pytest.raises(IllegalMove, match="only with its first move"):
        position.play("steal")
    assert "steal" not in make("cachex", n=n, steal=False).start().play("3,1").moves
    with pytest.raises(IllegalMove, match="without stealing"):
        make("cachex", n=n, steal=False).start().play("3,1").play("steal")
    pasted = game.parse(board_text(n, {(3, 1)}, set(), "b")).play("steal")
    assert stones(pasted) == {(1, 3): "blue"}
    assert pasted.json["board"]["last"] == [1, 3]


# --- the end ----------------------------------------------------------------------------------------------------------

SET_UP = "2,0 3,1 4,3 3,2 1,2 3,0 2,2"
CYCLE = "2,1 2,3 1,3 2,2 1,1 1,2"
"""Leads back to the same board."""


@pytest.mark.parametrize("compiled", [False, True])
def test_the_same_board_for_the_7th_time_is_a_draw(compiled):
    game = make("cachex", n=5)
    position = play(game.compile().start() if compiled else game.start(), SET_UP)
    first = stones(position)
    for time in range(2, 8):
        assert not position.is_over
        position = play(position, CYCLE)
        assert stones(position) == first
        assert cachex.occurrences(game.rules, position.state) == time
    assert position.is_over
    assert position.values == (0, 0)
    assert str(position).endswith("draw: the same board for the 7th time")
    assert game.parse(position.text) == position


def test_the_same_board_counts_whoever_is_to_move():
    """Five turns that lead back to the same board; naive and fast agree all along."""
    game, naive = make("cachex", n=5), Naive(5)
    position = game.start()
    there, and_back = "4,4 4,1 3,3 3,0 0,3 2,3 2,4 1,2 0,0", "3,4 2,4 4,3 3,3 2,3"
    for move in f"{there} {and_back}".split():
        naive.play(move)
        position = position.play(move)
        assert cachex.occurrences(game.rules, position.state) == naive.history[frozenset(naive.stones.items())]
    before = position.history[-6]
    assert stones(before) == stones(position)
    assert before.to_move != position.to_move
    assert cachex.occurrences(game.rules, position.state) == 2


def test_a_board_that_was_given_counts_once():
    given = make("cachex", n=5).parse(board_text(5, {(2, 0), (4, 3), (1, 2), (2, 2)}, {(3, 1), (3, 2), (3, 0)}, "b"))
    for _ in range(6):
        assert not given.is_over
        given = play(given, CYCLE)
    assert given.is_over
    assert given.game.parse(given.text) == given


def test_repetitions_do_not_end_another_game():
    """Boards that share a place in `seen` are told apart, however many there were."""
    game = make("cachex", n=5)
    position = play(game.start(), SET_UP + 5 * f" {CYCLE}")
    states = position.states.copy()
    states["seen"][:] = 200  # as if very many boards had been met
    other = type(position)(game, states)
    for action in other.actions:
        assert not other.play(action).is_over


def test_turn_343_is_a_draw_unless_it_wins():
    game = make("cachex", n=4)
    position = game.parse("4/r3/r3/rbb1 r 342")
    assert not position.is_over
    quiet, winning = position.play("2,3"), position.play("3,0")
    assert quiet.values == (0, 0)
    assert str(quiet).endswith("draw: turn 343")
    assert winning.values == (1, -1)
    short = make("cachex", n=4, turns=3)
    assert play(short.start(), "0,0 1,1").is_over is False
    assert play(short.start(), "0,0 1,1 2,2").values == (0, 0)


def test_a_whole_game_of_343_turns():
    game = make("cachex", n=15).compile()
    choose, position = random.Random(4), game.start()
    while not position.is_over:
        position = position.play(choose.choice(position.actions))
    assert len(position.played) == 343
    assert position.values == (0, 0)


def test_both_players_connect_their_own_sides():
    game = make("cachex", n=3)
    column, row = "0,0 0,1 1,0 1,1 2,0", "0,0 1,1 2,2 1,0 2,1 1,2"
    red, blue = play(game.start(), column), play(game.start(), row)
    assert red.values == (1, -1)
    assert red.json["board"]["chain"] == [[0, 0], [1, 0], [2, 0]]
    assert blue.values == (-1, 1)
    assert blue.json["board"]["chain"] == [[1, 0], [1, 1], [1, 2]]
    assert play(game.start(), column.rsplit(" ", 1)[0]).json["board"]["chain"] == []


# --- exact truth ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turns", [343, 8])
def test_the_solved_board_of_3(turns):
    """Without stealing exactly these first moves win, in 7 turns; with it, none does."""
    start = make("cachex", n=3, steal=False, turns=turns).start()
    solution = solve(start, memory=1 << 26)
    assert solution.value == 1
    assert {start.notation(action) for action in solution.best} == {"0,1", "0,2", "2,0", "2,1"}
    assert set(solution.values.values()) == {1, -1}
    assert solve(make("cachex", n=3, turns=turns).start(), memory=1 << 26).value == -1


def test_red_needs_7_turns_on_the_board_of_3():
    values = [solve(make("cachex", n=3, steal=False, turns=t).start(), memory=1 << 26).value for t in (6, 7)]
    assert values == [0, 1]


def test_fingerprints_forget_the_order_until_boards_repeat():
    game = make("cachex", n=5)
    with np.errstate(over="ignore"):

        def fingerprint(moves):
            return cachex.fingerprint(game.rules, play(game.start(), moves).state)

        assert fingerprint("0,0 1,1 2,3 4,4") == fingerprint("2,3 4,4 0,0 1,1")
        assert fingerprint("0,0 1,1 2,3 4,4") != fingerprint("0,0 4,4 2,3 1,2")
        assert fingerprint(SET_UP) != fingerprint(f"{SET_UP} {CYCLE}")
        swapped = SET_UP.split()
        swapped[0], swapped[2] = swapped[2], swapped[0]
        often = 5 * f" {CYCLE}"
        assert fingerprint(SET_UP) == fingerprint(" ".join(swapped))
        assert fingerprint(SET_UP + often) != fingerprint(" ".join(swapped) + often)


# --- text, moves and options ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("start", "start"),
        ("start 0,1 steal 2,2", "start 0,1 steal 2,2"),
        ("0,1 steal 2,2", "start 0,1 steal 2,2"),
        (" (0, 1)  STEAL (2,2) ", "start 0,1 steal 2,2"),
        ("5/5/2r2/5/5 b", "5/5/2r2/5/5 b 1"),
        ("5/5/2r2/5/1b3 r 12 0,0", "5/5/2r2/5/1b3 r 12 0,0"),
        ("5/5/2r2/5/1b3 b", "5/5/2r2/5/1b3 b 3"),
        ("5/5/5/5/5 r 0 1,1", "start 1,1"),
    ],
)
def test_texts(text, written):
    game = make("cachex", n=5)
    position = game.parse(text)
    assert position.text == written
    assert game.parse(written) == position
    assert ludus.from_json(position.json) == position


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("", "there is no text", None),
        ("start 0,1 0,1", "0,1 is taken by a stone of red", 10),
        ("start 7,1", "there is no cell 7,1; r and q are from 0 to 4", 6),
        ("start 0,1 2,2 steal", "only with its first move", 14),
        ("start 2,2", "the first stone may not be placed in the centre", 6),
        ("start start", "'start' is not a move", 6),
        ("hello", "'hello' is not a move", 0),
        ("5/5/5/5/5", "after the board comes r or b", 9),
        ("5/5/5/5/5 w", "after the board comes r or b", 10),
        ("5/5/5/5 r", "the text ends in row 4 of 5", 7),
        ("5/5/5/x4/5 r", "'x' is none of r b", 6),
        ("r4/5/5/5/5 r 1", "after 1 turns it is not the turn of red", 13),
        ("rr3/5/5/5/bb3 b 3", "2 red and 2 blue stones take 5 turns at least", 16),
        ("r4/5/5/5/5 r 2", "blue has just moved, but has no stone", 0),
        ("r4/r4/r4/r4/r1bbb b", "red has connected: the game is over", 0),
        ("5/5/5/5/rb3 r 344", "the game ends after 343 turns", 14),
        ("5/5/5/5/rb3 r 99999999999999999999", "not the turn of red|the game ends after 343", 14),
        ("start 0,0 4,4 1,0 3,4 2,0 2,4 3,0 1,4 4,0 0,4", "the game is over before 0,4", 42),
    ],
)
def test_bad_texts(text, message, place):
    with pytest.raises(BadPosition, match=message) as caught:
        make("cachex", n=5).parse(text)
    assert caught.value.place == place


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("", "is not a move"),
        ("a1", "'a1' is not a move; moves are r,q such as 3,4 for row 3, or steal"),
        ("3", "is not a move"),
        ("8,0", "there is no cell 8,0"),
        ("3,4", "3,4 is taken by a stone of red"),
    ],
)
def test_illegal_moves(move, reason):
    with pytest.raises(IllegalMove, match=reason):
        make("cachex").start().play("3,4").play(move)


@pytest.mark.parametrize("move", ["5,6", "(5,6)", " ( 5 , 6 ) ", "5 6"])
def test_ways_to_write_a_move(move):
    position = make("cachex").start().play("3,4")
    assert position.play(move).played == ["3,4", "5,6"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 2}, "n, the cells along a side, must be from 3 to 15"),
        ({"n": 16}, "from 3 to 15"),
        ({"turns": 0}, "must be from 1 to 343"),
        ({"turns": 344}, "must be from 1 to 343"),
        ({"view": "mine"}, "view must be own or planes4"),
        ({"size": 8}, "cachex has no option 'size'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(BadOption, match=message):
        make("cachex", **options)


# --- what agents and networks see -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 5, 8, 9, 15])
def test_win_distance(n):
    game, choose = make("cachex", n=n), random.Random(n)
    position, naive = game.start(), Naive(n)
    while not naive.result:
        distances = [cachex.still_needed(game.rules, position.state, player) for player in range(2)]
        assert distances == [naive.still_needed("red"), naive.still_needed("blue")]
        move = choose.choice(naive.moves())
        naive.play(move)
        position = position.play(move)
    winner = ["red", "blue"].index(naive.result)
    assert cachex.still_needed(game.rules, position.state, winner) == 0
    assert cachex.still_needed(game.rules, position.state, 1 - winner) == n * n  # there is no way any more


def test_greedy_takes_a_win_and_prefers_the_shorter_way():
    game = make("cachex", n=5)
    position = game.parse(board_text(5, {(0, 0), (1, 0), (2, 0), (3, 0)}, {(0, 1), (0, 2), (0, 3), (4, 4)}, "r"))
    assert make_agent("greedy", game).choose(position).move == "4,0"


def test_observations_show_the_board_as_the_player_sees_it():
    position = play(make("cachex", n=5).start(), "3,1 0,4")
    red, blue = position.observe(0), position.observe(1)
    assert red[0, 3, 1] == blue[1, 1, 3] == 1
    assert red[1, 0, 4] == blue[0, 4, 0] == 1
    assert red[2, 0, 4] == blue[2, 4, 0] == 1
    assert red[:3].sum() == blue[:3].sum() == 3
    assert red[3].all()
    assert not blue[3].any()
    assert red[4, 0].all()
    assert red[4, 4].all()
    assert red[4].sum() == 10
    assert np.array_equal(red[4], red[5].T)
    assert np.array_equal(red[4:], blue[4:])


def test_the_four_planes():
    position = play(make("cachex", n=5, view="planes4").start(), "3,1 0,4")
    for player in range(2):
        planes = position.observe(player)
        assert planes.shape == (4, 5, 5)
        assert planes[player, 3, 1] == planes[1 - player, 0, 4] == planes[2, 0, 4] == 1
        assert planes[:3].sum() == 3
        assert planes[3].all() == planes[3].any() == (player == 0)


def test_mirrored_games_look_the_same():
    """After a steal blue is where red was: what red saw and did then, blue sees and does, cell by cell."""
    game = make("cachex", n=6)
    first = game.start().play("2,4")
    stolen = first.play("steal")
    assert np.array_equal(first.observe(0)[:2], stolen.observe(1)[:2])
    assert game.read_move(first.state, 1, "5,0") == game.read_move(stolen.state, 0, "0,5")


def test_drawing():
    position = play(make("cachex", n=4).start(), "1,1 2,0 2,1 2,2 0,0")
    assert str(position).splitlines() == [
        "    3  . . . .",
        "   2  B R B .",
        "  1  . R . .",
        " 0 (R). . .",
        "    0 1 2 3",
        "red R connects bottom and top, blue B left and right",
        "turn 6, blue to move",
    ]
    wide = str(make("cachex", n=12).start()).splitlines()
    assert wide[11:14] == [" 0  . . . . . . . . . . . .", " " * 24 + "1 1", "    0 1 2 3 4 5 6 7 8 9 0 1"]


# --- the page ---------------------------------------------------------------------------------------------------------

PAGE = (Path(__file__).parents[2] / "docs" / "games" / "cachex.md").read_text()


def test_the_python_of_the_page_runs(capsys):
    (code,) = re.findall(r"<!-- run -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    exec(code, {})
    assert "\n   2  . x x . .\n" in capsys.readouterr().out


def test_the_commands_of_the_page_run(monkeypatch, capfd):
    (block,) = re.findall(r"<!-- shell -->\n```sh\n(.*?)```", PAGE, re.DOTALL)
    for command in block.splitlines():
        monkeypatch.setattr(sys, "stdin", io.StringIO("quit\n"))
        name, *arguments = shlex.split(command)
        assert name == "ludus"
        assert main(arguments) == 0, f"{command}\n{capfd.readouterr()}"
