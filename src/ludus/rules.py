"""The generic functions of a game, dispatched on the class of `rules`.

A game is a NamedTuple class (its *rules*: board size, variant), a state (a NumPy record, or a plain row of integers)
and plain functions with the names below, all in one file. Generic code calls `legal(rules, state, ...)` and gets
that game's `legal`: here by `type(rules)` when the code runs as plain Python, and in `ludus.native` by the Numba type
of `rules` when it is compiled. Nothing in this file needs Numba.

Required of every game:

    reset(rules, state, random)              write the initial position; `random` is an rng (see ludus.rng)
    to_move(rules, state)                    the player to move, from 0, or EVERYONE where all players move at once
    legal(rules, state, player, actions)     write that player's legal action ids into `actions`, return their number
    outcome(rules, state, values)            is the game over? then write every player's value, in [-1, 1]

Where the game has positions in which one player moves:

    play(rules, state, action)               make the move of the player to move

Where the game has positions in which everyone moves (a player without a choice there gives action -1):

    play_together(rules, state, actions)     make the moves of all players at once, one action for each

Optional:

    observe(rules, state, player, planes)    write a network's input from that player's view; `planes` is zeroed
    symmetry(rules, state, which, image, actions, count)
                                             write into `image` the position under symmetry number `which`, and replace
                                             the first `count` ids in `actions` by their images; 0 is the identity
    graph(rules, state, player, actions, count, features, edges, sizes)
                                             write the position as a graph: a row of `features` for every node, a row
                                             (relation, from, to) of `edges` for every edge, and the two numbers into
                                             `sizes`. The last `count` nodes are the moves, in the order of `actions`
    groups(rules, state, player, planes, ids)
                                             write a network's input as that player sees it: `planes` [planes, rows,
                                             columns], zeroed, and into `ids` [groupings, rows, columns] the group of
                                             each cell in each grouping, from 0; it holds -1, which means no group
    touches(rules, state, player, action, roles, cells)
                                             write the role of each cell that a move touches into `roles`, and its index
                                             (row * columns + column) into `cells`; return the kind of the move and the
                                             number of cells
    heuristic(rules, state, player)          an estimate of that player's value, in [-1, 1]
    playout(rules, state, random, values)    play random moves to the end, every legal move equally likely, write the
                                             result and return True, or return False to have the moves made one by
                                             one; `state` is scratch. For games that do it faster than move by move
    cut_off(rules, state, plies, values)     asked in a playout before each random move, after `plies` of them: write an
                                             estimate of the result and return True to end the playout, or return False
                                             to go on. For games that random moves seldom end
    fingerprint(rules, state)                64 bits, equal only for positions with the same future; without it the
                                             bytes of the state are hashed
"""

from types import FunctionType
from typing import Any

EVERYONE = -1
"""The result of `to_move` where all players move at once."""

SIGNATURES = {
    "reset": "rules, state, random",
    "to_move": "rules, state",
    "legal": "rules, state, player, actions",
    "play": "rules, state, action",
    "play_together": "rules, state, actions",
    "outcome": "rules, state, values",
    "observe": "rules, state, player, planes",
    "symmetry": "rules, state, which, image, actions, count",
    "graph": "rules, state, player, actions, count, features, edges, sizes",
    "groups": "rules, state, player, planes, ids",
    "touches": "rules, state, player, action, roles, cells",
    "heuristic": "rules, state, player",
    "playout": "rules, state, random, values",
    "cut_off": "rules, state, plies, values",
    "fingerprint": "rules, state",
}
REQUIRED = ("reset", "to_move", "legal", "outcome")
"""The functions that every game has. A game also has `play` or `play_together`, or both."""

_namespaces: dict[type, dict[str, Any]] = {}


def register(rules_class: type, namespace: dict[str, Any]) -> None:
    """Register the functions for `rules_class`: a module's `__dict__`, or any dictionary from names to functions."""
    _namespaces[rules_class] = namespace


def namespace_of(rules_class: type) -> dict[str, Any]:
    """The dictionary of names that `rules_class` was registered with."""
    try:
        return _namespaces[rules_class]
    except KeyError:
        raise TypeError(f"{rules_class.__name__} is not the rules of a game: no Game class names it") from None


def implementation(rules_class: type, name: str) -> FunctionType | None:
    """The game's own function of that name, or None if it has none."""
    function = namespace_of(rules_class).get(name)
    # A game file may import the generic function itself; that is not an implementation.
    return function if isinstance(function, FunctionType) and function is not GENERIC.get(name) else None


def generic(name: str, parameters: str) -> FunctionType:
    """A function that calls the implementation for the class of its first argument."""
    made: dict[str, Any] = {"implementation": implementation}
    first = parameters.split(",")[0]
    exec(
        f"def {name}({parameters}):\n"
        f"    function = implementation(type({first}), {name!r})\n"
        f"    if function is None:\n"
        f"        raise TypeError(type({first}).__name__ + ' has no function {name}({parameters})')\n"
        f"    return function({parameters})\n",
        made,
    )
    made[name].__doc__ = f"Call `{name}` of the game (or selection rule) of the first argument."
    made[name].__module__ = __name__
    GENERIC[name] = made[name]
    return made[name]


GENERIC: dict[str, FunctionType] = {}
reset = generic("reset", SIGNATURES["reset"])
to_move = generic("to_move", SIGNATURES["to_move"])
legal = generic("legal", SIGNATURES["legal"])
play = generic("play", SIGNATURES["play"])
play_together = generic("play_together", SIGNATURES["play_together"])
outcome = generic("outcome", SIGNATURES["outcome"])
observe = generic("observe", SIGNATURES["observe"])
symmetry = generic("symmetry", SIGNATURES["symmetry"])
graph = generic("graph", SIGNATURES["graph"])
groups = generic("groups", SIGNATURES["groups"])
touches = generic("touches", SIGNATURES["touches"])
heuristic = generic("heuristic", SIGNATURES["heuristic"])
playout = generic("playout", SIGNATURES["playout"])
cut_off = generic("cut_off", SIGNATURES["cut_off"])
fingerprint = generic("fingerprint", SIGNATURES["fingerprint"])
