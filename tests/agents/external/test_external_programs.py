"""Hive engines, Cachex players and players of general game playing as agents."""

import os
import shlex
import sys
from pathlib import Path

import pytest

import ludus
from ludus.agents import make_agent
from ludus.agents.agent import AgentFault
from ludus.agents.external import program, uhp
from ludus.agents.identity import identify
from ludus.errors import BadAgent
from tests.protocols.ggp.ggp_help import Puppet, described, raw_server, serving

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes as on Unix")
ODD = Path(__file__).with_name("odd_hive.py")
LUDUS = f"{sys.executable} -c 'import sys; from ludus.cli import main; sys.exit(main())'"

# --- Hive engines -----------------------------------------------------------------------------------------------------


def hive(tmp_path, mode="good"):
    return f"uhp:{shlex.join([sys.executable, str(ODD), mode, str(tmp_path / 'log')])}"


def test_our_own_engine_plays_as_a_foreign_one_with_every_expansion():
    game = ludus.make("hive", expansions="MLP", limit=8)
    result = ludus.play_match(game, [f"uhp:{LUDUS} uhp --agent random", "random"], 2, seed=1, openings=2, parallel=1)
    assert [record.reason for record in result.games] == ["", ""]
    assert [len(record.moves) for record in result.games] == [8, 8]


def test_the_engine_is_told_the_game_and_its_time(tmp_path):
    game = ludus.make("hive", expansions="M")
    agent = make_agent(hive(tmp_path) + ":2s", game)
    agent.new_game(0)
    position = game.start()
    position = position.play(agent.choose(position).action).play("bG1 wG1-")
    assert agent.choose(position, "3500ms").move == "wQ -wG1"
    other = game.start().play("wS1").play("bS1 wS1-")
    with pytest.raises(AgentFault, match="illegal move: wQ -wG1: wG1 is not on the board"):
        agent.choose(other)
    assert (tmp_path / "log").read_text().splitlines() == [
        "newgame Base+M",
        "bestmove time 00:00:02",
        "play wG1",
        "play bG1 wG1-",
        "bestmove time 00:00:04",
        "newgame Base+M;InProgress;White[2];wS1;bS1 wS1-",
        "bestmove time 00:00:02",
    ]
    deep = hive(tmp_path) + ":depth=3"
    assert make_agent(deep, game)._limit(None) == "depth 3"
    assert identify(deep, game).name == deep
    assert identify(hive(tmp_path), game).name == hive(tmp_path) + ":5s"


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("crash", "crashed: the program ended with exit code 9"),
        ("hang", "hung: no answer in 0.5 s"),
        ("illegal", "illegal move: wA1 bQ/"),
        ("disagree", "crashed: the engine answers 'play wG1' with 'invalidmove I see it differently'"),
        ("flood", "crashed: the answer to bestmove time 00:00:05 has more than 1000 lines"),
    ],
)
def test_an_engine_that_fails_loses_the_game(tmp_path, mode, reason):
    game = ludus.make("hive", limit=6)
    result = ludus.play_match(
        game, [hive(tmp_path, mode), "random"], 2, seed=1, parallel=1, move_limit=0.5 if mode == "hang" else 20
    )
    assert result.games[0].values == (-1.0, 1.0)
    assert result.games[0].reason.startswith(reason)
    assert result.played == 2


@pytest.mark.parametrize(
    ("game", "options", "mode", "message"),
    [
        ("tictactoe", {}, "good", "cannot play tictactoe: the Universal Hive Protocol is for hive"),
        ("hive", {"expansions": "MP"}, "mosquito", r"does not know the Pillbug, so it cannot play Base\+MP"),
        ("hive", {"surround": 3}, "good", "engines play with surround=6"),
    ],
)
def test_a_hive_engine_is_asked_for_its_own_game_only(tmp_path, game, options, mode, message):
    with pytest.raises(BadAgent, match=message):
        make_agent(hive(tmp_path, mode), ludus.make(game, **options))


def test_a_hive_engine_that_does_not_answer_is_given_up_outside_a_match(tmp_path, monkeypatch):
    monkeypatch.setattr(program, "MOVE_SECONDS", 0.3)
    agent = make_agent(hive(tmp_path, "hang"), ludus.make("hive"))
    with pytest.raises(AgentFault, match="hung: no answer in 0"):
        agent.choose(agent.game.start())


def test_a_program_that_is_no_hive_engine_is_refused(monkeypatch):
    monkeypatch.setattr(uhp, "START_SECONDS", 0.3)
    with pytest.raises(BadAgent, match=r"cannot be used: hung: no answer in 0\.3 s"):
        make_agent("uhp:sleep 100", ludus.make("hive"))


# --- Cachex players ---------------------------------------------------------------------------------------------------

PLAYER = """
import helper


class Player:
    def __init__(self, player, n):
        self.n, self.taken, self.turns = n, set(), 0

    def action(self):
        {action}
        free = helper.cells(self.n)
        return ("PLACE", *next(cell for cell in free if cell not in self.taken))

    def turn(self, player, action):
        self.turns += 1
        self.taken.add(action[1:])
"""


