"""Matches: seats change, starts are shared, seeds repeat, and points add up."""

import functools
import queue
import threading
from pathlib import Path

import pytest

import ludus
from ludus import make
from ludus.agents import Choice, make_agent
from ludus.arena import play_game
from ludus.arena import result as result_module
from ludus.arena.events import GameEnded, MatchFinished, MatchStarted, MovePlayed, VerdictReached
from ludus.arena.sequential import Sequential
from ludus.errors import BadAgent, BadOption

TICTACTOE = make("tictactoe")
play_match = functools.partial(ludus.play_match, parallel=1)  # in this process


class First:
    """Always the first legal action, or one that is told; keeps the seeds that it was given."""

    def __init__(self, name, action=None):
        self.name, self.action, self.seeds = name, action, []

    def choose(self, position, budget=None, player=None, progress=None):
        action = position.actions_of(player)[0] if self.action is None else self.action
        return Choice(player, action, "?")

    def new_game(self, seed):
        self.seeds.append(seed)


def test_a_game_is_played_to_its_end():
    seen = []
    last = play_game(TICTACTOE.start(), [First("a"), First("b")], watch=seen.append)
    assert last.is_over
    assert seen[-1] is last
    assert len(seen) == len(last.played)


def test_seats_change_and_starts_are_shared():
    result = play_match(TICTACTOE, [First("a"), First("b")], 6)
    assert [record.seats for record in result.games] == [(0, 1), (1, 0)] * 3
    starts = [record.seed for record in result.games]
    assert starts[0] == starts[1] != starts[2] == starts[3] != starts[4]


def test_three_seats_go_round():
    game = make("laststone")
    result = play_match(game, [First("a"), First("b"), First("c")], 6)
    assert [record.seats for record in result.games[:3]] == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    assert len({record.seed for record in result.games[:3]}) == 1
    # Everyone always takes one of 12 stones, so the third seat takes the last one and the first comes second.
    assert [result.tally(agent, 2) for agent in range(3)] == [(2, 0, 0)] * 3
    assert [result.tally(agent) for agent in range(3)] == [(2, 2, 2)] * 3
    assert [result.score(agent).mean for agent in range(3)] == [0.5] * 3


def test_every_agent_has_a_seed_of_its_own_in_every_game():
    one, other = First("a"), First("b")
    play_match(TICTACTOE, [one, other], 10, seed=3)
    assert len({*one.seeds[1:], *other.seeds[1:]}) == 20  # the first call only gets them ready
    again = First("a")
    play_match(TICTACTOE, [again, First("b")], 10, seed=3)
    assert again.seeds == one.seeds


def test_the_seed_repeats_the_match():
    def moves(seed):
        return [record.moves for record in play_match(TICTACTOE, ["uct:50", "random"], 6, seed).games]

    assert moves(1) == moves(1) != moves(2)
    assert len(set(moves(1))) > 1  # and its games differ


def test_points_add_up():
    result = play_match(TICTACTOE, ["random", "greedy"], 40, seed=1)
    for seat in (0, 1, None):
        wins, draws, losses = result.tally(0, seat)
        other = result.tally(1, None if seat is None else 1 - seat)
        assert other == (losses, draws, wins)
        assert wins + draws + losses == (40 if seat is None else 20)
    wins, draws, _ = result.tally(1)
    assert result.score(1).mean == pytest.approx((wins + draws / 2) / 40)
    assert result.score(0).mean + result.score(1).mean == pytest.approx(1.0)
    assert result.score(1).low > 0.5


def test_a_record_can_be_played_again():
    result = play_match(TICTACTOE, ["random", "random"], 2)
    for record in result.games:
        position = TICTACTOE.start(record.seed)
        for action in record.actions:
            position = position.play(action)
        assert position.is_over
        assert position.values == record.values
        assert tuple(position.played) == record.moves


def test_perfect_play_never_loses():
    result = play_match(TICTACTOE, ["solver", "random"], 20)
    assert result.tally(0)[2] == 0
    assert result.tally(0)[0] > 10


def test_everyone_moves_at_once():
    result = play_match(make("roshambo", rounds=2), ["random", "random"], 4)
    assert all(len(record.actions) == 2 and len(record.actions[0]) == 2 for record in result.games)


def test_events_tell_every_move_and_every_game():
    seen = []
    result = play_match(TICTACTOE, [First("a"), First("b")], 2, on_event=seen.append)
    assert seen[0] == MatchStarted(result, 1)
    assert seen[-1] == MatchFinished(result)
    assert [event.record for event in seen if isinstance(event, GameEnded)] == result.games
    plies = [event.plies for event in seen if isinstance(event, MovePlayed)]
    assert plies == [*range(1, len(result.games[0].moves) + 1), *range(1, len(result.games[1].moves) + 1)]
    assert len(seen) == len(plies) + 4
    assert (result.ending, result.played) == ("finished", 2)


def test_events_of_games_in_other_processes():
    seen = []
    result = ludus.play_match(TICTACTOE, ["random", "random"], 4, parallel=2, on_event=seen.append)
    assert seen[0] == MatchStarted(result, 2)
    assert [event.record for event in seen if isinstance(event, GameEnded)] == result.games
    assert any(isinstance(event, MovePlayed) for event in seen)
    assert seen[-1] == MatchFinished(result)


