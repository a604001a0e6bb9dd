"""Grading one agent: its answers to a set of positions, and the grades that follow from them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ludus.agents import Agent, make_agent
from ludus.agents.identity import identify
from ludus.agents.naming import parse
from ludus.errors import BadAgent, BadOption
from ludus.grading.drawing import COUNT, LIMIT, MOST_POSITIONS, STOPPED, draw_positions
from ludus.grading.events import GradingEvent, PositionAnswered
from ludus.grading.grades import Grade, answers, grade_moves
from ludus.grading.positions import Known, Positions, at_most, read_positions, write_positions
from ludus.search.solver import check_suitable
from ludus.stopping import Stop, is_stopped

if TYPE_CHECKING:
    from ludus.game import Game

OUTCOMES = (-1.0, 0.0, 1.0)


@dataclass(frozen=True)
class GradeReport:
    """The answers of an agent to a set of positions, and its grades."""

    agent: str
    """The label of the agent."""
    positions: Positions
    """The whole set. `positions.about` says how it was made."""
    known: tuple[Known, ...]
    """The positions that were answered."""
    actions: tuple[int, ...]
    """The action of the agent in each of them."""
    seconds: float
    """Time for all answers."""
    seed: int
    file: Path | None
    """The file of the positions, if there is one."""
    stopped: bool
    """True if the stop signal ended the grading before all positions were answered."""

    @cached_property
    def grades(self) -> dict[str, Grade]:
        """The grade in each phase of the game and in all."""
        return grade_moves(self.known, self.actions)

    @cached_property
    def where_it_matters(self) -> dict[str, Grade]:
        """The same for the positions in which not all moves are equally good."""
        return grade_moves(self.known, self.actions, where_it_matters=True)

    @cached_property
    def only_outcomes(self) -> bool:
        """True if games are only won, drawn or lost: a move that keeps the outcome is then a best move."""
        return all(value in OUTCOMES for each in self.known for value in each.values.values())


def grade_agent(
    agent: Agent | str,
    game: Game,
    positions: Positions | Path | str | None = None,
    count: int | None = None,
    seed: int = 0,
    limit: float = LIMIT,
    on_event: Callable[[GradingEvent], None] | None = None,
    stop: Stop | None = None,
) -> GradeReport:
    """Ask an agent for its move in every position of a set, and grade the moves."""
    check_suitable(game)
    if count is not None and not 1 <= count <= MOST_POSITIONS:
        raise BadOption(f"count must be at least 1 and at most {MOST_POSITIONS:,}, not {count}")
    label, asked = _make(agent, game)
    file = None if positions is None or isinstance(positions, Positions) else Path(positions)
    chosen = positions if isinstance(positions, Positions) else _find(game, file, count, seed, limit, on_event, stop)
    known = chosen.known if count is None else at_most(chosen.known, count)
    asked.new_game(seed)  # compiles before the clock runs
    began = time.perf_counter()
    actions: list[int] = []
    if not is_stopped(stop):
        for action in answers(asked, known, seed):
            actions.append(action)
            if on_event is not None:
                on_event(PositionAnswered(len(actions), len(known)))
            if is_stopped(stop):
                break
    return GradeReport(
        label,
        chosen,
        tuple(known[: len(actions)]),
        tuple(actions),
        time.perf_counter() - began,
        seed,
        file,
        len(actions) < len(known) or not known,
    )


def _make(agent: Agent | str, game: Game) -> tuple[str, Agent]:
    """The label of an agent, and the agent itself; it is refused before anything takes long."""
    if not isinstance(agent, str):
        return agent.name, agent
    if parse(agent).kind == "human":
        raise BadAgent("people are not graded: a grade takes hundreds of answers; name another agent")
    made = make_agent(agent, game)
    return identify(agent, game).label, made


def _find(
    game: Game,
    file: Path | None,
    count: int | None,
    seed: int,
    limit: float,
    on_event: Callable[[GradingEvent], None] | None,
    stop: Stop | None,
) -> Positions:
    """The positions of a file. If it does not exist, new positions are drawn and written to it."""
    if file is not None and file.exists():
        return read_positions(file, game)
    if file is not None and not file.absolute().parent.is_dir():
        raise BadOption(f"there is no folder {file.parent} to put {file.name} into")
    positions = draw_positions(game, COUNT if count is None else count, seed, limit, on_event, stop)
    if file is not None and not positions.about.get(STOPPED):  # a set cut short would be taken for a whole one later
        write_positions(file, positions)
    return positions
