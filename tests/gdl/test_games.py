"""Descriptions wherever Ludus takes a game: specs, positions, runs, results, worker processes and commands."""

import json
import os
import shutil
import subprocess
import sys
import warnings

import pytest

import ludus
from ludus import play_match
from ludus.agents.naming import make_agent
from ludus.cli import main
from ludus.errors import BadOption, BadPosition, ChangedRules, IllegalMove, UnknownGame, Unsuitable
from ludus.gdl import game as gdl_game
from ludus.gdl.described import GAMES
from ludus.gdl.game import SlowGame, game_of
from ludus.gdl.grounding import CannotGround, ground
from ludus.gdl.language import read_description
from ludus.gdl.limits import LIMITS
from ludus.gdl.reasoned import ReasonedGame
from ludus.gdl.sheets import names
from ludus.registry import remake, runs_code
from ludus.runs.config import Config, with_settings
from ludus.runs.files import BadRun
from ludus.runs.run import Run, detached, open_run
from ludus.spec import GameSpec

TICTACTOE = (GAMES / "tictactoe.kif").read_text()
SMALL = with_settings(Config(), {"network": "mlp", "blocks": 1, "width": 4})


@pytest.fixture
def file(tmp_path):
    (tmp_path / "mine").mkdir()
    path = tmp_path / "mine" / "rules.kif"
    path.write_text(TICTACTOE)
    return path


@pytest.fixture
def run(file, tmp_path):
    """A run with a checkpoint that was not trained."""
    game = ludus.make(file)
    run = Run.create(tmp_path / "run", game, SMALL)
    run.save(1, detached(SMALL.make_network(game).state_dict()), {}, {}, {})
    return run


# --- specs and positions ----------------------------------------------------------------------------------------------


def test_a_description_that_comes_with_ludus_is_made_by_its_name():
    game = ludus.make("gdl:tictactoe", longest="20")
    assert game.spec == GameSpec("gdl:tictactoe", {"longest": 20, "reasoner": False, "counters": True})
    assert game.identity == "gdl:tictactoe(longest=20,reasoner=False)v1"
    assert remake(GameSpec.from_json(json.dumps(game.spec.json()))).identity == game.identity


def test_a_file_is_made_by_its_path_and_needs_no_trust(file):
    game = ludus.make(file)
    assert game.spec == GameSpec(str(file), {"longest": 1000, "reasoner": False, "counters": True}, game.digest)
    assert game.identity == f"gdl:rules(longest=1000,reasoner=False)v1#{game.digest}"
    assert not runs_code(game.spec)
    position = game.start().play("(mark 1 1)")
    assert ludus.from_json(json.dumps(position.json)) == position


def test_changed_rules_are_told_and_changed_comments_are_not(file):
    spec = ludus.make(file).spec
    file.write_text("; other words\n" + TICTACTOE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        remake(spec, strict=True)
    file.write_text(TICTACTOE.replace("(init (control x))", "(init (control o))"))
    with pytest.warns(ChangedRules, match=r"rules\.kif has changed"):
        remake(spec)
    with pytest.raises(Unsuitable, match="has changed"):
        remake(spec, strict=True)


def test_a_description_without_a_file_has_no_spec():
    with pytest.raises(Unsuitable, match=r"save it in a \.kif file"):
        _ = game_of(read_description(TICTACTOE)).spec


def test_positions_are_written_and_read():
    game = ludus.make("gdl:tictactoe")
    position = game.start().play("(MARK 2 2)").play("(mark 1 3)")
    assert position.played == ["(mark 2 2)", "(mark 1 3)"]
    assert position.text.startswith("#2 (control x) (cell 1 1 blank)")
    assert game.parse(position.text) == position
    assert "(cell 2 2 x)" in str(position).splitlines()
    assert "(cell 2 2 x)" in position.json["board"]["facts"]
    with pytest.raises(IllegalMove, match=r"'\(mark 2 2\)' is not a legal move here; legal: \(mark 1 1\)"):
        position.play("(mark 2 2)")
    with pytest.raises(BadPosition, match=r"character 4: \(cell 9 9 x\) is no fact of gdl:tictactoe"):
        game.parse("#2 (cell 9 9 x)")
    with pytest.raises(BadPosition, match="is a variable"):
        game.parse("(cell 1 1 ?x)")


def test_joint_moves_are_written_with_commas_also_where_a_name_has_one(tmp_path):
    text = """(role a) (role b) (init (left 2)) (<= (legal ?r go,on) (role ?r)) (<= (legal ?r stop) (role ?r))
    (<= (next (left 1)) (true (left 2))) (<= (next (left 0)) (true (left 1))) (<= terminal (true (left 0)))
    (<= (goal ?r 50) (role ?r))"""
    (tmp_path / "commas.kif").write_text(text)
    position = ludus.make(tmp_path / "commas.kif").start()
    assert position.moves == ["go_on,go_on", "go_on,stop", "stop,go_on", "stop,stop"]
    assert position.play("go_on,stop").play("stop,stop").values == (0.0, 0.0)


# --- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("gdl:conect4", "no description is called gdl:conect4; there are babel, "),
        ("gdl:../games/babel", "no description is called"),
        ("nowhere/rules.kif", "there is no game file"),
    ],
)
def test_unknown_descriptions_get_one_line(name, told):
    with pytest.raises(UnknownGame, match=told):
        ludus.make(name)


