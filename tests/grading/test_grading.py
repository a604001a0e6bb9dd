"""Moves graded against the truth, which is found here once more by brute force."""

import dataclasses
import io
import random
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import ludus
from ludus.agents import make_agent
from ludus.cli import main
from ludus.errors import BadOption, Unsuitable
from ludus.grading import drawing
from ludus.grading.drawing import draw_positions
from ludus.grading.grades import ALL, Mean, _mean, grade_moves, moves_of
from ludus.grading.positions import PHASES, BadPositions, Known, Positions, at_most, read_positions, write_positions
from ludus.grading.truth import BitBully, Solver
from ludus.runs.config import Config, with_settings
from ludus.runs.run import Run
from ludus.search.solver import solve
from ludus.training.trainer import Trainer
from tests.training.small import SMALL

TICTACTOE = ludus.make("tictactoe")
CONNECT4 = ludus.make("connect4", rows=4, columns=4)
CHEAP = {"tictactoe": 0, "connect4": 8}
"""From how many plies on brute force takes no time worth counting."""


@pytest.fixture(scope="module")
def sets():
    return {game.name: draw_positions(game, 60, seed=3, limit=20.0) for game in (TICTACTOE, CONNECT4)}


class Rules(NamedTuple):
    """Both games as one: boards are texts of " xo", row after row from the bottom, and a line wins."""

    size: int
    line: int
    drops: bool
    """Do stones fall?"""


RULES = {"tictactoe": Rules(3, 3, False), "connect4": Rules(4, 4, True)}


@cache
def lines(rules):
    cells = range(rules.size)
    reach = range(rules.line)
    every = [
        [(x + k * right, y + k * up) for k in reach]
        for x in cells
        for y in cells
        for right, up in ((1, 0), (0, 1), (1, 1), (1, -1))
    ]
    inside = [line for line in every if all(x in cells and y in cells for x, y in line)]
    return [[y * rules.size + x for x, y in line] for line in inside]


@cache
def values_of(rules, board):
    """What each action is worth to the player to move, by trying everything."""
    mover = "xo"[board.count("x") > board.count("o")]
    values = {}
    for action in range(rules.size if rules.drops else rules.size**2):
        column = range(action, len(board), rules.size) if rules.drops else [action]
        free = [cell for cell in column if board[cell] == " "]
        if not free:
            continue
        after = board[: free[0]] + mover + board[free[0] + 1 :]
        if any(all(after[cell] == mover for cell in line) for line in lines(rules)):
            values[action] = 1.0
        else:
            values[action] = -max(values_of(rules, after).values()) if " " in after else 0.0
    return values


def brute_force(known):
    rows = known.position.text.split("/")[::-1]
    board = "".join(" " * int(each) if each.isdecimal() else each for row in rows for each in row)
    return values_of(RULES[known.position.game.name], board)


# --- the positions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tictactoe", "connect4"])
def test_values_are_those_of_brute_force(sets, name):
    cheap = [each for each in sets[name].known if each.plies >= CHEAP[name]]
    assert len(cheap) >= 30
    assert {value for each in cheap for value in each.values.values()} == {-1.0, 0.0, 1.0}
    for each in cheap:
        assert each.values == brute_force(each)


@pytest.mark.parametrize("name", ["tictactoe", "connect4"])
def test_positions_are_different_ones_of_every_phase(sets, name):
    known = sets[name].known
    assert [sum(each.phase == phase for each in known) for phase in PHASES] == [20, 20, 20]
    assert len({each.position.text for each in known}) == 60
    longest = {phase: max(each.plies for each in known if each.phase == phase) for phase in PHASES}
    shortest = {phase: min(each.plies for each in known if each.phase == phase) for phase in PHASES}
    assert longest["begin"] < shortest["middle"] <= longest["middle"] < shortest["end"]
    for each in known:
        assert len(each.values) > 1
        assert sum(cell in "xo" for cell in each.position.text) == each.plies
    assert sets[name].about["left_out"] == {}


def test_a_phase_that_has_no_more_positions_is_left_at_that():
    """Connect-4 with two in a line on 2 x 2 cells: the third stone wins, wherever it goes."""
    found = draw_positions(ludus.make("connect4", rows=2, columns=2, line=2), 300)
    assert {each.position.text for each in found.known} == {"2/2", "2/x1", "2/1x", "2/xo", "2/ox"}


