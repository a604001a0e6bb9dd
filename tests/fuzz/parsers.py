"""Everything that reads text or files, fed with mutations of valid inputs.

A target makes inputs from a random generator, and checks one: the check returns if the input was read or refused with
the documented error, and raises otherwise.
"""

from __future__ import annotations

import dataclasses
import functools
import io
import itertools
import json
import re
import socket
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np

import ludus
from ludus.agents.budget import Budget
from ludus.agents.naming import KINDS, make_agent, parse, size
from ludus.api.clock import TimeControl
from ludus.api.session import Session
from ludus.errors import BadOption, BadPosition, IllegalMove, LudusError
from ludus.game import Game
from ludus.games.sevn import read_record, write_record
from ludus.grading.positions import Known, Positions, read_positions, write_positions
from ludus.options import split_assignment
from ludus.position import Position
from ludus.protocols.cachex_referee import Lost, play
from ludus.registry import from_json, make, names
from ludus.runs.config import Config, read_toml, with_settings, write_toml
from ludus.runs.run import Run
from ludus.spec import GameSpec
from tests.fuzz.mutating import hostile_text, mutate_bytes, mutate_document, mutate_text


class Target(NamedTuple):
    """One parser under test."""

    generate: Callable[[Random], Any]
    """An input: text, bytes, or a tuple of texts."""
    check: Callable[[Any], None]


TARGETS: dict[str, Callable[[], Target]] = {}
"""For each name, a function that prepares the target."""


def target(name: str) -> Callable[[Callable[[], Target]], Callable[[], Target]]:
    def add(make_target: Callable[[], Target]) -> Callable[[], Target]:
        TARGETS[name] = functools.cache(make_target)
        return make_target

    return add


def over_games(prefix: str) -> Callable[[Callable[[Game], Target]], Callable[[Game], Target]]:
    """One target for each built-in game."""

    def add(make_target: Callable[[Game], Target]) -> Callable[[Game], Target]:
        for name in names():
            TARGETS[f"{prefix}:{name}"] = functools.cache(lambda name=name: make_target(make(name)))
        return make_target

    return add


@functools.cache
def positions_of(game: Game, games: int = 3) -> tuple[Position, ...]:
    """Positions of random games, spread over their length."""
    random, found = Random(1), []
    for number in range(games):
        position = game.start(number)
        for ply in itertools.count():
            if ply % 3 == 0 or position.is_over:
                found.append(position)
            if position.is_over or ply >= 30:
                break
            position = position.play(random.choice(position.actions))
    return tuple(found)


# --- positions and moves ----------------------------------------------------------------------------------------------


@over_games("position")
def position_text(game: Game) -> Target:
    texts = tuple(each.text for each in positions_of(game))

    def check(text: str) -> None:
        try:
            position = game.parse(text)
        except LudusError:
            return
        again = game.parse(position.text)
        assert again.states.tobytes() == position.states.tobytes(), f"written as {position.text!r}, it is another one"
        assert again.text == position.text
        assert json.dumps(position.json)
        assert str(position)
        for move in position.moves[:3]:
            position.play(move)

    return Target(lambda random: mutate_text(random, random.choice(texts), texts), check)


@over_games("move")
def move_text(game: Game) -> Target:
    positions = positions_of(game)
    moves = tuple(sorted({move for each in positions for move in each.moves[:20]}))

    def generate(random: Random) -> tuple[int, str]:
        number = random.randrange(len(positions))
        return number, mutate_text(random, random.choice(positions[number].moves or moves), moves)

    def check(given: tuple[int, str]) -> None:
        position = positions[given[0]]
        with suppress(IllegalMove):
            after = position.play(given[1])
            assert after.action in position.actions
            assert position.play(position.notation(after.action)) == after

    return Target(generate, check)


@over_games("action")
def action_value(game: Game) -> Target:
    positions = positions_of(game)
    single = (
        *("None", "float('inf')", "float('nan')", "('n', 'e')", "()", "[]", "{}", "b'd'", "2**70", "-2**70", "True"),
        *("1.0", "1.5", "object()", "np.zeros(3)", "np.int8(1)", "np.array(1)", "np.array(['a'])", "(0, None)", "[0]"),
        *("{0}", "range(3)", "((0, 1), 2)", "(0, 2**70)", "complex(1)", "'x' * 10**5", "'\\ud800'", "Ellipsis", "-1"),
    )

    def check(given: tuple[int, str]) -> None:
        position, value = positions[given[0]], eval(given[1], {"np": np})
        with suppress(IllegalMove):
            assert position.play(value).action in position.actions

    return Target(lambda random: (random.randrange(len(positions)), random.choice(single)), check)


