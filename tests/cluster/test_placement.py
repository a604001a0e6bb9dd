"""Which actors run where, by the resources of the nodes."""

import pytest

from ludus.cluster.placement import MOST_THREADS, Node, Slot, place_selfplay, place_single_threads
from ludus.training.cluster_actor import Share, engine_for
from ludus.training.joining import speed_up


def sizes(slots):
    return [(slot.node, slot.index, slot.threads, slot.gpus) for slot in slots]


def test_a_node_without_gpus_has_an_actor_for_every_four_cores():
    assert MOST_THREADS == 4
    assert sizes(place_selfplay([Node("a", "10.0.0.1", cpus=10)])) == [("a", 0, 4, 0), ("a", 1, 3, 0), ("a", 2, 3, 0)]
    assert sizes(place_selfplay([Node("b", "10.0.0.2", cpus=1)])) == [("b", 0, 1, 0)]
    assert place_selfplay([Node("c", "10.0.0.3", cpus=0)]) == []


@pytest.mark.parametrize(
    ("gpus", "cpus", "threads"), [(1, 16, [16]), (2, 16, [8, 8]), (8, 20, [3, 3, 3, 3, 2, 2, 2, 2])]
)
def test_a_node_with_gpus_has_one_actor_for_each(gpus, cpus, threads):
    slots = place_selfplay([Node("a", "10.0.0.1", cpus, gpus)])
    assert [(slot.threads, slot.gpus) for slot in slots] == [(count, 1) for count in threads]


def test_every_gpu_has_an_actor_even_if_cores_are_few():
    slots = place_selfplay([Node("a", "10.0.0.1", cpus=2, gpus=3)])
    assert sizes(slots) == [("a", index, 1, 1) for index in range(3)]
    assert 1.9 < sum(slot.cores for slot in slots) <= 2  # Ray would start none of those for which no core is left


def test_the_cores_of_the_learner_are_left_to_it():
    assert sizes(place_selfplay([Node("a", "127.0.0.1", cpus=8, is_ours=True)], learner_threads=4)) == [("a", 0, 4, 0)]
    assert sizes(place_selfplay([Node("a", "127.0.0.1", cpus=2, is_ours=True)], learner_threads=2)) == [("a", 0, 1, 0)]
    assert place_selfplay([Node("a", "127.0.0.1", cpus=0, is_ours=True)]) == []


def test_one_machine_with_four_gpus_has_four_actors_and_the_learner_shares_a_gpu_with_one():
    slots = place_selfplay([Node("a", "127.0.0.1", cpus=32, gpus=4, is_ours=True)], learner_threads=1)
    assert [(slot.threads, slot.gpus) for slot in slots] == [(8, 1), (8, 1), (8, 1), (7, 1)]
    assert sum(slot.cores for slot in slots) == 31


def test_a_node_that_joins_changes_nothing_on_the_others():
    first, second = Node("a", "127.0.0.1", 8, is_ours=True), Node("b", "10.0.0.2", 4, 2)
    alone, together = place_selfplay([first]), place_selfplay([first, second])
    assert together[: len(alone)] == alone


def test_the_arena_has_an_actor_for_each_core():
    nodes = [Node("a", "127.0.0.1", 2, is_ours=True), Node("b", "10.0.0.2", 1, 4)]
    assert place_single_threads(nodes) == [
        Slot("a", "127.0.0.1", 0, 1),
        Slot("a", "127.0.0.1", 1, 1),
        Slot("b", "10.0.0.2", 0, 1),
    ]


def test_actors_play_as_many_games_for_each_thread_as_the_planned_machine():
    planned_on_cpu = Share(games=128, workers=2, planned_on="cpu", seed=0)
    assert planned_on_cpu.games_for(threads=4, has_gpu=False) == 256
    assert planned_on_cpu.games_for(threads=2, has_gpu=True) == 4096
    planned_on_gpu = Share(games=1024, workers=2, planned_on="cuda", seed=0)
    assert planned_on_gpu.games_for(threads=2, has_gpu=True) == 1024
    assert planned_on_gpu.games_for(threads=4, has_gpu=False) == 512


def test_the_plan_counts_what_is_as_fast_as_the_measured_machine():
    slots = place_selfplay(
        [Node("a", "127.0.0.1", 4, is_ours=True), Node("b", "10.0.0.2", 8), Node("c", "10.0.0.3", 8, 2)]
    )
    assert speed_up(slots, "cpu", threads=4) == (3 + 8) / 4
    assert speed_up(slots, "cuda", threads=2) == 2.0


def test_the_engine_of_an_actor_follows_what_its_node_has():
    assert engine_for("int8", has_gpu=False) == "int8"
    assert engine_for("int8", has_gpu=True) == "auto"
    assert engine_for("cuda", has_gpu=False) == "auto"
