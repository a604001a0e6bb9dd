"""Games over HTTP and WebSocket: playing, undoing, seats, records, agents that fail, restarts."""

import dataclasses
import json
import threading
import time

import pytest

from tests.web.serving import running, wait_for


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("web")) as server:
        yield server


@pytest.fixture
def client(server):
    return server.client()


def test_the_catalogue_has_all_built_in_games_and_their_options(client):
    catalogue = client.get("/api/catalogue").json()
    games = {game["key"]: game for game in catalogue["games"]}
    assert {"connect4", "hive", "sevn", "cachex", "breakthrough", "tictactoe", "gdl:tictactoe"} <= set(games)
    assert {"name": "rows", "default": 6, "kind": "int"} in games["connect4"]["options"]
    assert "uct:1000" in [agent["name"] for agent in catalogue["agents"]]
    assert catalogue["runs"] == []


def test_a_person_plays_an_agent_to_the_end(client):
    id = client.new_game(game="tictactoe", seats=["human", "uct:200"], seed=1)
    with client.open(id) as socket:
        state = socket.state()
        assert [player["yours"] for player in state["players"]] == [True, False]
        assert len(state["moves"]) == 9
        assert state["moves"][0]["touches"]
        while state["result"] is None:
            socket.send(type="play", player=0, action=state["moves"][0]["action"])
            state = socket.state(lambda state: state["result"] or (state["moves"] and state["ply"] % 2 == 0))
        assert state["result"]["reason"] == "rules"
        assert state["waiting_for"] == state["moves"] == []
        expected = [values for entry in state["history"] for values in entry["values"]]
        assert set(expected) == {"1"}  # the agent says what it expects, the person does not
    assert client.get(f"/api/games/{id}").json()["result"] == state["result"]


def test_agents_play_each_other_only_while_somebody_looks(server, client):
    id = client.new_game(game="connect4", options={"rows": 4, "columns": 5}, seats=["uct:30s", "uct:30s"])
    room = server.rooms.get(id)
    time.sleep(0.05)
    assert room.session.thinking == []
    with client.open(id) as socket:
        thought = socket.next("thinking")
        assert thought["snapshot"]["simulations"] > 0
        assert thought["snapshot"]["line"]
    closed = time.monotonic()
    wait_for(lambda: room.session.thinking == [])
    assert time.monotonic() - closed < 10.0
    assert room.session.ply == 0


def test_undo_redo_jump_and_take_back(client):
    id = client.new_game(game="tictactoe", moves=["a1", "b2", "c3"])
    with client.open(id) as socket:
        assert socket.state()["plies"] == 3
        for message, ply in (("undo", 2), ("redo", 3), ("take_back", 2)):
            socket.send(type=message)
            assert socket.state()["ply"] == ply
        socket.send(type="jump", ply=0)
        state = socket.state()
        assert (state["ply"], state["plies"], state["can_undo"], state["can_redo"]) == (0, 3, False, True)
        socket.send(type="view", ply=3, ref="v")
        assert socket.next("view")["view"]["text"] != state["view"]["text"]
        state = socket.play("b2")
        assert [entry["move"] for entry in state["history"]] == ["b2"]
        socket.send(type="undo", plies=9, ref="u")
        assert socket.next("error")["ref"] == "u"


def test_an_agent_waits_while_a_person_looks_at_an_earlier_position(client):
    id = client.new_game(game="tictactoe", seats=["human", "random"], moves=["a1", "b2", "c3"])
    with client.open(id) as socket:
        state = socket.state(lambda state: state["ply"] == 4)
        socket.send(type="jump", ply=1)
        state = socket.state()
        assert state["reviewing"]
        assert state["plies"] == 4
        socket.send(type="resume")
        assert socket.state(lambda state: state["ply"] == 2)["plies"] == 2


def test_an_illegal_move_says_why_and_nothing_else_happens(client):
    id = client.new_game(game="breakthrough")
    with client.open(id) as socket:
        socket.state()
        socket.send(type="play", move="a1a8", ref=1)
        error = socket.next("error")
        assert (error["ref"], error["of"]) == (1, "play")
        assert "one row forward" in error["message"]
        socket.send(type="why", touched=["a2", "a5"])
        assert socket.next("why")["message"]
        assert client.get(f"/api/games/{id}").json()["ply"] == 0


def test_moves_at_once_stay_hidden_until_all_have_moved(server):
    first, second = server.client(), server.client()
    id = first.new_game(game="roshambo", seats=["human", "open"])
    with first.open(id) as one, second.open(id) as two:
        assert {move["player"] for move in one.state()["moves"]} == {0}
        assert two.state()["players"][1]["free"]
        two.send(type="claim", player=1)
        two.state(lambda state: state["players"][1]["yours"])
        one.send(type="play", move="rock", player=0)
        seen = two.state(lambda state: state["hidden"] == [0])
        assert "rock" not in json.dumps(seen["history"])
        assert {move["player"] for move in seen["moves"]} == {1}
        two.send(type="play", move="paper", player=1)
        assert one.state(lambda state: state["ply"] == 1)["history"][0]["move"] == "rock,paper"


