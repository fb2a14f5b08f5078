"""Columns that are more than numbers: through NumPy, pandas, polars and Arrow, both ways."""

import datetime as dt

import numpy as np
import pytest
from conftest import people

import pydapple as dp

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

UNITS = ["D", "s", "ms", "us", "ns"]
NUMBERS = ["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64"]


def test_a_table_of_everything_comes_back_to_pandas_as_it_was(there):
    f = there(people())
    pd.testing.assert_frame_equal(f.to_pandas(), people())
    assert f.meanings["grade"].ordered and f.words("grade") == ["low", "mid", "high"]
    assert f.meanings["seen"].zone == "Europe/Berlin" and f.meanings["born"].unit == "us"
    assert f.stored("grade").tolist() == [1, 3, 0] and f.stored("ok", (0, 2)).tolist() == [1, 0]


def test_numpy_reads_what_columns_mean(there):
    f = there(people())
    assert f["name"].tolist() == ["Ann", None, "Zoë"] and f["name", 2] == "Zoë"
    assert f["grade"].tolist() == ["low", "high", None]
    assert f["ok"].dtype == bool and f["ok"].tolist() == [True, False, True]
    assert isinstance(f["maybe"], np.ma.MaskedArray) and f["maybe"].tolist() == [True, None, False]
    assert f["maybe", 1] is np.ma.masked
    assert f["born"].dtype == np.dtype("M8[us]") and f["born"][0] == np.datetime64("2024-02-29T12:00")
    assert np.isnat(f["born"][1]) and f["seen"][0] == np.datetime64("2024-02-29T12:00")
    assert f["took"].tolist()[0] == dt.timedelta(seconds=1.5)
    assert f["n"].tolist() == [1, None, -(2**63)] and f["n"].dtype == np.int64
    assert np.isnan(f["x"][1]) and not isinstance(f["x"], np.ma.MaskedArray)
    assert {label: f[label].dtype for label in f.columns} == f.dtypes
    rows = f[[2, 0]]
    assert rows["name"].tolist() == ["Zoë", "Ann"] and rows["n"].tolist() == [-(2**63), 1]
    assert f[1]["n"] is np.ma.masked and f[0:2]["maybe"].tolist() == [True, None]
    got = f.read((1, 3), ["n", "name"])
    assert got["n"].tolist() == [None, -(2**63)] and got["name"].tolist() == [None, "Zoë"]


def test_arrow_reads_what_columns_mean(there):
    t = there(people()).to_arrow()
    assert t.schema.field("grade").type == pa.dictionary(pa.uint8(), pa.large_string(), True)
    assert t.schema.field("seen").type == pa.timestamp("ns", "Europe/Berlin")
    assert t.schema.field("took").type == pa.duration("ms") and t.schema.field("ok").type == pa.bool_()
    assert t["name"].to_pylist() == ["Ann", None, "Zoë"]
    assert t["grade"].to_pylist() == ["low", "high", None]
    assert t["maybe"].to_pylist() == [True, None, False] and t["n"].null_count == 1
    assert t["x"].null_count == 0 and np.isnan(t["x"][1].as_py())
    t.validate(full=True)


def test_arrow_tables_come_back_as_they_were(there):
    t = pa.table({
        "date": pa.array([dt.date(2024, 2, 29), None, dt.date(1, 1, 1)]),
        "s": pa.array([1, None, -5], pa.timestamp("s")),
        "zoned": pa.array([1, None, 2**52], pa.timestamp("us", "America/New_York")),
        "ns": pa.array([5, None, -5], pa.duration("ns")),
        "text": pa.array(["", None, "ünï" * 20], pa.large_string()),
        "bool": pa.array([None, True, False]),
        "float": pa.array([1.5, None, float("nan")]),
        "half": pa.array(np.array([0.5, 1.5, 2.5], "f2")),
    })  # fmt: skip
    for table in (t, t.slice(1), pa.concat_tables([t, t])):
        got = there(table).to_arrow()
        wanted = table.set_column(7, "half", table["half"].cast(pa.float32()))
        for label in wanted.column_names:
            assert str(got[label].to_pylist()) == str(wanted[label].to_pylist()), label
            assert got.schema.field(label).type == wanted.schema.field(label).type
    assert got["float"].null_count == 2


