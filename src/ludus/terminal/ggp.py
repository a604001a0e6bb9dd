"""`ludus ggp`: shows a player, a game manager, and learning inside a start clock."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ludus.errors import BadOption
from ludus.gdl.described import DescribedGame
from ludus.gdl.game import GdlGame
from ludus.ggp.messages import find_spelling
from ludus.registry import make
from ludus.terminal.bar import Bar
from ludus.terminal.interrupt import ctrl_c_stops
from ludus.terminal.match import show_match, standing
from ludus.terminal.show import command, complain, counted, plain

if TYPE_CHECKING:
    from ludus.arena.result import MatchResult
    from ludus.protocols.ggp_events import PlayerEvent
    from ludus.protocols.ggp_learning import LearningEvent
    from ludus.protocols.ggp_manager import ManagerEvent, Settings
    from ludus.training.events import TrainingEvent

FEWEST_SECONDS = 15.0
"""The shortest start clock for `train-within`."""


def described(name: str) -> DescribedGame:
    """The game of a description."""
    game = make(name) if name.startswith("gdl:") or name.endswith(".kif") else None
    if not isinstance(game, DescribedGame):
        raise BadOption(f"{name[:80]!r} is no description in GDL: give the path of a .kif file, or gdl:NAME")
    return game


def run_player(host: str, port: int, name: str, learn: bool) -> None:
    """Play until Ctrl-C, with a line for each event."""
    from ludus.gdl.limits import LIMITS
    from ludus.ggp.http import Server
    from ludus.protocols.ggp_player import SPARE_MEGABYTES, SPARE_SECONDS, Player

    if not name.isascii() or not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
        raise BadOption(f"--name must be a word of letters, digits and . - _, not {name[:40]!r}")
    lock = threading.Lock()

    def show(event: PlayerEvent) -> None:
        with lock:
            print(f"{time.strftime('%H:%M:%S')}  {plain(str(event))}", flush=True)

    LIMITS.query_seconds, LIMITS.query_megabytes = SPARE_SECONDS, SPARE_MEGABYTES
    with ctrl_c_stops() as stop, Player(name, learn, show) as player, Server(player.answer, host, port) as server:
        print(f"Listening on {server.host}:{server.port}; Ctrl-C ends.", flush=True)
        while not stop.wait(0.5):
            pass
    print("Stopped.")


def run_manager(rules: str, addresses: Sequence[str], settings: Settings, results: str | None) -> None:
    """Play a match with live progress, then show its result."""
    from ludus.protocols.ggp_manager import Fault, GameOver, MatchStarted, StepPlayed, manage

    settings.check()
    game = described(rules)
    latest: MatchResult | None = None

    with Bar("game") as bar, ctrl_c_stops() as stop:

        def show(event: ManagerEvent) -> None:
            nonlocal latest
            match event:
                case MatchStarted(result):
                    latest = result
                case StepPlayed(result, step, moves):
                    bar.update(result.played, result.planned, f"{standing(result)}  step {step}: {' '.join(moves)}")
                case GameOver(record, goals, result):
                    bar.update(result.played, result.planned, standing(result))
                    roles = (f"{game.player_name(role)} {goal}" for role, goal in enumerate(goals))
                    print(
                        plain(f"game {result.played}: {', '.join(roles)} in {counted(len(record.actions), 'step')}"),
                        flush=True,
                    )
                case Fault():
                    complain(str(event))

        try:
            manage(game, addresses, settings, results=results, on_event=show, stop=stop)
        finally:
            bar.stop()
            if latest is not None:
                show_match(game, latest, results)
    if stop.is_set():
        raise KeyboardInterrupt


def run_train_within(rules: str, seconds: float, folder: str | None, role: str | None, seed: int) -> None:
    """Learn inside a start clock, and show the agent that was chosen."""
    from ludus.agents.naming import parse
    from ludus.protocols.ggp_learning import Learning, learn_within, warm_up
    from ludus.training.events import Planned
    from ludus.training.session import usual_folder

    began = time.monotonic()
    if not FEWEST_SECONDS <= seconds < math.inf:
        raise BadOption(f"--start-clock must be at least {FEWEST_SECONDS:g} seconds, not {seconds:g}")
    game = described(rules)
    roles = [game.player_name(player) for player in range(game.players)]
    player = None if role is None else find_spelling(role, roles)
    if role is not None and player is None:
        raise BadOption(f"there is no role {role[:40]!r}; the roles are {' '.join(roles)}")
    where = Path(folder) if folder else usual_folder(game)
    if ":".join(parse(f"zero:{where}").words) != str(where):
        raise BadOption(f"--run {where}: a word with = or like a number reads as something else in an agent's name")
    loaded = time.monotonic() - began
    if isinstance(game, GdlGame):
        warm_up(game)  # once on a machine: a player compiles when it starts
    began = time.monotonic() - loaded
    print(f"loaded in {loaded:.1f} s", flush=True)

    with Bar("second") as bar, ctrl_c_stops() as stop:

        def show(event: LearningEvent) -> None:
            spent = min(int(seconds), int(time.monotonic() - began))
            if isinstance(event, Learning):
                bar.update(spent, int(seconds), str(event))
            else:
                print(plain(str(event)), flush=True)

        def show_plan(event: TrainingEvent) -> None:
            if isinstance(event, Planned):
                print(
                    f"{event.config.network} network, {event.measured.parameters:,} parameters; "
                    f"{event.config.planned_rows:,} positions planned",
                    flush=True,
                )

        left = seconds - (time.monotonic() - began)
        chosen = learn_within(
            game, left, folder=where, player=player, on_event=show, on_training=show_plan, stop=stop, seed=seed
        )
    print(f"{time.monotonic() - began:.1f} of {seconds:g} s used. Play against it: ", end="")
    print(plain(command("ludus", "play", rules, "--against", f"{chosen.agent}:10s")))
    if stop.is_set():
        raise KeyboardInterrupt
