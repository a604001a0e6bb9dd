import itertools
import json
import re

import numpy as np
import pytest

import ludus
from ludus.errors import BadOption, BadPosition, IllegalMove
from ludus.games.sevn import RELATIONS, read_record, write_record
from ludus.registry import make
from ludus.rng import below, generator
from ludus.rules import heuristic
from ludus.search.perft import perft
from ludus.search.solver import value_of
from ludus.testing import check_game

BASES = (3, 5, 7, 9, 11)
FULL = "1/aaa/aab.cba.cbc"
MIDDLE = "2/-dcc-ba/5.1dbbc.deeaa.eecb1.1ce2"


def rows_of(text):
    """The board of a text, one character for each cell, the top row first."""
    board = text.split("/")[2]
    return [re.sub("[0-9]+", lambda run: "." * int(run[0]), row) for row in board.split(".")]


def legal_by_the_book(text):
    """The moves in a position, worked out from its text alone: sets of (row, column), the top row first."""
    rows = rows_of(text)
    base = len(rows)

    def free(row, column):
        return not (0 <= row < base and 0 <= column < base) or rows[row][column] == "."

    corners: dict[str, list[tuple[int, int]]] = {}
    for row, column in itertools.product(range(base), repeat=2):
        upright = free(row - 1, column) or free(row + 1, column)
        across = free(row, column - 1) or free(row, column + 1)
        if rows[row][column] != "." and upright and across:
            corners.setdefault(rows[row][column], []).append((row, column))
    return {
        frozenset(some)
        for cells in corners.values()
        for size in range(1, len(cells) + 1)
        for some in itertools.combinations(cells, size)
    }


def cells_of(move, base):
    return frozenset((base - int(name[1:]), "abcdefghijk".index(name[0])) for name in re.findall("[a-k][0-9]+", move))


@pytest.mark.parametrize("base", BASES)
def test_games_go_by_the_book(base):
    """Moves, text, score and ending, of games played on the text alone."""
    game = make("sevn", base=base).compile()
    random = generator(base)
    position = game.start(base)
    taken = {(player, colour): 0 for player in range(2) for colour in "abcdefghijk"[:base]}
    mover = 0
    while not position.is_over:
        text = position.text
        moves = position.moves
        book = legal_by_the_book(text)
        assert len(moves) == len(book) <= game.most_legal
        assert {cells_of(move, base) for move in moves} == book
        move = moves[below(random, len(moves))]
        rows = [list(row) for row in rows_of(text)]
        (colour,) = {rows[row][column] for row, column in cells_of(move, base)}
        assert move[0] == colour
        for row, column in cells_of(move, base):
            rows[row][column] = "."
            taken[mover, colour] += 1
        position = position.play(move)
        assert rows_of(position.text) == ["".join(row) for row in rows]
        leads = [taken[0, colour] - taken[1, colour] for colour in "abcdefghijk"[:base]]
        score = "".join(("-" if lead < 0 else "") + "abcdefghijkl"[abs(lead)] for lead in leads)
        mover = 1 - mover
        assert position.text.startswith(f"{mover + 1}/{score}/")
        assert position == game.parse(position.text)
        won = [any(taken[player, colour] == base for colour in "abcdefghijk"[:base]) for player in range(2)]
        if position.is_over and not any(won):
            assert all(cell == "." for row in rows for cell in row)
            majority = sum(lead > 0 for lead in leads) > base // 2
            won = [majority, not majority]
        assert position.is_over == any(won)
        if position.is_over:
            assert position.values == ((1.0, -1.0) if won[0] else (-1.0, 1.0))


def test_perft():
    """As in the reference."""
    small = make("sevn", base=3).parse(FULL)
    expected = [5, 40, 276, 1478, 6294, 18633, 39646, 47088, 27232]
    assert [perft(small, depth) for depth in range(1, 10)] == expected
    larger = make("sevn", base=5).parse("1/aaaaa/cabcd.aedeb.dcbee.ebdac.dacba")
    assert [perft(larger, depth) for depth in range(1, 6)] == [5, 37, 382, 4454, 54882]


