"""Rows: what self-play hands to the learner. Each is one decision: the position, the search's policy, the result.

Observations are not stored. They are made when a row is sampled, in one of the position's symmetries.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Rows(NamedTuple):
    """n decisions, and m legal actions in all."""

    states: Any  # the game's states [n]
    players: Any  # int8 [n]: the player who decides
    starts: Any  # int64 [n + 1]: the index of each row's first action
    actions: Any  # int32 [m]: all legal actions of that player
    policy: Any  # float32 [m]: the search's policy; it sums to 1 in each row
    results: Any  # float32 [n, P]: the result of the game for each player
    search: Any  # float32 [n]: the value that the search found for the player
    weights: Any  # float32 [n]: the weight of the row in the loss
    replies: (
        Any  # int32 [n]: the action played next, by the next player to move; -1 if there is none or it is not known
    )

    def __len__(self) -> int:  # the default of a NamedTuple is the number of fields
        return int(self.players.shape[0])

    @property
    def bytes(self) -> int:
        """The memory of all rows."""
        return sum(array.nbytes for array in self)


def empty_rows(states: np.ndarray, players: int) -> Rows:
    """No rows, for states of the same type as `states`."""
    return Rows(
        states[:0].copy(),
        np.zeros(0, np.int8),
        np.zeros(1, np.int64),
        np.zeros(0, np.int32),
        np.zeros(0, np.float32),
        np.zeros((0, players), np.float32),
        np.zeros(0, np.float32),
        np.zeros(0, np.float32),
        np.zeros(0, np.int32),
    )


def join(parts: list[Rows]) -> Rows:
    """All rows of all parts, in order; copies."""
    offsets = np.cumsum([0, *(part.starts[-1] - part.starts[0] for part in parts)])
    starts = [part.starts[:-1] - part.starts[0] + offset for part, offset in zip(parts, offsets, strict=False)]
    fields = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in Rows._fields if name != "starts"
    }
    return Rows(starts=np.concatenate([*starts, offsets[-1:]]).astype(np.int64), **fields)


def pick_rows(rows: Rows, chosen: np.ndarray) -> Rows:
    """The rows with the indices `chosen` int64 [k]; copies."""
    counts = (rows.starts[1:] - rows.starts[:-1])[chosen]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    flat = np.repeat(rows.starts[:-1][chosen] - starts[:-1], counts) + np.arange(starts[-1])
    return Rows(
        rows.states[chosen],
        rows.players[chosen],
        starts,
        rows.actions[flat],
        rows.policy[flat],
        rows.results[chosen],
        rows.search[chosen],
        rows.weights[chosen],
        rows.replies[chosen],
    )


def last_rows(rows: Rows, count: int) -> Rows:
    """The last `count` rows, without copying them."""
    first = max(0, len(rows) - count)
    begin = rows.starts[first]
    cut = {name: getattr(rows, name)[first:] for name in Rows._fields if name not in ("starts", "actions", "policy")}
    return Rows(starts=rows.starts[first:] - begin, actions=rows.actions[begin:], policy=rows.policy[begin:], **cut)
