"""Reading files of unknown origin with a limit on their size."""

from __future__ import annotations

from pathlib import Path


def read_text(path: Path, most: int) -> str:
    """The text of a regular file of at most `most` bytes.

    OSError says why the file cannot be read: it is missing, a folder, a device or a pipe, or it is too large.
    UnicodeDecodeError says that it is not text.
    """
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is not a regular file")
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(f"{path} is larger than {most:,} bytes")
    return content.decode("utf-8")
