"""Who plays: agents by name, each a file."""

from ludus.agents.agent import Agent, Choice, Progress
from ludus.agents.budget import Budget
from ludus.agents.naming import KINDS, make_agent

__all__ = ["KINDS", "Agent", "Budget", "Choice", "Progress", "make_agent"]
