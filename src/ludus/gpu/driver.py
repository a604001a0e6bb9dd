"""CUDA's driver and its compiler for CUDA C++, as functions of the shared libraries that come with them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch

from ludus.errors import Unsuitable

DYNAMIC_SHARED_MEMORY = 8
"""The driver's number of the attribute of a function that says how much shared memory a launch may ask for."""


@cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


def _call(name: str, *arguments: Any) -> None:
    status = getattr(_driver(), name)(*arguments)
    if status:
        raise RuntimeError(f"CUDA's driver answers {name} with error {status}")


class Function:
    """A function on the GPU, loaded from PTX or machine code."""

    def __init__(self, image: bytes, name: str, shared: int = 0):
        """`shared`: bytes of shared memory that each block of a launch gets."""
        self.shared = shared
        self._module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        _call("cuModuleLoadData", ctypes.byref(self._module), ctypes.c_char_p(image))
        _call("cuModuleGetFunction", ctypes.byref(self._function), self._module, name.encode())
        if shared:
            _call("cuFuncSetAttribute", self._function, DYNAMIC_SHARED_MEMORY, shared)

    def launch(self, blocks: int, threads: int, stream: int, arguments: Sequence[Any]) -> None:
        """Run on a CUDA stream; `arguments` are ctypes values."""
        listed = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(value) for value in arguments))
        sizes = (blocks, 1, 1, threads, 1, 1, self.shared)
        _call("cuLaunchKernel", self._function, *sizes, ctypes.c_void_p(stream), listed, None)


def compile_cuda(source: str, chip: str) -> bytes:
    """The machine code of CUDA C++ for a chip, such as sm_90a, by the compiler that comes with PyTorch (NVRTC)."""
    major = (torch.version.cuda or "0").split(".")[0]
    try:
        compiler = ctypes.CDLL(f"libnvrtc.so.{major}")
    except OSError as error:
        raise Unsuitable(f"CUDA's compiler is missing: {error}") from error
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    if compiler.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None):
        raise Unsuitable("CUDA's compiler takes no programs")
    try:
        options = (ctypes.c_char_p * 1)(f"--gpu-architecture={chip}".encode())
        if compiler.nvrtcCompileProgram(program, 1, options):
            compiler.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            compiler.nvrtcGetProgramLog(program, log)
            raise Unsuitable(f"CUDA's compiler: {log.value.decode()}")
        compiler.nvrtcGetCUBINSize(program, ctypes.byref(size))
        image = ctypes.create_string_buffer(size.value)
        compiler.nvrtcGetCUBIN(program, image)
        return image.raw
    finally:
        compiler.nvrtcDestroyProgram(ctypes.byref(program))
