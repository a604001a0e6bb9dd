"""Machine code is never stale, never that of another game, and does what the plain functions do."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest

import ludus
from ludus import native, rules
from ludus.errors import Unsuitable
from ludus.native import types
from ludus.rng import generator
from ludus.testing.lockstep import kernels

PROBE = str(Path(__file__).parent / "native_games" / "probe.py")

GAME = """
from typing import NamedTuple
import numpy as np
from ludus.game import Game
from helper import FACTOR, amount


class Rules(NamedTuple):
    plus: int = 0


def reset(rules, state, random):
    state[0] = 0

def to_move(rules, state):
    return 0

def legal(rules, state, player, actions):
    actions[0] = base() + rules.plus
    return 1

def base():
    return 10

def play(rules, state, action):
    state[0] += FACTOR * amount(action - action + 5)

def outcome(rules, state, values):
    return False


class Own(Game):
    Rules = Rules
    name = "own"
    title = "Own"
    players = 1
    state = (np.int64, 1)
    actions = 1000
    most_legal = 1
    longest = 100

    def setup(self):
        pass
"""
SPEAKING = """
    def draw(self, state):
        return "drawn"
"""
# Recursive, so that it is not compiled into its caller but remains a function which the linker looks up by name.
HELPER = """
FACTOR = 1

def amount(x):
    if x < 3:
        return 1
    return amount(x - 1) + amount(x - 2)
"""
RUN = """
import json, sys
import ludus
from ludus import native
# PROBE from ludus.search import _probe_kernel as probe

answers = []
for name in sys.argv[1:]:
    game = ludus.make(name).compile()
    start = game.start()
    after = start.play(start.actions[0])
    answers.append([start.actions[0], int.from_bytes(after.states.tobytes()[:8], "little")])
    # PROBE answers[-1].append(int(probe.probe(game.rules, start.states)))
stats = [native.STEPPING[name].stats for name in ("inspect", "step")]
print(json.dumps({
    "answers": answers,
    "hits": sum(sum(each.cache_hits.values()) for each in stats),
    "misses": sum(sum(each.cache_misses.values()) for each in stats),
    "home": ludus.__file__,
}))
"""


class Machine:
    """Processes that share a copy of the package and one empty cache of machine code."""

    def __init__(self, folder, package, script=RUN):
        self.folder, self.script = folder, script
        self.environment = {**os.environ, "LUDUS_CACHE": str(folder / "cache"), "PYTHONPATH": str(package.parent)}

    def run(self, *names, given=""):
        command = [sys.executable, "-c", self.script, *map(str, names)]
        done = subprocess.run(
            command, env=self.environment, cwd=self.folder, capture_output=True, text=True, check=False, input=given
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def own_game(self, folder, game=GAME, helper=HELPER):
        place = self.folder / folder
        place.mkdir(exist_ok=True)
        (place / "helper.py").write_text(helper)
        (place / "own.py").write_text(game)
        return place / "own.py"


def copy_package(folder):
    shutil.copytree(native.PACKAGE, folder / "package" / "ludus", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "package" / "ludus"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy that nobody edits while the tests run."""
    return copy_package(tmp_path_factory.mktemp("copy"))


def edit(file, before, after):
    text = file.read_text()
    assert text.count(before) == 1
    file.write_text(text.replace(before, after))


@pytest.mark.parametrize("lean", [True, False])
def test_a_game_that_says_it_makes_no_arrays_is_compiled_once(tmp_path, lean):
    (tmp_path / "helper.py").write_text(HELPER)
    new = GAME.replace("return 10", f"return 10 + 0 * {time.time_ns()}")  # so that nothing is found in the cache
    (tmp_path / "own.py").write_text(new + "\nLEAN = True\n" * lean)
    game = ludus.make(tmp_path / "own.py").compile()
    assert game.start().actions == [10]
    assert bool(types.compiled_function(type(game.rules), "legal", runtime=True).overloads) != lean


