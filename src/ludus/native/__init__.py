"""Rules at native speed: the generic functions of `ludus.rules` inside Numba-compiled code.

Three things happen here, and a game's author need not know of any of them:

* The Numba type of a game's rules is made from the class and a digest of the source that defines it. Compiled code is
  cached on disk by the types of its arguments, so an edit of the source changes the type, and stale code is not found.
* The plain functions of a game file are compiled in a copy of their module's names, in which every plain function is
  compiled too: helpers need no decorator, and the module itself stays ordinary Python.
* Each generic function is an overload that hands over to the compiled function of the game its first argument is of.
"""

import contextlib
import hashlib
import importlib
import itertools
import sys
import threading
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import event
from numba.core.errors import NumbaError
from numba.extending import overload, register_model, typeof_impl

from ludus import rng, rules, stepping
from ludus.errors import Unsuitable
from ludus.native.announcing import Announcer
from ludus.native.bundles import BundleModel, BundleType, bundle
from ludus.native.caching import KernelCache

PACKAGE = Path(__file__).parent.parent
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "_nrt": False}
"""How the engine and the games are compiled. Without Numba's runtime (`_nrt`) code cannot allocate arrays, and in
return does not count references to those it is given: a search of small positions runs much faster. A function of a
game that makes an array, or copies one into another, needs the runtime nevertheless, and gets it."""


def kernel(function: Any = None, **options: Any) -> Any:
    """Compile a function of the engine on first use, cached on disk, without holding the interpreter's lock."""
    if function is None:
        return lambda plain: kernel(plain, **options)
    made = numba.njit(function, **OPTIONS, **options)
    with contextlib.suppress(RuntimeError):  # where no folder can be written, it is compiled in every process
        made._cache = KernelCache(function)
    return made


INNER = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""The same for what only compiled code calls: compiled sooner, but with no way in, and a call from Python crashes."""


def part(function: Any) -> Any:
    """Compile a function that only kernels call, into each of them."""
    return numba.njit(function, forceinline=True, **INNER)


def _names_in_machine_code(kind: Any) -> Any:
    """How functions are called in machine code that take such a type: by all that the type is.

    Numba puts only the type's number in this process there, or leaves the shape out. Then two functions that two
    processes put into the cache, of one game for boards of different sizes, may have one name, and run for each other.
    """
    return type(kind).__name__, (hashlib.sha256(kind.name.encode()).hexdigest()[:16],)


for _kind in (types.Record, types.NestedArray):
    _kind.mangling_args = property(_names_in_machine_code)  # type: ignore[method-assign, assignment]


# --- The Numba type of a game's rules ---------------------------------------------------------------------------------


class RulesType(BundleType):
    """The type of a game's rules: equal to another only if class, field types and digest of the source are."""

    def __reduce__(self) -> Any:
        # By name, not by class: one index file of Numba's cache lists the types of every game ever compiled on
        # this machine, and most of their modules are not loaded, or no longer exist.
        cls = self.instance_class
        return _restore_type, (self.types, cls.__module__, cls.__qualname__, self.digest)


register_model(RulesType)(BundleModel)


class AbsentRulesType(types.Opaque):
    """Stands for the rules of a game, or a version of it, that this process has not loaded; equal to no RulesType."""

    def __init__(self, *described: Any):
        self.described = described
        super().__init__(f"absent {described}")

    def __reduce__(self) -> Any:
        # As it came: a process that adds its own code to the index writes the entries of all other games again.
        return _restore_type, self.described


def _restore_type(field_types: Any, module: str, name: str, digest: str) -> Any:
    for rules_class, known in _digests.items():
        if (rules_class.__module__, rules_class.__qualname__, known) == (module, name, digest):
            return RulesType(field_types, rules_class, digest)
    return AbsentRulesType(field_types, module, name, digest)


_digests: dict[type, str] = {}
_compiled: dict[Any, dict[str, Any]] = {}
"""The compiled names of a class of rules, without Numba's runtime and, under (class, "nrt"), with it; see OPTIONS."""


_enabling = threading.RLock()


def enable(rules_class: type, **options: Any) -> None:
    """Make instances of `rules_class` usable in compiled code; further calls do nothing."""
    if rules_class in _digests:
        return
    with _enabling:
        if rules_class not in _digests:
            _enable(rules_class, options)


def _enable(rules_class: type, options: dict[str, Any]) -> None:
    namespace = rules.namespace_of(rules_class)
    if "NATIVE" in namespace:  # a module with what these rules need only in compiled code
        importlib.import_module(namespace["NATIVE"])
    homes = _source_homes(namespace)
    if not homes:
        raise Unsuitable(f"the rules {rules_class.__qualname__} can be compiled only if they are defined in a file")
    hashed = hashlib.sha256(repr(sorted(options.items())).encode())
    for file in sorted(homes.keys() | _engine_files()):
        hashed.update(Path(file).read_bytes())
    for file in sorted(homes):
        for name, value in sorted(homes[file].items()):
            hashed.update(_constant(name, value))
    digest = hashed.hexdigest()[:16]
    _give_own_name(rules_class)
    for key, nrt in ((rules_class, False), ((rules_class, "nrt"), True)):
        each = {**INNER, **options, "_nrt": nrt}
        _compiled[key] = _compile_namespace(namespace, set(homes), each, digest)

    @typeof_impl.register(rules_class)
    def typeof_rules(value: Any, context: Any) -> RulesType:
        return RulesType(tuple(numba.typeof(field) for field in value), rules_class, digest)

    _digests[rules_class] = digest  # last: from here on other threads use the class without the lock