def test_what_is_not_solved_in_time_is_left_out_and_counted(monkeypatch):
    class Slow(Solver):
        def values(self, position):
            return None if len(position.history) <= 3 else super().values(position)

    monkeypatch.setattr(drawing, "truth_of", lambda game, limit: Slow(game, limit))
    found = draw_positions(TICTACTOE, 30, limit=20.0)
    assert found.about["left_out"].keys() == {"begin"}
    assert 0 < found.about["left_out"]["begin"] <= drawing.UNSOLVED + 3 * 10
    assert min(each.plies for each in found.known) == 3
    monkeypatch.setattr(Slow, "values", lambda self, position: None)
    with pytest.raises(Unsuitable, match=r"none of 60 positions of tictactoe was solved within 0.5 s"):
        draw_positions(TICTACTOE, 30, limit=0.5)


def test_the_solver_goes_on_after_a_position_that_took_too_long():
    game = ludus.make("connect4")
    solver = Solver(game, 0.001)
    assert solver.values(game.start()) is None
    solver.limit = 60.0
    choose = random.Random(1)
    late = game.start()
    while len(late.history) < 31:
        late = game.start() if late.is_over else late.play(choose.choice(late.actions))
    assert solver.values(late) == solve(late).values


def test_bitbully_agrees_with_the_solver_and_reaches_openings():
    pytest.importorskip("bitbully")
    game = ludus.make("connect4").compile()
    truth, solver = BitBully(), Solver(game, 60.0)
    choose = random.Random(5)
    compared = []
    while len(compared) < 12:
        position = game.start()
        while not position.is_over and len(position.history) < 31:
            position = position.play(choose.choice(position.actions))
        if not position.is_over:
            compared.append(truth.values(position))
            assert compared[-1] == solver.values(position)
    assert {value for values in compared for value in values.values()} == {-1.0, 0.0, 1.0}
    assert truth.values(game.start()) == {0: -1.0, 1: -1.0, 2: 0.0, 3: 1.0, 4: 0.0, 5: -1.0, 6: -1.0}
    found = draw_positions(game, 12)
    assert found.about["solved_by"].startswith("bitbully ")
    assert [sum(each.phase == phase for each in found.known) for phase in PHASES] == [4, 4, 4]
    assert all(each.plies <= 14 for each in found.known if each.phase == "begin")


@pytest.mark.parametrize("name", ["laststone", "roshambo"])
def test_games_of_others_than_two_rivals_are_refused(name):
    with pytest.raises(Unsuitable, match=f"{name} cannot be solved"):
        draw_positions(ludus.make(name))


# --- the file ---------------------------------------------------------------------------------------------------------


def test_the_file_gives_back_what_was_written(sets, tmp_path):
    written = sets["connect4"]
    write_positions(tmp_path / "file.txt", written)
    read = read_positions(tmp_path / "file.txt", CONNECT4)
    assert read.known == written.known
    assert read.about == written.about
    lines = (tmp_path / "file.txt").read_text().splitlines()
    assert len(lines) == 65
    assert not any(":-0" in line for line in lines)
    assert lines[1] == "game: connect4(rows=4,columns=4,line=4)v1"


def test_values_between_win_and_loss_keep_their_differences(tmp_path):
    start = TICTACTOE.start()
    values = {action: (action - 4) / 7 for action in start.actions} | {3: 0.30000001192092896, 4: 0.3}
    write_positions(tmp_path / "file.txt", Positions(TICTACTOE, (Known(start, "begin", 0, values),)))
    assert read_positions(tmp_path / "file.txt", TICTACTOE).known[0].values == values


def test_the_same_seed_gives_the_same_file(sets, tmp_path):
    write_positions(tmp_path / "one.txt", sets["tictactoe"])
    write_positions(tmp_path / "same.txt", draw_positions(TICTACTOE, 60, seed=3, limit=20.0))
    write_positions(tmp_path / "other.txt", draw_positions(TICTACTOE, 60, seed=4, limit=20.0))
    one, same, other = ((tmp_path / f"{name}.txt").read_text() for name in ("one", "same", "other"))
    assert same == one
    assert set(other.splitlines()[5:]) != set(one.splitlines()[5:])


