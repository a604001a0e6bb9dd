"""Players as files: a trained player for every built-in game comes with Ludus, and a run can be packed into one file.

A pack is a safetensors file with the weights in half precision. Its metadata name the game, the network and the origin:
settings, minutes, machine, version of Ludus. It holds no code: the user names the game.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludus.registry import require_view
from ludus.runs.config import Config, with_settings
from ludus.runs.description import ABOUT
from ludus.runs.files import BadRun, write_whole
from ludus.runs.run import NETWORK, Run, are_kin, fits, open_checkpoint
from ludus.spec import GameSpec, split_identity

if TYPE_CHECKING:
    from ludus.game import Game

SUFFIX = ".player"
SHIPPED = Path(__file__).with_name("players")
"""The folder of the players that come with Ludus."""
LARGEST_PACK = 1 << 30
"""Upper limit for the size of a pack, in bytes."""
FORMAT = "1"


@dataclass(frozen=True)
class Pack:
    """The metadata of a packed player."""

    file: Path
    game: str
    """The identity of the game it was trained for."""
    spec: GameSpec
    network: dict[str, Any]
    """The settings that determine the shapes of the weights."""
    facts: dict[str, Any]
    """Its origin: iteration, minutes, games, settings, machine, ludus, note."""

    @property
    def rules(self) -> str:
        """The identity of the game without the digest of a user's file."""
        return split_identity(self.game)[0]

    @property
    def fits_all_sizes(self) -> bool:
        return with_settings(Config(), self.network).fits_all_sizes

    def suits(self, game: Game) -> bool:
        """True if it can play this game: the one it learned, or another size of it if its network fits every size."""
        return self.rules == split_identity(game.identity)[0] or (self.fits_all_sizes and are_kin(self.rules, game))

    def load(self, game: Game) -> tuple[Any, dict[str, Any]]:
        """The network in single precision, and the facts."""
        if not self.suits(game):
            raise BadRun(f"{self.file} plays {self.rules}, not {split_identity(game.identity)[0]}")
        require_view(self.file, self.spec, game)
        network, weights = with_settings(Config(), self.network).make_network(game), self.weights()
        if not fits(network, weights):
            raise BadRun(f"{self.file} does not fit {game.identity}: its network has other shapes")
        network.load_state_dict(weights)
        return network.eval(), self.facts

    def weights(self) -> dict[str, Any]:
        """The weights in single precision."""
        import torch
        from safetensors.torch import load_file

        try:
            weights = load_file(self.file)
        except Exception as error:
            raise BadRun(f"{self.file} is damaged: {type(error).__name__}") from None
        return {key: value.float() if value.dtype == torch.float16 else value for key, value in weights.items()}


@dataclass(frozen=True)
class Player:
    """The network of an agent: a checkpoint of a run, or a pack."""

    name: str
    """How an agent's name gives it, such as runs/connect4@40; empty for a player that comes with Ludus."""
    label: str
    file: Path
    """The file of the weights."""
    load: Callable[[], tuple[Any, dict[str, Any]]]
    """Returns the network and the facts about it."""
    run: str = ""
    checkpoint: int | None = None


def find_player(word: str | None, game: Game) -> Player:
    """The player that an agent's name gives: RUN, RUN@40 or the file of a pack; without one, the one of Ludus."""
    if word is None:
        shipped = shipped_player(game)
        if shipped is None:
            raise BadRun(
                f"no player for {game.identity} comes with Ludus: train one (ludus train {game.name}), or name a run"
            )
        return Player("", shipped.file.stem, shipped.file, lambda: shipped.load(game))
    file = Path(word)
    if is_pack(word):
        pack = read_pack(file)
        return Player(word, file.stem, file, lambda: pack.load(game))
    run, checkpoint = open_checkpoint(word, game)
    known = run.checkpoints()
    if checkpoint is None:
        checkpoint = known[-1] if known else None
    if checkpoint is None or checkpoint not in known:
        raise BadRun(f"{run.folder} has no checkpoint {'yet' if checkpoint is None else checkpoint}")
    name = f"{run.folder}@{checkpoint}"
    weights = run.checkpoint(checkpoint) / "player.safetensors"
    return Player(
        name,
        f"{run.folder.name}@{checkpoint}",
        weights,
        lambda: run.load_player(checkpoint),
        str(run.folder),
        checkpoint,
    )


