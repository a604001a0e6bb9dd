"""The Numba types of rules: made from the class and a digest of the source, so that compiled code is never stale."""

import importlib
import itertools
import threading
from typing import Any

import numba
from numba.extending import register_model, typeof_impl

from ludus import rules
from ludus.errors import Unsuitable
from ludus.native.bundles import BundleModel, BundleType
from ludus.native.digests import digest_of_namespace, home_of, source_homes
from ludus.native.internals import WITH_RUNTIME, WITHOUT_RUNTIME
from ludus.native.kernels import INNER
from ludus.native.modules import compile_namespace


class RulesType(BundleType):
    """The type of a game's rules: equal to another only if class, field types and digest of the source are."""

    def __init__(self, field_types: tuple[Any, ...], instance_class: Any, digest: str):
        super().__init__(field_types, instance_class, digest, _home_of(instance_class))

    def __reduce__(self) -> Any:
        # By name: a class from a user's file cannot be imported.
        cls = self.instance_class
        return _restore, (self.types, _home_of(cls), cls.__qualname__, self.digest)


register_model(RulesType)(BundleModel)


def _home_of(rules_class: type) -> str:
    """The name of the class's module; of a user's file without the digest of its content (see home_of)."""
    return home_of(rules.namespace_of(rules_class))


def _restore(field_types: Any, home: str, name: str, digest: str) -> RulesType:
    for rules_class, known in tuple(_digests.items()):
        if (_home_of(rules_class), rules_class.__qualname__, known) == (home, name, digest):
            return RulesType(field_types, rules_class, digest)
    raise LookupError(f"this process has not enabled {home}.{name} with digest {digest}")


_digests: dict[type, str] = {}
_functions: dict[tuple[type, bool], dict[str, Any]] = {}
"""The compiled names of each class of rules, with Numba's runtime (True) and without it (False)."""
_twins: dict[type, type] = {}
_enabling = threading.RLock()
_serial = itertools.count(1)


def enable(rules_class: type, **options: Any) -> None:
    """Make instances of `rules_class` usable in compiled code; further calls do nothing."""
    if rules_class in _digests:
        return
    with _enabling:
        if rules_class not in _digests:
            _enable(rules_class, options)


def _enable(rules_class: type, options: dict[str, Any]) -> None:
    namespace = rules.namespace_of(rules_class)
    homes = source_homes(namespace)
    if not homes:
        raise Unsuitable(f"the rules {rules_class.__qualname__} can be compiled only if they are defined in a file")
    if "NATIVE" in namespace:  # the name of a module with what these rules need only in compiled code
        needed = importlib.import_module(namespace["NATIVE"])
        homes |= source_homes(needed.__dict__)
    digest = digest_of_namespace(namespace, homes, options)
    _give_own_name(rules_class)
    for runtime in (False, True):
        chosen = WITH_RUNTIME if runtime else WITHOUT_RUNTIME
        each = {**INNER, "forceinline": True, **options, **chosen}  # not as the first caller has it: all share one
        _functions[rules_class, runtime] = compile_namespace(namespace, set(homes), each, digest)

    @typeof_impl.register(rules_class)
    def typeof_rules(value: Any, context: Any) -> RulesType:
        return RulesType(tuple(numba.typeof(field) for field in value), rules_class, digest)

    _digests[rules_class] = digest  # last: from here on other threads use the class without the lock


def enabled_classes() -> list[type]:
    """The classes of rules that compiled code can use, in the order in which they were enabled."""
    return list(_digests)


def compiled_function(rules_class: type, name: str, runtime: bool) -> Any:
    """The compiled function `name` of an enabled class of rules, with or without Numba's runtime."""
    return _functions[rules_class, runtime][name]


def bounds_checked(value: Any) -> Any:
    """The same rules as an instance of a twin class, whose functions raise IndexError where they leave an array."""
    with _enabling:
        twin = _twins.get(type(value))
        if twin is None:
            twin = type(f"BoundsChecked{type(value).__qualname__}", (type(value),), {})
            twin.__module__ = type(value).__module__
            rules.register(twin, rules.namespace_of(type(value)))
            enable(twin, boundscheck=True)
            _twins[type(value)] = twin
    return twin(*value)


def _give_own_name(rules_class: type) -> None:
    """Give the class a name that no other class in this process ever had.

    Numba's dispatcher tells named tuples apart by the bare name of their class, their fields and the fields' types, and
    remembers the type it found. So two files that each define `class Rules(NamedTuple)`, two versions of one file, or
    one class before and after it was enabled, would run each other's code.
    """
    rules_class.__name__ = f"{rules_class.__name__}_{next(_serial)}"
