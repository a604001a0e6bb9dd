"""Who is better, by how much, and how sure are we: matches, recorded games, ratings."""

from ludus.arena.match import MatchResult, play_match
from ludus.arena.play import play_game
from ludus.arena.record import GameRecord
from ludus.arena.score import Score, wilson_interval

__all__ = ["GameRecord", "MatchResult", "Score", "play_game", "play_match", "wilson_interval"]
