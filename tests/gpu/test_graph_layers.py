"""Triton's kernels for graphs, by Triton's interpreter on the CPU: their arithmetic, not their machine code."""

import importlib.util
import os
import subprocess
import sys

import pytest
import torch

import ludus
from ludus.gpu.relations import GpuGraphs, largest_by_scattering, plain_forward, random_graphs
from ludus.nets.families import make_network
from ludus.nets.graph_trial import lively_network

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
needs_interpreter = pytest.mark.skipif(not INTERPRETED, reason="run by test_the_kernels_in_the_interpreter")


@pytest.mark.skipif(INTERPRETED, reason="runs the others")
@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs Triton")
def test_the_kernels_in_the_interpreter():
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(command, env={**os.environ, "TRITON_INTERPRET": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def part_of(graphs, k):
    """One of the graphs alone, in arrays of its size: a kernel for one graph has several programs."""
    nodes, edges = graphs.sizes[k].tolist()
    features, starts = graphs.features[k : k + 1, :nodes], graphs.starts[k : k + 1, :, : nodes + 1]
    kept = features, graphs.edges[k : k + 1, :edges], graphs.sizes[k : k + 1], starts, graphs.sources[k : k + 1, :edges]
    return GpuGraphs(*(each.contiguous() for each in kept))


@needs_interpreter
@pytest.mark.parametrize("name", ["sevn", "hive"])
def test_a_layer_is_that_of_pytorch(name):
    from ludus.gpu.graph_layers import fused_forward

    network = make_network("graph", ludus.make(name), blocks=3, width=24).eval()
    graphs = random_graphs(*network.sizes.graph, "cpu", count=3, most=90)
    known = torch.arange(90) < graphs.sizes[:, :1]
    with torch.inference_mode():
        expected, found = (form(network)(graphs) for form in (plain_forward, fused_forward))
        torch.testing.assert_close(found[known], expected[known], atol=1e-3, rtol=1e-3)
        largest = int(graphs.sizes[:, 0].argmax())
        alone = fused_forward(network)(part_of(graphs, largest))[0]
        torch.testing.assert_close(alone, expected[largest, : len(alone)], atol=1e-3, rtol=1e-3)


@needs_interpreter
def test_the_fastest_form_has_the_kernels():
    from ludus.gpu.relations import fastest_forward

    network = lively_network(ludus.make("sevn", base=5))
    assert fastest_forward(network, network)[1] == []


@needs_interpreter
def test_the_learner_has_the_gradients_of_pytorch():
    from ludus.gpu.graph_layers import largest_neighbours

    graphs = part_of(random_graphs(3, 5, "cpu", count=1, most=70), 0)
    starts, sources = graphs.starts[0], graphs.sources[0]
    x = torch.randn(graphs.features.shape[1], 12, requires_grad=True)
    found, expected = (take(x, starts, sources) for take in (largest_neighbours, largest_by_scattering))
    torch.testing.assert_close(found, expected)
    gradient = torch.randn_like(found)
    mine, theirs = (torch.autograd.grad((each * gradient).sum(), x) for each in (found, expected))
    torch.testing.assert_close(mine, theirs)
