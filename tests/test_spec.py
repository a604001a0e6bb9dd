"""A game can be made again from its spec, whatever its source; a digest tells whether its rules are the same."""

import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import ludus
from ludus.errors import BadOption, ChangedRules, LudusError, UnknownGame, Unsuitable, Untrusted
from ludus.python_games import PythonGame
from ludus.registry import remake
from ludus.sources import read_copy, read_source
from ludus.spec import BadSpec, GameSpec, same_rules, split_identity
from tests.own_games import COUNTDOWN, HEAP, tell_tale, write_heap

BUILT_IN = {
    "breakthrough": {"height": 3, "width": 5},
    "cachex": {"n": 4, "steal": False, "view": "planes4"},
    "connect4": {"rows": "5"},
    "hive": {"expansions": "pm", "view": "adjacency", "repetition": "yes"},
    "laststone": {"stones": 9},
    "roshambo": {"rounds": 3, "rock": 0.5},
    "sevn": {"base": 5},
    "tictactoe": {},
}


def through_json(spec):
    return GameSpec.from_json(json.loads(json.dumps(spec.json())))


# --- every source -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ludus.names())
def test_built_in_games_come_back_with_all_their_options(name):
    game = ludus.make(name, **BUILT_IN[name])
    assert (game.spec.source, game.spec.digest) == (name, "")
    assert set(game.spec.options) == set(game.options())
    again = remake(through_json(game.spec))
    assert (again.identity, again.spec) == (game.identity, game.spec)
    assert "#" not in game.identity
    assert ludus.from_json(json.dumps(game.start().json)) == game.start()


def test_a_file_with_a_helper_comes_back(tmp_path):
    game = ludus.make(write_heap(tmp_path), heap="7")
    assert game.spec == GameSpec(str(tmp_path / "heap.py"), {"heap": 7}, game.digest)
    again = remake(through_json(game.spec), trust=True)
    assert (again.identity, again.spec) == (game.identity, game.spec)
    assert game.identity == f"heap(heap=7)v1#{game.digest}"
    data = json.dumps(game.start().play("1").json)
    assert ludus.from_json(data, trust=True) == ludus.from_json(data, game) == game.start().play("1")


def test_a_game_in_ordinary_python_comes_back(tmp_path):
    (tmp_path / "countdown.py").write_text(COUNTDOWN)
    game = ludus.make(tmp_path / "countdown.py", heap=5)
    assert game.spec.options == {"heap": 5, "names": "ab"}
    assert remake(through_json(game.spec), trust=True).identity == game.identity
    position = game.start().play("0")
    assert ludus.from_json(json.dumps(position.json), trust=True) == position


@pytest.mark.parametrize(
    ("name", "options", "source", "stored"),
    [
        ("hex(board_size=5)", {}, "openspiel:hex", {"board_size": 5}),
        ("hex", {"board_size": "5", "swap": True}, "openspiel:hex", {"board_size": 5, "swap": True}),
        ("misere(game=tic_tac_toe())", {}, "openspiel:misere", {"game": {"name": "tic_tac_toe"}}),
        ("chess", {"longest": 60}, "openspiel:chess", {"longest": 60}),
    ],
)
def test_games_of_openspiel_come_back(name, options, source, stored):
    pytest.importorskip("pyspiel")
    game = ludus.make(f"openspiel:{name}", **options)
    assert game.spec == GameSpec(source, stored)
    again = remake(through_json(game.spec))
    assert (again.identity, again.spec) == (game.identity, game.spec)
    assert ludus.from_json(json.dumps(game.start().json)) == game.start()


