"""Attributes of objects, and those of other libraries; the JSON and NumPy of Python are the oracle."""

import json
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import xarray as xr

import pydapple as dp
from pydapple import attributes, xarray_backend, zarr_nodes

NOTED = {
    "units": "mm",
    "run": 12,
    "exact": 2**63 + 5,
    "factor": 0.1,
    "ok": True,
    "nothing": None,
    "list": [1, "zwei", [3.5, {}]],
    "dict": {"a": {"b": [None]}, "": "ü 水"},
}


def test_attributes_are_read_once(make, tmp_path, monkeypatch):
    reads, read = [], dp.Matrix._attributes
    monkeypatch.setattr(dp.Matrix, "_attributes", lambda m: reads.append(m) or read(m))
    m = make(np.eye(3), attrs=NOTED)
    assert all(m.attrs[key] == value for key, value in NOTED.items()) and len(reads) == 1
    m.attrs["list"].append(1)
    m.attrs["list"][2][1]["x"] = 1
    m.attrs["dict"]["a"]["b"].clear()
    assert m.attrs == NOTED  # what a user does with a list is not what the file has
    looks, columns_in = [], attributes.columns_in
    for user in (xarray_backend, zarr_nodes):
        monkeypatch.setattr(user, "columns_in", lambda noted: looks.append(1) or columns_in(noted))
    labels = [f"c{k}" for k in range(50)]
    noted = {"column_attributes": {label: {"label": label} for label in labels}}
    f = make(pd.DataFrame({label: [1.0] for label in labels}), attrs=noted)
    with xr.open_dataset(f.path, engine="pydapple") as opened:
        assert all(opened[label].attrs == {"label": label} for label in labels)
    dp.zarr_store(f)
    assert len(looks) == 2


def test_attributes_come_back_as_they_were(make):
    m = make(np.eye(3), attrs=NOTED)
    assert m.attrs == NOTED and list(m.attrs) == list(NOTED)
    assert dp.info(m.path)["attributes"] == NOTED
    assert not dp.verify(m.path, payload=True).findings
    assert pickle.loads(pickle.dumps(m)).attrs == NOTED
    with pytest.raises(TypeError):
        m.attrs["run"] = 13
    assert make(np.eye(3)).attrs == {}


def test_numpys_numbers_and_arrays_are_taken(make):
    given = {
        "i": np.int64(-(2**63)), "u": np.uint64(2**64 - 1), "f": np.float64(0.1), "b": np.bool_(True),
        "single": np.float32(0.1), "text": np.str_("x"), "array": np.arange(6).reshape(2, 3),
        "none": np.array(7), "tuple": (np.int8(1), 2),
    }  # fmt: skip
    assert dict(make(np.eye(2), attrs=given).attrs) == {
        "i": -(2**63), "u": 2**64 - 1, "f": 0.1, "b": True, "single": float(np.float32(0.1)),
        "text": "x", "array": [[0, 1, 2], [3, 4, 5]], "none": 7, "tuple": [1, 2],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("attrs", "error", "words"),
    [
        ({"a": float("nan")}, TypeError, r"attrs\['a'\] is nan"),
        ({"a": [1, {"b": np.inf}]}, TypeError, r"attrs\['a'\]\[1\]\['b'\] is inf"),
        ({"a": 1j}, TypeError, r"attrs\['a'\] is a complex"),
        ({"a": np.array(["2020"], "M8[D]")}, TypeError, r"attrs\['a'\]\[0\] is a date"),
        ({"a": b"x"}, TypeError, "is a bytes"),
        ({"a": {3: 4}}, TypeError, r"attrs\['a'\] has the key 3"),
        ([("a", 1)], TypeError, "attrs is a mapping"),
        ({"a": "\ud800"}, ValueError, "no Unicode text"),
        ({"a": np.zeros(200_000)}, ValueError, "a file of its own"),
        ({"a": "x" * (1 << 20)}, ValueError, "more than 1048576"),
    ],
)
def test_what_json_has_not_is_refused_by_name(tmp_path, attrs, error, words):
    with pytest.raises(error, match=words):
        dp.write(tmp_path / "a.dbdf", np.eye(2), attrs=attrs)
    assert list(tmp_path.iterdir()) == []


def test_attributes_that_hold_themselves_are_refused(tmp_path):
    given = {}
    given["a"] = given
    with pytest.raises(ValueError, match="nested too deeply"):
        dp.write(tmp_path / "a.dbdf", np.eye(2), attrs=given)


def test_every_way_of_writing_takes_or_keeps_them(make, tmp_path):
    m = make(np.eye(4), attrs={"run": 1})
    dp.write(tmp_path / "kept.dbdf", m)
    dp.convert(m, tmp_path / "other.dbdf", attrs={"run": 2})
    dp.convert(m, tmp_path / "none.dbdf", attrs={})
    dp.concat([m, m], tmp_path / "two.dbdf")
    dp.repair(m.path, tmp_path / "sound.dbdf")
    dp.append(tmp_path / "kept.dbdf", np.eye(4))
    with dp.writer(tmp_path / "pieces.dbdf", (2, 2), "f8", attrs={"run": 3}) as w:
        w[:] = 1
    with dp.frame_writer(tmp_path / "frame.dbdf", 2, {"a": "f8"}, attrs={"run": 4}) as w:
        w["a"] = [1, 2]
    runs = {path.stem: dp.open(path).attrs.get("run") for path in tmp_path.glob("[!m]*.dbdf")}
    assert runs == {
        "kept": 1, "other": 2, "none": None, "two": 1, "sound": 1, "pieces": 3, "frame": 4,
    }  # fmt: skip


