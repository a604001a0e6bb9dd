"""Games that take long to make: people play by the reasoner at once, while the rules are grounded and compiled.

A description in GDL takes some seconds to ground and to prove things about, and half a minute to compile on a machine
that has never done so. The reasoner plays the same rules, slowly, as they stand.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from ludus.errors import LudusError, describe_error
from ludus.gdl.tables import TooLarge
from ludus.web.catalogue import Catalogue
from ludus.web.room import Room

if TYPE_CHECKING:
    from ludus.game import Game

MOMENT = 1.0
"""Seconds to wait for a game before people begin by the reasoner."""
THREADS = 4
"""Number of games that are made at once; the catalogue grounds one of them at a time."""


class Making:
    """A game to begin with and, if that is not the final one, the final one to come."""

    def __init__(self, catalogue: Catalogue, key: str, game: Game, final: Future[Game] | None = None):
        self.catalogue, self.key, self.game, self._final = catalogue, key, game, final

    @property
    def is_pending(self) -> bool:
        """True if the final game is still to come."""
        return self._final is not None

    def is_late(self, name: str) -> bool:
        """True for an agent that is made when it is first needed; BadAgent for a name that means nothing.

        All agents wait for the final game. The network of an agent takes seconds to load.
        """
        if self._final is None:
            return self.catalogue.is_late(name, self.key, self.game)
        self.catalogue.agent_path(name)
        return not self.catalogue.needs_player(name)

    def finish(self, room: Room) -> None:
        """Let the room go on with the final game when it is ready."""
        catalogue = self.catalogue
        if self._final is None:
            catalogue.warm_up(room.key, self.game)
            return
        room.await_rules()

        def switch(final: Future[Game]) -> None:
            game = self.game
            try:
                game = final.result()
            except LudusError as error:  # the reasoner plays on
                room.tell({"type": "error", "message": str(error)})
            except Exception as error:
                room.tell({"type": "error", "message": describe_error(error)})
            room.switch_to(game, catalogue.make_agent, partial(catalogue.is_late, key=room.key, game=game))

        self._final.add_done_callback(switch)


class Makers:
    """Makes games, in threads of its own where it takes long."""

    def __init__(self, catalogue: Catalogue):
        self.catalogue = catalogue
        self._threads = ThreadPoolExecutor(THREADS, "ludus description")
        self._reasoning = threading.Lock()

    def make(self, key: str, options: Mapping[str, Any]) -> Making:
        """A game of the catalogue to begin with within some seconds."""
        if not self.catalogue.takes_long(key, options):
            return Making(self.catalogue, key, self.catalogue.game(key, options))
        final = self._threads.submit(self.catalogue.game, key, options)
        try:
            return Making(self.catalogue, key, final.result(MOMENT))
        except TimeoutError:
            game = self._reasoned(key, options)
            return (
                Making(self.catalogue, key, final.result())
                if game is None
                else Making(self.catalogue, key, game, final)
            )

    def _reasoned(self, key: str, options: Mapping[str, Any]) -> Game | None:
        """The game by the reasoner; None if that takes too long, or if the reasoner is busy with another game."""
        if not self._reasoning.acquire(timeout=MOMENT):
            return None
        try:
            return self.catalogue.game(key, {**options, "reasoner": True})
        except TooLarge:
            return None
        finally:
            self._reasoning.release()

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
