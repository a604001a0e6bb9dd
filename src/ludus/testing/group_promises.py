"""The promises of `groups` and `touches`, for every position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.testing.lockstep import guarded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ludus.game import Game
    from ludus.testing.lockstep import Lockstep, Way

MOST_ALIKE = 0.01
"""Largest fraction of all moves seen so far that may touch the same as another move. A view may be too small for rare
positions, and moves that touch the same only get the same logit."""


def check_group_shapes(game: Game, need: Callable[[object, str], None]) -> None:
    """Check the sizes that setup() sets in `groups` and `touches`."""

    def is_size(number: object) -> bool:
        return isinstance(number, int | np.integer) and int(number) >= 1

    shape, moves = game.groups, game.touches
    if shape is not None:
        sizes = (shape.planes, shape.rows, shape.columns, *shape.groups)
        need(
            len(sizes) > 3 and all(map(is_size, sizes)),
            f"groups must have at least one grouping and sizes, not {shape}",
        )
    if moves is not None:
        need(all(map(is_size, moves)), f"touches must have sizes from 1 on, not {moves}")
        need(shape is not None, "touches is set, so setup() must set groups, which number the cells")


def groups_of(run: Lockstep, way: Way, states: NDArray[Any]) -> NDArray[np.float32]:
    """What all players see by `groups`: planes, then ids, one player after another."""
    shape = run.game.groups
    seen = [np.zeros(0, np.float32)]
    for player in range(run.game.players if shape is not None else 0):
        assert shape is not None
        planes = guarded((shape.planes, shape.rows, shape.columns), np.float32, 0)
        ids = guarded((len(shape.groups), shape.rows, shape.columns), np.float32, -1)
        with run.asking("groups", states, way):
            way.call("groups", states, player, planes.array, ids.array)
        run.check_margins(way, "groups", planes, ids)
        if not np.isfinite(planes.array).all():
            raise run.broken("groups must write finite numbers only")
        for i, (numbers, count) in enumerate(zip(ids.array, shape.groups, strict=True)):
            if not np.isin(numbers, np.arange(-1, count)).all():
                raise run.broken(f"a group of grouping {i} is a whole number from -1 to {count - 1}; not all are")
        seen += [planes.array.ravel(), ids.array.ravel()]
    return np.concatenate(seen)


def touched_by(run: Lockstep, way: Way, legal: Sequence[Sequence[int]]) -> list[Any]:
    """What each legal move touches: the kind, then (role, cell) in order."""
    shape, moves = run.game.groups, run.game.touches
    found: list[Any] = []
    for player, ids in enumerate(legal if moves is not None else ()):
        assert shape is not None
        assert moves is not None
        first: dict[Any, int] = {}
        for action in ids:
            roles, cells = (guarded((moves.cells,), np.int32, -1) for _ in range(2))
            with run.asking("touches", way.states, way):
                kind, count = way.call("touches", way.states, player, action, roles.array, cells.array)
            run.check_margins(way, "touches", roles, cells)
            if not (0 <= kind < moves.kinds and 0 <= count <= moves.cells):
                most = f"a kind below {moves.kinds} and at most {moves.cells} cells"
                raise run.broken(f"touches must return {most}; for action {action} it returns {kind}, {count}")
            pairs = sorted(zip(roles.array[:count].tolist(), cells.array[:count].tolist(), strict=True))
            if not all(0 <= role < moves.roles and 0 <= cell < shape.cells for role, cell in pairs):
                limits = f"roles below {moves.roles} and cells below {shape.cells}"
                raise run.broken(f"touches must write {limits}; for action {action} it writes (role, cell) {pairs}")
            told = int(kind), tuple(pairs)
            other = first.setdefault(told, action)
            run.moves_touched += 1
            run.moves_alike += other != action
            if other != action and run.moves_alike > MOST_ALIKE * run.moves_touched:
                raise run.broken(f"touches must tell moves apart; {other} and {action} both touch {told}")
            found.append(told)
    return found
