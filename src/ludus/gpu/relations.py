"""The largest neighbour of each node in each relation, on a GPU: for the learner, with gradients, and for searches.

Triton's kernels (graph_layers.py) read each neighbour once. Without Triton, PyTorch's own operations give the same
answers more slowly.

Shapes use B graphs in arrays for up to N nodes and M edges each, R relations, C inputs and H outputs of a layer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from ludus.gpu.fusion import is_as_exact
from ludus.search.neighbours import sort_all_edges

refused = False
"""True if Triton's kernels for graphs failed their trial (see nets/graph_trial.py)."""

# --- for the learner --------------------------------------------------------------------------------------------------


def relating(starts: torch.Tensor, sources: torch.Tensor) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """A function of x [N, C] and weight [H, R * C]: the sum over relations r of weight_r @ (maximum over neighbours).

    The neighbours of node i in relation r are sources[starts[r, i] : starts[r, i + 1]].
    """
    take = _largest_by_triton() or largest_by_scattering
    return lambda x, weight: nn.functional.linear(take(x, starts, sources), weight)


def _largest_by_triton() -> Any:
    """graph_layers.largest_neighbours, or None if Triton cannot be used."""
    if refused:
        return None
    try:
        from ludus.gpu.graph_layers import largest_neighbours
    except ImportError:
        return None
    return largest_neighbours


def largest_by_scattering(x: torch.Tensor, starts: torch.Tensor, sources: torch.Tensor) -> torch.Tensor:
    """The maximum over the neighbours in each relation, [N, R * C]; 0 where a node has none."""
    (relations, _), (nodes, channels) = starts.shape, x.shape
    edges = torch.arange(len(sources), dtype=torch.int32, device=x.device)
    slots = torch.searchsorted(starts[:, 1:].flatten(), edges, right=True)  # R * N for edges that only fill up
    largest = _scattered(x[sources.long()], slots, relations * nodes)
    return largest.view(relations, nodes, channels).transpose(0, 1).reshape(nodes, relations * channels)


def _scattered(values: torch.Tensor, slots: torch.Tensor, count: int) -> torch.Tensor:
    """The maximum of values [M, C] in each of `count` slots int64 [M], 0 in empty slots; slot `count` is left out."""
    whole = values.new_full((count + 1, values.shape[1]), -torch.inf)
    whole = whole.scatter_reduce(0, slots[:, None].expand_as(values), values, "amax")[:count]
    return whole.masked_fill(whole == -torch.inf, 0.0)


# --- for searches -----------------------------------------------------------------------------------------------------


class GpuGraphs(NamedTuple):
    """B graphs. Only the first sizes[b, 0] nodes and sizes[b, 1] edges of graph b are valid."""

    features: Any  # float32 [B, N, F]
    edges: Any  # int32 [B, M, 3]: relation, from, to
    sizes: Any  # int32 [B, 2]: nodes, edges
    starts: Any  # int32 [B, R, N + 1]
    sources: Any  # int32 [B, M]: the same edges, sorted (see search/neighbours.py)


def plain_forward(network: Any) -> Callable[[GpuGraphs], torch.Tensor]:
    """A graph network by PyTorch's own operations: graphs to the outputs of its last layer, float32 [B, N, H]."""

    def forward(graphs: GpuGraphs) -> torch.Tensor:
        count, nodes, _ = graphs.features.shape
        relations = graphs.starts.shape[1]
        first = torch.arange(count, device=graphs.sizes.device)[:, None] * nodes
        relation, source, target = graphs.edges.long().unbind(2)
        known = torch.arange(graphs.edges.shape[1], device=first.device) < graphs.sizes[:, 1:]
        slots = torch.where(known, (first + target) * relations + relation, count * nodes * relations).flatten()
        sources = torch.where(known, first + source, 0).flatten()
        x = graphs.features.flatten(0, 1).to(network.last.own.weight.dtype)
        for layer in (*network.layers, network.last):
            largest = _scattered(x[sources], slots, count * nodes * relations)
            x = layer.own(x) + layer.others(largest.view(count * nodes, -1))
            x = x if layer is network.last else torch.relu(x)
        return x.view(count, nodes, -1).float()

    return forward


def fastest_forward(network: Any, exact: Any) -> tuple[Any, list[str]]:
    """The fastest form of a graph network that gives its answers, as by plain_forward, and why a faster was not taken.

    `network` is in bfloat16 on a device, `exact` the same in float32.
    """
    plain = plain_forward(network)
    device = network.last.own.weight.device
    features, relations = network.sizes.graph
    graphs = random_graphs(features, relations, device)
    with torch.inference_mode():
        try:
            from ludus.gpu.graph_layers import fused_forward

            made = fused_forward(network)
            found = [forward(graphs) for forward in (made, plain, plain_forward(exact))]
        except Exception as error:  # Triton's errors may be of any kind
            return plain, [f"Triton's layers: {type(error).__name__}: {str(error).strip()[:200]}"]
    known = torch.arange(graphs.features.shape[1], device=device) < graphs.sizes[:, :1]
    if is_as_exact(*(each[known] for each in found)):
        return made, []
    return plain, ["Triton's layers: its answers differ from those of the plain network"]


def random_graphs(features: int, relations: int, device: Any, count: int = 16, most: int = 100) -> GpuGraphs:
    """Graphs of 1 to `most` nodes with random features and up to five edges for each node, in arrays for `most`."""
    rng = np.random.default_rng(0)
    made = GpuGraphs(
        rng.integers(-3, 8, (count, most, features)).astype(np.float32),
        np.zeros((count, 5 * most, 3), np.int32),
        np.zeros((count, 2), np.int32),
        np.zeros((count, relations, most + 1), np.int32),
        np.zeros((count, 5 * most), np.int32),
    )
    for k in range(count):
        nodes = int(rng.integers(1, most + 1))
        drawn = np.stack([rng.integers(0, high, 5 * nodes) for high in (relations, nodes, nodes)], 1)
        edges = np.unique(drawn, axis=0).astype(np.int32)
        rng.shuffle(edges)
        made.sizes[k] = nodes, len(edges)
        made.edges[k, : len(edges)] = edges
        starts = np.zeros((relations, nodes + 1), np.int32)
        sort_all_edges(made.edges[k], len(edges), starts, made.sources[k])
        made.starts[k, :, : nodes + 1] = starts
    return GpuGraphs(*(torch.from_numpy(array).to(device) for array in made))
