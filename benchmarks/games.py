"""Sevn, Hive and Cachex in figures: python -m benchmarks.games (about ten minutes; OpenSpiel must be installed)."""

from benchmarks import cachex, hive, sevn
from benchmarks.measuring import Table

if __name__ == "__main__":
    table = Table()
    for game in (sevn, hive, cachex):
        game.run(table)
    table.finish("python -m benchmarks.games")
