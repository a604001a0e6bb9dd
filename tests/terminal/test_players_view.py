"""The list of the players that come with Ludus."""

from ludus.terminal.players import interval


def test_an_interval_without_an_end():
    infinity = float("inf")
    assert interval(1676, 2861) == "1676 to 2861"
    assert interval(1480, infinity) == "at least 1480"
    assert interval(-infinity, 900) == "at most 900"
    assert interval(-infinity, infinity) == interval(float("nan"), float("nan")) == "unknown"
