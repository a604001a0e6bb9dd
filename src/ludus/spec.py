"""GameSpec: the small JSON-able description from which a game can be made again, in any process.

Runs, recorded games, `Position.json`, worker processes and exports all store this one thing. `Game.spec` gives it,
`ludus.make` and `ludus.registry.remake` make the game from it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ludus.errors import LudusError

FIELDS = ("source", "options", "digest")
MAX_DEPTH = 8
"""Deepest nesting of lists and tables in an option."""


class BadSpec(LudusError):
    """Data that should describe a game do not."""


@dataclass(frozen=True)
class GameSpec:
    """Where a game comes from, and its options."""

    source: str
    """A built-in name ("connect4"), a game of a bridge ("openspiel:hex", "gdl:babel") or the absolute path of a user's
    .py or .kif file."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """All options of the game by name: text, numbers, booleans, None, and lists and tables of them."""
    digest: str = ""
    """Digest of the rules' source code (see ludus.sources) for games from a user's file, else empty."""

    def __post_init__(self) -> None:
        if not isinstance(self.source, str) or not self.source:
            raise BadSpec(f"the source of a game must be a name or a path, not {shortened(self.source)}")
        if not self.source.isprintable():
            shown = shortened(self.source)
            raise BadSpec(f"the path of a game must be printable in this system's encoding, not {shown}")
        if not isinstance(self.digest, str) or not re.fullmatch(r"[0-9a-f]*", self.digest):
            raise BadSpec(f"the digest of a game must be hexadecimal text, not {shortened(self.digest)}")
        if not isinstance(self.options, Mapping):
            raise BadSpec(f"the options of a game must be a table by name, not {shortened(self.options)}")
        for name in self.options:  # names become keyword arguments of methods
            if not isinstance(name, str) or not name.isidentifier() or name == "self":
                raise BadSpec(f"no option of a game can be called {shortened(name)}")
        plain = {name: plain_value(value, f"option {name}") for name, value in self.options.items()}
        object.__setattr__(self, "options", plain)

    def __hash__(self) -> int:
        return hash((self.source, self.digest, json.dumps(self.options, sort_keys=True)))

    def json(self) -> dict[str, Any]:
        """The spec as a dictionary for json.dumps; `from_json` reads it."""
        return {"source": self.source, "options": dict(self.options), "digest": self.digest}

    @classmethod
    def from_json(cls, data: Any) -> GameSpec:
        """The spec that `json` described, as a dictionary or as text; BadSpec says what is wrong with it."""
        if isinstance(data, str | bytes):
            try:
                data = json.loads(data)
            except (ValueError, RecursionError) as error:
                raise BadSpec(f"the description of a game is not JSON: {error}") from None
        if not isinstance(data, Mapping) or "source" not in data:
            raise BadSpec(f"a game is described by {', '.join(FIELDS)}, not by {shortened(data)}")
        unknown = [name for name in data if name not in FIELDS]
        if unknown:
            raise BadSpec(f"a game is described by {', '.join(FIELDS)}; {shortened(unknown[0])} is none of them")
        return cls(**data)


def plain_value(value: Any, what: str, depth: int = 0) -> Any:
    """`value` as plain JSON: NumPy's numbers become Python's, tuples become lists; BadSpec names `what`."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
    elif depth < MAX_DEPTH and isinstance(value, list | tuple):
        return [plain_value(item, what, depth + 1) for item in value]
    elif depth < MAX_DEPTH and isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return {name: plain_value(item, what, depth + 1) for name, item in value.items()}
    raise BadSpec(
        f"{what} of a game must be text, a finite number, yes or no, or a list of these, not {shortened(value)}"
    )


def shortened(value: Any, length: int = 60) -> str:
    """`value` for an error message, in at most `length` characters."""
    text = repr(value)
    return text if len(text) <= length else text[: length - 3] + "..."


def split_identity(identity: str) -> tuple[str, str]:
    """The identity of a game without the digest of its source, and that digest ("" if it has none)."""
    found = re.fullmatch(r"(.*\)v\d+)#([0-9a-f]+)", identity, re.DOTALL)
    return (found[1], found[2]) if found else (identity, "")


def same_rules(stored: str, identity: str) -> bool:
    """True if a stored identity is this one; identities of Ludus 0.1 have no digest and match any."""
    return stored == identity or stored == split_identity(identity)[0]
