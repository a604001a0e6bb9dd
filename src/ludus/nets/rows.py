"""What self-play hands to the learner: a row for each decision, with the position, the search's policy and the result.

Observations are not kept: they are made again, in one of the position's symmetries, when a row is sampled.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Rows(NamedTuple):
    """n decisions, and m legal actions in all."""

    states: Any  # the game's states [n]
    players: Any  # int8 [n]: who decides, and looks
    starts: Any  # int64 [n + 1]: where the actions of each row begin
    actions: Any  # int32 [m]: all legal actions of that player
    policy: Any  # float32 [m]: how good the search found them; of each row, the sum is 1
    results: Any  # float32 [n, P]: how the game ended for each player
    search: Any  # float32 [n]: what the search expected for the player
    weights: Any  # float32 [n]
    replies: Any  # int32 [n]: the action that was played next, by whoever moved then; -1 if none or not known

    def __len__(self) -> int:  # of a NamedTuple it would be the number of fields
        return int(self.players.shape[0])

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for array in self)


def empty_rows(states: np.ndarray, players: int) -> Rows:
    """No rows, for states like these."""
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
    """All rows, in order."""
    offsets = np.cumsum([0, *(part.starts[-1] - part.starts[0] for part in parts)])
    starts = [part.starts[:-1] - part.starts[0] + offset for part, offset in zip(parts, offsets, strict=False)]
    fields = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in Rows._fields if name != "starts"
    }
    return Rows(starts=np.concatenate([*starts, offsets[-1:]]).astype(np.int64), **fields)


def pick_rows(rows: Rows, chosen: np.ndarray) -> Rows:
    """The rows with these indices."""
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