def test_what_an_agent_tends_to_stays_hidden_where_all_move_at_once(client):
    id = client.new_game(game="roshambo", seats=["human", "uct:1s"])
    with client.open(id) as socket:
        thought = socket.next("thinking")["snapshot"]
        assert (thought["best"], thought["line"]) == (None, [])
        assert thought["simulations"] > 0
        socket.send(type="tree", of="agent", player=1)
        assert "hidden" in socket.next("error")["message"]


def test_each_browser_controls_only_its_own_seats(server):
    owner, guest, watcher = server.client(), server.client(), server.client()
    id = owner.new_game(game="tictactoe", seats=["human", "open"])
    with owner.open(id) as mine, guest.open(id) as theirs, watcher.open(id) as other:
        theirs.state()
        theirs.send(type="claim", player=0, ref="taken")
        assert "another person" in theirs.next("error")["message"]
        theirs.send(type="claim", player=1)
        theirs.state(lambda state: state["players"][1]["yours"])
        other.state()
        for message in (
            {"type": "play", "move": "b2"},
            {"type": "undo"},
            {"type": "seat", "player": 0, "seat": "random"},
        ):
            other.send(**message)
            assert "you watch this game" in other.next("error")["message"]
        theirs.send(type="play", move="b2")
        assert "not your turn" in theirs.next("error")["message"]
        theirs.send(type="resign", player=0)
        assert "not yours" in theirs.next("error")["message"]
        assert mine.play("b2")["moves"] == []
        assert theirs.play("a1")["moves"] == []
        assert owner.http.delete(f"/api/games/{id}").status_code == 200
    assert watcher.get(f"/api/games/{id}").status_code == 404


def test_seats_change_at_any_time(client):
    id = client.new_game(game="tictactoe")
    with client.open(id) as socket:
        socket.play("b2")
        socket.send(type="seat", player=1, seat="uct:100")
        state = socket.state(lambda state: state["ply"] == 2)
        assert state["history"][1]["by"] == ["uct:100"]
        socket.send(type="seat", player=1, seat="uct:c=nonsense", ref="x")
        assert "c must be" in socket.next("error")["message"]
        socket.send(type="seat", player=1, seat="human")
        assert socket.state(lambda state: state["players"][1]["person"])["players"][1]["yours"]


def test_a_clock_runs_out(client):
    id = client.new_game(game="tictactoe", clocks="300ms")
    with client.open(id) as socket:
        assert socket.play("b2")["players"][1]["running"]
        state = socket.state(lambda state: state["result"])
        assert state["result"]["reason"] == "time"
        assert state["result"]["player"] == 1


def test_resignation_and_draw_end_the_game(client):
    id = client.new_game(game="tictactoe")
    with client.open(id) as socket:
        socket.state()
        socket.send(type="resign", player=0)
        assert socket.state()["result"]["reason"] == "resignation"
        socket.send(type="undo")
        assert socket.state()["result"] is None
        socket.send(type="draw", player=0)
        assert socket.state()["draw_offers"] == [0]
        socket.send(type="draw", player=1)
        assert socket.state()["result"]["reason"] == "agreement"


def test_a_record_is_downloaded_and_loaded_again(client):
    id = client.new_game(game="connect4", options={"rows": 5}, moves=["d", "c", "d"])
    answer = client.get(f"/api/games/{id}/record")
    assert "attachment" in answer.headers["content-disposition"]
    again = client.new_game(record=answer.json())
    state = client.get(f"/api/games/{again}").json()
    assert [entry["move"] for entry in state["history"]] == ["d", "c", "d"]
    assert state["options"]["rows"] == 5
    broken = {**answer.json(), "moves": [{"move": "z", "choices": [], "left": None}]}
    assert client.post("/api/games", {"record": broken}).status_code == 400


def test_a_position_is_pasted_and_a_wrong_one_explained(client):
    text = client.post("/api/positions", {"game": "connect4", "moves": ["d", "d"]}).json()["text"]
    id = client.new_game(game="connect4", position=text)
    assert client.get(f"/api/games/{id}").json()["view"]["text"] == text
    answer = client.post("/api/positions", {"game": "connect4", "position": "7/7/nonsense"})
    assert answer.status_code == 400
    assert "character" in answer.json()["error"]


