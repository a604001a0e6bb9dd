"""What the probe imports from a package that lies beside it."""


def thrice(x):
    return 3 * x
