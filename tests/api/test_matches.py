"""`ludus.rate`, `ludus.open_results` and `ludus.grade`; `ludus.play_match` is tested in tests/arena/test_match.py."""

import dataclasses
import queue
import subprocess
import sys
import threading

import pytest

import ludus
from ludus.agents import make_agent
from ludus.arena.events import ArenaFinished, ArenaProgress, ArenaStarted, EntrantLeftOut, GameLost
from ludus.arena.results import Results
from ludus.errors import BadAgent, BadOption
from ludus.grading.events import PositionAnswered, PositionSolved
from ludus.grading.grades import ALL
from ludus.grading.positions import PHASES, read_positions

GAME = ludus.make("tictactoe")


class SetAfter:
    """A queue of events whose reader, in another thread, sets a stop signal when it sees the one it waits for."""

    def __init__(self, wanted):
        self.stop, self.heard, self.wanted = threading.Event(), queue.SimpleQueue(), wanted
        self.thread = threading.Thread(target=self.listen)
        self.thread.start()

    def listen(self):
        while not self.wanted(self.heard.get()):
            pass
        self.stop.set()


def test_import_ludus_loads_nothing_heavy():
    script = "import sys, ludus; print(*sys.modules); ludus.play_match, ludus.rate, ludus.grade, ludus.open_results"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert not set(shown.split()) & {"numpy", "numba", "torch", "scipy", "rich"}


# --- rate -------------------------------------------------------------------------------------------------------------


def test_rate_plays_records_and_returns_a_table(tmp_path):
    seen = []
    file = tmp_path / "results.sqlite"
    table = ludus.rate(["uct:100", "greedy"], "tictactoe", results=file, games=24, parallel=2, on_event=seen.append)
    assert [row.place for row in table.rows] == [1, 2, 3]
    assert {row.label for row in table.rows} == {"random", "greedy", "uct:100"}
    (anchor,) = (row for row in table.rows if row.is_anchor)
    assert (anchor.label, anchor.rating) == ("random", 500.0)
    assert (table.game, table.players, table.games, table.file) == (GAME.identity, 2, 24, file)
    assert seen[0] == ArenaStarted(seen[0].game, ("random", "uct:100", "greedy"), file, 0, 0, 2, 1)
    assert isinstance(seen[0].game, ludus.Game)
    assert seen[-1] == ArenaFinished(table, 24, stopped=False)
    assert any(isinstance(event, ArenaProgress) for event in seen[1:-1])
    assert all(dataclasses.is_dataclass(event) for event in seen)
    with pytest.raises(dataclasses.FrozenInstanceError):
        seen[-1].games = 0

    again = []
    more = ludus.rate(["uct:100", "greedy"], GAME, results=file, games=6, parallel=1, on_event=again.append)
    assert again[0].games == 24  # it goes on from those
    assert more.games == 30
    with ludus.open_results(file) as results:
        assert results.ratings().rows == more.rows


def test_rate_stops_from_another_thread_and_keeps_everything(tmp_path):
    stopper = SetAfter(lambda event: isinstance(event, ArenaProgress) and event.games >= 4)
    options = {"results": tmp_path / "r.sqlite", "parallel": 1, "games": 10**12}
    table = ludus.rate(["greedy"], "tictactoe", **options, on_event=stopper.heard.put, stop=stopper.stop)
    stopper.thread.join()
    assert 4 <= table.games < 100_000
    with ludus.open_results(tmp_path / "r.sqlite") as results:
        assert results.count(GAME.identity) == table.games


@pytest.mark.usefixtures("misbehaving")
def test_rate_reports_agents_that_fail(tmp_path):
    seen = []
    agents = ["greedy", "misbehaving:cheat", "misbehaving:unmade"]
    table = ludus.rate(agents, GAME, results=tmp_path / "r.sqlite", games=12, parallel=1, on_event=seen.append)
    assert [event.name for event in seen if isinstance(event, EntrantLeftOut)] == ["misbehaving:unmade"]
    lost = [event for event in seen if isinstance(event, GameLost)]
    assert {event.label for event in lost} == {"misbehaving:cheat"}
    assert lost[0].reason.startswith("illegal move: ")
    assert table.failures == [("misbehaving:cheat", len(lost))]


def test_the_results_of_a_run_go_into_its_folder(run_that_plays, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = run_that_plays(1)
    table = ludus.rate([run.folder, "greedy"], games=4, parallel=1, simulations=2, every=1)
    assert table.file == run.folder / "results.sqlite"
    assert "zero:run@1:2" in table.labels.values()
    both = ludus.rate([run, str(run.folder)], games=2, parallel=1, simulations=2)
    assert both.file.name == "results.sqlite"
    assert both.file.parent != run.folder


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"minutes": 0}, "minutes must be above 0, not 0"),
        ({"minutes": float("inf")}, "minutes must be above 0, not inf"),
        ({"games": -1}, "games must be above 0, not -1"),
        ({"parallel": 0}, "parallel must be at least 1"),
        ({"openings": -1}, "openings must be 0 to 1,000"),
        ({"anchor_rating": float("nan")}, "anchor_rating must be a finite number"),
        ({"move_limit": 0}, "move_limit must be a time above 0"),
        ({"series": "before:1"}, "a series is about the checkpoints of a run"),
        ({"simulations": -1}, "simulations is about the checkpoints of a run"),
        ({"every": 10**30}, "every is about the checkpoints of a run"),
        ({"anchor": "human"}, "people cannot play in the arena"),
    ],
)
def test_what_cannot_be_rated_is_refused(tmp_path, options, says):
    with pytest.raises(BadOption, match=says):
        ludus.rate(["greedy"], GAME, results=tmp_path / "r.sqlite", **options)


