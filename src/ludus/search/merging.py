"""One result from several trees that were searched from the same position, each with random numbers of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ludus.search.forest import Forest, Root


def roots_of_all(forest: Forest) -> list[Root]:
    """The result of all trees of a forest together, for each player that decides; empty before a search.

    Visits are added, and values are averaged over the visits. A proof in one tree is a proof for all.
    """
    found = [roots for index in range(len(forest.trees.root)) if (roots := forest.roots(index))]
    if len(found) <= 1:
        return found[0] if found else []
    proven = next((roots for roots in found if roots[0].solved), None)
    return proven or [_merged(blocks) for blocks in zip(*found, strict=True)]


def _merged(blocks: Sequence[Root]) -> Root:
    """One player's results of several trees as one."""
    visits = np.stack([block.visits for block in blocks])  # int32 [trees, k]
    values = np.stack([block.values for block in blocks])
    lengths = np.stack([block.lengths for block in blocks])
    shares = visits.sum(axis=1) / max(1, visits.sum())
    policy = (shares[:, None] * np.stack([block.policy for block in blocks])).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(visits > 0, values * visits, 0.0).sum(axis=0) / visits.sum(axis=0)
    solver = lengths.argmax(axis=0)  # of each move, a tree that has solved it, if there is one
    solved = np.take_along_axis(lengths, solver[None], 0)[0]
    mean = np.where(solved > 0, np.take_along_axis(values, solver[None], 0)[0], mean)
    total = visits.sum(axis=0)
    lost = (solved > 0) & (mean <= -1.0)
    ranks = np.lexsort((np.nan_to_num(mean, nan=-2.0), total, ~lost))  # the last is the best
    weights = np.where(total > 0, policy, 0.0)
    first = blocks[0]
    return Root(
        player=first.player,
        actions=first.actions,
        visits=total.astype(np.int32),
        values=mean,
        priors=first.priors,
        policy=policy.astype(np.float32),
        best=int(first.actions[ranks[-1]]),
        value=float(np.average(np.nan_to_num(mean), weights=weights)) if weights.sum() > 0 else first.value,
        solved=False,
        lengths=solved,
    )
