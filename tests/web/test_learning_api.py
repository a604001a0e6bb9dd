"""Trainings and arenas over HTTP: resumed, watched, stopped and extended, in processes of their own.

test_browser_server.py starts, stops and resumes a training by clicks.
"""

import pytest

import ludus
from ludus.runs.config import Config, with_settings
from ludus.runs.lock import REQUEST
from ludus.runs.run import Run
from ludus.web.catalogue import Catalogue
from ludus.web.settings import WebSettings
from tests.web.serving import QUICK, running, wait_for

PATIENCE = 120.0


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("web")) as server:
        yield server


@pytest.fixture
def client(server):
    return server.client()


def test_a_training_is_resumed_and_watched_and_a_later_server_stops_it(client, server):
    Run.create(server.settings.runs / "first", ludus.make("tictactoe"), with_settings(Config(), QUICK))
    assert client.post("/api/runs/first/stop").status_code == 400
    assert client.post("/api/runs/first/resume", {"minutes": 5}).status_code == 200
    assert client.post("/api/runs", {"name": "first", "game": "tictactoe"}).status_code == 400
    assert client.get("/api/runs").json()["runs"][0]["training"]

    def lines():
        answer = client.get("/api/runs/first").json()
        assert not (answer["job"] and answer["job"]["failure"]), answer["job"]
        return answer["log"]

    first = wait_for(lines, PATIENCE)[0]
    assert first["games"] > 0
    assert sum(first["wins"]) + first["draws"] == first["games"]
    wait_for(lambda: client.get("/api/runs/first/games").json()["games"], PATIENCE)
    with running(server.settings.runs.parent) as later:  # it has not started this training
        other = later.client()
        found = other.get("/api/runs/first").json()
        assert (found["training"], found["elsewhere"], found["stopping"]) == (True, True, False)
        assert other.post("/api/runs/first/resume", {}).status_code == 400
        assert other.post("/api/runs/first/stop").status_code == 200
        found = other.get("/api/runs/first").json()
        assert found["stopping"] or not found["training"]  # it may have stopped already
        wait_for(lambda: not other.get("/api/runs/first").json()["training"], PATIENCE)
        assert not (server.settings.runs / "first" / REQUEST).exists()
        assert other.post("/api/runs/first/stop").status_code == 400
    wait_for(lambda: not client.get("/api/runs/first").json()["training"], PATIENCE)
    game = client.get("/api/runs/first/games").json()["games"][0]
    id = client.new_game(game="tictactoe", position=game["start"], moves=game["moves"])
    assert client.get(f"/api/games/{id}").json()["result"]["values"] == game["results"]


def test_wrong_trainings_are_refused_or_say_why_they_failed(client):
    for request in (
        {"name": "../x", "game": "tictactoe"},
        {"name": "x", "game": "nonsense"},
        {"name": "x", "game": "tictactoe", "minutes": 0},
        {"name": "x", "game": "tictactoe", "settings": {"initial_run": "/etc"}},
        {"name": "x", "game": "tictactoe", "settings": {"--trust": 1}},
    ):
        assert client.post("/api/runs", request).status_code == 400
    client.post("/api/runs", {"name": "wrong", "game": "tictactoe", "settings": {"nonsense": 1}})
    failure = wait_for(lambda: client.get("/api/runs/wrong").json()["job"]["failure"])
    assert "nonsense" in failure


def test_what_is_no_run_in_the_folder_of_runs_is_left_out(tmp_path):
    folder = tmp_path / "runs"
    (folder / "damaged").mkdir(parents=True)
    (folder / "damaged" / "config.toml").write_text("x = [")
    (folder / "link").symlink_to(tmp_path / "nothing")
    assert Catalogue(WebSettings(games=tmp_path / "games", runs=folder)).runs() == []


def test_agents_join_a_running_arena(client):
    assert client.get("/api/arena/ratings").status_code == 400
    start = {"game": "tictactoe", "agents": ["uct:20"], "minutes": 5}
    assert client.post("/api/arena/start", start).status_code == 200
    assert client.post("/api/arena/start", start).status_code == 400

    def labels():
        answer = client.get("/api/arena/ratings")
        return {row["label"] for row in answer.json()["rows"]} if answer.status_code == 200 else set()

    wait_for(lambda: labels() == {"random", "uct:20"}, PATIENCE)
    assert client.post("/api/arena/agents", {"agents": ["zero:../x"]}).status_code == 400
    assert client.post("/api/arena/agents", {"agents": ["uct:40"]}).status_code == 200
    wait_for(lambda: "uct:40" in labels(), PATIENCE)
    assert client.post("/api/arena/stop").status_code == 200
    wait_for(lambda: not client.get("/api/arena").json()["arena"]["running"], PATIENCE)


def test_ratings_and_games_of_a_file_of_results(client, server):
    ludus.play_match("connect4", ["uct:30", "random"], 4, parallel=1, results=server.settings.results)
    found = client.get("/api/arena/ratings?game=connect4").json()
    assert [row["label"] for row in found["rows"]] == ["uct:30", "random"]
    assert found["matrix"]["games"][0][1] > 0
    assert found["matrix"]["scores"][0][0] is None
    game = client.get("/api/arena/games").json()["games"][0]
    id = client.post(f"/api/arena/games/{game['number']}/open").json()["id"]
    state = client.get(f"/api/games/{id}").json()
    assert (state["ply"], state["plies"]) == (0, game["plies"])
    assert state["caption"].startswith(f"Game {game['number']} of the arena: ")
    assert " against " in state["caption"]
    assert client.post("/api/arena/games/999999/open").status_code == 400
    assert client.get("/api/arena/ratings?file=..").status_code == 400
