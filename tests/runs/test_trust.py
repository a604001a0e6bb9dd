"""Runs, recipes and results of a user's own game: opened with its copy, never run without the user's word."""

import gc
import io
import json
import shutil
import sqlite3
import warnings

import onnx
import pytest

import ludus
from ludus import play_match
from ludus.agents import make_agent
from ludus.agents.identity import identify
from ludus.arena.store import Store
from ludus.cli import main
from ludus.errors import BadOption, ChangedRules, DamagedRun, Untrusted
from ludus.runs.config import Config, read_toml, with_settings, write_toml
from ludus.runs.files import BadRun
from ludus.runs.run import Run, detached, open_checkpoint
from tests.own_games import COUNTDOWN, HEAP, tell_tale, write_heap

SMALL = with_settings(Config(), {"network": "mlp", "blocks": 1, "width": 4})


def new_run(folder, game, config=SMALL):
    """A run with a checkpoint that was not trained."""
    run = Run.create(folder, game, config)
    run.save(1, detached(config.make_network(game).state_dict()), {}, {}, {})
    return run


@pytest.fixture
def file(tmp_path):
    return write_heap(tmp_path / "mine")


@pytest.fixture
def run(file, tmp_path):
    return new_run(tmp_path / "run", ludus.make(file, heap=7))


