"""The families of networks. A family is added here, and nowhere else.

An entry says how a network is built, what it needs of a game, how rows become its input, what evaluates it, which
engines run it, and which settings apply to it. Its class names the entry by its attribute `family`, and has `sizes`.

Modules that need PyTorch are imported when they are used: settings are checked by this file without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ludus.errors import BadOption
from ludus.nets.engines import ENGINES, EngineKind, fastest_engine

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.nets.engines import Engine
    from ludus.nets.evaluator import NetworkEvaluator
    from ludus.nets.network import Sizes
    from ludus.nets.samples import Sampler, Targets


@dataclass(frozen=True)
class Design:
    """The settings of a network, beside its family (see runs/config.py)."""

    blocks: int
    width: int
    size_free: bool = False
    words: bool = False
    roles: bool = False
    shared_view: bool = False
    auxiliary: int = 0
    """The number of auxiliary policies."""
    dropout: float = 0.0


@dataclass(frozen=True)
class Family:
    """An entry of FAMILIES."""

    name: str
    build: Callable[[Sizes, Design], Any]
    """Makes a network."""
    why_not: Callable[[Game], str]
    """The reason why a game cannot be learned by this family, or an empty text."""
    make_sampler: Callable[[Game, Targets, int], Sampler]
    """Makes what turns rows into the network's input and computes the loss; the last argument is sizes.outputs."""
    make_evaluator: Callable[[Game, Engine], NetworkEvaluator]
    """Makes what evaluates positions by a network that an engine runs."""
    engines: tuple[str, ...]
    """The engines that can run the network."""
    own_engines: Mapping[str, EngineKind] = field(default_factory=dict)
    """Those of them that are not as in engines.ENGINES."""
    settings: frozenset[str] = frozenset()
    """Those of SPECIAL_SETTINGS that apply."""
    conflicts: tuple[tuple[str, str, str], ...] = ()
    """Two settings that exclude each other, and why."""
    fits_all_sizes: bool | str = False
    """True if one set of weights fits all board sizes; or the setting with which it does."""
    suggest: Callable[[Game], dict[str, Any] | None] = lambda game: None
    """The settings with which the family suits a game, or None if another family suits it better."""

    def make_network(self, game: Game, design: Design) -> Any:
        """A new network for a game; BadOption if the game lacks what the family needs."""
        from ludus.nets.network import sizes_of

        problem = self.why_not(game)
        if problem:
            raise BadOption(f"network = {self.name} {problem}")
        sizes = sizes_of(game, design.roles, design.auxiliary, design.size_free, design.words, design.shared_view)
        return self.build(sizes, design)

    def choose_engine(self, name: str) -> str:
        """The engine of this name if it can run the network, for `auto` the fastest one; else BadOption."""
        if name == "auto":
            return fastest_engine(self.engines)
        if name not in self.engines:
            raise BadOption(f"engine = {name} cannot run network = {self.name}; use auto or {', '.join(self.engines)}")
        return name

    def make_engine(self, name: str = "auto") -> Engine:
        """A new engine by its name (see choose_engine)."""
        name = self.choose_engine(name)
        return self.own_engines.get(name, ENGINES[name]).start(name)

    def check_settings(self, settings: Any) -> None:
        """Raise BadOption if a setting that does not apply is set; `settings` has the fields of runs.config.Config."""
        for name in SPECIAL_SETTINGS:
            if getattr(settings, name) and name not in self.settings:
                others = [family.name for family in FAMILIES.values() if name in family.settings]
                raise BadOption(f"{name} is for network = {', '.join(others)}, not for {self.name}")
        for one, other, reason in self.conflicts:
            if getattr(settings, one) and getattr(settings, other):
                raise BadOption(f"{one} does not work with {other}: {reason}")
        if settings.engine != "auto":
            self.choose_engine(settings.engine)

    def fits_all_sizes_with(self, settings: Any) -> bool:
        """True if one set of weights fits all board sizes with these settings."""
        return getattr(settings, self.fits_all_sizes) if isinstance(self.fits_all_sizes, str) else self.fits_all_sizes


