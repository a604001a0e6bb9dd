"""The player keeps its clock, and speaks as the course's referee expects."""

import pytest

from ludus.agents import KINDS
from ludus.agents.agent import Choice
from ludus.errors import BadAgent, LudusError
from ludus.protocols import cachex_player
from ludus.protocols.cachex_player import make_player
from tests.games.naive_cachex import Naive

REFEREE = ("red", "blue")


class FakeTime:
    """Processor time that passes only when somebody uses it."""

    def __init__(self):
        self.now = 0.0

    def process_time(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    fake = FakeTime()
    monkeypatch.setattr(cachex_player, "time", fake)
    return fake


@pytest.fixture
def agent(monkeypatch, clock):
    """An agent that takes the time it is given, or what `takes` says, for its last legal move."""

    class Agent:
        name = "fake"
        takes = None
        given = []
        fails = None

        def new_game(self, seed):
            pass

        def choose(self, position, budget):
            self.given.append(budget)
            clock.now += budget.seconds if self.takes is None else self.takes
            if self.fails:
                raise self.fails
            action = position.actions[-1]
            return Choice(position.to_move, action, position.notation(action))

    made = Agent()
    made.given = []
    monkeypatch.setitem(KINDS, "fake", lambda spec, game, seed: made)
    return made


def play(players, n):
    """As the course's referee does: both players are told every action."""
    naive = Naive(n)
    while not naive.result:
        colour = naive.mover
        action = players[naive.turn % 2].action()
        assert type(action) is tuple
        if action == ("STEAL",):
            naive.play("steal")
        else:
            kind, r, q = action
            assert (kind, type(r), type(q)) == ("PLACE", int, int)
            naive.play(f"{r},{q}")
        for player in players:
            player.turn(colour, action)
    return naive


@pytest.mark.parametrize("n", [3, 6])
def test_it_plays_whole_games_with_plain_tuples(n):
    one, other = make_player("greedy"), make_player("random")
    assert play([one("red", n), other("blue", n)], n).result == "red"
    assert play([other("red", n), one("blue", n)], n).result == "blue"


def test_it_steals_and_is_stolen_from():
    thief = make_player("greedy")("blue", 4)
    thief.turn("red", ("PLACE", 1, 2))
    assert thief.action() == ("STEAL",)
    victim = make_player("greedy")("red", 4)
    victim.turn("red", ("PLACE", 1, 2))
    victim.turn("blue", ("STEAL",))
    assert victim.position.text == "start 1,2 steal"
    assert victim.action()[0] == "PLACE"


@pytest.mark.parametrize("n", [3, 8, 10])
def test_it_never_uses_more_than_n_squared_seconds(n, agent, clock):
    players = [make_player("fake")(colour, n) for colour in REFEREE]
    assert play(players, n).result
    assert all(0.2 * n * n < player.clock.used < n * n for player in players)
    assert all(budget.simulations is None for budget in agent.given)
    assert clock.now == pytest.approx(sum(player.clock.used for player in players))


def test_the_seconds_can_be_set(agent, monkeypatch):
    assert make_player("fake", seconds=7.0)("red", 8).clock.limit == 7
    monkeypatch.setenv("LUDUS_SECONDS", "5")
    assert make_player("fake")("red", 8).clock.limit == 5
    monkeypatch.delenv("LUDUS_SECONDS")
    assert make_player("fake")("red", 8).clock.limit == 64


def test_a_budget_of_its_own_is_kept_but_never_beyond_the_clock(agent):
    player = make_player("fake:500")("red", 8)
    player.action()
    assert agent.given[-1].simulations == 500
    assert 0 < agent.given[-1].seconds < 64
    player = make_player("fake:1s")("red", 8)
    player.action()
    assert agent.given[-1].seconds == 1
    player.clock.used = 60
    player.action()
    assert 0 < agent.given[-1].seconds < 1


def test_it_moves_at_once_when_little_is_left(agent, clock):
    player = make_player("fake")("red", 5)
    player.clock.used = 24.6  # of 25
    asked = len(agent.given)
    action = player.action()
    assert action[0] == "PLACE"
    assert len(agent.given) == asked
    assert player.clock.used == 24.6


def test_an_agent_that_heeds_no_budget_is_not_asked_when_it_might_overrun(agent, clock):
    agent.takes = 4.0
    players = [make_player("fake")(colour, 5) for colour in REFEREE]
    play(players, 5)
    assert all(15 < player.clock.used <= 25 for player in players)


def test_an_agent_that_gives_up_is_replaced_for_the_move(agent):
    agent.fails = LudusError("not solved")
    assert make_player("fake")("red", 5).action()[0] == "PLACE"
    agent.fails = BadAgent("made for another game")
    with pytest.raises(BadAgent):
        make_player("fake")("red", 5).action()


def test_getting_ready_and_being_told_moves_count(agent, clock, monkeypatch):
    monkeypatch.setattr(type(agent), "new_game", lambda self, seed: setattr(clock, "now", clock.now + 1.5))
    player = make_player("fake")("red", 5)
    assert player.clock.used == 1.5


def test_the_module_has_a_player_by_the_environment(monkeypatch):
    monkeypatch.setenv("LUDUS_AGENT", "greedy")
    monkeypatch.delitem(vars(cachex_player), "Player", raising=False)
    made = cachex_player.Player
    assert made.agent_name == "greedy"
    assert cachex_player.Player is made
    monkeypatch.delitem(vars(cachex_player), "Player")
    monkeypatch.setenv("LUDUS_AGENT", "gredy")
    with pytest.raises(BadAgent, match="did you mean greedy"):
        cachex_player.Player  # noqa: B018
    with pytest.raises(AttributeError):
        cachex_player.Nothing  # noqa: B018


def test_agents_that_would_take_much_memory_are_told_to_take_little(agent, monkeypatch):
    monkeypatch.setitem(KINDS, "uct", KINDS["fake"])
    assert make_player("uct:2s").agent_name == "uct:2s:memory=64MB"
    assert make_player("uct:memory=1GB").agent_name == "uct:memory=1GB"
    assert make_player("fake").agent_name == "fake"
