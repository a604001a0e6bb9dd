"""All settings of a training run, in one flat dataclass: each field with its help. TOML in and out."""

from __future__ import annotations

import dataclasses
import difflib
import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludus.errors import BadOption

if TYPE_CHECKING:
    from ludus.game import Game


def setting(default: Any, help: str, **limits: Any) -> Any:
    """A field with its help; `least`, `most` and `among` are checked."""
    return field(default=default, metadata={"help": help, **limits})


@dataclass(frozen=True)
class Config:
    """What a run does. Everything that changes the result is here."""

    # The network
    network: str = setting("residual", "kind of network", among=("residual", "conv", "mlp", "graph"))
    blocks: int = setting(4, "its depth", least=0)
    width: int = setting(32, "its width", least=1)
    sizefree: bool = setting(False, "heads for every board size, in games that say where their actions are (residual)")
    roles: bool = setting(False, "a policy head for each seat, where the players' parts differ")
    soft: float = setting(0.0, "weight of a second policy, learned from the search's to the power 1/4", least=0)
    reply: float = setting(0.0, "weight of a further policy that guesses the next move, mostly the opponent's", least=0)
    dropout: float = setting(
        0.0, "part of the trunk's output left out at random while learning (conv)", least=0, most=0.9
    )

    # Self-play
    search: str = setting("gumbel", "how moves are searched in self-play", among=("gumbel", "puct"))
    simulations: int = setting(16, "simulations a move", least=1)
    simulations_end: int = setting(
        0, "simulations a move at the end of the run, raised step by step; 0: the same", least=0
    )
    considered: int = setting(16, "moves considered at the root by Gumbel search", least=2)
    games_at_once: int = setting(
        0, "games played side by side, over all workers; 0: what the preflight finds fastest", least=0
    )
    cap_part: float = setting(
        1.0, "part of the moves searched in full and learned from; others are cheap", least=0.01, most=1
    )
    cap_simulations: int = setting(8, "simulations of a cheap search", least=1)
    noise: float = setting(0.25, "weight of Dirichlet noise at the root (puct)", least=0, most=1)
    noise_alpha: float = setting(10.0, "its concentration, divided by the number of legal moves", least=0.01)
    forced: float = setting(2.0, "forced playouts: the root of k * prior * simulations (puct); 0: none", least=0)
    c_puct: float = setting(1.5, "weight of the prior (puct)", least=0)
    sample_plies: int = setting(
        1000, "moves are drawn from the policy for so many plies, the best is played later", least=0
    )
    opening_plies: int = setting(2, "games begin with 0 to so many random moves", least=0)
    resign: float = setting(0.0, "a player resigns at an expected value below -resign; 0: never", least=0, most=1)

    # Learning
    batch: int = setting(512, "rows in a step of the learner; fewer where a plan has few rows", least=1)
    reuse: float = setting(4.0, "how often each row is learned from", least=0)
    rate: float = setting(0.002, "learning rate at the start", least=0)
    rate_end: float = setting(0.0002, "and at the end of the run", least=0)
    decay: float = setting(1e-4, "weight decay", least=0)
    clip: float = setting(4.0, "largest norm of the gradient", least=0)
    value_weight: float = setting(1.0, "weight of the value in the loss", least=0)
    result_part: float = setting(
        0.5, "value target: this part the game's result, the rest what the search expected", least=0, most=1
    )
    average: float = setting(
        0.98, "weights for play are a running average: this part of it is kept every step", least=0, most=0.9999
    )
    surprise: float = setting(
        0.0, "part of a row's weight that goes by how far the search came from the network's policy", least=0, most=1
    )
    symmetric: bool = setting(True, "learn from random symmetric images")
    window: int = setting(20_000, "rows in the replay window at first", least=1)
    window_power: float = setting(0.75, "the window grows like the number of rows, to this power", least=0, most=1)
    window_most: int = setting(1_000_000, "but never beyond so many rows", least=1)
    iteration: int = setting(8192, "new rows between two rounds of learning; fewer where a plan has few", least=1)
    gating: float = setting(
        0.0,
        "a new network plays only once it scores this part of its games against the best (0.55), or, above 1, wins so "
        "many times more often than it loses (1.3); 0: no gating",
        least=0,
    )
    gating_games: int = setting(20, "games to decide that", least=2)
    gating_uct: int = setting(
        0,
        "the other way: a new network plays once it scores more against UCT with so many simulations than the best "
        "did; when it wins all its games, UCT gets twice as many; 0: no",
        least=0,
    )
    rating_games: int = setting(
        16, "games after each iteration against an earlier network: the rating in the log; 0: none", least=0
    )
    grade_every: int = setting(
        0, "iterations between two gradings of the network alone on solved positions; 0: none", least=0
    )
    grade_positions: str = setting("", "the file of those positions, as ludus grade --positions makes it")

    # The run
    seed: int = setting(0, "the same seed gives the same run", least=0)
    start: str = setting("", "another run, RUN or RUN@40, whose weights this one begins with; see --from")
    budget_rows: int = setting(0, "rows at which schedules end: set by the preflight, from the budget", least=0)
    at_once: bool = setting(False, "play on while learning, with the weights of the round before: for a GPU")
    checkpoint_every: int = setting(1, "iterations between checkpoints", least=1)
    engine: str = setting(
        "auto",
        "what runs the network in self-play: auto is cuda on a GPU, else int8 where the preflight finds it faster",
        among=("auto", "onnx", "int8", "torch", "cuda"),
    )
    workers: int = setting(0, "threads that play; 0: one for each core", least=0)
    learner_threads: int = setting(0, "threads of the learner; 0: what the preflight finds fastest", least=0)

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            value, limits = getattr(self, each.name), each.metadata
            if "least" in limits and value < limits["least"]:
                raise BadOption(f"{each.name} must be at least {limits['least']}, not {value}")
            if "most" in limits and value > limits["most"]:
                raise BadOption(f"{each.name} must be at most {limits['most']}, not {value}")
            if "among" in limits and value not in limits["among"]:
                raise BadOption(f"{each.name} must be one of {', '.join(limits['among'])}, not {value!r}")
        if self.search == "puct" and self.simulations < 2:
            raise BadOption("search = puct needs at least 2 simulations: the first visits one move only")
        if self.gating_uct and self.gating:
            raise BadOption("gating and gating_uct are two ways to choose who plays: set one of them")
        if self.grade_every and not self.grade_positions:
            raise BadOption("grade_every needs grade_positions, a file that ludus grade --positions FILE makes")
        if self.network == "graph" and (self.soft or self.reply):
            raise BadOption("soft and reply are for networks over planes, not for graphs")
        if self.network == "graph" and self.engine == "int8":
            raise BadOption("engine = int8 is for networks over planes, not for graphs")
        if self.sizefree and self.network != "residual":
            raise BadOption("sizefree is for network = residual; of the others, graph alone is free of sizes, always")
        if self.sizefree and self.reply:
            raise BadOption("reply does not go with sizefree: the opponent may see the board from elsewhere")
        if self.cap_part < 1 and self.cap_simulations > self.simulations:
            raise BadOption("cap_simulations must not exceed simulations: the capped searches are the cheap ones")

    @property
    def free_of_sizes(self) -> bool:
        """Does one set of weights fit all board sizes?"""
        return self.sizefree or self.network == "graph"

    def make_network(self, game: Game) -> Any:
        """The network that these settings describe, for a game."""
        from ludus.nets import make_network, sizes_of

        sizes = sizes_of(game, self.roles, (self.soft > 0) + (self.reply > 0), self.sizefree)
        return make_network(self.network, sizes, blocks=self.blocks, width=self.width, dropout=self.dropout)


