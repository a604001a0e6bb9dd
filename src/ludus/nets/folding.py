"""Folding of batch norms into the convolutions before them, for inference."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn


def folded(network: Any) -> Any:
    """A copy of a network for inference, with every batch norm folded into its convolution.

    The two must be neighbours in an nn.Sequential; other batch norms stay as they are.
    """
    made = copy.deepcopy(network).eval()
    for module in list(made.modules()):
        if isinstance(module, nn.Sequential):
            for i in range(len(module) - 1):
                first, second = module[i], module[i + 1]
                if isinstance(first, nn.Conv2d) and isinstance(second, nn.BatchNorm2d):
                    module[i], module[i + 1] = _fold(first, second), nn.Identity()
    return made


@torch.no_grad()
def _fold(convolution: nn.Conv2d, norm: nn.BatchNorm2d) -> nn.Conv2d:
    """The convolution with the batch norm after it. Changes and returns `convolution`."""
    assert norm.running_var is not None
    assert norm.running_mean is not None
    weight, bias = convolution.weight, convolution.bias
    if bias is None:
        bias = weight.new_zeros(weight.shape[0])
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    convolution.weight = nn.Parameter(weight * scale[:, None, None, None])
    convolution.bias = nn.Parameter((bias - norm.running_mean) * scale + norm.bias)
    return convolution
