"""Which tests run in one process: those of a game, or else those of a file; and which of these groups start first.

Most of the time goes into compiling, and what a process has compiled it need not load or compile again. Two processes
that need the same machine code at the same time both compile it.

The mark xdist_group with --dist loadgroup would do the same, but has no effect with pytest 9.2 and xdist 3.8: xdist
adds the group to an attribute of a test that pytest no longer reads.

All tests in a browser share one process, with its browser and its server.
"""

import os
import re
import signal

import pytest
from xdist.scheduler import LoadScopeScheduling

from ludus import registry
from tests.fixtures import hollow_run, misbehaving, run_that_plays  # noqa: F401

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell does that for commands in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

GAME_OF_PROTOCOL = {"uhp": "hive", "cachex_player": "cachex", "cachex_referee": "cachex", "sevn_screen": "sevn"}
LONG = (
    *(
        "hive",
        "browser",
        "forest",
        "agreement",
        "trainer",
        "damaged_runs",
        "sevn",
        "cachex",
        "fuzz",
        "nets",
        "native",
        "docs",
    ),
    *(
        "tree",
        "solver",
        "known_solutions",
        "trust",
        "disks_and_processes",
        "adversarial",
        "resistance",
        "sizes",
        "ggp_manager",
    ),
    *("breakthrough", "analysis", "matches", "search", "uct", "demo", "train", "cli", "golden_trees", "quantised"),
    *("templates", "portable", "site", "grids", "package"),
)
"""The groups that take longest with a cold cache, the longest first. Started last, one would leave a core idle."""

SLOW = (
    "gpu/test_forest.py::test_the_functions_for_a_gpu_do_the_search_of_the_cpu[sevn",
    "gpu/test_forest.py::test_the_functions_for_a_gpu_do_the_search_of_the_cpu[connect4-options1",
    "gpu/test_graph_forest.py::test_the_functions_for_a_gpu_do_the_search_of_the_cpu[sevn-options1",
    "gpu/test_graph_forest.py::test_the_functions_for_a_gpu_do_the_search_of_the_cpu[hive",
    "games/test_check_game.py::test_contract[cachex-options16",
    "training/test_sizes.py::test_a_network_of_base_3_plays_base_5[graph",
    "training/test_sizes.py::test_a_network_of_base_3_plays_base_5[groups",
    "gdl/test_agreement.py::test_scratch_behind_states_changes_no_search",
    "protocols/ggp/test_ggp_manager.py::test_the_commands_play_a_match_in_processes_of_their_own",
    "protocols/test_uhp.py::test_a_lost_position_is_defended_as_long_as_possible",
    "test_notebooks.py::test_a_notebook_runs_from_start_to_end[connect4",
    "test_notebooks.py::test_a_notebook_runs_from_start_to_end[sevn",
    "cluster/test_cluster.py::test_in_lockstep_a_killed_node_changes_nothing",
    "cluster/test_cluster.py::test_a_run_of_a_cluster_is_resumed_with_the_rows_that_were_waiting",
    "test_package.py::test_the_installed_package_works_outside_the_repository_and_writes_nothing_into_itself",
    "test_tutorial.py::test_its_commands_run_with_small_budgets",
)
"""Tests that take 20 to 90 s each with a cold cache, and are left out unless LUDUS_SLOW_TESTS=1: `make test-slow`."""


def group_of(test):
    """The game or the file of the test with this node id, such as hive for tests/games/test_hive.py::test_json."""
    file, name, parameters = re.fullmatch(r"(.*?(\w+)\.py)(.*)", test, re.DOTALL).groups()
    game = re.search(r"\[(\w+)", parameters)
    if "tests/games/" in file and game and game[1] in registry.names():
        return game[1]
    name = name.removeprefix("test_")
    if name.startswith("browser_"):
        return "browser"
    return GAME_OF_PROTOCOL.get(name, name)


class Groups(LoadScopeScheduling):
    """Gives each group of tests to one process, in the order in which they were collected."""

    def _split_scope(self, nodeid):
        return group_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    config.option.loadscopereorder = False  # else the groups of many tests start first
    return Groups(config, log)


def pytest_collection_modifyitems(items):
    rank = {name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: rank.get(group_of(item.nodeid), len(rank)))
    if os.environ.get("LUDUS_SLOW_TESTS") != "1":
        for item in items:
            if any(part in item.nodeid for part in SLOW):
                item.add_marker(pytest.mark.skip(reason="slow: make test-slow runs it"))
