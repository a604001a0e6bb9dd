"""Training and matches on a cluster of several nodes on this machine, some of which are killed.

All tests share one cluster, which listens on the loopback address only. Each test starts with two nodes of one core:
the node of this process, and `south`.
"""

import os
import threading

import numpy as np
import pytest

import ludus
from ludus.cluster.connection import connect
from ludus.cluster.events import ActorLost, ClusterChanged
from ludus.runs.config import Config, with_settings
from ludus.runs.run import Run
from ludus.stopping import Deadline
from ludus.training import cluster_play, preflight
from ludus.training.cluster_play import ClusterSelfPlay
from ludus.training.events import IterationDone
from ludus.training.joining import Joined
from ludus.training.trainer import Trainer
from tests.own_games import HEAP, HELPER
from tests.training.small import QUICK, SMALL

pytest.importorskip("ray", reason="a cluster needs Ray: pip install 'ludus[cluster]'")
from ray.cluster_utils import Cluster

LIMIT = 180.0
"""Seconds after which an event that does not happen fails a test."""


class Nodes:
    """The cluster, and its nodes by name, without the one of this process."""

    def __init__(self):
        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **LOCAL})
        self.nodes = {}

    def add(self, name, cores=1, gpus=0):
        self.nodes[name] = self.cluster.add_node(num_cpus=cores, num_gpus=gpus, **LOCAL)

    def kill(self, name):
        """Kill all processes of a node, without a warning."""
        self.cluster.remove_node(self.nodes.pop(name), allow_graceful=False)

    def restore(self):
        """The nodes of the beginning: another one with the name of a node that was killed is a new node."""
        for name in set(self.nodes) - {"south"}:
            self.kill(name)
        if "south" not in self.nodes:
            self.add("south")


LOCAL = {"node_ip_address": "127.0.0.1", "include_dashboard": False, "object_store_memory": 80 << 20}


@pytest.fixture(scope="module")
def all_nodes():
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    made = Nodes()
    made.restore()
    with connect(made.cluster.address) as made.connection:
        yield made
    made.cluster.shutdown()


@pytest.fixture
def nodes(all_nodes, monkeypatch):
    monkeypatch.setattr(preflight, "SECONDS", 0.1)
    monkeypatch.setattr(cluster_play, "SECONDS", 0.2)
    all_nodes.restore()
    return all_nodes


def new_run(folder, **settings):
    config = with_settings(Config(), {**SMALL, "rating_games": 0, **settings})
    return Run.create(folder, ludus.make("tictactoe"), config)


def weights(trainer):
    return [tensor.detach().numpy().tobytes() for tensor in trainer.gate.best.state_dict().values()]


def test_in_lockstep_a_killed_node_changes_nothing(nodes, tmp_path):
    local = Trainer(new_run(tmp_path / "local", workers=3))
    for _ in range(3):
        local.iterate()
    events = []
    joined = Joined(nodes.connection, lockstep=True, emit=events.append)
    trainer = Trainer(new_run(tmp_path / "cluster", workers=3), joined.make_selfplay)
    trainer.iterate()
    fleet, submit = trainer.selfplay.fleet, trainer.selfplay.fleet.submit

    def submit_to_the_dead(member, *job):
        if member.slot.node == victim and "south" in nodes.nodes:
            nodes.kill("south")
        submit(member, *job)

    victim = nodes.nodes["south"].node_id
    assert victim in [member.slot.node for member in fleet.members]
    fleet.submit = submit_to_the_dead
    trainer.iterate()
    assert "south" not in nodes.nodes
    trainer.save()
    trainer.close()
    assert any(isinstance(event, ActorLost) for event in events)
    resumed = Trainer(Run.open(tmp_path / "cluster"))  # on this machine alone
    resumed.restore(2)
    resumed.iterate()
    assert weights(resumed) == weights(local)
    assert (resumed.games, resumed.window.total) == (local.games, local.window.total)


def test_a_training_goes_on_while_nodes_die_and_join(nodes, tmp_path):
    told, stop = [], threading.Event()

    def listen(event):
        if isinstance(event, ActorLost | ClusterChanged):
            told.append(event)
        if not isinstance(event, IterationDone):
            return
        if "west" not in nodes.nodes:
            nodes.kill("south")
            nodes.add("west", cores=2)
        if ClusterChanged(nodes=2, actors=2, threads=3, gpus=0) in told:
            stop.set()

    options = {"cluster": nodes.cluster.address, "on_event": listen, "stop": stop}
    run = ludus.train("tictactoe", minutes=LIMIT / 60, run=tmp_path / "run", settings=QUICK, **options)
    assert stop.is_set()
    assert any(isinstance(event, ActorLost) for event in told)
    log = run.log()
    stored = [np.load(run.folder / "games" / f"{each:06d}.npz")["players"].size for each in range(1, len(log) + 1)]
    assert np.cumsum(stored).tolist() == [line["rows"] for line in log]
    games = np.diff([0, *(line["games"] for line in log)])
    assert sum(line["plies"] * count for line, count in zip(log, games, strict=True)) == pytest.approx(
        sum(stored), 1e-4
    )
    assert all(line["simulations_per_second"] > 0 for line in log)


