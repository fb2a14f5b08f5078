"""Queries of polars over frames: what they find, and what they read."""

import datetime as dt

import numpy as np
import pytest

import pydapple as dp

pl = pytest.importorskip("polars")


def test_scans_keep_nan_as_polars_orders_it(there):
    f = there({"x": [1.0, float("nan"), 3.0]})
    assert dp.scan(f).filter(pl.col("x") > 2).collect()["x"].is_nan().to_list() == [True, False]


def test_scans_compare_as_polars_rounds(there):
    f = there({
        "single": np.array([0.1, 0.5, 2**24], "f4"), "double": np.array([0.1, np.float32(0.1), 2**53]),
        "long": np.array([2**53, 2**53 + 1, 2**62]),
    })  # fmt: skip
    whole, lit = f.to_polars(), pl.lit
    values = (0.1, lit(0.1, dtype=pl.Float32), lit(0.1, dtype=pl.Float64), float(2**53), 2**53 + 1, 2**24 + 1, 1e300, -(2**70))
    hits = 0
    for name in f.columns:
        for value in values:
            column = pl.col(name)
            for test in (column == value, column <= value, column >= value, column < value, column > value):
                want = whole.filter(test)
                hits += len(want)
                assert dp.scan(f).filter(test).collect().equals(want), test
    assert hits > 100


@pytest.fixture
def read(monkeypatch):
    """How many rows each read of `to_polars` gave."""
    give, counts = dp.Frame.to_polars, []

    def counted(*what):
        counts.append(len(rows := give(*what)))
        return rows

    monkeypatch.setattr(dp.Frame, "to_polars", counted)
    return counts


def test_scans_read_only_rows_with_such_words_and_numbers(there, read):
    words = ["a", None, "b", "Zoë", "", "\ufffd", "b"]
    f = there(pl.DataFrame({
        "text": words, "n": range(7), "city": pl.Series(words, dtype=pl.Categorical),
        "grade": pl.Series(words, dtype=pl.Enum(["b", "a", "", "Zoë", "\ufffd"])),
    }))  # fmt: skip
    whole, text, city, grade = f.to_polars(), pl.col("text"), pl.col("city"), pl.col("grade")
    for test, most in (
        (text == "b", 2), (pl.lit("b") == text, 2), (text > "a", 4), (pl.lit("b") <= text, 4),
        (text == "Zoë", 1), (city == "b", 2), (grade == "b", 2), (text.is_between(pl.lit("a"), pl.lit("b")), 3),
        (pl.col("n").is_between(2, 5, closed="left"), 4), (pl.lit(5) < pl.col("n"), 2),
        ((text == "b") & (pl.col("n") + 1 > 3), 2), ((text == "b") & text.str.starts_with("b"), 2),
        (grade > "b", 7), (city > "b", 7), (text == "\ufffd", 7), (text > "Zoë", 7),
        (text.is_in(["b", "a", None]), 3), (text.is_in(["b", "\ufffd"]), 7), (city.is_in(["Zoë"]), 1),
        (pl.col("n").is_in([1, 2, 99]), 2), (pl.col("n").is_in(list(range(3, 900))), 4), (text.str.starts_with("Z"), 1),
        (text.is_in([*map(chr, range(97, 180)), "\ufffd"]), 7), (text.is_in(list(map(chr, range(97, 180)))), 3),
        (text.is_in(["b", None], nulls_equal=True), 7), (pl.col("n").is_in([]), 7), (~text.is_in(["b"]), 7),
        (text.str.starts_with("b") & text.is_null(), 2), (text.str.starts_with("Zo") | text.is_null(), 7),
    ):  # fmt: skip
        read.clear()
        assert dp.scan(f).filter(test).collect().equals(whole.filter(test)), test
        assert sum(read) <= most, test


def test_scans_read_only_rows_of_such_times_and_truth_values(there, read):
    rng, n = np.random.default_rng(7), 2000
    times = np.datetime64("2020-01-01", "ns") + np.sort(rng.integers(0, 10**16, n))
    t = pl.DataFrame({
        "ns": times, "us": times.astype("M8[us]"), "ms": times.astype("M8[ms]"), "day": times.astype("M8[D]"),
        "zoned": pl.Series(times.astype("M8[us]")).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo"),
        "took": np.sort(rng.integers(-(10**15), 10**15, n)).astype("m8[us]"), "ok": np.arange(n) < n // 2,
    })  # fmt: skip
    t = t.with_columns(pl.when(pl.Series(rng.random(n) > 0.1)).then(pl.col(name)).alias(name) for name in t.columns)
    f = there(t)
    whole, ok, took = f.to_polars(), pl.col("ok"), pl.col("took")
    read.clear()
    bound, tests = dt.datetime(2020, 2, 1, 3, 4, 5, 678901), []
    for name in ("ns", "us", "ms", "day"):
        column, some = pl.col(name), whole[name].drop_nulls()[:50:7]
        tests += [column > bound, column <= bound, column < dt.date(2020, 3, 1), column == some[3], column != some[2],
                  column.is_between(bound, dt.datetime(2020, 3, 1)), column.is_in(some.to_list())]  # fmt: skip
    some, lengths = whole["zoned"].drop_nulls()[:9], whole["took"].drop_nulls()[:9]
    tests += [pl.col("zoned") == some[3], pl.col("zoned") < some[4], took < dt.timedelta(3), took == lengths[5],
              took.is_in(lengths.to_list()), ok, ~ok, ok & (took > dt.timedelta(0)), ok.eq(False), ok | pl.col("ns").is_null()]  # fmt: skip
    fewer = 0
    for test in tests:
        read.clear()
        assert dp.scan(f).filter(test).collect().equals(whole.filter(test)), test
        fewer += sum(read) < n * 8 // 10
    assert fewer == len(tests) - 8  # != and is_null, and comparing days with times


def test_scans_read_batches_whole_where_much_is_wanted(there, read):
    n = 1_000_000
    f = there({"n": np.arange(n), "k": np.arange(n) % 2})
    few = pl.col("n").is_in([3, 500_000, 999_999])
    for test, most in ((pl.col("k") == 1, n), (pl.col("n") >= 900_000, 100_000), (few, 3)):
        read.clear()
        found = dp.scan(f).filter(test).select(pl.len(), pl.col("n").sum()).collect().row(0)
        numbers = np.arange(n)[pl.DataFrame({"n": np.arange(n), "k": np.arange(n) % 2}).select(test).to_series().to_numpy()]
        assert found == (len(numbers), numbers.sum())
        assert sum(read) <= most