def test_unknown_options_and_limits_get_one_line():
    with pytest.raises(BadOption, match="has no option 'rows'; its options are longest, reasoner, counters"):
        ludus.make("gdl:tictactoe", rows=3)
    with pytest.raises(BadOption, match="longest must be from 1 to 65535"):
        ludus.make("gdl:tictactoe", longest=0)


def test_without_clingo_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UnknownGame, match=r"games in GDL need clingo: pip install 'ludus\[gdl\]'"):
        ludus.make("gdl:tictactoe")
    assert ludus.make("gdl:tictactoe", reasoner=True).start().moves[0] == "(mark 1 1)"


def test_what_cannot_be_grounded_is_played_by_the_reasoner(monkeypatch):
    def refuse(description):
        raise CannotGround("grounding took longer than 60 s")

    monkeypatch.setattr(gdl_game, "ground", refuse)
    with pytest.warns(SlowGame, match=r"tictactoe\.kif: grounding took longer than 60 s; the game is played by"):
        game = ludus.make("gdl:tictactoe")
    assert isinstance(game, ReasonedGame)
    assert game.spec.options["reasoner"] is True
    assert isinstance(remake(game.spec), ReasonedGame)
    with pytest.raises(CannotGround):
        ludus.make("gdl:tictactoe", reasoner=False)


def test_ground_rules_that_are_too_large_are_not_read(monkeypatch):
    monkeypatch.setattr("ludus.gdl.grounding.MOST_BYTES", 1000)
    with pytest.raises(CannotGround, match="the ground rules are too large"):
        ludus.make("gdl:tictactoe", reasoner=False)


def test_a_hopeless_grounding_ends_when_its_rules_are_too_large_and_not_when_the_time_is_up(monkeypatch):
    rules = """(role r) (legal r go) (goal r 0) (<= terminal (far ?a ?b ?c ?d ?e ?f)) (<= (n ?x) (init (at ?x)))
        (<= (next (at ?y)) (true (at ?x)) (n ?y)) (init (at 0))
        (<= (far ?a ?b ?c ?d ?e ?f) (true (at ?a)) (true (at ?b)) (true (at ?c)) (true (at ?d)) (true (at ?e))
          (true (at ?f)) (distinct ?a ?f) (distinct ?b ?c))""" + "".join(f"(init (at {i}))" for i in range(1, 40))
    monkeypatch.setattr("ludus.gdl.grounding.MOST_BYTES", 1 << 20)
    monkeypatch.setattr("ludus.gdl.grounding.LONG_RULE", 10)  # splitting makes this one small
    with pytest.raises(CannotGround, match="the ground rules are too large: more than 1 MiB"):  # of some 70 GiB
        game_of(read_description(rules, "far.kif"), reasoner=False)


def test_a_grounding_that_uses_up_its_cpu_time_ends_before_the_time_of_waiting_is_up(monkeypatch):
    text = """(role r) (init (stack nil)) (legal r pop) (item a) (item b) (<= (legal r (push ?x)) (item ?x))
        (<= (next (stack ?s)) (pushed ?s)) (<= (pushed (cons ?x ?s)) (true (stack ?s)) (does r (push ?x)))
        (goal r 0) (<= terminal (true (stack pop)))"""
    monkeypatch.setattr(LIMITS, "grounding_cpu_seconds", 1.0)
    with pytest.raises(CannotGround, match="longer than 1 s of CPU time"):
        ground(read_description(text))


def test_a_relation_that_is_derived_for_what_is_asked_only_has_the_whole_time_for_grounding(monkeypatch):
    rules = """(role r) (init (on 1)) (legal r (flip 1)) (legal r (flip 2)) (goal r 50) (s 0 1) (s 1 2) (s 2 3)
        (<= (next (on ?x)) (does r (flip ?x))) (<= terminal (count 1 0 2))
        (<= (count 3 ?n ?n) (s ?n ?m)) (<= (count ?x ?n ?all) (s ?x ?y) (true (on ?x)) (s ?n ?m) (count ?y ?m ?all))
        (<= (count ?x ?n ?all) (s ?x ?y) (not (true (on ?x))) (count ?y ?n ?all))"""
    monkeypatch.setattr("ludus.gdl.grounding.LOOSE_SECONDS", 0.0)  # the time of those that cannot be derived as a whole
    assert game_of(read_description(rules, "count.kif"), reasoner=False).start().moves == ["(flip 1)", "(flip 2)"]