def test_dates_in_milliseconds_are_dates(there):
    day = 86_400_000
    dates = pa.array([19782 * day, None, -719162 * day], pa.date64())
    got = there(pa.table({"t": dates})).to_arrow()["t"]
    assert got.type == pa.date32() and got.to_pylist() == dates.to_pylist()
    halves = [pa.array([day], pa.date64()), pa.array([None, day + 1], pa.int64()).view(pa.date64())]
    got = there(pa.table({"t": pa.chunked_array(halves)}))["t"]  # which Arrow does not allow
    assert got.dtype == np.dtype("M8[ms]") and got.view("i8").tolist() == [day, -(2**63), day + 1]
    far = pa.array([2**31 * day], pa.int64()).view(pa.date64())
    assert there(pa.table({"t": far}))["t"].dtype == np.dtype("M8[ms]")


def test_dictionaries_of_batches_are_merged(there):
    batches = [pa.chunked_array([pa.array(words).dictionary_encode()])
               for words in (["b", "a", None], ["c", "b", "b"])]  # fmt: skip
    t = pa.concat_tables([pa.table({"k": one}) for one in batches])
    f = there(t)
    assert f["k"].tolist() == ["b", "a", None, "c", "b", "b"] and f.words("k") == ["b", "a", "c"]
    for index in (pa.int8(), pa.uint16(), pa.int64()):
        array = pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 2], index), ["x", None, "y"])
        assert there(pa.table({"k": array}))["k"].tolist() == [None, None, "x", "y"]
    for nothing in (pa.array([], pa.float64()), pa.array([], pa.null())):
        gone = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), nothing)
        assert there(pa.table({"k": gone}))["k"].tolist() == [None, None]


def test_polars_frames_come_back_as_they_were(there):
    t = pl.DataFrame({
        "cat": pl.Series(["a", None, "b"], dtype=pl.Categorical),
        "enum": pl.Series(["lo", "hi", None], dtype=pl.Enum(["lo", "hi"])),
        "text": ["short", None, "a string longer than twelve bytes"],
        "date": [dt.date(2024, 1, 1), None, dt.date(1900, 1, 1)],
        "time": pl.Series([dt.datetime(2024, 1, 1), None, dt.datetime(1900, 1, 1)], dtype=pl.Datetime("us", "UTC")),
        "span": [dt.timedelta(days=1), None, dt.timedelta(0)],
        "flag": [True, None, False],
        "n": pl.Series([1, None, 3], dtype=pl.UInt8),
    })  # fmt: skip
    got = there(t).to_polars()
    assert got["cat"].dtype == pl.Categorical
    assert got.sort("enum", nulls_last=True)["enum"].to_list() == ["lo", "hi", None]
    for label in t.columns:
        assert got[label].to_list() == t[label].to_list()
        if label != "cat":
            assert got[label].dtype == t[label].dtype
    assert there(t)["text", 2] == "a string longer than twelve bytes"
    assert there({"s": t["span"]})["s"].dtype == np.dtype("m8[us]")  # a Series in a mapping


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("missing", [True, False])
def test_numbers_of_which_some_are_missing(there, dtype, missing):
    info = np.iinfo(dtype.lower()) if "nt" in dtype else np.finfo(dtype.lower())
    values = [info.min, info.max, 0, 7, None if missing else 3]
    table = pd.DataFrame({"a": pd.array(values, dtype)})
    f = there(table)
    assert f.dtypes["a"] == np.dtype(dtype.lower())
    pd.testing.assert_frame_equal(f.to_pandas(), table)
    assert f.to_arrow()["a"].to_pylist() == values == f.to_polars()["a"].to_list()
    if "nt" in dtype:
        assert f["a"].tolist() == values
    # The mark of an integer is one that no cell holds, and the dtype wider where all are held.
    if dtype == "Int8":
        full = pd.DataFrame({"a": pd.array([*range(-128, 128), None], dtype)})
        f = there(full)
        assert f.dtypes["a"] == np.int16 and f["a"].tolist() == [*full["a"].tolist()[:-1], None]


