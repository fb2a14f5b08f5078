"""Frames: columns as arrays, and as pandas, polars and Arrow have them."""

import pathlib
import time

import numpy as np
import pytest

import pydapple as dp
from pydapple import streams

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

N = 150_000  # more rows than a batch


@pytest.fixture(scope="module")
def columns():
    random = np.random.default_rng(5)
    return {
        "a": random.random(N),
        "b": random.integers(-9, 9, N).astype("i2"),
        "c": random.integers(0, 2**63, N).astype("u8"),
        "d": random.random(N).astype("f4"),
        "e": random.random(N).astype("f4"),
    }


@pytest.fixture(scope="module")
def frame(columns, tmp_path_factory):
    path = tmp_path_factory.mktemp("frames") / "f.dbdf"
    dp.write(path, columns, sync=False)
    return dp.open(path)


def test_columns_come_back_with_their_dtypes(frame, columns):
    assert frame.columns == tuple("abcde") and frame.shape == (N, 5) and len(frame) == N
    assert frame.dtypes == {label: array.dtype for label, array in columns.items()}
    for label, array in columns.items():
        got = frame[label]
        assert got.dtype == array.dtype and np.array_equal(got, array) and got.flags.writeable
    assert np.array_equal(frame["b", 5:90:7], columns["b"][5:90:7])
    assert np.array_equal(frame["b", [9, 1, 9]], columns["b"][[9, 1, 9]])
    assert np.array_equal(frame["b", ::-1], columns["b"][::-1])
    assert frame["a", -1] == columns["a"][-1]


def test_rows_are_structured(frame, columns):
    rows = frame[3:7]
    assert rows.dtype.names == tuple("abcde")
    assert all(np.array_equal(rows[label], columns[label][3:7]) for label in columns)
    assert frame[5]["c"] == columns["c"][5]
    assert np.array_equal(frame[[70_000, 2]]["a"], columns["a"][[70_000, 2]])
    assert frame[["d", "a"]].dtype.names == ("d", "a")
    assert frame[0:0].shape == (0,)


def test_rows_of_a_column_are_picked_as_numpy_picks_them(frame, columns):
    for key in (np.s_["a", (1, 2)], np.s_[["a", "b"], (1, 2)], (1, 2)):
        with pytest.raises(IndexError) as caught:
            frame[key]
        assert isinstance(caught.value, dp.Error)
    with pytest.raises(IndexError):
        columns["a"][(1, 2)]
    with pytest.raises(TypeError) as caught:
        frame["a", 1.5:3]
    assert isinstance(caught.value, dp.Error)


def test_read_gives_a_dict(frame, columns):
    got = frame.read((10, 20), ["c", 0])
    assert list(got) == ["c", "a"] and np.array_equal(got["c"], columns["c"][10:20])
    assert list(frame.read()) == list(columns)
    for wrong, error in [
        (lambda: frame["z"], LookupError), (lambda: frame[N], IndexError),
        (lambda: frame["a", N], IndexError), (lambda: frame["a", "b"], IndexError),
        (lambda: frame[1, 2], IndexError), (lambda: frame.read((0, N + 1)), IndexError),
        (lambda: frame.read(columns=[5]), IndexError), (lambda: frame[1.5], IndexError),
    ]:  # fmt: skip
        with pytest.raises(error):
            wrong()


def test_pandas_polars_and_arrow_get_the_same(frame, columns):
    p = frame.to_pandas()
    assert list(p.columns) == list(columns) and p["b"].dtype == np.int16
    assert all(np.array_equal(p[label], columns[label]) for label in columns)
    for table in (pl.DataFrame(frame), frame.to_polars()):
        assert table.shape == (N, 5)
        assert all(np.array_equal(table[label].to_numpy(), columns[label]) for label in columns)
    t = pa.table(frame)
    assert t.column_names == list(columns) and t.num_rows == N
    assert max(len(b) for b in t.to_batches()) == 65536
    assert all(np.array_equal(t[label].to_numpy(), columns[label]) for label in columns)
    assert pa.table(frame).equals(t)  # every call a fresh stream


def test_a_stream_outlives_its_frame(columns, tmp_path):
    dp.write(tmp_path / "f.dbdf", columns, sync=False)
    f = dp.open(tmp_path / "f.dbdf")
    reader = pa.RecordBatchReader.from_stream(f)
    f.close()
    del f
    assert reader.read_all().num_rows == N
    unread = dp.open(tmp_path / "f.dbdf").__arrow_c_stream__()
    del unread


