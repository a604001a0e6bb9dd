"""All code that knows about GPUs.

compiler      compiles functions of the engine for an NVIDIA GPU (Numba's LLVM code to PTX)
forest        trees on a GPU, with the interface of the forest on the CPU
engine        a network on a GPU: bfloat16, CUDA graphs
fusion        joins convolutions with the operations after them
layers        layers written in Triton
graph_forest  trees on a GPU whose leaves are seen as graphs
graph_engine  a graph network on a GPU
relations     the neighbours of nodes, for graph networks and their learner
graph_layers  layers of graph networks written in Triton
steps         the learner's steps on a GPU

Nothing here knows the families of networks or the settings of a run. Other packages ask `is_usable` before they import
a module of this one.
"""


def is_usable() -> bool:
    """True if PyTorch can use an NVIDIA GPU on this machine."""
    import torch

    return torch.cuda.is_available()


def count() -> int:
    """The number of NVIDIA GPUs of this machine that PyTorch can use."""
    import torch

    return torch.cuda.device_count()