def test_a_class_that_was_imported_has_the_spec_of_its_file(tmp_path, monkeypatch):
    write_heap(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    try:
        import heap

        game = heap.HeapGame(heap=4)
        assert game.spec == ludus.make(tmp_path / "heap.py", heap=4).spec
    finally:
        for name in ("heap", "amounts"):
            sys.modules.pop(name, None)


def test_a_class_of_a_script_has_the_spec_of_the_script(tmp_path):
    write_heap(tmp_path)
    script = HEAP + "\n\nif __name__ == '__main__':\n    print(HeapGame(heap=3).spec.source)\n"
    (tmp_path / "heap.py").write_text(script)
    done = subprocess.run([sys.executable, "heap.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(tmp_path / "heap.py")


class Here(PythonGame):
    """In a file with other games."""

    name = "here"

    def setup(self):
        self.actions = self.most_legal = self.longest = 1


class There(Here):
    name = "there"


def test_a_class_without_a_file_of_its_own_cannot_be_made_again():
    made = {"__name__": "__main__"}
    exec("import sys; from tests.test_spec import Here\nclass Cell(Here):\n    __module__ = 'a_notebook'", made)
    for game in (Here(), There(), made["Cell"]()):
        with pytest.raises(Unsuitable, match=r"cannot be made again.* save \w+ in a Python file"):
            game.spec  # noqa: B018
        assert game.identity == f"{game.name}()v1"


def test_a_file_with_relative_imports_cannot_be_made_again(tmp_path, monkeypatch):
    package = tmp_path / "some_package"
    write_heap(package)
    (package / "__init__.py").touch()
    (package / "heap.py").write_text(HEAP.replace("from amounts", "from .amounts"))
    monkeypatch.syspath_prepend(tmp_path)
    from some_package.heap import HeapGame

    with pytest.raises(Unsuitable, match="cannot be made again"):
        HeapGame().spec  # noqa: B018


def test_make_takes_a_spec_and_other_options():
    game = ludus.make(GameSpec("connect4", {"rows": 5}), columns=4)
    assert game.identity == "connect4(rows=5,columns=4,line=4)v1"


# --- trust ------------------------------------------------------------------------------------------------------------


def test_a_python_file_is_run_only_with_trust(tmp_path):
    file, marker = write_heap(tmp_path), tmp_path / "marker"
    (tmp_path / "amounts.py").write_text(tell_tale(marker) + (tmp_path / "amounts.py").read_text())
    spec = GameSpec(str(file))
    position = {"game": spec.json(), "name": "heap", "version": 1, "position": "6 a"}
    former = {"game": str(file), "options": {}, "version": 1, "position": "6 a"}
    for act in (lambda: remake(spec), lambda: ludus.from_json(position), lambda: ludus.from_json(json.dumps(former))):
        with pytest.raises(Untrusted) as caught:
            act()
        told = str(caught.value)
        assert told.startswith(f"{file} is Python code (checksum ")
        assert "1 helper file)" in told
        assert "--trust" in told
        assert "\n" not in told
        assert not marker.exists()
    assert ludus.from_json(position, trust=True).text == "6 a"
    assert marker.exists()


@pytest.mark.parametrize("source", ["./evil", "evil.py", "C:\\games\\evil.py", "../evil.PY/", "~/evil.py"])
def test_all_that_make_would_load_as_a_file_needs_trust(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("evil", "evil.py", "C:\\games\\evil.py"):
        (tmp_path / name).write_text(tell_tale(tmp_path / "marker"))
    with pytest.raises((Untrusted, UnknownGame)):
        remake(GameSpec(source))
    assert not (tmp_path / "marker").exists()


def test_changed_rules_are_noticed(tmp_path):
    file = write_heap(tmp_path)
    position = ludus.make(file).start()
    data, spec = position.json, position.game.spec
    (tmp_path / "amounts.py").write_text("def most(heap):\n    return min(1, heap)\n")
    with pytest.warns(ChangedRules, match=r"heap.py has changed: its rules are \w+ now and were"):
        changed = ludus.from_json(data, trust=True).game
    assert changed.digest != spec.digest
    with pytest.raises(Unsuitable, match="has changed"):
        remake(spec, trust=True, strict=True)
    with pytest.warns(ChangedRules):
        ludus.make(spec)
    with pytest.warns(ChangedRules, match="have changed since this was written"):
        ludus.from_json(data, changed)


def test_a_game_keeps_its_identity_while_its_file_changes(tmp_path):
    file = write_heap(tmp_path)
    games = [ludus.make(file)]
    for edit in ("1", "2 - 0"):
        (tmp_path / "amounts.py").write_text(f"def most(heap):\n    return min({edit}, heap)\n")
        games.append(ludus.make(file))
    assert len({game.identity for game in games}) == 3
    assert [game.identity.count("#") for game in games] == [1, 1, 1]
    assert [len(game.start().actions) for game in games] == [2, 1, 2]


# --- the data ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        "",
        "{",
        "[" * 100_000,
        {},
        {"source": ""},
        {"source": 5},
        {"source": "a\nb"},
        {"source": "connect4", "game": "x"},
        {"source": "connect4", "options": [1]},
        {"source": "connect4", "options": {"rows": float("nan")}},
        {"source": "connect4", "options": {"self": 1}},
        {"source": "connect4", "options": {"a-b": 1}},
        {"source": "connect4", "options": {"rows": object()}},
        {"source": "connect4", "digest": "../x"},
        {"source": "connect4", "digest": None},
    ],
)
def test_other_data_get_one_line(wrong):
    with pytest.raises(BadSpec) as caught:
        GameSpec.from_json(wrong)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "path", ["/games/a\tb.py", "/games/\udce4.py"]
)  # the second as in a system without its letters
def test_a_path_that_cannot_be_shown_is_named_as_such(path):
    with pytest.raises(BadSpec, match=r"printable in this system's encoding, not '/games/"):
        GameSpec(path)


@pytest.mark.parametrize("options", [{"rows": [1]}, {"rows": {"a": 1}}, {"rows": None}, {"height": 1}, {"rest": 1}])
def test_options_of_other_types_get_one_line(options):
    with pytest.raises(BadOption):
        remake(GameSpec("connect4", options))
    with pytest.raises(LudusError):
        ludus.from_json({"game": "connect4", "options": options, "version": 1, "position": ""})
    if "rest" in options:
        pytest.importorskip("pyspiel")
        with pytest.raises(BadOption):
            remake(GameSpec("openspiel:hex", options))


def test_options_become_plain():
    spec = GameSpec("x", {"a": np.int8(3), "b": (1, 2.5), "c": {"d": None}, "e": np.bool_(True)})
    assert spec.options == {"a": 3, "b": [1, 2.5], "c": {"d": None}, "e": True}
    assert [type(value) for value in spec.options.values()] == [int, list, dict, bool]
    assert through_json(spec) == spec
    assert hash(through_json(spec)) == hash(spec)


def test_identities_are_told_apart_by_their_digest():
    assert split_identity("a(b=#1)v2#0af") == ("a(b=#1)v2", "0af")
    assert split_identity("a(b=1)v2") == ("a(b=1)v2", "")
    assert same_rules("a()v1", "a()v1#0af")  # of a version that knew no digests
    assert not same_rules("a()v1#0ae", "a()v1#0af")


# --- digests ----------------------------------------------------------------------------------------------------------


SAME = {
    "a comment": ("def reset(", "# from the start\ndef reset("),
    "layout": ("state.heap -= action + 1", "state.heap   -=   (action\n        + 1)"),
    "a docstring": ('    """Take one or two."""\n', '    """Take two or one."""\n'),
    "no docstring": ('    """Take one or two."""\n', ""),
    "the drawing": ('return "|" * state.heap', "return str(state.heap)"),
    "the players": ("    def setup(", "    def player_name(self, player):\n        return 'x'\n\n    def setup("),
    "the title": ('"heap", "Heap"', '"heap", "The heap"'),
}  # fmt: skip
OTHER = {
    "a rule": ("action + 1", "action + 2"),
    "a number": ("heap: int = 6", "heap: int = 7"),
    "a type": ("np.int16", "np.int8"),
    "the notation": ("'ab'[state.turn]", "'ba'[state.turn]"),
    "the name": ('"heap", "Heap"', '"heaps", "Heap"'),
    "one as a float": ("values[1 - state.turn] = 1.0", "values[1 - state.turn] = 1"),
}


def edited(edit):
    assert HEAP.count(edit[0]) == 1
    return HEAP.replace(*edit)


@pytest.mark.parametrize("edit", SAME.values(), ids=SAME)
def test_the_digest_stays_after_an_edit_of(edit, tmp_path):
    file = write_heap(tmp_path)
    before = read_source(file)
    file.write_text(edited(edit))
    after = read_source(file)
    assert after.digest == before.digest
    assert after.checksum != before.checksum


@pytest.mark.parametrize("edit", OTHER.values(), ids=OTHER)
def test_the_digest_changes_after_an_edit_of(edit, tmp_path):
    file = write_heap(tmp_path)
    before = read_source(file).digest
    file.write_text(edited(edit))
    assert read_source(file).digest != before


def test_a_drawing_that_the_rules_use_is_a_rule(tmp_path):
    file = write_heap(tmp_path)
    digests = []
    for drawn in ('"|" * state.heap', "str(state.heap)"):
        for call in ("self.draw(state)", "getattr(self, 'draw')(state)", "'draw'"):
            file.write_text(HEAP.replace('"|" * state.heap', drawn).replace("{state.heap}", "{" + call + "}"))
            digests.append(read_source(file).digest)
    assert len(set(digests[:2] + digests[3:5])) == 4
    assert digests[2] == digests[5]  # the word alone


def test_the_digest_knows_helpers_and_not_places(tmp_path):
    file = write_heap(tmp_path / "one")
    before = read_source(file).digest
    (tmp_path / "one" / "other.py").write_text("x = 1\n")  # nobody imports it
    moved = file.rename(file.with_name("pile.py"))
    assert read_source(moved).digest == before
    (tmp_path / "one" / "amounts.py").write_text("def most(heap):\n    return min(3, heap)\n")
    assert read_source(moved).digest != before


def test_a_file_that_is_no_python_has_a_digest(tmp_path):
    file = tmp_path / "broken.py"
    digests = []
    for text in ("def (", "def ((", "x = '\0'", "(" * 500, "1" + "+1" * 20_000, "x = 1" + "+1" * 300):
        file.write_text(text)
        digests.append(read_source(file).digest)
    assert len(set(digests)) == 6


def test_files_that_are_too_large_or_too_many_are_refused(tmp_path, monkeypatch):
    file = write_heap(tmp_path)
    monkeypatch.setattr("ludus.sources.MAX_FILES", 1)
    assert read_source(file).helpers == 1
    (tmp_path / "amounts.py").write_text("import more\n")
    (tmp_path / "more.py").touch()
    with pytest.raises(UnknownGame, match="imports more than 1 files beside it"):
        read_source(file)
    (tmp_path / "amounts.py").write_text("#" * (3 << 20))
    with pytest.raises(UnknownGame, match=r"amounts\.py is too large"):
        read_source(file)


def test_helpers_are_found_without_running_anything(tmp_path):
    marker = tell_tale(tmp_path / "marker")
    for name in ("a", "b", "c", "d", "unused", "random", "numpy", "ludus", "pack/__init__", "pack/inner", "pack/other"):
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(marker)
    (tmp_path / "pack" / "inner.py").write_text("from . import other\nfrom ..nowhere import x\n")
    (tmp_path / "b.py").write_text("import a, game\nif False:\n    from pack.inner import something\n")
    game = tmp_path / "game.py"
    game.write_text("import b as x, random, numpy, ludus\nimport importlib\nimportlib.import_module('c')\n")
    source = read_source(game, [str(tmp_path / "d.py"), "/somewhere/else.py"])
    pack = ["pack/__init__.py", "pack/inner.py", "pack/other.py"]
    assert list(source.files) == ["game.py", "a.py", "b.py", "c.py", "d.py", *pack]
    assert source.helpers == 7
    source.write(tmp_path / "copy")
    assert read_copy(tmp_path / "copy", "game.py").digest == source.digest
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize("name", ["random", "multiprocessing", "numba", "json"])
def test_a_file_beside_a_game_stands_in_for_no_library(name, tmp_path):
    file, marker = write_heap(tmp_path), tmp_path / "marker"
    (tmp_path / f"{name}.py").write_text(tell_tale(marker))
    file.write_text(f"import {name}\nassert {name}.__file__ != {str(tmp_path / name)!r} + '.py'\n" + HEAP)
    code = f"import ludus; print(ludus.make({str(file)!r}).start())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/")
    assert (done.stdout, done.stderr) == ("||||||\n", "")
    assert not marker.exists()


