"""Tasks, moves and records as JSON, for the messages between this process and workers or remote agents.

Foreign code may send any message, so every message is checked: one that does not match its request raises ValueError.
"""

from __future__ import annotations

import operator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ludus.agents.budget import Budget
from ludus.arena.record import GameRecord, Task, Thought

if TYPE_CHECKING:
    from ludus.agents.agent import Choice
    from ludus.position import Action

MAX_INTEGER = 1 << 63
MAX_LINE, MAX_MOVE = 1000, 100
"""Largest number of moves in a principal variation, and of characters in each."""


def task_json(task: Task) -> dict[str, Any]:
    return asdict(task)


def task_of(data: dict[str, Any]) -> Task:
    """The task that `task_json` described."""
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
    return Task(**fields)


def record_json(record: GameRecord) -> dict[str, Any]:
    return asdict(record)


def record_of(data: Any, task: Task) -> GameRecord:
    """The record of a task that `record_json` described."""
    _require(isinstance(data, dict) and set(data) == set(GameRecord.__dataclass_fields__), "a record")
    players = len(task.seats)
    record = GameRecord(
        data["seed"],
        tuple(_list(data["seats"], int)),
        tuple(action_of(each) for each in _list(data["actions"], object)),
        tuple(_list(data["moves"], str)),
        tuple(float(each) for each in _list(data["values"], int | float)),
        data["opening"],
        tuple(_list(data["agent_seeds"], int)),
        tuple(thoughts_of(each, players) for each in _list(data["thoughts"], list)),
        data["seconds"],
        data["reason"],
    )
    asked = (task.seed, task.seats, task.agent_seeds)
    _require((record.seed, record.seats, record.agent_seeds) == asked, "the record of this task")
    _require(len(record.values) == players and all(-1 <= value <= 1 for value in record.values), "values")
    _require(type(record.opening) is int and 0 <= record.opening <= len(record.actions), "an opening")
    _require(len(record.moves) == len(record.actions) == record.opening + len(record.thoughts), "moves and thoughts")
    _require(isinstance(record.seconds, int | float) and isinstance(record.reason, str), "a time and a reason")
    return record


def action_of(data: Any) -> Action:
    """An action id, or the ids of all players."""
    if isinstance(data, list):
        return tuple(_integer(each) for each in data)
    return _integer(data)


def thoughts_of(data: Any, players: int) -> tuple[Thought, ...]:
    """The thoughts about one ply."""
    thoughts = []
    for each in _list(data, list):
        _require(len(each) == len(Thought._fields), "a thought")
        player, value, simulations, seconds = each
        _require(0 <= _integer(player) < players, "a player")
        _require(value is None or isinstance(value, int | float), "a value")
        _require(isinstance(seconds, int | float), "a time")
        thoughts.append(Thought(player, value, _integer(simulations), seconds))
    return tuple(thoughts)


def answer_json(choice: Choice) -> list[Any]:
    """The parts of an agent's choice that a referee reads."""
    value = None if choice.value is None else float(choice.value)
    line = [str(move)[:MAX_MOVE] for move in choice.line[:MAX_LINE]]
    return [operator.index(choice.action), value, int(choice.simulations), line, bool(choice.solved)]


def answer_of(data: Any) -> tuple[int, float | None, int, list[str], bool]:
    """The action, value, simulations, principal variation and `solved` of an answer. A value outside [-1, 1] is
    unknown."""
    _require(isinstance(data, list) and len(data) == 5, "an answer")
    action, value, simulations, line, solved = data
    _require(value is None or type(value) in (int, float), "a value")
    _require(_integer(simulations) >= 0, "a number of simulations")
    _require(len(_list(line, str)) <= MAX_LINE and all(len(move) <= MAX_MOVE for move in line), "a line of moves")
    _require(type(solved) is bool, "a truth value")
    known = value is not None and -1 <= value <= 1
    return _integer(action), float(value) if known else None, simulations, line, solved and known


def budget_json(budget: Budget | None) -> list[Any] | None:
    return None if budget is None else [budget.simulations, budget.seconds, budget.infinite]


def budget_of(data: list[Any] | None) -> Budget | None:
    """The budget that `budget_json` described."""
    return None if data is None else Budget(*data)


def index_of(data: Any, count: int) -> int:
    """A number from 0 to count - 1."""
    _require(0 <= _integer(data) < count, f"a number below {count}")
    return data


def text_of(data: Any) -> str:
    _require(isinstance(data, str), "a text")
    return data


def _integer(data: Any) -> int:
    _require(type(data) is int and abs(data) < MAX_INTEGER, "a whole number")
    return data


def _list(data: Any, kind: Any) -> list[Any]:
    _require(isinstance(data, list) and all(isinstance(each, kind) for each in data), "a list")
    return data


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise ValueError(f"a message does not hold {what}")
