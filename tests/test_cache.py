"""The cache of machine code: whatever happens to its files, the answer is right, and nothing is an error."""

import hashlib
import importlib.util
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from ludus import native
from ludus.errors import NothingKept
from ludus.gpu import compiler
from ludus.native import digests, store

AMOUNT = 1


def increased(x):
    return x + AMOUNT


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The empty folder of the cache."""
    monkeypatch.setenv("LUDUS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def entries(cache):
    return sorted(cache.rglob("*.code"))


def is_cached(argument=20, function=increased):
    """Run a kernel as a new process would, and say whether its machine code came from the cache."""
    made = native.kernel(function)
    assert made(argument) == argument + AMOUNT
    return bool(made.stats.cache_hits)


def sealed(content):
    return hashlib.sha256(content).digest() + content


# --- Damage -----------------------------------------------------------------------------------------------------------


def test_machine_code_is_found_again(cache):
    assert [is_cached(), is_cached()] == [False, True]
    assert len(entries(cache)) == 1
    assert [is_cached(0.5), is_cached(0.5), is_cached()] == [False, True, True]


DAMAGE = {
    "empty": lambda content: b"",
    "one byte": lambda content: content[:1],
    "cut in half": lambda content: content[: len(content) // 2],
    "without its last byte": lambda content: content[:-1],
    "too long": lambda content: content + b"x",
    "a flipped bit in the middle": lambda content: (
        content[: len(content) // 2] + bytes([content[len(content) // 2] ^ 1]) + content[len(content) // 2 + 1 :]
    ),
    "garbage": lambda content: os.urandom(len(content)),
    "garbage with a checksum": lambda content: sealed(b"garbage"),
    "another pickle with a checksum": lambda content: sealed(pickle.dumps({"a": 1})),
    "an entry without code": lambda content: sealed(pickle.dumps((pickle.loads(content[32:])[0], ()))),
    "a class that is gone": lambda content: sealed(b"cludus.native\nGone\n."),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_entry_is_compiled_and_written_again(cache, damage):
    is_cached()
    (entry,) = entries(cache)
    entry.write_bytes(DAMAGE[damage](entry.read_bytes()))
    assert [is_cached(), is_cached()] == [False, True]


def test_an_entry_under_the_wrong_name_is_not_used(cache):
    """As it would be if two digests were equal."""
    is_cached(20)
    (whole,) = entries(cache)
    is_cached(0.5)
    (real,) = set(entries(cache)) - {whole}
    whole.write_bytes(real.read_bytes())
    assert [is_cached(20), is_cached(20)] == [False, True]


def test_a_folder_in_the_place_of_an_entry_is_no_error(cache):
    is_cached()
    (entry,) = entries(cache)
    entry.unlink()
    entry.mkdir()
    with pytest.warns(NothingKept):
        assert [is_cached(), is_cached()] == [False, False]


# --- Disks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["file", "file/deeper", "\u0101" * 300])
def test_without_a_folder_it_is_compiled_in_memory(cache, monkeypatch, place):
    cache.mkdir()
    (cache / "file").write_text("in the way")
    monkeypatch.setenv("LUDUS_CACHE", str(cache / place))
    with pytest.warns(NothingKept):
        assert [is_cached(), is_cached()] == [False, False]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_without_permission_it_is_compiled_in_memory(cache):
    cache.mkdir(mode=0o500)
    with pytest.warns(NothingKept):
        assert [is_cached(), is_cached()] == [False, False]


def test_a_read_only_disk_still_gives_what_is_on_it(cache, monkeypatch):
    is_cached()
    (entry,) = entries(cache)
    os.utime(entry, (0, 0))

    def refuse(*_, **__):
        raise PermissionError(30, "Read-only file system")

    for name in ("replace", "utime", "unlink"):
        monkeypatch.setattr(store.os, name, refuse)
    monkeypatch.setattr(store.tempfile, "mkstemp", refuse)
    with pytest.warns(NothingKept, match=r"cannot be kept in .* \(Read-only file system\).* LUDUS_CACHE"):
        assert [is_cached(), is_cached(0.5), is_cached(0.5)] == [True, False, False]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_keeps_nothing_and_leaves_no_draft(cache, monkeypatch):
    make_draft = store.tempfile.mkstemp

    def on_full_disk(*arguments):
        number, draft = make_draft(*arguments)
        os.close(number)
        return os.open("/dev/full", os.O_WRONLY), draft

    monkeypatch.setattr(store.tempfile, "mkstemp", on_full_disk)
    with pytest.warns(NothingKept, match="No space left on device"):
        assert [is_cached(), is_cached()] == [False, False]
    assert [file.name for file in cache.rglob("*") if file.is_file()] == []


# --- Processes --------------------------------------------------------------------------------------------------------


def test_a_process_that_is_killed_while_it_writes_leaves_nothing_that_is_used(cache):
    code = (
        "import os, signal; from ludus.native import store\n"
        "store.write('whole', b'first')\n"
        "store.os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "store.write('whole', b'second'); store.write('other', b'third')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -signal.SIGKILL
    assert store.read("whole") == b"first"
    assert store.read("other") is None
    assert [draft.name.partition(".")[0] for draft in cache.rglob("*.draft")] == ["whole"]


def test_processes_that_write_at_once_leave_whole_entries():
    code = (
        "import sys; from ludus.native import store\n"
        "me = sys.argv[1]\n"
        "for i in range(100):\n"
        "    store.write('shared', (me * 5000).encode())\n"
        "    found = store.read('shared')\n"
        "    assert len(found) == 5000 and len(set(found)) == 1, found\n"
        "    store.write(f'{me}{i}', (me + str(i)).encode())\n"
    )
    made = [subprocess.Popen([sys.executable, "-c", code, name]) for name in "abcd"]
    assert [process.wait(60) for process in made] == [0] * 4
    names = [f"{name}{i}" for name in "abcd" for i in range(100)]
    assert [store.read(name) for name in names] == [name.encode() for name in names]


# --- Versions ---------------------------------------------------------------------------------------------------------


def test_versions_of_numba_side_by_side_do_not_disturb_each_other(cache, monkeypatch):
    mine = store._VERSIONS
    for versions in (mine, "other"):
        monkeypatch.setattr(store, "_VERSIONS", versions)
        assert [is_cached(), is_cached()] == [False, True]
    monkeypatch.setattr(store, "_VERSIONS", mine)
    assert is_cached()
    assert len(entries(cache)) == 2


def test_another_engine_or_constant_or_machine_is_compiled_for_itself(monkeypatch):
    for change in (
        lambda: monkeypatch.setattr(digests, "engine_digest", lambda: "edited"),
        lambda: monkeypatch.setitem(globals(), "AMOUNT", 5),
        lambda: monkeypatch.setattr("ludus.native.caching.machine_of", lambda _: ("x86_64", "another", "")),
        lambda: monkeypatch.setattr(np, "__version__", "0"),
    ):
        is_cached()
        assert is_cached()
        change()
        assert [is_cached(), is_cached()] == [False, True]


def load(folder, **files):
    """The module `own` of a folder with these files, as a new process would load it."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    for name in files:
        sys.modules.pop(name, None)
    sys.path.insert(0, str(folder))
    try:
        for name in files:
            spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
            module = sys.modules[name] = importlib.util.module_from_spec(spec)
            code = compile((folder / f"{name}.py").read_text(), str(folder / f"{name}.py"), "exec")
            exec(code, module.__dict__)
        return module
    finally:
        sys.path.remove(str(folder))


