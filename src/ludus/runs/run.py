"""A run is a folder that a person can open.

    config.toml           the game (see spec.py) and all settings
    about.json            a copy of them, code version, machine, when it began
    source/               copy of the game's file and of its helper files, if the game is a user's own
    games/000012.npz      the rows of iteration 12 (see rows.py); 000012-1.npz those of a further board
    checkpoints/000012/   player.safetensors: the weights that play, with what made them
                          learner.safetensors, state.npz: all else that is needed to go on, in the latest two
                          SHA256SUMS: their checksums
    checkpoints/damaged-000012/   a damaged checkpoint, set aside when the run was resumed
    log.jsonl             a line for each iteration
    watched.json          the latest games of self-play that were recorded move by move, for people to watch
    positions.txt         solved positions for evaluations, if there are any (see grading/positions.py)
    results.sqlite        games of its checkpoints in the arena (see arena/store.py)
    arena.toml            settings of that arena, if the user has written any (see arena/roster.py)
    training.lock         held by the process that trains the run

Files are written whole or not at all, and carry checksums (see checksums.py). A run that was killed goes on from its
latest checkpoint; games of an iteration that it had not finished are played again, move for move the same. A run with
damaged files goes on from the latest good checkpoint, with the rows that are left, and says what was lost.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.bounded import read_text
from ludus.errors import ChangedRules, DamagedRun, LudusError, UnknownGame, Unsuitable, Untrusted
from ludus.nets.rows import Rows
from ludus.registry import describe_source, file_name, has_file, remake, require_view, runs_code
from ludus.runs.checksums import Damaged, check_sum, write_sums
from ludus.runs.config import LARGEST_FILE, Config, with_settings
from ludus.runs.curves import draw_learning
from ludus.runs.description import read_description, write_description
from ludus.runs.files import BadRun, remove, write_bytes, write_whole
from ludus.runs.log import Log
from ludus.sources import read_copy, read_source
from ludus.spec import GameSpec, split_identity

if TYPE_CHECKING:
    from ludus.game import Game

SOURCE = "source"
"""The folder in a run with the copy of a user's own game: its file, and the helper files that it imports."""
KEPT = 2
"""Checkpoints that hold all that is needed to go on; older ones keep the weights that play."""
UNWRITTEN = 4
"""Iterations in the log whose checkpoints may not be written yet: they are written while the run goes on."""
WATCHED = 20
"""Games of self-play that are kept for people to watch."""
PLAYER = "player.safetensors"
TO_RESUME = (PLAYER, "learner.safetensors", "state.npz")
"""The files of a checkpoint from which a run can go on."""

NETWORK = (
    *("network", "blocks", "width", "size_free", "words", "roles", "shared_view"),
    *("soft_policy_weight", "reply_policy_weight", "dropout"),
)
"""The settings that determine the shapes of a network's weights."""
SIZE_FREE = "weights for every size are trained with --set size_free=yes, or network=graph or groups"


