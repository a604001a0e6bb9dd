"""check_game passes games that keep their promises, and names the promise that others break."""

import re
import sys
import threading
import time
from pathlib import Path

import pytest
from numba.core.errors import NumbaError

import ludus
from ludus.cli import main
from ludus.errors import BrokenGame, UnknownGame, describe_compile_error
from ludus.templates import new_game
from ludus.testing import BrokenPromise, Checking, FirstVerdict, check_game
from ludus.testing.lockstep import Lockstep

TOYS = Path(__file__).parent / "broken_games"

LINE = {
    "RESET_PARTLY": "reset must write the whole state",
    "RESET_BY_CHANCE": "reset must give the same state for the same seed",
    "LEGAL_TWICE": "legal must give an action only once",
    "LEGAL_OUT_OF_RANGE": "action ids must be from 0 to actions - 1, 4; player 1 has 5",
    "LEGAL_UNWRITTEN": "legal must write as many actions as it returns",
    "LEGAL_TOO_MANY": "legal must return a number from 0 to most_legal, 5; it returns 6",
    "LEGAL_NONE": "someone must have a legal action while the game is not over",
    "LEGAL_CHANGES": "legal must not change the position; state.last differs: -1 before, 3 after",
    "TO_MOVE_RANGE": "to_move must be a player from 0 to 1, or EVERYONE; it is 2",
    "TO_MOVE_EVERYONE": "to_move may be EVERYONE only in a game that sets simultaneous",
    "TO_MOVE_CHANGES": "to_move must not change the position",
    "OUTCOME_PARTLY": "outcome must write the value of every player",
    "OUTCOME_LARGE": "values must be from -1 to 1",
    "OUTCOME_SUM": "values must add up to 0, or zero_sum be False",
    "OUTCOME_EARLY": "outcome must write values only when the game is over",
    "OUTCOME_CHANGES": "outcome must not change the position",
    "LONGEST": "no game may have more plies than longest, 4",
    "PLAY_OUTSIDE": "nothing may be read or written outside an array; play does in plain Python",
    "PLAY_FAILS": "play must not fail; in plain Python it raises ValueError: no third move (line.py, line",
    "OBSERVE_NAN": "observe must write finite numbers only",
    "OBSERVE_BOUNDS": "observe must keep to observation_bounds, from -999.0 to 999.0",
    "OBSERVE_CHANGES": "observe must not change the position",
    "OBSERVE_OUTSIDE": "nothing may be read or written outside an array; observe does in plain Python",
    "HEURISTIC_LARGE": "heuristic must be from -1 to 1",
    "CUT_OFF_LARGE": "cut_off must write the value of every player, from -1 to 1; they are [1.5, -1.5]",
    "CUT_OFF_PARTLY": "cut_off must write the value of every player, from -1 to 1; they are [0.5, nan]",
    "CUT_OFF_SUM": "the values of cut_off must add up to 0, or zero_sum be False; they are [0.5, 0.5]",
    "SYMMETRY_IDENTITY": "symmetry 0 must be the identity",
    "SYMMETRY_PARTLY": "symmetry must write the whole image",
    "SYMMETRY_ACTIONS": "playing and mapping must give the same in either order; under symmetry 1",
    "SYMMETRY_ONE_ACTION": "symmetry must turn distinct actions into distinct actions",
    "SYMMETRY_TURN": "symmetry must keep the player to move and the outcome",
    "SYMMETRY_LAST": "playing and mapping must give the same in either order",
    "FINGERPRINT_WEAK": "fingerprint must differ where the future does",
    "TEXT_LOSES": "read must restore the whole state that write has written; state.last differs",
    "TEXT_CHANGES": "read must restore the whole state that write has written",
    "TEXT_CRASHES": "read must not fail; raise BadPosition for ''",
    "TEXT_MISSING": "read is missing; define read(self, text, state)",
    "DRAW_NOTHING": "draw must give a text",
    "MOVES_ALIKE": "write_move must tell actions apart; 0 and 1 are both 'x'",
    "MOVES_MISREAD": "read_move must read what write_move wrote",
    "MOVES_CRASH": "read_move must not fail; raise IllegalMove for",
    "GRAPH_MOVES": "a graph has a node for each of the 5 moves",
    "GRAPH_PARTLY": "graph must write all features of each node",
    "GRAPH_EDGES": "an edge is (relation below 2, node below 10, node below 10); not all are",
    "GRAPH_TWICE": "graph must not give an edge twice",
    "GROUPS_NAN": "groups must write finite numbers only",
    "GROUPS_RANGE": "a group of grouping 0 is a whole number from -1 to 1; not all are",
    "TOUCHES_ALIKE": "touches must tell moves apart; 0 and 1 both touch (0, ((0, 0),))",
    "TOUCHES_RANGE": "touches must write roles below 1 and cells below 5; for action 0 it writes (role, cell) [(0, 5)]",
    "TOUCHES_MANY": "touches must return a kind below 2 and at most 2 cells; for action 0 it returns 0, 3",
    "JSON": "describe must not fail; give what json.dumps takes",
    "DRAWING": "drawing must not fail; ludus docs board says what a board holds; in plain Python it raises BrokenGame",
    # These are right in plain Python and wrong in machine code.
    "NATIVE_PLAY": "play must do the same in machine code with bounds checks as in plain Python",
    "NATIVE_OUTCOME": "outcome must give the same in machine code with bounds checks as in plain Python",
    "NATIVE_LEGAL": "legal must give the same in machine code with bounds checks as in plain Python",
    "NATIVE_OBSERVE": "observe must give the same in machine code with bounds checks as in plain Python",
    "NATIVE_GRAPH": "graph must give the same in machine code with bounds checks as in plain Python",
    "NATIVE_GROUPS": "groups must give the same in machine code with bounds checks as in plain Python",
    "NATIVE_TOUCHES": "touches must give the same in machine code with bounds checks as in plain Python",
    "NATIVE_HEURISTIC": "heuristic must give the same in machine code with bounds checks as in plain Python",
    "NATIVE_CUT_OFF": "cut_off must give the same in machine code with bounds checks as in plain Python",
    "NATIVE_FINGERPRINT": "fingerprint must give the same in machine code with bounds checks as in plain Python",
    "NATIVE_SYMMETRY": "symmetry must give the same in machine code with bounds checks as in plain Python",
    "NATIVE_INDEX": "nothing may be read or written outside an array; play does in machine code with bounds checks",
    "NATIVE_MARGIN": "nothing may be written outside the arrays handed over; observe does in machine code",
}