@pytest.fixture
def typed(capsys, monkeypatch, tmp_path):
    """Run a command in an empty folder: (exit code, standard output, standard error)."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def typed(*arguments, answer=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        code = main([str(each) for each in arguments])
        shown = capsys.readouterr()
        # Compiling and slow matches are announced there as well.
        return code, shown.out, "\n".join(line for line in shown.err.splitlines() if line.startswith("ludus: "))

    return typed


def rule_changed(file):
    file.write_text(HEAP.replace("action + 1", "min(action + 1, state.heap)"))


# --- the folder -------------------------------------------------------------------------------------------------------


def test_a_run_keeps_the_source_of_an_own_game(run, file):
    copies = {path.name: path.read_text() for path in (run.folder / "source").iterdir()}
    assert copies == {"heap.py": HEAP, "amounts.py": (file.parent / "amounts.py").read_text()}
    spec, _ = read_toml(run.folder / "config.toml")
    assert spec == ludus.make(file, heap=7).spec
    assert json.loads((run.folder / "about.json").read_text())["game"].endswith(f"#{spec.digest}")


def test_a_run_of_a_built_in_game_keeps_no_source_and_needs_no_trust(tmp_path):
    run = new_run(tmp_path / "run", ludus.make("tictactoe"))
    assert not (run.folder / "source").exists()
    assert Run.open(run.folder).game.identity == "tictactoe()v1"


def test_a_run_of_a_game_in_ordinary_python_is_opened_again(tmp_path):
    (tmp_path / "countdown.py").write_text(COUNTDOWN.replace("names", "nämes").replace('"ab"', '"a\\"b\\x7f😀"'))
    game = ludus.make(tmp_path / "countdown.py", heap=4)
    Run.create(tmp_path / "run", game, Config())
    (tmp_path / "countdown.py").unlink()
    assert Run.open(tmp_path / "run", trust=True).game.options_in_use() == {"heap": 4, "nämes": 'a"b\x7f😀'}


def test_a_run_of_a_game_of_openspiel_is_opened_again(tmp_path):
    pytest.importorskip("pyspiel")
    for number, name in enumerate(("hex(board_size=3)", "misere(game=tic_tac_toe())", "chess(longest=9)")):
        game = ludus.make(f"openspiel:{name}")
        Run.create(tmp_path / f"{number}", game, Config())
        assert Run.open(tmp_path / f"{number}").game.spec == game.spec


def test_a_game_that_cannot_be_made_again_is_not_trained(tmp_path):
    class Local(type(ludus.make("tictactoe"))):
        pass

    with pytest.raises(ludus.LudusError, match=r"save .*Local in a Python file"):
        Run.create(tmp_path / "run", Local(), Config())
    assert not (tmp_path / "run").exists()


# --- opening ----------------------------------------------------------------------------------------------------------


def test_a_run_is_opened_after_its_file_is_gone(run, file):
    shutil.rmtree(file.parent)
    with pytest.raises(Untrusted, match=r"run brings a game as Python code, .*source/heap.py \(checksum \w+, 1 helper"):
        Run.open(run.folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = Run.open(run.folder, trust=True)
    assert again.game.identity == run.game.identity
    assert again.load_player()[1]["iteration"] == 1
    moved = run.folder.rename(run.folder.with_name("elsewhere"))
    assert open_checkpoint(f"{moved}@1", trust=True)[0].game.spec.source == str(moved / "source" / "heap.py")


def test_a_game_that_the_user_names_runs_nothing_of_the_run(run, file, tmp_path):
    marker = tmp_path / "marker"
    for copy in (run.folder / "source").iterdir():
        copy.write_text(tell_tale(marker))
    file.write_text("# a comment\n" + HEAP.replace('"|" *', '"*" *'))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Run.open(run.folder, ludus.make(file, heap=7)).load_player()
        assert make_agent(f"policy:{run.folder}", ludus.make(file, heap=7))
    assert not marker.exists()
    with pytest.raises(BadRun, match=r"source/heap\.py is not what the run was made with"):
        Run.open(run.folder, trust=True)
    assert not marker.exists()


def test_changed_rules_are_refused_for_training_and_told_for_playing(run, file):
    rule_changed(file)
    game = ludus.make(file, heap=7)
    with pytest.raises(BadRun, match=r"heap.py has changed since .*run was made .*add --trust to go on with the run's"):
        Run.open(run.folder, game)
    with pytest.warns(ChangedRules, match=r"heap.py has changed since .*: its network learned other rules"):
        make_agent(f"zero:{run.folder}:4", game)
    with pytest.warns(ChangedRules, match=r"heap.py has changed since: .*run goes on with its own copy"):
        assert Run.open(run.folder, trust=True).game.digest == run.game.digest


def test_a_run_without_its_copy_never_goes_on_with_other_rules(run, file):
    shutil.rmtree(run.folder / "source")
    with pytest.warns(DamagedRun, match=r"source/heap\.py is missing; the run goes on with .*heap\.py"):
        assert Run.open(run.folder, trust=True).game.digest == run.game.digest
    rule_changed(file)
    with pytest.raises(BadRun, match=r"source/heap\.py is missing, and .*heap\.py has changed: its rules are"):
        Run.open(run.folder, trust=True)


def test_a_damaged_file_of_rows_is_closed(run):
    (run.folder / "games").mkdir(exist_ok=True)
    (run.folder / "games" / "000001.npz").write_bytes(b"PK\x03\x04 cut off")
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        with pytest.warns(DamagedRun):
            assert run.load_rows(1, 10) == []
        gc.collect()


def test_other_options_of_an_own_game_are_refused(run, file):
    with pytest.raises(BadRun, match=r"is a run of heap\(heap=7\)v1, not of heap\(heap=6\)v1"):
        Run.open(run.folder, ludus.make(file))
    with pytest.raises(BadRun, match=r"is a run of heap\(heap=7\)v1, not of tictactoe\(\)v1"):
        Run.open(run.folder, ludus.make("tictactoe"), any_size=True)


def test_runs_of_former_versions_are_still_opened(run, file, tmp_path):
    """They have the bare name of the game, an identity without a digest, and no copy of the source."""
    shutil.rmtree(run.folder / "source")
    settings = write_toml(run.game.spec, SMALL).partition("[settings]")
    (run.folder / "config.toml").write_text('game = "heap"\n\n[options]\nheap = 7\n\n' + "".join(settings[1:]))
    (run.folder / "about.json").write_text(json.dumps({"game": "heap(heap=7)v1"}))
    (run.folder / "checkpoints" / "000001" / "player.safetensors").unlink()
    opened = Run.open(run.folder, ludus.make(file, heap=7))
    opened.save(2, detached(SMALL.make_network(opened.game).state_dict()), {}, {}, {})
    assert Run.open(run.folder, opened.game).load_player()[1]["iteration"] == 2
    assert opened.config == SMALL
    with pytest.raises(BadRun, match=r"no game is called 'heap'.*name the game's file as well"):
        Run.open(run.folder, trust=True)
    built_in = new_run(tmp_path / "other", ludus.make("connect4", rows=5), Config(blocks=1, width=4))
    text = write_toml(built_in.game.spec, built_in.config).partition("[settings]")
    (built_in.folder / "config.toml").write_text('game = "connect4"\n\n[options]\nrows = 5\n\n' + "".join(text[1:]))
    assert Run.open(built_in.folder).game.spec == built_in.game.spec


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("game = 5", "source of a game must be a name or a path, not 5"),
        ("game = []", "source of a game must be a name or a path"),
        ("[game]", "a game is described by source, options, digest"),
        ('[game]\nsource = "connect4"\nfile = "x"', "'file' is none of them"),
        ('[game]\nsource = "connect4"\n[options]\nrows = 5', r"belong into \[game.options\]"),
        ('game = "connect4"\noptions = 3', "options must be a table"),
        ('game = "connect4"\nsettings = 3', "settings must be a table"),
        ("x = 1", "'x' is none of game, options, settings"),
        ("[game", "is not TOML"),
    ],
)
def test_settings_that_name_no_game_get_one_line(text, told, tmp_path):
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(BadOption, match=told) as caught:
        read_toml(tmp_path / "config.toml")
    assert "\n" not in str(caught.value)


# --- hostile files ----------------------------------------------------------------------------------------------------


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """A Python file that leaves a mark when it is run; at the end of the test there must be none."""
    marker, file = tmp_path / "marker", tmp_path / "evil.py"
    file.write_text(tell_tale(marker) + HEAP)
    (tmp_path / "amounts.py").write_text(tell_tale(marker))
    yield file
    assert not marker.exists()


@pytest.mark.parametrize(
    "form", ["game = {!r}\n", "[game]\nsource = {!r}\n", "[game]\nsource = {!r}\ndigest = 'abc'\n"]
)
def test_a_run_or_a_recipe_that_names_a_file_does_not_run_it(hostile, form, tmp_path, typed):
    run = new_run(tmp_path / "run", ludus.make("tictactoe"))
    whole = (run.folder / "config.toml").read_text()
    settings = whole[whole.index("[settings]") : whole.index("# checksum")]  # as if edited by hand
    for source in (str(hostile), "../evil.py"):
        (run.folder / "config.toml").write_text(form.format(source) + settings)
        (tmp_path / "recipe.toml").write_text(form.format(source))
        for command in (
            ["train", "--resume", run.folder, "--steps", "1"],
            ["train", "--recipe", tmp_path / "recipe.toml", "--steps", "1"],
            ["train", "--from", run.folder, "--steps", "1"],
            ["export", run.folder, "--onnx", "x.onnx"],
            ["arena", run.folder, "--games", "2"],
        ):
            code, shown, error = typed(*command)
            assert (code, shown) == (2, "")
            assert "is Python code (checksum" in error
            assert "add --trust" in error
            assert "\n" not in error
        # A user who names the game runs that one, and nothing else.
        assert typed("train", "tictactoe", "--resume", run.folder, "--steps", "1")[0] in (0, 2)
        assert make_agent(f"policy:{run.folder}", ludus.make("tictactoe"))


def test_a_run_that_brings_a_file_does_not_run_it(hostile, run, typed):
    (run.folder / "source" / "heap.py").write_text(hostile.read_text())
    for command in (["train", "--resume"], ["export", "--onnx", "x.onnx"], ["arena", "--games", "2"]):
        code, _, error = typed(*command, run.folder)
        assert code == 2
        assert "brings a game as Python code" in error
    for command in (["train", "--resume"], ["export", "--onnx", "x.onnx"]):
        code, _, error = typed(*command, run.folder, "--trust")  # it is not what the run was made with
        assert code == 2
        assert "is not what the run was made with" in error


def test_results_that_name_a_file_do_not_run_it(hostile, tmp_path, typed):
    game = ludus.make("tictactoe")
    agents = ["random", "random"]
    with Store(tmp_path / "results.sqlite") as store:
        store.add(game, [identify(each, game) for each in agents], play_match(game, agents, 2).games)
    base = sqlite3.connect(tmp_path / "results.sqlite")
    for name in (str(hostile), "../evil.py", "./../evil.py"):
        base.execute("UPDATE rules SET name = ?", (name,))
        base.commit()
        assert typed("ratings", tmp_path / "results.sqlite")[0] == 0
        assert typed("replay", tmp_path / "results.sqlite")[0] == 0
        code, _, error = typed("replay", tmp_path / "results.sqlite", "1")
        assert code == 2
        assert "is Python code (checksum" in error
        assert typed("replay", tmp_path / "results.sqlite", "1", "--all", "--game", "tictactoe")[0] == 0
    base.execute("UPDATE rules SET options = '[' , name = 'tictactoe'")
    base.commit()
    base.close()
    assert "do not say how tictactoe" in typed("replay", tmp_path / "results.sqlite", "1", "--all")[2].replace("'", "")


def test_results_of_former_versions_are_still_read(tmp_path, typed):
    """Their options are those that were given, as text."""
    game = ludus.make("connect4", rows=4)
    agents = ["random", "random"]
    with Store(tmp_path / "results.sqlite") as store:
        store.add(game, [identify(each, game) for each in agents], play_match(game, agents, 2).games)
    base = sqlite3.connect(tmp_path / "results.sqlite")
    base.execute("""UPDATE rules SET options = '{"rows": "4"}'""")
    base.commit()
    base.close()
    assert "Results: " in typed("replay", tmp_path / "results.sqlite", "1", "--all")[1]


# --- with trust -------------------------------------------------------------------------------------------------------


def test_export_and_replay_with_trust(run, file, typed):
    shutil.rmtree(file.parent)
    code, shown, error = typed("export", run.folder, "--onnx", "heap.onnx", "--trust")
    assert (code, error) == (0, "")
    assert "differs from PyTorch by at most" in shown
    props = {each.key: each.value for each in onnx.load("heap.onnx").metadata_props}
    assert ludus.GameSpec.from_json(props["ludus.game"]).digest == run.game.digest
    code, shown, error = typed("arena", run.folder, "--trust", "--games", "2", "--simulations", "2", "--parallel", "1")
    assert (code, error) == (0, "")
    assert "2 games more" in shown
    assert "is Python code" in typed("replay", run.folder, "1")[2]
    code, shown, error = typed("replay", run.folder, "1", "--all", "--trust")
    assert (code, error) == (0, "")
    assert shown.startswith(f"Game 1 of heap(heap=7)v1#{run.game.digest}: ")
    moved = write_heap(file.parent.with_name("moved"))
    assert typed("replay", run.folder, "1", "--all", "--game", moved)[1] == shown
    rule_changed(moved)
    assert "these are games of heap" in typed("replay", run.folder, "1", "--all", "--game", moved)[2]


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("Yes\n", 0), ("\n", 2), ("n\n", 2), ("", 2)])
def test_at_a_terminal_the_user_is_asked(run, typed, monkeypatch, answer, code):
    monkeypatch.setattr("ludus.terminal.trust.at_a_terminal", lambda: True)
    found, shown, error = typed("export", run.folder, "--onnx", "heap.onnx", answer=answer)
    assert found == code
    question, _, rest = shown.partition("; run it? [y/N] ")
    assert question.startswith(f"{run.folder} brings a game as Python code, ")
    assert ("differs from PyTorch" in rest) == (code == 0)
    assert ("add --trust" in error) == (code == 2)


def test_changed_rules_are_one_line_of_a_command(run, file, typed, tmp_path):
    results = ["--results", tmp_path / "results.sqlite"]
    play = ["match", file, "--option", "heap=7", f"policy:{run.folder}", "random", "--games", "2", "--parallel", "1"]
    assert typed(*play, *results)[2] == ""
    rule_changed(file)
    code, _, error = typed(*play, *results)
    assert code == 0
    assert error.startswith(f"ludus: warning: {file} has changed since {run.folder} was made")
    assert "\n" not in error
    code, shown, error = typed(
        "arena",
        f"policy:{run.folder}",
        "random",
        "--game",
        file,
        "--option=heap=7",
        *results,
        "--games=2",
        "--parallel=1",
    )
    assert code == 0
    assert "2 games are there already" in shown
    assert f"2 games there do not count: {file} had other rules when they were played." in shown
    code, _, error = typed("train", file, "--option", "heap=7", "--resume", run.folder)
    assert code == 2
    assert f"{file} has changed since {run.folder} was made" in error