def is_pack(word: str) -> bool:
    """True if a name is the file of a pack, not the folder of a run."""
    try:
        return word.endswith(SUFFIX) or Path(word).is_file()
    except (OSError, ValueError):  # a name that no file system takes
        return False


def first_weights(name: str, game: Game, network: Any) -> dict[str, Any]:
    """The weights of another run, RUN or RUN@40, or of a pack, for a run that begins with them.

    They may be for other options of the game, such as an earlier end, if their shapes are the same.
    """
    if is_pack(name):
        pack = read_pack(Path(name))
        if not are_kin(pack.rules, game):
            raise BadRun(f"{name} plays {pack.rules}, not {game.name}")
        weights, settings = pack.weights(), pack.network
    else:
        run, checkpoint = open_checkpoint(name, game, any_options=True)
        weights = run.load_player(checkpoint)[0].state_dict()
        settings = {key: getattr(run.config, key) for key in NETWORK}
    if not fits(network, weights):
        shown = ", ".join(f"{key}={value}" for key, value in settings.items())
        raise BadRun(f"{name} has another network than this run; these settings must be the same: {shown}")
    return weights


def shipped_players() -> list[Pack]:
    """The players that come with Ludus."""
    return [read_pack(file) for file in sorted(SHIPPED.glob(f"*{SUFFIX}"))]


def shipped_player(game: Game) -> Pack | None:
    """The player that comes with Ludus for a game; the one of exactly these options first."""
    fitting = [pack for pack in shipped_players() if pack.suits(game)]
    own = split_identity(game.identity)[0]
    return min(fitting, key=lambda pack: pack.rules != own, default=None)


def read_pack(file: Path) -> Pack:
    """The metadata of a pack; the weights are not read."""
    from safetensors import safe_open

    try:
        if file.stat().st_size > LARGEST_PACK:
            raise BadRun(f"{file} is larger than {LARGEST_PACK >> 20} MB")
        with safe_open(file, "np") as opened:
            about = opened.metadata() or {}
        if about.get("ludus.player") != FORMAT:
            raise BadRun(f"{file} is not a packed player of this version of Ludus: ludus pack RUN makes one")
        return Pack(
            file,
            about["game"],
            GameSpec.from_json(json.loads(about["spec"])),
            json.loads(about["network"]),
            json.loads(about["facts"]),
        )
    except BadRun:
        raise
    except OSError as error:
        raise BadRun(f"{file} cannot be read: {error.strerror or error}") from None
    except Exception as error:
        raise BadRun(f"{file} is not a packed player, or is damaged: {type(error).__name__}") from None


def pack_player(name: str, file: Path, note: str = "", trust: bool = False) -> Pack:
    """Write a checkpoint of a run, RUN or RUN@40, to one file; `note` is kept in it."""
    import torch
    from safetensors.torch import save_file

    if not file.name:
        raise BadRun(f"{file} is not the name of a file; write mine{SUFFIX}")
    run, checkpoint = open_checkpoint(name, trust=trust)
    network, facts = run.load_player(checkpoint)
    weights = {
        key: value.half() if value.dtype == torch.float32 else value for key, value in network.state_dict().items()
    }
    about = {
        "ludus.player": FORMAT,
        "game": run.trained,
        "spec": json.dumps(run.game.spec.json()),
        "network": json.dumps({key: getattr(run.config, key) for key in NETWORK}),
        "facts": json.dumps({**_origin(run, facts["iteration"]), **({"note": note} if note else {})}),
    }
    write_whole(file, lambda path: save_file({key: value.contiguous() for key, value in weights.items()}, path, about))
    return read_pack(file)


def _origin(run: Run, iteration: int) -> dict[str, Any]:
    """The origin of a checkpoint, as the files of its run tell."""
    lines = [line for line in run.log() if line.get("iteration", 0) <= iteration]
    latest = lines[-1] if lines else {}
    defaults = Config()
    changed = {
        key: value for key, value in vars(run.config).items() if value != getattr(defaults, key) and key not in NETWORK
    }
    if run.config.initial_run:  # a pack goes to other people, who have no use for the folders of this machine
        changed["initial_run"] = Path(run.config.initial_run).name
    try:
        about = json.loads((run.folder / ABOUT).read_text())
    except (OSError, ValueError):
        about = {}
    return {
        "iteration": iteration,
        "minutes": round(latest.get("seconds", 0.0) / 60, 1),
        "games": latest.get("games", 0),
        "settings": changed,
        "machine": about.get("machine", ""),
        "ludus": about.get("ludus", ""),
        "began": about.get("began", ""),
    }