def test_a_missing_float_is_no_nan(there):
    table = pa.table({"a": pa.array([1.0, float("nan"), None]), "b": pa.array([None, 2.0, 3.0], pa.float32())})
    f = there(table)
    assert f.to_arrow()["a"].null_count == 1 and np.isnan(f.to_arrow()["a"][1].as_py())
    p = f.to_pandas()
    assert p["a"].dtype == "Float64" and p["b"].dtype == "Float32" and p["b"].isna().tolist() == [True, False, False]
    assert np.isnan(f["a"][1:]).all() and f.meanings["a"].missing is not None


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", ["M", "m"])
def test_times_of_every_unit(there, unit, kind):
    ticks = np.array([0, -1, 10**6, "NaT"], f"{kind}8[{unit}]")
    for table in ({"t": ticks}, {"t": ticks.astype(ticks.dtype.newbyteorder(">"))}):
        f = there(table)
        assert f["t"].dtype == ticks.dtype and np.array_equal(f["t"], ticks, equal_nan=True)
    assert np.array_equal(f.to_pandas()["t"].to_numpy().astype(ticks.dtype), ticks, equal_nan=True)
    assert there(f.to_pandas()).to_arrow()["t"].null_count == 1
    assert f.to_arrow()["t"].to_pylist()[:2] == there(f.to_arrow()).to_arrow()["t"].to_pylist()[:2]


def test_times_in_other_units_are_converted_or_refused(there):
    assert there({"t": np.array(["2024-01"], "M8[M]")})["t"].tolist() == [dt.date(2024, 1, 1)]
    assert there({"t": np.array([2], "m8[h]")})["t"].tolist() == [dt.timedelta(hours=2)]
    assert there({"t": np.array([2], "m8[10s]")})["t"].dtype == np.dtype("m8[s]")
    for wrong in (np.array([1], "m8[Y]"), np.array([1], "m8[ps]"), np.array([1], "m8")):
        with pytest.raises(TypeError, match="column 't'"):
            there({"t": wrong})


def test_text_of_many_words(there):
    words = [f"word {k}" for k in range(70_000)]
    f = there({"many": np.array(words + words[::-1], object)})
    assert f.stored("many").dtype == np.uint32 and f["many", 69_999:70_001].tolist() == [words[-1]] * 2
    assert f.to_arrow()["many"].to_pylist() == words + words[::-1]
    assert f.to_pandas()["many"].tolist() == words + words[::-1]


def test_words_that_are_not_utf8_are_refused(there, tmp_path):
    odd = b"\xff".decode("utf-8", "surrogateescape")
    with pytest.raises(dp.Error, match=r"column 'odd' holds the word .* not UTF-8.*encoding='latin1'"):
        there({"odd": np.array([odd, "é"], object)})
    (tmp_path / "l.csv").write_bytes(b"a,b\n1,caf\xe9\n")
    with pytest.raises(dp.Error, match=r"line 2, column 2 .*not UTF-8"):
        dp.open(tmp_path / "l.csv")


def test_absent_words_are_missing_everywhere(tmp_path):
    path = tmp_path / "gap.dbdf"
    dp.write(path, pd.DataFrame({"s": list("abcdef")}), tile=(2, 1))
    data = bytearray(path.read_bytes())
    data[dp.open(path).blocks[1].offset + 10] ^= 1
    path.write_bytes(data)
    dp.repair(path, tmp_path / "kept.dbdf")
    dp.convert(tmp_path / "kept.dbdf", tmp_path / "whole.dbdf", absent="zero")
    f = dp.open(tmp_path / "whole.dbdf")
    want = ["a", "b", None, None, "e", "f"]
    assert f["s"].tolist() == want and f.to_arrow()["s"].to_pylist() == want
    assert f.to_pandas()["s"].isna().sum() == 2 and f.count_where("s", missing=True) == 2


