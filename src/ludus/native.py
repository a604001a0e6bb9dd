"""Rules at native speed: the generic functions of `ludus.rules` inside Numba-compiled code.

Three things happen here, and a game's author need not know of any of them:

* The Numba type of a game's rules is made from the class and a digest of the source that defines it. Compiled code is
  cached on disk by the types of its arguments, so an edit of the source changes the type and the stale code is never found.
* The plain functions of a game file are compiled in a copy of their module's names, in which every plain function is
  compiled too: helpers need no decorator, and the module itself stays ordinary Python.
* Each generic function is an overload that hands over to the compiled function of the game its first argument is of.
"""

import hashlib
import sys
import time
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import event
from numba.core.datamodel import models
from numba.extending import overload, register_model, typeof_impl

from ludus import chance, rules, stepping
from ludus.errors import Unsuitable

PACKAGE = Path(__file__).parent
OPTIONS = {"error_model": "numpy", "nogil": True}


def kernel(function: Any = None, **options: Any) -> Any:
    """Compile a function of the engine on first use, cached on disk, without holding the interpreter's lock."""
    if function is None:
        return lambda plain: kernel(plain, **options)
    return numba.njit(function, cache=True, **OPTIONS, **options)


# --- The Numba type of a game's rules ---------------------------------------------------------------------------------


