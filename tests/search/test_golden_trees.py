"""Whole search trees, recorded: any change in what the search does shows here, node by node.

After a change that is meant, record them anew: python -m tests.search.test_golden_trees
"""

import zlib
from pathlib import Path

import pytest

import ludus
from ludus.rules import EVERYONE
from ludus.search.forest import Forest
from ludus.search.gumbel import gumbel
from ludus.search.puct import Puct
from ludus.search.ucb1 import Ucb1

FOLDER = Path(__file__).parent / "golden"


class Opinions:
    """An evaluator with some opinion on everything, the same on every machine."""

    def evaluate(self, batch):
        for row, state in enumerate(batch.states):
            word = zlib.crc32(state.tobytes())
            for i in range(batch.counts[row].sum()):
                batch.logits[row, i] = (word >> i) % 8 / 4
            batch.values[row, :2] = word % 1000 / 1000 - 0.5, 0.5 - word % 1000 / 1000


CASES = {
    "tictactoe-ucb1": ("tictactoe", {}, "3/1x1/2o", Ucb1(), None, 150, {}),
    "tictactoe-ucb1-transpositions": ("tictactoe", {}, "xo1/1x1/2o", Ucb1(), None, 150, {"transpositions": True}),
    "tictactoe-puct-batch": ("tictactoe", {}, "3/1x1/2o", Puct(), Opinions(), 60, {"batch": 3}),
    "connect4-puct": ("connect4", {}, "7/7/7/7/2oo3/2xx3", Puct(), Opinions(), 60, {}),
    "connect4-gumbel": ("connect4", {}, "7/7/7/7/2o4/2xx3", gumbel(40, considered=4), Opinions(), 40, {}),
    "laststone-ucb1": ("laststone", {"stones": 6}, None, Ucb1(), None, 60, {}),
    "roshambo-ucb1": ("roshambo", {"rounds": 2}, None, Ucb1(), None, 40, {}),
}


def grow(case: str) -> str:
    name, options, text, rule, evaluator, simulations, settings = CASES[case]
    game = ludus.make(name, **options)
    forest = Forest(game, rule, nodes=500, seed=1, **settings)
    position = game.start() if text is None else game.parse(text)
    forest.plant(position)
    forest.search(evaluator, simulations=simulations)
    return draw(forest, position)


def draw(forest: Forest, position: ludus.Position) -> str:
    """The tree as an outline: moves with visits, mean value and prior, and what is solved."""
    trees = forest.trees
    lines = []

    def visit(index: int, here: ludus.Position, depth: int) -> None:
        node = trees.nodes[index]
        exact = f" solved {node['value'][: forest.game.players].tolist()}" if node["solved"] else ""
        lines.append(f"{'  ' * depth}{here.text} visits {node['visits']}{exact}")
        if node["first"] < 0:
            return
        begin = int(node["first"])
        for block, count in enumerate(node["counts"].tolist()):
            player = block if node["mover"] == EVERYONE else int(node["mover"])
            for edge in trees.edges[begin : begin + count]:
                mean = edge["total"] / edge["visits"] if edge["visits"] else 0.0
                move = forest.game.write_move(here.state, player, int(edge["action"]))
                lines.append(f"{'  ' * depth}- {move}: {edge['visits']} x {mean:.4f}, prior {edge['prior']:.4f}")
                if edge["child"] >= 0 and edge["visits"] > 2:
                    visit(int(edge["child"]), here.play(int(edge["action"])), depth + 1)
            begin += count

    visit(int(trees.root[0]), position, 0)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("case", CASES)
def test_the_tree_is_as_recorded(case):
    assert grow(case) == (FOLDER / f"{case}.txt").read_text()


if __name__ == "__main__":
    for case in CASES:
        (FOLDER / f"{case}.txt").write_text(grow(case))
        print("recorded", case)
