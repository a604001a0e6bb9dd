"""More than one machine: actors on the nodes of a Ray cluster. Self-play and the arena use it.

connection  connects to a Ray cluster, or starts one on this machine
placement   which actors run on which node; pure functions
fleet       keeps the actors: starts them on new nodes, replaces the dead, hands out work and collects results
parcel      games and players as bytes, for nodes that do not have their files
events      what happens to nodes and actors

Ray is an optional package, imported when it is first needed. docs/cluster.md is the user's page.
"""
