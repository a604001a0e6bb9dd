"""Recorded games: one random game of every built-in game, ply by ply, as it was when it was last looked at.

Where a change is meant, raise the game's version if the same moves now lead elsewhere, write the files anew with

    python tests/games/test_playthroughs.py

and read the difference before you keep it.
"""

import zlib
from pathlib import Path

import pytest

from ludus import registry
from ludus.rng import below, generator
from ludus.rules import EVERYONE

FOLDER = Path(__file__).parent / "playthroughs"
OPTIONS = {  # where the default options make a dull game, or a very long one
    "hive": {"expansions": "MLP", "limit": 50},
    "roshambo": {"rounds": 3},
}
SEED = 1


def playthrough(game) -> str:
    lines = [f"{game.identity}, a random game with seed {SEED}"]
    random = generator(SEED)
    position = game.start(SEED)
    ply = 0
    while True:
        lines += [
            "",
            f"ply {ply}",
            f"position {position.text}",
            *(f"    {line}" for line in str(position).splitlines()),
        ]
        if game.observation is not None:
            seen = [zlib.crc32(position.observe(player).tobytes()) for player in range(game.players)]
            lines += ["observed " + " ".join(f"{value:08x}" for value in seen)]
        if position.is_over:
            lines += ["over " + " ".join(f"{value:g}" for value in position.values)]
            return "\n".join(lines) + "\n"
        who = "everyone" if position.to_move == EVERYONE else game.player_name(position.to_move)
        actions = position.actions
        action = actions[below(random, len(actions))]
        lines += ["moves " + " ".join(position.moves), f"{who} plays {position.notation(action)}, action {action}"]
        position = position.play(action)
        ply += 1


def of(name: str):
    return registry.make(name, **OPTIONS.get(name, {}))


@pytest.mark.parametrize("name", registry.names())
@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
def test_game_goes_as_recorded(name, compiled):
    file = FOLDER / f"{name}.txt"
    assert file.is_file(), f"{name} has no recorded game: run python tests/games/test_playthroughs.py"
    game = of(name).compile() if compiled else of(name)
    assert playthrough(game) == file.read_text(), f"{name} plays differently: see the head of {Path(__file__).name}"


def test_no_record_of_a_game_that_is_gone():
    assert {file.stem for file in FOLDER.glob("*.txt")} <= set(registry.names())


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in registry.names():
        (FOLDER / f"{name}.txt").write_text(playthrough(of(name)))
        print(f"wrote {FOLDER / name}.txt")