def replaced(number, old, new):
    def damage(text):
        lines = text.split("\n")
        assert old in lines[number - 1]
        lines[number - 1] = lines[number - 1].replace(old, new, 1)
        return "\n".join(lines)

    return damage


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda text: "", "is not a file of positions: it does not begin with 'Ludus positions, format 1'"),
        (lambda text: text[:36], "holds positions of tict, not of tictactoe()v1"),
        (lambda text: text[:60], "is damaged"),
        (lambda text: text[:-30], "is damaged"),
        (lambda text: "\n".join(text.split("\n")[:-2]), "is damaged (its fourth line says otherwise than its 59"),
        (lambda text: "\n".join(text.split("\n")[:5]), "is damaged"),
        (replaced(1, "format 1", "format 2"), "is of another version of Ludus"),
        (replaced(3, '"seed": 3', '"seed": 5'), "is damaged"),
        (replaced(10, "\t", " "), "is damaged (line 10: not enough values"),
        (replaced(10, ":", ":7"), "is no value from -1 to 1"),
        (replaced(10, ":", "9:"), "is damaged (line 10: the legal actions are"),
        (replaced(10, "begin", "end"), "is damaged"),
        (replaced(10, "/", "/x"), "is damaged (line 10: position text"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(sets, tmp_path, damage, says):
    path = tmp_path / "file.txt"
    write_positions(path, sets["tictactoe"])
    path.write_text(damage(path.read_text()))
    with pytest.raises(BadPositions) as refused:
        read_positions(path, TICTACTOE)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_of_another_game_a_missing_one_and_none_at_all_are_refused(sets, tmp_path):
    path = tmp_path / "file.txt"
    write_positions(path, sets["connect4"])
    with pytest.raises(BadPositions, match=r"holds positions of connect4\(rows=4,.* not of connect4\(rows=6,"):
        read_positions(path, ludus.make("connect4"))
    with pytest.raises(BadPositions, match="there is no file of positions"):
        read_positions(tmp_path / "nowhere.txt", CONNECT4)
    with pytest.raises(BadPositions, match="is not a file of positions that can be read"):
        read_positions(tmp_path, CONNECT4)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadPositions, match="is not a file of positions"):
        read_positions(path, CONNECT4)


# --- the grades -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tictactoe", "connect4"])
def test_perfect_play_makes_no_mistake(sets, name):
    found = sets[name]
    moves = moves_of(make_agent("solver", found.game), found.known)
    for where_it_matters in (False, True):
        grades = grade_moves(found.known, moves, where_it_matters)
        assert list(grades) == [*PHASES, ALL]
        for grade in grades.values():
            assert (grade.kept.mean, grade.best.mean, grade.loss.mean) == (1.0, 1.0, 0.0)
            assert grade.kept.low < 1.0
            assert grade.loss.high > 0.0


@pytest.mark.parametrize("name", ["tictactoe", "connect4"])
def test_random_play_makes_as_many_mistakes_as_there_are_bad_moves(sets, name):
    known = [each for each in sets[name].known if each.plies >= CHEAP[name]]
    moves = moves_of(make_agent("random", sets[name].game), known, seed=1)
    for where_it_matters in (False, True):
        kept, losses = [], []
        for each in known:
            values = brute_force(each)
            best = max(values.values())
            if where_it_matters and set(values.values()) == {best}:
                continue
            kept.append(sum((value > 0) - (value < 0) == (best > 0) - (best < 0) for value in values.values()))
            kept[-1] /= len(values)
            losses.append(sum(best - value for value in values.values()) / len(values))
        grade = grade_moves(known, moves, where_it_matters)[ALL]
        assert grade.positions == len(kept)
        assert sum(kept) / len(kept) < 0.85
        assert grade.kept.low <= sum(kept) / len(kept) <= grade.kept.high
        assert grade.loss.low <= sum(losses) / len(losses) <= grade.loss.high
        assert grade.best == grade.kept  # games are only won, drawn or lost
        assert grade.kept.high - grade.kept.low < 0.5