@pytest.mark.parametrize("parallel", [1, 2])
def test_a_match_stopped_from_another_thread_keeps_the_games_that_ended(parallel, tmp_path):
    """The other thread sets the signal when it hears of the fourth game."""
    stop, heard = threading.Event(), queue.SimpleQueue()

    def listen():
        while not (isinstance(event := heard.get(), GameEnded) and event.result.played >= 4):
            pass
        stop.set()

    listener = threading.Thread(target=listen)
    listener.start()
    results = tmp_path / "results.sqlite"
    options = {"parallel": parallel, "results": results, "on_event": heard.put, "stop": stop}
    result = ludus.play_match(TICTACTOE, ["random", "random"], 10**12, **options)
    listener.join()
    assert result.ending == "stopped"
    assert 4 <= result.played == len(result.games) < 10_000
    assert sum(result.tally(0)) == result.played
    with ludus.open_results(results) as store:  # whole starts are recorded
        assert store.count(TICTACTOE.identity) == result.recorded == 2 * result.pairs
    assert result.recorded >= 4


def test_a_signal_that_is_set_before_stops_at_once():
    stop = threading.Event()
    stop.set()
    result = play_match(TICTACTOE, ["random", "random"], 4, stop=stop)
    assert (result.ending, result.played) == ("stopped", 0)
    assert result.score(0).mean == 0.5
    assert result.p_value is None


def test_a_test_ends_the_match_with_a_verdict():
    seen = []
    test = Sequential(by=100)
    result = play_match(TICTACTOE, ["solver", "random"], test=test, on_event=seen.append)
    assert (result.ending, result.verdict, result.planned) == ("decided", "better", 10_000)
    assert seen[-2:] == [VerdictReached("better", result), MatchFinished(result)]
    assert result.played == 2 * result.test.pairs == 2 * result.pairs < 200
    assert result.p_value is None  # it would be too small: the match ended when it was decided
    assert test.pairs == 0  # the caller's own test is left alone


def test_default_numbers_of_games():
    assert play_match(TICTACTOE, ["random", "random"]).planned == 20
    assert play_match(make("laststone"), ["random", "random", "random"]).planned == 18


def test_a_match_compares_its_agents():
    result = play_match(TICTACTOE, ["solver", "random"], 20, seed=1)
    assert result.pairs == 10
    assert result.p_value < 0.01
    assert not result.repeats
    assert result.labels == ["solver", "random"]
    same = play_match(TICTACTOE, [First("a"), First("a")], 20)
    assert same.labels == ["a #1", "a #2"]
    assert (same.different, same.repeats) == (1, True)
    assert same.p_value == 1.0


def test_a_long_match_keeps_counting_when_it_no_longer_keeps_records(monkeypatch):
    monkeypatch.setattr(result_module, "KEPT", 10)
    result = play_match(TICTACTOE, ["random", "greedy"], 40, seed=1)
    assert (len(result.games), result.played, sum(result.tally(0)), result.pairs) == (10, 40, 40, 20)
    assert result.points(0) + result.points(1) == 40


def test_what_an_equal_time_cannot_be_given_to_is_refused():
    with pytest.raises(BadAgent, match="must be given by its name"):
        play_match(TICTACTOE, [First("a"), "random"], 2, equal_time=0.01)
    with pytest.raises(BadAgent, match="must be given by its name"):
        play_match(TICTACTOE, [First("a"), "random"], 2, results="x.sqlite")
    with pytest.raises(BadOption, match="parallel 1"):
        ludus.play_match(TICTACTOE, [First("a"), "random"], 2, parallel=2)
    assert not Path("x.sqlite").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"openings": -1}, "openings must be 0 to 1,000 random plies, not -1"),
        ({"openings": 10**9}, "openings must be 0 to 1,000 random plies"),
        ({"parallel": 0}, "parallel must be at least 1"),
        ({"parallel": 10**6}, "at most 256 games at once"),
        ({"move_limit": 0}, "move_limit must be a time above 0 seconds"),
        ({"move_limit": float("nan")}, "move_limit must be"),
        ({"move_limit": float("inf")}, "move_limit must be"),
    ],
)
def test_values_out_of_range_are_refused(options, says):
    with pytest.raises(BadOption, match=says):
        ludus.play_match(TICTACTOE, ["random", "random"], 2, **options)


def test_an_illegal_move_is_named():
    with pytest.raises(BadAgent, match="cheat chose action 99, which is not legal in the position"):
        play_match(TICTACTOE, [First("cheat", 99), First("b")], 2)


@pytest.mark.parametrize(
    ("agents", "games", "error", "says"),
    [
        (["random"], 2, BadAgent, "as many agents, not 1"),
        (["random"] * 3, 2, BadAgent, "as many agents, not 3"),
        (["random"] * 2, 3, BadOption, "multiple of 2 games"),
        (["random"] * 2, 0, BadOption, "multiple of 2 games"),
    ],
)
def test_what_cannot_be_played_is_refused(agents, games, error, says):
    with pytest.raises(error, match=says):
        play_match(TICTACTOE, agents, games)


def test_one_agent_cannot_sit_twice():
    agent = make_agent("random", TICTACTOE)
    with pytest.raises(BadAgent, match="an agent of its own"):
        play_match(TICTACTOE, [agent, agent], 2)
