"""log.jsonl: a line of figures for each iteration of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ludus.runs.checksums import seal_line, unseal_line
from ludus.runs.files import write_bytes, write_whole


class Log:
    """The lines of a file, each with its checksum."""

    def __init__(self, path: Path):
        self.path = path

    def add(self, line: dict[str, Any]) -> None:
        """Append a line."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(seal_line(line) + "\n")

    def read(self) -> tuple[list[dict[str, Any]], int]:
        """The good lines, and the number of damaged ones. The last line may be unfinished: that is no damage."""
        if not self.path.exists():
            return [], 0
        text = self.path.read_text(encoding="utf-8", errors="replace")
        lines, damaged = [], 0
        for line in text.splitlines(keepends=True):
            try:
                lines.append(unseal_line(line.rstrip("\n")))
            except (ValueError, RecursionError):
                damaged += line.endswith("\n")
        return lines, damaged

    def cut_after(self, iteration: int) -> int:
        """Keep the good lines up to an iteration; returns the number of damaged lines that were dropped."""
        lines, damaged = self.read()
        if self.path.exists():
            kept = [line for line in lines if line.get("iteration", 0) <= iteration]
            text = "".join(seal_line(line) + "\n" for line in kept)
            write_whole(self.path, lambda path: write_bytes(path, text))
        return damaged
