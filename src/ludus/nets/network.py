"""The sizes of a network, which follow from the game, and the base class of networks over planes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import nn

from ludus.errors import BadOption
from ludus.nets.blocks import Pooling
from ludus.nets.folding import folded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ludus.game import Game, GroupShape, TouchShape


class Sizes(NamedTuple):
    """What a network must know of a game."""

    observation: tuple[int, ...]
    """The shape of the planes."""
    actions: int
    heads: int
    """The number of policies: 1, or one for each seat."""
    outputs: int
    """The number of values: 1 for the observer, or one for each player, from the observer on."""
    graph: tuple[int, int] = (0, 0)
    """The features of a node, and the number of relations; (0, 0) if the game has no graph."""
    auxiliary: int = 0
    """The number of auxiliary policies. They are learned because that improves the trunk, and never play."""
    places: Any = None
    """The places of the actions, int32 [heads, actions, 3] (see Game.places), for networks that fit every size."""
    mask: int | None = None
    """The number of the plane that is 1 on the board, if there is one."""
    groups: GroupShape | None = None
    """The groups of cells that the game declares, if it does."""
    touches: TouchShape | None = None
    """What the game tells of its moves, if it does."""
    words: Any = None
    """The words of the actions, int32 [actions, most] (see Game.words), if actions are scored by them."""
    shared_view: bool = False
    """Positions are seen by the first player alone: `heads` and `outputs` are those of all players, in their order."""

    @property
    def inputs(self) -> int:
        """The numbers of one observation."""
        return math.prod(self.observation)


def sizes_of(
    game: Game,
    roles: bool = False,
    auxiliary: int = 0,
    size_free: bool = False,
    words: bool = False,
    shared_view: bool = False,
) -> Sizes:
    """The sizes of a network for this game.

    With `roles` each seat has a policy; `size_free` heads fit all boards; with `words` actions are scored by them. With
    `shared_view` one evaluation serves all players of a game with simultaneous moves.
    """
    shared_view = shared_view and game.simultaneous
    roles = roles or shared_view
    if words and game.words is None:
        raise BadOption(f"words need a game that says what its actions are made of; {game.name} sets no words")
    shape = game.graph
    places = places_of(game, roles) if size_free else None
    heads = game.players if roles else 1
    return Sizes(
        observation=tuple(game.observation or ()),
        actions=game.actions,
        heads=heads if places is None else len(places),
        outputs=1 if game.two_player_zero_sum else game.players,
        graph=(shape.features, len(shape.relations)) if shape else (0, 0),
        auxiliary=auxiliary if places is None else auxiliary * len(places),
        places=places,
        mask=game.mask,
        groups=game.groups,
        touches=game.touches,
        words=game.words if words else None,
        shared_view=shared_view,
    )


def places_of(game: Game, roles: bool) -> Any:
    """The places of a game's actions, int32 [heads, actions, 3].

    Seats that see the actions at different places have a head each. With `roles`, each seat has planes of its own.
    """
    if game.places is None:
        raise BadOption(f"size_free needs a game that says where its actions are; {game.name} sets no places")
    places = np.array(game.places, np.int32)
    if roles:
        kinds = places[..., 0].max() + 1
        places = np.stack([places[seat % len(places)] for seat in range(game.players)])
        places[..., 0] += kinds * np.arange(game.players, dtype=np.int32)[:, None]
    return places


class Network(nn.Module):
    """The base of networks over planes: a `trunk` with the heads `policy`, `value` and `further`."""

    family: ClassVar[str]
    """The name of its entry in families.FAMILIES."""
    pooling: ClassVar[type[nn.Module]] = Pooling
    """The class of the modules that pool over a board; a GPU joins them with their neighbours (see gpu/fusion.py)."""
    mixing: ClassVar[type[nn.Module] | tuple[()]] = ()
    """The class of the modules that pool over groups of cells, which a GPU runs as one kernel each; () for none."""
    block: ClassVar[type[nn.Module] | tuple[()]] = ()
    """The class of the residual blocks that end the trunk, which a GPU may run as one kernel (see gpu/tower.py)."""
    tolerance: ClassVar[float] = 0.1
    """Largest `mean_difference` (see checking.py) of an engine that rounds, such as one in 8-bit integers."""
    trunk: nn.Module
    policy: nn.Module
    value: nn.Module
    further: nn.Module | None
    """The auxiliary policies, if there are any. The files of runs know them by this name."""

    def __init__(self, sizes: Sizes):
        super().__init__()
        self.sizes = sizes
        self.further = None

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """planes [K, *observation] to logits [K, heads, actions] and values [K, outputs]."""
        x = self.trunk(planes)
        return self._split(self.policy(x), self.sizes.heads), torch.tanh(self.value(x))

    def forward_all(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, Any]:
        """The results of `forward`, and the auxiliary policies [K, auxiliary, actions] or None, for the learner."""
        x = self.trunk(planes)
        auxiliary = None if self.further is None else self._split(self.further(x), self.sizes.auxiliary)
        return self._split(self.policy(x), self.sizes.heads), torch.tanh(self.value(x)), auxiliary

    @property
    def quantisable(self) -> bool:
        """True if the engine int8 runs it in integers: it has convolutions."""
        return any(isinstance(module, nn.Conv2d) for module in self.modules())

    def to_logits(self, policy: NDArray[np.float32], inputs: Any) -> NDArray[np.float32]:
        """The policy that an engine answers `inputs` with as logits of moves [..., moves], to compare engines by."""
        return policy

    def folded(self) -> Network:
        """A copy for inference, with every batch norm folded into the convolution before it."""
        return folded(self)

    def _split(self, policies: torch.Tensor, count: int) -> torch.Tensor:
        """[K, count * actions] as [K, count, actions]."""
        return policies.reshape(-1, count, self.sizes.actions)
