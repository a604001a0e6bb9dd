"""Strongly connected components of a graph: what depends on itself, and in which order the rest can be evaluated."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def strongly_connected(graph: Mapping[Node, Iterable[Node]]) -> list[list[Node]]:
    """The components of a graph, each after those that it leads to (Tarjan, without recursion).

    `graph` has the successors of each node; successors that are not nodes themselves are ignored.
    """
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    done: set[Node] = set()
    stack: list[Node] = []
    found: list[list[Node]] = []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        while work:
            node, successors = work[-1]
            for after in successors:
                if after not in graph:
                    continue
                if after not in index:
                    index[after] = low[after] = len(index)
                    stack.append(after)
                    work.append((after, iter(graph[after])))
                    break
                if after not in done:
                    low[node] = min(low[node], index[after])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component: list[Node] = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                    done.update(component)
                    found.append(component)
    return found


def component_of(graph: Mapping[Node, Iterable[Node]]) -> dict[Node, int]:
    """The number of the component of each node."""
    return {node: number for number, members in enumerate(strongly_connected(graph)) for node in members}