class RulesType(types.NamedTuple):
    """A named tuple type that is equal to another only if class, field types and digest of the source are."""

    def __init__(self, field_types: tuple[Any, ...], rules_class: type, digest: str):
        super().__init__(field_types, rules_class)
        self.digest = digest
        self.name = f"{rules_class.__module__}.{self.name}#{digest}"

    @property
    def key(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        # By name, not by class: one index file of Numba's cache lists the types of every game ever compiled on
        # this machine, and most of their modules are not loaded, or no longer exist.
        cls = self.instance_class
        return _restore_type, (self.types, cls.__module__, cls.__qualname__, self.digest)


class AbsentRulesType(types.Opaque):
    """Stands for the rules of a game, or a version of it, that this process has not loaded; equal to no RulesType."""


def _restore_type(field_types: Any, module: str, name: str, digest: str) -> Any:
    for rules_class, known in _digests.items():
        if (rules_class.__module__, rules_class.__qualname__, known) == (module, name, digest):
            return RulesType(field_types, rules_class, digest)
    return AbsentRulesType(f"absent {module}.{name}#{digest} {field_types}")


register_model(RulesType)(models.TupleModel)

_digests: dict[type, str] = {}
_compiled: dict[type, dict[str, Any]] = {}


def enable(rules_class: type, **options: Any) -> None:
    """Make instances of `rules_class` usable in compiled code; further calls do nothing."""
    if rules_class in _digests:
        return
    namespace = rules.namespace_of(rules_class)
    files = _source_files(namespace)
    digest = hashlib.sha256(repr(sorted(options.items())).encode())
    for file in sorted(files | _engine_files()):
        digest.update(Path(file).read_bytes())
    _digests[rules_class] = digest.hexdigest()[:16]
    _compiled[rules_class] = _compile_namespace(namespace, files, {**OPTIONS, **options}, {})

    @typeof_impl.register(rules_class)
    def typeof_rules(value: Any, context: Any) -> RulesType:
        return RulesType(tuple(numba.typeof(field) for field in value), rules_class, _digests[rules_class])


def bounds_checked(value: Any) -> Any:
    """The same rules as an instance of a twin class, whose functions raise IndexError where they leave an array."""
    twin = _twins.get(type(value))
    if twin is None:
        twin = _twins[type(value)] = type(f"BoundsChecked{type(value).__name__}", (type(value),), {})
        twin.__module__ = type(value).__module__
        rules.register(twin, rules.namespace_of(type(value)))
        enable(twin, boundscheck=True)
    return twin(*value)


_twins: dict[type, type] = {}


def _engine_files() -> set[str]:
    """Numba's cache of a function does not notice an edit of another file that it calls into; the digest does."""
    return {str(file) for file in [*PACKAGE.glob("*.py"), *(PACKAGE / "search").glob("*.py")]}


def _source_files(namespace: dict[str, Any]) -> set[str]:
    """The game's own file and those of its helpers: of Ludus, or from the game's own folder."""
    files: set[str] = set()
    pending = [namespace]
    while pending:
        names = pending.pop()
        file = names.get("__file__")
        if file is None or file in files:
            continue
        files.add(file)
        for value in list(names.values()):
            module = value if isinstance(value, ModuleType) else sys.modules.get(getattr(value, "__module__", None) or "")
            source = getattr(module, "__file__", None)
            if module and source and (PACKAGE in Path(source).parents or Path(source).parent == Path(file).parent):
                pending.append(module.__dict__)
    return files


def _compile_namespace(
    names: dict[str, Any], files: set[str], options: dict[str, Any], made: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """A copy of a module's names with every plain function of the `files` compiled, helpers from other files included."""
    if names["__name__"] in made:
        return made[names["__name__"]]
    space = made[names["__name__"]] = dict(names)
    for name, value in names.items():
        if not isinstance(value, FunctionType) or value is rules.GENERIC.get(value.__name__):
            continue
        if value.__code__.co_filename not in files:
            continue
        if value.__globals__ is names:
            plain = FunctionType(value.__code__, space, value.__name__, value.__defaults__, value.__closure__)
            plain.__qualname__, plain.__module__ = value.__qualname__, value.__module__
            space[name] = numba.njit(plain, **options)
        else:
            home = _compile_namespace(value.__globals__, files, options, made)
            space[name] = home.get(value.__name__, value)
    return space


# --- The generic functions in compiled code ---------------------------------------------------------------------------


def compiled(function: Any) -> Any:
    """A plain function of Ludus (such as chance.below) for use inside kernels."""
    return numba.njit(function, **OPTIONS)


def _no_heuristic(rules, state, player):
    return 0.0


def _no_play_together(rules, state, actions):
    pass


_DEFAULTS = {"heuristic": _no_heuristic, "play_together": _no_play_together}


def find(first: Any, name: str, *others: Any) -> Any:
    """The compiled function `name` for the class of rules that the Numba type `first` stands for, or None."""
    if not isinstance(first, RulesType):
        return None
    if rules.implementation(first.instance_class, name) is not None:
        return _compiled[first.instance_class][name]
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


_chance = _compile_namespace(chance.__dict__, {chance.__file__}, OPTIONS, {})
below, uniform = _chance["below"], _chance["uniform"]
STEPPING = {"look": kernel(stepping.look), "step": kernel(stepping.step)}


# --- Saying so --------------------------------------------------------------------------------------------------------


class _Announcer(event.Listener):
    """Tells on standard error that something is being compiled, if it takes more than a moment."""

    def __init__(self) -> None:
        self.depth = self.functions = 0
        self.began = 0.0
        self.status: Any = None

    def on_start(self, started: Any) -> None:
        self.depth += 1
        self.functions += 1
        if self.depth == 1:
            self.began, self.functions = time.perf_counter(), 1
            named = [kind for kind in started.data["args"] if isinstance(kind, RulesType)]
            self.what = named[0].instance_class.__name__ if named else "the engine"
        elif self.status is None and time.perf_counter() - self.began > 0.4:
            from rich.console import Console

            console = Console(stderr=True)
            if console.is_terminal:
                self.status = console.status(self.text())
                self.status.start()
            else:
                self.status = False
                console.print(f"Compiling {self.what} for this machine, once ...", highlight=False)
        elif self.status:
            self.status.update(self.text())

    def text(self) -> str:
        spent = time.perf_counter() - self.began
        return f"Compiling {self.what} for this machine, once: {self.functions} functions, {spent:.0f} s"

    def on_end(self, ended: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self.status is not None:
            if self.status:
                self.status.stop()
            self.status = None


event.register("numba:compile", _Announcer())
