"""`ludus analyse --json`: requests and results, one JSON object a line."""

import json
import queue
import threading

import pytest

from ludus.protocols.json_analysis import AnalysisServer


def answers(*requests, parallel=2):
    """All results of some requests, each a line or an object."""
    lines = []
    texts = (request if isinstance(request, str) else json.dumps(request) for request in requests)
    AnalysisServer(lines.append, parallel).run(texts)
    return [json.loads(line) for line in lines]


def test_a_request_is_answered_and_done():
    results = answers({"id": "a", "game": "tictactoe", "moves": ["a1"], "agent": "uct:200"})
    assert [(each["id"], each["type"]) for each in results] == [("a", "final"), ("a", "done")]
    assert results[0]["ply"] == 1
    assert results[0]["snapshot"]["player"] == 1
    assert results[0]["snapshot"]["simulations"] == 200


def test_many_requests_and_several_plies():
    wanted = [
        {"id": n, "game": "tictactoe", "moves": ["a1", "b2"], "plies": [0, 2], "agent": "uct:50"} for n in range(9)
    ]
    results = answers(*wanted)
    assert sorted((each["id"], each["ply"]) for each in results if each["type"] == "final") == [
        (n, ply) for n in range(9) for ply in (0, 2)
    ]
    assert len([each for each in results if each["type"] == "done"]) == 9


def test_a_request_is_cancelled_and_answers_with_what_it_has():
    arrived, todo = queue.Queue(), queue.Queue()
    server = AnalysisServer(lambda line: arrived.put(json.loads(line)), 1)
    thread = threading.Thread(target=server.run, args=(iter(todo.get, None),))
    thread.start()
    todo.put(
        json.dumps(
            {"id": 1, "game": "connect4", "options": {"rows": 4, "columns": 5}, "budget": "infinite", "every": 0.02}
        )
    )
    todo.put(json.dumps({"id": 2, "game": "tictactoe", "agent": "random"}))
    assert arrived.get(timeout=60)["type"] == "partial"
    todo.put(json.dumps({"type": "stop", "id": 1}))
    todo.put(None)
    thread.join(60)
    results = list(arrived.queue)
    final = next(each for each in results if each["type"] == "final")
    assert (final["id"], final["snapshot"]["ended"]) == (1, "stopped")
    assert results[-1] == {"id": 2, "type": "done"}


@pytest.mark.parametrize(
    "request_",
    [
        "nonsense",
        "[]",
        "[" * 100_000,
        {"game": "tictactoe"},
        {"id": 1},
        {"id": 1, "game": "nonsense"},
        {"id": 1, "game": "tictactoe", "moves": "a1"},
        {"id": 1, "game": "tictactoe", "moves": ["z9"]},
        {"id": 1, "game": "tictactoe", "plies": [7]},
        {"id": 1, "game": "tictactoe", "agent": 3},
        {"id": 1, "game": "tictactoe", "agent": "human"},
        {"id": 1, "game": "tictactoe", "budget": "soon"},
        {"id": 1, "game": "tictactoe", "every": 0},
        {"id": 1, "game": "tictactoe", "seed": "x"},
        {"id": 1, "game": "tictactoe", "surprise": True},
        {"id": 1, "game": "tictactoe", "type": "dance"},
        {"type": "stop", "id": "unknown"},
        {"type": "stop", "id": [1]},
    ],
)
def test_a_mistake_is_one_line_and_the_rest_is_answered(request_):
    results = answers(request_, {"type": "version", "id": "v"})
    errors = [each for each in results if each["type"] == "error"]
    assert len(errors) == 1
    assert "\n" not in errors[0]["message"]
    assert any(each["type"] == "version" for each in results)


def test_two_requests_with_one_id_are_refused():
    request = {"id": 1, "game": "tictactoe", "budget": "200ms", "agent": "uct"}
    assert "under way" in next(each["message"] for each in answers(request, request) if each["type"] == "error")
