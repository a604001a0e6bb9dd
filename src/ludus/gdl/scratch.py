"""Scratch memory of the functions of a description, which look at one position and then forget it.

Compiled code takes it from the C library, without Numba's reference counts: they took 40 % of the time of a playout.
"""

import numpy as np


class TakeCopy:
    """take_copy(array): a copy of an array, to be handed to `give_back` when it is no longer used."""

    def __call__(self, array):
        return array.copy()


class TakeNear:
    """take_near(array, row, at): the copy of a uint64 array that is kept in a row of bytes from `at` on, behind a word
    that is 0 before the first use; from a row that ends at `at` or before, a new copy as by `take_copy`."""

    def __call__(self, array, row, at):
        if row.size <= at:
            return array.copy()
        words = row[at:].view(np.uint64)
        kept = words[1 : 1 + array.size]
        if not words[0]:
            words[0] = 1
            kept[:] = array
        return kept


class TakeBeside:
    """take_beside(kept, row, at): a copy of an array that `take_near` has found in a row, in the space behind it."""

    def __call__(self, kept, row, at):
        copy = row[at:].view(np.uint64)[1 + kept.size : 1 + 2 * kept.size]
        copy[:] = kept
        return copy


class GiveBack:
    """give_back(copy): free the memory of a copy."""

    def __call__(self, copy):
        pass


take_copy, take_near, take_beside, give_back = TakeCopy(), TakeNear(), TakeBeside(), GiveBack()