def test_a_damaged_code_is_the_same_error_wherever_it_is_read(tmp_path):
    path = tmp_path / "f.dbdf"
    dp.write(path, {"w": ["one", "two"] * 8}, kind="dense", sync=False)
    data, codes = path.read_bytes(), b"\1\2" * 8
    assert data.count(codes) == 1
    path.write_bytes(data.replace(codes, codes[:-1] + b"\7"))
    f = dp.open(path)
    reads = (
        lambda: f["w"], f.read, f.to_pandas, f.to_arrow, f.to_polars,
        lambda: dp.convert(f, tmp_path / "f.parquet"), lambda: dp.convert(f, tmp_path / "f.arrow"),
    )  # fmt: skip
    for read in reads:
        with pytest.raises(dp.CorruptError, match="word"):
            read()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["f.dbdf"]


def test_tables_of_every_kind_are_written(columns, tmp_path):
    small = {label: array[:1000] for label, array in columns.items()}
    records = np.rec.fromarrays(list(small.values()), names=list(small))
    tables = [
        pd.DataFrame(small), pl.DataFrame(small), pa.table(small), records, pl.DataFrame(small)[100:],
        pa.table(small).slice(17), pd.DataFrame(small)[::2],
    ]  # fmt: skip
    for k, table in enumerate(tables):
        path = tmp_path / f"{k}.dbdf"
        dp.write(path, table, sync=False)
        f = dp.open(path)
        assert f.columns == tuple(columns)
        for label in columns:
            wanted = np.asarray(table[label])
            assert f[label].dtype == wanted.dtype and np.array_equal(f[label], wanted)
    dp.write(tmp_path / "copy.dbdf", dp.open(tmp_path / "0.dbdf"), sync=False)
    assert np.array_equal(dp.open(tmp_path / "copy.dbdf")["c"], small["c"])


def test_a_table_without_columns_keeps_its_rows(tmp_path):
    path = tmp_path / "f.dbdf"
    for table in (pd.DataFrame(index=range(5)), np.empty(5, []), pa.table({"a": range(5)}).select([])):
        dp.write(path, table, overwrite=True)
        f = dp.open(path)
        assert f.shape == (5, 0) and len(f.to_pandas()) == 5 and f[1:3].shape == (2,)
        assert not dp.verify(path).findings
    dp.concat([path, path], tmp_path / "twice.dbdf")
    assert len(dp.open(tmp_path / "twice.dbdf")) == 10
    dp.write(path, {}, overwrite=True)
    assert dp.open(path).shape == (0, 0)


@pytest.mark.parametrize("name", ["f.dbdf", "f.csv"])
def test_a_lazy_frame_is_written_by_running_its_query(tmp_path, monkeypatch, name):
    monkeypatch.setattr(streams, "_PIECE", 4096)
    rows = pl.LazyFrame({"a": range(5000), "w": [f"w{k % 700}" for k in range(5000)]})
    dp.write(tmp_path / name, rows.filter(pl.col("a") % 2 == 1))
    f = dp.open(tmp_path / name)
    assert f["a"].tolist() == list(range(1, 5000, 2)) and f["w"].tolist() == [f"w{k % 700}" for k in range(1, 5000, 2)]
    dp.write(tmp_path / "none.dbdf", rows.filter(pl.col("a") < 0))
    assert dp.open(tmp_path / "none.dbdf").shape == (0, 2)
    monkeypatch.delattr(pl.LazyFrame, "collect_batches", raising=False)  # as in polars before 1.34
    dp.write(tmp_path / name, rows, overwrite=True)
    assert len(dp.open(tmp_path / name)) == 5000


def test_missing_values_and_booleans(tmp_path):
    path = tmp_path / "m.dbdf"
    table = pa.table({"x": pa.array([1.5, None, 2.5]), "t": pa.array([True, False, True])})
    for one in (table, table.to_pandas(), pl.from_arrow(table),
                pd.DataFrame({"x": pd.array([1.5, None, 2.5], "Float64"), "t": [True, False, True]})):  # fmt: skip
        dp.write(path, one, overwrite=True, sync=False)
        f = dp.open(path)
        assert np.array_equal(f["x"], [1.5, np.nan, 2.5], equal_nan=True)
        assert f["t"].dtype == bool and f["t"].tolist() == [True, False, True]