@over_games("options")
def options(game: Game) -> Target:
    known = sorted(type(game).options())

    def generate(random: Random) -> tuple[str, ...]:
        chosen = random.sample(known, min(len(known), random.randint(1, 3))) or ["anything"]
        return tuple(f"{name}={random.choice((hostile_text(random), str(random.randint(0, 40))))}" for name in chosen)

    def check(given: tuple[str, ...]) -> None:
        with suppress(BadOption):
            assert make(game.name, **dict(split_assignment(each, "--option") for each in given)).start().moves

    return Target(generate, check)


@target("position.json")
def position_json() -> Target:
    documents = [each.json for name in ("tictactoe", "roshambo", "sevn") for each in positions_of(make(name))[:5]]

    def check(text: str) -> None:
        with suppress(LudusError):
            assert from_json(text).text

    return Target(lambda random: mutate_document(random, random.choice(documents)), check)


@target("spec")
def spec() -> Target:
    documents = [make(name).spec.json() for name in names()]

    def check(text: str) -> None:
        with suppress(LudusError):
            found = GameSpec.from_json(text)
            assert GameSpec.from_json(json.dumps(found.json())) == found
            if not found.source.startswith("openspiel:"):
                assert ludus.registry.remake(found).start().text

    return Target(lambda random: mutate_document(random, random.choice(documents)), check)


@target("session")
def session_record() -> Target:
    documents = []
    for name, seats in (("tictactoe", 2), ("roshambo", 2), ("laststone", 3)):
        for position in positions_of(make(name))[:4]:
            session = Session(make(name), ["human"] * seats, clocks="5min+2s")
            for move in position.played:
                session.play(move)
            documents.append(session.record())

    def check(text: str) -> None:
        with suppress(LudusError):
            session = Session.from_record(text)
            assert Session.from_record(json.dumps(session.record())).position == session.position
            assert json.dumps(session.json)

    return Target(lambda random: mutate_document(random, random.choice(documents)), check)


# --- what people write ------------------------------------------------------------------------------------------------


@target("agent")
def agent_name() -> Target:
    game = make("tictactoe")
    known = (
        *("random", "greedy", "adversarial:3", "uct:100", "uct:2s", "uct:1000:c=0.7", "uct:10:memory=1MB:batch=4"),
        *("solver", "solver:10s", "solver:memory=1MB", "zero:nowhere:2s", "policy:nowhere", "rollout:nowhere:100"),
        *("uhp:nowhere:5s:depth=3", "cachex:nowhere.py:Player:seconds=9", "ggp:http://127.0.0.1:9147:5s"),
    )

    def check(text: str) -> None:
        with suppress(LudusError):
            assert parse(text).kind in KINDS
            assert make_agent(text, game).name

    return Target(lambda random: mutate_text(random, random.choice(known), known), check)


@target("time")
def times() -> Target:
    known = ("10000", "10k", "1M", "2s", "500ms", "1min", "infinite", "5min+2s", "300", "256MB", "2GB")

    def check(text: str) -> None:
        with suppress(LudusError):
            assert Budget.of(str(Budget.of(text))) is not None
        with suppress(LudusError):
            assert TimeControl.of(str(TimeControl.of(text))) is not None
        with suppress(ValueError):
            assert size(text) > 0

    return Target(lambda random: mutate_text(random, random.choice(known), known), check)


@target("settings")
def settings() -> Target:
    known = [each.name for each in dataclasses.fields(Config)]

    def generate(random: Random) -> tuple[str, str]:
        name = random.choice(known)
        return (name if random.random() < 0.9 else mutate_text(random, name)), hostile_text(random)

    def check(given: tuple[str, str]) -> None:
        with suppress(LudusError):
            config = with_settings(Config(), dict([given]))
            read_again(write_toml(make("tictactoe").spec, config), config)

    return Target(generate, check)


def read_again(text: str, config: Config) -> None:
    with file_of(text) as path:
        assert with_settings(Config(), read_toml(path)[1]) == config


# --- files ------------------------------------------------------------------------------------------------------------


