"""Selection rules: the formulas that choose edges during a search, and the move at the root after it.

A selection rule is one file: a NamedTuple of its constants, and four functions that are dispatched on its class, as
the functions of a game are. Each function reads one player's block of `count` >= 1 edges, beginning with edge `first`,
at `node` of `tree`:

    select(rule, trees, tree, node, first, count, player)
        returns the edge to follow during a simulation
    decide(rule, trees, tree, node, first, count, player)
        returns the edge to play at the root after the search
    target_policy(rule, trees, tree, node, first, count, player, policy)
        writes the policy to learn from into policy [count]; it sums to 1
    explain(rule, trees, tree, node, first, count, player, q, u)
        writes the two terms of each edge's score into q [count] and u [count], float64: `select` returns an edge with
        the highest q + u. q is the value that the rule assumes for the edge; u is the exploration term, -inf for an
        edge that cannot be chosen. Where players move at once, the noise that `select` draws each time is left out.
        It serves displays of a tree, and runs in plain Python only

Three constants of the file tell the forest what the rule needs; all are False unless the file sets them:

    DRAWS_GUMBEL_NOISE    the forest draws Gumbel noise for the root's moves before each search
    IN_TURN_ONLY          the rule cannot be used where players move at once
    HAS_SPECIAL_ROOT      the rule treats the root unlike other nodes, so a subtree cannot be searched by itself
"""

from typing import Any

from ludus.native import overload_generic
from ludus.rules import generic, namespace_of

BLOCK = "rule, trees, tree, node, first, count, player"

select = generic("select", BLOCK)
decide = generic("decide", BLOCK)
target_policy = generic("target_policy", BLOCK + ", policy")
explain = generic("explain", BLOCK + ", q, u")

overload_generic("select", BLOCK)
overload_generic("decide", BLOCK)
overload_generic("target_policy", BLOCK + ", policy")


def draws_gumbel_noise(rule: Any) -> bool:
    """True if the rule wants Gumbel noise for the root's moves."""
    return namespace_of(type(rule)).get("DRAWS_GUMBEL_NOISE", False)


def is_in_turn_only(rule: Any) -> bool:
    """True if the rule cannot be used where players move at once."""
    return namespace_of(type(rule)).get("IN_TURN_ONLY", False)


def has_special_root(rule: Any) -> bool:
    """True if the rule treats the root unlike other nodes."""
    return namespace_of(type(rule)).get("HAS_SPECIAL_ROOT", False)
