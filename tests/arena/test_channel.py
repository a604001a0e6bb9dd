"""Messages between processes: JSON of bounded size, and whatever else arrives is noticed."""

import io
import json
import os
import queue
import sys
import threading

import pytest

import ludus
from ludus import play_match
from ludus.arena import wire
from ludus.arena.channel import LENGTH, MAX_BYTES, BadMessage, Child, read_message, write_message
from ludus.arena.record import tasks_of
from ludus.child import MAX_WAITING

GAME = ludus.make("tictactoe")


def test_messages_come_as_they_went():
    stream = io.BytesIO()
    messages = [["played", 3, [[0, None, 5, 0.25]]], {"a": "ä\ud800\n"}, None, [float("nan"), float("inf")]]
    for message in messages:
        write_message(stream, message)
    stream.seek(0)
    assert [read_message(stream) for _ in messages] == [*messages[:3], [None, None]]
    with pytest.raises(EOFError):
        read_message(stream)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", EOFError),
        (b"\0\0", EOFError),
        (LENGTH.pack(10) + b"{}", EOFError),
        (LENGTH.pack(MAX_BYTES + 1), BadMessage),
        (b"Hello, world!", BadMessage),
        (LENGTH.pack(3) + b"{]}", BadMessage),
        (LENGTH.pack(1) + b"\xff", BadMessage),
        (LENGTH.pack(100_000) + b"[" * 100_000, BadMessage),
    ],
)
def test_other_bytes_are_noticed(content, kind):
    with pytest.raises(kind):
        read_message(io.BytesIO(content))


def test_a_message_that_is_too_large_is_not_sent():
    with pytest.raises(BadMessage, match="too large"):
        write_message(io.BytesIO(), "x" * MAX_BYTES)


def child(code):
    news = threading.Event()
    return Child([sys.executable, "-c", code], os.environ, news), news


def next_of(child, news):
    while True:
        news.clear()
        try:
            return child.receive()
        except queue.Empty:
            assert news.wait(20)


def test_a_child_that_floods_its_parent_has_to_wait():
    flood = "import sys\nwhile True: sys.stdout.buffer.write(b'\\0\\0\\0\\2[]')"
    flooding, news = child(flood)
    try:
        assert next_of(flooding, news) == []
        while not flooding.inbox.full():
            news.clear()
            assert flooding.inbox.full() or news.wait(20)
        assert flooding.inbox.qsize() == MAX_WAITING
    finally:
        flooding.end()
    assert not flooding.reader.is_alive()
    assert not flooding.is_alive()


def test_a_child_that_ends_is_told_of_after_its_last_message():
    ended, news = child("import sys; sys.stdout.buffer.write(b'\\0\\0\\0\\1' + b'7'); sys.exit(3)")
    assert next_of(ended, news) == 7
    with pytest.raises(EOFError):
        next_of(ended, news)
    assert ended.exit_code(5) == 3
    ended.send("too late")
    ended.end()


def test_a_record_comes_as_it_went():
    tasks = tasks_of(("uct:20", "random"), 2, seed=3, opening=1)
    for task, record in zip(tasks, play_match(GAME, ["uct:20", "random"], 2, seed=3, openings=1).games, strict=True):
        stream = io.BytesIO()
        write_message(stream, [wire.task_json(task), wire.record_json(record)])
        stream.seek(0)
        told, kept = read_message(stream)
        assert wire.task_of(told) == task
        assert wire.record_of(kept, task) == record


WRONG = {
    "no record": lambda record: [],
    "less": lambda record: {key: record[key] for key in list(record)[1:]},
    "more": lambda record: {**record, "more": 1},
    "another seed": lambda record: {**record, "seed": 5},
    "other seats": lambda record: {**record, "seats": [1, 0]},
    "large values": lambda record: {**record, "values": [2.0, -2.0]},
    "unknown values": lambda record: {**record, "values": [None, 0.0]},
    "few values": lambda record: {**record, "values": [1.0]},
    "actions as text": lambda record: {**record, "actions": ["a", *record["actions"][1:]]},
    "large actions": lambda record: {**record, "actions": [1 << 70, *record["actions"][1:]]},
    "moves as numbers": lambda record: {**record, "moves": list(range(len(record["moves"])))},
    "too few moves": lambda record: {**record, "moves": record["moves"][1:]},
    "another player's thoughts": lambda record: {**record, "thoughts": [[[7, None, 1, 0.0]]] * len(record["thoughts"])},
    "thoughts in another form": lambda record: {**record, "thoughts": [[[0]]] * len(record["thoughts"])},
    "an opening longer than the game": lambda record: {**record, "opening": 99},
    "a reason that is no text": lambda record: {**record, "reason": 5},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_record_that_was_not_asked_for_is_refused(wrong):
    (task, _) = tasks_of(("random", "random"), 2, seed=3)
    record = wire.record_json(play_match(GAME, ["random", "random"], 2, seed=3).games[0])
    with pytest.raises(ValueError, match="a message does not hold"):
        wire.record_of(wrong(json.loads(json.dumps(record))), task)
