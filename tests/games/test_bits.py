import numpy as np
import pytest

from ludus.games._bits import has, lowest, put, take


def test_cells_across_words():
    board = np.zeros(3, np.uint64)
    for cell in (0, 63, 64, 191):
        assert not has(board, cell)
        put(board, cell)
        assert has(board, cell)
    assert board.tolist() == [1 << 63 | 1, 1, 1 << 63]
    take(board, 63)
    take(board, 100)
    assert board.tolist() == [1, 1, 1 << 63]


@pytest.mark.parametrize("place", range(64))
def test_lowest(place):
    assert lowest(np.uint64(1 << place)) == lowest(np.uint64((1 << 64) - (1 << place))) == place


def test_lowest_is_one_instruction():
    """What the speed of bitboards rests on. Where this fails, a newer compiler needs the loop written differently."""
    numba = pytest.importorskip("numba")
    compiled = numba.njit(lowest)
    assert compiled(np.uint64(40)) == 3
    code = next(iter(compiled.inspect_llvm().values()))
    assert "llvm.cttz.i64" in code
