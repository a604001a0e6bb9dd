"""Agents outside Ludus: programs that speak a protocol, players over HTTP, bots of OpenSpiel.

The arena gives each of them a process of its own, which is the leader of a process group. The program that an agent
starts belongs to this group, so that it ends with the agent. docs/engines.md describes them for users.
"""
