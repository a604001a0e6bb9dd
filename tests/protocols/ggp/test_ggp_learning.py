"""Learning inside a start clock: the division of the clock, the choice of the agent, and the end in time."""

import threading
import time
from types import SimpleNamespace

import pytest

import ludus
from ludus.agents import make_agent
from ludus.agents.naming import parse
from ludus.agents.zero import player_named
from ludus.errors import BadAgent, BadOption
from ludus.protocols import ggp_learning
from ludus.protocols.ggp_learning import Chosen, Learning, NotLearned, learn_within
from ludus.stopping import NEVER, Deadline
from ludus.training.session import usual_folder
from tests.protocols.ggp.ggp_help import plain_game


class FakeRun:
    def __init__(self, count=1):
        self.count = count

    def checkpoints(self):
        return list(range(self.count))


def test_the_best_candidate_is_the_one_with_the_highest_mean_of_the_common_rounds():
    games = {"uct": [0.0, 1.0], "rollout:r": [1.0, -1.0, 1.0], "zero:r": [0.0, 0.5]}
    assert ggp_learning._best(games) == "uct"
    assert ggp_learning._best({"uct": [0.5], "rollout:r": [0.0], "zero:r": [0.5]}) == "zero:r"
    assert ggp_learning._best({"uct": [1.0], "rollout:r": [1.0], "zero:r": []}) == "uct"


def test_a_candidate_plays_its_role_and_the_time_ends_a_game():
    game = plain_game()
    agents = [make_agent("random", game, seed) for seed in range(3)]
    budget = ludus.Budget(simulations=1)
    values = {
        ggp_learning._play(game, agents[2], agents[:2], role, seed, budget, Deadline(60.0))[0]
        for seed in range(10)
        for role in range(2)
    }
    assert values <= {-1.0, 0.0, 1.0}
    assert len(values) > 1
    assert ggp_learning._play(game, agents[2], agents[:2], 0, 1, budget, Deadline(0.0)) is None


def test_training_and_choosing_end_when_the_clock_says_so(monkeypatch, tmp_path):
    seen = {}

    def slow_train(game, *, minutes, run, settings, on_event, stop):
        began = time.monotonic()
        while not stop.is_set():
            time.sleep(0.005)
        seen["training"] = time.monotonic() - began
        return FakeRun()

    def endless_choice(game, names, player, seconds, stop, seed, chosen):
        while not stop.is_set():
            time.sleep(0.005)
        chosen.agent = names[1]

    monkeypatch.setattr(ggp_learning, "LEAST_RESERVE", 0.2)
    monkeypatch.setattr(ggp_learning, "train", slow_train)
    monkeypatch.setattr(ggp_learning, "_choose", endless_choice)
    began = time.monotonic()
    chosen = learn_within(plain_game(), 2.0, folder=tmp_path / "run")
    assert time.monotonic() - began < 10.0
    assert 0 < seen["training"] < 8.0
    assert chosen.agent == f"rollout:{tmp_path / 'run'}"


def test_the_time_for_a_move_follows_from_the_length_of_games_that_agents_play(monkeypatch):
    seconds = []

    def play(game, candidate, partners, role, seed, budget, until):
        seconds.append(budget.seconds)
        return (0.5, 100) if len(seconds) < 27 else None

    monkeypatch.setattr(ggp_learning, "_play", play)
    chosen = Chosen()
    ggp_learning._choose(plain_game(), ["uct", "random", "uct:5"], None, 1000.0, NEVER, 0, chosen)
    assert seconds[:3] == [ggp_learning.LEAST_MOVE] * 3  # random games may be much shorter
    assert seconds[3:6] == pytest.approx([1000.0 / (7 * 3 * 100)] * 3, rel=0.2)
    assert seconds[6:9] == pytest.approx([1000.0 / (6 * 3 * 100)] * 3, rel=0.2)
    assert chosen.agent == "uct:5"


def test_a_stop_signal_ends_learning_at_once(monkeypatch, tmp_path):
    def train_until_stopped(game, *, minutes, run, settings, on_event, stop):
        while not stop.is_set():
            time.sleep(0.005)
        return FakeRun(0)

    monkeypatch.setattr(ggp_learning, "train", train_until_stopped)
    events = []
    began = time.monotonic()
    chosen = learn_within(plain_game(), 600.0, folder=tmp_path, stop=Deadline(0.1), on_event=events.append)
    assert time.monotonic() - began < 20.0
    assert chosen.agent == "uct"
    assert events == [NotLearned("the time was too short for a checkpoint")]


def test_a_game_without_a_network_is_played_by_uct(monkeypatch, tmp_path):
    def refuse(*given, **options):
        raise BadOption("network = mlp needs an observation")

    monkeypatch.setattr(ggp_learning, "train", refuse)
    events = []
    assert learn_within(plain_game(), 60.0, folder=tmp_path, on_event=events.append) == Chosen()
    assert [str(event) for event in events] == ["plain uct: network = mlp needs an observation"]


def test_a_network_is_learned_and_the_choice_is_by_games(monkeypatch, tmp_path):
    monkeypatch.setattr("ludus.training.preflight.SECONDS", 0.1)
    monkeypatch.setattr(ggp_learning, "FEWEST_ROWS", 1)
    game, folder, learned, events = ludus.make("tictactoe"), tmp_path / "run", threading.Event(), []
    ggp_learning.warm_up(game)

    def tell(event):
        events.append(event)
        if isinstance(event, Learning) and event.rows > 500:
            learned.set()

    run = ggp_learning._train(game, folder, 120.0, learned, 0, tell, None)
    assert run.checkpoints()
    chosen = Chosen(run=run)
    names = ["uct", f"rollout:{folder}", f"zero:{folder}"]
    began = time.monotonic()
    ggp_learning._choose(game, names, 1, 3.0, NEVER, 0, chosen)
    assert time.monotonic() - began < 30.0
    assert list(chosen.games) == names
    assert chosen.agent == ggp_learning._best(chosen.games)
    assert " plays" in str(chosen)


def test_too_few_expected_positions_are_not_worth_learning(monkeypatch, tmp_path):
    monkeypatch.setattr("ludus.training.preflight.SECONDS", 0.1)
    monkeypatch.setattr(ggp_learning, "FEWEST_ROWS", 1 << 40)
    events = []
    chosen = learn_within(ludus.make("tictactoe"), 60.0, folder=tmp_path / "run", on_event=events.append)
    assert chosen.agent == "uct"
    assert "positions could be learned from" in str(events[-1])


def test_the_usual_folder_of_a_run_can_be_named_in_an_agent():
    for name in ("gdl:tictactoe", "gdl:c=4 x 6", "gdl:d\N{LATIN SMALL LETTER U WITH DIAERESIS}ne", "connect4"):
        folder = usual_folder(SimpleNamespace(name=name))
        spec = parse(f"rollout:{folder}:2s")
        assert (spec.words, str(spec.budget)) == ([str(folder)], "2s")


def test_a_run_whose_path_has_a_colon_can_be_named_in_an_agent(tmp_path):
    folder = tmp_path / "gdl:tictactoe-1"
    folder.mkdir()
    assert player_named(parse(f"zero:{folder}@40:100:c=2")) == f"{folder}@40"
    with pytest.raises(BadAgent, match="name one run"):
        player_named(parse(f"zero:{folder}-2:100"))
