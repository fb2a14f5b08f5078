"""Parts of a frame as typed tables: rows and columns picked."""

import numpy as np
import pytest

import pydapple as dp

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

ROWS = 80_000


@pytest.fixture(scope="module")
def whole():
    random = np.random.default_rng(3)
    words = np.array(["Oslo", "Bergen", "Rome", None], object)
    return pd.DataFrame(
        {
            "age": random.integers(0, 100, ROWS).astype("i2"),
            "city": pd.Categorical(words[random.integers(0, 4, ROWS)], ["Rome", "Oslo", "Bergen"]),
            "born": np.arange(ROWS).astype("M8[s]"),
            "ok": pd.array(random.integers(0, 2, ROWS) > 0, "boolean"),
            "n": pd.array(random.integers(0, 9, ROWS), "Int64"),
            "x": random.standard_normal(ROWS),
        }
    )


@pytest.fixture(scope="module")
def f(whole, tmp_path_factory):
    whole.loc[7, "ok"] = pd.NA
    whole.loc[5, "n"] = pd.NA
    path = tmp_path_factory.mktemp("parts") / "f.dbdf"
    dp.write(path, whole, sync=False)
    return dp.open(path)


def row_keys():
    random = np.random.default_rng(1)
    mask = np.zeros(ROWS, bool)
    mask[[3, 70_000, 79_999]] = True
    return {
        "all": slice(None),
        "slice": slice(5, 70_000),
        "step": slice(None, None, -3),
        "none": slice(0, 0),
        "one": 9,
        "last": -1,
        "numbers": random.integers(-ROWS, ROWS, 1000),
        "list": [9, 9, 2, -1],
        "empty": [],
        "mask": mask,
        "far": np.arange(0, ROWS, 5000),
    }


@pytest.mark.parametrize("name", row_keys())
@pytest.mark.parametrize("columns", [None, ["x", "city"], "n", [-1, 0], ["ok", "ok"]])
def test_rows_and_columns(f, whole, name, columns):
    key = row_keys()[name]
    names = {"n": ["n"], -1: ["x", "age"]}.get(
        columns if isinstance(columns, str) else (columns or [0])[0], columns
    )
    want = whole if names is None else whole[names]
    index = np.arange(ROWS)[key if not isinstance(key, list) else np.array(key, int)]
    want = want.iloc[np.atleast_1d(index)]
    got = f.to_pandas(key, columns)
    assert list(got.columns) == list(want.columns)
    pd.testing.assert_frame_equal(got, want, check_index_type=False, check_column_type=False)
    table = f.to_arrow(key, columns)
    assert table.num_rows == len(want) and table.column_names == list(want.columns)
    for k in range(len(want.columns)):
        expected = pa.Array.from_pandas(want.iloc[:, k])
        if pa.types.is_dictionary(expected.type):
            expected = expected.cast("string")
        assert table.column(k).cast(expected.type).combine_chunks().equals(expected)
    if columns != ["ok", "ok"]:
        assert f.to_polars(key, columns).equals(
            pl.from_arrow(table).cast(f.to_polars(key, columns).schema)
        )


def test_head_tail_and_sample(f, whole):
    assert f.head()["age"].tolist() == whole["age"][:5].tolist()
    assert f.tail(3).index.tolist() == [ROWS - 3, ROWS - 2, ROWS - 1]
    assert f.tail(3)["x"].tolist() == whole["x"][-3:].tolist()
    some = f.sample(50, seed=1)
    assert len(set(some.index)) == 50 and some.index.is_monotonic_increasing
    assert some["age"].tolist() == whole["age"].iloc[some.index].tolist()
    assert len(f.sample(10**9)) == len(f.head(10**9)) == len(f.tail(10**9)) == ROWS
    assert len(f.head(0)) == len(f.tail(0)) == len(f.head(-ROWS)) == 0


def test_what_is_not_there(f):
    for call in (
        lambda: f.to_pandas([ROWS]),
        lambda: f.to_arrow([-ROWS - 1]),
        lambda: f.to_polars(np.zeros(3, bool)),
        lambda: f.to_pandas(columns=[6]),
    ):
        with pytest.raises(IndexError):
            call()
    with pytest.raises(LookupError, match="nope"):
        f.to_arrow(columns=["nope"])


