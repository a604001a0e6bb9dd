"""A player of general game playing under a manager that makes mistakes. Nothing is compiled in this process."""

import os
import signal
import threading
import time

import pytest

from ludus.protocols.ggp_player import Player, margin
from tests.protocols.ggp.ggp_help import TICTACTOE, Hand

ENDLESS = """
(role a) (init (n 0)) (init (step 1)) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5)
(<= (legal a (Keep ?x)) (true (n ?x))) (<= (legal a (Grow ?x)) (true (n ?x)))
(<= (next (n (s ?x))) (does a (Grow ?x))) (<= (next (n ?x)) (does a (Keep ?x)))
(<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))
(<= terminal (true (step 5))) (goal a 100)
"""
"""Facts are nested ever deeper: grounding does not end."""


@pytest.fixture(scope="module")
def events():
    return []


@pytest.fixture(scope="module")
def player(events):
    with Player("tester", learn=False, on_event=events.append) as made:
        yield made


@pytest.fixture(autouse=True)
def no_match_is_left(player):
    """A test that fails must not keep the player busy."""
    yield
    match = player._match
    if match is not None:
        player.answer(f"(ABORT {match.start.match})".encode())


@pytest.fixture
def match(player, request):
    """A match that has been started."""
    hand = Hand(player, f"m.{abs(hash(request.node.name))}")
    assert hand.start() == "ready"
    return hand


def test_whole_matches_in_a_row_with_legal_moves_inside_the_clocks(player, events):
    for role, seed in (("x", 1), ("o", 2)):
        hand = Hand(player, f"whole.{role}", role=role, seed=seed)
        assert hand.ask("(INFO)") == "((name tester) (status available))"
        assert hand.start() == "ready"
        assert hand.ask("(INFO)") == "((name tester) (status busy))"
        while not hand.line.is_over:
            move = hand.play()
            assert hand.is_legal(move)
            hand.advance(move)
        assert hand.stop() == "done"
        assert events[-1].goals == tuple(hand.line.goals)
        assert hand.usual < 1.5


def test_names_are_echoed_as_spelled(player):
    rules = TICTACTOE.upper()
    hand = Hand(player, "UPPER", rules, role="X")
    assert hand.start() == "ready"
    move = hand.play()
    assert move.startswith("(MARK ")
    assert hand.is_legal(move)
    hand.role = "x"  # spelled unlike the rules
    assert hand.ask("(abort UPPER)") == "aborted"
    assert hand.start() == "ready"
    assert hand.play().startswith("(MARK ")
    assert hand.ask("(abort UPPER)") == "aborted"


def test_names_in_latin_1_go_back_in_latin_1(player):
    rules = TICTACTOE.replace("mark", "m\xe4rk")
    for encoding in ("latin-1", "utf-8"):
        text = f"(START {encoding} x ({rules}) 1 1)".encode(encoding)
        assert player.answer(text) == b"ready"
        answer = player.answer(f"(PLAY {encoding} NIL)".encode())
        assert answer.startswith("(m\xe4rk ".encode(encoding))
        assert player.answer(f"(ABORT {encoding})".encode()) == b"aborted"


def test_the_state_is_taken_from_the_joint_move_and_not_from_the_answer(match):
    answered = match.play()
    other = next(move for move in match.line.moves(0) if move != answered)
    match.advance(other)  # the manager has replaced the move
    assert match.play() == "noop"
    match.advance("noop")
    assert match.is_legal(match.play())


def test_a_repeated_play_gets_the_same_answer_and_makes_no_step(match):
    first = match.play()
    assert match.play() == first
    match.advance(first)
    assert [match.play() for _ in range(3)] == ["noop"] * 3
    match.advance("noop")
    third = match.play()
    assert match.play() == third
    assert match.is_legal(third)


def test_two_plays_at_the_same_time_get_the_same_answer(match):
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(match.play())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 3
    assert len(set(answers)) == 1


@pytest.mark.parametrize("moves", ["NIL", "()", "((mark 1 1))", "(noop noop noop)", "((fly 1) noop)", "(noop noop)"])
def test_a_joint_move_that_does_not_fit_is_left_out(match, moves):
    match.advance(match.play())
    match.play()
    match.advance("noop")
    expected = match.play()
    assert match.is_legal(expected)
    answer = match.ask(f"(PLAY {match.name} {moves})")
    assert match.is_legal(answer)
    match.advance(expected)
    assert match.play() == "noop"  # it has not lost its place


def test_a_lost_message_is_guessed_where_one_step_fits(match):
    match.advance(match.play())
    match.advance("noop")  # this PLAY was never sent
    assert match.ask(f"(PLAY {match.name} {match.shown()})") in match.line.moves(0)


def test_messages_of_other_matches_are_refused(match):
    assert match.ask("(PLAY other NIL)") == "busy"
    assert match.ask("(STOP other NIL)") == "busy"
    assert match.ask("(ABORT other)") == "busy"
    assert match.ask(f"(START other x ({TICTACTOE}) 1 1)") == "busy"
    assert match.ask(f"(PREVIEW ({TICTACTOE}) 1)") == "busy"
    assert match.is_legal(match.play())


def test_a_repeated_start_is_ready_and_a_repeated_stop_is_done(player):
    hand = Hand(player, "again")
    assert [hand.start(), hand.start()] == ["ready", "ready"]
    assert hand.is_legal(hand.play())
    assert hand.start() == "ready"
    assert [hand.stop(), hand.stop()] == ["done", "done"]
    assert hand.play() == "busy"