@contextmanager
def file_of(content: str | bytes, name: str = "file") -> Iterator[Path]:
    """A file with this content, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
        yield path


def mutate_file(random: Random, content: str) -> bytes:
    if random.random() < 0.6:
        return mutate_text(random, content).encode("utf-8", "surrogatepass")
    return mutate_bytes(random, content.encode())


@target("recipe")
def recipe() -> Target:
    recipes = sorted((Path(ludus.__file__).parent / "runs" / "recipes").glob("*.toml"))
    known = [path.read_text() for path in recipes] + [write_toml(make("sevn").spec, Config())]

    def check(content: bytes) -> None:
        with suppress(LudusError), file_of(content, "x.toml") as path:
            config = with_settings(Config(), read_toml(path)[1])
            read_again(write_toml(make("tictactoe").spec, config), config)

    return Target(lambda random: mutate_file(random, random.choice(known)), check)


@target("run")
def run_folder() -> Target:
    """The readable files of a run: one of them is damaged."""
    game = make("tictactoe")
    log = "".join(json.dumps({"iteration": number, "rating": 1.5 * number}) + "\n" for number in range(1, 9))
    with tempfile.TemporaryDirectory() as folder:
        Run.create(Path(folder) / "run", game, Config())
        whole = {path.name: path.read_text() for path in (Path(folder) / "run").iterdir() if path.is_file()}
    whole["log.jsonl"] = log

    def generate(random: Random) -> tuple[str, bytes]:
        name = random.choice(sorted(whole))
        return name, mutate_file(random, whole[name])

    def check(given: tuple[str, bytes]) -> None:
        with tempfile.TemporaryDirectory() as folder, suppress(LudusError), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # damage that the run survives
            for name, content in {**whole, given[0]: given[1]}.items():
                (Path(folder) / name).write_bytes(content if isinstance(content, bytes) else content.encode())
            run = Run.open(Path(folder))
            assert all(isinstance(line, dict) for line in run.log())
            assert run.checkpoints() == []

    return Target(generate, check)


@target("positions")
def positions_file() -> Target:
    game = make("tictactoe")
    known = []
    for position in positions_of(game):
        if not position.is_over:
            values = {action: (-1.0, 0.0, 0.25)[action % 3] for action in position.actions_of(position.to_move)}
            known.append(Known(position, "middle", len(position.played), values))
    about = {"seed": 0, "wanted": 9, "solved_by": "ludus", "limit": 1.0, "left_out": {"begin": 1}, "phases": "x"}
    with file_of("") as path:
        write_positions(path, Positions(game, tuple(known), about))
        text = path.read_text()

    def check(content: bytes) -> None:
        with file_of(content) as path, suppress(LudusError):
            found = read_positions(path, game)
            write_positions(path, found)
            assert read_positions(path, game).known == found.known

    return Target(lambda random: mutate_file(random, text), check)


@target("results")
def results_file() -> Target:
    from ludus.agents.identity import Identity
    from ludus.arena.record import GameRecord, Thought
    from ludus.arena.results import Results

    game = make("tictactoe")
    agents = [Identity(f"{name}!", name, name, name, "", None) for name in ("random", "uct")]
    records = []
    for seed in range(6):
        last = [each for each in positions_of(game, 6) if each.is_over][seed]
        ids = tuple(each.action for each in last.history[1:])
        thoughts = tuple((Thought(0, 0.5, 10, 0.1),) for _ in ids)
        records.append(
            GameRecord(seed, (0, 1), ids, tuple(last.played), last.values, 0, (seed, seed), thoughts, 0.1, "")
        )
    with tempfile.TemporaryDirectory() as folder:
        with Results(Path(folder) / "results.sqlite") as results:
            results.add(game, agents, records)
        content = (Path(folder) / "results.sqlite").read_bytes()

    def check(content: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder, suppress(LudusError):
            path = Path(folder) / "results.sqlite"
            path.write_bytes(content)
            with Results(path) as results:
                for stored in results.latest(20):
                    results.rules_of(stored).make()
                results.ratings()

    return Target(lambda random: mutate_bytes(random, content), check)


@target("description")
def description() -> Target:
    """Descriptions in GDL: read, checked, and played for some plies by the reasoner, which needs no child process."""
    from ludus.gdl.checks import require_valid
    from ludus.gdl.language import read_description
    from ludus.gdl.reasoner import Reasoner
    from tests.gdl.test_mutations import mutated, play, refusal

    def check(text: str) -> None:
        def read_and_play() -> None:
            read = read_description(text, "rules.kif")
            require_valid(read)
            play(Reasoner(read, seconds=2.0), Random(1))

        refusal(read_and_play)

    return Target(mutated, check)


# --- protocols --------------------------------------------------------------------------------------------------------


@target("uhp")
def uhp() -> Target:
    from ludus.protocols.uhp import Engine

    hive = make("hive", expansions="MLP")
    strings = tuple(each.text for each in positions_of(hive, 2))
    moves = tuple(move for each in positions_of(hive, 2) for move in each.moves[:5])
    words = (
        *("info", "newgame", "newgame Base+MLP", "play wA1", "pass", "validmoves", "undo", "undo 2", "options", "help"),
        *("options get Seed", "options set Seed 3", "options set Agent greedy", "bestmove depth 1", "perft 1"),
        *("bestmove time 00:00:00.01", "options set Checks False", "options set Horizon 0", "exit"),
    )

    def generate(random: Random) -> tuple[str, ...]:
        lines = [f"newgame {random.choice(strings)}"]
        for _ in range(random.randint(1, 5)):
            known = random.choice((random.choice(words), f"play {random.choice(moves)}", lines[0]))
            lines.append(known if random.random() < 0.3 else mutate_text(random, known, words))
        return tuple(line for line in lines if not costly(line))

    def costly(line: str) -> bool:
        """True if the command may compile code, or count or search for long by right."""
        return line.lower().split()[:1] in (["perft"], ["bestmove"]) or "uct" in line.lower()

    def check(lines: tuple[str, ...]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            engine = Engine("random", failures=Path(folder))
            for line in lines:
                answer = engine.answer(line)
                assert not line.strip() or answer[-1] == "ok", answer
                assert "\n" not in "".join(answer)
                assert not any(re.match(r"err \w+(Error|Exception)\b", each) for each in answer), answer

    return Target(generate, check)


@target("cachex-action")
def cachex_action() -> Target:
    position = make("cachex", n=4).start()
    numbers = (0, 1, 3, 4, -1, 10**30)

    def check(text: str) -> None:
        with suppress(Lost):
            play(position, "red", json.loads(text))

    def generate(random: Random) -> str:
        """An action as the process of a player sends it: a name and whole numbers (cachex_seat checks this)."""
        return json.dumps(random.choice((["STEAL"], ["PLACE", random.choice(numbers), random.choice(numbers)])))

    return Target(generate, check)


@target("ggp-message")
def ggp_message() -> Target:
    from ludus.ggp.messages import BadMessage, read_message, read_move, write_message

    rules = "(role x) (init (cell 1 1 b)) (<= (legal x (mark ?a)) (true (cell ?a 1 b))) (goal x 100) terminal"
    texts = (
        *("( INFO )", "(info)", "( PLAY m.1 NIL )", "( PLAY m.1 (( mark 3 1 ) noop ) )", "( ABORT m.1 )"),
        *("( STOP m.1 ((move (at 1 2) b)(NOOP)))", f"( START m.1 x ({rules}) 60 10)", f"( PREVIEW ({rules}) 10 )"),
        *("(mark 3 1)", "noop", "(noop)", "ready"),
    )

    def check(text: str) -> None:
        with suppress(BadMessage):
            message = read_message(text)
            assert read_message(write_message(message)) == message
        with suppress(BadMessage):
            assert read_move(read_move(text)) == read_move(text)

    return Target(lambda random: mutate_text(random, random.choice(texts), texts), check)


@target("ggp-request")
def ggp_request() -> Target:
    """HTTP requests that reach a player, from a peer that closes the connection after them."""
    from ludus.ggp.http import BadRequest, read_request

    requests = (
        b"POST / HTTP/1.0\r\nSender: A\r\nContent-Type: text/acl\r\nContent-Length: 8\r\n\r\n( INFO )",
        b"GET /%28%20INFO%20%29 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"OPTIONS / HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\nexpect: 100-continue\nContent-Length: 3\n\n(a)",
    )

    def check(content: bytes) -> None:
        here, there = socket.socketpair()
        with here, there, suppress(BadRequest):
            there.sendall(content[:100_000])
            there.shutdown(socket.SHUT_WR)
            assert isinstance(read_request(here), bytes | None)

    return Target(lambda random: mutate_bytes(random, random.choice(requests)), check)


@target("sevn-record")
def sevn_record() -> Target:
    records = tuple(write_record(each) for each in positions_of(make("sevn", base=5)))

    def check(text: str) -> None:
        with suppress(BadPosition, IllegalMove):
            assert read_record(write_record(read_record(text))).text

    return Target(lambda random: mutate_text(random, random.choice(records), records), check)


@target("sevn-picture")
def sevn_picture() -> Target:
    from ludus.protocols.sevn_picture import render
    from ludus.protocols.sevn_screen import read_picture

    files = []
    for name in ("PNG", "JPEG", "GIF", "BMP"):
        file = io.BytesIO()
        render(positions_of(make("sevn", base=3))[0], width=120).save(file, name)
        files.append(file.getvalue())

    def check(content: bytes) -> None:
        with suppress(LudusError), file_of(content) as path:
            assert read_picture(path, base=3).text

    return Target(lambda random: mutate_bytes(random, random.choice(files)), check)
