"""Who takes part in a run's arena, and which games a series asks for."""

import os
import time

import pytest

import ludus
from ludus.arena.ratings import Tally, fit
from ludus.arena.roster import MOST, YARDSTICKS, Plan, Roster, is_agent, read_plan, thinned
from ludus.arena.series import Series, read_series
from ludus.errors import BadOption
from ludus.runs.files import BadRun

GAME = ludus.make("tictactoe")


def roster_of(run, **plan):
    return Roster(GAME, "random", runs=[(run, Plan(**plan))])


def labels(roster):
    return [each.label for each in roster.entrants.values()]


def test_a_run_brings_its_checkpoints_and_yardsticks(hollow_run):
    roster = roster_of(hollow_run(1, 2))
    assert labels(roster) == ["random", *YARDSTICKS, "zero:learned@1:100", "zero:learned@2:100"]
    assert next(iter(roster.entrants)) == roster.anchor
    other = roster_of(hollow_run(3), simulations=7, agents=("uct:9",))
    assert labels(other) == ["random", "uct:9", *(f"zero:learned@{number}:7" for number in (1, 2, 3))]


def test_new_checkpoints_are_found(hollow_run):
    roster = roster_of(hollow_run(1))
    assert roster.refresh() == []
    hollow_run(2, 3)
    assert [each.checkpoint for each in roster.refresh()] == [2, 3]
    assert len(roster.entrants) == 4 + 3


def test_who_cannot_play_stays_away(hollow_run):
    roster = roster_of(hollow_run(1, 2))
    name = next(each.name for each in roster.entrants.values() if each.checkpoint == 2)
    roster.drop(name)
    assert roster.refresh() == []
    assert "zero:learned@2:100" not in labels(roster)
    assert "zero:learned@1:100" in labels(roster)


def test_one_agent_of_two_names_takes_part_once():
    roster = Roster(GAME, "random", ["uct", "uct:10000", "random"])
    assert labels(roster) == ["random", "uct:10000"]


def test_people_stay_out():
    with pytest.raises(BadOption, match="people cannot play in the arena"):
        Roster(GAME, "random", ["human"])


def test_many_checkpoints_are_thinned_out():
    assert thinned([1, 2, 5], None) == [1, 2, 5]
    for count in (MOST, MOST + 1, 100, 1000):
        some = thinned(list(range(1, count + 1)), None)
        assert MOST / 2 <= len(some) <= MOST + 1
        assert some[0] == 1
        assert some[-1] == count
    assert thinned(list(range(1, 12)), 5) == [1, 6, 11]
    # One more at a time: those that were chosen for good stay, until half of them go at once.
    before = thinned(list(range(1, 60)), None)[:-1]
    assert set(before) <= set(thinned(list(range(1, 61)), None))


def test_the_latest_waits_until_the_run_has_settled(hollow_run):
    run = hollow_run(*range(1, 31))
    assert [each.checkpoint for each in roster_of(run).entrants.values()][-1] == 29
    hour_ago = time.time() - 3600
    os.utime(run.checkpoint(30) / "player.safetensors", (hour_ago, hour_ago))
    assert [each.checkpoint for each in roster_of(run).entrants.values()][-2:] == [29, 30]


def test_agents_and_runs_are_told_apart():
    assert [is_agent(text) for text in ("uct", "zero:runs/a", "runs/a", "uct:100")] == [True, True, False, True]


def test_the_folder_of_a_run_may_say_what_its_arena_does(hollow_run):
    folder = hollow_run(1).folder
    assert read_plan(folder, series=None) == Plan()
    (folder / "arena.toml").write_text('series = "before:1"\nsimulations = 50\nagents = ["uct:7"]\n')
    assert read_plan(folder, every=None) == Plan("before:1", 50, None, ("uct:7",))
    assert read_plan(folder, simulations=9).simulations == 9
    for text, says in [
        ("serie = 1", "'serie' is none of series, simulations, every, agents"),
        ("simulations = 'many'", "simulations must be int, not 'many'"),
        ("every = 0", "every must be at least 1"),
        ("every =", "cannot be read"),
    ]:
        (folder / "arena.toml").write_text(text)
        with pytest.raises(BadOption, match=says):
            read_plan(folder)


def test_reading_a_series():
    assert read_series("before:1,10 nearest:uct:2") == Series((1, 10), (("uct", 2),))
    assert read_series("nearest:uct:1 nearest:adversarial:3") == Series((), (("uct", 1), ("adversarial", 3)))
    for text in ("", "before", "before:0", "before:x", "after:1", "nearest:uct", "nearest:utc:1", "nearest:uct:0"):
        with pytest.raises(BadOption, match="before:1,10 nearest:uct:2"):
            read_series(text)


@pytest.fixture
def roster(hollow_run):
    return roster_of(hollow_run(*range(1, 13)), agents=("uct:10", "uct:100", "uct:1000"))


def by_label(roster, pairs):
    return [tuple(roster.entrants[text].label.removeprefix("zero:learned").removesuffix(":100") for text in pair)
            for pair in pairs]  # fmt: skip


def test_every_checkpoint_against_the_one_before_and_the_one_ten_before(roster):
    pairs = by_label(roster, read_series("before:1,10").pairs(roster, fit([])))
    assert pairs[:4] == [("@12", "@11"), ("@12", "@2"), ("@11", "@10"), ("@11", "@1")]
    assert len(pairs) == 11 + 2
    assert pairs[-1] == ("@2", "@1")


def test_the_nearest_are_so_by_rating(roster):
    texts = {each.label: text for text, each in roster.entrants.items()}

    def beats(one, other, times):
        return Tally(texts[one], texts[other], times, 0, 10 - times)

    strong, weak = "zero:learned@12:100", "zero:learned@1:100"
    tallies = [
        beats("uct:10", "random", 7),
        beats("uct:100", "uct:10", 8),
        beats("uct:1000", "uct:100", 8),
        beats(strong, "uct:1000", 5),
        beats(weak, "random", 5),
    ]
    ratings = fit(tallies, roster.anchor)
    pairs = by_label(roster, read_series("nearest:uct:2").pairs(roster, ratings))
    assert pairs[:2] == [("@12", "uct:1000"), ("@12", "uct")]  # uct:100, shortened as above
    assert pairs[-2:] == [("@1", "uct:10"), ("@1", "uct")]
    assert ("@2", "uct:10") in pairs  # nobody has rated it: as the one before it
    assert len(pairs) == 24


def test_what_was_played_least_comes_next(roster):
    series = read_series("before:1")
    texts = [text for text, each in roster.entrants.items() if each.checkpoint]
    pairs = list(zip(texts[1:], texts[:-1], strict=True))
    games = [Tally(other, mine, 1, 0, 1) for mine, other in pairs if mine != texts[5]]
    assert series.next_pairing(roster, games, fit([]), []) == (texts[5], texts[4])
    assert series.next_pairing(roster, games, fit([]), [(texts[4], texts[5])]) == (texts[-1], texts[-2])
    assert series.next_pairing(Roster(GAME, "random", ["uct"]), [], fit([]), []) is None


def test_a_run_without_checkpoints_brings_only_yardsticks(hollow_run, tmp_path):
    run = hollow_run()
    assert labels(roster_of(run)) == ["random", *YARDSTICKS]
    with pytest.raises(BadRun, match="no checkpoint yet"):
        Roster(GAME, "random", [f"zero:{run.folder}"])
