"""Matches: seats change, starts are shared, seeds repeat, and points add up."""

import pytest

from ludus import make
from ludus.agents import Choice, make_agent
from ludus.arena import play_game, play_match
from ludus.errors import BadAgent, BadOption

TICTACTOE = make("tictactoe")


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
    assert len({*one.seeds, *other.seeds}) == 20
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


def test_progress_is_told_after_every_move():
    seen = []
    play_match(TICTACTOE, [First("a"), First("b")], 2, progress=lambda result, _: seen.append(len(result.games)))
    assert seen == sorted(seen)
    assert seen[-1] == 2


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
