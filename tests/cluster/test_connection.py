"""Which cluster an address means, and what a user is told where there is none."""

import importlib
import socket
from types import BuiltinFunctionType

import pytest

import ludus
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


def test_ray_leaves_print_as_it_is_which_rules_may_call():
    pytest.importorskip("ray")
    connection.import_ray()
    importlib.import_module("ray.experimental.tqdm_ray").instance()
    assert type(print) is BuiltinFunctionType


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


# --- what a cluster cannot do: said before Ray is asked for -----------------------------------------------------------


def test_lockstep_needs_a_cluster():
    with pytest.raises(BadOption, match="lockstep is for a cluster: add --cluster auto"):
        ludus.train("tictactoe", lockstep=True)


def test_people_do_not_play_on_a_cluster():
    with pytest.raises(BadOption, match="people, and agents that exist in this process only, cannot play on a cluster"):
        ludus.play_match("tictactoe", ["human", "random"], cluster="auto")


def test_recorded_games_on_a_cluster_need_budgets_in_simulations(tmp_path):
    agents, file = ["uct:1s", "random"], tmp_path / "results.sqlite"
    with pytest.raises(BadOption, match="uct:1s: on a cluster, recorded games need budgets in simulations"):
        ludus.play_match("tictactoe", agents, results=file, cluster="auto")
    with pytest.raises(BadOption, match="uct:1s: on a cluster, recorded games need budgets in simulations"):
        ludus.rate(agents, "tictactoe", results=file, cluster="auto")