def test_base_3_is_solved():
    """The first player wins 1608 of the 1680 boards."""
    game = make("sevn", base=3)
    boards = sorted(set(itertools.permutations("aaabbbccc")))
    values = []
    for board in boards:
        rows = ".".join("".join(board[row : row + 3]) for row in (0, 3, 6))
        values.append(value_of(game.parse(f"1/aaa/{rows}"), memory=1 << 21))
    assert len(boards) == 1680
    assert set(values) == {1.0, -1.0}
    assert values.count(1.0) == 1608


@pytest.mark.parametrize("base", [3, 7, 9])
def test_the_bound_on_the_moves_is_reached(base):
    """Two colours around a slanted rectangle, all of whose tiles are corners; the rest of the board inside and gone."""
    game = make("sevn", base=base)
    left = base // 2 - 1
    ends = [
        (max(left - row, row - left - 1), base - 1 - max(base - 2 - left - row, row - base + 1 + left))
        for row in range(base)
    ]
    rows = [["." for _ in range(base)] for _ in range(base)]
    inner = itertools.cycle("cdefghijk"[: base - 2])
    for row, (first, last) in enumerate(ends):
        for column in range(first, last + 1):
            rows[row][column] = "ab"[row % 2] if column in (first, last) else next(inner)
    board = [re.sub(r"\.+", lambda run: str(len(run[0])), "".join(row)) for row in rows]
    for colour in "ab":  # each end of a row in turn, and the odd one out in the last row
        assert sum(row.count(colour) for row in board) == base + (1 if colour == "a" else -1)
    board[-1] = board[-1].replace("a", "b", 1)
    counts = [sum(row.count(colour) for row in board) for colour in "abcdefghijk"[:base]]
    score = "".join("ab"[(base - count) % 2] for count in counts)
    position = game.parse(f"1/{score}/{'.'.join(board)}")
    assert len(position.actions) == game.most_legal == 2 * (2**base - 1)
    assert {cells_of(move, base) for move in position.moves} == legal_by_the_book(position.text)


def test_two_words_keep_the_contract():
    """Base 9; in the tests of all games there are those of one word."""
    check_game(make("sevn", base=9), games=1)


def test_ids_are_a_colour_and_a_subset_of_its_tiles_on_the_board():
    position = make("sevn", base=3).parse(FULL)
    assert dict(zip(position.moves, position.actions, strict=True)) == {
        "a:a3": 0b001,
        "b:c3": 8 + 0b001,
        "c:a1": 16 + 0b010,
        "c:c1": 16 + 0b100,
        "c:a1+c1": 16 + 0b110,
    }
    assert position.play("c:a1").action_of("c:c1") == 16 + 0b010  # one tile of the colour less before it


def test_starts_are_random_and_full():
    texts = {make("sevn").start(seed).text for seed in range(20)}
    assert len(texts) == 20
    for text in texts:
        assert text.startswith("1/aaaaaaa/")
        assert sorted("".join(rows_of(text))) == sorted("abcdefg" * 7)
    # All boards are equally likely: each colour is in the first cell a third of the time, whatever is in the second.
    pairs = [rows_of(make("sevn", base=3).start(seed).text)[0][:2] for seed in range(1800)]
    for pair in itertools.product("abc", repeat=2):
        share = (1 / 12 if pair[0] == pair[1] else 1 / 8) * len(pairs)
        assert abs(pairs.count("".join(pair)) - share) < 5 * share**0.5


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2/daa/1b1.bcb.1cc", (1.0, -1.0)),  # player 1 owns a colour
        ("1/-daa/1b1.bcb.1cc", (-1.0, 1.0)),
        ("1/bb-b/3.3.3", (1.0, -1.0)),  # most colours, in the end
        ("2/-bb-b/3.3.3", (-1.0, 1.0)),
    ],
)
def test_endings(text, values):
    position = make("sevn", base=3).parse(text)
    assert position.is_over
    assert position.values == values
    assert position.actions == []
    assert position.text == text
    assert str(position).endswith(f"player {1 if values[0] > 0 else 2} has won")


