"""What the server refuses: other sites, other names, missing tokens, paths, garbage, and bodies that are too large."""

import json
import socket as sockets

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from ludus.errors import BadOption
from ludus.gdl.limits import LIMITS
from ludus.gdl.reasoned import ReasonedGame
from ludus.web.security import HEADERS
from ludus.web.serving import address_of
from ludus.web.settings import MESSAGE_LIMIT, UPLOAD_LIMIT, WebSettings
from tests.own_games import HEAP, HELPER
from tests.web.serving import running

TOKEN = "correcthorse42"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("web")) as server:
        yield server


@pytest.fixture
def client(server):
    return server.client()


# --- other sites ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", ""])
def test_requests_by_another_name_are_refused(server, host):
    answer = httpx.get(f"{server.url}/api/catalogue", headers={"host": host})
    assert answer.status_code in (400, 403)
    assert "games" not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_posts_and_sockets_from_other_sites_are_refused(server, client, headers):
    answer = client.http.post("/api/games", json={"game": "tictactoe"}, headers=headers)
    assert answer.status_code == 403
    id = client.new_game(game="tictactoe")
    with pytest.raises(InvalidStatus), client.open(id, **headers):
        pass


def test_the_own_origin_is_accepted(server, client):
    answer = client.http.post("/api/games", json={"game": "tictactoe"}, headers={"origin": server.url})
    assert answer.status_code == 200


def test_a_form_of_another_page_is_not_json(client):
    answer = client.http.post("/api/games", content='{"game": "tictactoe"}', headers={"content-type": "text/plain"})
    assert answer.status_code == 400