def test_the_digest_of_a_kernel_covers_what_it_calls_and_nothing_else(tmp_path):
    files = {
        "far": "SIZE = 3\n\ndef unused():\n    return 1\n",
        "near": "import numba\nfrom far import SIZE\n\n@numba.njit\ndef near(x):\n    return x * SIZE\n",
        "apart": "def apart(x):\n    return x\n",
        "own": "import apart, near\nfrom apart import apart as other\n\ndef own(x):\n    return near.near(x)\n",
    }

    def digest(**changed):
        return digests.digest_of_function(load(tmp_path, **{**files, **changed}).own)

    first = digest()
    assert digest(apart=files["apart"] + "# edited\n") == first
    assert digest(far=files["far"].replace("return 1", "return 2")) == first
    assert digest(far=files["far"].replace("SIZE = 3", "SIZE = 4")) != first
    assert digest(near=files["near"] + "# edited\n") != first
    assert digest(own=files["own"] + "# edited\n") != first
    assert digest() == first


def test_a_function_that_is_in_no_file_is_not_cached(cache):
    made = {}
    exec("def nowhere(x):\n    return x + 1", made)
    assert [is_cached(function=made["nowhere"]) for _ in range(2)] == [False, False]
    assert entries(cache) == []


def test_a_file_that_was_edited_since_the_process_began_has_a_digest_of_its_own(tmp_path):
    """The process runs the old code: it must not go into the cache as the code of the new file."""
    file = tmp_path / "file.py"
    file.write_text("pass")
    os.utime(file, (time.time() - 9999,) * 2)
    digest = digests._package_file.__wrapped__
    assert digest(str(file)) == digest(str(file))
    os.utime(file)
    assert digest(str(file)) != digest(str(file))