def test_a_manager_may_begin_again_under_the_same_name(player, events):
    hand = Hand(player, "same")
    for _ in range(2):  # the second time after moves were made, without STOP
        assert hand.start() == "ready"
        hand = Hand(player, "same", seed=7)
        move = hand.play()
        assert hand.is_legal(move)
        hand.advance(move)
        assert hand.play() == "noop"
    begun = len([event for event in events if getattr(event, "match", "") == "same" and hasattr(event, "play_clock")])
    assert begun == 2
    other = Hand(player, "same", role="o")
    assert other.start() == "ready"
    assert other.play() == "noop"
    renamed = Hand(player, "same", TICTACTOE.replace("mark", "put"))
    assert renamed.start() == "ready"
    assert renamed.play().startswith("(put ")
    assert [renamed.stop(), renamed.start()] == ["done", "ready"]
    assert renamed.is_legal(renamed.play())
    assert renamed.ask("(ABORT same)") == "aborted"


@pytest.mark.parametrize(
    "text", [b"", b"\x00\xff", b"(((((", b"hello", b"(PLAY)", b"(" * 5000, "(ÜBER)".encode(), b"(START a b c d e)"]
)
def test_garbage_is_answered_in_one_line(match, text):
    assert match.player.answer(text).startswith(b"error: ")
    assert match.is_legal(match.play())


@pytest.mark.parametrize(
    "rules",
    ["", "(role x)", "(<= (p ?x))", TICTACTOE.replace("(role x)", ""), "(role x) (<= (legal x a) (not (legal x a)))"],
)
def test_rules_that_cannot_be_played_are_refused_and_the_player_stays_available(player, rules):
    assert player.answer(f"(START bad x ({rules}) 5 1)".encode()) == b"busy"
    assert b"available" in player.answer(b"(INFO)")


def test_rules_that_turn_out_bad_after_the_answer_to_start_leave_the_player_available(player, monkeypatch):
    monkeypatch.setattr("ludus.protocols.ggp_player.margin", lambda clock: 10.0)  # START is answered at once
    assert player.answer(b"(START late-bad x ((role x)) 1 1)") in (b"ready", b"busy")
    until = time.monotonic() + 20.0
    while b"available" not in player.answer(b"(INFO)"):
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_start_does_not_wait_longer_than_its_clock_for_the_last_match_to_end(player, monkeypatch):
    waited = []
    monkeypatch.setattr(player, "_wait", lambda condition, until: waited.append(until - time.monotonic()))
    for clock, most in ((0, 0.1), (1, 0.3), (60, 1.0)):
        hand = Hand(player, f"clock.{clock}", clocks=(clock, 1))
        waited.clear()
        hand.start()
        assert waited[0] <= most
        hand.ask(f"(ABORT clock.{clock})")


def test_a_preview_is_ready_at_once(player):
    began = time.monotonic()
    assert player.answer(f"(PREVIEW ({TICTACTOE}) 10)".encode()) == b"ready"
    assert time.monotonic() - began < 8.0
    assert b"available" in player.answer(b"(INFO)")


def test_the_thinking_process_may_die_in_a_match(match):
    match.advance(match.play())
    match.play()
    match.advance("noop")
    os.kill(match.player._child.process.pid, signal.SIGKILL)
    match.clocks = (2, 10)
    until = time.monotonic() + 20.0
    move = match.play()
    while not match.is_legal(move) and time.monotonic() < until:  # one second may be too short for a new process
        move = match.play()
    assert match.is_legal(move)


def test_one_thread_looks_for_legal_moves_while_the_thinking_process_is_silent(player, monkeypatch):
    hand = Hand(player, "silent")
    assert hand.start() == "ready"
    looked, ended = [], threading.Event()

    def find(match, asked):
        looked.append(asked)
        ended.wait(20.0)

    monkeypatch.setattr(player, "_send_play", lambda match, moves: None)
    monkeypatch.setattr(player, "_find_spare", find)
    assert [hand.play() for _ in range(2)] == ["nil", "nil"]
    assert looked == [1]
    thread = player._match.sparing
    assert hand.ask("(ABORT silent)") == "aborted"
    ended.set()
    thread.join(20.0)
    assert not thread.is_alive()  # there is nothing more to look for


def test_a_match_whose_manager_is_gone_is_given_up(player, monkeypatch):
    monkeypatch.setattr("ludus.protocols.ggp_player.PATIENCE", -10.0)
    gone = Hand(player, "gone")
    assert gone.start() == "ready"
    assert "available" in gone.ask("(INFO)")
    later = Hand(player, "later")
    assert later.start() == "ready"
    assert gone.play() == "busy"
    assert later.is_legal(later.play())
    assert later.ask("(ABORT later)") == "aborted"


def test_rules_that_do_not_ground_in_time_are_played_by_the_reasoner(player):
    hand = Hand(player, "endless", ENDLESS, role="a", clocks=(1, 1))
    assert hand.start() == "ready"
    while not hand.line.is_over:
        move = hand.play()
        assert hand.is_legal(move)
        hand.advance(move)
    assert hand.usual < 1.5
    assert hand.stop() == "done"
    hand = Hand(player, "next", clocks=(5, 1))  # the process that still grounds is replaced
    assert hand.start() == "ready"
    assert hand.is_legal(hand.play())
    assert hand.ask("(ABORT next)") == "aborted"


def test_without_any_time_the_first_legal_move_is_the_answer(player):
    hand = Hand(player, "no-time", clocks=(0, 0))
    assert hand.start() == "ready"
    assert hand.is_legal(hand.play())
    assert hand.stop() == "done"


def test_the_margin_of_a_clock():
    assert margin(1) == 0.25
    assert margin(10) == 1.0
    assert margin(600) == 2.0