TOGETHER = {
    "ACTIONS_CHANGED": "play_together must not change the actions it is given",
    "COMMA": "write_move must not use a comma where everyone moves",
    "LEGAL_TWICE": "legal must give an action only once; player 2 has 0 more than once",
    "RULES_CHANGED": "the functions must not write into the arrays of the rules",
    "NOT_SIMULTANEOUS": "to_move may be EVERYONE only in a game that sets simultaneous",
    "TEXT_CHANGES": "read must restore the whole state that write has written; state[3] differs: 0 expected, 1 found",
    "NOBODY": "someone must have a legal action while the game is not over",
}


def toy(name, flaw="NONE"):
    kind = ludus.registry.game_class(str(TOYS / f"{name}.py"))
    flaws = sys.modules[kind.__module__].Flaw
    return kind(flaw=int(flaws[flaw])), flaws


def complaint(game, **more):
    with pytest.raises(BrokenPromise) as caught:
        check_game(game, **more)
    return str(caught.value)


@pytest.mark.parametrize("name", ["tictactoe", "roshambo", "laststone"])  # tests/games/test_check_game.py has them all
def test_built_in_games_keep_their_promises(name):
    report = check_game(name, games=2)
    assert report.games == 2
    assert report.positions >= 4
    assert "machine code does what plain Python does" in report.checked


@pytest.mark.parametrize("name", ["line", "together"])
def test_toys_keep_their_promises(name):
    game, _ = toy(name)
    report = check_game(game)
    assert report.games == 20
    assert str(report).startswith(f"{game!r} keeps its promises: 20 games, {report.positions} positions")
    assert ("skipped: symmetry" in str(report)) == (name == "together")