def with_settings(config: Config, settings: dict[str, Any]) -> Config:
    """The configuration with some fields changed; values may be text, as on a command line."""
    known = {each.name: each for each in dataclasses.fields(Config)}
    changed = {}
    for name, value in settings.items():
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            raise BadOption(f"no setting is called {name!r}" + (f"; did you mean {close[0]}?" if close else ""))
        changed[name] = _converted(name, type(known[name].default), value)
    return dataclasses.replace(config, **changed)


def _converted(name: str, kind: type, value: Any) -> Any:
    try:
        if kind is bool and isinstance(value, str):
            return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}[value.lower()]
        if kind is int and isinstance(value, str):
            return int(value.replace("_", "").replace(",", ""))
        if kind is int and (isinstance(value, bool) or value != int(value)):
            raise ValueError
        if kind is bool and not isinstance(value, bool):
            raise ValueError
        return kind(value)
    except (ValueError, TypeError, KeyError):
        wanted = {int: "a whole number", float: "a number", bool: "yes or no"}.get(kind, "text")
        raise BadOption(f"{name} must be {wanted}, not {value!r}") from None


def write_toml(game: str, options: dict[str, Any], config: Config) -> str:
    """A file that a person can read and change."""
    lines = [f"game = {json.dumps(game)}"]
    if options:
        lines += ["", "[options]", *(f"{name} = {json.dumps(value)}" for name, value in options.items())]
    lines += ["", "[settings]"]
    for each in dataclasses.fields(config):
        lines.append(f"{each.name} = {json.dumps(getattr(config, each.name))}  # {each.metadata['help']}")
    return "\n".join(lines) + "\n"


def read_toml(path: Path) -> tuple[str | None, dict[str, Any], dict[str, Any]]:
    """Game, its options, and the settings that a file gives."""
    try:
        data = tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise BadOption(f"there is no file {path}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadOption(f"{path.name} is not TOML: {error}") from None
    unknown = sorted(set(data) - {"game", "options", "settings"})
    if unknown:
        raise BadOption(f"{path.name}: {unknown[0]!r} is none of game, options, settings")
    return data.get("game"), dict(data.get("options", {})), dict(data.get("settings", {}))
