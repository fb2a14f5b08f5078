"""Variances that pydapple gives, against exact ones in rationals."""

from fractions import Fraction

import numpy as np
import pytest

import pydapple as dp

BOUND = 2.0**-36  # of include/dapple/stats.h


def exact_variance(cells):
    numbers = [Fraction(cell) for cell in cells.ravel().tolist()]
    mean = sum(numbers) / len(numbers)
    return sum((number - mean) ** 2 for number in numbers) / len(numbers)


CASES = {
    "seconds": lambda rng: 1_700_000_000 + rng.integers(0, 100, (300, 3)),
    "nanoseconds": lambda rng: 1_700_000_000_000_000_000 + rng.integers(0, 10**9, (300, 3)),
    "largest u64": lambda rng: np.uint64(2**64 - 1) - rng.integers(0, 9, (300, 3)).astype("u8"),
    "metres": lambda rng: 5_812_345.0 + rng.random((300, 3)),
    "far floats": lambda rng: 1e15 + rng.integers(0, 9, (300, 3)) / 8,
    "f32": lambda rng: (1e8 + 100 * rng.random((300, 3))).astype("f4"),
    "one outlier": lambda rng: np.concatenate([np.full((1, 3), 1e12), rng.random((299, 3))]),
}


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("name", CASES)
def test_variance_is_that_of_the_cells(tmp_path, name, kind):
    cells = CASES[name](np.random.default_rng(4))
    dp.write(tmp_path / "m.dbdf", cells, kind=kind, tile=(64, 2))
    matrix = dp.open(tmp_path / "m.dbdf")
    bound = BOUND if cells.dtype.kind == "f" else 4 * np.finfo(float).eps

    def require(got, part):
        want = exact_variance(part)
        assert abs(Fraction(float(got)) - want) <= Fraction(bound) * want

    require(matrix.stats().var, cells)
    for threads in (1, 3):
        for column, got in enumerate(matrix.stats(axis=0, threads=threads).var):
            require(got, cells[:, column])
    for row, got in enumerate(matrix.stats(axis=1).var[:20]):
        require(got, cells[row])


def test_text_and_dbdf_agree(tmp_path):
    (tmp_path / "t.csv").write_text("x\n1000000000.1\n1000000000.2\n1000000000.3\n")
    dp.convert(tmp_path / "t.csv", tmp_path / "t.dbdf")
    want = exact_variance(np.array([1000000000.1, 1000000000.2, 1000000000.3]))
    for name in ("t.csv", "t.dbdf"):
        got = dp.open(tmp_path / name).stats()["x"].var
        assert abs(Fraction(float(got)) - want) <= Fraction(BOUND) * want
