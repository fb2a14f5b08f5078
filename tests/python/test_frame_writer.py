"""Frames written by parts: columns like those of another file, and with missing cells."""

import datetime as dt
import re

import numpy as np
import pytest

import pydapple as dp

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")


def table():
    stamps = pd.to_datetime(["2024-02-29T12:00:00", None]).as_unit("us")
    return pd.DataFrame({
        "i": pd.array([1, None], "Int64"), "u": pd.array([None, 2**64 - 1], "UInt64"),
        "small": np.array([1, 2], "i2"), "x": [1.5, np.nan], "f": pd.array([0.5, None], "Float32"),
        "ok": [True, False], "maybe": pd.array([None, True], "boolean"),
        "born": stamps, "seen": stamps.tz_localize("UTC").tz_convert("Europe/Berlin"),
        "took": pd.to_timedelta([1500, None], unit="ms").as_unit("ms"),
        "grade": pd.Categorical(["low", None], ["low", "high"], ordered=True),
        "name": pd.array(["Ann", None], "str" if pd.__version__ >= "3" else "string"),
    })  # fmt: skip


def test_a_frame_is_written_with_the_meanings_of_another(there, tmp_path):
    f = there(table())
    path = tmp_path / "copy.dbdf"
    with dp.frame_writer(path, 4, f.meanings, sync=False) as w:
        w[0:2] = f.to_pandas()
        for name in f.columns:
            w[name, 2:4] = f.to_pandas()[name]
    g = dp.open(path)
    whole = g.to_pandas()
    pd.testing.assert_frame_equal(whole[:2], f.to_pandas())
    pd.testing.assert_frame_equal(whole[2:].reset_index(drop=True), f.to_pandas())
    assert g.dtypes == f.dtypes and not dp.verify(path, payload=True).findings
    # As NumPy has the columns of a file that holds no NaN beside missing floats.
    with dp.frame_writer(path, 2, f.meanings, overwrite=True, sync=False) as w:
        w[0:2] = f.read()
    assert str(dp.open(path)[:].tolist()) == str(f[:].tolist())


def test_every_readable_frame_has_meanings_that_a_writer_takes(tmp_path):
    (tmp_path / "t.csv").write_text("a,a,b,c,d\n1,0.5,x,true,2024-01-01\n,,,,\n3,1.5,y,false,2024-01-02\n")
    dp.convert(tmp_path / "t.csv", tmp_path / "t.dbdf")
    for source in ("t.csv", "t.dbdf"):
        f = dp.open(tmp_path / source)
        with dp.frame_writer(tmp_path / "w.dbdf", 3, f.meanings, overwrite=True, sync=False) as w:
            w[0:3] = f.to_polars()
        g = dp.open(tmp_path / "w.dbdf")
        assert g.columns == f.columns == ("a", "a.1", "b", "c", "d")
        assert g.to_arrow().to_pylist() == f.to_polars().to_dicts()


def test_columns_of_pandas_dtypes_have_room_for_missing_cells(tmp_path):
    columns = {
        "a": "Int32", "b": pd.Int32Dtype(), "c": pd.ArrowDtype(pa.int32()), "d": "UInt8", "e": "Float32",
        "f": pd.Float64Dtype(), "g": "boolean", "h": pd.BooleanDtype(), "i": "category", "j": pd.StringDtype(),
        "k": pd.CategoricalDtype(["x", "y"], ordered=True), "l": pd.DatetimeTZDtype("ms", "Europe/Berlin"),
        "m": "string", "n": pd.CategoricalDtype(), "o": "M8[s]", "p": dp.Meaning(stored="int16", missing=7),
    }  # fmt: skip
    values = [5, 5, 5, 5, 0.5, 0.5, True, True, "x", "x", "x", pd.Timestamp(0, tz="UTC"), "x", "x",
              dt.datetime(2024, 1, 1), 5]  # fmt: skip
    path = tmp_path / "w.dbdf"
    with dp.frame_writer(path, 7, columns, sync=False) as w:
        for name, value in zip(columns, values, strict=True):
            w[name, 0:2] = np.array([value, None], object)
            w[name, 2:3] = None
            w[name, 3:4] = pd.DataFrame({name: [None]})[name]
            w[name, 4:5] = [np.nan] if columns[name] not in ("Float32", pd.Float64Dtype()) else None
            w[name, 5:6] = np.ma.masked
            w[name, 6:7] = pd.Series([value])
    f = dp.open(path)
    read = f.to_arrow()
    for name in columns:
        assert read[name].is_valid().to_pylist() == [True, *[False] * 5, True], name
    dtypes = {name: f.dtypes[name].str.strip("<|") for name in columns}
    assert list(dtypes.values()) == [
        "i4", "i4", "i4", "u1", "f4", "f8", "b1", "b1", "O", "O", "O", "M8[ms]", "O", "O", "M8[s]", "i2"
    ]  # fmt: skip
    assert f.meanings["k"].ordered and f.meanings["l"].zone == "Europe/Berlin"
    assert f.meanings["i"].kind == f.meanings["n"].kind == "category" and f.meanings["j"].kind == "text"
    assert not dp.verify(path, payload=True).findings


