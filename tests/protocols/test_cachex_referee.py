"""Players for the course's interface, good and bad, under our referee."""

import time
from pathlib import Path

import pytest

import ludus
from ludus.cli import main
from ludus.errors import BadAgent, BadOption
from ludus.protocols.cachex_referee import Limits, referee

PLAYER = """
import random


class Player:
    def __init__(self, player, n):
        self.n, self.me, self.turns, self.stones = n, player, 0, set()
        {start}

    def action(self):
        {action}
        free = [(r, q) for r in range(self.n) for q in range(self.n) if (r, q) not in self.stones]
        if self.turns == 0:
            free = [cell for cell in free if cell != (self.n // 2, self.n // 2)]
        return ("PLACE", *random.Random(self.turns).choice(free))

    def turn(self, player, action):
        {turn}
        assert type(action) is tuple
        self.turns += 1
        if action[0] == "STEAL":
            self.stones = {{(q, r) for r, q in self.stones}}
        else:
            self.stones.add(action[1:])  # captures are not followed: cells that were freed stay unused
"""
LIMITS = Limits(seconds=20.0, patience=120.0)


@pytest.fixture
def player(tmp_path, monkeypatch):
    """Writes a player, with lines put into its methods, and returns its path."""
    monkeypatch.chdir(tmp_path)

    def write(name="good.py", start="pass", action="pass", turn="pass"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(PLAYER.format(start=start, action=action, turn=turn))
        return str(path)

    return write


def is_running(pid):
    """Is there such a process, and not only what is left of it until somebody takes note of its end?"""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_two_players_play_to_the_end(player, capfd):
    shown = []
    noisy = player("noisy.py", "print('at', self.n)", "print('{\"action\": 1}', flush=True)", "print('told')")
    result = referee(4, player(), noisy, LIMITS, shown.append)
    assert result.winner in ("red", "blue")
    assert "has connected its sides in turn" in result.reason
    assert result.position.values[("red", "blue").index(result.winner)] == 1
    assert shown[0].text == "start"
    assert shown[-1] == result.position
    assert all(0 <= result.seconds[colour] < 20 for colour in ("red", "blue"))
    printed = capfd.readouterr()
    assert "told" in printed.err
    assert "told" not in printed.out


def test_players_are_found_by_module_package_class_and_agent(player, tmp_path):
    player("package/__init__.py")
    player("package/other.py")
    (tmp_path / "renamed.py").write_text("from good import Player as Champion\n")
    (tmp_path / "two_lines.py").write_text(
        "from ludus.protocols.cachex_player import make_player\nPlayer = make_player('greedy')\n"
    )
    player()
    for red, blue in (
        ("good", "package.other"),
        ("renamed:Champion", "package"),
        (str(tmp_path / "package"), "renamed.py:Champion"),
        ("agent:greedy", "two_lines"),
    ):
        assert "has connected" in referee(3, red, blue, LIMITS).reason


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ({"action": "return ('PLACE', 1, 1)"}, "may not be placed in the centre"),
        ({"action": "return ('PLACE', 3, 0)"}, r"illegal action, \('PLACE', 3, 0\): there is no cell 3,0"),
        ({"action": "return ('PLACE', 0, -1)"}, "there is no cell 0,-1"),
        ({"action": "return ('PLACE', 0, 10 ** 30)"}, "illegal action"),
        ({"action": "return ('STEAL',)"}, "only blue may steal"),
        ({"action": "return 'STEAL'"}, "only blue may steal"),
        ({"action": "return ['PLACE', 0, 0]"}, r"\['PLACE', 0, 0\] is not an action; .* tuples"),
        ({"action": "return ('PLACE', True, 0)"}, "must be plain ints, not bool"),
        ({"action": "return ('PLACE', 0.0, 0)"}, "must be plain ints, not float"),
        ({"action": "return ('PLACE', 0)"}, "is not an action"),
        ({"action": "return ('MOVE', 0, 0)"}, "is not an action"),
        ({"action": "return None"}, "None is not an action"),
        ({"action": "import numpy as np; return ('PLACE', np.int64(0), np.int64(0))"}, "plain ints, not int64"),
        ({"start": "1 / 0"}, "red failed with ZeroDivisionError: division by zero"),
        ({"action": "raise RuntimeError('one\\n two')"}, "red failed with RuntimeError: one two"),
        ({"turn": "self.nothing"}, "red failed with AttributeError"),
        ({"action": "raise SystemExit(0)"}, "red failed with SystemExit"),
        ({"action": "import os; os._exit(3)"}, "red's process ended with exit code 3"),
        ({"action": "import os; os.kill(os.getpid(), 9)"}, "red's process ended with exit code -9"),
    ],
)
def test_what_loses(player, lines, reason):
    result = referee(3, player("bad.py", **lines), player(), LIMITS)
    assert result.winner == "blue"
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(result.reason)
    assert "\n" not in result.reason


def test_an_action_on_a_stone_loses_for_blue_too(player):
    result = referee(4, player(), player("bad.py", action="return ('PLACE', *sorted(self.stones)[0])"), LIMITS)
    assert result.winner == "red"
    assert "is taken by a stone of red" in result.reason
    assert len(result.position.played) == 1


