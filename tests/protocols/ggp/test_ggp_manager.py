"""The game manager against players that misbehave, and whole matches of our own players over the loopback."""

import contextlib
import os
import re
import subprocess
import sys
import threading
import time

import pytest

import ludus
from ludus.api.matches import open_results
from ludus.errors import BadAgent, BadOption
from ludus.ggp.http import Server
from ludus.ggp.messages import Abort, Play, Stop
from ludus.protocols.ggp_manager import Fault, GameOver, Settings, manage
from ludus.protocols.ggp_player import Player
from ludus.stopping import NEVER
from tests.protocols.ggp.ggp_help import Puppet, described, raw_server, serving

SHORT = """
(role a) (role b) (init on) (<= (legal ?r 1) (role ?r)) (<= (legal ?r 2) (role ?r))
(<= terminal (not (true on))) (goal a 50) (goal b 50)
"""
"""A game of one step, in which both roles have a choice."""


def run(addresses, events=None, stop=NEVER, results=None, **settings):
    given = {"start_clock": 60, "play_clock": 60, "seed": 5, **settings}
    tell = events.append if events is not None else None
    return manage(described(), addresses, Settings(**given), results=results, on_event=tell, stop=stop)


def faults_of(events):
    return [event for event in events if isinstance(event, Fault)]


def test_honest_players_play_all_games_and_change_roles(tmp_path):
    players, events = [Puppet(seed=1), Puppet(seed=2)], []
    with serving(*players) as addresses:
        result = run(addresses, events, games=4, results=tmp_path / "results.sqlite")
    assert faults_of(events) == []
    assert [record.seats for record in result.games] == [(0, 1), (1, 0)] * 2
    assert result.recorded == 4
    assert result.ending == "finished"
    assert len({message.match for message in players[0].heard if isinstance(message, Play)}) == 4
    with open_results(tmp_path / "results.sqlite") as stored:
        game = stored.game(1)
        assert game.record.moves == result.games[0].moves
        assert game.record.values == result.games[0].values
        assert [label.startswith("ggp:puppet@127.0.0.1:") for label in game.agents] == [True, True]
        assert len(stored.ratings(anchor=game.agents[0]).agents) == 2


def test_all_players_are_asked_for_their_names_at_once():
    """One after the other, each silent player would delay the match by the seconds that it has for an answer."""
    together = threading.Barrier(2)

    class Waiting(Puppet):
        def answer(self, content, began):
            if b"INFO" in content:
                with contextlib.suppress(threading.BrokenBarrierError):
                    together.wait(3.0)
            return super().answer(content, began)

    with serving(Waiting(), Waiting()) as addresses:
        run(addresses)
    assert not together.broken


def test_every_role_is_asked_at_every_step_and_told_the_last_joint_move():
    players = [Puppet(seed=1), Puppet(seed=2)]
    with serving(*players) as addresses:
        result = run(addresses)
    record = result.games[0]
    for player in players:
        plays = [message for message in player.heard if isinstance(message, Play)]
        assert len(plays) == len(record.moves)
        assert plays[0].moves is None
        assert [play.moves[step % 2] for step, play in enumerate(plays[1:])] == list(record.moves[:-1])
        assert isinstance(player.heard[-1], Stop)
        assert player.heard[-1].moves[(len(record.moves) - 1) % 2] == record.moves[-1]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [("(mark 9 9)", "illegal"), ("(mark 1", "garbled"), ("one two", "garbled"), ("(" * 9999, "garbled")],
)
def test_a_move_that_cannot_be_made_is_replaced_and_recorded(answer, kind, tmp_path):
    events, file = [], tmp_path / "results.sqlite"
    with serving(Puppet(lambda step, move: answer.encode() if step < 2 else None), Puppet()) as addresses:
        result = run(addresses, events, results=file)
    with open_results(file) as stored:
        assert stored.game(1).record.reason == f"moves replaced: x 2 x {kind}"
        assert stored.ratings(anchor=stored.game(1).agents[0]).failures == []  # nobody lost by it
    faults = faults_of(events)
    assert [(fault.role, fault.kind, fault.step) for fault in faults] == [("x", kind, 0), ("x", kind, 1)]
    assert result.games[0].reason == f"moves replaced: x 2 x {kind}"
    assert result.played == 1


def test_moves_in_other_capitals_and_layout_are_understood():
    events = []
    with serving(Puppet(lambda step, move: move.upper().replace(" ", "  ").encode()), Puppet()) as addresses:
        run(addresses, events)
    assert faults_of(events) == []


def test_a_slow_player_is_late_and_the_game_goes_on():
    noticed, events = threading.Event(), []

    def slow(step, move):
        if step == 1:
            assert noticed.wait(60)

    def tell(event):
        events.append(event)
        if isinstance(event, Fault):
            noticed.set()

    with serving(Puppet(slow), Puppet()) as addresses:
        settings = Settings(60, 4, seed=5, grace=0.0)
        manage(described(), addresses, settings, on_event=tell)
    assert [(fault.kind, fault.step) for fault in faults_of(events)] == [("late", 1)]