def test_packages_beside_a_game_are_loaded_from_their_source(tmp_path):
    """A compiled file beside the source, which nobody sees, is not run in its place."""
    file, marker = write_heap(tmp_path), tmp_path / "marker"
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "__init__.py").touch()
    (pack / "inner.py").write_text(tell_tale(marker))
    import py_compile

    py_compile.compile(str(pack / "inner.py"), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    (pack / "inner.py").write_text("LETTERS = 'ab'\n")
    file.write_text("from pack.inner import LETTERS\n" + HEAP)
    game = ludus.make(file)
    assert game.start().text == "6 a"
    assert not marker.exists()
    assert "pack" not in sys.modules
    assert list(game.spec.json()) == ["source", "options", "digest"]


def test_the_same_digest_in_every_process(tmp_path):
    file = write_heap(tmp_path)
    code = f"import ludus; print(ludus.make({str(file)!r}).digest)"
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, **PATHS},
        )
        assert done.stdout.strip() == ludus.make(file).digest


PATHS = {"PYTHONPATH": str(Path(ludus.__file__).parents[1])}


# --- nothing is unpickled ---------------------------------------------------------------------------------------------


def test_nothing_in_ludus_unpickles():
    """Numba's cache of machine code, which Numba itself pickles, is the exception.

    PyTorch's reader with `weights_only` makes plain tensors and nothing else.
    """
    words = (
        "pickle.load",
        "Unpickler",
        "torch.load(",
        "allow_pickle=True",
        "multiprocessing",
        "marshal",
        "shelve",
        "dill",
    )
    root = Path(ludus.__file__).parent
    found = {
        (file.relative_to(root).as_posix(), word)
        for file in root.rglob("*.py")
        for word in words
        if word in re.sub(r"torch\.load\(.*weights_only=True\)", "", file.read_text())
    }
    allowed = {each for each in found if each[0].startswith("native/") and each[1] == "pickle.load"}
    assert found == allowed


def test_a_warning_is_not_given_for_a_file_that_is_the_same(tmp_path):
    spec = ludus.make(write_heap(tmp_path)).spec
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert remake(spec, trust=True).spec == spec