def test_simulations_out_of_range_are_refused(hollow_run):
    with pytest.raises(BadOption, match="simulations must be from 1 to 2147483647, not 1000000000000"):
        ludus.rate([hollow_run(1)], simulations=10**12)


# --- open_results -----------------------------------------------------------------------------------------------------


@pytest.fixture
def recorded(tmp_path):
    file = tmp_path / "results.sqlite"
    ludus.play_match(GAME, ["random", "uct:30"], 20, openings=1, parallel=1, results=file)
    return file


def test_results_give_ratings_by_any_method_and_anchor(recorded, monkeypatch):
    with ludus.open_results(recorded) as results:
        assert isinstance(results, Results)
        table = results.ratings()
        assert [row.label for row in table.rows] == ["uct:30", "random"]
        assert table.is_anchored
        assert table.advantage is not None
        other = results.ratings(anchor="uct:30", anchor_rating=1000.0)
        assert other.rows[0].rating == 1000.0
        assert results.ratings(method="seed").rows[0].rating != table.rows[0].rating
        for options, says in (
            ({"method": "elo"}, "method must be one of"),
            ({"anchor": "me"}, "no agent is called 'me'"),
        ):
            with pytest.raises(BadOption, match=says):
                results.ratings(**options)
    monkeypatch.chdir(recorded.parent)
    with ludus.open_results() as newest:  # the one in this folder
        assert newest.ratings().rows == table.rows


def test_results_draw_plots(recorded, tmp_path):
    with ludus.open_results(recorded) as results:
        for kind in ("times", "matrix", "move-times"):
            results.plot(results.ratings(), kind, tmp_path / f"{kind}.svg")
            assert (tmp_path / f"{kind}.svg").stat().st_size > 5000
        with pytest.raises(BadOption, match="the kind of plot must be one of"):
            results.plot(results.ratings(), "pie", tmp_path / "pie.svg")


def test_a_run_has_a_curve(run_that_plays):
    for number in range(1, 6):
        run = run_that_plays(number)
    table = ludus.rate([run], games=40, parallel=1, simulations=2)
    (curve,) = table.curves()
    assert curve.label == "zero:run:2"
    assert curve.iterations == (1, 2, 3, 4, 5)
    rated = {table.agents[row.name].checkpoint: row.rating for row in table.rows}
    assert curve.ratings == tuple(rated[number] for number in curve.iterations)
    assert {table.agents[row.name].checkpoint for row in table.latest()} == {None, 5}


# --- grade ------------------------------------------------------------------------------------------------------------


def test_grade_reports_every_phase(tmp_path):
    seen = []
    file = tmp_path / "positions.txt"
    report = ludus.grade("solver", "tictactoe", positions=file, count=30, seed=2, limit=20.0, on_event=seen.append)
    assert list(report.grades) == [*PHASES, ALL]
    assert report.grades[ALL].positions == 30
    assert report.grades[ALL].kept.mean == 1.0
    assert 0 < report.where_it_matters[ALL].positions < 30
    assert report.only_outcomes
    assert (report.agent, report.seed, report.file, report.stopped) == ("solver", 2, file, False)
    assert report.positions.about["seed"] == 2
    solved = [event for event in seen if isinstance(event, PositionSolved)]
    assert solved[-1] == PositionSolved(30, 30, 0)
    answered = [event for event in seen if isinstance(event, PositionAnswered)]
    assert answered == [PositionAnswered(number, 30) for number in range(1, 31)]

    again = ludus.grade(make_agent("random", GAME), GAME, positions=read_positions(file, GAME), count=12)
    assert (again.agent, len(again.known), again.file) == ("random", 12, None)
    assert again.grades[ALL].kept.mean < 1.0


@pytest.mark.parametrize("kind", [PositionSolved, PositionAnswered])
def test_grade_stops_from_another_thread(tmp_path, kind):
    """Answers so far are graded; a set of positions that was cut short is not kept as a file."""
    stopper = SetAfter(lambda event: isinstance(event, kind))
    file = tmp_path / "positions.txt"
    options = {"positions": file, "count": 90_000 if kind is PositionSolved else 60, "limit": 20.0}

    def tell(event):
        stopper.heard.put(event)
        if isinstance(event, PositionAnswered):
            stopper.stop.wait()  # the agent is quicker than the other thread

    report = ludus.grade("random", GAME, **options, on_event=tell, stop=stopper.stop)
    stopper.thread.join()
    assert report.stopped
    assert len(report.actions) == len(report.known) == (0 if kind is PositionSolved else 1)
    assert report.grades[ALL].positions == len(report.known)
    assert file.exists() == (kind is PositionAnswered)


def test_what_cannot_be_graded_is_refused():
    with pytest.raises(BadOption, match="count must be at least 1 and at most 100,000"):
        ludus.grade("random", GAME, count=10**12)
    with pytest.raises(BadAgent, match="people are not graded"):
        ludus.grade("human", GAME)