@pytest.mark.parametrize("text", [FULL, MIDDLE])
def test_texts(text):
    assert make("sevn", base=text.count(".") + 1).parse(f" {text} ").text == text


def test_runs_of_two_digits():
    game = make("sevn", base=11)
    text = "2/kbbbbbbbbbb/10a." + ".".join(["11"] * 10)
    position = game.parse(text)
    assert position.text == text
    assert position.moves == ["a:k11"]
    assert game.parse(text.replace("10a", "5a5")).moves == ["a:f11"]


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("", "player/score/board", None),
        ("1/aaa", "player/score/board", None),
        ("1/aaa/aab.cba.cbc/", "player/score/board", None),
        ("3/aaa/aab.cba.cbc", "first comes 1 or 2", 0),
        (" x/aaa/aab.cba.cbc", "first comes 1 or 2, the player to move, not 'x'", 1),
        ("1/aa/aab.cba.cbc", "the score has 2 colours instead of 3", 2),
        ("1/aaaa/aab.cba.cbc", "the score has 4 colours instead of 3", 2),
        ("1/aea/aab.cba.cbc", "'e' is not a lead from a (0) to d (3)", 3),
        ("1/a-aa/aab.cba.cbc", "'-a' is not a lead", 3),
        ("1/a--a/aab.cba.cbc", "'-' is not a lead", 3),
        ("1/a1a/aab.cba.cbc", "'1' is not a lead", 3),
        ("1/aaa/aab.cda.cbc", "'d' is none of a b c, a number of empty cells or '.'", 11),
        ("1/aaa/aab.cbac.cb", "row 2 has more than 3 cells", 13),
        ("1/aaa/aab.cba.c1", "the text ends in row 3 of 3 after 2 of 3 cells", 16),
        ("1/aaa/aab.cba", "the text ends in row 2 of 3", 13),
        ("1/aaa/aab.03.cbc", "'03' is not a number of empty cells", 10),
        ("1/aaaaa/cabcd.aedeb.dcbee.ebdac.dacba", "it is one of base=5, and the game's base is 3", None),
        ("1/aaa/aab.caa.cbc", "more than 3 tiles of colour a", 12),
        ("1/baa/aab.cba.cbc", "with 0 tiles of colour a taken, nobody can lead by 1", 2),
        ("2/b-ca/1ab.cba.c1c", "with 1 tile of colour b taken, nobody can lead by 2", 3),
        ("2/aaa/1ab.cba.cbc", "with 1 tile of colour a taken, nobody can lead by 0", 2),
        ("2/aba/aab.c1a.cbc", "row 2 has a gap between its tiles", 12),
        ("2/baa/a1b.cba.cbc", "row 3 has a gap between its tiles", 8),
        ("2/aab/aab.1ba.cbc", "column a has a gap between its tiles", 14),
        ("1/daa/1bb.cbc.c2", "player 1 owns a whole colour, so it is not the turn of player 1", 0),
        ("1/-d-da/3.1c1.1cc", "two whole colours are owned", 4),
    ],
)
def test_bad_positions(text, message, place):
    with pytest.raises(BadPosition, match=re.escape(message)) as caught:
        make("sevn", base=3).parse(text)
    assert caught.value.place == place


