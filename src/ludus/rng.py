"""Random numbers that are the same in compiled and in plain Python code.

A generator is an array of one 64-bit word, so kernels take it like any array, and a fixed seed gives the same numbers
on every machine. It is xorshift64 (Marsaglia, 2003): shifts and exclusive ors never overflow in NumPy scalars.
"""

from collections.abc import Sequence

import numpy as np

_MASK = (1 << 64) - 1


def generator(*seeds: int) -> np.ndarray:
    """A generator, uint64 [1], from any number of integers; different integers give unrelated streams."""
    word = 0
    for seed in seeds:  # splitmix64, in Python integers
        word = (word ^ (seed & _MASK)) + 0x9E3779B97F4A7C15 & _MASK
        word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        word = (word ^ word >> 27) * 0x94D049BB133111EB & _MASK
        word ^= word >> 31
    return np.array([word or 1], np.uint64)


def derived_seed(*seeds: int) -> int:
    """A seed below 2**31, computed from any number of integers; different integers give unrelated seeds."""
    return int(generator(*seeds)[0] >> 33)


def generators(seed: int, count: int) -> np.ndarray:
    """Unrelated generators, uint64 [count, 1]."""
    return np.stack([generator(seed, index) for index in range(count)])


def draw(random):
    """The next 64-bit word."""
    word = random[0]
    word ^= word << np.uint64(13)
    word ^= word >> np.uint64(7)
    word ^= word << np.uint64(17)
    random[0] = word
    return word


def below(random, count):
    """A whole number from 0 to count - 1; count is less than 2**31."""
    # The high half times count, shifted: no division, which would cost more than the rest of a playout's step.
    return np.int64(((draw(random) >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


def uniform(random):
    """A float64 in [0, 1)."""
    return np.float64(draw(random) >> np.uint64(11)) * 1.1102230246251565e-16


def pick_filled(sizes: Sequence[int], rng: np.random.Generator) -> int:
    """The index of a size above 0, each as likely as the others; of a single size, always 0."""
    return 0 if len(sizes) == 1 else int(rng.choice([index for index, size in enumerate(sizes) if size]))