def test_arrow_backed_and_sparse_pandas_columns(there):
    t = pd.DataFrame({"t": ["a", None], "n": [1, None]}).astype({"t": pd.ArrowDtype(pa.string()), "n": pd.ArrowDtype(pa.int32())})
    f = there(t)
    assert f["t"].tolist() == ["a", None] and f["n"].tolist() == [1, None]
    assert there(pd.DataFrame({"s": pd.arrays.SparseArray([0, 0, 1])}))["s"].tolist() == [0, 0, 1]


def test_a_frame_without_rows_keeps_its_columns(there):
    f = there(people()[:0])
    assert len(f) == 0 and f.words("grade") == ["low", "mid", "high"]
    pd.testing.assert_frame_equal(f.to_pandas(), people()[:0])
    assert f.to_arrow().num_rows == 0 and f.to_polars().shape == (0, 10) and f[:]["name"].tolist() == []


def test_a_frame_is_copied_with_its_meanings(there, tmp_path):
    f = there(people())
    dp.write(tmp_path / "copy.dbdf", f, sync=False)
    pd.testing.assert_frame_equal(dp.open(tmp_path / "copy.dbdf").to_pandas(), people())
    dp.convert(f, tmp_path / "part.dbdf", columns=["n", "name"], rows=(1, 3))
    assert dp.open(tmp_path / "part.dbdf")["name"].tolist() == [None, "Zoë"]


def test_csv_keeps_what_it_can(there, tmp_path):
    dp.convert(there(people()), tmp_path / "t.csv")
    f = dp.open(tmp_path / "t.csv")
    assert f["name"].tolist() == ["Ann", None, "Zoë"] and f["maybe"].tolist() == [True, None, False]
    assert f["born"][0] == np.datetime64("2024-02-29T12:00")
    kinds = {"grade": "category", "name": "text", "n": "i8"}
    f = dp.open(tmp_path / "t.csv", csv={"types": {"grade": "category", "x": "f4"}})
    assert f.meanings["grade"].kind == "category" and f.dtypes["x"] == np.float32
    with pytest.raises(TypeError, match="'wordy'"):
        dp.open(tmp_path / "t.csv", csv={"types": kinds | {"name": "wordy"}})


def test_info_tells_meanings(there):
    columns = {column["label"]: column for column in dp.info(there(people()).path)["columns"]}
    assert columns["grade"] == {"label": "grade", "value_type": "u8", "meaning": "category", "words": 3, "missing": True}
    assert columns["seen"]["zone"] == "Europe/Berlin" and "meaning" not in columns["x"]