SPECIAL_SETTINGS = ("size_free", "words", "soft_policy_weight", "reply_policy_weight")
"""Settings that some families refuse."""
FAMILIES: dict[str, Family] = {}


def register(family: Family) -> Family:
    """Add a family; it can be named by the setting `network` from then on."""
    FAMILIES[family.name] = family
    return family


def family_of(network: Any) -> Family:
    """The family of a network."""
    return FAMILIES[network.family]


def suggest_settings(game: Game) -> dict[str, Any]:
    """The family that suits a game, with its settings; BadOption if there is none."""
    for family in FAMILIES.values():
        settings = family.suggest(game)
        if settings is not None:
            return {"network": family.name, **settings}
    raise BadOption(f"{game.name} cannot be learned: it has neither an observation nor a graph")


def make_network(name: str, game: Game, **design: Any) -> Any:
    """A new network by the name of its family; `design` are the fields of Design."""
    if name not in FAMILIES:
        raise BadOption(f"no network is called {name!r}; there are {', '.join(FAMILIES)}")
    return FAMILIES[name].make_network(game, Design(**design))


# --- networks over planes ---------------------------------------------------------------------------------------------

SMALL_BOARD = 16
"""Cells of a board on which a small network with heads for its size is enough."""
PLANE_ENGINES = ("cuda", "onnx", "int8", "torch")
AUXILIARY = frozenset({"soft_policy_weight", "reply_policy_weight"})


def make_plane_sampler(game: Game, targets: Targets, outputs: int) -> Sampler:
    from ludus.nets.samples import PlaneSampler

    return PlaneSampler(game, targets, outputs)


def make_plane_evaluator(game: Game, engine: Engine) -> NetworkEvaluator:
    from ludus.nets.evaluator import PlaneEvaluator

    return PlaneEvaluator(game, engine)


def needs_observation(game: Game) -> str:
    """For Family.why_not: the game must have an observation."""
    return "" if game.observation else f"needs a game with an observation; {game.name} has none"


def needs_board(game: Game) -> str:
    """For Family.why_not: the game must have an observation of planes with two dimensions."""
    if not game.observation or len(game.observation) == 3:
        return needs_observation(game)
    return f"needs planes of two dimensions; use network = mlp for {game.name}"


def _build_residual(sizes: Sizes, design: Design) -> Any:
    from ludus.nets.residual import Residual
    from ludus.nets.size_free import SizeFree

    return (SizeFree if design.size_free else Residual)(sizes, design.blocks, design.width)


def _suggest_residual(game: Game) -> dict[str, Any] | None:
    """For boards. Where most moves name a cell, they are scored there, and not by their numbers."""
    shape = game.observation
    if not shape or len(shape) != 3 or min(shape[1:]) < 3:
        return None
    on_cells = game.places is not None and (game.places[..., 1:] >= 0).all(-1).mean() > 0.5
    return {"size_free": True} if on_cells and shape[1] * shape[2] > SMALL_BOARD else {}


def _build_conv(sizes: Sizes, design: Design) -> Any:
    from ludus.nets.conv import Conv

    return Conv(sizes, design.blocks, design.width, design.dropout)


def _build_mlp(sizes: Sizes, design: Design) -> Any:
    from ludus.nets.mlp import Mlp

    return Mlp(sizes, design.blocks, design.width)


def _suggest_mlp(game: Game) -> dict[str, Any] | None:
    return {"blocks": 2, "width": 128} if game.observation else None


# --- networks over planes with groups of cells ------------------------------------------------------------------------


def _build_groups(sizes: Sizes, design: Design) -> Any:
    from ludus.nets.groups import GroupNetwork

    return GroupNetwork(sizes, design.blocks, design.width)


def _make_group_sampler(game: Game, targets: Targets, outputs: int) -> Sampler:
    from ludus.nets.group_samples import GroupSampler

    return GroupSampler(game, targets, outputs)


