"""Scratch memory of the functions of a description, which look at one position and then forget it.

Compiled code takes it from the C library, without Numba's reference counts: they took 40 % of the time of a playout.
"""


class TakeCopy:
    """take_copy(array): a copy of an array, to be handed to `give_back` when it is no longer used."""

    def __call__(self, array):
        return array.copy()


class GiveBack:
    """give_back(copy): free the memory of a copy."""

    def __call__(self, copy):
        pass


take_copy, give_back = TakeCopy(), GiveBack()
