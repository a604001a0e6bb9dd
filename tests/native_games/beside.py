"""What the probe imports from a file that lies beside it."""

from enum import IntEnum

OFFSET = 1000


class Direction(IntEnum):
    UP = 7


def once(x):
    return x + inner(x)


def inner(x):
    return 10 * x


def twice(x):
    return 2 * x
