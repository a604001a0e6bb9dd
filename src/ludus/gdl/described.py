"""What all games in GDL share, however their rules are evaluated: where the description comes from, and its text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

from ludus.errors import Unsuitable
from ludus.game import Game
from ludus.gdl.checks import Problem, require_valid
from ludus.gdl.kif import show
from ludus.gdl.language import Description, Term
from ludus.sources import Source
from ludus.spec import GameSpec

GAMES = Path(__file__).resolve().parent / "games"
"""The folder of the descriptions that come with Ludus."""
LONGEST = 1000
"""The default of the option `longest`: plies after which a game is over, as a description may never end."""
MOST_LONGEST = (1 << 16) - 1


class DescribedGame(Game):
    """A game in GDL. Its moves are KIF terms, and its positions lists of facts."""

    defaults: ClassVar[dict[str, Any]] = {"longest": LONGEST, "reasoner": False, "counters": True}
    """reasoner: evaluate the rules as they stand, without grounding them. counters: a network sees facts that count as
    numbers (see counters.py); without, as in runs from before this option, there is a plane for each value."""

    def __init__(
        self, description: Description, name: str = "description", source: Source | None = None, /, **options: Any
    ):
        """`source` is the file of the description; a game without one cannot be made again in another process."""
        self.description = description
        self.warnings: list[Problem] = require_valid(description)
        """Problems of the description that do not prevent play."""
        self.file = source
        self.name = f"gdl:{re.sub(r'[^0-9A-Za-z._-]', '_', name)}"  # type: ignore[misc]
        self.title = name  # type: ignore[misc]
        super().__init__(**options)

    @classmethod
    def options(cls) -> dict[str, Any]:
        return dict(cls.defaults)

    def identity_options(self) -> dict[str, Any]:
        """The options that change how the game is played; what a network sees does not."""
        return {name: value for name, value in self.options_in_use().items() if name != "counters"}

    @property
    def source(self) -> Source | None:
        return None if self.file is None or self.file.path.parent == GAMES else self.file

    @property
    def spec(self) -> GameSpec:
        if self.file is None:
            raise Unsuitable(f"{self.name} cannot be made again, in another process or later: save it in a .kif file")
        if self.source is None:
            return GameSpec(f"gdl:{self.file.path.stem}", self.options_in_use())
        return GameSpec(str(self.source.path), self.options_in_use(), self.source.digest)

    def facts(self, state: Any) -> list[Term]:
        """The facts that are true in a state, in the order of the description."""
        raise NotImplementedError

    def move_term(self, state: Any, player: int, action: int) -> Term:
        """The move that an action of a role stands for."""
        raise NotImplementedError

    def draw(self, state: Any) -> str:
        return "\n".join(show(fact) for fact in self.facts(state))

    def describe(self, state: Any) -> dict[str, Any]:
        return {"facts": [show(fact) for fact in self.facts(state)]}

    def move_text(self, move: Term) -> str:
        """A move in notation. In a joint move a comma separates the moves, so a comma in a name is written as _."""
        return show(move).replace(",", "_") if self.simultaneous else show(move)