def test_pieces_set_up_by_hand_are_a_position_or_explained(client):
    request = {"game": "hive", "placed": {"0,0": [1], "1,0": [6]}, "player": 0}
    answer = client.post("/api/arrange", request).json()
    assert answer["problem"] == ""
    assert len(answer["cells"]) == 10  # two hexagons and those beside them
    assert answer["view"]["text"] == "Base;InProgress;White[3];put wS1;put bS1 wS1-"
    apart = client.post("/api/arrange", {**request, "placed": {"0,0": [1], "4,0": [6]}}).json()
    assert (apart["view"], len(apart["cells"])) == (None, 14)
    assert apart["problem"] == "the hive is not in one piece: nothing joins 4,0 to wS1"
    for placed in ({"0,0": 1}, {"0,0": [99]}, {"x": [1]}):
        assert client.post("/api/arrange", {**request, "placed": placed}).status_code == 400
    assert client.post("/api/arrange", {"game": "sevn", "placed": {"player 1": 0}}).status_code == 400


def test_questions_to_agents_over_http(client):
    question = {"game": "tictactoe", "moves": ["a1", "b2"], "agent": "uct:500"}
    choice = client.post("/api/choose", question).json()
    assert choice["player"] == 0
    assert choice["simulations"] <= 500
    analysis = client.post("/api/analyse", {**question, "agent": "solver"}).json()
    assert analysis["solved"]
    assert len(analysis["blocks"][0]["moves"]) == 7
    assert client.post("/api/choose", {**question, "budget": "infinite"}).status_code == 400


def test_analysis_tree_hint_and_review(client):
    id = client.new_game(game="tictactoe", moves=["a1", "c3"])
    with client.open(id) as socket:
        socket.state()
        socket.send(type="tree")
        assert "analyse a position first" in socket.next("error")["message"]
        socket.send(type="analyse", agent="uct:2000", budget=2000, ref="a")
        final = socket.next("snapshot", lambda message: message["snapshot"]["final"])
        assert final["ref"] == "a"
        best = final["snapshot"]["best"]
        socket.send(type="tree", path=[])
        root = socket.next("tree")
        assert root["size"] > 100
        edge = next(edge for edge in root["node"]["edges"] if edge["move"] == best)
        assert edge["has_child"]
        socket.send(type="tree", path=[best])
        node = socket.next("tree")
        assert node["node"]["visits"] == edge["visits"] - 1
        assert node["view"]["last"]["move"] == best
        socket.send(type="hint", agent="uct:200")
        assert socket.next("hint")["move"] in [move["move"] for move in root["view"]["board"]["moves"]]
        socket.send(type="review", agent="uct:100")
        judged = [socket.next("review") for _ in range(3)]
        assert [each["ply"] for each in judged] == [2, 1, 0]
        assert judged[-1]["done"]
        assert all(each["solved"] for each in judged)
        assert judged[1]["loss"] == 1.0  # c3 loses a drawn game


def test_an_endless_analysis_ends_with_its_socket(server, client):
    id = client.new_game(game="connect4", options={"rows": 4, "columns": 5})
    before = server.memory.leased
    with client.open(id) as socket:
        socket.send(type="analyse", budget="infinite")
        socket.next("snapshot")
        assert server.memory.leased > before
    closed = time.monotonic()
    wait_for(lambda: server.memory.leased <= before)
    assert time.monotonic() - closed < 10.0


def test_an_agent_that_dies_ends_its_seat_only(client, misbehaving):
    id = client.new_game(game="connect4", options={"rows": 4, "columns": 5}, seats=["misbehaving:die", "random"])
    with client.open(id) as socket:
        state = socket.state(lambda state: state["players"][0]["failed"])
        assert "process ended" in state["players"][0]["failed"]
        assert state["result"] is None
        socket.send(type="seat", player=0, seat="random")
        assert socket.state(lambda state: state["result"])["players"][0]["failed"] == ""


def test_a_restart_comes_back_to_the_same_game(tmp_path):
    with running(tmp_path) as server:
        client = server.client()
        id = client.new_game(game="tictactoe", seats=["human", "random"], clocks="5min")
        with client.open(id) as socket:
            before = socket.play("b2")
            if before["ply"] < 2:  # else the quick answer came with it
                before = socket.state(lambda state: state["ply"] == 2)
        cookies = dict(client.http.cookies)
    with running(tmp_path, port=server.port) as again:
        client = again.client()
        client.http.cookies.clear()
        client.http.cookies.update(cookies)
        assert [game["id"] for game in client.get("/api/games").json()["games"]] == [id]
        with client.open(id) as socket:
            state = socket.state()
            assert [entry["move"] for entry in state["history"]] == [entry["move"] for entry in before["history"]]
            assert state["players"][0]["yours"]
            assert state["players"][0]["left"] == pytest.approx(before["players"][0]["left"], abs=2)
            assert state["players"][0]["running"]
            socket.send(type="play", action=state["moves"][0]["action"])
            socket.state(lambda state: state["ply"] == 4)


