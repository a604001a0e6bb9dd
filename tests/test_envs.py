"""The environments for Gymnasium and PettingZoo: their libraries' own checks, and that they play the games of Ludus."""

import copy
import pickle
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test

import ludus
import ludus.envs
from ludus.agents import Choice
from ludus.envs import AECEnv, GymEnv, ParallelEnv, VectorEnv
from ludus.errors import BadOption, IllegalMove, LudusError, Unsuitable
from ludus.position import Position
from tests.own_games import COUNTDOWN, write_heap

SMALL = {"rows": 4, "columns": 5}
ONE_RULE = {"rock": 1, "paper": 1, "scissors": 1}


def random_action(mask, random):
    return int(random.choice(np.flatnonzero(mask)))


# --- Gymnasium --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("id", "options"), [("Connect4", SMALL), ("Roshambo", {"rounds": 3}), ("Laststone", {})])
def test_the_checker_of_gymnasium_finds_nothing(id, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "The environment .* is different from the unwrapped version")
        check_env(gymnasium.make(f"ludus/{id}-v0", **options).unwrapped)


def test_a_game_in_a_file_is_an_environment_by_its_path(tmp_path):
    env = gymnasium.make("ludus.envs:ludus/Game-v0", game=str(write_heap(tmp_path)), heap=5, seat=0)
    seen, info = env.reset(seed=1)
    assert seen.tolist() == [0, 0, 0, 0, 0, 1]
    assert info["action_mask"].tolist() == [1, 1]


def play_episode(env, seed=None):
    """Every observation, reward and mask of one episode of random actions."""
    random = np.random.default_rng(1)
    seen, info = env.reset(seed=seed)
    story = [(seen.tolist(), info["action_mask"].tolist(), info["player"])]
    over = False
    while not over:
        assert np.array_equal(env.unwrapped.action_masks(), info["action_mask"])
        seen, reward, over, cut, info = env.step(random_action(info["action_mask"], random))
        assert not cut
        story.append((seen.tolist(), info["action_mask"].tolist(), reward))
    assert reward == info["values"][info["player"]]
    assert not info["illegal_action"]
    return story


def test_the_same_seed_gives_the_same_episodes():
    env = GymEnv("connect4", **SMALL)
    first = [play_episode(env, 5), play_episode(env)]
    assert [play_episode(env, 5), play_episode(env)] == first
    assert play_episode(env, 6) != first[0]


def test_the_learner_takes_its_seat():
    def seats(seat, count=4):
        env = GymEnv("laststone", seat=seat)
        return [env.reset(seed=None if index else 3)[1]["player"] for index in range(count)]

    assert seats(2) == [2, 2, 2, 2]
    assert seats("alternate") == [0, 1, 2, 0]
    assert set(seats("random", 30)) == {0, 1, 2}
    assert GymEnv("laststone", seat=0).reset(options={"seat": 1})[1]["player"] == 1


def test_opponents_play_in_the_other_seats():
    class Least:
        name = "least"

        def new_game(self, seed):
            self.asked = []

        def choose(self, position, budget=None, player=None, progress=None):
            self.asked.append(position.to_move)
            return Choice(player, 0, position.notation(0))

    agents = [Least(), Least()]
    env = GymEnv("laststone", opponents=agents, seat=1)
    env.reset(seed=1)
    env.step(0)
    assert [agent.asked for agent in agents] == [[0, 0], [2]]
    assert [position.action for position in env.position.history] == [None, 0, 0, 0, 0]
    assert [agent.name for agent in GymEnv("laststone", opponents=["random", "uct:9"]).opponents] == ["random", "uct:9"]
    with pytest.raises(BadOption, match="2 other seats"):
        GymEnv("laststone", opponents=["random"])


def test_an_illegal_action_loses_or_is_an_error():
    env = GymEnv("connect4", seat=0, opponents="random", **SMALL)
    env.reset(seed=0)
    before = env.position
    _, reward, over, _, info = env.step(7)
    assert (reward, over, info["illegal_action"], info["values"].tolist()) == (-1.0, True, True, [-1.0, 0.0])
    assert env.position is before
    assert not env.action_masks().any()
    with pytest.raises(IllegalMove, match="call reset"):
        env.step(0)
    strict = GymEnv("connect4", seat=0, illegal="raise", **SMALL)
    strict.reset(seed=0)
    with pytest.raises(IllegalMove, match="action -1 is not legal"):
        strict.step(-1)


