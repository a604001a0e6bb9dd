"""The output of `ludus players` and `ludus pack`."""

from __future__ import annotations

from pathlib import Path

from ludus.runs.levels import COUNT, ratings_of
from ludus.runs.players import SUFFIX, Pack, pack_player, shipped_players
from ludus.terminal.show import command, new_table, print_table


def show_players() -> None:
    """The players that come with Ludus, in a table."""
    table = new_table()
    for heading in ("game", "trained for", "network", "minutes", "games", "rating", "size", "note"):
        table.add_column(heading, overflow="fold")
    for pack in shipped_players():
        table.add_row(
            pack.game.partition("(")[0],
            "every size" if pack.fits_all_sizes else pack.rules,
            f"{pack.network['network']} {pack.network['blocks']} x {pack.network['width']}",
            f"{pack.facts['minutes']:g}",
            f"{pack.facts['games']:,}",
            _rating(pack),
            f"{pack.file.stat().st_size / 1e6:.1f} MB",
            pack.facts.get("note", ""),
        )
    print_table(table)
    print(f"\nPlay against one: ludus play connect4 --against zero    weaker: zero:level=1 to zero:level={COUNT - 1}")
    print(
        f"A rating is that of level 1 and of level {COUNT}, the full strength, with its 95 % interval; random has 500. "
        "Compare ratings within one game only."
    )


def _rating(pack: Pack) -> str:
    """The range of a player's ratings, if its weights were rated."""
    ratings = ratings_of(pack.file)
    if not ratings:
        return ""
    full = ratings[f"level {COUNT}"]
    lowest = ratings.get("level 1", full)
    begin = f"{lowest.rating:g} to " if lowest != full else ""
    return f"{begin}{full.rating:g} ({full.low:g} to {full.high:g})"


def show_pack(run: str, file: str | None, note: str, trust: bool) -> None:
    """Pack a run, and say how to use the file."""
    target = Path(file or f"{run.rstrip('/').rpartition('@')[0] or run.rstrip('/')}{SUFFIX}")
    pack = pack_player(run, target, note, trust)
    print(f"{target}: {pack.rules}, checkpoint {pack.facts['iteration']}, {target.stat().st_size / 1e6:.1f} MB")
    options = [f"--option={key}={value}" for key, value in pack.spec.options.items()]
    print(f"Play against it: {command('ludus', 'play', pack.spec.source, *options, '--against', f'zero:{target}')}")