# --- runs, results and processes --------------------------------------------------------------------------------------


def test_a_run_keeps_a_copy_of_the_description_and_needs_no_trust(run, file):
    assert (run.folder / "source" / "rules.kif").read_text() == TICTACTOE
    shutil.rmtree(file.parent)
    opened = open_run(run.folder)
    assert opened.game.identity == run.trained
    assert opened.game.spec.source == str(run.folder / "source" / "rules.kif")


def test_a_run_goes_on_with_its_copy_if_the_file_has_changed(run, file):
    file.write_text(TICTACTOE.replace("(init (control x))", "(init (control o))"))
    with pytest.warns(ChangedRules, match="goes on with its own copy"):
        assert open_run(run.folder).game.start().to_move == 0
    with pytest.raises(BadRun, match="leave the file out to go on with the run's own copy"):
        Run.open(run.folder, ludus.make(file))


def test_a_copy_that_was_changed_is_refused(run):
    (run.folder / "source" / "rules.kif").write_text(TICTACTOE.replace("100", "90"))
    with pytest.raises(BadRun, match="is not what the run was made with"):
        open_run(run.folder)


def test_matches_are_played_in_worker_processes(run, file):
    result = play_match(ludus.make(file), ["random", f"policy:{run.folder}"], games=2, parallel=2)
    assert len(result.games) == 2


def test_another_process_makes_the_game_again_without_trust(file):
    code = "import json, sys, ludus; print(ludus.from_json(sys.stdin.read()).text)"
    position = ludus.make(file).start().play("(mark 3 3)")
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(position.json), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == position.text


# --- commands ---------------------------------------------------------------------------------------------------------


def test_games_are_listed(capsys):
    assert main(["games"]) == 0
    shown = capsys.readouterr().out
    assert all(f"gdl:{name} " in shown for name in names())


def test_gdl_check_lists_problems_with_their_places(tmp_path, capsys):
    path = tmp_path / "rules.kif"
    path.write_text(f"{TICTACTOE}\n(<= (legal x ?move) (true (control x)))\n(unused 1)")
    assert main(["gdl", "check", str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"error: rules.kif, line {TICTACTOE.count(chr(10)) + 2}, column 1: the variable ?move")
    assert lines[1].startswith("warning: rules.kif, line")
    assert lines[-1].endswith("1 error, 1 warning: it can be played")
    path.write_text(f"{TICTACTOE}\n(<= terminal q)\n(<= q (not q))")
    assert main(["gdl", "check", str(path)]) == 1
    assert capsys.readouterr().out.splitlines()[-1].endswith("1 error, 0 warnings: it cannot be played")
    assert main(["gdl", "check", "gdl:tictactoe"]) == 0


def test_gdl_check_of_text_that_is_no_description_is_one_line(tmp_path, capsys):
    (tmp_path / "rules.kif").write_text("(role x")
    assert main(["gdl", "check", str(tmp_path / "rules.kif")]) == 2
    assert capsys.readouterr().err == (
        "ludus: rules.kif, line 1, column 1: '(' is never closed, in '(role x'; add a ')'\n"
    )


@pytest.mark.parametrize("option", [[], ["reasoner"]])
def test_gdl_info_shows_roles_facts_and_moves(file, capsys, option, monkeypatch):
    if option:
        monkeypatch.setattr("ludus.terminal.gdl.make_file", lambda path: gdl_game.make_file(path, reasoner=True))
    assert main(["gdl", "info", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "roles       x o" in shown
    assert "9 cell/3" in shown if option else "29: 27 cell/3, 2 control/1" in shown
    assert "plies on average of" in shown


@pytest.mark.skipif(os.name != "posix", reason="limits as on Unix")
def test_a_process_with_a_lower_limit_of_its_own_grounds():
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)); "
        "from ludus.gdl.grounder import limit; limit(60, 8192); print(resource.getrlimit(resource.RLIMIT_AS)[0] >> 30)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "4\n"


def test_three_who_move_at_once_play_the_most_visited_move():
    game = ludus.make("gdl:babel")
    for seed in range(6):
        choice = make_agent("uct:60", game, seed).choose(game.start(), player=seed % 3)
        assert choice.visits[choice.actions.index(choice.action)] == max(choice.visits)