def test_an_edited_game_never_runs_stale_code(tmp_path, package):
    machine = Machine(tmp_path, package)
    own = machine.own_game("mine")
    first = machine.run(own)
    assert first["answers"] == [[10, 5]]
    assert (first["hits"], first["misses"]) == (0, 2)
    again = machine.run(own)
    assert again["answers"] == [[10, 5]]
    assert (again["hits"], again["misses"]) == (2, 0)

    text = own.read_text()
    edit(own.parent / "helper.py", "def amount(x):\n", "\ndef amount(x):  # a comment\n    '''A docstring.'''\n")
    own.write_text("# A comment.\n" + text.replace('"Own"', '"My own"') + SPEAKING)
    shown = machine.run(own)  # nothing of that is compiled
    assert (shown["answers"], shown["hits"], shown["misses"]) == ([[10, 5]], 2, 0)
    machine.own_game("mine")

    edit(own, "return 10", "return 20")
    assert machine.run(own)["answers"] == [[20, 5]]
    edit(own.parent / "helper.py", "return 1\n", "return 2\n")
    assert machine.run(own)["answers"] == [[20, 10]]
    edit(own.parent / "helper.py", "FACTOR = 1", "FACTOR = int(open('factor.txt').read())")
    for factor in (3, 4):  # of which the source knows nothing
        (tmp_path / "factor.txt").write_text(f"{factor}")
        edited = machine.run(own)
        assert edited["answers"] == [[20, factor * 10]]
        assert edited["hits"] == 0

    machine.own_game("mine")
    back = machine.run(own)
    assert back["answers"] == [[10, 5]]
    assert (back["hits"], back["misses"]) == (2, 0)


def test_checkouts_with_the_same_sources_share_machine_code(tmp_path, package):
    machine = Machine(tmp_path, package)
    first = machine.run("laststone")
    elsewhere = copy_package(tmp_path)
    machine.environment["PYTHONPATH"] = str(elsewhere.parent)
    second = machine.run("laststone")
    assert Path(first["home"]).parent != Path(second["home"]).parent == elsewhere
    assert (first["answers"], first["hits"], first["misses"]) == (second["answers"], 0, 2)
    assert (second["hits"], second["misses"]) == (2, 0)
    edit(elsewhere / "rng.py", "np.uint64(13)", "np.uint64(12)")
    assert machine.run("laststone")["hits"] == 0


def test_a_helper_that_is_edited_before_its_game_is_compiled_is_not_cached_as_the_new_one(tmp_path, package):
    between = "    (pathlib.Path(name).parent / 'helper.py').write_text(sys.stdin.read())\n"
    script = RUN.replace("import json, sys", "import json, pathlib, sys")
    late = script.replace("ludus.make(name).compile()\n", "ludus.make(name)\n" + between + "    game.compile()\n")
    assert between in late
    machine = Machine(tmp_path, package, late)
    own = machine.own_game("mine")
    edited = HELPER.replace("return 1\n", "return 2\n")
    assert machine.run(own, given=edited)["answers"] == [[10, 5]]
    machine.script = script
    assert machine.run(own)["answers"] == [[10, 10]]


def test_what_else_is_loaded_does_not_change_the_digest_of_a_game(tmp_path):
    code = (
        "import sys, ludus; from ludus import native; from ludus.native import types\n"
        "for name in sys.argv[2:]: __import__(name)\n"
        "rules = ludus.make(sys.argv[1]).rules; native.enable(type(rules)); print(types._digests[type(rules)])\n"
    )
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "own.py").write_text(GAME.replace("from ludus.game import Game", "import ludus\nGame = ludus.Game"))

    def digest(*loaded):
        command = [sys.executable, "-c", code, str(tmp_path / "own.py"), *loaded]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert digest() == digest("ludus.search.perft", "ludus.agents", "ludus.testing", "ludus.games.tictactoe")