def test_labels_may_repeat_and_may_be_any_bytes(tmp_path):
    path = tmp_path / "l.dbdf"
    label = b"caf\xe9".decode("utf-8", "surrogateescape")
    names = pd.Index(["x", "x", "x.1", label], dtype=object)
    table = pd.DataFrame([[1.0, 2.0, 3.0, 4.0]], columns=names)
    dp.write(path, table, sync=False)
    f = dp.open(path)
    assert f.labels == ("x", "x", "x.1", label)
    assert f.columns == tuple(f.read()) == ("x", "x.2", "x.1", label)
    assert f["x"].tolist() == [1.0] and f[label].tolist() == [4.0]
    assert list(f.to_pandas().columns) == ["x", "x", "x.1", label]
    assert pa.table(f).column_names[3] == "caf\ufffd"
    assert f.to_polars().shape == (1, 4)


def test_scattered_rows_are_those_of_the_whole(tmp_path):
    n = 100_000
    table = {"x": np.arange(n) * 0.5, "w": np.array([f"word {k % 300}" for k in range(n)], object),
             "m": np.ma.array(np.arange(n), mask=np.arange(n) % 7 == 0)}  # fmt: skip
    dp.write(tmp_path / "s.dbdf", table, sync=False)
    f = dp.open(tmp_path / "s.dbdf")
    whole = f[:]
    picks = [np.random.default_rng(1).integers(-n, n, 2000), [n - 1, 5, 5, 9000], slice(None, None, -999),
             slice(None, None, 7), slice(9, 2, -1), slice(-n - 9, None, -1), np.arange(n) % 5000 == 3]  # fmt: skip
    for rows in picks:
        assert f[rows].tolist() == f[["x", "w", "m"], rows].tolist() == whole[rows].tolist()
        for label in table:
            assert f[label, rows].tolist() == whole[label][rows].tolist()
    rows = np.arange(0, n, 2)
    begin = time.perf_counter()
    assert len(f[rows]) == n // 2
    assert time.perf_counter() - begin < 5  # 30 ms on a quiet machine, and not by the square of rows


def test_one_label_is_not_taken_for_its_letters(tmp_path):
    table = {"ab": [1, 2], "a": [3, 4], "b": [5, 6]}
    dp.write(tmp_path / "l.dbdf", table, sync=False)
    f = dp.open(tmp_path / "l.dbdf")
    assert list(f.read(columns="ab")) == ["ab"] and list(f.read(columns=("b", "a"))) == ["b", "a"]
    assert "ab" in f and "c" not in f and 1 not in f
    for to in ("c.csv", "c.parquet"):
        for columns, wanted in (("ab", ("ab",)), (("b", "ab"), ("b", "ab")), ([0, 2], ("ab", "b"))):
            dp.convert(f, tmp_path / to, columns=columns, overwrite=True)
            dp.convert(tmp_path / to, tmp_path / "back.dbdf", overwrite=True)
            assert dp.open(tmp_path / "back.dbdf").columns == wanted


def test_a_column_without_a_name_is_a_field_called_after_its_place(tmp_path):
    dp.write(tmp_path / "e.dbdf", {"a": [1, 2], "": [3, 4], "f1": ["x", "y"]}, sync=False)
    f = dp.open(tmp_path / "e.dbdf")
    assert f.columns == ("a", "", "f1") and f[""].tolist() == [3, 4]
    assert f[:].tolist() == np.asarray(f).tolist() == [(1, 3, "x"), (2, 4, "y")]
    assert f[:].dtype.names == ("a", "f1", "f1.1") and f[[""]].dtype.names == ("f0",)


