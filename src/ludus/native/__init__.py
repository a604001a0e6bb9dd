"""Rules at native speed: the generic functions of `ludus.rules` inside Numba-compiled code.

    kernels.py      functions of the engine in machine code
    types.py        the Numba type of a game's rules
    digests.py      digests of sources, which make compiled code new after an edit
    modules.py      copies of a module's names with its plain functions compiled
    dispatch.py     the generic functions as overloads that hand over to the game's functions
    state_hash.py   a fingerprint for states of games that define none
    bundles.py      NamedTuples of arrays as arguments of kernels
    engine.py       random numbers and stepping in machine code
    atomics.py      atomic operations, for threads that share memory
    caching.py      the cache of one kernel
    store.py        the files of all caches
    announcing.py   tells a listener that something is being compiled
    internals.py    everything taken from Numba that is not public API

The author of a game need not know any of it.
"""

from ludus.native import announcing, emission, internals
from ludus.native.bundles import BundleType, bundle
from ludus.native.digests import PACKAGE
from ludus.native.dispatch import overload_generic
from ludus.native.engine import STEPPING, below, uniform
from ludus.native.kernels import compiled, intensive_kernel, kernel, part
from ludus.native.modules import compiled_names
from ludus.native.store import cache_folder
from ludus.native.types import RulesType, bounds_checked, enable

announcing.listen()
emission.emit_lazily()
internals.write_messages_without_colours()

__all__ = [
    "PACKAGE",
    "STEPPING",
    "BundleType",
    "RulesType",
    "below",
    "bounds_checked",
    "bundle",
    "cache_folder",
    "compiled",
    "compiled_names",
    "enable",
    "intensive_kernel",
    "kernel",
    "overload_generic",
    "part",
    "uniform",
]