def test_helpers_in_a_circle_are_not_cached_but_safe(tmp_path, package):
    """Numba's own cache would end the second process."""
    machine = Machine(tmp_path, package)
    circle = HELPER.replace("return amount(x - 1)", "return other(x - 1)")
    circle += "def other(x):\n    if x < 3:\n        return 1\n    return amount(x - 1) + amount(x - 2)\n"
    own = machine.own_game("mine", helper=circle)
    for _ in range(2):
        run = machine.run(own)
        assert run["answers"] == [[10, 5]]
    assert (run["hits"], run["misses"]) == (1, 1)


def test_games_alike_are_not_mixed_up(tmp_path, package):
    """Files, classes, fields, helpers: everything has the same name. And one of them disappears."""
    machine = Machine(tmp_path, package)
    mine = machine.own_game("mine")
    yours = machine.own_game(
        "yours", GAME.replace("return 10", "return 20"), HELPER.replace("return 1\n", "return 2\n")
    )
    assert machine.run(mine)["answers"] == [[10, 5]]
    assert machine.run(yours)["answers"] == [[20, 10]]
    for pair, answers in (((mine, yours), [[10, 5], [20, 10]]), ((yours, mine), [[20, 10], [10, 5]])):
        both = machine.run(*pair)
        assert both["answers"] == answers
        assert (both["hits"], both["misses"]) == (4, 0)

    shutil.rmtree(mine.parent)
    alone = machine.run(yours)
    assert alone["answers"] == [[20, 10]]
    assert (alone["hits"], alone["misses"]) == (2, 0)
    theirs = machine.own_game("theirs", GAME.replace("return 10", "return 30"))
    assert machine.run(theirs, yours)["answers"] == [[30, 5], [20, 10]]
    assert machine.run(yours)["hits"] == 2


def test_an_edit_of_the_engine_or_of_a_built_in_game_counts(tmp_path):
    package = copy_package(tmp_path)
    probe = package / "search" / "_probe.py"
    probe.parent.mkdir(exist_ok=True)
    probe.write_text("def amount():\n    return 1\n")
    (package / "search" / "_probe_kernel.py").write_text(
        "from ludus.native import compiled, kernel\n"
        "from ludus.rules import to_move\n"
        "from ludus.search import _probe\n\n"
        "amount = compiled(_probe.amount)\n\n"
        "@kernel\n"
        "def probe(rules, states):\n"
        "    return to_move(rules, states[0]) + amount()\n"
    )
    machine = Machine(tmp_path, package, RUN.replace("# PROBE ", ""))
    first = machine.run("connect4")
    assert Path(first["home"]).parent == package
    assert first["answers"] == [[0, 1, 1]]
    assert machine.run("connect4")["hits"] == 2

    edit(probe, "return 1", "return 5")
    assert machine.run("connect4")["answers"] == [[0, 1, 5]]
    connect4 = package / "games" / "connect4.py"
    edit(connect4, "return state.ply & 1\n\n\ndef legal", "return 1 - state.ply & 1\n\n\ndef legal")
    assert machine.run("connect4")["answers"] == [[0, 1, 6]]
    edit(package / "stepping.py", "play(rules, states[0], joint[0])", "play(rules, states[0], joint[0] + 1)")
    assert machine.run("connect4")["answers"] == [[0, 1 << 7, 6]]


def test_an_edited_game_is_loaded_anew_in_the_same_process(tmp_path, package):
    """In plain Python; what makes it safe in machine code is the next test."""
    machine = Machine(tmp_path, package)
    own = machine.own_game("mine")
    before = ludus.make(str(own))
    assert ludus.make(str(own)).Rules is before.Rules
    machine.own_game("mine", helper=HELPER.replace("FACTOR = 1", "FACTOR = 7"))
    after = ludus.make(str(own))
    assert [game.start().play(10).state[0] for game in (before, after)] == [5, 35]
    machine.own_game("mine", GAME.replace("return 10", "return 11"))
    assert [game.start().actions for game in (before, after, ludus.make(str(own)))] == [[10], [10], [11]]


