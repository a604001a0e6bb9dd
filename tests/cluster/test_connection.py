"""Which cluster an address means, and what a user is told where there is none."""

import socket

import pytest

from ludus.cluster import connection
from ludus.cluster.connection import connect, running_address
from ludus.errors import BadOption


@pytest.fixture
def nothing_runs(monkeypatch, tmp_path):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    (tmp_path / "ray").mkdir()
    return tmp_path / "ray" / "ray_current_cluster"


@pytest.fixture
def listening():
    """The address of a program that listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def closed():
    """An address at which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    return f"127.0.0.1:{port}"


def test_auto_means_the_cluster_that_runs_on_this_machine(nothing_runs, listening, closed, monkeypatch):
    assert running_address() is None
    nothing_runs.write_text(closed)  # a cluster that was killed
    assert running_address() is None
    nothing_runs.write_text(listening)
    assert running_address() == listening
    monkeypatch.setattr(connection.os, "getuid", lambda: 12345, raising=False)
    assert running_address() is None  # another user's
    monkeypatch.setenv("RAY_ADDRESS", listening)
    assert running_address() == listening


def test_an_address_without_a_cluster_is_one_line(closed, monkeypatch):
    monkeypatch.setattr(connection, "import_ray", NoRay)
    with pytest.raises(BadOption, match=f"nothing answers at {closed}; ray start --head starts"), connect(closed):
        pass
    for address in ("10.0.0.1", "ray://10.0.0.1:10001", ":6379", "10.0.0.1:x"):
        with pytest.raises(BadOption, match="takes auto, or the address HOST:PORT"), connect(address):
            pass


class NoRay:
    """Stands for the package ray before it is connected."""

    def is_initialized(self):
        return False


def test_without_ray_one_line_says_what_to_install(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(connection.importlib, "import_module", missing)
    with pytest.raises(BadOption, match=r"pip install 'ludus\[cluster\]'"), connect("auto"):
        pass