@pytest.mark.parametrize("flaw", LINE)
def test_each_broken_promise_is_named(flaw):
    assert complaint(toy("line", flaw)[0]).splitlines()[0].startswith(f"line: {LINE[flaw]}")


@pytest.mark.parametrize("flaw", TOGETHER)
def test_each_broken_promise_is_named_where_everyone_moves(flaw):
    assert complaint(toy("together", flaw)[0]).splitlines()[0].startswith(f"together: {TOGETHER[flaw]}")


def test_no_flaw_is_left_out():
    assert {flaw.name for flaw in toy("line")[1]} == {"NONE", *LINE}
    assert {flaw.name for flaw in toy("together")[1]} == {"NONE", *TOGETHER}


def test_position_and_moves_are_shown():
    told = complaint(toy("line", "PLAY_FAILS")[0], seed=3)
    _, _, *lines = told.splitlines()
    assert lines[0] == "in the position after 2 plies of game 0, seed 3:"
    assert lines[1].count("-") == 3
    assert lines[1].count("|") == 4
    assert lines[2].startswith("text: ")
    assert lines[3].startswith("state: ([")
    first, id_of_first, second, id_of_second = lines[4].removeprefix("moves: ").split()
    assert (id_of_first, id_of_second) == (f"({'abcde'.index(first)})", f"({'abcde'.index(second)})")
    assert complaint(toy("line", "PLAY_FAILS")[0], seed=3) == told


# --- What is wrong before the first move ------------------------------------------------------------------------------

MINIMAL = """
from typing import NamedTuple
import numpy as np
from ludus.game import Game


class Rules(NamedTuple):
    size: int = 3


def reset(rules, state, random):
    state[0] = rules.size

def to_move(rules, state):
    return 0

def legal(rules, state, player, actions):
    actions[0] = 0
    return 1

def play(rules, state, action):
    state[0] -= 1

def outcome(rules, state, values):
    if state[0] > 0:
        return False
    values[0] = 0.0
    return True


class Minimal(Game):
    Rules = Rules
    name = "minimal"
    title = "Minimal"
    players = 1

    def setup(self):
        self.state = (np.int64, 1)
        self.actions = 1
        self.most_legal = 1
        self.longest = 3

    def write(self, state):
        return str(state[0])

    def read(self, text, state):
        if text not in ("0", "1", "2", "3"):
            raise ludus.errors.BadPosition("one of 0 to 3")
        state[0] = int(text)
""".replace("import numpy", "import ludus.errors\nimport numpy")

