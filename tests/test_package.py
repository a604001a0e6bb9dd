"""The wheel and the source distribution hold everything, and an installed package works."""

import os
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
import tarfile
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest

import ludus

pytest.importorskip("build", reason="building the package needs build: pip install build")
ROOT = Path(__file__).parent.parent
BASE = {"numpy", "numba", "typer", "rich", "scipy", "torch", "safetensors", "onnx", "onnxruntime"}
"""What `pip install ludus` brings; extras bring the rest."""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the wheel and the source distribution, built from a copy: setuptools writes beside the sources."""
    folder = tmp_path_factory.mktemp("package")
    source = folder / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    shutil.copytree(ROOT / "docs", source / "docs")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist"), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "dist"


def test_the_wheel_and_the_sources_hold_every_file(built):
    source = ROOT / "src"
    wanted = {
        file.relative_to(source).as_posix()
        for file in (source / "ludus").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert {"ludus/py.typed", "ludus/templates/grid.py", "ludus/web/static/index.html"} <= wanted
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = {name for name in opened.namelist() if ".dist-info/" not in name}
        (metadata,) = [name for name in opened.namelist() if name.endswith("/METADATA")]
        described = opened.read(metadata).decode()
    pages = {file.relative_to(ROOT).as_posix() for file in ROOT.glob("docs/**/*.md")}
    assert names == wanted | {f"ludus/{page}" for page in pages}
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as opened:
        held = {name.partition("/")[2] for name in opened.getnames()}
    assert {f"src/{name}" for name in wanted} | pages <= held
    assert set(re.findall(r"^Requires-Dist: ([\w-]+)[^;\n]*$", described, re.MULTILINE)) == BASE
    for extra in ("all", "cluster", "envs", "gdl", "openspiel", "plots", "tensorboard", "web"):
        assert f"Provides-Extra: {extra}\n" in described


def without_sources():
    """The environment variables without PYTHONPATH: with the sources on it, pip finds Ludus installed already."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def lock(folder):
    """Take away the right to write into a folder and all that it holds."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))


def unlock(folder):
    for path in [folder, *folder.rglob("*")]:
        path.chmod(path.stat().st_mode | stat.S_IWUSR)


def files_in(folder):
    """Every file with its time and its size."""
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def installed(built, tmp_path):
    """A new environment with the wheel and the libraries of this one: (folder of its programs, its packages)."""
    home = tmp_path / "clean"
    venv.create(home, with_pip=False)
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    (wheel,) = built.glob("*.whl")
    command = [sys.executable, "-m", "pip", "--python", str(home), "install", "--no-deps", "--no-index", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=without_sources())
    assert done.returncode == 0, done.stderr
    (site,) = (folder.parent for folder in home.rglob("ludus") if (folder / "__init__.py").is_file())
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib"))  # of which Python runs no .pth file
    lock(site / "ludus")
    yield scripts, site
    unlock(site / "ludus")


def test_the_installed_package_works_outside_the_repository_and_writes_nothing_into_itself(installed, tmp_path):
    scripts, site = installed
    before = files_in(site / "ludus")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    options = {"cwd": elsewhere, "env": without_sources(), "text": True}

    def run(*words):
        done = subprocess.run([scripts / words[0], *words[1:]], capture_output=True, timeout=1200, **options)
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    assert Path(run("python", "-c", "import ludus; print(ludus.__file__)").strip()).is_relative_to(site)
    assert run("ludus", "docs", "gdl").startswith("# Games in GDL")
    listed = run("ludus", "games")
    assert all(name in listed for name in ludus.names())
    for name in ("tictactoe", "roshambo", "laststone", "gdl:tictactoe"):
        assert "lines of play" in run("ludus", "perft", name, "--depth", "1")
    run("ludus", "new", "mygame.py", "--kind", "python")
    run("ludus", "match", "mygame.py", "random", "random", "--games", "2")
    run(
        "ludus",
        *[
            "train",
            "tictactoe",
            "--steps",
            "2",
            "--run",
            "run",
            "--set",
            "iteration_rows=64",
            "--set",
            "rating_games=0",
        ],
    )
    run("ludus", "grade", "zero:run", "tictactoe", "--count", "6")

    server = subprocess.Popen(
        [scripts / "ludus", "web", "--no-browser", "--port", "0"], stdout=subprocess.PIPE, **options
    )
    try:
        address = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+", line)))
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert b"<title>" in answer.read()
    finally:
        server.terminate()
        server.wait(30)
    assert files_in(site / "ludus") == before