def test_an_outcome_can_be_kept_without_the_best_move():
    start = TICTACTOE.start()
    values = dict.fromkeys(start.actions, -1.0) | {0: 0.5, 1: 0.25}
    known = [Known(start, "begin", 0, values), Known(start, "end", 0, dict.fromkeys(values, 0.0))]
    grades = grade_moves(known, [1, 5])
    assert (grades["begin"].kept.mean, grades["begin"].best.mean, grades["begin"].loss.mean) == (1.0, 0.0, 0.25)
    assert (grades[ALL].kept.mean, grades[ALL].best.mean, grades[ALL].loss.mean) == (1.0, 0.5, 0.125)
    assert grade_moves(known, [5, 0])[ALL].loss.mean == 0.75
    assert grade_moves(known, [5, 0])[ALL].kept.mean == 0.5
    mattering = grade_moves(known, [1, 5], where_it_matters=True)
    assert list(mattering) == ["begin", ALL]
    assert mattering[ALL].positions == 1
    nothing = grade_moves(known[1:], [5], where_it_matters=True)
    assert nothing[ALL].positions == 0
    assert nothing[ALL].kept == Mean(0.0, 0.0, 1.0)


@pytest.mark.parametrize("chances", [(0.9, 0.07, 0.03), (0.5, 0.5, 0.0), (0.6, 0.1, 0.3)])
def test_the_interval_of_the_mean_loss_holds_the_truth(chances):
    choose = random.Random(7)
    truth = chances[1] + 2 * chances[2]
    held = 0
    for _ in range(1000):
        mean = _mean(choose.choices([0.0, 1.0, 2.0], chances, k=100), 2.0)
        held += mean.low <= truth <= mean.high
    assert held >= 940


def test_an_answer_does_not_depend_on_the_other_positions(sets):
    known = sets["tictactoe"].known
    agent = make_agent("uct:12", TICTACTOE)
    moves = moves_of(agent, known, seed=2)
    assert moves_of(agent, known[::-1], seed=2) == moves[::-1]
    assert moves_of(agent, at_most(known, 7), seed=2) == [moves[known.index(each)] for each in at_most(known, 7)]
    assert [each.phase for each in at_most(known, 6)] == ["begin", "begin", "middle", "middle", "end", "end"]
    assert moves_of(make_agent("random", TICTACTOE), known, seed=3) != moves_of(make_agent("random", TICTACTOE), known)


# --- while it trains --------------------------------------------------------------------------------------------------


def new_trainer(folder, **settings):
    return Trainer(Run.create(folder, TICTACTOE, with_settings(Config(), {**SMALL, **settings})))


def weights(trainer):
    return [value.numpy().tobytes() for value in trainer.learner.network.state_dict().values()]


def test_a_run_grades_itself_and_learns_the_same(sets, tmp_path):
    file = tmp_path / "file.txt"
    write_positions(file, sets["tictactoe"])
    settings = {"evaluate_every": 2, "evaluation_positions": str(file)}
    graded, plain = new_trainer(tmp_path / "graded", **settings), new_trainer(tmp_path / "plain")
    for trainer in (graded, plain):
        trainer.iterate()
        trainer.iterate()
        trainer.save()
    assert weights(graded) == weights(plain)
    assert [line["graded"] for line in plain.run.log()] == [None, None]
    first, second = (line["graded"] for line in graded.run.log())
    assert first is None
    known = sets["tictactoe"].known
    moves = moves_of(make_agent(f"policy:{graded.run.folder}", TICTACTOE), known)
    assert second == pytest.approx(grade_moves(known, moves)[ALL].kept.mean, abs=1e-5)
    assert 0 < second < 1
    file.unlink()  # the run has its own copy
    again = Trainer(Run.open(graded.run.folder))
    again.restore(2)
    for trainer in (again, plain):
        trainer.iterate()
        trainer.iterate()
    assert weights(again) == weights(plain)
    assert [line["graded"] is None for line in again.run.log()] == [True, False, True, False]


def test_a_run_whose_positions_are_missing_or_of_another_game_is_refused_before_it_begins(sets, tmp_path, run):
    with pytest.raises(BadOption, match="evaluate_every needs evaluation_positions"):
        with_settings(Config(), {"evaluate_every": 1})
    with pytest.raises(BadPositions, match="there is no file of positions"):
        new_trainer(tmp_path / "run", evaluate_every=1, evaluation_positions=str(tmp_path / "nowhere.txt"))
    write_positions(tmp_path / "file.txt", sets["connect4"])
    for file, says in (("nowhere.txt", "there is no file of positions"), ("file.txt", "holds positions of connect4")):
        settings = ("--set", "evaluate_every=1", "--set", f"evaluation_positions={file}")
        code, _, error = run("train", "tictactoe", "--run", "new", *settings)
        assert code == 2
        assert says in error
        assert "\n" not in error
    assert not Path("new").exists()


