"""e ** x and log x in plain arithmetic. Unlike the functions of the math library, they can be vectorised, and CPU and
GPU compute the same bits."""

import numpy as np

from ludus.rng import draw


def exponential(x):
    """e ** x for x <= 0, float32, with a relative error below 1e-5.

    It is computed as 2 ** (whole + rest) with rest in [-0.5, 0.5]: the whole part becomes the exponent of a float32,
    the rest goes through a Taylor series.
    """
    power = max(x, np.float32(-87.0)) * np.float32(1.4426950408889634)
    whole = np.int32(power - np.float32(0.5))
    rest = (power - np.float32(whole)) * np.float32(0.6931471805599453)
    series = np.float32(1 / 720)
    series = series * rest + np.float32(1 / 120)
    series = series * rest + np.float32(1 / 24)
    series = series * rest + np.float32(1 / 6)
    series = series * rest + np.float32(0.5)
    series = series * rest + np.float32(1.0)
    series = series * rest + np.float32(1.0)
    return series * np.int32((whole + np.int32(127)) << np.int32(23)).view(np.float32)


def logarithm(x):
    """The natural logarithm of x > 0, float32, with an error below 1e-6: exponent, and a series for the fraction."""
    bits = np.float32(x).view(np.int32)
    # Subtracting the bits of sqrt(1/2) makes the fraction range from 0.707 to 1.414, where the series converges fast.
    exponent = (bits - np.int32(0x3F3504F3)) >> np.int32(23)
    fraction = np.int32(bits - (exponent << np.int32(23))).view(np.float32)
    s = (fraction - np.float32(1.0)) / (fraction + np.float32(1.0))
    square = s * s
    series = np.float32(2 / 9)
    series = series * square + np.float32(2 / 7)
    series = series * square + np.float32(2 / 5)
    series = series * square + np.float32(2 / 3)
    series = series * square + np.float32(2.0)
    return series * s + np.float32(exponent) * np.float32(0.6931471805599453)


def gumbel_noise(random):
    """A draw from the standard Gumbel distribution, float32, from -2.8 to 16.6."""
    # The centre of one of 2 ** 23 parts of (0, 1), which a float32 holds exactly: it is never 0 and never 1.
    uniform = (np.float32(draw(random) >> np.uint64(41)) + np.float32(0.5)) * np.float32(2**-23)
    return -logarithm(-logarithm(uniform))
