"""Whatever a call refuses, it raises an Error of dapple that is also what Python users expect."""

import re

import numpy as np
import pytest
from conftest import cells

import pydapple as dp

CALLS = {
    "read": lambda m, f, p, n: m.read(threads=n),
    "read_sparse": lambda m, f, p, n: m.read_sparse(threads=n),
    "strips": lambda m, f, p, n: list(m.strips(threads=n)),
    "to_scipy": lambda m, f, p, n: m.to_scipy(threads=n),
    "stats": lambda m, f, p, n: m.stats(threads=n),
    "tile_stats": lambda m, f, p, n: m.tile_stats(0, threads=n),
    "count_where": lambda m, f, p, n: m.count_where(above=1, threads=n),
    "solvers": lambda m, f, p, n: m.linear_operator(threads=n) @ np.ones(8),
    "frame": lambda m, f, p, n: f.read(threads=n),
    "frame stats": lambda m, f, p, n: f.stats(threads=n),
    "frame count": lambda m, f, p, n: f.count_where("a", above=1, threads=n),
    "open": lambda m, f, p, n: dp.open(m.path, threads=n),
    "write": lambda m, f, p, n: dp.write(p, np.eye(3), threads=n, overwrite=True, sync=False),
    "sparse": lambda m, f, p, n: dp.write(p, m.to_scipy(), threads=n, overwrite=True, sync=False),
    "convert": lambda m, f, p, n: dp.convert(m, p, threads=n, overwrite=True, sync=False),
    "take_columns": lambda m, f, p, n: m.take_columns([1, 0], threads=n),
    "columns": lambda m, f, p, n: dp.index(m.path, columns=True, threads=n, sync=False),
    "index": lambda m, f, p, n: dp.index(m.path, threads=n),
    "picture": lambda m, f, p, n: m.picture(threads=n),
    "frame picture": lambda m, f, p, n: f.picture(threads=n),
    "pandas": lambda m, f, p, n: f.to_pandas(threads=n),
    "append": lambda m, f, p, n: dp.append(f.path, {"a": np.arange(3.0)}, threads=n, sync=False),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_number_of_threads_is_a_number_from_zero_on(make, there, tmp_path, name):
    m, f = make(cells((9, 8), "f8"), tile=(4, 4)), there({"a": np.arange(3.0)})
    call = CALLS[name]
    for threads in (0, 1, None, np.int32(2), True):
        call(m, f, tmp_path / "out.dbdf", threads)
    for threads in (-1, 2**32, 2**70, 1.5, "2"):
        with pytest.raises(dp.InvalidArgumentError, match="threads is a number of threads"):
            call(m, f, tmp_path / "out.dbdf", threads)


def test_arguments_of_other_kinds_are_refused_in_words(make, tmp_path):
    m = make(cells((9, 8), "f8"))
    read_only = np.zeros((1, 2))
    read_only.flags.writeable = False
    wrong = [
        (TypeError, "nope", lambda: m.read(dtype="nope")),
        (TypeError, "nope", lambda: m.read(dtype="nope", out=np.empty((9, 8)))),
        (TypeError, "nope", lambda: dp.convert(m, tmp_path / "c.dbdf", dtype="nope")),
        (TypeError, "nope", lambda: dp.writer(tmp_path / "w.dbdf", (2, 2), "nope")),
        (TypeError, "nope", lambda: dp.frame_writer(tmp_path / "w.dbdf", 2, {"a": "nope"})),
        (ValueError, "'error', 'zero' or 'nan'", lambda: m.read(absent=["zero"])),
        (ValueError, "format 'xyz'", lambda: m.to_scipy("xyz")),
        (ValueError, "writable", lambda: m.take([1], [0, 2], out=read_only)),
        (TypeError, "csv is a mapping", lambda: dp.open(m.path, csv=[1])),
        (IndexError, f"row {-(2**70)} is outside the 9 rows", lambda: m.take([-(2**70), 1])),
        (IndexError, "object", lambda: m.take(np.array([1, None], object))),
    ]
    for kind, words, call in wrong:
        with pytest.raises(kind, match=words) as caught:
            call()
        assert isinstance(caught.value, dp.Error), call


def test_no_call_lets_another_exception_pass(make, there, tmp_path):
    m = make(cells((9, 8), "f8"), tile=(4, 4))
    f = there({"n": np.ma.array([1, 2], mask=[False, True])})
    with dp.writer(tmp_path / "big.dbdf", (2**31, 2**31), "f8", tile=(2**31, 2**31), sync=False) as w:
        w[0, 0] = 1
    big, x = dp.open(tmp_path / "big.dbdf"), np.ones(2)
    (tmp_path / "tall.dbdf").write_bytes(
        bytes([1, 1]) + (2**62).to_bytes(8, "little") + (3).to_bytes(8, "little") + bytes([10])
    )
    tall = dp.open(tmp_path / "tall.dbdf")
    wrong = [
        (ValueError, "masked", lambda: np.asarray(f)),
        (ValueError, "always a copy", lambda: f.__array__(copy=False)),
        (ValueError, "one dense tile", lambda: m.__array__(copy=False)),
        (ValueError, "always a copy", lambda: m.picture().__array__("f4", copy=False)),
        (MemoryError, "m @ x", lambda: big[:]),
        (MemoryError, r"strips\(\)", lambda: big.read()),
        (MemoryError, r"17179869184.0 GiB", lambda: big[::2]),
        (MemoryError, "m @ x", lambda: np.add(x, big)),
        (MemoryError, "fewer rows", lambda: tall[:, 0]),
        (MemoryError, "no memory", lambda: tall.read(cols=(0, 1))),
    ]
    for kind, words, call in wrong:
        with pytest.raises(kind, match=words) as caught:
            call()
        assert isinstance(caught.value, dp.Error), words


def test_names_of_files_are_no_lists_and_options_no_arguments(make, tmp_path):
    m, out = make(cells((9, 8), "f8")), tmp_path / "out.dbdf"
    for one in (m.path, m, str(m.path).encode()):
        with pytest.raises(TypeError, match="sources is a list"):
            dp.concat(one, out)
    with pytest.raises(dp.TypeMismatchError, match="overwrite=True"):
        dp.convert(m, out, write={"overwrite": True})


def test_ends_of_slices_may_count_from_the_end_and_are_not_clipped(make, tmp_path):
    a = cells((9, 8), "f8", 1)
    m, out = make(a), tmp_path / "out.dbdf"
    for rows in (slice(-3, None), slice(None, -2), slice(2, -2), slice(-5, 7), slice(-9, None), slice(-2, 3)):
        assert np.array_equal(m.read(rows), a[rows])
        dp.convert(m, out, rows=rows, overwrite=True)
        assert np.array_equal(dp.open(out)[:], a[rows].reshape(-1, 8))
        if a[rows].size:
            edges = m.picture(rows=rows).row_edges
            assert (edges[0], edges[-1]) == (range(9)[rows].start, range(9)[rows].stop)
    for rows, words in [
        (slice(-10, None), "rows -10 to 9 are not all"), (slice(0, 10), "rows 0 to 10 are not all"),
        ((-3, 9), "a slice may count from the end"), (range(-3, 9), "a slice may count from the end"),
    ]:  # fmt: skip
        for call in (m.read, lambda rows: dp.convert(m, out, rows=rows), lambda rows: m.picture(rows=rows)):
            with pytest.raises(IndexError, match=words):
                call(rows)


def test_parquet_is_pointed_to_what_reads_it(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": [1, 2]}), path)
    for call in (
        dp.open, dp.info, dp.verify, dp.index, lambda p: dp.index(p, columns=True),
        lambda p: dp.repair(p, tmp_path / "r.dbdf"), lambda p: dp.open(p, format="parquet"),
        lambda p: dp.verify(p, format="parquet"),
    ):  # fmt: skip
        with pytest.raises(dp.Error, match=r"read by pydapple\.convert"):
            call(path)
    path.rename(tmp_path / "t.dat")
    with pytest.raises(dp.NotRecognisedError, match="a Parquet file, which pydapple converts"):
        dp.open(tmp_path / "t.dat")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"csv": {"header": 1}}, "csv's 'header' is True or False, not 1"),
        ({"csv": {"missing_as_nan": "yes"}}, "csv's 'missing_as_nan' is True or False"),
        ({"csv": {"delimiter": 9}}, "csv's 'delimiter' is one character or 'tab', not 9"),
        ({"csv": {"missing_words": "NULL"}}, "csv's 'missing_words' is a list of str, not 'NULL'"),
        ({"csv": {"types": "x"}}, "csv's 'types' is a dict of labels and types, not 'x'"),
        ({"csv": {"types": {"a\udcff": "bytes"}}}, "'bytes' is neither a dtype nor one of"),
        ({"csv": {1: 2}}, "csv has no option '1'"),
        ({"idv": {"columns": "A"}}, "idv's 'columns' is a list of str, not 'A'"),
        ({"idv": {"keep_hidden": 1}}, "idv's 'keep_hidden' is True or False"),
        ({"idv": {"drop_unsupported": 0}}, "idv's 'drop_unsupported' is True or False"),
        ({"futhark": {"types": "[]f32"}}, "futhark's 'types' is a list of str"),
        ({"futhark": {"value": -1}}, "futhark's 'value' is a number from 0 to 18446744073709551615, not -1"),
        ({"futhark": {"frame": "a"}}, "futhark's 'frame' is True or False"),
        ({"futhark": {"first": []}}, "futhark's 'first' is True or False"),
    ],
)
def test_options_of_other_kinds_are_refused_by_name(tmp_path, options, words):
    (tmp_path / "a.csv").write_text("1,2\n")
    with pytest.raises(TypeError, match=re.escape(words)) as caught:
        dp.open(tmp_path / "a.csv", **options)
    assert isinstance(caught.value, dp.TypeMismatchError)


