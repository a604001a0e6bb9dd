"""Games of Ludus in OpenSpiel: its own tests, algorithms and bots accept them; and its bots play in Ludus."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel", reason="needs OpenSpiel: pip install open_spiel")

from open_spiel.python import policy, rl_environment  # noqa: E402
from open_spiel.python.algorithms import cfr, exploitability, get_all_states, mcts, minimax  # noqa: E402

import ludus  # noqa: E402
from ludus.agents import make_agent  # noqa: E402
from ludus.agents.identity import identify  # noqa: E402
from ludus.errors import BadAgent, Untrusted  # noqa: E402
from ludus.openspiel import to_pyspiel  # noqa: E402

DOCS = Path(__file__).parent.parent / "docs"
GAMES = [
    ("tictactoe", {}),
    ("connect4", {"rows": 4, "columns": 5}),
    ("sevn", {"base": 3}),
    ("hive", {"limit": 6, "expansions": "MLP"}),
    ("cachex", {"n": 3}),
    ("laststone", {}),  # three players
    ("roshambo", {}),  # moves at once
    ("gdl:babel", {"reasoner": True}),  # three players, who win or lose together
]


@pytest.mark.parametrize(("name", "options"), GAMES)
def test_openspiels_own_test_passes(name, options):
    """Random games with copies and serialised states, and all promises of the type and the game checked."""
    game = ludus.make(name, **options)
    spiel = to_pyspiel(game, seed=5)
    pyspiel.random_sim_test(spiel, 1, serialize=True, verbose=False)
    kind = spiel.get_type()
    assert (kind.dynamics.name == "SIMULTANEOUS") == game.simultaneous
    assert (kind.utility.name == "ZERO_SUM") == game.zero_sum


def test_states_are_positions():
    game = ludus.make("sevn", base=3)
    state = to_pyspiel(game, seed=3).new_initial_state()
    position = game.start(3)
    while not position.is_over:
        assert state.position == position
        assert state.legal_actions() == sorted(position.actions)
        assert state.current_player() == position.to_move
        np.testing.assert_array_equal(state.observation_tensor(1), position.observe(1).reshape(-1))
        assert [state.action_to_string(each) for each in position.actions] == position.moves
        state.apply_action(position.actions[-1])
        position = position.play(position.actions[-1])
    assert state.is_terminal()
    assert state.returns() == list(position.values)


def test_games_are_loaded_by_name_and_restored(tmp_path):
    assert pyspiel.load_game("ludus(game=connect4)").ludus_game.identity == ludus.make("connect4").identity
    spiel = to_pyspiel(ludus.make("connect4", rows=4, columns=5))
    assert pyspiel.load_game(str(spiel)).ludus_game.rules.rows == 4
    assert str(pickle.loads(pickle.dumps(spiel))) == str(spiel)
    state = spiel.new_initial_state()
    state.apply_action(2)
    _, again = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(spiel, state))
    assert again.position == state.position
    assert to_pyspiel(ludus.make("openspiel:hex(board_size=3)")).get_type().short_name == "hex"
    file = tmp_path / "mine.py"
    file.write_text("raise SystemExit")
    with pytest.raises(Untrusted):
        pyspiel.load_game("ludus", {"game": str(file)})


def test_its_algorithms_solve_our_games():
    roshambo = pyspiel.convert_to_turn_based(to_pyspiel(ludus.make("roshambo")))
    assert exploitability.exploitability(roshambo, policy.UniformRandomPolicy(roshambo)) == pytest.approx(1 / 6)
    assert pyspiel.exploitability(roshambo, pyspiel.UniformRandomPolicy(roshambo)) == pytest.approx(1 / 6)
    solver = cfr.CFRSolver(roshambo)
    for _ in range(60):
        solver.evaluate_and_update_policy()
    assert exploitability.exploitability(roshambo, solver.average_policy()) < 0.02
    laststone = to_pyspiel(ludus.make("laststone", stones=5))
    assert len(get_all_states.get_all_states(laststone, -1, True, False)) == 28
    assert exploitability.nash_conv(laststone, policy.UniformRandomPolicy(laststone)) == pytest.approx(1.7222, abs=1e-3)
    tictactoe = to_pyspiel(ludus.make("tictactoe"))
    state = tictactoe.ludus_game.start().play("b2").play("b1")
    value, action = minimax.alpha_beta_search(tictactoe, tictactoe.state_at(state), maximizing_player_id=0)
    assert (value, state.play(action).values) == (1.0, (0.0, 0.0))


@pytest.mark.parametrize("name", ["tictactoe", "roshambo"])
def test_its_environment_steps_our_games(name):
    environment = rl_environment.Environment(to_pyspiel(ludus.make(name)))
    step = environment.reset()
    while not step.last():
        legal, player = step.observations["legal_actions"], step.observations["current_player"]
        step = environment.step([each[0] for each in legal] if player < 0 else [legal[player][0]])
    assert sum(step.rewards) == 0


@pytest.mark.parametrize(("name", "options"), [("tictactoe", {}), ("sevn", {"base": 3}), ("hive", {"limit": 5})])
def test_its_tree_searches_play_our_games(name, options):
    spiel = to_pyspiel(ludus.make(name, **options))
    random = np.random.RandomState(1)
    python = mcts.MCTSBot(spiel, 2.0, 20, mcts.RandomRolloutEvaluator(1, random), random_state=random)
    compiled = pyspiel.MCTSBot(spiel, pyspiel.RandomRolloutEvaluator(1, 1), 2.0, 20, 100, True, 1, False)
    state = spiel.new_initial_state()
    assert python.step(state) in state.legal_actions()
    assert compiled.step_with_policy(state)[1] in state.legal_actions()


# --- its bots as agents -----------------------------------------------------------------------------------------------


def test_its_search_finds_a_win_in_a_game_of_either_side():
    game = ludus.make("tictactoe")
    choice = make_agent("openspiel:mcts:300", game).choose(game.parse("xx1/oo1/3"))
    assert (choice.move, choice.value, choice.simulations > 0) == ("c3", 1.0, True)
    theirs = ludus.make("openspiel:tic_tac_toe")
    position = theirs.start()
    for action in (0, 3, 1, 4):
        position = position.play(action)
    agent = make_agent("openspiel:mcts:300", theirs)
    assert agent.choose(position).action == 2
    assert agent.choose(position.play(8)).action == 5


def test_its_bots_play_matches_in_processes_of_their_own():
    result = ludus.play_match(
        "openspiel:tic_tac_toe", ["openspiel:mcts:200", "openspiel:uniform_random"], 4, seed=1, openings=1, parallel=1
    )
    assert [record.reason for record in result.games] == [""] * 4
    assert result.score(0).mean > 0.5


@pytest.mark.parametrize(
    ("name", "game", "message"),
    [
        ("openspiel", "tictactoe", "name a bot of OpenSpiel, as in openspiel:mcts; there are mcts, "),
        ("openspiel:alphago", "tictactoe", "name a bot of OpenSpiel"),
        ("openspiel:uniform_random:5", "tictactoe", "openspiel takes no budget"),
        ("openspiel:mcts:d=1", "tictactoe", "its options are c, rollouts, solve, memory"),
        ("openspiel:mcts", "roshambo", "in which players move in turn"),
    ],
)
def test_a_bot_that_cannot_be_used_is_refused(name, game, message):
    with pytest.raises(BadAgent, match=message):
        make_agent(name, ludus.make(game))


def test_the_identity_of_a_bot_holds_the_version_of_openspiel():
    assert "open_spiel=" in identify("openspiel:mcts", ludus.make("tictactoe")).text
    assert identify("openspiel:mcts", ludus.make("tictactoe")).name == "openspiel:mcts:1000"
    assert identify("openspiel:uniform_random", ludus.make("tictactoe")).name == "openspiel:uniform_random"


def test_the_python_of_the_page_about_engines_runs(capsys):
    (code,) = re.findall(r"<!-- run -->\n```python\n(.*?)```", (DOCS / "engines.md").read_text(), re.DOTALL)
    exec(code, {})
    assert capsys.readouterr().out.startswith("0.1666")
