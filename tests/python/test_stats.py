"""Statistics of matrices, tiles, blocks and frames, and what a search skips because of them."""

import datetime as dt

import numpy as np
import pytest
from conftest import KINDS, cells

import pydapple as dp


def stats_of(a):
    numbers = a[~np.isnan(a)].astype("f8")
    return (a.size, (numbers != 0).sum(), a.size - numbers.size, numbers.min(), numbers.max(),
            numbers.sum(), (numbers**2).sum(), numbers.mean(), numbers.var())  # fmt: skip


def with_statistics(m):
    assert dp.index(m.path, statistics=True)
    return dp.open(m.path)


@pytest.mark.parametrize("kind", KINDS)
def test_statistics_of_tiles_are_those_of_their_cells(make, kind):
    a = cells((50, 40), "f8")
    a[3, 4] = np.nan
    for plain in (False, True):
        m = make(a, tile=(16, 12), kind=kind, plain=plain)
        down, across = m.tile_stats(1), m.tile_stats(0, threads=2)
        assert len(down.count) == 4 and len(across.mean) == 4
        for k in range(4):
            assert np.allclose([part[k] for part in down], stats_of(a[16 * k : 16 * k + 16]))
            assert np.allclose([part[k] for part in across], stats_of(a[:, 12 * k : 12 * k + 12]))
        for axis in (None, 2, "rows"):
            with pytest.raises(ValueError, match="axis"):
                m.tile_stats(axis)


def test_a_block_has_the_statistics_that_are_in_the_file(make):
    a = cells((50, 40), "f4")
    m = make(a, tile=(16, 12))
    assert m.blocks[0].stats() is None  # which would take more bytes than such small blocks
    for block in with_statistics(m).blocks:
        (row, col), (rows, cols) = block.pos, block.shape
        assert np.allclose(block.stats(), stats_of(a[row : row + rows, col : col + cols]))
    assert make(np.zeros((4, 4)), plain=True).blocks[0].stats().count == 16


def test_statistics_of_a_frame_are_as_its_columns_are_meant(there):
    days = np.array(["2024-01-01", "NaT", "2024-01-05"], "M8[D]")
    f = there({
        "n": np.array([1.5, np.nan, -4]),
        "i": np.array([3, 0, 2**40]),
        "b": np.array([True, False, True]),
        "d": days,
        "t": np.array([60, 30, 0], "m8[s]"),
        "w": np.array(["x", None, "y"], object),
    })  # fmt: skip
    stats = f.stats()
    assert list(stats) == list(f.columns)
    assert isinstance(stats["n"], dp.Stats)
    assert (stats["n"].count, stats["n"].nans, stats["n"].min, stats["n"].mean) == (3, 1, -4, -1.25)
    assert (stats["i"].nnz, stats["i"].sum, stats["i"].max) == (2, 2**40 + 3, 2**40)
    assert stats["b"].mean == pytest.approx(2 / 3)
    assert stats["d"].min == np.datetime64("2024-01-01") and stats["d"].nans == 1
    assert stats["d"].mean.item() == dt.date(2024, 1, 3) and stats["d"].sum is None
    assert stats["t"].max == np.timedelta64(60, "s") and stats["t"].mean == np.timedelta64(30, "s")
    assert stats["w"].count == 3 and stats["w"].nans == 1 and stats["w"].min is None
    assert f.stats(threads=2)["i"] == stats["i"]


def test_statistics_of_columns_with_repeated_labels_and_without_numbers(there):
    pd = pytest.importorskip("pandas")
    f = there(pd.DataFrame([[1, 2.5], [3, 4.5]], columns=["a", "a"]))
    assert [(label, one.max) for label, one in f.stats().items()] == [("a", 3), ("a.1", 4.5)]
    f = there({"d": np.array(["NaT", "NaT"], "M8[ns]")})
    assert np.isnat(f.stats()["d"].min) and np.isnat(f.stats()["d"].mean)


def test_a_search_explains_what_it_skips(make):
    a = np.zeros((6, 2))
    a[0:2], a[2:4] = 0.5, 7.25
    m = with_statistics(make(a, tile=(2, 2)))
    verdicts = m.explain_where(above=1.0)
    assert verdicts == [((0, 0), "statistics"), ((2, 0), None), ((4, 0), "empty")]
    assert verdicts[0].pos == (0, 0) and verdicts[1].skipped is None
    narrow = make(np.full((2, 2), 9.0), kind="dense")  # stored as u8
    assert narrow.explain_where(above=300) == [((0, 0), "value_type")]
    with pytest.raises(TypeError, match="one condition"):
        m.explain_where()


def test_times_of_statistics_are_those_of_cells(tmp_path):
    first, last = np.datetime64("2024-01-01T00:00:00.123456789"), np.datetime64("2024-01-01T00:00:00.123456801")
    nothing = np.full(2, np.datetime64("NaT", "ns"))
    dp.write(tmp_path / "t.dbdf", {"t": np.array([last, first]), "none": nothing})
    stats = dp.open(tmp_path / "t.dbdf").stats()
    assert (stats["t"].min, stats["t"].max, stats["t"].mean) == (first, last, first + np.timedelta64(6, "ns"))
    assert np.isnat(stats["none"].min) and np.isnat(stats["none"].mean)


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_extremes_of_integers_of_64_bits_are_exact(make, there, dtype):
    ends = np.iinfo(dtype)
    pool = np.array([ends.min, ends.min + 1, 0, 2**53 + 1, 2**62 + 1, ends.max - 1, ends.max], dtype)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        a = rng.choice(pool[rng.integers(0, 5) :], (9, 7))
        m = with_statistics(make(a, tile=(4, 3)))
        for axis in (None, 0, 1):
            stats = m.stats(axis=axis)
            assert stats.min.dtype == stats.max.dtype == dtype
            assert np.array_equal(stats.min, a.min(axis)) and np.array_equal(stats.max, a.max(axis))
        f = there({"a": a[:, 0], "b": np.ma.MaskedArray(a[:, 1], np.arange(9) < 5)})
        for name, column in (("a", a[:, 0]), ("b", a[5:, 1])):
            stats = f.stats()[name]
            assert (int(stats.min), int(stats.max)) == (int(column.min()), int(column.max()))
    assert np.isnan(make(np.zeros((0, 2), dtype)).stats().max)


def test_counts_beyond_63_bits(tmp_path):
    tiles = {"tile": (2**31, 2**31), "sparse": True}
    with dp.writer(tmp_path / "m.dbdf", (2**33, 2**31 - 1), "f4", **tiles):
        pass
    m = dp.open(tmp_path / "m.dbdf")
    assert m.stats().count == m.size == m.count_where(equal=0) and m.size > 2**63
    with dp.writer(tmp_path / "n.dbdf", (2**33, 2**31 + 1), "f4", **tiles) as w:
        w[5:6, 7:8] = 3
    m = dp.open(tmp_path / "n.dbdf")
    for counted in (m.stats, lambda: m.count_where(equal=0), lambda: m.count_where(above=-1)):
        with pytest.raises(dp.UnsupportedError, match="8589934592 x 2147483649 cells are more than 2"):
            counted()
    assert m.count_where(above=-1, nonzero=True) == 1 == m.count_where(above=2)