# --- Places -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "/home/me/.cache/ludus"),
        ("linux", {"XDG_CACHE_HOME": "/caches"}, "/caches/ludus"),
        ("linux", {"XDG_CACHE_HOME": "not/absolute"}, "/home/me/.cache/ludus"),
        ("darwin", {}, "/home/me/Library/Caches/ludus"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/ludus/cache"),
        ("win32", {}, "/home/me/AppData/Local/ludus/cache"),
        ("linux", {"NUMBA_CACHE_DIR": "/numba"}, "/numba/ludus"),
        ("win32", {"LUDUS_CACHE": "/mine", "NUMBA_CACHE_DIR": "/numba"}, "/mine"),
    ],
)
def test_caches_lie_where_the_platform_keeps_caches(monkeypatch, platform, variables, expected):
    for name in ("LUDUS_CACHE", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/me", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert native.cache_folder() == Path(expected)


def test_without_a_home_nothing_is_kept(monkeypatch):
    for name in ("LUDUS_CACHE", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert native.cache_folder() is None
    assert [is_cached(), is_cached()] == [False, False]


# --- Size -------------------------------------------------------------------------------------------------------------


def aged(name, days):
    """The path of an entry that was last used some days ago."""
    store.write(name, b"12345678")
    file = store._path(name)
    os.utime(file, (time.time() - days * store.DAY,) * 2)
    return file


def test_entries_that_nobody_uses_are_removed(cache):
    old, recent, draft, fresh = (aged(*each) for each in (("a", 31), ("b", 29), ("c.draft", 2), ("d.draft", 0)))
    other = cache / "machine-code" / "another version" / "e"
    other.parent.mkdir()
    old.rename(other)
    os.utime(cache / "machine-code" / "cleaned", (time.time() - 2 * store.DAY,) * 2)
    store.write("new", b"")
    assert [file.exists() for file in (other, other.parent, recent, draft, fresh)] == [False, False, True, False, True]
    again = aged("f", 31)
    store.write("new", b"")
    assert again.exists()  # it looks once a day


def test_an_entry_in_use_is_kept():
    file = aged("a", 20)
    assert store.read("a") == b"12345678"
    assert time.time() - file.stat().st_mtime < 60


def test_above_the_total_size_the_oldest_go(cache, monkeypatch):
    files = [aged(f"{days}", days) for days in (3, 1, 4, 2)]
    monkeypatch.setattr(store, "KEPT_BYTES", 2 * files[0].stat().st_size + 32)
    (cache / "machine-code" / "cleaned").unlink()
    store.write("new", b"")
    assert sorted(file.name for file in files if file.exists()) == ["1", "2"]


# --- GPU --------------------------------------------------------------------------------------------------------------


def test_code_for_a_gpu_is_kept_too(cache, monkeypatch):
    made = iter(["first", "second", "third", "fourth", "fifth"])
    monkeypatch.setattr(compiler, "to_ptx", lambda *_: next(made))
    arguments = [np.zeros(3), 5]

    def stored(count=8, lanes=32):
        return compiler.stored_ptx(increased, arguments, count, "sm_80", lanes)

    assert [stored(), stored(), stored(9), stored()] == ["first", "first", "second", "first"]
    for file in cache.rglob("*.ptx"):
        file.write_bytes(b"damaged")
    assert [stored(), stored()] == ["third", "third"]
    arguments[1] = 6
    assert stored() == "fourth"
    assert [stored(lanes=4), stored()] == ["fifth", "fourth"]
