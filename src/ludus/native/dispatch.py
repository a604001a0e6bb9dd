"""The generic functions of ludus.rules in compiled code.

A call of one becomes a call of the compiled function of the game whose rules are its first argument.
"""

from functools import cache
from pathlib import Path
from typing import Any

from numba import types
from numba.extending import lower_builtin, type_callable

from ludus import rules
from ludus.native.digests import PACKAGE
from ludus.native.internals import allocates, compile_for, located
from ludus.native.kernels import compiled
from ludus.native.state_hash import hash_of_state
from ludus.native.types import RulesType, compiled_function


def _no_heuristic(rules, state, player):
    return 0.0


def _no_play(rules, state, action):
    pass


def _no_play_together(rules, state, actions):
    pass


def _no_playout(rules, state, random, values):
    return False


def _no_cut_off(rules, state, plies, values):
    return False


_DEFAULTS = {
    "cut_off": _no_cut_off,
    "heuristic": _no_heuristic,
    "play": _no_play,
    "play_together": _no_play_together,
    "playout": _no_playout,
}


@cache
def find(first: Any, name: str, *others: Any) -> Any:
    """The compiled function `name` for the rules of Numba type `first`, or None; `others`: types of its arguments."""
    if not isinstance(first, RulesType):
        return None
    if rules.implementation(first.instance_class, name) is not None:
        return compiled_function(first.instance_class, name, runtime=not _is_lean(first, name, others))
    if name == "fingerprint":
        return compiled(hash_of_state(others[0]))
    return compiled(_DEFAULTS[name]) if name in _DEFAULTS else None


def _is_lean(first: RulesType, name: str, others: tuple[Any, ...]) -> bool:
    """True if this function of a game does without Numba's runtime (see OPTIONS in kernels.py)."""
    namespace = rules.namespace_of(first.instance_class)
    if PACKAGE / "search" in Path(namespace["__file__"]).parents:
        return True  # selection rules
    if namespace.get("LEAN", False):
        return True  # the game says so; to find out, all that it calls would be compiled twice
    arguments = (first, *map(types.unliteral, others))
    # With the runtime first: a function that fails without it, such as np.zeros, Numba would remember as failed.
    with_runtime, without = (compiled_function(first.instance_class, name, runtime) for runtime in (True, False))
    try:
        if allocates(compile_for(with_runtime, arguments)):
            return False
        compile_for(without, arguments)
    except Exception:
        return False  # and what an author reads is not about the runtime, and names the line
    return True


def _widened(kind: Any) -> Any:
    """One type for all whole numbers, so that a function is compiled only once for players and actions of any size."""
    return types.intp if isinstance(kind, types.Integer) else types.unliteral(kind)


def overload_generic(name: str, parameters: str) -> None:
    """Let compiled code call the generic function `name`.

    A call becomes a call of the game's function. Numba's `overload` would compile a function in between, once more for
    each set of options of its callers.
    """

    def call(context: Any, *arguments: Any) -> Any:
        """The game's function as an object of Numba and the call's signature; None if the game has none."""
        target = find(arguments[0], name, *arguments[1:])
        if target is None:
            return None
        dispatcher = types.Dispatcher(target)
        try:
            return dispatcher, dispatcher.get_call_type(context, tuple(map(_widened, arguments)), {})
        except Exception as error:
            raise located(error) from error

    def return_type(context: Any, *arguments: Any) -> Any:
        found = call(context, *arguments)
        return None if found is None else found[1].return_type

    @lower_builtin(rules.GENERIC[name], types.VarArg(types.Any))
    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        dispatcher, wanted = call(context.typing_context, *signature.args)
        function = context.get_function(dispatcher, wanted)
        context.add_linking_libs(getattr(function, "libs", ()))
        given = zip(values, signature.args, wanted.args, strict=True)
        return function(builder, [context.cast(builder, *each) for each in given])

    made: dict[str, Any] = {"return_type": return_type}
    exec(f"def typed(context):\n    return lambda {parameters}: return_type(context, {parameters})\n", made)
    type_callable(rules.GENERIC[name])(made["typed"])


for _name, _parameters in rules.SIGNATURES.items():
    overload_generic(_name, _parameters)