def test_an_arrow_schema_picks_columns(f):
    schema = pa.schema([("x", pa.float64()), ("age", pa.int16())])
    reader = pa.RecordBatchReader.from_stream(f, schema=schema)
    assert reader.schema.names == ["x", "age"]
    assert reader.read_all().column("age").to_pylist()[:3] == f["age", :3].tolist()
    assert pa.table(f).num_columns == 6


def test_polars_gets_utc_for_zones_that_are_an_offset(there):
    t = pd.DataFrame({"t": pd.to_datetime([0, 1], unit="s", utc=True).tz_convert("+05:30")})
    f = there(t)
    assert f.to_arrow().schema.field("t").type == pa.timestamp("us", "+05:30") or "+05:30" in str(
        f.to_arrow().schema
    )
    got = f.to_polars()
    assert got["t"].dtype.time_zone == "UTC" and got["t"].dt.epoch("s").to_list() == [0, 1]


def test_zones_that_are_not_known_are_an_error(tmp_path):
    path = tmp_path / "z.dbdf"
    zone = dp.Meaning("timestamp", unit="s", zone="Mars/Phobos")
    with dp.frame_writer(path, 1, {"t": zone}, sync=False) as w:
        w["t"] = np.array([5], "M8[s]")
    f = dp.open(path)
    assert f["t"].tolist() == [np.datetime64(5, "s").item()]
    with pytest.raises(dp.Error, match="Mars/Phobos"):
        f.to_pandas()


def test_a_column_twice_in_records_is_read_twice(there):
    f = there({"n": np.arange(5), "x": np.linspace(0, 1, 5)})
    for rows in (slice(None), slice(1, 4), [3, 0]):
        made = f[["x", "n", "x", "n"], rows]
        assert made.dtype.names == ("x", "n", "x.1", "n.1")
        for label in f.columns:
            assert np.array_equal(made[label], f[label][rows]) and np.array_equal(made[f"{label}.1"], f[label][rows])


def test_missing_booleans_pick_nothing(there, make):
    given = [True, None, False, True]
    f, m = there({"n": pd.array([1, None, 9, 3], "Int64")}), make(np.arange(8.0).reshape(4, 2))
    masks = [
        np.ma.MaskedArray([True, True, False, True], [0, 1, 0, 0]), f["n"] < 5, pd.array(given, "boolean"), given,
        pd.Series(given, dtype="boolean"), pd.Series(given, dtype=pd.ArrowDtype(pa.bool_())), pl.Series(given),
        pa.array(given), pa.chunked_array([given]), np.array(given, object), pd.arrays.SparseArray([True, False, False, True]),
    ]  # fmt: skip
    for mask in masks:
        assert np.array_equal(m[mask], m[[0, 3]]) and np.array_equal(m.take(mask), m[[0, 3]])
        assert f.to_pandas(mask)["n"].tolist() == f[mask]["n"].tolist() == [1, 3]
    assert np.array_equal(m[pd.Series([3, 0], dtype="Int64")], m[[3, 0]])
    for wrong in (np.ma.MaskedArray([0, 1], [0, 1]), [None, None], [True, None, 2, False], pd.array([0, None], "Int64")):
        with pytest.raises(dp.InvalidIndexError):
            m[wrong]
    named = make(np.arange(8.0).reshape(4, 2), row_names=["a", "b", "c", "d"])
    for wanted in (pd.Series(["d", "a"]), pd.Categorical(["d", "a"]), np.array(["d", "a"], object), np.array(["d", "a"])):
        assert np.array_equal(named[wanted], named[[3, 0]])
    assert np.array_equal(named[pd.array(given, "boolean")], named[[0, 3]])


def test_ends_that_count_from_the_other_end_are_as_of_pandas(there):
    f = there({"n": np.arange(5)})
    t = pd.DataFrame({"n": np.arange(5)})
    for rows in range(-7, 8):
        assert f.head(rows)["n"].tolist() == t.head(rows)["n"].tolist()
        assert f.tail(rows)["n"].tolist() == t.tail(rows)["n"].tolist()
    with pytest.raises(ValueError, match="sample"):
        f.sample(-1)


def test_columns_that_are_no_labels_are_told(there):
    f = there({"n": np.arange(5), "x": np.arange(5)})
    for read in (f.to_pandas, f.to_arrow, f.read):
        with pytest.raises(dp.Error, match="labels or numbers"):
            read(columns=[True, False])
    with pytest.raises(IndexError, match=r"the column comes first: f\['n', 3\]"):
        f[3, "n"]
