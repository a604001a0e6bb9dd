"""Every built-in game keeps the contract, with its default options and with others."""

import pytest

from ludus import registry

testing = pytest.importorskip("ludus.testing")

OTHERS = [
    ("connect4", {"rows": 12, "columns": 8}),
    ("breakthrough", {"height": 3, "width": 2}),
    ("breakthrough", {"height": 6, "width": 6}),
    ("breakthrough", {"height": 11, "width": 13}),
    ("roshambo", {"rounds": 3}),
    ("laststone", {"stones": 7, "most": 2}),
    ("sevn", {"base": 3}),
    ("cachex", {"n": 3, "steal": False}),
    ("cachex", {"n": 9}),
    ("cachex", {"n": 5, "turns": 20, "view": "planes4"}),
]
INSTEAD = {"hive": {"expansions": "MLP", "limit": 40}}
"""Where whole games with the default options take too long in plain Python."""
FEWER = {"hive": 1}


@pytest.mark.parametrize(("name", "options"), [*((name, INSTEAD.get(name, {})) for name in registry.names()), *OTHERS])
def test_contract(name, options):
    testing.check_game(registry.make(name, **options), games=FEWER.get(name, 4))