def test_the_board_is_rendered_as_text_and_as_an_image(capsys):
    text = GymEnv("connect4", render_mode="ansi", seat=0, **SMALL)
    assert text.render() is None
    text.reset(seed=0)
    assert text.render() == str(text.position)
    image = GymEnv("connect4", render_mode="rgb_array", seat=0, **SMALL)
    image.reset(seed=0)
    empty = image.render()
    assert (empty.shape, empty.dtype) == ((480, 480, 3), np.uint8)
    image.step(2)
    changed = (image.render() != empty).any(axis=2)
    assert 0.01 < changed.mean() < 0.2  # two discs
    assert capsys.readouterr().out == ""
    people = GymEnv("connect4", render_mode="human", seat=0, **SMALL)
    people.reset(seed=0)
    assert capsys.readouterr().out == f"{people.position}\n\n"
    many = VectorEnv("connect4", 2, opponents="self", render_mode="human", **SMALL)
    for act in (lambda: many.reset(seed=0), lambda: many.step(np.array([1, 2]))):
        act()
        assert capsys.readouterr().out == f"{many.position(0)}\n\n{many.position(1)}\n\n"


def test_wrong_arguments_are_errors_of_one_line(tmp_path):
    for arguments, message in (
        ({"seat": 2}, "seat must be one of random, alternate, 0, 1, not 2"),
        ({"seat": np.array([0, 1])}, "seat must be one of random, alternate, 0, 1, not array"),
        ({"illegal": "pass"}, "illegal must be one of lose, raise"),
        ({"render_mode": "svg"}, "render_mode must be one of"),
        ({"opponent": "uct"}, "connect4 has no option 'opponent'"),
        ({"opponents": "utc"}, "did you mean uct"),
        ({"opponents": None}, "an opponent must be the name of an agent, such as uct:100, or an agent, not None"),
    ):
        with pytest.raises(LudusError, match=message):
            GymEnv("connect4", **arguments)
    (tmp_path / "countdown.py").write_text(COUNTDOWN)
    with pytest.raises(Unsuitable, match="countdown has no observation"):
        GymEnv(tmp_path / "countdown.py")
    with pytest.raises(BadOption, match=r"to ludus\.make"):
        GymEnv(ludus.make("connect4"), rows=5)


@pytest.mark.parametrize("action", [1.7, "2", None, np.array([1])])
def test_an_action_that_is_no_integer_is_an_error(action):
    env = GymEnv("connect4", seat=0, **SMALL)
    env.reset(seed=0)
    players = AECEnv("connect4", **SMALL)
    players.reset(seed=0)
    for each in (env, players):
        with pytest.raises(IllegalMove, match="an action must be an integer, not"):
            each.step(action)
    assert env.position.played == []
    env.step(np.array(1))  # as Stable-Baselines3 gives it


def test_unknown_options_of_a_reset_are_errors():
    with pytest.raises(BadOption, match="reset has no option 'chair'; its options are seat"):
        GymEnv("connect4", **SMALL).reset(options={"chair": 1})
    with pytest.raises(BadOption, match="reset has no option 'seat'; its options are reset_mask"):
        VectorEnv("connect4", 2, **SMALL).reset(options={"seat": 1})
    with pytest.raises(BadOption, match="options of a reset must be a dictionary, not 'seat'"):
        GymEnv("connect4", **SMALL).reset(options="seat")


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_of_an_environment_plays_on_with_opponents_of_its_own(copied):
    env = GymEnv("connect4", opponents="uct:20", seat=0, **SMALL)
    env.reset(seed=1)
    env.step(0)
    other = copied(env)
    assert other.position.played == env.position.played
    assert other.opponents[0] is not env.opponents[0]
    other.step(1)
    assert len(other.position.played) == 4
    assert len(env.position.played) == 2
    env.step(1)
    assert play_episode(other, 5) == play_episode(env, 5)


