"""ludus match, arena, ratings and replay, as one types them."""

import io
import re

import pytest

import ludus
from ludus.agents import KINDS
from ludus.agents.identity import identify
from ludus.arena.store import Store
from ludus.cli import main

GAME = ludus.make("tictactoe")


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run a command in an empty folder: (exit code, standard output, standard error without lines of progress)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ludus.terminal.bar.EVERY", 3600.0)
    monkeypatch.setattr("ludus.terminal.arena.EVERY", 3600.0)

    def run(*arguments, typed=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = main(arguments)
        shown = capsys.readouterr()
        return code, shown.out, "\n".join(line for line in shown.err.splitlines() if not line.startswith("Compiling "))

    return run


@pytest.fixture
def recorded(tmp_path):
    """A file with eight games between random and uct:30."""
    agents = ["random", "uct:30"]
    with Store(tmp_path / "results.sqlite") as store:
        records = ludus.play_match(GAME, agents, 8, 1, openings=1, parallel=1).games
        store.add(GAME, [identify(agent, GAME) for agent in agents], records)
    return records


# --- match ------------------------------------------------------------------------------------------------------------


def test_a_match_on_all_cores_is_the_same_as_on_one(run):
    code, shown, error = run("match", "tictactoe", "uct:20", "random", "--games", "6", "--parallel", "2")
    assert (code, error) == (0, "")
    alone = run("match", "tictactoe", "uct:20", "random", "--games", "6", "--parallel", "1")[1]
    assert shown.splitlines()[1:] == alone.splitlines()[1:]  # the first line has the time
    assert "p = 0." in shown


def test_a_match_is_recorded_once(run):
    command = ("match", "tictactoe", "random", "uct:9", "--games", "4", "--parallel", "1", "--results", "all.sqlite")
    assert "4 games recorded in all.sqlite." in run(*command)[1]
    assert "0 games recorded in all.sqlite; 4 were there already: another --seed plays others." in run(*command)[1]
    assert run(*command, "--seed", "2")[0] == 0
    with Store.open("all.sqlite") as store:
        assert store.count(GAME.identity) == 8
        assert [each.label for each in store.identities().values()] == ["random", "uct:9"]


def test_a_sequential_test_stops_when_it_is_decided(run):
    code, shown, _ = run("match", "tictactoe", "solver", "random", "--test", "--parallel", "1", "--error", "0.01")
    assert code == 0
    games = int(re.search(r"(\d+) of 10,000 games", shown)[1])
    assert games < 200
    assert f"at an error of 1 %: solver is better than random, after {games // 2} pairs." in shown
    _, shown, _ = run("match", "tictactoe", "random", "solver", "--test", "--parallel", "1", "--by", "200")
    assert "random is not better than solver by 200 points" in shown
    assert "p = " not in shown  # it would be too small: the match ended when it was decided
    _, shown, _ = run("match", "tictactoe", "random", "random", "--test", "--parallel", "1", "--games", "4")
    assert "not decided, after 2 pairs" in shown


def test_games_that_repeat_are_pointed_out(run):
    play = (
        "match",
        "connect4",
        "solver",
        "solver",
        "-o",
        "rows=1",
        "-o",
        "columns=1",
        "--games",
        "10",
        "--parallel",
        "1",
    )
    assert "Only 1 of these games are different ones" in run(*play)[1]


def test_equal_time(run):
    code, shown, _ = run("match", "tictactoe", "uct:500000", "random", "--equal-time", "5ms", "--games", "2")
    assert code == 0
    assert "uct:0.005s" in shown


@pytest.mark.usefixtures("misbehaving")
def test_an_agent_that_fails_loses_and_the_match_goes_on(run):
    code, shown, error = run("match", "tictactoe", "misbehaving:hang", "random", "--games", "4", "--move-limit", "1")
    assert code == 0
    assert "0 / 0 / 4" in shown
    assert error == "lost by failing: hung: no answer in 1 s"


# --- ratings and replay -----------------------------------------------------------------------------------------------


def test_ratings(run, recorded):
    code, shown, error = run("ratings", "results.sqlite")
    assert (code, error) == (0, "")
    lines = shown.splitlines()
    assert lines[0] == f"{GAME.identity}: 8 games in results.sqlite"
    assert lines[3].split()[:2] == ["1", "uct:30"]
    assert lines[4].split()[:4] == ["2", "random", "500", "anchor"]
    assert "Moving first is worth" in shown
    assert run("ratings")[1] == shown  # the latest results are found
    seed = run("ratings", "results.sqlite", "--method", "seed")[1]
    assert seed.splitlines()[3].split()[1] == "uct:30"
    assert seed != shown
    fixed = run("ratings", "results.sqlite", "--anchor", "uct:30", "--anchor-rating", "1000")[1]
    assert fixed.splitlines()[3].split()[:4] == ["1", "uct:30", "1000", "anchor"]


def test_plots(run, recorded, tmp_path):
    for kind, file in (("matrix", "matrix.png"), ("times", "times.svg"), ("move-times", "move.png")):
        code, shown, error = run("ratings", "results.sqlite", "--plot", file, "--plot-kind", kind)
        assert (code, error) == (0, "")
        assert f"{file}: {kind}" in shown
        assert (tmp_path / file).stat().st_size > 5000
    code, _, error = run("ratings", "results.sqlite", "--plot", "learning.png")
    assert code == 2  # no checkpoints
    assert not (tmp_path / "learning.png").exists()


def test_replay_lists_the_latest_games(run, recorded):
    code, shown, _ = run("replay", "results.sqlite")
    assert code == 0
    numbers = [line.split()[0] for line in shown.splitlines()[1:9]]
    assert numbers == list("87654321")
    assert "ludus replay results.sqlite 8" in shown


def test_replay_shows_every_move_and_what_was_thought(run, recorded):
    code, shown, _ = run("replay", "results.sqlite", "1")
    assert code == 0
    record = recorded[0]
    position = GAME.start(record.seed)
    for number, move in enumerate(record.moves, 1):
        position = position.play(move)
        assert f"\n{number}. {move}" in shown
        assert str(position) in shown
    assert "(random opening)" in shown
    assert re.search(r"uct:30 \(.\): expects \d+ %, \d+ simulations, \d+\.\d\d s", shown)
    assert "Results: " in shown
    assert f"Moves: {' '.join(record.moves)}" in shown


@pytest.mark.usefixtures("misbehaving")
def test_replay_gives_the_reason_of_a_loss(run):
    assert run("match", "tictactoe", "misbehaving:cheat", "random", "--games", "2", "--results", "r.sqlite")[0] == 0
    shown = run("replay", "r.sqlite")[1]
    assert "(illegal move)" in shown
    shown = run("replay", "r.sqlite", "2")[1]
    assert "misbehaving:cheat (o) lost because it made an illegal move: misbehaving:cheat chose action 99" in shown
    assert "Lost by a crash, an illegal move or too much time: misbehaving:cheat 2." in run("ratings", "r.sqlite")[1]


# --- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["arena", "uct"], "name the game that these agents play, such as connect4"),
        (["arena", "runs/one", "-o", "rows=5"], "--option needs a --game"),
        (["arena", "nowhere"], "nowhere is not a run: it has no config.toml"),
        (["arena", "random", "--game", "tictactoe"], "the arena needs at least two different agents"),
        (["arena", "uct", "--game", "tictactoe", "--series", "before:1"], "a series is about the checkpoints of a run"),
        (["arena", "uct", "--game", "tictactoe", "--minutes", "0"], "minutes must be above 0"),
        (["arena", "uct", "--game", "tictactoe", "--minutes", "nan"], "minutes must be above 0"),
        (["arena", "uct", "--game", "tictactoe", "--parallel", "0"], "parallel must be at least 1"),
        (["arena", "uct", "--game", "tictactoe", "--openings", "2000"], "openings must be 0 to 1,000 random plies"),
        (["arena", "uct", "--game", "tictactoe", "--anchor-rating", "nan"], "anchor_rating must be a finite number"),
        (["arena", "human", "--game", "tictactoe"], "people cannot play in the arena"),
        (["arena"], "missing argument 'RUN|AGENT"),
        (["ratings"], "name a RUN or a FILE of results"),
        (["ratings", "nowhere.sqlite"], "there are no results at nowhere.sqlite yet"),
        (["ratings", "results.sqlite", "--method", "elo"], "method must be one of likelihood, seed, not 'elo'"),
        (["ratings", "results.sqlite", "--plot-kind", "pie"], "the kind of plot must be one of learning"),
        (["ratings", "results.sqlite", "--plot", "x.gif"], "ends in .png or .svg"),
        (["ratings", "results.sqlite", "--anchor", "uct:5"], "no agent is called 'uct:5' here"),
        (["ratings", "results.sqlite", "--game", "chess"], "holds no games of chess yet"),
        (["ratings", "results.sqlite", "--anchor-rating", "inf"], "anchor_rating must be a finite number"),
        (["replay", "results.sqlite", "99"], "has no game 99; games are numbered from 1 to 8"),
        (["replay", "results.sqlite", "9" * 30], "has no game 999999999999999999999999999999; games are numbered"),
        (["match", "tictactoe", "random", "random", "--openings", "-1"], "openings must be 0 to 1,000 random plies"),
        (
            ["match", "tictactoe", "random", "random", "--openings", "9" * 12],
            "openings must be 0 to 1,000 random plies",
        ),
        (["match", "tictactoe", "random", "random", "--parallel", "0"], "parallel must be at least 1"),
        (["match", "tictactoe", "random", "random", "--parallel", "9999"], "at most 256 games at once"),
        (["match", "tictactoe", "random", "random", "--move-limit", "nan"], "move_limit must be a time above 0"),
        (["match", "tictactoe", "random", "random", "--games", "0"], "a multiple of 2 games"),
        (["match", "tictactoe", "human", "random", "--parallel", "2"], "need one game at a time: parallel 1"),
        (["match", "tictactoe", "human", "random", "--results", "x.sqlite"], "games of people are not recorded"),
        (["match", "tictactoe", "solver", "uct", "--equal-time", "1s"], "solver cannot be given a time a move"),
        (["match", "tictactoe", "uct", "uct:5", "--equal-time", "5"], "--equal-time must be a time above 0"),
        (
            ["match", "tictactoe", "uct", "random", "--test", "--error", "0.7"],
            "the error must be above 0 and below 0.5",
        ),
        (["match", "tictactoe", "uct", "random", "--test", "--by", "1e9"], "at most 4000 points"),
        (["match", "laststone", "uct", "random", "random", "--test"], "a sequential test compares two agents"),
        (["match", "tictactoe", "uct", "random", "--results", "broken.sqlite"], "is not a file of results"),
    ],
)
def test_a_mistake_gets_one_line_and_exit_code_2(run, recorded, tmp_path, arguments, says):
    (tmp_path / "broken.sqlite").write_text("broken" * 1000)
    if arguments == ["ratings"]:
        (tmp_path / "results.sqlite").unlink()
    code, _, error = run(*arguments)
    assert code == 2
    assert error.startswith("ludus: ")
    assert says in error
    assert "\n" not in error


def test_agents_of_this_process_play_in_it(run, monkeypatch):
    from ludus.agents.random import RandomAgent

    monkeypatch.setitem(KINDS, "mine", lambda spec, game, seed: RandomAgent("mine", seed))
    assert run("match", "tictactoe", "mine", "random", "--games", "2")[0] == 0
    assert "parallel 1" in run("match", "tictactoe", "mine", "random", "--parallel", "2")[2]


def test_the_arena_of_a_run(run, run_that_plays):
    folder = run_that_plays(1).folder
    run_that_plays(2)
    (folder / "arena.toml").write_text('agents = ["uct:3"]\nsimulations = 3\nseries = "before:1 nearest:uct:1"\n')
    code, shown, error = run("arena", "run", "--games", "20", "--parallel", "1")
    assert (code, error) == (0, "")
    assert "Tic-tac-toe: 4 agents, 1 game at once, results in run/results.sqlite" in shown
    for label in ("zero:run@1:3", "zero:run@2:3", "uct:3", "random"):
        assert label in shown
    assert "20 games more" in shown
    assert "20 games in run/results.sqlite" in run("ratings", "run", "--plot", "learning.png")[1]
    assert "zero:run@" in run("replay", "run")[1]
    assert (folder / "results.sqlite").is_file()