def bounds_checked(value: Any) -> Any:
    """The same rules as an instance of a twin class, whose functions raise IndexError where they leave an array."""
    twin = _twins.get(type(value))
    if twin is None:
        twin = _twins[type(value)] = type(f"BoundsChecked{type(value).__qualname__}", (type(value),), {})
        twin.__module__ = type(value).__module__
        rules.register(twin, rules.namespace_of(type(value)))
        enable(twin, boundscheck=True)
    return twin(*value)


_twins: dict[type, type] = {}


def _engine_files() -> set[str]:
    """Numba's cache of a function does not notice an edit of another file that it calls into; the digest does."""
    patterns = ("rng.py", "rules.py", "stepping.py", "native/*.py", "search/*.py")
    return {str(file) for pattern in patterns for file in PACKAGE.glob(pattern)}


_serial = itertools.count(1)


def _give_own_name(rules_class: type) -> None:
    """Give the class a name that no other class in this process ever had.

    Numba's dispatcher tells named tuples apart by the bare name of their class, their fields and the fields' types, and
    remembers the type it found. So two files that each define `class Rules(NamedTuple)`, two versions of one file, or
    one class before and after it was enabled, would run each other's code.
    """
    rules_class.__name__ = f"{rules_class.__name__}_{next(_serial)}"


def _constant(name: str, value: Any) -> bytes:
    """What the machine code takes from a global name: a number or table made elsewhere is not in the source."""
    if isinstance(value, np.ndarray):
        return f"{name}:{value.dtype}{value.shape}".encode() + value.tobytes()
    if isinstance(value, tuple):
        return b"".join(_constant(f"{name}[{index}]", item) for index, item in enumerate(value))
    if isinstance(value, bool | int | float | str | bytes | np.generic) and not name.startswith("__"):
        return f"{name}={value!r}".encode()
    return b""