def test_machine_code_for_a_state_has_the_same_name_in_every_process():
    code = """
import numba, numpy as np
from numba.core.itanium_mangler import mangle_type
import ludus.native
for size in sizes:
    print(mangle_type(numba.from_dtype(np.dtype([("board", np.int8, (size,)), ("turn", np.int8)]))[:]))
"""

    def names(*sizes):
        done = subprocess.run([sys.executable, "-c", f"sizes = {sizes}{code}"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return dict(zip(sizes, done.stdout.split(), strict=True))

    one, other = names(9, 16), names(16, 25)
    assert one[16] == other[16]
    assert len({*one.values(), *other.values()}) == 3


def test_rules_of_one_name_are_told_apart():
    """Numba itself does not: it looks at the name of the class, and at the names and types of the fields."""
    games = [ludus.make(PROBE).compile(), ludus.make(PROBE.replace("probe.py", "alike.py")).compile()]
    assert [type(game.rules).__qualname__ for game in games] == ["Probe", "Probe"]
    assert [type(game.rules)._fields for game in games] == [("table", "at"), ("table", "at")]
    for _ in range(2):
        assert [game.start().actions for game in games] == [[0, 1, 2], [2]]
    assert type(games[0].rules).__name__ != type(games[1].rules).__name__


# --- Threads ----------------------------------------------------------------------------------------------------------


def in_two_threads(monkeypatch, use):
    """What `use` returns in two threads, the second of which begins while the first enables the rules.

    The first waits in the middle until the second has got anywhere, or for half a second. Also returns how often the
    rules were enabled.
    """
    inside, past = threading.Event(), threading.Event()
    compile_namespace, calls = types.compile_namespace, []

    def slowly(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            inside.set()
            past.wait(0.5)
        else:
            past.set()
        return compile_namespace(*arguments)

    def second():
        inside.wait()
        try:
            return use()
        finally:
            past.set()

    monkeypatch.setattr(types, "compile_namespace", slowly)
    with ThreadPoolExecutor(2) as pool:
        results = [job.result() for job in [pool.submit(use), pool.submit(second)]]
    return results, len(calls) // 2  # each time with Numba's runtime and without


def test_rules_are_usable_as_soon_as_enable_returns_in_any_thread(monkeypatch, tmp_path):
    """A thread that met rules which another thread was enabling once got them as an unknown type: TypingError."""
    shutil.copy(PROBE, tmp_path / "probe.py")
    shutil.copytree(Path(PROBE).parent / "deeper", tmp_path / "deeper")
    shutil.copy(Path(PROBE).parent / "beside.py", tmp_path / "beside.py")
    rules = ludus.make(tmp_path / "probe.py").rules

    def use():
        native.enable(type(rules))
        return type(numba.typeof(rules))

    assert in_two_threads(monkeypatch, use) == ([native.RulesType, native.RulesType], 1)

    def use_checked():
        return type(numba.typeof(native.bounds_checked(rules)))

    assert in_two_threads(monkeypatch, use_checked) == ([native.RulesType, native.RulesType], 1)


# --- What rules may use -----------------------------------------------------------------------------------------------


def test_helpers_need_no_decorator_wherever_they_are():
    game = ludus.make(PROBE)
    plain = game.start().play(2)
    assert plain.state.cells.tolist() == [1004, 1022, 10, 10]
    assert game.compile().start().play(2) == plain
    assert plain.state.again.tolist() == plain.state.cells.tolist()


def test_arrays_in_the_rules_are_read_each_time():
    low, high = ludus.make(PROBE).compile(), ludus.make(PROBE, first=40).compile()
    before = len(native.STEPPING["inspect"].overloads)
    assert (low.start().actions, high.start().actions) == ([0, 1, 2], [40, 41, 42])
    assert len(native.STEPPING["inspect"].overloads) <= before + 1


def test_random_numbers_are_the_same_in_both():
    game = ludus.make(PROBE)
    native.enable(type(game.rules))
    states = game.new_states(1)
    kernels()["reset"](game.rules, states, generator(5))
    assert states["cells"][0, 0] == game.start(5).state.cells[0] > 0


@pytest.mark.parametrize("at", [4, 100, -5])
def test_bounds_checks_see_every_array(at):
    """In a helper that is called by a function of the rules."""
    rules = native.bounds_checked(ludus.make(PROBE, at=at).rules)
    for attempt in attempts(rules):
        with pytest.raises(IndexError, match="out of bounds"):
            attempt()


def test_bounds_checks_let_negative_indices_pass():
    """They count from the end, as in Python."""
    for attempt in attempts(native.bounds_checked(ludus.make(PROBE, at=-1).rules)):
        attempt()


def attempts(rules):
    """Calls that write at rules.at into a field of the state, the values, the legal actions and the planes."""
    states = ludus.make(PROBE).new_states(1)
    actions, counts = np.zeros((4, 4), np.int32), np.zeros(4, np.int32)
    few, many = np.zeros(4, np.float32), np.zeros(200, np.float32)
    return (
        lambda: kernels()["reset"](rules, states, generator(0)),
        lambda: native.STEPPING["inspect"](rules, states, few, actions, counts),
        lambda: native.STEPPING["inspect"](rules, states, many, actions, counts),
        lambda: kernels()["observe"](rules, states, 0, np.zeros((1, 4), np.float32)),
    )


def test_rules_outside_a_file_cannot_be_compiled():
    class Nowhere(ludus.make(PROBE).Rules):
        pass

    rules.register(Nowhere, {})
    with pytest.raises(Unsuitable, match="Nowhere can be compiled only if they are defined in a file"):
        native.enable(Nowhere)


ALLOCATING = """
from typing import NamedTuple

import numpy as np

from ludus import Game


class Rules(NamedTuple):
    heap: int = 10


def reset(rules, state, random):
    state.left = rules.heap
    state.turn = 0


def to_move(rules, state):
    return state.turn


def legal(rules, state, player, actions):
    numbers = np.arange(min(3, state.left))  # an array of its own
    actions[: numbers.size] = numbers
    return numbers.size


def play(rules, state, action):
    state.left -= action + 1
    state.turn = 1 - state.turn


def outcome(rules, state, values):
    if state.left > 0:
        return False
    values[state.turn] = -1.0
    values[1 - state.turn] = 1.0
    return True


class Heap(Game):
    Rules = Rules
    name = "heap"
    title = "Heap"
    state = np.dtype([("left", np.int8), ("turn", np.int8)])

    def setup(self):
        self.actions = self.most_legal = 3
        self.longest = self.rules.heap

    def write(self, state):
        return f"{state.left} {state.turn}"
"""


def test_rules_that_make_arrays_work_too(tmp_path):
    from ludus.search.solver import solve

    (tmp_path / "heap.py").write_text(ALLOCATING)
    game = ludus.make(str(tmp_path / "heap.py"), heap=10)
    assert solve(game.start()).best == [1]  # leave a multiple of four
    assert solve(ludus.make(str(tmp_path / "heap.py"), heap=8).start()).value == -1.0


def test_functions_for_different_states_have_different_names_in_machine_code():
    """In every process: else one that comes from the cache may be taken for another that was compiled just now."""
    import numba
    from numba.core.itanium_mangler import mangle_type

    kinds = [np.dtype([("stones", np.uint64, (2, words)), ("turn", np.int8)]) for words in (1, 2)]
    records = [numba.from_dtype(kind) for kind in kinds]
    names = {mangle_type(kind) for record in records for kind in (record, record.typeof("stones"))}
    assert len(names) == 4
    code = "import numba, numpy as np; from ludus import native; from numba.core.itanium_mangler import mangle_type\n"
    code += "[numba.from_dtype(np.dtype([('x', np.int8, (n,))])) for n in range(1, 9)]\n"  # types are counted
    code += "kind = np.dtype([('stones', np.uint64, (2, 1)), ('turn', np.int8)])\n"
    code += "print(mangle_type(numba.from_dtype(kind)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == mangle_type(records[0])