def test_more_rows_than_numpy_counts_are_refused_when_the_file_is_opened(tmp_path):
    dp.write(tmp_path / "m.dbdf", np.eye(3))
    head = (tmp_path / "m.dbdf").read_bytes()[:19]
    for rows, cols, opens in ((2**63, 4, False), (4, 2**64 - 1, False), (2**63 - 1, 4, True)):
        extents = rows.to_bytes(8, "little") + cols.to_bytes(8, "little")
        path = tmp_path / "h.dbdf"
        path.write_bytes(head[:2] + extents + head[18:])
        if opens:
            assert dp.open(path).shape == (rows, cols)
            continue
        with pytest.raises(dp.UnsupportedError, match="more than Python and NumPy count"):
            dp.open(path)


def test_what_there_is_no_memory_for_is_refused_at_once(tmp_path):
    dp.write(tmp_path / "m.dbdf", np.eye(3))
    head = (tmp_path / "m.dbdf").read_bytes()[:19]
    extents = (2**62).to_bytes(8, "little") * 2
    (tmp_path / "h.dbdf").write_bytes(head[:2] + extents + head[18:])
    m = dp.open(tmp_path / "h.dbdf")
    for call in (
        lambda: m.to_scipy(absent="zero"),
        lambda: m.read(absent="zero"),
        lambda: m.stats(axis=1, absent="zero"),
        lambda: m.to_dask(),
    ):
        with pytest.raises(dp.TooLargeError):
            call()
    for call in (lambda: m.cover(2**63, 0), lambda: m.tile(2**70, 0), lambda: m.block(-1, 0)):
        with pytest.raises(dp.OutOfRangeError):
            call()