def _source_homes(namespace: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The names of the game's own file and of its helpers' files (of Ludus, or beside the game's file), by file."""
    homes: dict[str, dict[str, Any]] = {}
    pending = [namespace]
    while pending:
        names = pending.pop()
        file = names.get("__file__")
        if file is None or file in homes:
            continue
        homes[file] = names
        pending += [helper.__dict__ for helper in names.get("__helpers__", ())]
        for value in list(names.values()):
            if isinstance(value, FunctionType):
                home = value.__globals__
            elif isinstance(value, ModuleType):
                home = value.__dict__
            else:
                home = getattr(sys.modules.get(getattr(value, "__module__", None) or ""), "__dict__", {})
            source = Path(home.get("__file__") or "")
            if PACKAGE in source.parents or source.parent == Path(file).parent:
                pending.append(home)
    return homes


def _compile_namespace(names: dict[str, Any], files: set[str], options: dict[str, Any], digest: str) -> dict[str, Any]:
    """A copy of a module's names, with every plain function compiled that is defined in one of the `files`."""
    copies: dict[str, dict[str, Any]] = {}  # by the file of the module

    def copy(module: dict[str, Any]) -> dict[str, Any]:
        if module["__file__"] in copies:
            return copies[module["__file__"]]
        space = copies[module["__file__"]] = dict(module)
        for name, value in module.items():
            if isinstance(value, ModuleType) and getattr(value, "__file__", None) in files:
                space[name] = ModuleType(value.__name__)
                space[name].__dict__.update(copy(value.__dict__))
            if not isinstance(value, FunctionType) or value is rules.GENERIC.get(value.__name__):
                continue
            if value.__code__.co_filename not in files:
                continue
            if value.__globals__ is module:
                space[name] = numba.njit(renamed(name, value, space), **options)
            else:
                home = copy(value.__globals__)
                space[name] = next((home[key] for key, found in value.__globals__.items() if found is value), value)
        return space

    def renamed(name: str, function: FunctionType, space: dict[str, Any]) -> FunctionType:
        """The function among the copied names, called as no other function ever compiled on this machine.

        Numba's linker takes functions of the same module, name and argument types, which different processes put into
        the cache, for one and the same; and it wants to import the module again when it loads them from there.
        """
        plain = FunctionType(function.__code__, space, function.__name__, function.__defaults__, function.__closure__)
        plain.__kwdefaults__ = function.__kwdefaults__
        plain.__qualname__ = f"{function.__module__}.{name}#{digest}"
        plain.__module__ = names["__name__"]
        return plain

    return copy(names)


# --- The generic functions in compiled code ---------------------------------------------------------------------------


def compiled(function: Any) -> Any:
    """A plain function of Ludus for use inside kernels."""
    return numba.njit(function, **INNER)


def _no_heuristic(rules, state, player):
    return 0.0


def _no_play(rules, state, action):
    pass


def _no_play_together(rules, state, actions):
    pass


_DEFAULTS = {"heuristic": _no_heuristic, "play": _no_play, "play_together": _no_play_together}


def _is_lean(first: Any, name: str, others: tuple[Any, ...]) -> bool:
    """Does this function of a game do without Numba's runtime (see OPTIONS)?"""
    namespace = rules.namespace_of(first.instance_class)
    if PACKAGE / "search" in Path(namespace["__file__"]).parents:
        return True  # selection rules
    if namespace.get("LEAN", False):
        return True  # the game says so; to find out, all that it calls would be compiled twice
    arguments = (first, *map(types.unliteral, others))
    # With the runtime first: what fails without it, such as np.zeros, Numba would remember as failed for good.
    with_runtime = _compiled[first.instance_class, "nrt"][name]
    try:
        with_runtime.compile(arguments)
        if "NRT_MemInfo_alloc" in with_runtime.overloads[arguments].library.get_llvm_str():
            return False
        _compiled[first.instance_class][name].compile(arguments)
    except NumbaError as error:
        return "NRT required" not in str(error)
    return True


def find(first: Any, name: str, *others: Any) -> Any:
    """The compiled function `name` for the class of rules that the Numba type `first` stands for, or None."""
    if not isinstance(first, RulesType):
        return None
    if rules.implementation(first.instance_class, name) is not None:
        return _compiled[first.instance_class if _is_lean(first, name, others) else (first.instance_class, "nrt")][name]
    if name == "fingerprint":
        return compiled(_hash_of_state(others[0]))
    return compiled(_DEFAULTS[name]) if name in _DEFAULTS else None


def overload_generic(name: str, parameters: str) -> None:
    """Let compiled code call the generic function `name`."""
    made: dict[str, Any] = {"find": find}
    exec(
        f"def typed({parameters}):\n"
        f"    target = find({parameters.replace(',', f', {name!r},', 1)})\n"
        f"    if target is None:\n"
        f"        return None\n"
        f"    def {name}({parameters}):\n"
        f"        return target({parameters})\n"
        f"    return {name}\n",
        made,
    )
    overload(rules.GENERIC[name])(made["typed"])


for _name, _parameters in rules.SIGNATURES.items():
    overload_generic(_name, _parameters)


def _hash_of_state(state: Any) -> FunctionType:
    """A fingerprint from all that the state holds, written for its Numba type."""
    lines = ["def fingerprint(rules, state):", "    h = np.uint64(0x243F6A8885A308D3)"]
    if isinstance(state, types.Array):
        lines += ["    for i in range(state.size):", "        h = mix(h, state[i])"]
    else:
        for name, field in state.fields.items():
            kind = field.type.dtype if isinstance(field.type, types.NestedArray) else field.type
            if not isinstance(kind, types.Integer | types.Boolean):
                raise Unsuitable(f"the state's field {name!r} is not whole numbers: the game must define fingerprint()")
            if isinstance(field.type, types.NestedArray):
                lines += [f"    for value in state.{name}.flat:", "        h = mix(h, value)"]
            else:
                lines += [f"    h = mix(h, state.{name})"]
    lines += ["    return h ^ (h >> np.uint64(29))"]
    made: dict[str, Any] = {"np": np, "mix": _mix}
    exec("\n".join(lines), made)
    return made["fingerprint"]


@numba.njit(**OPTIONS)
def _mix(h, value):
    h = (h ^ np.uint64(value)) * np.uint64(0x9E3779B97F4A7C15)
    return h ^ (h >> np.uint64(32))


def compiled_names(module: ModuleType) -> dict[str, Any]:
    """The names of a module of Ludus with its plain functions compiled, for use inside kernels."""
    return _compile_namespace(module.__dict__, set(_source_homes(module.__dict__)), OPTIONS, "")


_rng = compiled_names(rng)
below, uniform = _rng["below"], _rng["uniform"]
STEPPING = {"inspect": kernel(stepping.inspect), "step": kernel(stepping.step)}


def _name_of_compiled(arguments: Any) -> str:
    """What is compiled, for people: the game, or what has no game in it."""
    classes = [kind.instance_class for kind in arguments if isinstance(kind, RulesType)]
    games = [each.__qualname__ for each in classes if rules.implementation(each, "select") is None]
    return games[0] if games else "the search"


event.register("numba:compile", Announcer(_name_of_compiled))

__all__ = [
    "BundleType",
    "RulesType",
    "below",
    "bounds_checked",
    "bundle",
    "compiled",
    "compiled_names",
    "enable",
    "kernel",
    "overload_generic",
    "part",
    "uniform",
]
