"""How a search picks its way, and what it concludes. A selection rule is one file of three functions.

Beside a NamedTuple of its constants it defines the functions below. They are dispatched like those of a game, on the
class of their first argument, so a new rule is a new file and no change here. Each looks at one player's block of
`count` >= 1 edges from `first` on, at `node` of `tree`.

    choose(rule, trees, tree, node, first, count, player)        the edge to follow
    decide(rule, trees, tree, node, first, count, player)        at the root, after the search: the edge to play
    weigh(rule, trees, tree, node, first, count, player, policy) and a policy [count] to learn from, which sums to 1
"""

from ludus.native import overload_generic
from ludus.rules import generic

BLOCK = "rule, trees, tree, node, first, count, player"

choose = generic("choose", BLOCK)
decide = generic("decide", BLOCK)
weigh = generic("weigh", BLOCK + ", policy")

overload_generic("choose", BLOCK)
overload_generic("decide", BLOCK)
overload_generic("weigh", BLOCK + ", policy")
