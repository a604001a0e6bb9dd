"""Connect-4 positions with exact scores of every move, to grade players: python -m benchmarks.connect4_positions

Positions are from random play, without duplicates, in the classes that other projects report: up to 14 stones, 15 to
28, more; and fewer than 14 plies to the end under perfect play, 14 to 27, 28 or more. BitBully must be installed. The
result is benchmarks/data/connect4.txt, with 500 positions of each class. A line holds the class, the columns played,
and the score of each column (- if it is full).
"""

import contextlib
import random
from pathlib import Path

with contextlib.suppress(ImportError):  # reading the file does not need it
    import bitbully

FILE = Path(__file__).parent / "data" / "connect4.txt"
CLASSES = ("begin-easy", "begin-medium", "begin-hard", "middle-easy", "middle-medium", "end-easy")
EACH = 500


def remaining(stones: int, score: int) -> int:
    """Plies to the end under perfect play; score: 22 less the winner's number of stones, negative for a loss."""
    if score == 0:
        return 42 - stones
    winner_is_mover = score > 0
    number = 22 - abs(score)
    first_wins = winner_is_mover == (stones % 2 == 0)
    return (2 * number - 1 if first_wins else 2 * number) - stones


def class_of(stones: int, score: int) -> str:
    phase = "begin" if stones <= 14 else "middle" if stones <= 28 else "end"
    plies = remaining(stones, score)
    return f"{phase}-{'easy' if plies < 14 else 'medium' if plies < 28 else 'hard'}"


def random_position(choose: random.Random, stones: int) -> list[int] | None:
    """The columns of a random game of this number of stones; None if it ends by then."""
    board, columns = bitbully.Board(), []
    for _ in range(stones):
        column = choose.choice([column for column in range(7) if board.is_legal_move(column)])
        board.play(column)
        columns.append(column)
        if board.has_win():
            return None
    return columns


def main() -> None:
    choose = random.Random(4)
    solver = bitbully.BitBully()
    found: dict[str, list[str]] = {name: [] for name in CLASSES}
    seen = set()
    while any(len(lines) < EACH for lines in found.values()):
        wanted = choose.choice([name for name in CLASSES if len(found[name]) < EACH])
        low, high = {"begin": (2, 14), "middle": (15, 28), "end": (29, 40)}[wanted.split("-")[0]]
        columns = random_position(choose, choose.randint(low, high))
        if columns is None:
            continue
        board = bitbully.Board()
        for column in columns:
            board.play(column)
        key = str(board)
        scores = solver.score_all_moves(board)
        if key in seen or not scores:
            continue
        seen.add(key)
        name = class_of(len(columns), max(scores.values()))
        if name in found and len(found[name]) < EACH:
            told = ",".join(str(scores[column]) if column in scores else "-" for column in range(7))
            found[name].append(f"{name} {''.join(map(str, columns))} {told}")
            if sum(map(len, found.values())) % 100 == 0:
                print({name: len(lines) for name, lines in found.items()}, flush=True)
    FILE.write_text("\n".join(line for name in CLASSES for line in found[name]) + "\n")


if __name__ == "__main__":
    main()
