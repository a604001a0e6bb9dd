"""The grammar of agents' names, and what is said where it is not kept."""

import pytest

from ludus import make
from ludus.agents import KINDS, Budget, make_agent
from ludus.agents.naming import parse
from ludus.errors import BadAgent


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("10000", Budget(simulations=10_000)),
        ("10_000", Budget(simulations=10_000)),
        ("10k", Budget(simulations=10_000)),
        ("2.5k", Budget(simulations=2_500)),
        ("1M", Budget(simulations=1_000_000)),
        ("2s", Budget(seconds=2.0)),
        ("0.5s", Budget(seconds=0.5)),
        (".5s", Budget(seconds=0.5)),
        ("500ms", Budget(seconds=0.5)),
        ("1min", Budget(seconds=60.0)),
        (7, Budget(simulations=7)),
    ],
)
def test_budgets(text, budget):
    assert Budget.of(text) == budget
    assert Budget.of(str(budget)) == budget


@pytest.mark.parametrize(
    "text", ["0", "-1", "0s", "-2s", "0ms", "2.5", "1m", "10x", "", "s", "1e5", "nan", "2147483648"]
)
def test_bad_budgets(text):
    with pytest.raises(BadAgent) as caught:
        Budget.of(text)
    assert "\n" not in str(caught.value)


def test_a_name_is_taken_apart():
    spec = parse("uct:1000:c=0.7:reuse=no")
    assert (spec.kind, spec.budget, spec.options) == ("uct", Budget(simulations=1000), {"c": "0.7", "reuse": "no"})
    assert parse("uct:word").words == ["word"]


def test_options_reach_the_agent():
    game = make("tictactoe")
    agent = make_agent("uct:2s:c=0.7:transpositions=yes:memory=64MB:reuse=no", game)
    assert agent.name == "uct:2s:c=0.7:transpositions=yes:memory=64MB:reuse=no"
    assert (agent.c, agent.transpositions, agent.memory, agent.reuse) == (0.7, True, 64 << 20, False)
    assert agent.budget == Budget(seconds=2.0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("utc:100", "did you mean uct?"),
        ("zzz", "there are random, greedy"),
        ("", "there are random, greedy"),
        ("uct:0", "uct:0: a budget must be from 1"),
        ("uct:0s", "more than 0 seconds"),
        ("uct:10:20", "two budgets"),
        ("uct:10x", "is not a budget"),
        ("uct:fast", "'fast' is neither a budget"),
        ("uct:10:speed=3", "no option 'speed'; its options are c, transpositions, memory, reuse"),
        ("uct:10:c=much", "c must be a number from 0 on, not 'much'"),
        ("uct:10:c=-1", "c must be"),
        ("uct:10:reuse=perhaps", "reuse must be yes or no"),
        ("uct:10:memory=0MB", "memory must be a size"),
        ("random:10", "random takes no budget"),
        ("random:c=1", "it has no options"),
        ("solver:1000", "the solver's budget is a time"),
        ("human:2s", "human takes no budget"),
    ],
)
def test_bad_names(text, says):
    with pytest.raises(BadAgent) as caught:
        make_agent(text, make("tictactoe"))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "game", "says"),
    [
        ("greedy", "laststone", "the game has no heuristic"),
        ("solver", "laststone", "two players"),
        ("solver", "roshambo", "move in turn"),
    ],
)
def test_an_unsuitable_game_is_refused_early(text, game, says):
    with pytest.raises(BadAgent, match=says):
        make_agent(text, make(game))


def test_new_kinds_plug_in(monkeypatch):
    made = []
    monkeypatch.setitem(KINDS, "mine", lambda spec, game, seed: made.append((spec.words, game.name, seed)))
    make_agent("mine:runs/first", make("tictactoe"), seed=5)
    assert made == [(["runs/first"], "tictactoe", 5)]