def test_closing_an_environment_ends_the_programs_of_its_opponents():
    env = GymEnv("connect4", opponents=f"engine:{sys.executable} examples/engine.py", seat=0, **SMALL)
    env.reset(seed=1)
    process = env.opponents[0]._program._child.process
    env.close()
    assert process.poll() is not None
    with pytest.raises(IllegalMove, match="call reset"):
        env.step(0)
    play_episode(env, 1)
    env.close()
    env.close()


def test_importing_ludus_does_not_import_gymnasium():
    code = "import sys, ludus, ludus.agents; sys.exit('gymnasium' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


# --- PettingZoo -------------------------------------------------------------------------------------------------------


def quiet():
    """Warnings are errors, except the ones that PettingZoo's own games with masks would get but for their names."""
    warnings.simplefilter("error")
    for known in ("Observation is not a NumPy array", "Observation space for each agent probably", "Observation numpy"):
        warnings.filterwarnings("ignore", known)


@pytest.mark.parametrize(("game", "options"), [("connect4", SMALL), ("roshambo", {"rounds": 3}), ("laststone", {})])
def test_the_checks_of_pettingzoo_pass(game, options):
    def make(**given):
        return AECEnv(game, **options, **given)

    def make_parallel():
        return ParallelEnv(game, **options)

    with warnings.catch_warnings():
        quiet()
        api_test(make(), num_cycles=50)
        seed_test(make, num_cycles=50)
        render_test(make)
        parallel_api_test(make_parallel(), num_cycles=50)
        parallel_seed_test(make_parallel, num_cycles=50)


def test_the_players_of_an_aec_environment_play_the_game():
    env = AECEnv("laststone")
    env.reset(seed=1)
    turns, random = [], np.random.default_rng(2)
    for agent in env.agent_iter():
        seen, reward, over, _, _ = env.last()
        turns.append(agent)
        if over:
            assert reward == env.position.values[env.players[agent]]
            env.step(None)
        else:
            assert np.array_equal(seen["observation"], env.position.observe(env.players[agent]))
            env.step(random_action(seen["action_mask"], random))
    assert turns[:4] == ["player_0", "player_1", "player_2", "player_0"]
    assert env.position.is_over


def test_simultaneous_choices_are_hidden_until_all_are_made():
    env = AECEnv("roshambo", rounds=1, **ONE_RULE)
    env.reset(seed=1)
    before = env.observe("player_1")["observation"]
    env.step(0)
    assert env.agent_selection == "player_1"
    assert np.array_equal(env.observe("player_1")["observation"], before)
    env.step(1)
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}


def test_an_illegal_action_ends_the_game_for_all():
    env = AECEnv("laststone")
    env.reset(seed=1)
    env.step(99)
    assert list(env.rewards.values()) == [-1.0, 0.0, 0.0]
    assert all(env.terminations.values())
    assert env.infos["player_2"] == {"illegal_action": True}
    strict = AECEnv("laststone", illegal="raise")
    strict.reset(seed=1)
    with pytest.raises(IllegalMove, match="action 99 of player_0 is not legal"):
        strict.step(99)


def test_a_parallel_environment_ignores_players_without_a_choice():
    env = ParallelEnv("laststone")
    seen, infos = env.reset(seed=1)
    assert [infos[agent]["choice"] for agent in env.agents] == [True, False, False]
    assert seen["player_1"]["action_mask"].tolist() == [1] + [0] * (env.game.actions - 1)
    env.step({"player_0": 0, "player_1": 2})
    assert env.position.played == [env.position.parent.notation(0)]
    with pytest.raises(IllegalMove, match="the action of player_1 is missing"):
        env.step({"player_0": 0})
    _, rewards, over, _, _ = env.step({"player_1": 99})
    assert str(rewards) == "{'player_0': 0.0, 'player_1': -1.0, 'player_2': 0.0}"  # no -0.0
    assert all(over.values())
    assert env.agents == []


def test_a_game_that_is_over_at_its_start_has_nobody_to_ask(tmp_path):
    game = ludus.make(str(write_heap(tmp_path)), heap=0)
    env = AECEnv(game)
    env.reset(seed=1)
    rewards = {}
    for agent in env.agent_iter():
        _, rewards[agent], over, _, _ = env.last()
        assert over
        env.step(None)
    assert rewards == {"player_0": -1.0, "player_1": 1.0}
    parallel = ParallelEnv(game)
    assert parallel.reset(seed=1) == ({}, {})
    assert parallel.agents == []