STATIC = {
    "legal is missing": (
        "def legal(",
        "def legal_actions(",
        "must define the function legal(rules, state, player, actions)",
    ),
    "play is missing": (
        "def play(",
        "def move(",
        "must define the function play(rules, state, action), or play_together",
    ),
    "parameters": (
        "random):",
        "rng):",
        "the parameters of reset must be (rules, state, random), not (rules, state, rng)",
    ),
    "no setup": ("def setup(", "def prepare(", "NotImplementedError: Minimal must define setup()"),
    "no actions": ("self.actions = 1", "pass", "setup() must set actions to the number of action ids, not None"),
    "no longest": (
        "self.longest = 3",
        "pass",
        "setup() must set longest to the most plies that a game ever has, not None",
    ),
    "most_legal": ("self.most_legal = 1", "self.most_legal = 2", "most_legal, 2, must not be more than actions, 1"),
    "no state": (
        "self.state = (np.int64, 1)",
        "pass",
        "setup() must set state to a dtype of named fields, or to (integer",
    ),
    "field": ("(np.int64, 1)", "np.dtype([('size', np.int8)])", "a field of state must not be called size, as NumPy's"),
    "float state": (
        "(np.int64, 1)",
        "(np.float64, 1)",
        "setup() must set state to a dtype of named fields, or to (integer",
    ),
    "title": ('title = "Minimal"', 'title = ""', "the class must set title to a text, not ''"),
    "symmetries": (
        "self.actions = 1",
        "self.actions = 1; self.symmetries = 2",
        "symmetries is 2, so the file must define",
    ),
    "observation": (
        "self.actions = 1",
        "self.actions = 1; self.observation = (1,)",
        "observation is set, so the file must",
    ),
    "observe": (
        "def play(",
        "def observe(rules, state, player, planes): pass\ndef play(",
        "setup() must set observation",
    ),
    "touches without groups": (
        "self.actions = 1",
        "self.actions = 1; from ludus.game import TouchShape; self.touches = TouchShape(1, 1, 1)",
        "touches is set, so setup() must set groups",
    ),
    "groups without a grouping": (
        "self.actions = 1",
        "self.actions = 1; from ludus.game import GroupShape; self.groups = GroupShape(1, 2, 2, ())",
        "groups must have at least one grouping and sizes",
    ),
    "places without a board": (
        "self.actions = 1",
        "self.actions = 1; self.places = np.zeros((1, 1, 3), int)",
        "places is set, so observation must be (planes, rows, columns), not None",
    ),
    "places of another shape": (
        "self.actions = 1",
        "self.actions = 1; self.observation = (2, 4, 5); self.places = np.zeros((1, 2, 3), int)",
        "places must be whole numbers of shape (1, 1, 3), not an array of shape (1, 2, 3)",
    ),
    "places outside": (
        "self.actions = 1",
        "self.actions = 1; self.observation = (2, 4, 5); self.places = np.array([[[0, 4, -1]]])",
        "a place is (kind from 0, row from -1 to 3, column from -1 to 4); that of action 0 is (0, 4, -1)",
    ),
    "places of players": (
        "players = 1",
        "players = 2; observation = (2, 4, 5); places = np.array([[[0, 3, 4]], [[-1, 3, 4]]])",
        "that of action 0 (of player 2) is (-1, 3, 4)",
    ),
    "places alike": (
        "self.actions = 1",
        "self.actions = 2; self.observation = (2, 4, 5); self.places = np.zeros((1, 2, 3), int)",
        "places must tell actions apart; 0 and 1 are both at (0, 0, 0)",
    ),
    "mask": (
        "self.actions = 1",
        "self.actions = 1; self.observation = (2, 4, 5); self.mask = 2",
        "mask must be the number of a plane of observation (2, 4, 5), not 2",
    ),
    "simultaneous": (
        "players = 1",
        "players = 1; simultaneous = True",
        "simultaneous is set, so the file must define play_tog",
    ),
    "not a tuple": (
        "class Rules(NamedTuple):\n    size: int = 3",
        "class Rules:\n    size = 3\n    _field_defaults = {}",
        "Rules must be a N",
    ),
}


@pytest.mark.parametrize("what", STATIC)
def test_declarations_are_checked_before_anything_is_compiled(tmp_path, what, monkeypatch):
    before, after, expected = STATIC[what]
    assert MINIMAL.count(before) == 1
    file = tmp_path / "minimal.py"
    file.write_text(MINIMAL.replace(before, after))
    monkeypatch.setattr("ludus.testing.lockstep.kernels", None)
    assert expected in complaint(str(file))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('    name = "minimal"\n', "", "Minimal: the class must set name to a text"),
        ("size: int = 3", "size: int", "option size of Rules must have a default that is a whole number, a number, a"),
        ("size: int = 3", "size: list = [3]", "option size of Rules must have a default that is a whole number"),
    ],
)
def test_a_game_that_cannot_be_made_says_what_is_missing(tmp_path, before, after, message):
    with pytest.raises(BrokenGame, match=message):
        ludus.make(minimal(tmp_path, (before, after)))


def test_rules_that_numba_cannot_compile():
    told = complaint(str(TOYS / "uncompilable.py"))
    assert told.startswith(
        "uncompilable: Numba must be able to compile the rules; uncompilable.py, line 25: Numba cannot"
    )
    assert "Numba says of outcome, to_move or legal:" in told


