"""Agents, by name: each kind is a module with a function `make`."""

from ludus.agents.agent import Agent, Choice, Progress
from ludus.agents.budget import Budget
from ludus.agents.naming import KINDS, make_agent
from ludus.agents.search import SearchAgent, Thinking, think
from ludus.agents.snapshot import Snapshot

__all__ = [
    "KINDS",
    "Agent",
    "Budget",
    "Choice",
    "Progress",
    "SearchAgent",
    "Snapshot",
    "Thinking",
    "make_agent",
    "think",
]
