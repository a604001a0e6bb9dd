"""Export of a run's network for other programs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ludus.runs.files import write_bytes, write_whole
from ludus.runs.run import open_checkpoint


@dataclass(frozen=True)
class Exported:
    """A model that was written."""

    file: Path
    bytes: int
    iteration: int
    """The checkpoint of the run."""
    observation: tuple[int, ...]
    """The shape of the planes of one position."""
    difference: float
    """The largest difference to PyTorch's answers on random planes."""


def export_onnx(run: str, file: Path, trust: bool = False) -> Exported:
    """Write the network of RUN or RUN@CHECKPOINT as an ONNX model, after comparing it with PyTorch.

    The model's metadata hold the game's spec and the iteration. Python code of a game that comes with the run is used
    only with `trust`.
    """
    import onnx

    from ludus.nets.checking import random_planes
    from ludus.nets.engines import TorchEngine, make_engine
    from ludus.nets.families import family_of
    from ludus.nets.onnx import write_onnx

    opened, checkpoint = open_checkpoint(run, trust=trust)
    network, facts = opened.load_player(checkpoint)
    family_of(network).choose_engine("onnx")  # raises if it cannot be written
    graph = onnx.load_model_from_string(write_onnx(network))
    about = {"game": json.dumps(opened.game.spec.json()), "iteration": str(facts["iteration"])}
    onnx.helper.set_model_props(graph, {f"ludus.{key}": value for key, value in about.items()})
    model = graph.SerializeToString()
    planes = random_planes(network.sizes, 64)
    reference = TorchEngine()
    reference.load(network)
    pairs = zip(make_engine("onnx", network).run(planes), reference.run(planes), strict=True)  # raises if they differ
    difference = max(float(np.abs(mine - theirs).max()) for mine, theirs in pairs)
    write_whole(file, lambda path: write_bytes(path, model))
    return Exported(file, len(model), facts["iteration"], network.sizes.observation, difference)