class Run:
    """The folder of a run, and its files."""

    def __init__(self, folder: Path, game: Game, config: Config, trained: str | None = None):
        self.folder, self.game, self.config = folder, game, config
        self.trained = trained or game.identity
        """The identity of the game that the run trains; `game` may be another size of it (see `open`)."""
        self._log = Log(folder / "log.jsonl")

    # --- making and opening -------------------------------------------------------------------------------------------

    @classmethod
    def create(cls, folder: Path, game: Game, config: Config) -> Run:
        """A new run, in a folder that holds no run. The source of a user's own game is copied into the folder."""
        if (folder / "config.toml").exists():
            again = f"ludus train --resume {shlex.quote(str(folder))}"
            raise BadRun(f"{folder} holds a run already: {again} goes on with it")
        source = game.source if game.spec.digest else None
        if source is not None:
            write_whole(folder / SOURCE, source.write)
        write_description(folder, game, config)
        return cls(folder, game, config)

    @classmethod
    def open(
        cls,
        folder: Path,
        game: Game | None = None,
        any_size: bool = False,
        any_options: bool = False,
        trust: bool = False,
    ) -> Run:
        """Open an existing run.

        If `game` is given, nothing from the run is executed: the game is compared with the run's own. Otherwise the
        game is made from the run's config; the copy of a user's source is run only with `trust`, else Untrusted is
        raised. `any_size` is for playing only: `game` may have other options if the network fits every board size, and
        a changed source is a warning (ChangedRules) instead of an error. With `any_options` the game may have other
        options whatever the network; the caller compares the shapes of the weights.
        """
        described = read_description(folder)
        config, named = described.config, game is not None
        if game is None:
            game = _own_game(folder, described.spec, trust)
        trained = described.trained or game.identity
        rules, own = split_identity(trained)[0], split_identity(game.identity)[0]
        kin = are_kin(rules, game) and (any_options or (any_size and config.fits_all_sizes))
        if rules != own and not kin:
            told = f"{folder} is a run of {rules}, not of {own}"
            raise BadRun(told + (f"; {SIZE_FREE}" if any_size and are_kin(rules, game) else ""))
        if named:
            _compare_digests(folder, trained, game, playing=any_size)
            if described.spec is not None:
                require_view(folder, described.spec, game)
        return cls(folder, game, config, trained)

    # --- checkpoints --------------------------------------------------------------------------------------------------

    def checkpoints(self) -> list[int]:
        """The iterations that have a checkpoint, in order."""
        found = (self.folder / "checkpoints").glob("[0-9]*")
        return sorted(int(path.name) for path in found if (path / PLAYER).is_file())

    def checkpoint(self, iteration: int) -> Path:
        return self.folder / "checkpoints" / f"{iteration:06d}"

    def save(
        self,
        iteration: int,
        player: dict[str, Any],
        learner: dict[str, Any],
        state: dict[str, np.ndarray],
        facts: dict,
    ) -> None:
        """Write a checkpoint: the weights that play, and the state to resume from. Tensors must be `detached`."""
        from safetensors import SafetensorError
        from safetensors.torch import save_file

        about = {"game": self.trained, "iteration": str(iteration), "facts": json.dumps(facts)}
        about["network"] = json.dumps({key: getattr(self.config, key) for key in NETWORK})

        def write(folder: Path) -> None:
            folder.mkdir()
            try:
                save_file(player, folder / PLAYER, about)
                save_file(learner, folder / "learner.safetensors", about)
            except SafetensorError as error:
                raise OSError(str(error)) from None
            np.savez(folder / "state.npz", **state)  # type: ignore[arg-type]
            write_sums(folder)

        write_whole(self.checkpoint(iteration), write)
        for old in self.checkpoints()[:-KEPT]:
            for name in ("learner.safetensors", "state.npz"):
                remove(self.checkpoint(old) / name)

    def load_player(self, iteration: int | None = None) -> tuple[Any, dict[str, Any]]:
        """The network that plays, at one checkpoint or the latest, and the metadata of the checkpoint."""
        from safetensors import safe_open

        known = self.checkpoints()
        if not known:
            raise BadRun(f"{self.folder} has no checkpoint yet")
        iteration = known[-1] if iteration is None else iteration
        if iteration not in known:
            near = min(known, key=lambda other: abs(other - iteration))
            raise BadRun(f"{self.folder} has no checkpoint {iteration}; the nearest is {near}, the last {known[-1]}")
        path = self.checkpoint(iteration) / PLAYER
        with _reading(path), safe_open(path, "pt") as file:
            about = file.metadata() or {}
            if about.get("game") != self.trained:
                raise BadRun(f"{path} is of {about.get('game')}, not of {self.trained}")
            network = with_settings(Config(), json.loads(about["network"])).make_network(self.game)
            weights = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            if self.game.identity != self.trained and not fits(network, weights):
                told = f"{path} is of {self.trained}, and does not fit {self.game.identity}"
                differ = "differ in more than the board size" if self.config.fits_all_sizes else f"differ; {SIZE_FREE}"
                raise BadRun(f"{told}: the network's inputs {differ}")
            network.load_state_dict(weights)
        return network.eval(), {"iteration": iteration, **json.loads(about["facts"])}

    def load_state(self, iteration: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The learner and the state that `save` wrote."""
        from safetensors.torch import load_file

        folder = self.checkpoint(iteration)
        with _reading(folder / "learner.safetensors"):
            learner = load_file(folder / "learner.safetensors")
        with _reading(folder / "state.npz"):
            return learner, load_arrays(folder / "state.npz")

    def whole_checkpoint(self) -> int | None:
        """The latest checkpoint that has all its files."""
        whole = [i for i in self.checkpoints() if all((self.checkpoint(i) / name).is_file() for name in TO_RESUME)]
        return whole[-1] if whole else None

    def good_checkpoint(self) -> int | None:
        """The latest checkpoint from which the run can go on, or None if it has none yet.

        Damaged ones are set aside with a warning (DamagedRun). BadRun if checkpoints are there and none can be used.
        """
        lost: list[tuple[int, Damaged]] = []
        for iteration in self._folders():
            try:
                self._check(iteration)
            except Damaged as error:
                lost.append((iteration, error))
                continue
            for number, problem in lost:
                aside = _set_aside(self.checkpoint(number))
                again = f"{aside.name} keeps it, and iterations after {iteration} are played again"
                _warn(f"{problem}; checkpoint {number} is lost: {again}")
            return iteration
        done = max((line.get("iteration", 0) for line in self.log()), default=0)
        if lost or done > self.config.checkpoint_every + UNWRITTEN:
            why = lost[0][1] if lost else f"{self.folder / 'checkpoints'} is empty after {done} iterations"
            raise BadRun(f"{self.folder} has no checkpoint to go on from: {why}{self._other_start()}")
        return None

    def _folders(self) -> list[int]:
        """The numbers of the folders in checkpoints/, latest first, whatever is in them."""
        found = (self.folder / "checkpoints").glob("[0-9]*")
        return sorted((int(path.name) for path in found if path.name.isdecimal()), reverse=True)

    def _check(self, iteration: int) -> None:
        """Raise Damaged unless a checkpoint can be resumed, and BadRun if it is of another network."""
        from safetensors import safe_open

        path = self.checkpoint(iteration) / PLAYER
        with _reading(path), safe_open(path, "pt") as file:
            network = with_settings(Config(), json.loads((file.metadata() or {})["network"]))
        for key in NETWORK:
            then, now = getattr(network, key), getattr(self.config, key)
            if then != now:
                raise BadRun(
                    f"{self.folder / 'config.toml'} says {key} = {now}, but the network of the run was made with "
                    f"{key} = {then}: set it back, or begin another run"
                )
        self.load_state(iteration)

    def _other_start(self) -> str:
        """How to begin a new run with the weights of this one, if some are good."""
        for iteration in self._folders():
            try:
                check_sum(self.checkpoint(iteration) / PLAYER)
            except Damaged:
                continue
            return f"; ludus train --from {self.folder}@{iteration} begins a new run with its weights"
        return ""

    # --- games and log ------------------------------------------------------------------------------------------------

    def _rows_file(self, iteration: int, board: int) -> Path:
        """The file with the rows of an iteration, of the run's own board or of a further one."""
        return self.folder / "games" / f"{iteration:06d}{f'-{board}' * (board > 0)}.npz"

    def save_rows(self, iteration: int, rows: Rows, board: int = 0) -> None:
        """Keep the rows of an iteration; further boards are numbered from 1 on (see training/boards.py)."""

        def write(path: Path) -> None:
            with path.open("wb") as file:
                np.savez_compressed(file, **rows._asdict())

        write_whole(self._rows_file(iteration, board), write)

    def load_rows(self, last: int, wanted: int, board: int = 0) -> list[Rows]:
        """The rows of iterations up to `last`, as many of the latest as it takes to have `wanted`; oldest first.

        Files that are damaged or missing are left out, with a warning (DamagedRun).
        """
        parts: list[Rows] = []
        lost: list[Damaged] = []
        count = 0
        for iteration in range(last, 0, -1):
            path = self._rows_file(iteration, board)
            try:
                with _reading(path):  # a zip file has a checksum for each array
                    arrays = load_arrays(path)
                    parts.append(Rows(**{name: arrays[name] for name in Rows._fields}))
            except Damaged as error:
                lost.append(error)
                continue
            count += len(parts[-1])
            if count >= wanted:
                break
        if lost:
            more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
            _warn(f"{lost[0]}{more}; the run goes on without these rows")
        return parts[::-1]

    def forget_after(self, iteration: int) -> None:
        """Remove the files of later iterations, which a killed process left: they are played again."""
        for path in (self.folder / "games").glob("[0-9]*.npz"):
            if int(path.stem.partition("-")[0]) > iteration:
                remove(path)
        damaged = self._log.cut_after(iteration)
        if damaged:
            _warn(f"{self._log.path} is damaged: {damaged} line{'s' * (damaged > 1)} lost")

    def add_watched(self, game: dict[str, Any]) -> None:
        """Keep a game of self-play for people to watch: its iteration, first position, moves and results."""
        games = [*self.watched(), game][-WATCHED:]
        text = json.dumps(games)
        write_whole(self.folder / "watched.json", lambda path: write_bytes(path, text))

    def watched(self) -> list[dict[str, Any]]:
        """The latest games of self-play that were kept for people to watch, oldest first."""
        return read_watched(self.folder)

    def add_to_log(self, line: dict[str, Any]) -> None:
        self._log.add(line)

    def log(self) -> list[dict[str, Any]]:
        """The lines of the log that are whole."""
        return self._log.read()[0]

    # --- in a notebook ------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<run {self.folder.name} of {self.game.name}>"

    def _repr_svg_(self) -> str | None:
        """The learning curves, which a notebook shows; None before the first iteration."""
        return draw_learning(self.log(), f"{self.game.title}: {self.folder.name}") or None


def load_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an .npz file. np.load would leave a damaged file open if it were given the path."""
    with path.open("rb") as stream, np.load(stream) as file:
        return {name: file[name] for name in file.files}


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong with a file into Damaged, with its name."""
    check_sum(path)
    try:
        yield
    except LudusError:
        raise
    except Exception as error:
        raise Damaged(f"{path} is damaged: {type(error).__name__}") from error


def _set_aside(folder: Path) -> Path:
    """Rename a damaged checkpoint, so that it is kept and not used."""
    aside = folder.with_name(f"damaged-{folder.name}")
    remove(aside)
    return folder.rename(aside)


def _warn(text: str) -> None:
    warnings.warn(text, DamagedRun, stacklevel=4)


def read_watched(folder: Path) -> list[dict[str, Any]]:
    """The games that `Run.add_watched` has kept in the folder of a run; none if the file is missing or damaged."""
    try:
        games = json.loads(read_text(folder / "watched.json", LARGEST_FILE))
    except (OSError, ValueError, RecursionError):
        return []
    return [game for game in games if isinstance(game, dict)] if isinstance(games, list) else []


def open_run(folder: str | Path, game: Game | None = None, trust: bool = False) -> Run:
    """Open an existing run, to read it or to play with its networks.

    Without `game`, the game is made from the run's config. Python code that comes with the run is used only with
    `trust`.
    """
    return Run.open(Path(folder), game, any_size=True, trust=trust)


def open_checkpoint(
    name: str, game: Game | None = None, trust: bool = False, any_options: bool = False
) -> tuple[Run, int | None]:
    """A run and the number of a checkpoint, from RUN@40, or from RUN with None for the latest; see Run.open."""
    folder, at, checkpoint = name.rpartition("@")
    if at and not checkpoint.isdecimal():
        raise BadRun(f"{checkpoint!r} is no checkpoint; write {folder}@40")
    run = Run.open(Path(folder if at else name), game, any_size=True, any_options=any_options, trust=trust)
    return run, int(checkpoint) if at else None


def _own_game(folder: Path, spec: GameSpec | None, trust: bool) -> Game:
    """The game that a run names; a user's own game is made from the copy in the folder of the run."""
    if spec is None:
        raise BadRun(f"{folder / 'config.toml'} names no game: name it as well")
    copy = folder.resolve() / SOURCE / file_name(spec)
    if not has_file(spec) or not copy.is_file():
        return _game_of_spec(folder, spec, trust, copy)
    source = read_copy(copy.parent, copy.name)
    if runs_code(spec) and not trust:
        raise Untrusted(f"{folder} brings a game as Python code, {copy} ({describe_source(source)})")
    if source.digest != spec.digest:
        raise BadRun(f"{copy} is not what the run was made with: name the game's file to use that instead")
    _tell_if_changed(Path(spec.source), spec.digest, f"{folder} goes on with its own copy, {copy}")
    return remake(GameSpec(str(copy), spec.options, spec.digest), trust=True, strict=True)


def _game_of_spec(folder: Path, spec: GameSpec, trust: bool, copy: Path) -> Game:
    """The game that a run without a copy of it names: a file must have the rules that the run was made with."""
    had_copy = has_file(spec) and bool(spec.digest)  # runs of Ludus 0.1 have neither digest nor copy
    try:
        game = remake(spec, trust, strict=True)
    except UnknownGame as error:
        raise BadRun(f"{folder} cannot be opened without its game: {error}; name the game's file as well") from None
    except Unsuitable as error:
        raise BadRun(f"{copy} is missing, and {error}") if had_copy else error from None
    if had_copy:
        _warn(f"{copy} is missing; the run goes on with {spec.source}, which has the same rules")
    return game


def _compare_digests(folder: Path, trained: str, game: Game, playing: bool) -> None:
    """Refuse, or if `playing` warn about, a game whose source is not the one that the run was made with."""
    then, now = split_identity(trained)[1], game.digest
    if not then or then == now:
        return
    file = game.spec.source if now else f"the source of {game.name}"
    changed = f"{file} has changed since {folder} was made (its rules are {now or 'unknown'} now and were {then})"
    if not playing:
        trust = "" if now and not runs_code(game.spec) else " and add --trust"
        raise BadRun(f"{changed}; leave the file out{trust} to go on with the run's own copy of the source")
    warnings.warn(f"{changed}: its network learned other rules", ChangedRules, stacklevel=4)


def _tell_if_changed(file: Path, digest: str, instead: str) -> None:
    """Warn if the file that a run was made from is still there, with other rules. Nothing is executed."""
    try:
        now = read_source(file).digest if file.is_absolute() and file.is_file() else digest
    except UnknownGame:
        return
    if now != digest:
        warnings.warn(f"{file} has changed since: {instead}", ChangedRules, stacklevel=4)


def fits(network: Any, weights: dict[str, Any]) -> bool:
    """True if the weights have the shapes of the network's weights."""
    mine = {name: weight.shape for name, weight in network.state_dict().items()}
    return mine == {name: weight.shape for name, weight in weights.items()}


def are_kin(identity: str, game: Game) -> bool:
    """True if an identity differs from the identity of `game` in the options only."""
    name, version = identity.partition("(")[0], identity.rpartition(")v")[2]
    return (name, version) == (game.name, str(game.version))


def detached(tensors: dict[str, Any]) -> dict[str, Any]:
    """Copies as safetensors requires them: contiguous, and none shares memory with another."""
    return {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