def test_a_target_without_a_place_for_them_is_told_of(make, tmp_path):
    m = make(np.eye(2), attrs={"run": 1})
    for name in ("a.csv", "a.npy", "a.npz", "a.mtx"):
        with pytest.warns(UserWarning, match="keeps no attributes") as told:
            dp.convert(m, tmp_path / name)
        assert told[0].filename == __file__


def test_attributes_of_pandas(there):
    t = pd.DataFrame({"a": [1, 2]})
    t.attrs = {"source": "lab 3", "scale": np.float64(0.5)}
    f = there(t)
    assert f.attrs == {"source": "lab 3", "scale": 0.5}
    assert f.to_pandas().attrs == dict(f.attrs) and f.head(1).attrs == dict(f.attrs)
    assert there(t, attrs={"mine": 1}).attrs == {"mine": 1}
    t.attrs["when"] = pd.Timestamp(2020, 1, 1)
    with pytest.warns(UserWarning, match="not kept: the attributes of the DataFrame.*'when'"):
        assert there(t).attrs == {"source": "lab 3", "scale": 0.5}


METADATA = {
    b"text": b"just text", b"number": b"12", b"digits": b"007", b"spaced": b"[1,2]",
    b"json": b'{"a": [1, null]}', b"nan": b"NaN", b"quoted": b'"12"', b"empty": b"",
    "schlüssel".encode(): "wört".encode(), b"exponent": b"1e5",
}  # fmt: skip


def test_metadata_of_arrow_come_back_byte_for_byte(there, tmp_path):
    field = pa.field("a", pa.int64(), metadata={b"units": b"mm", b"PARQUET:field_id": b"1"})
    table = pa.table([[1, 2], [3, 4]], schema=pa.schema([field, ("b", pa.int64())], METADATA))
    f = there(table)
    known = {"number": 12, "digits": "007", "json": {"a": [1, None]}, "exponent": "1e5", "quoted": "12"}
    assert {key: f.attrs[key] for key in known} == known
    assert f.attrs["column_attributes"] == {"a": {"units": "mm"}}
    back = f.to_arrow()
    assert back.schema.metadata == METADATA and back == table
    assert back.schema.field("a").metadata == {b"units": b"mm"}
    assert back.schema.field("b").metadata is None
    assert f.to_arrow(columns=["b", "a"]).schema.field("a").metadata == {b"units": b"mm"}
    dp.convert(f, tmp_path / "x.feather")
    assert pa.feather.read_table(tmp_path / "x.feather").schema.metadata == METADATA


def test_attributes_come_back_through_arrow(there):
    given = {**NOTED, "12": "12", "true": "true", "quoted": '"x"'}
    f = there({"a": [1]}, attrs=given)
    assert there(f.to_arrow()).attrs == given


def test_bytes_that_are_no_text_are_told_of(there):
    table = pa.table({"a": [1]}).replace_schema_metadata({b"raw": b"\xff", b"ok": b"1"})
    with pytest.warns(UserWarning, match="not kept: the metadata b'raw'"):
        assert there(table).attrs == {"ok": 1}


def test_parquet_files_of_pandas_keep_what_pandas_says(tmp_path):
    t = pd.DataFrame({"a": pd.array([1, None], "Int8"), "b": ["x", "y"]}, pd.RangeIndex(5, 9, 2))
    t.attrs = {"source": "lab 3", "run": 12}
    t.to_parquet(tmp_path / "a.parquet")
    dp.convert(tmp_path / "a.parquet", tmp_path / "a.dbdf")
    f = dp.open(tmp_path / "a.dbdf")
    assert f.attrs["source"] == "lab 3" and f.attrs["run"] == 12
    assert f.attrs["pandas"]["index_columns"][0]["start"] == 5
    dp.convert(f, tmp_path / "b.parquet")
    back = pd.read_parquet(tmp_path / "b.parquet")
    pd.testing.assert_frame_equal(back, t)
    assert back.attrs["source"] == "lab 3" and back.attrs["run"] == 12
    before = pq.read_schema(tmp_path / "a.parquet").metadata[b"pandas"]
    assert json.loads(pq.read_schema(tmp_path / "b.parquet").metadata[b"pandas"]) == json.loads(before)


def test_attributes_of_xarray(make, tmp_path):
    given = xr.DataArray(
        np.arange(6.0).reshape(2, 3), dims=("time", "x"), attrs={"units": "K", "valid": np.arange(2)}
    )
    m = make(given)
    assert m.attrs == {"units": "K", "valid": [0, 1], "dimension_names": ["time", "x"]}
    with xr.open_dataset(m.path, engine="pydapple") as back:
        assert back["data"].dims == ("time", "x")
        assert back["data"].attrs == {"units": "K", "valid": [0, 1]}
        np.testing.assert_array_equal(back["data"], given)
    with pytest.warns(UserWarning, match="not kept: the coordinate 'x'"):
        make(given.assign_coords(x=[10, 20, 30]))


def test_attributes_of_columns_at_the_variables_of_xarray(there):
    noted = {"run": 1, "column_attributes": {"a": {"units": "mm"}}}
    f = there({"a": [1, 2], "b": ["x", "y"]}, attrs=noted)
    with xr.open_dataset(f.path, engine="pydapple") as back:
        assert back.attrs == {"run": 1}
        assert back["a"].attrs == {"units": "mm"} and back["b"].attrs == {}
