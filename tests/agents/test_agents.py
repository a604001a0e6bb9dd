"""The agents that do not search trees: random, greedy, solver, human."""

import io
from collections import Counter

import pytest

from ludus import make
from ludus.agents import make_agent
from ludus.agents.human import Quit
from ludus.errors import BadAgent, IllegalMove

TICTACTOE = make("tictactoe")
WINS_AT_C3 = "xx1/oo1/3"  # x completes the top row


def the_winning_move(position):
    return next(move for move in position.moves if position.play(move).is_over)


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_a_finished_game_has_nothing_to_choose(name):
    over = TICTACTOE.parse("xxx/oo1/3")
    with pytest.raises(IllegalMove, match="over"):
        make_agent(name, TICTACTOE).choose(over)


def test_the_player_must_be_one_who_moves():
    agent = make_agent("random", TICTACTOE)
    with pytest.raises(BadAgent, match="nothing to choose"):
        agent.choose(TICTACTOE.start(), player=1)
    with pytest.raises(BadAgent, match="no player 2"):
        agent.choose(TICTACTOE.start(), player=2)
    roshambo = make("roshambo")
    with pytest.raises(BadAgent, match="everyone moves at once"):
        make_agent("random", roshambo).choose(roshambo.start())


def test_random_plays_everything_by_its_seed():
    start = TICTACTOE.start()
    agent, twin = make_agent("random", TICTACTOE, seed=1), make_agent("random", TICTACTOE, seed=1)
    chosen = [agent.choose(start) for _ in range(200)]
    assert {choice.move for choice in chosen} == set(start.moves)
    assert [twin.choose(start) for _ in range(200)] == chosen
    agent.new_game(1)
    assert [agent.choose(start) for _ in range(200)] == chosen


def test_greedy_wins_where_it_can_and_says_its_values():
    position = TICTACTOE.parse(WINS_AT_C3)
    choice = make_agent("greedy", TICTACTOE).choose(position)
    assert choice.move == the_winning_move(position)
    assert choice.value == 1.0
    assert choice.values[choice.actions.index(choice.action)] == 1.0
    assert choice.line == [choice.move]


def test_greedy_breaks_ties_by_its_seed():
    start = make("connect4").start()  # no stone, no threat: all moves are alike
    moves = Counter(make_agent("greedy", start.game, seed=seed).choose(start).move for seed in range(60))
    assert len(moves) == 7


def test_greedy_expects_anything_where_everyone_moves():
    game = make("roshambo")  # rock pays 1, paper 0.5, scissors 0.25
    choice = make_agent("greedy", game).choose(game.start(), player=1)
    # Rock: 0 against rock, -0.5 against paper, 1 against scissors; and so on.
    assert choice.values == pytest.approx([0.5 / 3, (0.5 - 0.25) / 3, (0.25 - 1) / 3])
    assert choice.move == "rock"


def test_solver_is_exact():
    agent = make_agent("solver", TICTACTOE)
    draw = agent.choose(TICTACTOE.start())
    assert (draw.value, draw.solved) == (0.0, True)
    assert set(draw.values) == {0.0}
    position = TICTACTOE.parse(WINS_AT_C3)
    win = agent.choose(position)
    assert win.value == 1.0
    assert win.values[win.actions.index(position.action_of(the_winning_move(position)))] == 1.0


def test_solver_varies_among_the_best():
    start = TICTACTOE.start()
    agent = make_agent("solver", TICTACTOE, seed=3)
    moves = [agent.choose(start).move for _ in range(30)]
    assert len(set(moves)) > 3
    agent.new_game(3)
    assert [agent.choose(start).move for _ in range(30)] == moves


def test_human_types_moves(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("help\nmoves\nnonsense\nb2\n"))
    choice = make_agent("human", TICTACTOE).choose(TICTACTOE.start())
    shown = capsys.readouterr().out
    assert choice.move == "b2"
    assert "Type a move" in shown
    assert "9 legal moves: a1 " in shown
    assert "nonsense" in shown


@pytest.mark.parametrize("typed", ["", "quit\n"])
def test_human_leaves(monkeypatch, typed):
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    with pytest.raises(Quit):
        make_agent("human", TICTACTOE).choose(TICTACTOE.start())
