"""Cachex once more, as the rules are told: a dictionary of stones, and diamonds from their definition."""

from collections import Counter
from itertools import combinations


class Naive:
    def __init__(self, n: int, steal: bool = True, turns: int = 343):
        self.n, self.steal, self.turns = n, steal, turns
        self.stones: dict[tuple[int, int], str] = {}
        self.turn = 0
        self.result = ""
        """red, blue or draw, once the game is over."""
        self.history = Counter([frozenset()])
        cells = [(r, q) for r in range(n) for q in range(n)]
        steps = ((1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1))
        self.touching = {
            (r, q): {(r + dr, q + dq) for dr, dq in steps if 0 <= r + dr < n and 0 <= q + dq < n} for r, q in cells
        }
        self.diamonds = []
        """Each as two pairs of opposite corners."""
        for one, other in combinations(cells, 2):
            both = self.touching[one] & self.touching[other]
            if other in self.touching[one] and len(both) == 2:
                self.diamonds.append(({one, other}, both))

    @property
    def mover(self) -> str:
        return ("red", "blue")[self.turn % 2]

    def moves(self) -> list[str]:
        if self.result:
            return []
        free = [cell for cell in self.touching if cell not in self.stones]
        if self.turn == 0:
            free = [(r, q) for r, q in free if not 2 * r == 2 * q == self.n - 1]
        return [f"{r},{q}" for r, q in free] + (["steal"] if self.turn == 1 and self.steal else [])

    def play(self, move: str) -> None:
        assert move in self.moves()
        me, them = self.mover, ("blue", "red")[self.turn % 2]
        self.turn += 1
        if move == "steal":
            ((r, q),) = self.stones
            self.stones = {(q, r): "blue"}
            cell = (q, r)
        else:
            r, q = move.split(",")
            cell = (int(r), int(q))
            self.stones[cell] = me
            taken = set()
            for pairs in self.diamonds:
                for own, others in (pairs, pairs[::-1]):
                    colours = [{self.stones.get(at) for at in corners} for corners in (own, others)]
                    if cell in own and colours == [{me}, {them}]:
                        taken |= others
            for at in taken:
                del self.stones[at]
        board = frozenset(self.stones.items())
        self.history[board] += 1
        if self.connected(cell):
            self.result = me
        elif self.history[board] == 7 or self.turn == self.turns:
            self.result = "draw"

    def connected(self, cell: tuple[int, int]) -> bool:
        colour = self.stones[cell]
        reached, pending = {cell}, [cell]
        while pending:
            for at in self.touching[pending.pop()]:
                if self.stones.get(at) == colour and at not in reached:
                    reached.add(at)
                    pending.append(at)
        along = {at[0] if colour == "red" else at[1] for at in reached}
        return {0, self.n - 1} <= along

    def still_needed(self, colour: str) -> int:
        """The fewest stones with which a colour would have connected; n * n where there is no way. Bellman and Ford."""
        axis, far = 0 if colour == "red" else 1, self.n * self.n
        cost = {cell: {colour: 0, None: 1}.get(self.stones.get(cell), far) for cell in self.touching}
        least = {cell: cost[cell] if cell[axis] == 0 else far for cell in cost}
        changed = True
        while changed:
            changed = False
            for cell, price in cost.items():
                through = min(least[other] for other in self.touching[cell]) + price
                if through < least[cell]:
                    least[cell], changed = through, True
        return min(far, *(price for cell, price in least.items() if cell[axis] == self.n - 1))
