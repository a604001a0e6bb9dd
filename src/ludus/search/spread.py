"""Evaluations spread over threads: a batch is cut into chunks, which several threads evaluate at the same time.

The chunks of a batch depend on its size alone. So the answers are the same, bit for bit, for every number of threads.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

from ludus.search.batch import Batch
from ludus.search.team import invite

CHUNK = 8
"""Largest number of positions in a chunk: with fewer, the network is slower for each position."""


class Evaluator(Protocol):
    """Evaluates positions: the interface between the trees and a network (see nets/evaluator.py)."""

    def evaluate(self, batch: Batch) -> None:
        """Fill batch.logits, aligned with batch.actions, and batch.values."""


class Spread:
    """An evaluator that spreads each batch over threads: the calling thread, and one for each further evaluator."""

    def __init__(self, evaluators: Sequence[Evaluator], chunk: int = CHUNK):
        self.own, self.chunk = evaluators[0], chunk
        self.idle = deque(evaluators[1:])
        """The evaluators that no helper uses at the moment."""
        self.helpers = len(self.idle)

    def evaluate(self, batch: Batch) -> None:
        self.begin(batch).finish()

    def begin(self, batch: Batch) -> Evaluation:
        """Begin to evaluate a batch: helpers work on it from now on."""
        evaluation = Evaluation(self, batch)
        for helper in range(1, 1 + min(self.helpers, len(evaluation.chunks))):
            invite(evaluation, helper)
        return evaluation


class Evaluation:
    """A batch whose evaluation is under way. Its answers are complete when `finish` returns."""

    def __init__(self, spread: Spread, batch: Batch):
        self.spread = spread
        count = len(batch.movers)
        pieces = -(-count // spread.chunk)
        ends = [count * i // pieces for i in range(pieces + 1)]
        self.chunks = deque(Batch(*(array[first:last] for array in batch)) for first, last in pairwise(ends))
        """The chunks that no thread has taken."""
        self.change = threading.Condition()
        """Held to change `chunks` and `helping`; notified when a helper leaves."""
        self.helping = 0
        """Helpers at work."""
        self.error: BaseException | None = None
        """The error of a helper."""

    def help(self, helper: int) -> None:
        """Evaluate chunks in a thread of the pool until all have been taken."""
        try:
            evaluator = self.spread.idle.popleft()
        except IndexError:  # helpers of an earlier evaluation are still at work
            return
        with self.change:
            self.helping += 1
        try:
            self._work(evaluator)
        except BaseException as error:
            self.error = error
        with self.change:
            self.spread.idle.append(evaluator)
            self.helping -= 1
            self.change.notify()

    def finish(self) -> None:
        """Evaluate the chunks that no helper has taken, and wait for the others."""
        try:
            self._work(self.spread.own)
        finally:
            self.cancel()
        if self.error is not None:
            raise self.error

    def cancel(self) -> None:
        """Drop the chunks that no thread has taken, and wait for the others."""
        with self.change:
            self.chunks.clear()
            while self.helping:
                self.change.wait()

    def _work(self, evaluator: Evaluator) -> None:
        while True:
            with self.change:
                if not self.chunks:
                    return
                chunk = self.chunks.popleft()
            evaluator.evaluate(chunk)
