"""One set of weights for networks of several board sizes."""

from __future__ import annotations

from typing import Any


def share_weights(network: Any, source: Any) -> Any:
    """Make a network use the parameters and the saved buffers of another, of the same design but another board size.

    Both then learn as one: a step of the optimiser changes the tensors, which belong to both. Returns the network.
    """
    theirs = dict(source.named_modules())
    for name, module in network.named_modules():
        other = theirs[name]
        for key in module._parameters:
            module._parameters[key] = other._parameters[key]
        for key in module._buffers:
            if key not in module._non_persistent_buffers_set:  # the others depend on the size
                module._buffers[key] = other._buffers[key]
    return network