def test_notation():
    position = make("sevn", base=5).parse(MIDDLE)
    assert position.moves[:5] == ["a:e3", "b:d2", "c:e4", "c:b1", "c:e4+b1"]
    for text in ("c:e4+b1", "c:b1+e4", "b1+e4", "E4,B1", " c:b1e4 ", "C:B1+E4"):
        assert position.notation(position.action_of(text)) == "c:e4+b1"
    assert make("sevn", base=11).start().action_of("k11") in make("sevn", base=11).start().actions


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("hello", "is not a move; moves are written as c:a5+e1"),
        ("", "is not a move"),
        ("c:", "is not a move"),
        ("z9", "there is no cell z9; cells are a1 to e5"),
        ("a6", "there is no cell a6"),
        ("a0", "there is no cell a0"),
        ("a5", "there is no tile on a5"),
        ("c4", "c4 is not a corner: there are tiles on its left and right"),
        ("a:d3", "d3 is not a corner"),
        ("e4+d2", "e4 is of colour c and d2 of colour b; take one colour"),
        ("a:e4", "e4 is of colour c, not a"),
        ("e4+e4", "e4 is named twice"),
    ],
)
def test_illegal_moves(move, reason):
    with pytest.raises(IllegalMove, match=re.escape(reason)):
        make("sevn", base=5).parse(MIDDLE).play(move)


def test_drawing():
    assert str(make("sevn", base=5).parse(MIDDLE)) == (
        "5 . . . . .\n4 . D b b C\n3 D e e a A\n2 E e c B .\n1 . C E . .\n  a b c d e\n\n"
        "taken    a b c d e\nplayer 1 . 2 2 1 .\nplayer 2 3 . . 2 .\nplayer 2 to move"
    )


def test_json():
    position = make("sevn", base=5).parse(MIDDLE)
    data = json.loads(json.dumps(position.json))
    assert ludus.from_json(data) == position
    board = data["board"]
    assert board["cells"][1] == [None, "d", "b", "b", "c"]
    assert board["takeable"] == ["b4", "e4", "a3", "e3", "a2", "d2", "b1", "c1"]
    assert board["taken"] == [[0, 2, 2, 1, 0], [3, 0, 0, 2, 0]]
    assert [colour["name"] for colour in board["colours"]] == list("abcde")


def test_records():
    game = make("sevn", base=3)
    position = game.parse(FULL)
    for move in ("a:a3", "c:c1+a1", "a:b3"):
        position = position.play(move)
    record = write_record(position)
    assert record == "1/aaa/aab.cba.cbc a:a3 c:a1+c1 a:b3"
    again = read_record(record)
    assert again == position
    assert again.played == ["a:a3", "c:a1+c1", "a:b3"]
    assert write_record(again) == record
    assert read_record(f"  {FULL}\n") == game.parse(FULL)
    with pytest.raises(IllegalMove, match="move 2 of the record: there is no tile on a3"):
        read_record(f"{FULL} a3 a3")
    for wrong in ("", "hello", "1/aa/ab.ab"):
        with pytest.raises(BadPosition, match="a record begins with a position"):
            read_record(wrong)


def edges_of(graph, relation):
    return sorted((one, other) for kind, one, other in graph.edges.tolist() if RELATIONS[kind] == relation)


def both_ways(pairs):
    return sorted([*pairs, *((other, one) for one, other in pairs)])


def test_graph_of_a_full_board():
    """By hand: tiles 0 to 8 in rows of three, then the moves a:a3, b:c3, c:a1, c:c1 and c:a1+c1."""
    graph = make("sevn", base=3).parse(FULL).graph()
    assert graph.features.tolist() == [[3, 3, 0]] * 14
    hidden = [(1, 0), (1, 2), (3, 0), (3, 6), (4, 1), (4, 3), (4, 5), (4, 7), (5, 2), (5, 8), (7, 6), (7, 8)]
    assert edges_of(graph, "hidden-by") == hidden
    assert edges_of(graph, "reveals") == sorted((other, one) for one, other in hidden)
    assert edges_of(graph, "diagonal") == both_ways([(1, 3), (1, 5), (3, 7), (5, 7)])
    assert edges_of(graph, "takeable") == sorted(itertools.permutations((0, 2, 6, 8), 2))
    groups = [(0, 1, 5), (2, 4, 7), (3, 6, 8)]
    assert edges_of(graph, "same-colour") == sorted(
        pair for group in groups for pair in itertools.permutations(group, 2)
    )
    takes = [(0, 9), (2, 10), (6, 11), (6, 13), (8, 12), (8, 13)]
    assert edges_of(graph, "to-action") == takes
    assert edges_of(graph, "from-action") == sorted((move, tile) for tile, move in takes)