# --- as one types it --------------------------------------------------------------------------------------------------


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run a command in an empty folder: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr("sys.stdin", io.StringIO(""))
        code = main(arguments)
        shown = capsys.readouterr()
        return code, shown.out, "\n".join(line for line in shown.err.splitlines() if not line.startswith("Compiling "))

    return run


def test_the_command(run):
    code, shown, error = run("grade", "solver", "tictactoe", "--positions", "p.txt", "--count", "30", "--seed", "2")
    assert (code, error) == (0, "")
    assert shown.startswith("Tic-tac-toe: solver on 30 positions of p.txt in ")
    rows = [line.split() for line in shown.splitlines() if line.startswith(("begin", "middle", "end", "all"))]
    assert [row[0] for row in rows] == 2 * ["begin", "middle", "end", "all"]
    assert " ".join(rows[3]) == "all 30 100.0 (88.6 to 100.0) % 0.000 (0.000 to 0.227)"
    made = Path("p.txt").read_text()
    code, shown, _ = run("grade", "random", "tictactoe", "--positions", "p.txt", "--count", "12")
    assert code == 0
    assert "random on 12 positions of p.txt" in shown
    assert "100.0 (" not in next(line for line in shown.splitlines() if line.startswith("all"))
    assert Path("p.txt").read_text() == made
    known = read_positions(Path("p.txt"), TICTACTOE)
    assert dataclasses.astuple(known)[2]["seed"] == 2


def test_a_game_won_by_so_much_has_a_column_more(run):
    start = TICTACTOE.start()
    known = [Known(start, "begin", 0, dict.fromkeys(start.actions, 0.5) | {action: 0.75}) for action in start.actions]
    write_positions(Path("p.txt"), Positions(TICTACTOE, tuple(known)))
    shown = run("grade", "random", "tictactoe", "--positions", "p.txt")[1].splitlines()
    headings = ["positions", "kept", "the", "outcome", "best", "possible", "mean", "loss"]
    assert headings in [line.split() for line in shown]
    row = next(line for line in shown if line.startswith("all")).split()
    assert row[:3] == ["all", "9", "100.0"]
    best, loss = float(row[7]), float(row[12])
    assert best < 50
    assert loss == pytest.approx(0.25 * (100 - best) / 100, abs=0.001)


def test_too_few_positions_are_said(run):
    small = ("connect4", "-o", "rows=2", "-o", "columns=2", "-o", "line=2")
    assert "There were no more within reach: 5 of 30 wanted." in run("grade", "random", *small, "--count", "30")[1]


def test_positions_need_no_file(run):
    code, shown, error = run("grade", "uct:20", "connect4", "-o", "rows=3", "-o", "columns=3", "--count", "9")
    assert (code, error) == (0, "")
    assert "--positions FILE keeps these positions" in shown
    assert "wanted" not in shown
    assert not list(Path().iterdir())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["uct", "laststone"], "laststone cannot be solved: that needs two players"),
        (["human", "tictactoe"], "people are not graded"),
        (["nobody", "tictactoe"], "no agent is called 'nobody'"),
        (["zero:nowhere", "tictactoe"], "nowhere is not a run"),
        (["random", "tictactoe", "--count", "0"], "count must be at least 1 and at most 100,000, not 0"),
        (["random", "tictactoe", "--count", "2"], "count must be at least 3"),
        (["random", "tictactoe", "--limit", "5"], "--limit must be a time above 0"),
        (["random", "tictactoe", "--positions", "no/such/p.txt"], "there is no folder no/such"),
        (["random", "tictactoe", "--positions", "broken.txt"], "broken.txt is not a file of positions"),
        (["random", "tictactoe", "--positions", "connect4.txt"], "connect4.txt holds positions of connect4(rows=4"),
        (["random"], "missing argument 'GAME'"),
    ],
)
def test_a_mistake_gets_one_line_and_exit_code_2(run, sets, tmp_path, arguments, says):
    (tmp_path / "broken.txt").write_text("broken")
    write_positions(tmp_path / "connect4.txt", sets["connect4"])
    code, _, error = run("grade", *arguments)
    assert code == 2
    assert error.startswith("ludus: ")
    assert says in error
    assert "\n" not in error
