"""The output of `ludus players` and `ludus pack`."""

from __future__ import annotations

import math
from pathlib import Path

from ludus.registry import remake
from ludus.runs.levels import COUNT, ratings_of
from ludus.runs.players import SUFFIX, Pack, pack_player, shipped_players
from ludus.terminal.show import command, new_table, print_table, typed, wrapped


def show_players() -> None:
    """The players that come with Ludus, in a table."""
    table = new_table()
    for heading in ("game", "trained for", "level 1", f"level {COUNT}", "95 % interval", "network", "size"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "game")
    packs = shipped_players()
    for pack in packs:
        size = pack.file.stat().st_size
        table.add_row(
            pack.game.partition("(")[0],
            trained_for(pack),
            *_ratings(pack),
            f"{pack.network['network']} {pack.network['blocks']} x {pack.network['width']}",
            f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB",
        )
    print_table(table)
    about = (
        f"The columns level 1 and level {COUNT} show ratings: level {COUNT} is the full strength, the 95 % interval "
        "is that of its rating; random has 500. Compare ratings within one game only."
    )
    print("\n" + wrapped(about))
    print("\nHow they were trained:")
    for pack in packs:
        facts = pack.facts
        minutes = "minute" if facts["minutes"] == 1 else "minutes"
        note = f": {facts['note']}" if facts.get("note") else ""
        text = f"{pack.game.partition('(')[0]}, {facts['games']:,} games in {facts['minutes']:g} {minutes}{note}"
        print(wrapped(f"  {text}", indent="    "))
    print(f"\nPlay against one: ludus play connect4 --against zero    weaker: zero:level=1 to zero:level={COUNT - 1}")


def trained_for(pack: Pack) -> str:
    """The options of the game that a player was trained for."""
    if pack.fits_all_sizes:
        return "every size"
    options = pack.rules.partition("(")[2].rpartition(")")[0]
    return options.replace(",", " ") or "its only form"


def _ratings(pack: Pack) -> tuple[str, str, str]:
    """The rating of level 1 and that of the full strength, and the interval of the latter; empty if not rated."""
    ratings = ratings_of(pack.file)
    if not ratings:
        return "", "", ""
    full = ratings[f"level {COUNT}"]
    lowest = ratings.get("level 1")
    return f"{lowest.rating:g}" if lowest else "", f"{full.rating:g}", interval(full.low, full.high)


def interval(low: float, high: float) -> str:
    """An interval of ratings in words; the games that were played may not have bounded it on each side."""
    if math.isfinite(low) and math.isfinite(high):
        return f"{low:g} to {high:g}"
    if math.isfinite(low):
        return f"at least {low:g}"
    return f"at most {high:g}" if math.isfinite(high) else "unknown"


def show_pack(run: str, file: str | None, note: str, trust: bool) -> None:
    """Pack a run, and say how to use the file."""
    target = Path(file or f"{run.rstrip('/').rpartition('@')[0] or run.rstrip('/')}{SUFFIX}")
    pack = pack_player(run, target, note, trust)
    print(f"{target}: {pack.rules}, checkpoint {pack.facts['iteration']}, {target.stat().st_size / 1e6:.1f} MB")
    print(f"Play against it: ludus play {typed(remake(pack.spec, trust))} {command('--against', f'zero:{target}')}")
