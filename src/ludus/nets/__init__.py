"""What is learned: networks, and engines that run them.

A network sees a position as one player does and gives a logit for every action and a value for the players:

    forward(planes [K, *observation]) -> policy [K, heads, actions], values [K, outputs]

`heads` is 1, or one for each seat where the players' parts in the game differ (`roles`) or, free of sizes, where they
see their actions at different places. `outputs` is 1 where two rivals play (the viewer's value; the other's is its
negative), else one for each player, counted from the viewer on. A network over graphs has another way in and the same
way out (see graph.py).
"""

from ludus.nets.network import Network, Sizes, make_network, sizes_of

__all__ = ["Network", "Sizes", "make_network", "sizes_of"]
