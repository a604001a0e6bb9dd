"""The bridge to OpenSpiel: its games go as it says they go, and what cannot be searched is refused."""

import sys

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from ludus import make  # noqa: E402
from ludus.errors import BadOption, UnknownGame, Unsuitable  # noqa: E402
from ludus.native import below, kernel  # noqa: E402
from ludus.rng import generator  # noqa: E402
from ludus.rules import legal, outcome, play, reset, to_move  # noqa: E402

GAMES = [
    "hex(board_size=5)",
    "hex(board_size=4,swap=True)",
    "tic_tac_toe",
    "breakthrough(rows=6,columns=6)",
    "othello",  # with passes
    "connect_four",
    "dots_and_boxes",  # the same player again
    "nim",
    "ultimate_tic_tac_toe",
    "chess(longest=60)",
    "chinese_checkers(players=3)",
    "quoridor(players=4,board_size=5)",
    "morpion_solitaire",  # one player, no observation
    "cliff_walking",
    "misere(game=tic_tac_toe())",
    "python_tic_tac_toe",
]


@kernel
def play_game(rules, states, random, actions, values, played):
    """One random game; the actions go into `played`, their number is returned."""
    reset(rules, states[0], random)
    plies = 0
    while not outcome(rules, states[0], values):
        count = legal(rules, states[0], to_move(rules, states[0]), actions)
        played[plies] = actions[below(random, count)]
        play(rules, states[0], played[plies])
        plies += 1
    return plies


def scaled(game, returns):
    """Utilities as the bridge should give them, computed from OpenSpiel's range."""
    lowest, highest = game.spiel.min_utility(), game.spiel.max_utility()
    if game.zero_sum:
        return [value / max(-lowest, highest) for value in returns]
    return [2 * (value - lowest) / (highest - lowest) - 1 for value in returns]


@pytest.mark.parametrize("name", GAMES)
def test_random_games_agree(name):
    game = make(f"openspiel:{name}").compile()
    values = np.zeros(game.players, np.float32)
    played = np.zeros(game.longest, np.int32)
    for seed in range(3):
        room = (game.new_states(1), generator(seed), np.zeros(game.most_legal, np.int32))
        plies = play_game(game.rules, *room, values, played)
        game.raise_pending()
        spiel = game.spiel.new_initial_state()
        position = game.start()
        for ply in range(plies):
            assert not spiel.is_terminal()
            if seed == 0 and ply < 80:
                assert position.to_move == spiel.current_player()
                assert position.actions == spiel.legal_actions()
                assert str(position) == str(spiel)
                position = position.play(int(played[ply]))
            spiel.apply_action(int(played[ply]))
        assert spiel.is_terminal() or plies == game.longest
        assert values == pytest.approx(scaled(game, spiel.returns()))
        assert not game.zero_sum or sum(values) == pytest.approx(0, abs=1e-6)
        if seed == 0 and plies < 80:
            assert (position.is_over, position.values) == (True, pytest.approx(tuple(values)))


@pytest.mark.parametrize("name", ["chess", "hive", "amazons", "nim", "go(board_size=5)", "nine_mens_morris"])
def test_texts_and_moves_come_back(name):
    game = make(f"openspiel:{name}")
    assert make(game.name).identity == game.identity
    position = game.start()
    rng = np.random.default_rng(1)
    for _ in range(40):
        if position.is_over:
            break
        moves = position.moves
        assert [position.action_of(move) for move in moves[:5]] == position.actions[:5]
        position = position.play(moves[rng.integers(len(moves))])
    assert game.parse(position.text) == position
    assert repr(make(game.name).parse(position.text)) == repr(position)


def test_observation_tells_who_looks():
    game = make("openspiel:tic_tac_toe")
    position = game.start().play(4)
    planes = position.observe()
    assert planes.shape == game.observation == (5, 3, 3)
    tensor = game.board(position.state).observation_tensor(1)
    assert planes[:3].ravel().tolist() == tensor
    assert planes[3:, 0, 0].tolist() == [0, 1]
    assert make("openspiel:morpion_solitaire").observation is None


def test_parameters():
    five = make("openspiel:hex(board_size=5)")
    assert (five.name, five.identity) == ("openspiel:hex(board_size=5)", "openspiel:hex(board_size=5)v1")
    assert five.identity == make("openspiel:hex", board_size="5").identity
    assert five.identity == make("openspiel: hex( board_size = 5 )").identity
    assert make("openspiel:tic_tac_toe").identity == "openspiel:tic_tac_toe()v1"
    assert make("openspiel:misere", game="tic_tac_toe()").name == "openspiel:misere(game=tic_tac_toe())"
    assert make("openspiel:chess").longest == 1000
    short = make("openspiel:chess", longest=300)
    assert (short.longest, short.name) == (300, "openspiel:chess(longest=300)")
    assert short.start().states.nbytes == 4 * (300 + 3)
    assert make("openspiel:hex(board_size=5)", longest=25).name == "openspiel:hex(board_size=5)"


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("hexx", UnknownGame, "OpenSpiel has no game 'hexx'; did you mean hex?"),
        ("", UnknownGame, "write it like openspiel:hex(board_size=5)"),
        ("hex(board_size=5", UnknownGame, "cannot be read"),
        ("hex(size=5)", BadOption, "openspiel:hex has no option 'size'; its options are board_size"),
        ("hex(board_size=big)", BadOption, "option board_size must be a whole number, not 'big'"),
        ("hex(board_size=-3)", BadOption, "a parameter is out of range"),
        ("hex(longest=-1)", BadOption, "longest must be at least 1"),
        ("misere", BadOption, "openspiel:misere needs the option game"),
        ("goofspiel", Unsuitable, "it is simultaneous, and the bridge takes games with players who move in turn"),
        ("backgammon", Unsuitable, "it is explicit stochastic, and the bridge takes games with no chance"),
        ("dark_hex", Unsuitable, "it is imperfect information, and the bridge takes games with nothing hidden"),
        ("misere(game=kuhn_poker())", Unsuitable, "cannot be searched"),
    ],
)
def test_refusals(name, kind, words, capfd):
    with pytest.raises(kind) as caught:
        make(f"openspiel:{name}")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


def test_openspiel_says_what_is_wrong():
    with pytest.raises(BadOption, match="OpenSpiel says: Could not parse size"):
        make("openspiel:nim(pile_sizes=many)")


def test_openspiel_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(UnknownGame, match=r"openspiel:hex needs OpenSpiel .*: pip install 'ludus\[openspiel\]'"):
        make("openspiel:hex")