@pytest.fixture
def player(tmp_path):
    def write(action="pass"):
        (tmp_path / "helper.py").write_text("def cells(n):\n    return [(r, q) for r in range(n) for q in range(n)]\n")
        (tmp_path / "mine.py").write_text(PLAYER.format(action=action))
        return f"cachex:{tmp_path / 'mine.py'}"

    return write


def test_a_player_file_plays_games_of_cachex_in_both_colours(player):
    game = ludus.make("cachex", n=3)
    result = ludus.play_match(game, [player("print('shown elsewhere')"), player()], 2, parallel=1)
    assert [record.reason for record in result.games] == ["", ""]
    agent = make_agent(player(), game)
    position = game.start().play("0,1").play("0,0")
    assert agent.choose(position).move == "0,2"
    assert agent.choose(position.play("0,2").play("1,0")).move == "1,1"
    assert agent.choose(position).move == "0,2"  # a move was taken back: a player from the beginning


@pytest.mark.parametrize(
    ("action", "options", "reason"),
    [
        ("1 / 0", "", "crashed: the player failed with ZeroDivisionError: division by zero"),
        ("import os; os._exit(4)", "", "crashed: the player's process ended with exit code 4"),
        ("return ('PLACE', 1, 1)", "", "illegal move: 1,1: "),
        ("return 'nothing'", "", "illegal move: the player made an illegal action: 'nothing' is not an action"),
        ("while True: pass", ":seconds=0.2", "crashed: the player used more than its 0.2 s of CPU time"),
        ("import time; time.sleep(100)", "", "hung: no answer in 0.5 s"),
    ],
)
def test_a_player_file_that_fails_loses_the_game(player, action, options, reason):
    game = ludus.make("cachex", n=3)
    result = ludus.play_match(
        game, [player(action) + options, "random"], 2, parallel=1, move_limit=0.5 if "sleep" in action else 20
    )
    assert result.games[0].values == (-1.0, 1.0)
    assert result.games[0].reason.startswith(reason)


@pytest.mark.parametrize(
    ("name", "game", "message"),
    [
        ("cachex:mine.py", ludus.make("tictactoe"), "such players are for cachex"),
        ("cachex:nothing.py", ludus.make("cachex", n=3), "there is no file nothing.py"),
        ("cachex", ludus.make("cachex", n=3), "write cachex:path/to/player.py"),
        ("cachex:mine.py", ludus.make("cachex", n=3, steal=False), "with steal=yes only"),
        ("cachex:nothing", ludus.make("cachex", n=3), "cannot be loaded: there is no file, folder or module nothing"),
    ],
)
def test_a_cachex_player_that_cannot_be_used_is_refused(name, game, message):
    with pytest.raises(BadAgent, match=message):
        make_agent(name, game)


# --- players of general game playing ----------------------------------------------------------------------------------


def test_a_player_over_http_plays_a_described_game_after_an_opening():
    puppet = Puppet()
    with serving(puppet) as (address,):
        result = ludus.play_match(described(), [f"ggp:http://{address}:2s", "random"], 4, seed=1, openings=1)
    assert [record.reason for record in result.games] == [""] * 4
    names = [type(message).__name__ for message in puppet.heard]
    assert names[0] == "Info"
    assert names.count("Start") == names.count("Abort") == 4
    assert {message.play_clock for message in puppet.heard if hasattr(message, "play_clock")} == {2}


def test_a_player_over_http_plays_a_game_of_three_who_move_at_once():
    with serving(Puppet()) as (address,):
        result = ludus.play_match(ludus.make("gdl:babel", reasoner=True), [f"ggp:{address}", "random", "random"], 3)
    assert [record.reason for record in result.games] == [""] * 3


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"(mark 9 9)", r"illegal move: \(mark 9 9\) is not a legal move of x"),
        (b"((", "illegal move: "),
    ],
)
def test_a_player_over_http_that_fails_loses_the_game(answer, reason):
    with serving(Puppet(lambda step, move: answer)) as (address,):
        result = ludus.play_match(described(), [f"ggp:{address}", "random"], 2, seed=1)
    assert result.games[0].values == (-1.0, 1.0)
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(result.games[0].reason)


def test_a_player_over_http_that_is_silent_or_busy_or_absent():
    class Busy(Puppet):
        def answer(self, content, began):
            return super().answer(content, began) if b"INFO" in content else b"busy"

    game = described()
    with serving(Busy()) as (address,):
        agent = make_agent(f"ggp:{address}", game)
        with pytest.raises(AgentFault, match="is not ready: it answers 'busy' to START"):
            agent.choose(game.start())
    with pytest.raises(BadAgent, match="cannot be reached"):
        make_agent(f"ggp:{address}", game)
    with raw_server(b"nonsense") as address, pytest.raises(BadAgent, match="no HTTP"):
        make_agent(f"ggp:{address}", game)
    with pytest.raises(BadAgent, match="such players need a description in GDL"):
        make_agent(f"ggp:{address}", ludus.make("tictactoe"))
    with pytest.raises(BadAgent, match="is no address of a player"):
        make_agent("ggp:", game)
