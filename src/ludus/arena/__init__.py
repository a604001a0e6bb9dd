"""Matches, recorded games and ratings. `ludus.play_match`, `ludus.rate` and `ludus.open_results` are its functions."""

from ludus.arena.play import play_game
from ludus.arena.record import GameRecord

__all__ = ["GameRecord", "play_game"]
