"""Files of results that are damaged or hostile get one line, in bounded time and memory."""

import io
import os
import random
import resource
import sqlite3
import time

import pytest

import ludus
from ludus.arena import guard
from ludus.arena.guard import BadResults
from ludus.arena.results import Results
from ludus.cli import main

GAME = ludus.make("tictactoe")
ENDLESS = "WITH RECURSIVE endless(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless)"
BOMB = "printf('%.*c', 1000000000, 'x')"
"""An SQL expression for a text of a thousand million characters."""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "results.sqlite"
    ludus.play_match(GAME, ["random", "uct:9"], 8, parallel=1, openings=1, results=path)
    return path


def change(path, *statements):
    base = sqlite3.connect(path)
    for statement in statements:
        base.execute(statement)
    base.commit()
    base.close()


def run(arguments, capsys, monkeypatch):
    """A command's exit code and error; it must be quick, and say at most one line."""
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    began, memory = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    code = main([str(each) for each in arguments])
    error = capsys.readouterr().err
    assert time.monotonic() - began < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 500_000  # in KB
    assert error.count("\n") == 1 if code else error.count("\n") <= 1
    assert code in (0, 2)
    assert "LUDUS_TRACEBACK" not in error  # no exception that nobody thought of
    return code, error


@pytest.mark.parametrize("table", ["games", "seats", "agents", "rules"])
@pytest.mark.parametrize("command", ["ratings", "replay"])
def test_an_endless_view_in_the_place_of_a_table_is_refused(file, table, command, capsys, monkeypatch):
    columns = [row[1] for row in sqlite3.connect(file).execute(f"PRAGMA table_info({table})")]
    selected = ", ".join(f"n AS {column}" for column in columns)
    change(
        file,
        f"ALTER TABLE {table} RENAME TO hidden",
        f"CREATE VIEW {table} AS {ENDLESS} SELECT {selected} FROM endless",
    )
    code, error = run([command, file], capsys, monkeypatch)
    assert code == 2
    assert f"{table} is a view, or computed, not a plain table" in error


def test_a_computed_column_is_refused(file, capsys, monkeypatch):
    change(file, f"ALTER TABLE agents ADD COLUMN bomb TEXT AS ({BOMB})")
    code, error = run(["ratings", file], capsys, monkeypatch)
    assert code == 2
    assert "agents is a table, or computed, not a plain table" in error


def test_a_trigger_is_refused_before_anything_is_written(file):
    change(file, "CREATE TRIGGER t AFTER INSERT ON games BEGIN DELETE FROM games; END")
    with pytest.raises(BadResults, match="t is a trigger"):
        ludus.play_match(GAME, ["random", "uct:9"], 2, seed=5, parallel=1, results=file)


def test_a_view_of_the_users_own_does_no_harm(file):
    change(file, "CREATE VIEW mine AS SELECT label FROM agents", "CREATE TABLE notes (text TEXT)")
    with ludus.open_results(file) as results:
        assert len(results.ratings().rows) == 2


@pytest.mark.parametrize("command", [["ratings"], ["replay"], ["replay", "1"]])
def test_texts_have_a_limit(file, command, capsys, monkeypatch):
    change(
        file,
        "UPDATE agents SET label = printf('%.*c', 20000000, 'x')",
        "UPDATE games SET thoughts = zeroblob(20000000)",
    )
    code, error = run([command[0], file, *command[1:]], capsys, monkeypatch)
    assert code == 2
    assert "is damaged (string or blob too big)" in error


def test_lists_have_a_limit(file, monkeypatch):
    monkeypatch.setattr(guard, "MOST_TEXT", 10_000)
    with Results(file) as results:
        assert len(results.identities()) == 2
    change(file, "UPDATE agents SET label = printf('%.*c', 6000, 'x')")
    with Results(file) as results, pytest.raises(BadResults, match="holds too much text"):
        results.identities()


def test_queries_have_a_limit(file, monkeypatch):
    numbers = "WITH RECURSIVE numbers(n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM numbers LIMIT 100000)"
    change(file, f"INSERT INTO agents {numbers} SELECT n, n, 'l', 'n', 'k', '', NULL FROM numbers")
    with Results(file) as results:
        assert len(results.identities()) == 100_002
        monkeypatch.setattr(guard, "TIME_LIMIT", -1.0)
        with pytest.raises(BadResults, match="takes longer than -1 s, so it is damaged or far too large"):
            results.identities()