def test_graph_in_the_middle_of_a_game():
    """By hand: .ab / cba / cbc, tiles 0 to 7; player 1 has one tile of colour a."""
    position = make("sevn", base=3).parse(FULL).play("a:a3")
    graph = position.graph()
    a, other = [4, 2, -1], [3, 3, -1]  # to player 2, who moves
    colours = [a, other, other, other, a, other, other, other]
    assert position.moves == ["a:b3", "b:c3", "c:a2", "c:a1", "c:a2+a1", "c:c1", "c:a2+c1", "c:a1+c1", "c:a2+a1+c1"]
    assert graph.features.tolist() == [*colours, a, *[other] * 8]
    assert position.graph(0).features.tolist()[0] == [2, 4, 1]
    assert edges_of(graph, "hidden-by") == [(3, 0), (3, 2), (3, 4), (3, 6), (4, 1), (4, 7), (6, 5), (6, 7)]
    assert edges_of(graph, "diagonal") == both_ways([(0, 2), (0, 4), (2, 6), (4, 6)])
    assert edges_of(graph, "takeable") == sorted(itertools.permutations((0, 1, 2, 5, 7), 2))
    assert len(edges_of(graph, "to-action")) == 1 + 1 + 12


def test_diagonals_are_given_once():
    """On a full board of base 5 the nine inner tiles have four neighbours, with many pairs in common."""
    graph = make("sevn", base=5).start().graph()
    inner = [(row, column) for row in (1, 2, 3) for column in (1, 2, 3)]
    pairs = set()
    for row, column in inner:
        around = [(row, column - 1), (row - 1, column), (row, column + 1), (row + 1, column)]
        for one, other in zip(around, around[1:] + around[:1], strict=True):
            pairs |= {(one[0] * 5 + one[1], other[0] * 5 + other[1]), (other[0] * 5 + other[1], one[0] * 5 + one[1])}
    assert edges_of(graph, "diagonal") == sorted(pairs)


def test_observation():
    position = make("sevn", base=3).parse(FULL).play("a:a3").play("c:a1+c1")
    planes = position.observe()
    assert planes.shape == (8, 3, 3)
    assert np.argwhere(planes[0]).tolist() == [[0, 1], [1, 2]]  # colour a, top row first
    assert [planes[3 + colour, 0, 0] for colour in range(3)] == pytest.approx([1 / 3, 0, -2 / 3])
    assert np.argwhere(planes[6]).tolist() == [[0, 1], [0, 2], [1, 0], [1, 2], [2, 1]]
    assert planes[7].all()
    other = position.observe(1)
    assert np.array_equal(other[:3], planes[:3])
    assert np.array_equal(other[3:6], -planes[3:6])
    assert not other[7].any()


def guess(text):
    game = make("sevn", base=text.count(".") + 1)
    position = game.parse(text)
    values = [float(heuristic(game.rules, position.state, player)) for player in range(2)]
    assert values[0] == -values[1]
    assert -1 <= values[0] <= 1
    return values[0]


def test_heuristic_likes_colours_and_whole_ones_most():
    assert guess("2/caa/2a.bcb.bcc") == -guess("1/-caa/2a.bcb.bcc")
    assert guess("1/caa/2a.bcb.bcc") == 1.0  # player 1 takes the last tile of a colour
    assert guess("2/caa/2a.bcb.bcc") < 1.0
    assert guess("2/baa/1aa.bcb.bcc") > guess("2/-baa/1aa.bcb.bcc")


def test_greedy_beats_random():
    from ludus import play_match

    result = play_match(make("sevn", base=7), ["greedy", "random"], 10, seed=1, parallel=1)
    assert result.tally(0) == (10, 0, 0)


@pytest.mark.parametrize("base", [1, 2, 4, 6, 8, 13, -3])
def test_bad_bases(base):
    with pytest.raises(BadOption, match=f"sevn: base must be an odd number from 3 to 11, not {base}"):
        make("sevn", base=base)