def test_a_frame_writer_takes_meanings(there, tmp_path):
    f = there(people())
    path = tmp_path / "w.dbdf"
    columns = {
        "ok": bool, "grade": ["low", "mid", "high"], "born": "M8[us]", "took": np.dtype("m8[ms]"),
        "seen": f.meanings["seen"], "x": "f8",
    }  # fmt: skip
    table = people()
    with dp.frame_writer(path, 3, columns, sync=False) as w:
        assert w.columns["born"] == np.dtype("M8[us]") and w.columns["grade"] == object
        for label in columns:
            w[label, 0:2] = table[label][:2]
        w[2:3] = table[list(columns)][2:3]
    g = dp.open(path)
    for label in columns:
        assert str(g[label].tolist()) == str(f[label].tolist())
    assert g.meanings["seen"].zone == "Europe/Berlin"
    w = dp.frame_writer(tmp_path / "x.dbdf", 2, {"ok": bool, "grade": ["low"], "day": "M8[D]", "n": "i4"})
    for label, value, error in [
        ("grade", ["high", "low"], "no category 'high'"), ("grade", [1, 2], "holds words"),
        ("day", np.array(["2024-01-01T01:00"] * 2, "M8[s]"), "not exact"), ("day", [1, 2], "holds timestamps"),
        ("ok", np.array([True, None], object), "without missing"), ("n", ["a", "b"], "holds numbers"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=error):
            w[label] = value
    w.abort()


def test_times_with_a_zone_do_not_go_where_there_is_none(tmp_path):
    berlin = pd.Series(pd.to_datetime(["2024-01-01"])).dt.tz_localize("Europe/Berlin")
    for column in ("M8[s]", dp.Meaning("timestamp", unit="s", zone="UTC")):
        with dp.frame_writer(tmp_path / "w.dbdf", 1, {"t": column}, overwrite=True, sync=False) as w:
            if column == "M8[s]":
                with pytest.raises(ValueError, match="time zone"):
                    w["t"] = berlin
            else:
                w["t"] = berlin
    assert dp.open(tmp_path / "w.dbdf").to_pandas()["t"][0] == berlin[0]


@pytest.mark.parametrize("more, dtype", [
    ([-128, 5], "Int8"), ([127, -128], "Int8"), ([2**40, -128], "Int64"), ([0.5, -128.0], "Float64"),
])  # fmt: skip
def test_marks_of_missing_cells_are_no_values_of_other_frames(tmp_path, more, dtype):
    a, b, ab = (tmp_path / name for name in ("a.dbdf", "b.dbdf", "ab.dbdf"))
    dp.write(a, {"n": pd.array([1, None], "Int8")})
    for mark in (False, True):
        dp.write(b, {"n": pd.array([*more, None] if mark else more, dtype)}, overwrite=True)
        expected = [1, None, *more, *[None] * mark]
        dp.concat([a, b], ab, overwrite=True)
        assert dp.open(ab).to_arrow()["n"].to_pylist() == expected
        dp.concat([a], ab, overwrite=True)
        dp.append(ab, b)
        assert dp.open(ab).to_arrow()["n"].to_pylist() == expected
        assert not dp.verify(ab, payload=True).findings
    dp.convert(a, ab, dtype="f8", overwrite=True)
    assert dp.open(ab).to_arrow()["n"].to_pylist() == [1, None]


def test_a_frame_writer_takes_text(tmp_path):
    path = tmp_path / "t.dbdf"
    columns = {"t": str, "c": dp.Meaning("category"), "n": "i4"}
    with dp.frame_writer(path, 300, columns, sync=False) as w:
        for top in range(0, 300, 100):
            rows = range(top, top + 100)
            w[top : top + 100] = {
                "t": [f"text {row}" if row % 7 else None for row in rows],
                "c": np.array(["é", "b", "é"])[np.arange(top, top + 100) % 3],
                "n": np.array(rows),
            }
    g = dp.open(path)
    assert g.meanings["t"].kind == "text" and g.meanings["c"].words.tolist() == ["é", "b"]
    assert g["t"].tolist() == [f"text {row}" if row % 7 else None for row in range(300)]
    assert g["c"].tolist()[:4] == ["é", "b", "é", "é"] and g["n"][299] == 299


def test_a_plain_array_of_a_frame_tells_all_or_nothing(there):
    assert np.asarray(there({"n": np.array([1, 2])}))["n"].tolist() == [1, 2]
    assert np.asarray(there(pd.DataFrame({"n": pd.array([1, 2], "Int64")})))["n"].tolist() == [1, 2]
    with pytest.raises(ValueError, match="masked"):
        np.asarray(there(people()))


def test_xarray_reads_what_columns_mean(there):
    xr = pytest.importorskip("xarray")
    with xr.open_dataset(there(people()).path, engine="pydapple") as ds:
        assert ds["name"].values.tolist() == ["Ann", None, "Zoë"]
        assert ds["born"].dtype == np.dtype("M8[us]") and np.isnat(ds["born"].values[1])
        assert ds["n"].values[0] == 1 and np.isnan(ds["n"].values[1]) and ds["ok"].dtype == bool
        assert float(ds["maybe"][2]) == 0 and np.isnan(float(ds["maybe"][1]))