def test_damaged_files_of_games_are_no_games(tmp_path):
    (tmp_path / "games").mkdir()
    for id, text in (("a" * 16, "{"), ("b" * 16, '{"format": "ludus web game 1"}'), ("c" * 16, "[]")):
        (tmp_path / "games" / f"{id}.json").write_text(text)
    with running(tmp_path) as server:
        client = server.client()
        assert client.get("/api/games").json() == {"games": []}
        assert [client.get(f"/api/games/{id * 16}").status_code for id in "abc"] == [404] * 3


def test_a_hint_ends_with_its_socket(server, client):
    id = client.new_game(game="connect4", options={"rows": 4, "columns": 5})
    before = server.memory.leased
    with client.open(id) as socket:
        socket.state()
        socket.send(type="hint", agent="uct:60s")
        wait_for(lambda: server.memory.leased > before)
    closed = time.monotonic()
    wait_for(lambda: server.memory.leased <= before)
    assert time.monotonic() - closed < 10.0


def test_a_game_between_people_is_compiled_beside_it(server, client):
    id = client.new_game(game="tictactoe", options={})
    wait_for(lambda: server.rooms.get(id).session.game.compiled)
    with client.open(id) as socket:
        assert socket.play("b2")["ply"] == 1


def test_a_person_takes_no_budget_and_no_options(client):
    for seat in ("human:x", "human:2s", " human"):
        answer = client.post("/api/games", {"game": "tictactoe", "seats": [seat, "human"]})
        assert answer.status_code == 400
        assert "write human" in answer.json()["error"]
    with client.open(client.new_game(game="tictactoe")) as socket:
        socket.send(type="seat", player=1, seat="human:x")
        assert "write human" in socket.next("error")["message"]
        socket.send(type="seat", player=True, seat="random")
        assert "player must be a number" in socket.next("error")["message"]


def test_a_trained_player_is_offered_where_one_comes_with_ludus(client):
    games = {game["key"]: game["trained"] for game in client.get("/api/catalogue").json()["games"]}
    assert games["tictactoe"]
    assert games["sevn"]
    assert not games["gdl:tictactoe"]

    def trained(**options):
        return client.post("/api/trained", {"game": "tictactoe", "options": options}).json()["trained"]

    assert trained()
    assert client.get(f"/api/games/{client.new_game(game='tictactoe')}").json()["trained"]


def slowed(server, key):
    """Add a game in GDL to the catalogue as `rules:slow KEY`; its rules wait for the event that is returned."""
    catalogue, ready = server.app.state.server.catalogue, threading.Event()
    entry = catalogue.entry(key)

    def make(**options):
        assert options.get("reasoner") or ready.wait(60)
        return entry.make(**options)

    catalogue._add(dataclasses.replace(entry, key=f"rules:slow {key}", source="rules", make=make))
    return ready


def test_a_hidden_move_stays_when_the_rules_are_ready(client, server):
    ready = slowed(server, "gdl:babel")
    id = client.new_game(game="rules:slow gdl:babel", seats=["human", "human", "random"])
    with client.open(id) as socket:
        state = socket.state()
        socket.send(type="play", move=state["moves"][0]["move"], player=0)
        assert socket.state(lambda state: state["hidden"] == [0])["ply"] == 0
        ready.set()
        state = socket.state(lambda state: state["hidden"] == [0, 2])
        socket.send(type="play", move=state["moves"][0]["move"], player=1)
        assert socket.state(lambda state: state["ply"] == 1)


def test_people_play_by_the_reasoner_while_rules_are_compiled_and_agents_wait(client, server):
    ready = slowed(server, "gdl:tictactoe")
    for wrong in ("nonsense", "zero"):  # no player for it comes with Ludus
        assert (
            client.post("/api/games", {"game": "rules:slow gdl:tictactoe", "seats": ["human", wrong]}).status_code
            == 400
        )
    id = client.new_game(game="rules:slow gdl:tictactoe", seats=["human", "random"])
    with client.open(id) as socket:
        state = socket.state()
        assert state["view"]["board"]["cells"] == []  # the reasoner shows facts
        state = socket.play(state["moves"][4]["move"])
        assert "agents wait" in socket.next("status")["text"]
        assert [each["thinking"] for each in state["players"]] == [False, False]
        ready.set()
        after = socket.state(lambda state: state["ply"] == 2)
        assert after["history"][0]["move"] == state["history"][0]["move"]
        assert len(after["view"]["board"]["pieces"]) == 2
