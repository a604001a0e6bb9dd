"""Checksums of the files of a run, so that damage is found when a file is read.

A folder of binary files has a file SHA256SUMS, which `sha256sum --check` reads too. A text has its checksum in its last
line or field. Files of Ludus 0.1 have none and are read as they are.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ludus.runs.files import BadRun

SUMS = "SHA256SUMS"
SEAL = "# checksum "
AFTER_EDIT = "; delete this line after editing the file"


class Damaged(BadRun):
    """A file of a run is missing, or differs from what was written."""


def write_sums(folder: Path) -> None:
    """Add SHA256SUMS to a folder."""
    files = sorted(path for path in folder.iterdir() if path.name != SUMS)
    (folder / SUMS).write_text("".join(f"{_sha256(path)}  {path.name}\n" for path in files))


def check_sum(path: Path) -> None:
    """Raise Damaged if a file is missing or differs from its entry in the SHA256SUMS beside it, if there is one."""
    if not path.is_file():
        raise Damaged(f"{path} is missing")
    sums = path.with_name(SUMS)
    if not sums.is_file():
        return
    known = [line.partition("  ") for line in sums.read_text(errors="replace").splitlines()]
    expected = {name: digest for digest, _, name in known}
    if expected.get(path.name) != _sha256(path):
        raise Damaged(f"{path} is damaged: its checksum is not the one in {SUMS}")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- texts ------------------------------------------------------------------------------------------------------------


def seal_text(text: str) -> str:
    """A text of whole lines with a last line that holds its checksum."""
    return f"{text}{SEAL}{_digest(text)}{AFTER_EDIT}\n"


def is_sealed(text: str) -> bool:
    """True if the last line of a text holds a checksum, right or wrong."""
    return text.rstrip("\n").rpartition("\n")[2].startswith(SEAL)


def check_text(text: str, path: Path) -> None:
    """Raise Damaged if the last line holds a checksum that is not the one of the text before it."""
    head, _, last = text.rstrip("\n").rpartition("\n")
    if last.startswith(SEAL) and last != f"{SEAL}{_digest(head + chr(10))}{AFTER_EDIT}":
        raise Damaged(f"{path} is damaged: its checksum does not match")


def seal_json(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data with their checksum as a further field."""
    return {**data, "checksum": _digest(json.dumps(data))}


def unseal_json(data: dict[str, Any], path: Path) -> dict[str, Any]:
    """The data without their checksum; Damaged if it is there and wrong."""
    rest = {name: value for name, value in data.items() if name != "checksum"}
    if "checksum" in data and data["checksum"] != _digest(json.dumps(rest)):
        raise Damaged(f"{path} is damaged: its checksum does not match")
    return rest


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# --- lines ------------------------------------------------------------------------------------------------------------


def seal_line(data: Mapping[str, Any]) -> str:
    """The data as one line of JSON whose last field is a checksum of the others."""
    text = json.dumps(data)
    return f'{text[:-1]}, "crc": "{zlib.crc32(text.encode()):08x}"}}'


def unseal_line(line: str) -> dict[str, Any]:
    """The data of a line; ValueError if it is damaged."""
    text, found, crc = line.rpartition(', "crc": "')
    if found:
        text += "}"
        if crc != f'{zlib.crc32(text.encode()):08x}"}}':
            raise ValueError("the checksum of the line does not match")
    data = json.loads(text if found else line)
    if not isinstance(data, dict):
        raise ValueError("the line is no table")
    return data
