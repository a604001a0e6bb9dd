"""The game of docs/writing-a-game.md, with the drawing of docs/board.md or without it."""

import re
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
IMPORTED = "from ludus import Game\n"


def write_chomp(folder: Path, drawn: bool = True) -> Path:
    """Write chomp.py into a folder."""
    guide, board = (DOCS / "writing-a-game.md").read_text(), (DOCS / "board.md").read_text()
    rules, functions, game, *others = re.findall(r"<!-- file: chomp.py -->\n```python\n(.*?)```", guide, re.DOTALL)
    drawing = re.findall(r"<!-- drawing -->\n```python\n(.*?)```", board, re.DOTALL)
    if drawn:
        imports = "from dataclasses import replace\nfrom ludus.board import Board, Piece, grid\n"
        rules = rules.replace(IMPORTED, f"{IMPORTED}{imports}")
        game = "\n".join([game, *drawing])
    path = folder / "chomp.py"
    path.write_text("\n\n".join([rules, functions, game, *others]))
    return path
