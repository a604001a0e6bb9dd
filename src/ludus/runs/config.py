"""All settings of a training run in one flat dataclass, each field with its help. TOML in and out."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludus.bounded import read_text
from ludus.errors import BadOption, LudusError
from ludus.nets.engines import ENGINE_NAMES
from ludus.nets.families import FAMILIES, Design
from ludus.options import convert, did_you_mean
from ludus.spec import GameSpec

if TYPE_CHECKING:
    from ludus.game import Game


LARGEST_FILE = 4 << 20
"""Upper limit for the size of a file of settings, in bytes."""


def setting(default: Any, help: str, **limits: Any) -> Any:
    """A field with its help; `least`, `most` and `among` are checked."""
    return field(default=default, metadata={"help": help, **limits})


@dataclass(frozen=True)
class Config:
    """The settings of a run. Everything that changes the result is here."""

    # The network
    network: str = setting("residual", "Network family.", among=FAMILIES)
    blocks: int = setting(4, "Depth of the network, in blocks or layers.", least=0, most=200)
    width: int = setting(32, "Width of the network, in channels or units.", least=1, most=8192)
    size_free: bool = setting(
        False, "Use heads that fit every board size; for residual networks in games that define `places`."
    )
    words: bool = setting(
        False, "Score moves by the words that they are made of, as (take 3 red) in GDL; for mlp networks."
    )
    roles: bool = setting(False, "Give each seat its own policy head; for games whose players have different roles.")
    shared_view: bool = setting(
        False,
        "Evaluate a position once for all players, as the first one sees it, with a policy head for each player; for "
        "games with simultaneous moves.",
    )
    soft_policy_weight: float = setting(
        0.0, "Loss weight of an auxiliary policy head whose target is the search policy to the power 1/4.", least=0
    )
    reply_policy_weight: float = setting(
        0.0, "Loss weight of an auxiliary policy head that predicts the next player's move.", least=0
    )
    dropout: float = setting(0.0, "Dropout rate after the trunk; for conv networks.", least=0, most=0.9)

    # Self-play
    search: str = setting("gumbel", "Search algorithm in self-play.", among=("gumbel", "puct"))
    simulations: int = setting(16, "Simulations per move.", least=1, most=1_000_000)
    simulations_end: int = setting(
        0,
        "Simulations per move at the end of the run, approached geometrically; 0 keeps `simulations`.",
        least=0,
        most=1_000_000,
    )
    curriculum: bool = setting(
        False, "Play the easier versions of the game first that the game provides, as Hive does (ludus docs methods)."
    )
    boards: str = setting(
        "", "Further boards that are played and learned by the same weights, as options of the game: n=5;n=11."
    )
    considered_moves: int = setting(16, "Root moves that Gumbel search considers.", least=2, most=100_000)
    parallel_games: int = setting(
        0, "Games played side by side, over all workers; 0 lets the preflight choose.", least=0, most=1_000_000
    )
    full_search_fraction: float = setting(
        1.0,
        "Fraction of moves searched in full and learned from (playout cap randomisation).",
        least=0.01,
        most=1,
    )
    fast_simulations: int = setting(
        8, "Simulations of the moves that are not searched in full.", least=1, most=1_000_000
    )
    noise_weight: float = setting(0.25, "Weight of Dirichlet noise in the root priors (puct).", least=0, most=1)
    noise_alpha: float = setting(
        10.0, "Dirichlet alpha is this number divided by the number of legal moves.", least=0.01
    )
    forced_playouts: float = setting(
        2.0, "Constant k of forced playouts, sqrt(k * prior * simulations) (puct); 0 disables them.", least=0
    )
    c_puct: float = setting(1.5, "Exploration constant of PUCT.", least=0)
    sample_plies: int = setting(
        1000, "Plies in which moves are sampled from the search policy; later moves are the best ones.", least=0
    )
    opening_plies: int = setting(
        2, "Largest number of random moves at the start of a game; the number is drawn from 0 up.", least=0, most=10_000
    )
    resign_threshold: float = setting(
        0.0, "A player resigns when the expected value is below minus this number; 0 disables it.", least=0, most=1
    )

    # Learning
    batch_size: int = setting(512, "Rows in a gradient step; a plan with few rows uses fewer.", least=1, most=1_000_000)
    reuse: float = setting(4.0, "Number of times each row is learned from, on average.", least=0, most=10_000)
    learning_rate: float = setting(0.002, "Learning rate at the start of the run.", least=0)
    learning_rate_end: float = setting(0.0002, "Learning rate at the end of the run.", least=0)
    warmup_steps: int = setting(
        50, "Steps at the start of the run over which the learning rate rises from 0.", least=0, most=1_000_000
    )
    weight_decay: float = setting(1e-4, "Weight decay of AdamW.", least=0)
    gradient_clip: float = setting(4.0, "Largest norm of the gradient; 0 disables clipping.", least=0)
    value_weight: float = setting(1.0, "Weight of the value loss.", least=0)
    outcome_fraction: float = setting(
        0.5,
        "Value target: this fraction is the game's outcome, the rest the value that the search found.",
        least=0,
        most=1,
    )
    ema_decay: float = setting(
        0.98, "Decay per step of the exponential moving average whose weights play.", least=0, most=0.9999
    )
    surprise_weight: float = setting(
        0.0,
        "Fraction of a row's weight that is proportional to the divergence of search policy and network policy.",
        least=0,
        most=1,
    )
    augment: bool = setting(True, "Learn from random symmetric images of the positions.")
    window_rows: int = setting(20_000, "Rows in the replay window at the start.", least=1)
    window_power: float = setting(
        0.75, "The replay window grows with the number of rows to this power.", least=0, most=1
    )
    window_limit: int = setting(1_000_000, "Largest number of rows in the replay window.", least=1)
    iteration_rows: int = setting(
        8192, "New rows between two rounds of learning; a plan with few rows uses fewer.", least=1
    )
    gating: float = setting(
        0.0,
        "A new network plays only if it scores this fraction against the best so far (0.55) or, above 1, wins this "
        "many times as often as it loses (1.3); 0 disables gating.",
        least=0,
    )
    gating_games: int = setting(20, "Games that decide whether a new network passes the gate.", least=2, most=100_000)
    gating_uct: int = setting(
        0,
        "A new network plays only if it scores more than the best so far against UCT with this number of simulations, "
        "which doubles when UCT loses every game; 0 disables this gate.",
        least=0,
        most=100_000_000,
    )
    rating_games: int = setting(
        16,
        "Games after each iteration against an earlier network, for the rating in the log; 0 disables them.",
        least=0,
        most=100_000,
    )
    evaluate_every: int = setting(
        0, "Iterations between two evaluations of the network on solved positions; 0 disables them.", least=0
    )
    evaluation_positions: str = setting(
        "", "File of solved positions for `evaluate_every`; `ludus grade --positions FILE` makes one."
    )

    # The run
    seed: int = setting(0, "Seed of all random numbers.", least=0, most=2**62)
    initial_run: str = setting("", "RUN or RUN@CHECKPOINT whose weights this run starts from; set by --from.")
    planned_rows: int = setting(0, "Rows at which the schedules end; the preflight sets it from the budget.", least=0)
    concurrent_learning: bool = setting(
        False, "Play and learn at the same time, one iteration apart; the default on a GPU."
    )
    checkpoint_every: int = setting(1, "Iterations between two checkpoints.", least=1)
    engine: str = setting(
        "auto",
        "Inference engine of self-play; auto is cuda on a GPU, else int8 where the preflight finds it faster.",
        among=ENGINE_NAMES,
    )
    workers: int = setting(0, "Self-play threads; 0 means one for each CPU core.", least=0, most=4096)
    learner_threads: int = setting(0, "Learner threads; 0 lets the preflight choose.", least=0, most=4096)
    learner_precision: str = setting(
        "auto",
        "Numbers in which the learner multiplies on a CPU; auto is float32, or bfloat16 where the preflight finds it "
        "faster.",
        among=("auto", "float32", "bfloat16"),
    )

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            value, limits = getattr(self, each.name), each.metadata
            try:
                convert(value, type(each.default))
            except ValueError as wanted:
                raise BadOption(f"{each.name} must be {wanted}, not {value!r}") from None
            if "least" in limits and value < limits["least"]:
                raise BadOption(f"{each.name} must be at least {limits['least']}, not {value}")
            if "most" in limits and value > limits["most"]:
                raise BadOption(f"{each.name} must be at most {limits['most']}, not {value}")
            if "among" in limits and value not in limits["among"]:
                raise BadOption(f"{each.name} must be one of {', '.join(limits['among'])}, not {value!r}")
        if self.search == "puct" and self.simulations < 2:
            raise BadOption("search = puct needs at least 2 simulations: the first visits one move only")
        if self.gating_uct and self.gating:
            raise BadOption("gating and gating_uct exclude each other: set one of them")
        if self.evaluate_every and not self.evaluation_positions:
            raise BadOption("evaluate_every needs evaluation_positions, a file that ludus grade --positions FILE makes")
        FAMILIES[self.network].check_settings(self)
        if self.boards and not self.fits_all_sizes:
            raise BadOption("boards need a network whose weights fit all board sizes: groups, or size_free = yes")
        if self.full_search_fraction < 1 and self.fast_simulations > self.simulations:
            raise BadOption("fast_simulations must not exceed simulations")

    @property
    def fits_all_sizes(self) -> bool:
        """True if one set of weights fits all board sizes."""
        return FAMILIES[self.network].fits_all_sizes_with(self)

    @property
    def board_count(self) -> int:
        """The number of boards that are played and learned."""
        return 1 + sum(1 for each in self.boards.split(";") if each.strip())

    def make_network(self, game: Game) -> Any:
        """The network that these settings describe, for a game."""
        auxiliary = (self.soft_policy_weight > 0) + (self.reply_policy_weight > 0)
        design = Design(
            self.blocks, self.width, self.size_free, self.words, self.roles, self.shared_view, auxiliary, self.dropout
        )
        return FAMILIES[self.network].make_network(game, design)


FORMER_NAMES = {
    "at_once": "concurrent_learning",
    "average": "ema_decay",
    "batch": "batch_size",
    "budget_rows": "planned_rows",
    "cap_part": "full_search_fraction",
    "cap_simulations": "fast_simulations",
    "clip": "gradient_clip",
    "considered": "considered_moves",
    "decay": "weight_decay",
    "forced": "forced_playouts",
    "games_at_once": "parallel_games",
    "grade_every": "evaluate_every",
    "grade_positions": "evaluation_positions",
    "iteration": "iteration_rows",
    "noise": "noise_weight",
    "rate": "learning_rate",
    "rate_end": "learning_rate_end",
    "reply": "reply_policy_weight",
    "resign": "resign_threshold",
    "result_part": "outcome_fraction",
    "sizefree": "size_free",
    "soft": "soft_policy_weight",
    "start": "initial_run",
    "surprise": "surprise_weight",
    "symmetric": "augment",
    "window": "window_rows",
    "window_most": "window_limit",
}
"""Settings of Ludus 0.1 and their present names: run folders and recipes of that version are still read."""


def with_settings(config: Config, settings: Mapping[str, Any]) -> Config:
    """The configuration with some fields changed; values may be text, as on a command line."""
    known = {each.name: each for each in dataclasses.fields(Config)}
    changed: dict[str, Any] = {}
    for given, value in settings.items():
        name = FORMER_NAMES.get(given, given)
        if name not in known:
            raise BadOption(f"no setting is called {given!r}{did_you_mean(given, known)}")
        if name in changed:
            raise BadOption(f"{name} is given twice, as {name} and as {given}")
        try:
            changed[name] = convert(value, type(known[name].default))
        except ValueError as wanted:
            raise BadOption(f"{name} must be {wanted}, not {value!r}") from None
    return dataclasses.replace(config, **changed)


def write_toml(spec: GameSpec, config: Config) -> str:
    """The game and the settings of a run as TOML that a person can read and change."""
    lines = ["[game]", f"source = {_toml(spec.source)}"]
    if spec.digest:
        lines.append(f"digest = {_toml(spec.digest)}  # of the rules in the source, a copy of which is in source/")
    options = {name: value for name, value in spec.options.items() if value is not None}  # TOML has no null
    if options:
        lines += ["", "[game.options]", *(f"{_key(name)} = {_toml(value)}" for name, value in options.items())]
    lines += ["", "[settings]"]
    for each in dataclasses.fields(config):
        lines.append(f"{each.name} = {_toml(getattr(config, each.name))}  # {each.metadata['help']}")
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(name)} = {_toml(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    # JSON strings are valid TOML, except one control character and escapes beyond 16 bits.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if name.isascii() and name.isidentifier() else _toml(name)


def read_toml(path: Path) -> tuple[GameSpec | None, dict[str, Any]]:
    """The game, if the file names one, and the settings that it gives.

    The game is a table as `write_toml` writes it, or a name as in `game = "connect4"` with a table `options`.
    """
    try:
        data = tomllib.loads(read_text(path, LARGEST_FILE))
    except FileNotFoundError:
        raise BadOption(f"there is no file {path}") from None
    except (OSError, ValueError, RecursionError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        raise BadOption(f"{path} is not TOML that can be read: {error}") from None
    unknown = sorted(set(data) - {"game", "options", "settings"})
    if unknown:
        raise BadOption(f"{path}: {unknown[0]!r} is none of game, options, settings")
    game, options, settings = data.get("game"), data.get("options", {}), data.get("settings", {})
    for name, value in (("options", options), ("settings", settings)):
        if not isinstance(value, dict):
            raise BadOption(f"{path}: {name} must be a table, not {value!r}")
    try:
        if isinstance(game, dict):
            if options:
                raise BadOption("options of the game belong into [game.options]")
            return GameSpec.from_json(game), settings
        return None if game is None else GameSpec(game, options), settings
    except LudusError as error:
        raise BadOption(f"{path}: {error}") from None