def test_every_answer_has_the_headers_of_a_strict_page(client):
    for path in ("/", "/static/app.js", "/api/catalogue", "/nothing"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"


def test_errors_of_the_server_and_refusals_have_the_same_headers(server, client, monkeypatch):
    def fail(browser):
        raise RuntimeError("a mistake of ours")

    wanted = set(HEADERS.items())
    monkeypatch.setattr(server.rooms, "of_browser", fail)
    failed = client.get("/api/games")
    assert failed.status_code == 500
    assert "console" in failed.json()["error"]
    refused = [
        failed,
        client.get("/api/games/nothing"),
        client.post("/api/games", {"game": 7}),
        client.http.put("/api/catalogue"),
        httpx.get(server.url, headers={"host": "evil.example"}),
    ]
    for answer in refused:
        assert wanted <= set(answer.headers.items()), answer.status_code
    for path, headers in (("nothing", {}), ("api/games/x/live", {"Origin": "http://evil.example"})):
        with (
            pytest.raises(InvalidStatus) as told,
            connect(f"ws://127.0.0.1:{server.port}/{path}", additional_headers=headers),
        ):
            pass
        assert wanted <= {(name.lower(), value) for name, value in told.value.response.headers.raw_items()}
    with sockets.create_connection(("127.0.0.1", server.port), timeout=10) as raw:
        raw.sendall(b"no such protocol\r\n\r\n")
        said = raw.makefile("rb").read().decode()
    assert said.startswith("HTTP/1.1 400")
    assert all(f"{name}: {value}\r\n" in said for name, value in HEADERS.items())


def test_the_pages_name_no_foreign_host(server):
    from ludus.web.app import STATIC

    for path in STATIC.iterdir():
        text = path.read_text()
        for address in ("https://", "//cdn", "innerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert address not in text, path
        assert "http://" not in text.replace("http://www.w3.org/", ""), path


def test_the_cookie_is_secret_and_stays_on_this_site(server):
    cookie = httpx.get(server.url).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie


# --- tokens -----------------------------------------------------------------------------------------------------------


def test_another_host_than_loopback_demands_a_token():
    with pytest.raises(BadOption, match="--token"):
        WebSettings(host="0.0.0.0")
    with pytest.raises(BadOption, match="8 letters"):
        WebSettings(host="0.0.0.0", token="short")
    assert WebSettings(host="::1").is_loopback
    address = address_of(WebSettings(host="192.0.2.7", port=80, token=TOKEN))
    assert address == f"http://192.0.2.7:80/?token={TOKEN}"


@pytest.mark.parametrize("option", ["games", "runs"])
def test_folders_are_folders(option, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadOption, match=f"--{option} must be a folder"):
        WebSettings(**{option: tmp_path / "file"})


def test_the_token_opens_the_page_once_and_a_cookie_does_the_rest(tmp_path):
    with running(tmp_path, token=TOKEN) as server:
        plain = httpx.Client(base_url=server.url)
        assert plain.get("/").status_code == plain.get("/api/catalogue").status_code == 403
        assert plain.get("/?token=wrongwrong").status_code == 403
        opened = plain.get(f"/?token={TOKEN}&x=1")
        assert opened.status_code == 303
        assert opened.headers["location"] == "/?x=1"
        assert plain.get("/").status_code == 200
        client = server.client()  # with the token in a header, as programs have it
        id = client.new_game(game="tictactoe")
        with client.open(id) as socket:
            socket.state()
        address = f"ws://127.0.0.1:{server.port}/api/games/{id}/live"
        with pytest.raises(InvalidStatus), connect(address):
            pass


# --- garbage ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("garbage", "code"),
    [
        (b"\x00\xff", 1003),
        ("nonsense", 1007),
        ("[1, 2]", 1007),
        ('{"type": 7}', 1007),
        ("[" * 5000, 1007),
        ("x" * (MESSAGE_LIMIT + 1), 1009),
        ("x" * (16 * MESSAGE_LIMIT), 1009),
    ],
)
def test_garbage_closes_its_socket_and_no_other(client, garbage, code):
    id = client.new_game(game="tictactoe")
    with client.open(id) as good, client.open(id) as bad:
        bad.state()
        bad.socket.send(garbage)
        with pytest.raises(ConnectionClosed) as closed:
            bad.next("never")
        assert closed.value.rcvd.code == code
        assert good.play("b2")["ply"] == 1


@pytest.mark.parametrize(
    "message",
    [
        {"type": "nonsense"},
        {"type": "play"},
        {"type": "play", "action": True},
        {"type": "play", "action": 10**30},
        {"type": "play", "move": "b2", "player": "0"},
        {"type": "play", "move": "b2", "player": [0]},
        {"type": "jump", "ply": -1},
        {"type": "jump", "ply": 1.5},
        {"type": "undo", "plies": "many"},
        {"type": "seat", "player": 9, "seat": "random"},
        {"type": "seat", "player": 0, "seat": 3},
        {"type": "claim", "player": None},
        {"type": "view", "ply": "x"},
        {"type": "view", "ply": 0, "moves": [["a1"]]},
        {"type": "analyse", "budget": "-3s"},
        {"type": "analyse", "budget": {"a": 1}},
        {"type": "analyse", "ply": 10**12},
        {"type": "analyse", "every": 0},
        {"type": "analyse", "agent": 7},
        {"type": "analyse", "player": "x"},
        {"type": "tree", "path": "abc"},
        {"type": "tree", "of": "agent", "player": 77},
        {"type": "hint", "player": 5},
    ],
)
def test_wrong_messages_are_answered_in_one_line(client, message):
    id = client.new_game(game="tictactoe")
    with client.open(id) as socket:
        socket.state()
        socket.send(**message)
        error = socket.next("error", seconds=5)["message"]
        assert error
        assert "\n" not in error
        assert not error.startswith(("TypeError", "KeyError", "AttributeError", "ValueError"))
        assert socket.play("b2")["ply"] == 1


def test_requests_that_are_no_http_do_not_disturb_others(server, client):
    with sockets.create_connection(("127.0.0.1", server.port)) as raw:
        raw.sendall(b"\x16\x03\x01\x02\x00 nonsense\r\n\r\n")
        raw.recv(1000)
    assert client.get("/api/catalogue").status_code == 200


def test_bodies_are_bounded(client):
    big = json.dumps({"game": "tictactoe", "position": "x" * UPLOAD_LIMIT})
    headers = {"content-type": "application/json"}
    assert client.http.post("/api/games", content=big, headers=headers).status_code == 413

    def chunks():
        for _ in range(40):
            yield b"x" * (UPLOAD_LIMIT // 20)

    assert client.http.post("/api/games", content=chunks(), headers=headers).status_code == 413
    assert client.post("/api/positions", {"game": "tictactoe", "position": "x" * 200_000}).status_code == 400
    assert client.post("/api/rules", {"name": "big", "text": ";" * 300_000}).status_code == 400
    assert client.http.post("/api/pictures/sevn", content=b"no picture").status_code == 400


# --- paths and code ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2f..%2fcli.py",
        "/api/games/..%2f..%2fetc%2fpasswd",
        "/api/games/%2e%2e",
        "/api/runs/..%2f..",
        "/api/games/" + "a" * 300,
    ],
)
def test_no_path_outside_the_folders_is_read(client, path):
    answer = client.get(path)
    assert answer.status_code in (400, 404)
    assert "import" not in answer.text