RARE = "    if state[0] == 99:\n        "  # never in plain Python, but compiled
NOT_COMPILED = {
    "a list": (
        "LEAN = True\n\ndef legal",
        "count = len([1, 2])",
        "it makes an array, a list, a set or a text, which LEAN",
    ),
    "an array": (
        "LEAN = True\n\ndef legal",
        "count = np.zeros(3)[0]",
        "it makes an array, a list, a set or a text, which",
    ),
    "a name": ("def legal", "count = cuont", "NameError: name 'cuont' is not defined"),
    "a field": ("def legal", "count = state.cels[0]", "Unknown attribute 'cels' of type array"),
    "a call": ("def legal", "count = to_move(rules)", "missing a required argument: 'state'"),
    "an operator": ("def legal", "count = 1 + 'x'", "no implementation of add(Literal[int](1), Literal[str](x))"),
}


@pytest.mark.parametrize("what", NOT_COMPILED)
def test_what_numba_cannot_compile_is_told_with_its_line_and_reason(tmp_path, what):
    begins, code, reason = NOT_COMPILED[what]
    changes = ("def legal", begins), ("    actions[0] = 0\n", f"{RARE}{code}\n    actions[0] = 0\n")
    game = ludus.make(minimal(tmp_path, *changes))
    line = next(n for n, text in enumerate((tmp_path / "minimal.py").read_text().splitlines(), 1) if "99" in text) + 1
    with pytest.raises(NumbaError) as caught:
        game.compile().start().moves  # noqa: B018
    told = describe_compile_error(caught.value)
    assert re.match(rf"minimal\.py, line {line}: Numba cannot compile this: .*{re.escape(reason)}", told), told


def test_a_field_that_a_state_does_not_have_is_told_with_its_line(tmp_path):
    file = new_game(tmp_path / "mistyped.py", "grid")
    before = "    count = 0\n"
    assert before in file.read_text()
    file.write_text(
        file.read_text().replace(before, f"{before}    if state.turn == 7:\n        return state.cels[0]\n")
    )
    line = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if "cels" in text)
    assert f"mistyped.py, line {line}: Numba cannot compile this: there is no field 'cels'" in complaint(str(file))


def test_what_a_state_cannot_do_in_machine_code_is_told_with_its_line(tmp_path):
    file = new_game(tmp_path / "copied.py", "grid")
    text = file.read_text().replace("LEAN = True", "").replace("return state.turn", "return state.copy().turn")
    file.write_text(text)
    line = next(n for n, text in enumerate(text.splitlines(), 1) if "state.copy" in text)
    assert f"copied.py, line {line}: Numba cannot compile this: there is no field 'copy'" in complaint(str(file))


def test_an_outcome_that_returns_nothing_is_told(tmp_path):
    told = complaint(minimal(tmp_path, ("        return False\n", "        return\n")))
    assert told.startswith("minimal: outcome must return True if the game is over, else False; it returns None")


def test_unknown_games_are_left_to_make():
    with pytest.raises(UnknownGame):
        check_game("no_such_game")


def test_a_compiled_game_is_checked_in_plain_python_too_and_stays_compiled():
    game, _ = toy("line")
    game.compile()
    check_game(game, games=1)
    assert game.compiled


# --- Progress, variants, and what random games look like --------------------------------------------------------------


@pytest.fixture
def uncompiled(monkeypatch):
    """Checks in plain Python only; the list has the place of compiling among the events."""
    events = []
    monkeypatch.setattr(Lockstep, "compile", lambda self: events.append("compile"))
    return events


def minimal(folder, *changes):
    """The file of MINIMAL with these changes."""
    text = MINIMAL
    for before, after in changes:
        assert text.count(before) == 1
        text = text.replace(before, after)
    file = folder / "minimal.py"
    file.write_text(text)
    return str(file)


def test_the_first_verdict_comes_before_anything_is_compiled(tmp_path, uncompiled):
    check_game(minimal(tmp_path), games=2, on_event=uncompiled.append)
    first = next(place for place, event in enumerate(uncompiled) if isinstance(event, FirstVerdict))
    assert uncompiled[first].positions == 4
    assert uncompiled.index("compile") > first
    assert isinstance(uncompiled[0], Checking)
    games = [(event.done, event.total) for event in uncompiled if getattr(event, "what", "") == "games in plain Python"]
    assert games == [(0, 2), (1, 2)]


