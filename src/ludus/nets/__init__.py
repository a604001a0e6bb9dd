"""Networks, and the engines that run them.

A network over planes sees a position as one player does. It gives a logit for every action and a value for the players:

    forward(planes [K, *observation]) -> policy [K, heads, actions], values [K, outputs]

`heads` is 1, or the number of players where each seat has its own policy. `outputs` is 1 in two-player zero-sum games
(the observer's value), else the number of players (their values, from the observer on). A graph network takes graphs
instead of planes, and gives one logit for each legal move (see graph.py).

families.py lists the kinds of networks, engines.py the engines. A network and an engine make an evaluator
(evaluator.py), which is what a search uses.
"""