# --- many games at once -----------------------------------------------------------------------------------------------


def test_a_vector_environment_is_made_by_its_id():
    envs = gymnasium.make_vec("ludus/Connect4-v0", num_envs=3, vectorization_mode="vector_entry_point", **SMALL)
    assert isinstance(envs.unwrapped, VectorEnv)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    seen, infos = envs.reset(seed=1)
    assert seen in envs.observation_space
    random, episodes = np.random.default_rng(0), 0
    for _ in range(30):
        chosen = np.array([random_action(mask, random) for mask in infos["action_mask"]])
        assert chosen in envs.action_space
        seen, rewards, terminated, truncated, infos = envs.step(chosen)
        assert seen in envs.observation_space
        assert not truncated.any()
        assert not rewards[~terminated].any()
        episodes += terminated.sum()
    assert episodes > 3


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_self_play_in_compiled_code_is_the_game_played_move_by_move(mode):
    envs = VectorEnv("connect4", 5, opponents="self", autoreset_mode=mode, **SMALL)
    seen, infos = envs.reset(seed=1)
    random, positions, ended = np.random.default_rng(0), [envs.game.start()] * 5, np.zeros(5, bool)
    endings = 0
    for _ in range(40):
        for index, position in enumerate(positions):
            if not ended[index]:
                player = infos["player"][index]
                assert player == position.to_move
                assert np.array_equal(seen[index], position.observe(player))
                assert np.flatnonzero(infos["action_mask"][index]).tolist() == position.actions
        chosen = [random_action(mask, random) if mask.any() else 0 for mask in infos["action_mask"]]
        seen, rewards, terminated, _, infos = envs.step(np.array(chosen))
        after = [Position(envs.game, envs.game.start().states)] * 5
        for index, (position, action) in enumerate(zip(positions, chosen, strict=True)):
            if ended[index]:
                assert not terminated[index]
                continue
            after[index] = position.play(action)
            assert terminated[index] == after[index].is_over
            if not terminated[index]:
                continue
            endings += 1
            mover = position.to_move
            ends = infos["final_info"] if mode is AutoresetMode.SAME_STEP else infos
            last = infos["final_obs"][index] if mode is AutoresetMode.SAME_STEP else seen[index]
            assert rewards[index] == after[index].values[mover]
            assert ends["values"][index].tolist() == list(after[index].values)
            assert ends["acted"][index] == mover
            assert np.array_equal(last, after[index].observe(mover))
            if mode is AutoresetMode.SAME_STEP:
                after[index] = envs.game.start()
        positions, ended = after, terminated & (mode is AutoresetMode.NEXT_STEP)
    assert endings > 5


def test_without_autoreset_games_are_begun_by_a_mask():
    envs = VectorEnv("connect4", 3, opponents="self", autoreset_mode="Disabled", illegal="lose", **SMALL)
    with pytest.raises(BadOption, match="without a reset_mask first"):
        envs.reset(options={"reset_mask": np.array([True, False, False])})
    first, _ = envs.reset(seed=1)
    seen, rewards, ended, _, infos = envs.step(np.array([99, 0, 1]))
    assert (rewards.tolist(), ended.tolist()) == ([-1.0, 0.0, 0.0], [True, False, False])
    assert infos["values"][0].tolist() == [-1.0, 0.0]
    assert not infos["action_mask"][0].any()
    with pytest.raises(IllegalMove, match="game 0 is over"):
        envs.step(np.array([0, 0, 0]))
    again, infos = envs.reset(options={"reset_mask": ended})
    assert np.array_equal(again[0], first[0])
    assert np.array_equal(again[1:], seen[1:])  # the other games go on
    assert infos["action_mask"].all()
    assert not envs.step(np.array([0, 0, 0]))[2].any()
    for mask in (np.array([1, 0, 0]), np.zeros(3, bool), np.ones(2, bool)):
        with pytest.raises(BadOption, match="reset_mask must be an array of 3 booleans"):
            envs.reset(options={"reset_mask": mask})


def test_a_mask_leaves_the_random_numbers_of_the_other_games_alone():
    def story(masked):
        envs = VectorEnv("laststone", 2, seat=1)
        envs.reset(seed=1)
        if masked:
            envs.reset(seed=2, options={"reset_mask": np.array([True, False])})
        return [envs.step(np.zeros(2, int))[0][1].tolist() for _ in range(12)]

    assert story(masked=True) == story(masked=False)


