"""The settings of the server, and the limits that keep it small."""

from __future__ import annotations

import ipaddress
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

from ludus.errors import BadOption
from ludus.machine import memory_size

UPLOAD_LIMIT = 1 << 20
"""Largest body of a request in bytes."""
MESSAGE_LIMIT = 64 << 10
"""Largest message from a socket in bytes."""
RULES_LIMIT = 256 << 10
"""Largest rule sheet in bytes."""
PICTURE_LIMIT = 8 << 20
"""Largest picture in bytes."""
MOST_PIXELS = 40_000_000
"""Largest number of pixels of a picture."""
MOST_QUESTIONS = 16
"""Largest number of questions to agents over HTTP that are answered at once."""
GAMES_LIMIT = 2000
"""Largest number of games that are kept in the folder of games."""
LEAST_GROUNDING = 512
"""Smallest limit in megabytes for a process that grounds a description: less is not enough to load clingo."""
GROUNDING_SECONDS = 30.0
"""Time to ground a description. One that takes longer is played by the reasoner."""
QUERY_SECONDS = 5.0
"""Time for one query of the reasoner, which plays descriptions that cannot be grounded."""
SOCKETS_LIMIT = 400
"""Largest number of sockets that are open at once."""


@dataclass(frozen=True)
class WebSettings:
    """What `ludus web` was asked for."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: str = ""
    """The secret that every request must bring; empty on loopback only."""
    games: Path = field(default_factory=lambda: data_folder() / "games")
    """The folder in which games under way and uploaded rule sheets are kept."""
    runs: Path = Path("runs")
    """The folder whose subfolders are the runs that can be watched, resumed and played against."""
    results: Path = Path("results.sqlite")
    """The file of results of the arena."""
    files: tuple[str, ...] = ()
    """The files of a user's own games, .py or .kif."""
    agents: tuple[str, ...] = ()
    """The names of external programs, and of models in files (sb3), that may have a seat."""
    memory: int = 0
    """Memory in bytes for the trees and tables of all agents together; 0: a quarter of the machine's."""

    def __post_init__(self) -> None:
        if not 0 <= self.port < 1 << 16:
            raise BadOption(f"--port must be from 0 to {(1 << 16) - 1}, not {self.port}")
        if self.token and (len(self.token) < 8 or not self.token.isascii() or not self.token.isalnum()):
            raise BadOption("--token must be at least 8 letters and digits")
        if not self.is_loopback and not self.token:
            raise BadOption(f"--host {self.host} can be reached from other machines: give a secret by --token as well")
        if self.memory and self.memory < 16 << 20:
            raise BadOption("--memory must be at least 16 MB")
        for option, folder in (("games", self.games), ("runs", self.runs)):
            if os.path.lexists(folder) and not folder.is_dir():
                raise BadOption(f"--{option} must be a folder, and {folder} is none")

    @property
    def is_loopback(self) -> bool:
        """True if only programs on this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def agent_memory(self) -> int:
        """Bytes for the trees and tables of all agents together."""
        return self.memory or memory_size() // 4

    @property
    def grounding_megabytes(self) -> int:
        """Megabytes for each of the two processes that ground a description in GDL: together as much as the agents."""
        return max(LEAST_GROUNDING, self.agent_memory >> 21)

    @property
    def query_megabytes(self) -> int:
        """Megabytes that one query of the reasoner may add to the server."""
        return min(512, self.agent_memory >> 20)


def data_folder() -> Path:
    """The folder for data of Ludus: $LUDUS_DATA, else the platform's folder for data of programs."""
    if os.environ.get("LUDUS_DATA"):
        return Path(os.environ["LUDUS_DATA"]).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "ludus"