def test_ratings_have_a_limit_on_agents(file, capsys, monkeypatch):
    numbers = "WITH RECURSIVE numbers(n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM numbers LIMIT 50000)"
    change(
        file,
        f"INSERT INTO agents {numbers} SELECT n, n, 'l', 'n', 'k', '', NULL FROM numbers",
        f"INSERT INTO games {numbers} SELECT n, n, 1, n, 0, '[]', '[]', '[]', '', 0, '', '' FROM numbers",
        f"INSERT INTO seats {numbers} SELECT n, 0, 1, 0, 1.0 FROM numbers",
        f"INSERT INTO seats {numbers} SELECT n, 1, n, 0, -1.0 FROM numbers",
    )
    code, error = run(["ratings", file], capsys, monkeypatch)
    assert code == 2
    assert "50,002 agents are too many to be rated together" in error


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE seats SET value = 'many'",
        "UPDATE seats SET value = 9e999",
        "UPDATE seats SET value = x'00'",
        "UPDATE games SET opening = 'a'",
        "UPDATE games SET opening = 10000000000",
        "UPDATE games SET opening = -1",
        "UPDATE games SET seconds = 9e999",
        "UPDATE games SET actions = x'ff00'",
        "UPDATE games SET actions = '7'",
        "UPDATE games SET actions = 'nonsense'",
        "UPDATE games SET moves = '[1, 2, 3]'",
        "UPDATE games SET moves = '{\"a\": 1}'",
        'UPDATE games SET moves = \'["a1", "a1"]\'',
        "UPDATE games SET moves = '[]'",
        "UPDATE games SET thoughts = '[[1, 2]]'",
        "UPDATE games SET thoughts = '[[[9, 0.5, 1, 1]]]'",
        "UPDATE games SET thoughts = '[[[0, \"x\", 1, 1]]]'",
        "UPDATE games SET thoughts = replace(printf('%.*c', 100000, '['), '', '')",
        "UPDATE rules SET players = 0",
        "UPDATE rules SET players = 1000000000",
        "UPDATE rules SET players = 3",
        "UPDATE rules SET options = '['",
        "UPDATE rules SET options = '[1]'",
        "UPDATE rules SET name = 'nowhere'",
        "UPDATE rules SET identity = ''",
        "UPDATE agents SET label = NULL",
        "UPDATE agents SET checkpoint = 'latest'",
        "UPDATE agents SET checkpoint = 1",
        "UPDATE agents SET identity = id",
        "DELETE FROM agents",
        "DELETE FROM seats WHERE player = 1",
        "DELETE FROM seats",
        "DELETE FROM rules",
        "DROP TABLE seats",
        "PRAGMA user_version = 99",
        "PRAGMA application_id = 7",
    ],
)
def test_cells_that_hold_something_else_get_one_line(file, statement, capsys, monkeypatch):
    base = sqlite3.connect(file)
    try:
        base.execute("PRAGMA ignore_check_constraints = ON")
        base.execute("PRAGMA writable_schema = ON")
        if "NULL" in statement:  # the constraint is part of the text of the table
            base.execute("UPDATE sqlite_master SET sql = replace(sql, 'label TEXT NOT NULL', 'label TEXT')")
            base.commit()
            base.close()
            base = sqlite3.connect(file)
        base.execute(statement)
        base.commit()
    finally:
        base.close()
    seen = [run([*command, file], capsys, monkeypatch)[0] for command in (["ratings"], ["replay"])]
    seen.append(run(["replay", file, "1"], capsys, monkeypatch)[0])
    plots = [run(["ratings", file, "--plot", file.with_name("p.svg"), "--plot-kind", "times"], capsys, monkeypatch)[0]]
    assert seen
    assert plots


def test_damage_of_any_kind_gets_one_line(file, capsys, monkeypatch):
    """Files cut short, and files with flipped bytes; they are read, and played into."""
    whole = file.read_bytes()
    chance = random.Random(1)
    damaged = [whole[: len(whole) * part // 12] for part in range(12)]
    for _ in range(40):
        content = bytearray(whole)
        for _ in range(chance.choice([1, 3, 30, 300])):
            content[chance.randrange(len(content))] = chance.randrange(256)
        damaged.append(bytes(content))
    refused = 0
    for number, content in enumerate(damaged):
        path = file.with_name(f"{number}.sqlite")
        path.write_bytes(content)
        for command in (["ratings", path], ["replay", path], ["replay", path, 2]):
            refused += run(command, capsys, monkeypatch)[0] == 2
    assert refused > 40


@pytest.mark.skipif(os.name != "posix", reason="devices and pipes as on Unix")
@pytest.mark.parametrize("command", [["ratings"], ["replay"], ["match", "tictactoe", "random", "random", "--results"]])
def test_devices_and_pipes_are_refused(tmp_path, command, capsys, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe"):
        code, error = run([*command, path], capsys, monkeypatch)
        assert code == 2
        assert "there are no results at" in error or "it is not a regular file" in error


def test_an_empty_file_holds_no_games(tmp_path, capsys, monkeypatch):
    (tmp_path / "empty.sqlite").touch()
    code, error = run(["ratings", tmp_path / "empty.sqlite"], capsys, monkeypatch)
    assert code == 2
    assert "holds no games yet" in error
