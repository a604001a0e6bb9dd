"""ludus.Session: a game under way, with people and agents, undo, clocks, hidden moves, and a record."""

import json
import threading
from pathlib import Path

import pytest

import ludus
from ludus.agents import Choice, make_agent
from ludus.agents.random import RandomAgent
from ludus.api import events
from ludus.api.clock import TimeControl
from ludus.api.record import BadRecord
from ludus.api.session import Session
from ludus.errors import BadAgent, BadOption, BadPosition, IllegalMove, UnknownGame, Untrusted
from ludus.games import connect4

TICTACTOE, CONNECT4, ROSHAMBO = ludus.make("tictactoe"), ludus.make("connect4"), ludus.make("roshambo", rounds=2)


class Watch:
    """A clock that goes when it is told to."""

    def __init__(self):
        self.time = 100.0

    def __call__(self):
        return self.time


class Waiting(RandomAgent):
    """Thinks until it is stopped, and says when it has begun."""

    def __init__(self, name="waiting"):
        super().__init__(name)
        self.began = threading.Event()
        self.budgets = []

    def choose(self, position, budget=None, player=None, progress=None):
        self.budgets.append(budget)
        self.began.set()
        while progress(0.5) is not False:
            pass
        return super().choose(position, budget, player)


def in_thread(function):
    """Run a function in a thread; join() returns what it returned."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()), daemon=True)
    thread.start()

    def join():
        thread.join(10)
        assert not thread.is_alive()
        return results[0] if results else None

    return join


# --- moves ------------------------------------------------------------------------------------------------------------


def test_two_people_play_a_game_to_its_end():
    session = Session("tictactoe")
    assert session.players == ["x", "o"]
    assert session.seats == ["human", "human"]
    assert session.waiting_for == [0]
    for move in ("a1", "b1", "a2", "b2"):
        session.play(move)
    assert session.moves() == session.position.moves
    assert session.last_move == "b2"
    session.play("a3")
    assert session.history == ["a1", "b1", "a2", "b2", "a3"]
    assert (session.result.values, session.result.reason, session.result.text) == ((1.0, -1.0), "rules", "x wins.")
    assert session.is_over
    assert session.waiting_for == []
    with pytest.raises(IllegalMove, match="over"):
        session.play("c3")


def test_an_illegal_move_changes_nothing_and_says_why():
    session = Session(CONNECT4, moves=list("dddddd"))
    for move in ("d", "z", 99):
        with pytest.raises(IllegalMove):
            session.play(move)
    with pytest.raises(BadAgent, match="nothing to choose"):
        session.play("a", player=1)
    assert session.history == list("dddddd")


def test_it_starts_from_a_text_from_moves_or_from_a_position():
    session = Session(TICTACTOE, text="xx1/oo1/3")
    assert session.play("c3").is_over
    played = TICTACTOE.start().play("b2").play("a1")
    assert Session(played).history == Session("tictactoe", moves=["b2", "a1"]).history == ["b2", "a1"]
    with pytest.raises(IllegalMove, match="move 2: "):
        Session("tictactoe", moves=["a1", "a1"])
    with pytest.raises(BadPosition):
        Session(TICTACTOE, text="nonsense")
    with pytest.raises(UnknownGame):
        Session("tictactoo")


def test_undo_redo_and_jump():
    session = Session(CONNECT4, moves=list("abcd"))
    session.undo(2)
    assert (session.ply, session.history, len(session.plies)) == (2, ["a", "b"], 4)
    session.redo()
    assert session.history == ["a", "b", "c"]
    session.jump(0)
    assert session.position == CONNECT4.start()
    session.jump(4)
    assert session.history == list("abcd")
    with pytest.raises(IllegalMove, match="no undone move"):
        session.redo()
    with pytest.raises(IllegalMove, match="no move to take back"):
        session.undo(5)
    with pytest.raises(IllegalMove, match="no ply 5"):
        session.jump(5)


def test_another_move_after_undo_discards_the_rest():
    session = Session(CONNECT4, moves=list("abcd"))
    session.undo(2)
    session.play("g")
    assert session.history == ["a", "b", "g"]
    with pytest.raises(IllegalMove):
        session.redo()


def test_a_person_takes_a_move_back_past_the_agents_answer():
    session = Session(CONNECT4, ["human", "random"])
    session.play("d")
    session.think()
    session.take_back()
    assert session.ply == 0
    with pytest.raises(IllegalMove, match="no move of yours"):
        session.take_back()


def test_resignation_loses_and_can_be_taken_back():
    session = Session(CONNECT4, moves=["d"])
    session.resign()
    assert (session.result.values, session.result.reason, session.result.player) == ((1.0, -1.0), "resignation", 1)
    assert session.result.text == f"{session.players[0]} wins: {session.players[1]} resigned."
    with pytest.raises(IllegalMove, match="over"):
        session.play("d")
    session.undo()
    assert (session.is_over, session.ply) == (False, 1)
    three = Session("laststone")
    three.resign(1)
    assert three.result.values == (0.5, -1.0, 0.5)
    assert three.result.text == "Results: a +0.5, b -1, c +0.5: b resigned."


def test_people_may_agree_on_a_draw_but_agents_do_not():
    session = Session(CONNECT4)
    assert not session.offer_draw(0)
    session.play("d")  # withdraws it
    assert not session.offer_draw(1)
    assert session.offer_draw(0)
    assert (session.result.values, session.result.text) == ((0.0, 0.0), "It is a draw by agreement.")
    with pytest.raises(BadOption, match="among people"):
        Session(CONNECT4, ["human", "random"]).offer_draw(0)


# --- moves at once ----------------------------------------------------------------------------------------------------


def test_moves_at_once_are_hidden_until_all_have_moved():
    told = []
    session = Session(ROSHAMBO, on_event=told.append)
    assert session.waiting_for == [0, 1]
    with pytest.raises(IllegalMove, match="for which"):
        session.play(0)
    session.play("rock", 0)
    assert (session.waiting_for, session.history, session.moves(0)) == ([1], [], [])
    assert "rock" not in json.dumps([session.json["moves"], session.record()["moves"], session.json["expectations"]])
    assert told == [events.MoveHidden(0)]
    with pytest.raises(IllegalMove, match="has moved already"):
        session.play("paper", 0)
    session.play("scissors", 1)
    assert session.history == ["rock,scissors"]
    assert [choice.move for choice in session.plies[0].choices] == ["rock", "scissors"]
    session.play("paper,paper")
    assert session.is_over
    session.undo()
    session.play((0, 0))
    assert session.history == ["rock,scissors", "rock,rock"]


def test_undo_forgets_hidden_moves():
    session = Session(ROSHAMBO, moves=["rock,rock"])
    session.play("rock", 1)
    session.undo()
    assert session.waiting_for == [0, 1]


def test_agents_and_people_move_at_once():
    session = Session(ROSHAMBO, ["human", "random"])
    assert session.advance() == [1]
    assert session.waiting_for == [0]
    assert session.advance() == []
    session.play("paper")
    assert session.ply == 1


# --- agents -----------------------------------------------------------------------------------------------------------


def test_agents_play_a_game_and_what_they_expected_is_kept():
    session = Session(TICTACTOE, ["uct:200", "greedy"])
    while session.advance():
        pass
    assert session.is_over
    assert [set(expected) for expected in session.expectations] == [{ply % 2} for ply in range(session.ply)]
    assert all(-1 <= value <= 1 for expected in session.expectations for value in expected.values())
    assert [ply.by for ply in session.plies[:2]] == [("uct:200",), ("greedy",)]


def test_the_same_seed_plays_the_same_game():
    games = []
    for seed in (1, 1, 2):
        session = Session(CONNECT4, ["uct:100", "uct:100"], seed=seed)
        for _ in range(12):
            session.think()
        games.append(session.history)
    assert games[0] == games[1] != games[2]


def test_snapshots_come_while_an_agent_thinks():
    told, shown = [], []
    session = Session(CONNECT4, ["uct:20000", "human"], on_event=told.append)
    choice = session.think(on_snapshot=shown.append, every=0.001)
    assert len(shown) > 1
    assert shown[-1].final
    assert shown[-1].best == choice.move == session.last_move
    assert [event.snapshot for event in told if isinstance(event, events.AgentThinks)] == shown


def test_stop_makes_an_agent_move_at_once():
    agent = Waiting()
    session = Session(CONNECT4, [agent, "human"])
    join = in_thread(session.think)
    assert agent.began.wait(10)
    assert session.json["thinking"] == [0]
    session.stop()
    assert join().move == session.last_move


@pytest.mark.parametrize("how", ["cancel", "undo", "seat", "resign", "play"])
def test_an_agent_that_is_overtaken_plays_nothing(how):
    agent = Waiting()
    session = Session(CONNECT4, [agent, "human"], moves=["a", "b"])
    join = in_thread(session.think)
    assert agent.began.wait(10)
    match how:
        case "cancel":
            session.cancel()
        case "undo":
            session.undo(2)
        case "seat":
            session.set_seat(0, "human")
        case "resign":
            session.resign(1)
        case "play":
            session.play("g")
    assert join() is None
    assert session.history == {"undo": [], "play": ["a", "b", "g"]}.get(how, ["a", "b"])


def test_think_waits_for_the_end_of_a_search_that_is_not_wanted_any_more():
    agent = Waiting()
    session = Session(CONNECT4, [agent, "human"], moves=["a", "b"])
    join = in_thread(session.think)
    assert agent.began.wait(10)
    with pytest.raises(BadAgent, match="thinking about this move already"):
        session.think()
    agent.began.clear()
    session.undo(2)
    again = in_thread(session.think)
    assert join() is None
    assert agent.began.wait(10)
    session.stop()
    assert again().move == session.last_move
    assert session.ply == 1


def test_seats_change_hands_in_mid_game():
    told = []
    session = Session(CONNECT4, on_event=told.append)
    session.play("d")
    session.set_seat(1, "random")
    assert session.seats == ["human", "random"]
    assert session.people == [0]
    assert session.advance() == [1]
    session.set_seat(0, make_agent("greedy", CONNECT4))
    assert session.advance() == [0]
    assert [(event.player, event.name) for event in told if isinstance(event, events.SeatChanged)] == [
        (1, "random"),
        (0, "greedy"),
    ]
    with pytest.raises(BadAgent, match="no agent is called"):
        session.set_seat(0, "nobody")
    with pytest.raises(BadOption, match="no player 2"):
        session.set_seat(2, "random")


def test_what_cannot_be_seated_is_refused_at_once():
    with pytest.raises(BadAgent, match="no agent is called"):
        Session(CONNECT4, ["human", "utc"])
    with pytest.raises(BadOption, match="as many seats, not 1"):
        Session(CONNECT4, ["human"])
    with pytest.raises(BadAgent, match="a person sits here"):
        Session(CONNECT4).think()


def test_an_agent_that_cheats_or_fails_is_told_and_the_game_stays():
    class Cheat(RandomAgent):
        def choose(self, position, budget=None, player=None, progress=None):
            return Choice(player, 99, "?")

    class Crash(RandomAgent):
        def choose(self, position, budget=None, player=None, progress=None):
            raise ZeroDivisionError("oh no")

    session = Session(CONNECT4, [Cheat("cheat"), Crash("crash")])
    with pytest.raises(BadAgent, match="cheat chose action 99, which is not legal"):
        session.think()
    session.play("d")
    with pytest.raises(ZeroDivisionError):
        session.think()
    assert session.history == ["d"]
    session.set_seat(1, "random")
    session.think()


def test_a_hint_plays_nothing():
    session = Session(TICTACTOE, text="xx1/oo1/3")
    choice = session.hint(agent="uct:500")
    assert (choice.move, session.ply) == ("c3", 0)
    assert session.hint(0, agent="solver").value == 1.0
    with pytest.raises(BadAgent, match="nothing to choose"):
        session.hint(1)


# --- clocks -----------------------------------------------------------------------------------------------------------


def test_clocks_run_for_those_whose_move_is_awaited():
    watch = Watch()
    session = Session(CONNECT4, clocks="10s+2s", monotonic=watch)
    watch.time += 50  # they stand still until the first move
    session.play("d")
    assert session.left == (12.0, 10.0)
    watch.time += 4
    assert session.left == (12.0, 6.0)
    session.play("d")
    assert session.left == (12.0, 8.0)
    watch.time += 3
    session.pause()
    watch.time += 1000
    assert session.left == (9.0, 8.0)
    session.resume()
    watch.time += 1
    assert session.left == (8.0, 8.0)


def test_a_flag_that_falls_loses():
    watch, told = Watch(), []
    session = Session(CONNECT4, clocks=["5s", None], monotonic=watch, on_event=told.append)
    session.resume()
    watch.time += 4.9
    assert session.tick() == (pytest.approx(0.1), None)
    watch.time += 0.2
    session.tick()
    name, other = session.players
    assert (session.result.reason, session.result.player) == ("time", 0)
    assert session.result.text == f"{other} wins: {name} ran out of time."
    assert [type(event) for event in told] == [events.ClockTicked, events.GameOver, events.ClockTicked]
    with pytest.raises(IllegalMove, match="over"):
        session.play("d")
    session.undo()
    assert (session.is_over, session.left) == (False, (5.0, None))


def test_a_move_after_the_flag_is_too_late():
    watch = Watch()
    session = Session(CONNECT4, clocks="5s", monotonic=watch)
    session.resume()
    watch.time += 6
    with pytest.raises(IllegalMove, match="over"):
        session.play("d")
    assert session.result.reason == "time"


def test_undo_gives_the_time_back():
    watch = Watch()
    session = Session(CONNECT4, clocks="10s", monotonic=watch)
    session.play("d")
    watch.time += 4
    session.play("d")
    watch.time += 5
    session.undo()
    assert session.left == (10.0, 10.0)
    watch.time += 100  # clocks stand still until the next move
    assert session.left == (10.0, 10.0)


def test_where_everyone_moves_all_clocks_run():
    watch = Watch()
    session = Session(ROSHAMBO, clocks="10s+1s", monotonic=watch)
    session.resume()
    watch.time += 3
    session.play("rock", 1)
    watch.time += 2
    assert session.left == (5.0, 8.0)
    watch.time += 6
    session.tick()
    assert session.result.player == 0


def test_an_agent_with_a_clock_gets_a_share_of_it():
    agent = Waiting()
    watch = Watch()
    session = Session(CONNECT4, [agent, "human"], clocks="100s+1s", monotonic=watch)
    join = in_thread(session.think)
    assert agent.began.wait(10)
    watch.time += 30
    session.stop()
    join()
    assert agent.budgets[0].seconds == pytest.approx(100 / 25 + 0.8)
    assert session.left == (71.0, 100.0)


def test_an_agent_may_lose_on_time_too():
    agent, watch = Waiting(), Watch()
    session = Session(CONNECT4, [agent, "human"], clocks="10s", monotonic=watch)
    join = in_thread(session.think)
    assert agent.began.wait(10)
    watch.time += 11
    assert join() is None
    assert (session.result.reason, session.result.player) == ("time", 0)


def test_a_name_with_a_budget_keeps_it_under_a_clock():
    session = Session(CONNECT4, ["uct:300", "uct"], clocks="60s")
    assert session.think().simulations == 300
    assert session.think().simulations > 0


def test_time_controls_are_read_and_refused():
    assert TimeControl.of("5min+2s") == TimeControl(300, 2)
    assert TimeControl.of(90) == TimeControl(90)
    for wrong in ("soon", "5", "0s", "5min+", "5min+x"):
        with pytest.raises(BadOption):
            TimeControl.of(wrong)
    with pytest.raises(BadOption, match="3 clocks for 2 players"):
        Session(CONNECT4, clocks=[None, None, None])


# --- records ----------------------------------------------------------------------------------------------------------


def test_a_record_goes_through_json_and_the_game_goes_on():
    watch = Watch()
    session = Session(CONNECT4, ["uct:100", "human"], clocks="10s+1s", seed=5, monotonic=watch)
    session.think()
    watch.time += 4
    session.play("d")
    session.think()
    session.undo()
    text = json.dumps(session.record(), allow_nan=False)
    again = Session.from_record(text)
    assert again.record() == session.record()
    assert (again.position, again.ply, len(again.plies)) == (session.position, 2, 3)
    assert again.expectations == session.expectations
    assert again.left == session.left
    again.redo()
    assert again.history == [ply.move for ply in session.plies]
    again.play("a")
    assert again.think() is not None


@pytest.mark.parametrize("name", ludus.names())
def test_every_built_in_game_can_be_recorded(name):
    session = Session(name, ["random"] * ludus.make(name).players, seed=3)
    for _ in range(8):
        session.advance()
    again = Session.from_record(json.loads(json.dumps(session.record())))
    assert again.position == session.position
    assert again.history == session.history


def test_an_end_by_resignation_is_recorded():
    session = Session(CONNECT4, moves=["d"])
    session.resign()
    assert Session.from_record(session.record()).result == session.result


def test_a_record_runs_no_code(tmp_path):
    trap = tmp_path / "trap.py"
    trap.write_text("import pathlib; pathlib.Path(__file__).with_suffix('.ran').touch()\n")
    record = Session(CONNECT4).record()
    record["game"]["source"] = str(trap)
    with pytest.raises(Untrusted, match=r"trap\.py is Python code"):
        Session.from_record(record)
    record = Session(CONNECT4).record()
    record["seats"] = [f"zero:{tmp_path}", str(trap)]
    session = Session.from_record(record)
    assert session.seats == record["seats"]
    with pytest.raises(ludus.LudusError):
        session.think()
    assert not trap.with_suffix(".ran").exists()


def test_a_game_from_a_file_is_given_or_trusted(tmp_path):
    own = tmp_path / "mine.py"
    own.write_text(Path(connect4.__file__).read_text())
    game = ludus.make(own, rows=5)
    record = json.loads(json.dumps(Session(game, moves=["d"]).record()))
    with pytest.raises(Untrusted):
        Session.from_record(record)
    assert Session.from_record(record, game=game).history == ["d"]
    assert Session.from_record(record, trust=True).game.rules.rows == 5
    with pytest.raises(ludus.LudusError, match="cannot be read by tictactoe"):
        Session.from_record(record, game=ludus.make("tictactoe"))


def test_every_damage_to_a_record_gets_one_line():
    session = Session(CONNECT4, ["uct:50", "human"], clocks="10s")
    session.think()
    session.play("d")
    session.resign()
    record = session.record()

    def damaged(value, path=()):
        """The record with each of its parts replaced by something else."""
        if isinstance(value, dict):
            for key in value:
                for other in damaged(value[key], (*path, key)):
                    yield {**value, key: other}
                if path or key not in ("ludus", "players", "result"):
                    yield {other: value[other] for other in value if other != key}
        elif isinstance(value, list):
            for index in range(len(value)):
                for other in damaged(value[index], (*path, index)):
                    yield [*value[:index], other, *value[index + 1 :]]
        yield from (other for other in ("nonsense", -7, 1e999, None, [], {}) if type(other) is not type(value))

    messages = []
    for case in damaged(record):
        try:
            Session.from_record(case)
        except ludus.LudusError as error:
            messages.append(str(error))
    assert len(messages) > 100
    assert not any("\n" in message for message in messages)
    for text in ("", "[", "null", '{"format": "ludus game 1"}', "[" * 100_000):
        with pytest.raises(BadRecord):
            Session.from_record(text)


# --- front ends -------------------------------------------------------------------------------------------------------


def test_events_tell_the_whole_game():
    told = []
    session = Session(TICTACTOE, text="xx1/oo1/3", on_event=told.append)
    session.play("c3")
    session.undo()
    assert [type(event) for event in told] == [events.MovePlayed, events.GameOver, events.PlyChanged]
    assert (told[0].move, told[0].ply, told[1].result.values) == ("c3", 1, (1.0, -1.0))


def test_the_state_for_a_browser_goes_into_json():
    session = Session(CONNECT4, ["human", "uct:50"], clocks="1min")
    session.play("d")
    session.think()
    read = json.loads(json.dumps(session.json, allow_nan=False))
    assert read["waiting_for"] == [0]
    assert read["moves"] == session.history
    assert read["position"]["to_move"] == 0


def test_many_threads_may_use_one_session():
    session = Session(CONNECT4, ["random", "random"])
    failures = []

    def use(number):
        try:
            for step in range(60):
                match (number + step) % 5:
                    case 0:
                        session.advance()
                    case 1:
                        json.dumps(session.json)
                    case 2:
                        if session.ply:
                            session.undo()
                    case 3:
                        session.record()
                    case 4:
                        session.tick()
        except (IllegalMove, BadAgent):
            pass  # another thread was quicker
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert failures == []
    position = CONNECT4.start()
    for move in session.history:
        position = position.play(move)
    assert position == session.position
