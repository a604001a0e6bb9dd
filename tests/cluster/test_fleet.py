"""The fleet of actors, on a Ray that exists in this process only and whose nodes live and die by command."""

import pytest

from ludus.cluster import fleet
from ludus.cluster.connection import ClusterFailed
from ludus.cluster.events import ActorLost, ClusterChanged
from ludus.cluster.fleet import Fleet
from ludus.cluster.placement import Node, place_single_threads


class RayError(Exception):
    """Stands for ray.exceptions.RayError."""


class FakeRay:
    """Actors are objects of this process. A call runs when `work` is called."""

    class exceptions:
        RayError = RayError

    def __init__(self):
        self.calls = {}
        self.results = {}
        self.killed = []

    def put(self, value):
        return value

    def remote(self, **options):
        return lambda kind: FakeClass(self, kind)

    def kill(self, handle):
        self.killed.append(handle)

    def wait(self, references, num_returns, timeout):
        return [each for each in references if each in self.results], []

    def get(self, reference):
        value = self.results[reference]
        if isinstance(value, Exception):
            raise value
        return value

    def work(self):
        """Run the calls of all actors that were not killed."""
        for reference, (handle, call) in list(self.calls.items()):
            del self.calls[reference]
            if handle not in self.killed:
                try:
                    self.results[reference] = call()
                except RayError as error:
                    self.results[reference] = error


class FakeClass:
    def __init__(self, ray, kind):
        self.ray, self.kind = ray, kind

    def options(self, **options):
        return self

    def remote(self, *arguments):
        return FakeHandle(self.ray, self.kind(*arguments))


class FakeHandle:
    def __init__(self, ray, actor):
        self.ray, self.actor = ray, actor

    def __getattr__(self, method):
        return FakeMethod(self, method)


class FakeMethod:
    def __init__(self, handle, method):
        self.handle, self.method = handle, method

    def remote(self, *arguments):
        reference = object()
        call = lambda: getattr(self.handle.actor, self.method)(*arguments)  # noqa: E731
        self.handle.ray.calls[reference] = (self.handle, call)
        return reference


class Echo:
    """An actor that says which node it is on. On the node called bad it fails."""

    def __init__(self, slot, number, greeting):
        self.slot, self.greeting = slot, greeting

    def say(self, word):
        if self.slot.node == "bad":
            raise RayError("Traceback ...\n  ...\nValueError: no such game\n")
        return f"{self.greeting} {word} from {self.slot.node}"


class FakeConnection:
    def __init__(self):
        self.ray = FakeRay()
        self.alive = [Node("one", "10.0.0.1", 1), Node("two", "10.0.0.2", 1)]

    def nodes(self):
        return list(self.alive)

    def on_node(self, node):
        return node


@pytest.fixture
def cluster(monkeypatch):
    monkeypatch.setattr(fleet, "REFRESH", 0.0)
    monkeypatch.setattr(fleet, "RETRY", 0.0)
    return FakeConnection()


def new_fleet(cluster):
    made = Fleet(cluster, Echo, ("hello",), place_single_threads)
    made.refresh()
    return made


def by_job(results):
    return {result.job: result.value for result in results}


def test_every_job_is_answered_by_the_actor_that_has_it(cluster):
    crew = new_fleet(cluster)
    for job, member in enumerate(crew.members):
        crew.submit(member, job, "say", "hi")
    cluster.ray.work()
    assert by_job(crew.collect(0)) == {0: "hello hi from one", 1: "hello hi from two"}
    assert crew.collect(0) == []
    assert list(crew.events) == [ClusterChanged(nodes=2, actors=2, threads=2, gpus=0)]


def test_jobs_of_a_dead_node_are_lost_once_and_a_new_node_is_used(cluster):
    crew = new_fleet(cluster)
    for job in (7, 8):
        crew.submit(crew.members[0], job, "say", "hi")
    cluster.alive = [Node("two", "10.0.0.2", 1), Node("three", "10.0.0.3", 1)]
    crew.refresh()
    lost = crew.collect(0)
    assert [(result.job, result.is_lost) for result in lost] == [(7, True), (8, True)]
    cluster.ray.work()
    assert crew.collect(0) == []
    assert [(member.number, member.slot.node) for member in crew.members] == [(1, "two"), (2, "three")]
    assert ActorLost("10.0.0.1", "its node left the cluster") in crew.events


def test_an_actor_that_fails_is_replaced_and_its_other_jobs_are_lost(cluster):
    cluster.alive = [Node("bad", "10.0.0.9", 1)]
    crew = new_fleet(cluster)
    for job in (0, 1):
        crew.submit(crew.members[0], job, "say", "hi")
    cluster.ray.work()
    assert [(result.job, result.is_lost) for result in crew.collect(0)] == [(0, True), (1, True)]
    assert ActorLost("10.0.0.9", "ValueError: no such game") in crew.events
    crew.refresh()
    assert [member.number for member in crew.members] == [1]


def test_a_node_whose_actors_always_fail_is_left_out_and_the_last_one_is_an_error(cluster):
    cluster.alive = [Node("bad", "10.0.0.9", 1), Node("one", "10.0.0.1", 1)]
    crew = new_fleet(cluster)
    for _ in range(fleet.MOST_FAILURES):
        (bad,) = [member for member in crew.members if member.slot.node == "bad"]
        crew.submit(bad, 0, "say", "hi")
        cluster.ray.work()
        crew.collect(0)
        crew.refresh()
    assert [member.slot.node for member in crew.members] == ["one"]
    cluster.alive = cluster.alive[:1]
    with pytest.raises(ClusterFailed, match="no node can run an actor: ValueError: no such game"):
        crew.refresh()


def test_closing_ends_all_actors(cluster):
    crew = new_fleet(cluster)
    handles = [member.handle for member in crew.members]
    crew.close()
    assert cluster.ray.killed == handles