def test_a_node_with_more_gpus_than_cores_plays_with_an_actor_for_each(nodes, tmp_path):
    """The GPUs are only declared: Ray gives each actor one, PyTorch finds none there, and the CPU plays."""
    nodes.kill("south")
    nodes.add("cards", cores=1, gpus=2)
    joined = Joined(nodes.connection, lockstep=False, emit=lambda event: None)
    trainer = Trainer(new_run(tmp_path / "run"), joined.make_selfplay)
    trainer.iterate()
    selfplay = trainer.selfplay
    fleet, collect, rows, seen = selfplay.fleet, selfplay.fleet.collect, {}, threading.Event()

    def count(seconds):
        results = collect(seconds)
        for number, value in ((each.member.number, each.value) for each in results if not each.is_lost):
            rows[number] = rows.get(number, 0) + len(value.played.rows)
        if len(rows) == 3 and all(rows.values()):
            seen.set()
        return results

    fleet.collect = count
    limit = Deadline(LIMIT)
    while not seen.is_set() and not limit.is_set():
        trainer.iterate()
    assert seen.is_set()
    members = [member for member in fleet.members if member.slot.gpus]
    visible = lambda actor: os.environ["CUDA_VISIBLE_DEVICES"]  # noqa: E731
    given = [nodes.connection.ray.get(member.handle.__ray_call__.remote(visible)) for member in members]
    trainer.close()
    assert sorted(given) == ["0", "1"]


def test_a_run_of_a_cluster_is_resumed_with_the_rows_that_were_waiting(nodes, tmp_path):
    run = new_run(tmp_path / "run")
    joined = Joined(nodes.connection, lockstep=False, emit=lambda event: None)
    trainer = Trainer(run, joined.make_selfplay)
    trainer.iterate()
    selfplay = trainer.selfplay
    assert isinstance(selfplay, ClusterSelfPlay)
    with selfplay.lock:
        assert selfplay.lock.wait_for(lambda: selfplay.inbox, LIMIT)
    trainer.close()
    trainer.save()
    waiting = sum(len(played.rows) for played in selfplay.inbox)
    assert selfplay.batches + selfplay.lost + len(selfplay.open) == selfplay.jobs
    again = Trainer(Run.open(run.folder), joined.make_selfplay)
    again.restore(1)
    (restored,) = again.selfplay.inbox
    assert len(restored.rows) == waiting > 0
    assert restored.counts.games == sum(played.counts.games for played in selfplay.inbox)
    assert (again.selfplay.batches, again.selfplay.actors) == (selfplay.batches, selfplay.fleet.next_number)
    first = again.selfplay.play(1, 8)
    assert first.rows.states.tobytes()[: restored.rows.states.nbytes] == restored.rows.states.tobytes()
    again.close()
    elsewhere = Trainer(Run.open(run.folder))  # on this machine, with new games
    elsewhere.restore(1)
    assert elsewhere.iterate().iteration == 2


def test_a_match_on_the_cluster_is_the_match_of_one_machine(nodes, tmp_path):
    (tmp_path / "heap.py").write_text(HEAP)
    (tmp_path / "amounts.py").write_text(HELPER)
    game = ludus.make(tmp_path / "heap.py", heap=15)
    here = ludus.play_match(game, ["random", "random"], 8, 5, parallel=1)
    for name in ("heap.py", "amounts.py"):
        (tmp_path / name).unlink()  # nodes get the game from this process
    killed = []

    def kill_one(event):
        if type(event).__name__ == "GameEnded" and not killed:
            killed.append(True)
            nodes.kill("south")

    there = ludus.play_match(game, ["random", "random"], 8, 5, cluster=nodes.cluster.address, on_event=kill_one)
    assert there.ending == "finished"
    assert [there.tally(i) for i in (0, 1)] == [here.tally(i) for i in (0, 1)]


def test_the_arena_sends_checkpoints_to_the_nodes(nodes, run_that_plays, tmp_path):
    run_that_plays(1)
    run = run_that_plays(2)
    standings = ludus.rate(
        [run],
        games=4,
        simulations=4,
        every=1,
        parallel=2,
        results=tmp_path / "results.sqlite",
        cluster=nodes.cluster.address,
    )
    assert sum(row.games for row in standings.rows) == 8