def test_missing_cells_have_a_place_or_are_refused(tmp_path):
    columns = {"i": "i4", "u": np.uint8, "x": "f8", "b": bool, "n": "Int8", "t": dp.Meaning("timestamp", unit="us")}
    w = dp.frame_writer(tmp_path / "w.dbdf", 2, columns, sync=False)
    for name, dtype in [("i", "'Int32'"), ("u", "'UInt8'"), ("x", "'Float64'"), ("b", "'boolean'")]:
        for missing in (np.array([True, None], object), [None, None], np.ma.array([1, 0], mask=[0, 1])):
            with pytest.raises(dp.InvalidArgumentError, match=f"without missing values; {dtype}"):
                w[name] = missing
    w["i"] = pd.array([1, 2], "Int64")  # none of which is missing
    with pytest.raises(dp.InvalidArgumentError, match="-128 marks its missing cells"):
        w["n"] = [1, -128]
    w["n"], w["t"] = [None, -127], [None, dt.datetime(2024, 1, 1)]
    w.finish()
    f = dp.open(tmp_path / "w.dbdf")
    assert f["n"].tolist() == [None, -127] and f.to_arrow()["t"].is_null().to_pylist() == [True, False]
    for wrong in (dp.Meaning(), dp.Meaning(missing=1)):
        with pytest.raises(dp.InvalidArgumentError, match="stored='int32'"):
            dp.frame_writer(tmp_path / "x.dbdf", 2, {"a": wrong})
    for wrong in (dp.Meaning(stored="int8", missing=256), dp.Meaning(stored="int8", missing=-1)):
        with pytest.raises(dp.InvalidArgumentError, match="no place in int8"):
            dp.frame_writer(tmp_path / "x.dbdf", 2, {"a": wrong})
    for wrong in ("Int7", dp.Meaning(stored="nope"), pd.PeriodDtype("D")):
        with pytest.raises(dp.TypeMismatchError):
            dp.frame_writer(tmp_path / "x.dbdf", 2, {"a": wrong})


def test_columns_like_those_of_a_file_take_its_cells_and_any_text(there, tmp_path):
    words = [["a", None, "b"], [None, None, None], ["", "b", "a"]]
    for given in words:
        f = there({
            "t": pd.Series(given, dtype="str"),
            "c": pd.Categorical(given, sorted({*given} - {None}), ordered=True),
        })
        with dp.frame_writer(tmp_path / "w.dbdf", 4, f.meanings, overwrite=True, sync=False) as w:
            w[0:3] = f[0:3]
            w["t", 3:4] = ["new"]
            w["c", 3:4] = [None]
        with dp.open(tmp_path / "w.dbdf") as g:
            assert g["t"].tolist() == [*given, "new"] and g["c"].tolist() == [*given, None]
            assert g.meanings["t"].kind == "text" and g.meanings["c"].ordered
            assert g.words("c") == f.words("c")


@pytest.mark.parametrize("name", ["datetime64[ns, UTC]", "datetime64[s, Europe/Oslo]", "string[pyarrow]", "int64[pyarrow]"])
def test_dtypes_are_given_by_the_names_that_pandas_knows(tmp_path, name):
    if "pyarrow" in name:
        pytest.importorskip("pyarrow")
    given = ["2020-01-01", None] if name[0] == "d" else ["a", None] if name[0] == "s" else [1, None]
    table = pd.DataFrame({"a": pd.Series(pd.to_datetime(given) if name[0] == "d" else given)})
    table["a"] = table["a"].dt.tz_localize("UTC").astype(name) if name[0] == "d" else table["a"].astype(name)
    with dp.frame_writer(tmp_path / "x.dbdf", 2, {"a": name}, sync=False) as w:
        w[:] = table
    dp.write(tmp_path / "y.dbdf", table, sync=False)
    made, wanted = (dp.open(tmp_path / f"{one}.dbdf").to_pandas() for one in "xy")
    pd.testing.assert_frame_equal(made, wanted)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("u8", 2.0**64), ("i8", 2.0**63), ("i8", -(2.0**63) * 1.5), ("u4", 2.0**32), ("i4", 0.5), ("u1", -1)],
)
def test_a_value_that_does_not_fit_is_told_by_column_row_and_value(tmp_path, dtype, value):
    given = np.zeros(9, type(value))
    given[7] = value
    told = rf"column 'n': {re.escape(str(given[7]))} \({given.dtype}\) in row 7 of these is not exact as u?int"
    with pytest.raises(dp.InvalidArgumentError, match=told), dp.frame_writer(tmp_path / "x.dbdf", 9, {"n": dtype}) as w:
        w[:] = {"n": given}
    assert not list(tmp_path.iterdir())
