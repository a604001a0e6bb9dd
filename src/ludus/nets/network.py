"""What all networks have in common: their sizes, read off the game, and how one is made by name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import nn

from ludus.errors import BadOption

if TYPE_CHECKING:
    from ludus.game import Game

KINDS = ("residual", "conv", "mlp", "graph")


class Sizes(NamedTuple):
    """All that a network must know of a game."""

    observation: tuple[int, ...]
    actions: int
    heads: int
    """Policies: one for whoever looks, or one for each seat."""
    outputs: int
    """Values: one for whoever looks, or one for each player, from the one who looks on."""
    graph: tuple[int, int] = (0, 0)
    """Features of a node, and relations."""
    further: int = 0
    """Policies that are learned beside the one that plays, since learning them makes the trunk better."""
    places: Any = None
    """Of a network that is free of sizes: where the actions are, int32 [heads, actions, 3], as Game.places."""
    mask: int | None = None
    """The plane that is 1 on the board, if there is one."""

    @property
    def inputs(self) -> int:
        return math.prod(self.observation)


def is_two_player_zero_sum(game: Game) -> bool:
    """Do two players move in turn, and is what one wins what the other loses?"""
    return game.players == 2 and game.zero_sum and not game.simultaneous


def sizes_of(game: Game, roles: bool = False, further: int = 0, size_free: bool = False) -> Sizes:
    """The sizes of a network for this game; `roles`: a policy for each seat; `size_free`: heads for all boards."""
    shape = game.graph
    places = places_of(game, roles) if size_free else None
    heads = game.players if roles else 1
    return Sizes(
        observation=tuple(game.observation or ()),
        actions=game.actions,
        heads=heads if places is None else len(places),
        outputs=1 if is_two_player_zero_sum(game) else game.players,
        graph=(shape.features, len(shape.relations)) if shape else (0, 0),
        further=further if places is None else further * len(places),
        places=places,
        mask=game.mask,
    )


def places_of(game: Game, roles: bool) -> Any:
    """The places of a game's actions, int32 [heads, actions, 3]: seats that see them elsewhere have a head each, and
    with `roles` each seat has planes of its own."""
    if game.places is None:
        raise BadOption(f"size_free needs a game that says where its actions are; {game.name} sets no places")
    places = np.array(game.places, np.int32)
    if roles:
        kinds = places[..., 0].max() + 1
        places = np.stack([places[seat % len(places)] for seat in range(game.players)])
        places[..., 0] += kinds * np.arange(game.players, dtype=np.int32)[:, None]
    return places


class Network(nn.Module):
    """The base of all networks over planes: a `trunk`, and upon it the heads `policy`, `value` and `further`."""

    trunk: nn.Module
    policy: nn.Module
    value: nn.Module
    further: nn.Module | None

    def __init__(self, sizes: Sizes):
        super().__init__()
        self.sizes = sizes
        self.further = None

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """planes [K, *observation] to logits [K, heads, actions] and values [K, outputs]."""
        x = self.trunk(planes)
        return self._apart(self.policy(x), self.sizes.heads), torch.tanh(self.value(x))

    def see(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, Any]:
        """The same for the learner, with the further policies [K, further, actions], if there are any."""
        x = self.trunk(planes)
        further = None if self.further is None else self._apart(self.further(x), self.sizes.further)
        return self._apart(self.policy(x), self.sizes.heads), torch.tanh(self.value(x)), further

    def _apart(self, policies: torch.Tensor, count: int) -> torch.Tensor:
        """[K, count * actions] as [K, count, actions]."""
        return policies.reshape(-1, count, self.sizes.actions)

    @property
    def parameters_count(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())


def make_network(kind: str, sizes: Sizes, *, blocks: int, width: int, dropout: float = 0.0) -> Any:
    """A network by the name of its kind; `blocks` and `width` mean what the kind makes of them."""
    if kind not in KINDS:
        raise BadOption(f"no network is called {kind!r}; there are {', '.join(KINDS)}")
    if kind == "graph":
        if not sizes.graph[0]:
            raise BadOption("a graph network needs a game with a graph; use residual or mlp")
        from ludus.nets.graph import GraphNetwork

        return GraphNetwork(sizes, blocks, width)
    if not sizes.observation:
        raise BadOption(f"a {kind} network needs a game with an observation; this game has none")
    if kind == "mlp":
        from ludus.nets.mlp import Mlp

        return Mlp(sizes, blocks, width)
    if len(sizes.observation) != 3:
        raise BadOption(f"a {kind} network needs planes of two dimensions; use mlp")
    if kind == "conv":
        from ludus.nets.conv import Conv

        return Conv(sizes, blocks, width, dropout)
    from ludus.nets.residual import Residual
    from ludus.nets.size_free import SizeFree

    return (Residual if sizes.places is None else SizeFree)(sizes, blocks, width)
