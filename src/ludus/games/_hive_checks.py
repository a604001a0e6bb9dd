"""Consistency checks of Hive positions, and files of positions that fail, which a test can load."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludus.errors import LudusError, describe_error
from ludus.games._hive_board import MOST_PIECES, NEXT, NOBODY, NOWHERE, pinned
from ludus.registry import from_json

if TYPE_CHECKING:
    from ludus.game import Position


class BrokenHive(AssertionError):
    """A position is inconsistent: the rules have a bug."""


def need(condition: object, message: str) -> None:
    if not condition:
        raise BrokenHive(message)


def check_position(position: Position) -> None:
    """Raise BrokenHive unless the fields of the state agree, and text and moves can be read as they are written."""
    check_board(position.state)
    game = position.game
    need(game.parse(position.text) == position, "the moves of the game do not lead to this position")
    moves = position.moves
    need(len(set(moves)) == len(moves), "two moves have one name")
    for action, move in zip(position.actions, moves, strict=True):
        need(position.action_of(move) == action, f"{move} is read as another move")


def check_board(state: Any) -> None:
    """Check stacks, neighbours and connectedness; each is computed again in the simplest way."""
    stacks: dict[int, dict[int, int]] = {}
    for piece in range(MOST_PIECES):
        if state.cell[piece] != NOWHERE:
            stack = stacks.setdefault(int(state.cell[piece]), {})
            need(int(state.level[piece]) not in stack, "two pieces are in one place")
            stack[int(state.level[piece])] = piece
    for stack in stacks.values():
        need(sorted(stack) == list(range(len(stack))), "a piece hangs in the air")
        for level, piece in stack.items():
            need(state.under[piece] == stack.get(level - 1, NOBODY), "a stack is not in order")
    need(state.raised == sum(len(stack) - 1 for stack in stacks.values()), "raised pieces are miscounted")
    top, around = [NOBODY] * len(state.top), [0] * len(state.top)
    for cell, stack in stacks.items():
        top[cell] = stack[len(stack) - 1]
        for way in range(6):
            around[NEXT[cell, way]] |= 1 << (way + 3) % 6
    need(state.top.tolist() == top, "the top of a stack is wrong")
    need(state.around.tolist() == around, "the neighbours of a cell are wrong")
    need(in_one_piece(set(stacks)), "the hive is not in one piece")
    held = pinned(state, MOST_PIECES)
    for cell, stack in stacks.items():
        alone = in_one_piece(set(stacks) - {cell})
        need(held >> stack[len(stack) - 1] & 1 != alone, "what holds the hive together is wrong")


def in_one_piece(cells: set[int]) -> bool:
    edge = [next(iter(cells))] if cells else []
    found = set(edge)
    while edge:
        fresh = {int(NEXT[edge[-1], way]) for way in range(6)} & cells - found
        edge.pop()
        edge += fresh
        found |= fresh
    return found == cells


# --- Files of failures ------------------------------------------------------------------------------------------------


def play_checked(position: Position, move: str, folder: Path) -> Position:
    """Play a move and check the board; if that fails, save position and move, and raise BrokenHive."""
    action = position.action_of(move)  # an illegal move is no failure
    try:
        after = position.play(action)
        check_board(after.state)
    except Exception as error:
        reason = str(error) if isinstance(error, BrokenHive | LudusError) else describe_error(error)
        raise BrokenHive(f"{reason}; saved to {save_failure(position, move, reason, folder)}") from error
    return after


def save_failure(position: Position, move: str, reason: str, folder: Path) -> Path:
    """Save a position, a move that fails there and the reason as JSON; the same failure has the same file name."""
    kept = {
        "game": position.game.spec.json(),
        "name": position.game.name,
        "version": position.game.version,
        "position": position.text,
        "move": move,
        "reason": reason,
    }
    text = json.dumps(kept, indent=2) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"hive-{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"
    file.write_text(text)
    return file


def load_failure(file: Path) -> tuple[Position, str, str]:
    """Position, move and reason from a file of `save_failure`."""
    kept = json.loads(file.read_text())
    return from_json(kept), kept["move"], kept["reason"]
