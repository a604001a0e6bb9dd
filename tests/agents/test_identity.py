"""Two spellings of one agent share an identity; agents that may differ in strength never do."""

import shutil

import pytest

from ludus import make
from ludus.agents import Budget, make_agent
from ludus.agents.identity import identify, identity, labels, with_time
from ludus.errors import BadAgent
from ludus.runs.files import BadRun

GAME = make("tictactoe")


@pytest.fixture
def run(hollow_run):
    return hollow_run(1, 2, 12).folder


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("uct", "uct:10000"),
        ("uct:10k", "uct:10000"),
        ("uct:c=0.7:1000", "uct:1000:c=0.70"),
        ("uct:c=1", "uct"),
        ("uct:memory=256MB:reuse=yes", "uct:transpositions=no"),
        ("uct:500ms", "uct:0.5s"),
        ("adversarial", "adversarial:2"),
        (" random", "random"),
        ("solver:memory=1GB", "solver:memory=1024MB"),
    ],
)
def test_spellings_of_one_agent(one, other):
    assert identity(one, GAME) == identity(other, GAME)
    assert identify(one, GAME).label == identify(other, GAME).label


DIFFERENT = ["uct", "uct:1000", "uct:1s", "uct:2s", "uct:c=0.7", "uct:reuse=no", "uct:transpositions=yes", "random",
             "greedy", "adversarial", "adversarial:3", "solver", "solver:5s", "uct:c=0.7:memory=1MB"]  # fmt: skip


def test_agents_that_differ():
    assert len({identity(name, GAME) for name in DIFFERENT}) == len(DIFFERENT)
    assert len({identify(name, GAME).label for name in DIFFERENT}) == len(DIFFERENT)


@pytest.mark.parametrize("name", [name for name in DIFFERENT if name not in ("greedy", "adversarial", "adversarial:3")])
def test_the_name_makes_the_same_agent_again(name):
    again = identify(name, GAME).name
    assert identity(again, GAME) == identity(name, GAME)
    assert make_agent(again, GAME).name == again


def test_the_defaults_are_those_of_the_agent():
    agent = make_agent("uct", GAME)
    text = identity("uct", GAME)
    for part in (f"budget={agent.budget}", f"c={agent.c}", f"memory={agent.memory}", f"reuse={agent.reuse}"):
        assert part in text


def test_the_version_is_part_of_it(monkeypatch):
    before = identity("uct", GAME)
    monkeypatch.setattr("ludus.__version__", "99.0")
    assert identity("uct", GAME) != before


def test_a_time_is_worth_what_the_machine_is(monkeypatch):
    before = identity("uct:1s", GAME), identity("uct:100", GAME)
    monkeypatch.setattr("ludus.agents.identity.this_machine", lambda: "another machine")
    after = identity("uct:1s", GAME), identity("uct:100", GAME)
    assert before[0] != after[0]
    assert before[1] == after[1]


def test_the_latest_checkpoint_is_resolved(run):
    latest = identify(f"zero:{run}", GAME)
    assert latest.text == identity(f"zero:{run}@12:400", GAME)
    assert latest.label == "zero:learned@12:400"
    assert latest.name == f"zero:{run}@12:400"
    assert (latest.run, latest.checkpoint) == (str(run), 12)
    different = [f"zero:{run}@{number}" for number in (1, 2, 12)] + [
        f"policy:{run}",
        f"rollout:{run}",
        f"zero:{run}:2s",
    ]
    assert len({identity(name, GAME) for name in different}) == len(different)
    with pytest.raises(BadRun, match="has no checkpoint 3"):
        identity(f"zero:{run}@3", GAME)


def test_the_network_is_part_of_it_and_the_folder_is_not(run):
    before = identity(f"zero:{run}@2", GAME)
    moved = run.rename(run.with_name("moved"))
    assert identity(f"zero:{moved}@2", GAME) == before
    (moved / "checkpoints" / "000002" / "player.safetensors").write_bytes(b"other weights")
    assert identity(f"zero:{moved}@2", GAME) != before
    shutil.rmtree(moved / "checkpoints")
    with pytest.raises(BadRun, match="no checkpoint yet"):
        identity(f"zero:{moved}", GAME)


def test_labels_that_two_share_are_told_apart():
    told = labels([("zero(network=a)", "zero:run@1"), ("zero(network=b)", "zero:run@1"), ("uct()", "uct")])
    assert told["uct()"] == "uct"
    assert len(set(told.values())) == 3


def test_equal_time():
    assert with_time("uct:1000:c=0.7", 2.0) == "uct:2s:c=0.7"
    assert with_time("random", 2.0) == "random"
    assert make_agent(with_time("uct", 0.25), GAME).budget == Budget(seconds=0.25)
    with pytest.raises(BadAgent, match="cannot be given a time"):
        with_time("adversarial:3", 1.0)


def test_people_have_none():
    with pytest.raises(BadAgent, match="not recorded"):
        identity("human", GAME)


def test_a_player_that_comes_with_ludus_has_its_own_weight_of_the_policy():
    hive, connect4 = make("hive"), make("connect4")
    assert "c=0.8" in identify("zero", hive).text
    assert "c=2.0" in identify("zero:c=2", hive).text
    assert "c=1.5" in identify("zero", connect4).text
    assert identify("zero:c=0.8", hive).text == identify("zero", hive).text
    assert make_agent("zero:threads=1", connect4).c == 1.5


def test_as_many_positions_wait_for_a_network_as_keep_its_threads_busy():
    game = make("tictactoe")
    names = {"zero:threads=1": 8, "zero:threads=3": 24, "zero:threads=3:batch=5": 5, "zero:engine=torch": 512}
    names["rollout"] = 512  # it plays games of a batch side by side
    assert {name: make_agent(name, game).batch for name in names} == names