def test_a_player_that_dies_is_replaced_by_random_moves():
    events: list = []
    dying = Server(Puppet(lambda step, move: dying.__exit__() if step == 1 else None).answer, port=0)
    with serving(Puppet()) as (alive,), dying:
        result = run([alive, f"127.0.0.1:{dying.port}"], events)
    assert {fault.kind for fault in faults_of(events)} == {"unreachable"}
    assert result.played == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\xff\xfe\x00",
        b"HTTP/1.0 200 OK\r\n\r\n" + b"(" * (1 << 21),
        b"HTTP/1.0 404 Not Found\r\n\r\n",
        b"HTTP/1.0 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 4\r\n\r\nnoop",
    ],
    ids=["nothing", "bytes", "giant", "refused", "redirect"],
)
def test_a_server_that_is_no_player(answer):
    events = []
    with serving(Puppet()) as (good,), raw_server(answer) as bad:
        result = run([good, bad], events)
    assert result.played == 1
    assert {fault.kind for fault in faults_of(events)} <= {"garbled", "unreachable"}
    assert result.games[0].reason.startswith("moves replaced: o ")


def test_a_player_that_accepts_and_keeps_silent_costs_its_clocks_only(monkeypatch, tmp_path):
    monkeypatch.setattr("ludus.protocols.ggp_manager.SHORT_CLOCK", 0.2)
    (tmp_path / "short.kif").write_text(SHORT)
    game = ludus.make(str(tmp_path / "short.kif"), reasoner=True)
    events, began = [], time.monotonic()
    with serving(Puppet()) as (good,), raw_server(None) as silent:
        result = manage(game, [silent, good], Settings(3, 3, seed=1, grace=0.0), on_event=events.append)
    assert [(fault.kind, fault.step) for fault in faults_of(events)] == [("late", -1), ("late", 0)]
    assert len(result.games[0].moves) == 1
    assert time.monotonic() - began < 30.0


def test_a_player_that_is_not_ready_is_asked_all_the_same():
    class Busy(Puppet):
        def answer(self, content, began):
            reply = super().answer(content, began)
            return b"busy" if reply == b"ready" else reply

    events = []
    with serving(Busy(), Puppet()) as addresses:
        run(addresses, events)
    assert [(fault.kind, fault.step) for fault in faults_of(events)] == [("not ready", -1)]


def test_a_stopped_match_is_aborted():
    class Soon:
        count = 0

        def is_set(self):
            self.count += 1
            return self.count > 2

    players = [Puppet(), Puppet()]
    with serving(*players) as addresses:
        result = run(addresses, stop=Soon())
    assert (result.played, result.ending) == (0, "stopped")
    assert all(isinstance(player.heard[-1], Abort) for player in players)


def test_mistakes_of_the_user_are_one_line():
    with pytest.raises(BadAgent, match="the roles x o"):
        run(["127.0.0.1:1"])
    with pytest.raises(BadOption, match="--play-clock"):
        run(["127.0.0.1:1", "127.0.0.1:2"], play_clock=0)
    with pytest.raises(BadOption, match="no address"):
        run(["127.0.0.1:1", "nowhere:x"])


def test_two_of_our_players_play_scrambled_games_without_a_fault():
    events = []
    with Player(learn=False) as one, Player(learn=False) as other, serving(one, other) as addresses:
        result = run(addresses, events, start_clock=4, play_clock=1, grace=20.0, games=2, scramble=True)
    assert faults_of(events) == []
    assert result.played == 2
    assert all(sum(event.goals) == 100 for event in events if isinstance(event, GameOver))


def test_the_commands_play_a_match_in_processes_of_their_own(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "ludus.cli", "ggp"]

    def start_player():
        return subprocess.Popen(
            [*command, "player", "--port", "0", "--no-learn"], stdout=subprocess.PIPE, text=True, env=environment
        )

    players = [start_player() for _ in range(2)]
    try:
        addresses = []
        for player in players:
            found = re.search(r"Listening on (127\.0\.0\.1:\d+)", player.stdout.readline())
            assert found
            addresses.append(found[1])
        ended = subprocess.run(
            [
                *command,
                *["match", "gdl:tictactoe", "--start-clock", "3", "--play-clock", "1", "--results", "results.sqlite"],
                *addresses,
            ],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert ended.returncode == 0, ended.stderr
        assert "1 game recorded in results.sqlite" in ended.stdout
        assert "illegal" not in ended.stderr
        assert "garbled" not in ended.stderr
    finally:
        for player in players:
            player.send_signal(2)
    for player in players:
        assert player.wait(10) == 0
        assert "Stopped." in player.stdout.read()
        player.stdout.close()
