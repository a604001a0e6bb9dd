"""Scrambling: every word of a description gets another name, so that players cannot know the game by its words.

Keywords of GDL and numbers stay as they are, since goals are numbers. Variables are renamed as well.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from ludus.gdl.kif import Group, Symbol, parse, show
from ludus.gdl.language import CONNECTIVES, KEYWORDS

SYLLABLES = ("ba", "co", "di", "fu", "ga", "ho", "ju", "ka", "lo", "mi", "nu", "po", "ra", "su", "ti", "vo", "wa", "zu")


class Scrambler:
    """New names for the words of one description."""

    def __init__(self, rules: str, random: Random):
        self.random = random
        self._new: dict[str, str] = {}
        self._old: dict[str, str] = {}
        self.rules = "\n".join(self._rename(rule) for rule in parse(rules))
        """The description in new names."""

    def scramble(self, term: str) -> str:
        """A role or a move in the new names."""
        return " ".join(self._rename(part) for part in parse(term))

    def restore(self, term: str) -> str:
        """A move in its own names; a word that the description does not have stays as it is."""
        return " ".join(show(_mapped(part, lambda word: self._old.get(word, word))) for part in parse(term))

    def _rename(self, expression: Symbol | Group) -> str:
        return show(_mapped(expression, self._name))

    def _name(self, word: str) -> str:
        if word.lower() in KEYWORDS or word.lower() in CONNECTIVES or word.isdecimal():
            return word
        if word not in self._new:
            mark = "?" if word.startswith("?") else ""
            while True:
                name = mark + "".join(self.random.choices(SYLLABLES, k=self.random.randint(2, 4)))
                if name not in self._old and name not in KEYWORDS:
                    break
            self._new[word], self._old[name] = name, word
        return self._new[word]


def _mapped(expression: Symbol | Group, rename: Callable[[str], str]) -> Symbol | Group:
    if isinstance(expression, Symbol):
        return Symbol(rename(str(expression)))
    made = Group()
    made.extend(_mapped(part, rename) for part in expression)
    return made
