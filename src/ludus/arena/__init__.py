"""Who is better: matches between agents."""

from ludus.arena.match import GameRecord, MatchResult, play_game, play_match
from ludus.arena.score import Score, wilson_interval

__all__ = ["GameRecord", "MatchResult", "Score", "play_game", "play_match", "wilson_interval"]