def test_a_long_first_game_is_left_unfinished(tmp_path, uncompiled, monkeypatch):
    monkeypatch.setattr("ludus.testing.PLAIN_SECONDS", -1.0)
    check_game(minimal(tmp_path), games=1, on_event=uncompiled.append)
    assert [event.positions for event in uncompiled if isinstance(event, FirstVerdict)] == [1]


def test_the_variants_of_a_game_are_checked_too(tmp_path, uncompiled):
    listed = ("    players = 1\n", "    players = 1\n    variants = ({'size': 2}, {'size': %d})\n")
    report = check_game(minimal(tmp_path, (listed[0], listed[1] % 1)), games=1)
    assert report.checked[-2:] == ("the variant size=2", "the variant size=1")
    told = complaint(minimal(tmp_path, (listed[0], listed[1] % 4)), games=1)
    assert told.startswith("with the options size=4: minimal: read must not fail")
    assert check_game(ludus.make(minimal(tmp_path, (listed[0], listed[1] % 4))), games=1)  # only the one that is given


def test_the_report_shows_what_random_games_look_like(tmp_path, uncompiled):
    fair = check_game(minimal(tmp_path), games=1)
    assert fair.seen.plies == (3, 3.0, 3)
    assert fair.seen.choices == (1, 1.0, 1)
    assert fair.warnings == ()
    assert "  length: 3 plies; longest says 3" in str(fair)
    always = ("values[0] = 0.0", "values[0] = 1.0; values[1] = -1.0"), ("players = 1", "players = 2")
    unfair = check_game(minimal(tmp_path, *always), games=1)
    assert unfair.seen.wins == (400, 0)
    assert "Warning: player 1 wins 100 % of all random games: is that meant" in str(unfair)
    never = ("values[0] = 0.0", "values[:] = 0.0"), ("players = 1", "players = 2")
    assert check_game(minimal(tmp_path, *never), games=1).warnings == (
        "nobody wins any random game: can a game be won at all?",
    )


def test_a_failure_to_compile_names_the_line_of_the_author(capsys):
    assert main(["perft", str(TOYS / "uncompilable.py"), "--depth", "2"]) == 2
    message = capsys.readouterr().err.splitlines()[-1]
    assert message.startswith("ludus: uncompilable.py, line 25: Numba cannot compile this: Unknown attribute")


def test_a_function_that_does_not_return_is_named_with_its_line(tmp_path, monkeypatch, capsys):
    inside, shown = tmp_path / "inside", tmp_path / "shown"

    class Timer(threading.Timer):
        def run(self):  # the time is up when the function runs, however slow the machine is
            while not inside.exists():
                time.sleep(0.01)
            self.function(*self.args)
            shown.touch()

    monkeypatch.setattr("ludus.terminal.authoring.threading.Timer", Timer)
    monkeypatch.setattr("ludus.testing.lockstep.ENDLESS_SECONDS", 0.0)
    lines = [
        "from pathlib import Path",
        f"Path({str(inside)!r}).touch()",
        f"while not Path({str(shown)!r}).exists():",
        "    pass",
        "raise KeyboardInterrupt  # Ctrl-C",
        "state[0] -= 1",
    ]
    path = Path(minimal(tmp_path, ("state[0] -= 1", "\n    ".join(lines))))
    first = next(number for number, line in enumerate(path.read_text().splitlines(), 1) if lines[0] in line)
    assert main(["check", str(path)]) == 1
    told = capsys.readouterr().out
    found = re.search(r"Still checking in plain Python \(minimal\.py, line (\d+)\)\. Ctrl-C ends it", told)
    assert first < int(found[1]) < first + 4
    assert "play must return; in plain Python it ran for 0 s, until Ctrl-C" in told
    assert f"(minimal.py, line {first + 4})" in told


def test_an_error_inside_the_standard_library_is_that_of_the_line_that_called_it(tmp_path):
    path = minimal(tmp_path, ("state[0] -= 1", "import json; json.loads('{')\n    state[0] -= 1"))
    number = next(number for number, line in enumerate(Path(path).read_text().splitlines(), 1) if "json" in line)
    assert f"(minimal.py, line {number})" in complaint(path)
