"""Files of machine code on disk, kept from one process to the next.

    <cache folder>/machine-code/<versions of Python, Numba and llvmlite>/<what>-<digest>.<kind>

An entry is one file that is written whole or not at all and never changes: its name is a digest of everything that it
was made from. So processes need no lock, and versions of Ludus do not disturb each other. A file begins with a
checksum. A file that is missing, damaged or unreadable is compiled again, and a disk that cannot be written to keeps
nothing: neither is an error, but the latter is a warning, as every command compiles anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

import llvmlite
import numba

from ludus.errors import NothingKept

KEPT_DAYS = 30
"""Entries that no process has used for this long are removed."""
KEPT_BYTES = 1 << 30
"""Above this total size the entries that were not used for longest are removed."""
DAY = 24 * 60 * 60.0

_VERSIONS = (
    f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
    f"-numba-{numba.__version__}-llvmlite-{llvmlite.__version__}"
)
_CHECKSUM_BYTES = hashlib.sha256().digest_size


def cache_folder() -> Path | None:
    """The folder for Ludus's caches; None if the platform names no place for caches.

    LUDUS_CACHE names it, else it lies in NUMBA_CACHE_DIR if that is set, else where the platform's caches are.
    """
    if os.environ.get("LUDUS_CACHE"):
        return Path(os.environ["LUDUS_CACHE"]).absolute()
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"]).absolute() / "ludus"
    home = Path(os.path.expanduser("~"))
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "ludus" / "cache"
    elif sys.platform == "darwin":
        folder = home / "Library" / "Caches" / "ludus"
    else:
        named = Path(os.environ.get("XDG_CACHE_HOME", ""))
        folder = (named if named.is_absolute() else home / ".cache") / "ludus"
    return folder if folder.is_absolute() else None


def read(name: str) -> bytes | None:
    """The content of an entry; None if there is none, or none that can be used."""
    file = _path(name)
    if file is None:
        return None
    try:
        stored = file.read_bytes()
        used = file.stat().st_mtime
    except OSError:
        return None
    if time.time() - used > DAY:
        with contextlib.suppress(OSError):  # not this user's file
            os.utime(file)
    content = stored[_CHECKSUM_BYTES:]
    return content if stored[:_CHECKSUM_BYTES] == hashlib.sha256(content).digest() else None


def write(name: str, content: bytes) -> None:
    """Keep an entry; a warning if the disk does not allow it."""
    file = _path(name)
    if file is None:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        number, draft = tempfile.mkstemp(".draft", f"{name}.", file.parent)
        try:
            with open(number, "wb") as opened:
                opened.write(hashlib.sha256(content).digest() + content)
            os.replace(draft, file)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            raise
    except OSError as error:  # a full or read-only disk, or no permission
        told = f"machine code cannot be kept in {cache_folder()} ({error.strerror}), so each command compiles anew"
        warnings.warn(f"{told}; LUDUS_CACHE names another folder", NothingKept, stacklevel=2)
        return
    with contextlib.suppress(OSError):
        _clean(file.parent.parent)


def can_keep() -> bool:
    """True if entries that are written now are there later."""
    file = _path("entry")
    return file is not None and os.access(file.parent, os.W_OK)


def _path(name: str) -> Path | None:
    folder = cache_folder()
    return None if folder is None else folder / "machine-code" / _VERSIONS / name


def _clean(root: Path) -> None:
    """Remove entries by KEPT_DAYS and KEPT_BYTES, at most once a day, and only when an entry is added."""
    stamp = root / "cleaned"
    now = time.time()
    if stamp.exists() and abs(now - stamp.stat().st_mtime) < DAY:
        return
    stamp.touch()
    total = 0
    entries = [(entry.stat(), entry) for entry in root.glob("*/*") if entry.is_file()]
    for status, entry in sorted(entries, key=lambda each: -each[0].st_mtime):
        total += status.st_size
        age = now - status.st_mtime
        if total > KEPT_BYTES or age > (DAY if entry.suffix == ".draft" else KEPT_DAYS * DAY):
            with contextlib.suppress(OSError):  # another process was faster, or is reading it (Windows)
                entry.unlink()
    for folder in root.glob("*/"):
        with contextlib.suppress(OSError):  # it is not empty
            folder.rmdir()