def _make_group_evaluator(game: Game, engine: Engine) -> NetworkEvaluator:
    from ludus.nets.group_evaluator import GroupEvaluator

    return GroupEvaluator(game, engine)


def _needs_groups(game: Game) -> str:
    if game.groups is None or game.touches is None:
        return f"needs a game that declares groups of cells and what moves touch; {game.name} does not"
    if game.simultaneous:
        return f"is for games in which players move in turn; use network = mlp for {game.name}"
    return ""


register(
    Family(
        name="groups",
        build=_build_groups,
        why_not=_needs_groups,
        make_sampler=_make_group_sampler,
        make_evaluator=_make_group_evaluator,
        engines=PLANE_ENGINES,
        fits_all_sizes=True,
        suggest=lambda game: {} if not _needs_groups(game) else None,
    )
)
register(
    Family(
        name="residual",
        build=_build_residual,
        why_not=needs_board,
        make_sampler=make_plane_sampler,
        make_evaluator=make_plane_evaluator,
        engines=PLANE_ENGINES,
        settings=AUXILIARY | {"size_free"},
        conflicts=(("reply_policy_weight", "size_free", "the opponent's view may differ"),),
        fits_all_sizes="size_free",
        suggest=_suggest_residual,
    )
)
register(
    Family(
        name="conv",
        build=_build_conv,
        why_not=needs_board,
        make_sampler=make_plane_sampler,
        make_evaluator=make_plane_evaluator,
        engines=PLANE_ENGINES,
        settings=AUXILIARY,
    )
)
register(
    Family(
        name="mlp",
        build=_build_mlp,
        why_not=needs_observation,
        make_sampler=make_plane_sampler,
        make_evaluator=make_plane_evaluator,
        engines=PLANE_ENGINES,
        settings=AUXILIARY | {"words"},
        suggest=_suggest_mlp,
    )
)

# --- networks over graphs ---------------------------------------------------------------------------------------------


def _build_graph(sizes: Sizes, design: Design) -> Any:
    from ludus.nets.graph import GraphNetwork

    return GraphNetwork(sizes, design.blocks, design.width)


def _make_graph_sampler(game: Game, targets: Targets, outputs: int) -> Sampler:
    from ludus.nets.graph_samples import GraphSampler

    return GraphSampler(game, targets, outputs)


def _make_graph_evaluator(game: Game, engine: Engine) -> NetworkEvaluator:
    from ludus.nets.graph_evaluator import GraphEvaluator

    if engine.precision != "bfloat16":
        return GraphEvaluator(game, engine)
    from ludus.nets.graph_trial import why_not

    problem = why_not(game.spec)
    return GraphEvaluator(game, ENGINES["native"].start("native") if problem else engine, problem)


def _make_graph_cuda_engine(threads: int) -> Engine:
    from ludus.gpu.graph_engine import GraphCudaEngine

    return GraphCudaEngine()


def _make_int8_graph_engine(threads: int) -> Engine:
    from ludus.nets.graph_quantised import Int8GraphEngine

    return Int8GraphEngine()


def _needs_graph(game: Game) -> str:
    if game.graph is None:
        return f"needs a game with a graph; {game.name} has none"
    if game.simultaneous:
        return f"is for games in which players move in turn; use network = mlp for {game.name}"
    return ""


register(
    Family(
        name="graph",
        build=_build_graph,
        why_not=_needs_graph,
        make_sampler=_make_graph_sampler,
        make_evaluator=_make_graph_evaluator,
        engines=("cuda", "native", "int8", "torch"),
        own_engines={
            "cuda": EngineKind(_make_graph_cuda_engine, ENGINES["cuda"].why_not),
            "int8": EngineKind(_make_int8_graph_engine, lambda: "", quantises=True),
        },
        fits_all_sizes=True,
        suggest=lambda game: {} if game.graph else None,
    )
)
