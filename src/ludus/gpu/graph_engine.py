"""Graph networks on an NVIDIA GPU, in bfloat16."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ludus.gpu.engine import CudaEngine
from ludus.gpu.relations import GpuGraphs, fastest_forward

if TYPE_CHECKING:
    from numpy.typing import NDArray


class GraphCudaEngine(CudaEngine):
    """Runs a graph network on the first GPU. Where the trees are there too, they call it (see graph_forest.py)."""

    def _fastest(self, network: Any, exact: Any) -> tuple[Any, list[str]]:
        return fastest_forward(network, exact)

    def run(self, inputs: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """`inputs` are nets.graph_batches.Graphs of arrays: one graph, as far as the layers of the network matter."""
        features, starts, sources, ends, _ = inputs
        with torch.inference_mode(), torch.cuda.stream(self.stream):
            graph = one_graph(features, starts, sources, "cuda", with_edges=bool(self.unfused))
            found = self.forward(graph)[0].cpu().numpy()
        return found[:, 0], mean_values(found[:, 1:], ends)


def one_graph(features: Any, starts: Any, sources: Any, device: str, with_edges: bool) -> GpuGraphs:
    """A batch of graphs, whose nodes are numbered through, as one graph on a device.

    Only the plain form of the network (see relations.py) needs it `with_edges`.
    """
    count = int(starts[-1, -1])
    edges = np.zeros((0, 3), np.int32)
    if with_edges:
        targets = np.repeat(np.tile(np.arange(len(features)), len(starts)), np.diff(starts, axis=1).ravel())
        relations = np.repeat(np.arange(len(starts)), starts[:, -1] - starts[:, 0])
        edges = np.stack([relations, sources[:count], targets], 1).astype(np.int32)
    arrays = features, edges, np.array([len(features), count], np.int32), starts, sources
    return GpuGraphs(*(torch.from_numpy(np.ascontiguousarray(array[None])).to(device) for array in arrays))


def mean_values(outputs: NDArray[np.float32], ends: NDArray[np.int32]) -> NDArray[np.float32]:
    """The values [K, outputs] of graphs: tanh of the mean over their nodes, outputs [N, outputs], ends int32 [K]."""
    sums = np.concatenate([np.zeros((1, outputs.shape[1])), np.cumsum(outputs, 0, np.float64)])
    first = np.concatenate([[0], ends[:-1]])
    return np.tanh((sums[ends] - sums[first]) / np.maximum(1, ends - first)[:, None]).astype(np.float32)