@pytest.mark.parametrize(
    "request_",
    [
        {"game": "/etc/passwd"},
        {"game": "../games/x.kif"},
        {"game": "nonsense.py"},
        {"game": "openspiel:hex"},
        {"game": "tictactoe", "seats": ["human", "zero:/tmp"]},
        {"game": "tictactoe", "seats": ["human", "zero:../runs/x"]},
        {"game": "tictactoe", "seats": ["human", "policy:.."]},
        {"game": "tictactoe", "seats": ["human", "zero:x@1:batch=100000"]},
        {"game": "tictactoe", "seats": ["human", "engine:python3 examples/engine.py"]},
        {"game": "gdl:tictactoe", "seats": ["human", "ggp:127.0.0.1:1"]},
        {"game": "tictactoe", "seats": ["human"]},
        {"game": "tictactoe", "seats": ["human", "uct:" + "1" * 300]},
        {"game": "tictactoe", "options": {"x": [1]}},
        {"game": "tictactoe", "options": {"nonsense": 1}},
        {"game": "connect4", "options": {"rows": 10**9}},
        {"game": "tictactoe", "clocks": "nonsense"},
        {"game": "tictactoe", "seed": -1},
        {"game": "tictactoe", "surprise": 1},
        {},
    ],
)
def test_requests_that_name_files_or_nonsense_are_refused(client, request_):
    answer = client.post("/api/games", request_)
    assert answer.status_code == 400, answer.text
    assert "\n" not in answer.json()["error"]


def test_files_of_models_are_not_looked_for(client):
    for path in ("/etc/passwd", "/nowhere"):
        answer = client.post("/api/games", {"game": "tictactoe", "seats": ["human", f"sb3:{path}"]})
        assert answer.status_code == 400
        assert answer.json()["error"].startswith("sb3 takes a file: the server offers those")


def test_a_record_runs_no_code(client, tmp_path):
    (tmp_path / "amounts.py").write_text(HELPER)
    (tmp_path / "heap.py").write_text(HEAP + f"\nopen({str(tmp_path / 'was-run')!r}, 'w').close()\n")
    id = client.new_game(game="tictactoe")
    record = client.get(f"/api/games/{id}/record").json()
    spec = {"source": str(tmp_path / "heap.py"), "options": {}, "digest": ""}
    answer = client.post("/api/games", {"record": {**record, "game": spec, "name": "heap"}})
    assert answer.status_code == 400
    assert "--game" in answer.json()["error"]
    assert not (tmp_path / "was-run").exists()


def test_a_game_of_a_users_own_file_is_played_if_the_command_line_names_it(tmp_path):
    (tmp_path / "amounts.py").write_text(HELPER)
    (tmp_path / "heap.py").write_text(HEAP)
    with running(tmp_path, files=(str(tmp_path / "heap.py"),)) as server:
        client = server.client()
        assert "file:heap.py" in [game["key"] for game in client.get("/api/catalogue").json()["games"]]
        id = client.new_game(game="file:heap.py", seats=["human", "random"])
        with client.open(id) as socket:
            socket.send(type="play", action=socket.state()["moves"][0]["action"])
            assert socket.state(lambda state: state["ply"] == 2)["view"]["drawing"]
        record = client.get(f"/api/games/{id}/record").json()
        assert client.new_game(record=record)


def test_an_uploaded_rule_sheet_is_a_game_and_a_wrong_one_is_explained(client, server):
    from ludus.gdl.described import GAMES

    text = (GAMES / "tictactoe.kif").read_text()
    assert client.post("/api/rules", {"name": "mine", "text": text}).json() == {"key": "rules:mine"}
    id = client.new_game(game="rules:mine")
    with client.open(id) as socket:
        state = socket.state()
        socket.send(type="play", action=state["moves"][0]["action"], player=state["moves"][0]["player"])
        assert socket.state(lambda state: state["ply"] == 1)
    wrong = client.post("/api/rules", {"name": "wrong", "text": "(role x) (nonsense"})
    assert wrong.status_code == 400
    assert client.post("/api/rules", {"name": "../../x", "text": text}).status_code == 400
    assert client.post("/api/rules", {"name": "mine", "text": text + ";"}).status_code == 400
    assert client.http.post("/api/rules", content=b'{"name": "x", "text": "\\ud800"}').status_code == 400
    kept = [path.name for path in (server.settings.games / "rules").iterdir()]
    assert kept == ["mine.kif"]


COUNTING = """
(role x) (init (n z)) (legal x go) (goal x 100)
(<= (next (n (s ?a))) (true (n ?a)))
(<= terminal (true (n (s (s z)))))
"""
"""Rules that cannot be grounded: there is no end to the facts that they may build."""


def test_rules_that_cannot_be_grounded_hold_up_nobody_and_are_tried_once(client, server, monkeypatch):
    catalogue = server.app.state.server.catalogue
    with catalogue._describing:  # as while another description is grounded
        assert client.post("/api/rules", {"name": "counting", "text": COUNTING}).json() == {"key": "rules:counting"}
    monkeypatch.setattr(LIMITS, "grounding_seconds", 0.5)
    assert isinstance(catalogue.game("rules:counting"), ReasonedGame)
    assert not catalogue.takes_long("rules:counting", {})
    with catalogue._describing:
        assert catalogue.game("rules:counting").start().play("go").play("go").is_over