@pytest.mark.parametrize("where", ["start", "action", "turn"])
def test_too_much_cpu_time_loses(player, where):
    slow = player("slow.py", **{where: "while True: pass"})
    result = referee(4, slow, player(), Limits(seconds=0.3, patience=120.0))
    assert (result.winner, result.reason) == ("blue", "red used more than its 0.3 s of CPU time")
    assert result.seconds["red"] < 5


def test_time_is_that_of_the_whole_game(player):
    line = "import time; end = time.process_time() + 0.2\n        while time.process_time() < end: pass"
    result = referee(8, player(), player("steady.py", action=line), Limits(seconds=0.9, patience=120.0))
    assert (result.winner, result.reason) == ("red", "blue used more than its 0.9 s of CPU time")
    assert 6 <= len(result.position.played) <= 10


@pytest.mark.parametrize("where", ["start", "action"])
def test_hanging_loses(player, where):
    hung = player("hung.py", **{where: "import time; time.sleep(60)"})
    result = referee(4, hung, player(), Limits(seconds=0.1, patience=0.5))
    assert (result.winner, result.reason) == ("blue", "red did not answer within 1 s")


def test_too_much_memory_loses(player):
    hog = player("hog.py", action="self.hog = [bytes([1]) * 10_000_000 for _ in range(20)]")
    result = referee(4, hog, player(), Limits(seconds=20.0, megabytes=50.0))
    assert (result.winner, result.reason) == ("blue", "red used more than its 50 MB of memory")
    assert referee(4, hog, player(), Limits(seconds=20.0, megabytes=500.0)).reason != result.reason


def test_what_loading_takes_does_not_count(player, tmp_path):
    path = player("large.py")
    (tmp_path / "large.py").write_text("large = bytes([1]) * 100_000_000\n" + (tmp_path / "large.py").read_text())
    result = referee(3, path, player(), Limits(seconds=20.0, megabytes=50.0))
    assert "has connected" in result.reason
    assert result.megabytes["red"] < 50


def test_processes_are_ended_with_all_that_they_started(player, tmp_path):
    start = "import os, subprocess as sub; pids = [os.getpid(), sub.Popen(['sleep', '300']).pid]"
    start += "; open('pids', 'w').write(f'{pids[0]} {pids[1]}')"
    result = referee(4, player("many.py", start=start), player("bad.py", action="1 / 0"), LIMITS)
    assert result.winner == "red"
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    deadline = time.monotonic() + 10
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(is_running, pids))


def test_a_failure_after_the_end_changes_nothing(player):
    column = player("column.py", action="return ('PLACE', self.turns // 2, 0)", turn="self.turns == 4 and 1 / 0")
    other = player("other.py", action="return ('PLACE', self.turns // 2, 2)", turn="self.turns == 4 and 1 / 0")
    result = referee(3, column, other, LIMITS)
    assert (result.winner, result.reason) == ("red", "red has connected its sides in turn 5")


@pytest.mark.parametrize(
    ("red", "error", "message"),
    [
        ("nothing.py", BadOption, "there is no file nothing.py"),
        ("nothing", BadOption, "red cannot be loaded: there is no file, folder or module nothing"),
        ("good.py:Other", BadOption, "red cannot be loaded: good.py has no class Other"),
        ("broken.py", BadOption, "red cannot be loaded: SyntaxError"),
        ("leaves.py", BadOption, "red cannot be loaded: red's process ended with exit code 5"),
        ("agent:nobody", BadAgent, "no agent is called 'nobody'"),
        ("agent:human", BadAgent, "a person cannot play under the referee"),
        ("agent:adversarial:99", BadOption, "plies to look ahead"),
    ],
)
def test_players_that_cannot_be_loaded(player, tmp_path, red, error, message):
    player()
    (tmp_path / "broken.py").write_text("class Player\n")
    (tmp_path / "leaves.py").write_text("import os\nos._exit(5)\n")
    with pytest.raises(error, match=message):
        referee(3, red, "good.py", LIMITS)


def test_the_command_shows_the_game_and_its_result(player, capfd):
    player()
    assert main(["cachex-referee", "3", "good.py", "agent:greedy"]) == 0
    shown = capfd.readouterr().out
    assert shown.startswith("   2  . . .\n  1  . . .\n 0  . . .\n    0 1 2\n")
    assert "\nred plays " in shown
    assert "\nblue plays " in shown
    assert main(["cachex-referee", "3", "good.py", "agent:greedy", "--quiet", "--time", "3", "--space", "900"]) == 0
    result, red, blue, game = capfd.readouterr().out.splitlines()
    assert result.startswith(("red wins: red has connected", "blue wins: blue has connected"))
    assert red.startswith("  red, good.py: 0.0")
    assert " of 3 s" in blue
    assert ludus.make("cachex", n=3).parse(game.removeprefix("game: ")).is_over


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["2", "good.py", "good.py"], "n, the cells along a side, must be from 3 to 15, not 2"),
        (["3", "good.py", "good.py", "--time", "-1"], "--time must be a finite number from 0 on"),
        (["3", "good.py", "nothing.py"], "there is no file nothing.py"),
        (["three", "good.py", "good.py"], "invalid value for 'N'"),
    ],
)
def test_mistakes_get_one_line(player, capfd, arguments, message):
    player()
    assert main(["cachex-referee", *arguments]) == 2
    error = capfd.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1