def test_random_opponents_play_up_to_the_next_choice_of_the_learner():
    envs = VectorEnv("laststone", 6, seat="alternate")
    _, infos = envs.reset(seed=4)
    assert infos["player"].tolist() == [0, 1, 2, 0, 1, 2]
    random = np.random.default_rng(0)
    results = []
    for _ in range(40):
        for index, player in enumerate(infos["player"]):
            position = envs.position(index)
            assert position.to_move == player
            assert np.flatnonzero(infos["action_mask"][index]).tolist() == position.actions
        before = infos["player"]
        chosen = [random_action(mask, random) for mask in infos["action_mask"]]
        _, rewards, terminated, _, infos = envs.step(np.array(chosen))
        for index in np.flatnonzero(terminated):
            values = infos["final_info"]["values"][index]
            assert rewards[index] == values[before[index]]
            assert infos["player"][index] == (before[index] + 1) % 3
            results.append(tuple(values))
    assert len(set(results)) == 3  # each player has won


def test_a_game_of_a_vector_is_found_by_its_index():
    envs = VectorEnv("connect4", 2, opponents="self", **SMALL)
    envs.reset(seed=1)
    envs.step(np.array([0, 1]))
    assert str(envs.position(-1)) == str(envs.position(1)) != str(envs.position(0))
    with pytest.raises(IndexError):
        envs.position(2)


def test_the_same_seed_gives_the_same_games_in_a_vector():
    def story(seed):
        envs = VectorEnv("roshambo", 4, rounds=2)
        seen, _ = envs.reset(seed=seed)
        steps = [envs.step(np.zeros(4, int)) for _ in range(6)]
        return [seen.tolist(), [(step[0].tolist(), step[1].tolist()) for step in steps]]

    assert story(3) == story(3) != story(4)


def test_illegal_actions_in_a_vector_end_their_games():
    envs = VectorEnv("connect4", 3, opponents="self", **SMALL)
    envs.reset(seed=1)
    _, rewards, terminated, _, infos = envs.step(np.array([0, 5, -3]))
    assert (rewards.tolist(), terminated.tolist()) == ([0.0, -1.0, -1.0], [False, True, True])
    assert infos["final_info"]["illegal_action"].tolist() == [False, True, True]
    assert infos["action_mask"].all()
    strict = VectorEnv("connect4", 2, illegal="raise", **SMALL)
    strict.reset(seed=1)
    with pytest.raises(IllegalMove, match="game 1: action 5 is not legal"):
        strict.step(np.array([0, 5]))
    with pytest.raises(IllegalMove, match="one action for each of the 2 games"):
        strict.step(np.array([0]))
    with pytest.raises(IllegalMove, match="actions must be integers, not float64"):
        strict.step(np.array([0.5, 1.5]))
    with pytest.raises(BadOption, match="autoreset_mode must be one of NextStep, SameStep, Disabled, not 'x'"):
        VectorEnv("connect4", 2, autoreset_mode="x")
    for count in (0, 2.5, "2", True):
        with pytest.raises(BadOption, match="num_envs must be a whole number from 1"):
            VectorEnv("connect4", count)
    with pytest.raises(Unsuitable, match="roshambo has simultaneous moves"):
        VectorEnv("roshambo", 2, opponents="self")


def test_each_game_of_a_vector_environment_may_have_its_own_seed():
    env = VectorEnv("sevn", 3, base=3)

    def begin(seed):
        return [board.tobytes() for board in env.reset(seed=seed)[0]]

    one, two, three = begin([3, 5, 3])
    assert one == three != two
    assert begin([5, 3, 5])[:2] == [two, one]
    for wrong in ([1, 2], [1, 2, -3], [1, 2, 0.5], "abc"):
        with pytest.raises(BadOption, match="seed"):
            env.reset(seed=wrong)
    goes_on, again, _ = begin([None, 5, 3])
    assert goes_on != two  # its random numbers went on
    assert again == two
    turns = VectorEnv("connect4", 2, opponents="random", seat="alternate", **SMALL)
    assert list(turns.reset(seed=[None, 7])[1]["player"]) == [0, 1]
