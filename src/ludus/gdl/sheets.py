"""The descriptions that come with Ludus, as lists show them: nothing is grounded."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import NamedTuple

from ludus.gdl.described import GAMES


class RuleSheet(NamedTuple):
    """A description that comes with Ludus; `ludus.make(f"gdl:{name}")` makes the game."""

    name: str
    title: str
    """What stands before the colon in the comment at the beginning of the text."""
    about: str
    """The rest of that comment."""
    roles: int


def names() -> list[str]:
    """The names of all rule sheets."""
    return sorted(file.stem for file in GAMES.glob("*.kif"))


def rule_sheets() -> list[RuleSheet]:
    """All rule sheets by name. Each begins with a comment such as `; Connect-4: four stones in a line win.`"""
    found = []
    for name in names():
        text = (GAMES / f"{name}.kif").read_text(encoding="utf-8")
        comment = " ".join(line[1:].strip() for line in takewhile(lambda line: line[:1] == ";", text.splitlines()))
        title, _, about = comment.partition(": ")
        found.append(RuleSheet(name, title, about, len(re.findall(r"^\(role ", text, re.MULTILINE))))
    return found