@pytest.mark.parametrize("zone", ["Mars/Phobos", "../../etc/passwd", "UTC+3", "x" * 300])
def test_a_zone_that_nobody_knows_is_told_by_dapple(tmp_path, zone):
    path = tmp_path / "t.dbdf"
    with dp.frame_writer(path, 1, {"t": dp.Meaning("timestamp", unit="us", zone=zone)}) as w:
        w["t", 0:1] = np.array(["2024-05-01"], "M8[us]")
    f = dp.open(path)
    assert f["t"][0] == np.datetime64("2024-05-01")
    for call in (f.to_pandas, f.to_polars, lambda: dp.scan(f)):
        with pytest.raises(dp.TypeMismatchError, match="time zone"):
            call()


@pytest.mark.parametrize("given", [1.5, slice(2), ..., np.array(1), object(), np.datetime64("2020")])
def test_what_picks_nothing_is_an_error_of_dapple(make, there, given):
    pytest.importorskip("dask.array")
    m, f = make(cells((9, 8), "f8"), tile=(4, 4)), there({"a": np.arange(3.0), "b": np.ones(3)})
    for call in (
        lambda: f.to_pandas(columns=given), lambda: f.read(columns=given),
        lambda: m.to_dask(chunks=given), lambda: m.stats(axis=given),
    ):  # fmt: skip
        with pytest.raises(dp.Error):
            call()
    assert list(f.to_pandas(columns=1)) == ["b"]
    assert m.to_dask(chunks=5).chunks == ((5, 4), (5, 3))