def test_a_frame_writer_takes_columns_and_rows(tmp_path):
    path = tmp_path / "w.dbdf"
    a, b = np.arange(100.0), np.arange(100, dtype="i4")
    with dp.frame_writer(path, 100, {"a": "f8", "b": "i4", "c": "i4"}, sync=False) as w:
        w[0:50] = {"a": a[:50], "b": b[:50], "c": b[:50]}
        w["a", 50:] = a[50:]
        w["c", 50:100] = b[50:]
        w["b", 50:] = b[50:]
    f = dp.open(path)
    assert np.array_equal(f["a"], a) and np.array_equal(f["b"], b) and np.array_equal(f["c"], b)
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": a, "b": b})
    for table in (frame.to_pandas(), frame, frame.to_arrow(), f[["a", "b"]]):
        with dp.frame_writer(path, 100, {"a": "f8", "b": "i4"}, overwrite=True, sync=False) as w:
            w[:] = table
        assert np.array_equal(dp.open(path)["a"], a) and np.array_equal(dp.open(path)["b"], b)
    with pytest.raises(RuntimeError), dp.frame_writer(tmp_path / "x.dbdf", 4, {"a": "f8"}) as w:
        raise RuntimeError
    assert not (tmp_path / "x.dbdf").exists()
    w = dp.frame_writer(tmp_path / "y.dbdf", 4, {"a": "u1"})
    for key, value, error in [
        ("z", 1, IndexError), (("a", slice(0, 2)), [1, 2, 3], ValueError),
        (slice(0, 2), {"b": [1, 2]}, ValueError), (slice(0, 2), [1, 2], TypeError), ("a", 0.5, ValueError), ("a", 300, ValueError),
    ]:  # fmt: skip
        with pytest.raises(error):
            w[key] = value
    w.abort()


@pytest.mark.parametrize("dtype, values", [
    ("f8", np.array([2**53 + 1, 1])), ("f8", np.array([2**64 - 1, 1], "u8")), ("f4", np.array([0.1, 1])),
    ("f4", np.array([1e300, 1])), ("u8", np.array([2.0**64, 1])), ("i8", np.array([2.0**63, 1])),
    ("i8", np.array([2**63, 1], "u8")), ("u8", np.array([-1, 1])), ("i8", np.array([-0.0, 1])),
    ("i8", np.array([np.nan, 1])), ("?", np.array([2, 1])), ("?", np.array([0.5, 1])),
])  # fmt: skip
def test_a_frame_writer_rounds_nothing(tmp_path, dtype, values):
    with dp.frame_writer(tmp_path / "w.dbdf", 2, {"a": dtype}, sync=False) as w:
        with pytest.raises(dp.Error):
            w["a"] = values
        w["a"] = np.array([0, 1]).astype(values.dtype)


def test_a_frame_writer_keeps_bits_of_floats(tmp_path):
    values = np.array([-0.0, np.nan, np.inf, -1.5], "f4")
    with dp.frame_writer(tmp_path / "w.dbdf", 4, {"a": "f8"}, sync=False) as w:
        w["a"] = values
    assert dp.open(tmp_path / "w.dbdf")["a"].tobytes() == values.astype("f8").tobytes()


def test_text_columns_are_read_as_str():
    here = pathlib.Path(__file__).parents[1] / "fuzz/corpus/idv"
    found = only_shown = 0
    for path in sorted(here.rglob("*.idv")):
        try:
            f = dp.open(path)
        except dp.Error:
            continue
        if not isinstance(f, dp.Frame):
            continue
        only_shown += len(dp.info(path).get("text_columns", ()))
        for label, kind in f.dtypes.items():
            if kind == object:
                found += 1
                assert len(f[label]) == len(f)
                assert all(x is None or isinstance(x, str) for x in f[label])
                assert pa.table(f)[label].to_pylist() == f[label].tolist()
                backwards = f.to_arrow(np.arange(len(f))[::-1], [label])[label]
                assert backwards.to_pylist() == f[label].tolist()[::-1]
                shown = f.to_pandas()[label]
                assert [None if pd.isna(x) else x for x in shown] == f[label].tolist()
    assert found >= only_shown > 0


def test_rows_backwards_are_read_as_they_come(there, monkeypatch):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"n": range(9), "x": np.arange(9) / 2, "w": list("abcabcabc")})
    table["m"] = pd.array([1, None, 3] * 3, "Int16")
    f = there(table, tile=(2, 3))
    monkeypatch.setattr(dp.Frame, "_take_columns", None)
    for rows in (slice(None, None, -1), slice(7, 2, -1), slice(3, 3, -1)):
        want = table.iloc[rows]
        pd.testing.assert_frame_equal(f.to_pandas(rows), want, check_index_type=False)
        assert f[rows].tolist() == f[:][rows].tolist() and f["w", rows].tolist() == want["w"].tolist()
        assert f["m", rows].tolist() == f["m"][rows].tolist()
