"""Files as read-only Zarr stores, read by zarr-python, xarray and Dask."""

import asyncio
import json
import pickle

import numpy as np
import pytest
from conftest import DTYPES, KINDS, cells

import pydapple as dp

zarr = pytest.importorskip("zarr", minversion="3.0")

from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest  # noqa: E402

SHAPES = [(1, 1), (7, 5), (64, 64), (65, 129), (300, 2)]


def opened(store):
    return zarr.open_group(store, mode="r")


def listed(store, name, *given):
    async def every():
        return [key async for key in getattr(store, name)(*given)]

    return asyncio.run(every())


def value(store, key, request=None):
    buffer = store.get_sync(key, byte_range=request)
    return None if buffer is None else buffer.to_bytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_zarr_reads_every_cell_of_any_kind_and_type(make, kind, dtype):
    data = cells((130, 75), dtype)
    with_tiles = make(data, tile=(32, 20), kind=kind)
    array = opened(dp.zarr_store(with_tiles, chunks=(32, 20)))["data"]
    assert array.dtype == data.dtype
    assert array.chunks == (32, 20)
    assert array.metadata.dimension_names == ("row", "col")
    assert np.array_equal(array[:], data)
    assert np.array_equal(array[31:66, 7:75], data[31:66, 7:75])
    assert np.array_equal(array.oindex[[3, 129, 3], [74, 0]], data[np.ix_([3, 129, 3], [74, 0])])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("chunks", [None, (1, 1000), (13, 7), (64, 64)])
def test_edges_are_padded(make, shape, chunks):
    data = cells(shape, "f4")
    store = dp.zarr_store(make(data, tile=(64, 64)), chunks=chunks)
    array = opened(store)["data"]
    assert np.array_equal(array[:], data)
    size = np.prod(array.chunks) * 4
    assert {len(value(store, key)) for key in listed(store, "list") if "/c/" in key} == {size}


@pytest.mark.parametrize("pack", ["fast", "small"])
def test_packed_tiles(make, pack):
    data = cells((500, 300), "f8", density=0.05)
    assert np.array_equal(opened(dp.zarr_store(make(data, pack=pack)))["data"][:], data)


def test_values_keep_every_bit(make):
    data = np.array([[-0.0, 0.0, np.nan, np.inf], [5e-324, -np.inf, 1e308, 0.1]])
    read = opened(dp.zarr_store(make(data)))["data"][:]
    assert read.tobytes() == data.tobytes()


def test_other_formats_and_an_empty_matrix(tmp_path, make):
    data = cells((20, 30), "i2")
    np.save(tmp_path / "a.npy", data)
    assert np.array_equal(opened(dp.zarr_store(tmp_path / "a.npy"))["data"][:], data)
    np.savez(tmp_path / "a.npz", one=data, two=data + 1)
    assert np.array_equal(opened(dp.zarr_store(tmp_path / "a.npz", array="two"))["data"][:], data + 1)
    empty = make(np.empty((0, 4)))
    assert opened(dp.zarr_store(empty))["data"].shape == (0, 4)


def test_large_tiles_are_cut_and_small_ones_put_together(make):
    wide = make(cells((3000, 9000), "u1", density=0.001), tile=(3000, 9000), kind="csr")
    store = dp.zarr_store(wide)
    down, across = opened(store)["data"].chunks
    assert down * across <= 1 << 24
    assert np.array_equal(opened(store)["data"][:], wide[:])
    small = make(cells((400, 300), "f8"), tile=(10, 10))
    down, across = opened(dp.zarr_store(small))["data"].chunks
    assert down % 10 == 0 and down * across * 8 > 1 << 17


def test_parts_of_a_chunk(make):
    data = cells((20, 30), "i4")
    store = dp.zarr_store(make(data), chunks=(8, 16))
    for key in ("data/c/0/0", "data/c/2/1", "zarr.json"):
        whole = value(store, key)
        for first, last in [(0, 1), (3, 77), (5, 5), (100, 100_000), (64, 128)]:
            assert value(store, key, RangeByteRequest(first, last)) == whole[first:last]
        for at in (0, 1, 65, len(whole)):
            assert value(store, key, OffsetByteRequest(at)) == whole[at:]
        for count in (1, 64, 65, len(whole) + 5):
            assert value(store, key, SuffixByteRequest(count)) == whole[-count:]
    requests = [("data/c/0/0", RangeByteRequest(4, 8)), ("no", None), ("data/c/0/1", None)]
    parts = asyncio.run(store.get_partial_values(zarr.core.buffer.default_buffer_prototype(), requests))
    assert [part and part.to_bytes() for part in parts] == [
        data[0, 1].tobytes(), None, np.pad(data[:8, 16:], ((0, 0), (0, 2))).tobytes(),
    ]


def test_no_other_key_has_a_value(make):
    store = dp.zarr_store(make(cells((20, 30), "i4")), chunks=(8, 16))
    for key in ("", ".zgroup", "data", "data/c", "data/c/0", "data/c/3/0", "data/c/0/2", "data/c/00/0",
                "data/c/-1/0", "data/c/0/0/0", "data/c/ 0/0", "c/0/0", "../data/c/0/0", "data/../zarr.json"):
        assert value(store, key) is None
        assert not asyncio.run(store.exists(key))
    assert asyncio.run(store.exists("data/c/2/1"))


def test_keys_are_listed(make):
    store = dp.zarr_store(make(cells((20, 30), "i4")), chunks=(8, 16))
    chunks = [f"data/c/{i}/{j}" for i in range(3) for j in range(2)]
    assert listed(store, "list") == ["zarr.json", "data/zarr.json", *chunks]
    assert listed(store, "list_prefix", "data/c/1") == chunks[2:4]
    assert listed(store, "list_dir", "") == ["zarr.json", "data"]
    assert listed(store, "list_dir", "data") == ["zarr.json", "c"]
    assert listed(store, "list_dir", "data/c") == ["0", "1", "2"]
    assert listed(store, "list_dir", "data/c/2") == ["0", "1"]
    assert listed(store, "list_dir", "data/c/9") == []
    assert asyncio.run(store.getsize("data/c/0/0")) == 8 * 16 * 4


def test_metadata_is_consolidated(make):
    store = dp.zarr_store(make(cells((20, 30), "i4")))
    inline = json.loads(value(store, "zarr.json"))["consolidated_metadata"]["metadata"]
    assert inline == {"data": json.loads(value(store, "data/zarr.json"))}
    group = zarr.open_consolidated(store, mode="r")
    assert list(group.array_keys()) == ["data"]


def test_absent_cells_are_an_error_unless_asked_for_as_zero(make, tmp_path):
    whole = make(np.ones((4, 4)), tile=(2, 2), plain=True, kind="dense")
    cut = tmp_path / "cut.dbdf"
    with open(whole.path, "rb") as file:
        cut.write_bytes(file.read(whole.blocks[-1].offset - 16))
    for chunks in ((2, 2), (3, 4)):
        with pytest.raises(dp.AbsentError):
            opened(dp.zarr_store(cut, chunks=chunks))["data"][:]
        read = opened(dp.zarr_store(cut, chunks=chunks, absent="zero"))["data"][:]
        assert read.tolist() == [[1, 1, 1, 1]] * 2 + [[1, 1, 0, 0]] * 2


def test_the_store_is_read_only_and_pickles(make):
    store = dp.zarr_store(make(cells((20, 30), "i4")))
    assert store.read_only
    with pytest.raises(ValueError, match="read-only"):
        opened(store).create_array("b", shape=(2,), dtype="i4")
    with pytest.raises(ValueError, match="read-only"):
        zarr.open_array(store, path="data", mode="r+")[0, 0] = 1
    assert not store.supports_partial_writes  # zarr 3.0 makes no store that does not say
    with pytest.raises(ValueError, match="read-only"):
        asyncio.run(store.set_partial_values([("data/c/0/0", 0, b"x")]))
    again = pickle.loads(pickle.dumps(store))
    assert again == store
    assert np.array_equal(opened(again)["data"][:], opened(store)["data"][:])


def test_several_objects_in_one_group(make, there):
    x, raw = cells((20, 30), "f4"), cells((20, 5), "u2")
    obs = there({"a": np.arange(20), "b": ["x", "y"] * 10})
    store = dp.zarr_store({"X": make(x), "layers/raw": make(raw), "obs": obs})
    group = opened(store)
    assert np.array_equal(group["X"][:], x)
    assert np.array_equal(group["layers/raw"][:], raw)
    assert group["obs/b"][:].tolist() == ["x", "y"] * 10
    assert group["obs"].attrs["column-order"] == ["a", "b"]
    with pytest.raises(dp.InvalidArgumentError, match="two objects"):
        dp.zarr_store({"obs/a": make(x), "obs": obs})


def test_wrong_arguments(make):
    m = make(cells((20, 30), "i4"))
    for chunks in (5, (1, 2, 3), "ab"):
        with pytest.raises(TypeError, match="chunks"):
            dp.zarr_store(m, chunks=chunks)
    with pytest.raises(ValueError, match="one row or more"):
        dp.zarr_store(m, chunks=(0, 1))
    with pytest.raises(ValueError, match="open already"):
        dp.zarr_store(m, array="x")
    with pytest.raises(ValueError, match="empty mapping"):
        dp.zarr_store({})


def people():
    pd = pytest.importorskip("pandas")
    return pd.DataFrame({
        "number": np.arange(1000, dtype="i4"),
        "float": np.where(np.arange(1000) % 7 == 0, np.nan, np.arange(1000) / 3),
        "some": pd.array([None if k % 5 == 0 else k for k in range(1000)], dtype="Int64"),
        "flag": np.arange(1000) % 3 == 0,
        "maybe": pd.array([None if k % 4 == 0 else k % 3 == 0 for k in range(1000)], dtype="boolean"),
        "when": pd.to_datetime(np.arange(1000) * 86_400_007, unit="ms").where(np.arange(1000) != 5),
        "long": pd.to_timedelta(np.arange(1000), unit="s"),
        "c": ["", "a\0b", "\u00e9\u4e2d", "plain"] * 250,
        "kind": pd.Categorical(["low", "high"] * 500, categories=["low", "high"], ordered=True),
        "a/b": np.arange(1000.0),
        "__x": np.arange(1000.0),
        "..": np.arange(1000.0),
    })  # fmt: skip


def test_columns_of_a_frame(there):
    table = people()
    group = opened(dp.zarr_store(there(table), chunks=300))
    names = [str(name) for name in group.attrs["column-order"]]
    assert names == [*table.columns[:9], "a~2Fb", "~5F_x", "~2E~2E"]
    assert group["a~2Fb"].attrs["label"] == "a/b"
    assert group["number"].chunks == (300,)
    for name, label in zip(names, table.columns, strict=True):
        assert group[name].metadata.dimension_names == ("row",)
        if label in ("number", "float", "flag", "c", "a/b", "__x", ".."):
            np.testing.assert_array_equal(group[name][:], table[label].to_numpy())
    assert group["c"].dtype == zarr.dtype.VariableLengthUTF8().to_native_dtype()
    assert group["kind"][:4].tolist() == ["low", "high", "low", "high"]
    assert group["kind"].attrs["ordered_categories"] == ["low", "high"]
    some, mark = group["some"], group["some"].attrs["_FillValue"]
    assert [None if k == mark else int(k) for k in some[:]] == [None if k % 5 == 0 else k for k in range(1000)]
    assert group["when"].attrs["units"].endswith(" since 1970-01-01")


def test_labels_with_characters_that_zarr_or_addresses_take_for_others(there):
    labels = ["a/b", "p%q", "x?y", "h#i", "t~2F", "s\\t", "two\nlines", "zarr.json"]
    group = opened(dp.zarr_store(there({label: np.array([k]) for k, label in enumerate(labels, 1)})))
    assert sorted(group.keys()) == sorted(group.attrs["column-order"])
    for k, name in enumerate(group.attrs["column-order"], 1):
        assert (group[name].attrs["label"], group[name][0]) == (labels[k - 1], k)
        assert not set(name) & set("/%?#\\\n")


def test_attributes_and_dimensions_are_passed_on(make, there):
    attrs = {"title": "x", "list": [1, {"a": None}], "dimension_names": ["cell", "gene"]}
    array = opened(dp.zarr_store(make(np.eye(3), attrs=attrs)))["data"]
    assert array.metadata.dimension_names == ("cell", "gene")
    assert dict(array.attrs) == {"title": "x", "list": [1, {"a": None}]}
    frame = there({"a": np.arange(3)}, attrs={"from": "y", "column_attributes": {"a": {"unit": "m"}}})
    group = opened(dp.zarr_store(frame))
    assert dict(group.attrs) == {"from": "y", "column-order": ["a"]}
    assert dict(group["a"].attrs) == {"unit": "m"}


def test_names_are_coordinates_of_their_dimensions(make, there):
    xr = pytest.importorskip("xarray")
    cells = np.arange(6).reshape(2, 3)
    named = {"row_names": ["a/b", ""], "col_names": ["x", "ü", "7"]}
    for attrs in ({}, {"dimension_names": ["cell", "gene"]}):
        m = make(cells, **named, attrs=attrs)
        found = xr.open_zarr(dp.zarr_store(m))
        down, across = attrs.get("dimension_names", ("row", "col"))
        assert found["data"].dims == (down, across) and set(found.coords) == {down, across}
        assert found[down].values.tolist() == ["a/b", ""]
        assert found[across].values.tolist() == ["x", "ü", "7"]
    for odd in (["data", "c"], ["a/b", "c"]):  # no node can be called so
        m = make(cells, **named, attrs={"dimension_names": odd})
        assert sorted(opened(dp.zarr_store(m)).keys()) == ["c", "data"]
    many = [str(k) for k in range(70_000)]  # in several chunks
    f = there({"n": np.arange(70_000)}, row_names=many)
    assert xr.open_zarr(dp.zarr_store({"obs": f}), group="obs")["row"].values.tolist() == many
    f = there({"row": np.arange(2)}, row_names=["a", "b"])
    assert opened(dp.zarr_store(f))["row"][:].tolist() == [0, 1]


def test_missing_words_are_empty_and_small_files_have_a_group(there):
    group = opened(dp.zarr_store(there({"w": np.array(["x", None, "y"], object)})))
    assert group["w"][:].tolist() == ["x", "", "y"]


def test_text_columns_of_csv(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("name,age\nAda,36\nGrace,85\n")
    group = opened(dp.zarr_store(path))
    assert group["name"][:].tolist() == ["Ada", "Grace"]
    assert group["age"][:].tolist() == [36, 85]


def test_xarray_reads_what_our_engine_reads(there, make):
    xr = pytest.importorskip("xarray")
    frame = there(people())
    ours = xr.open_dataset(frame.path, engine="pydapple").load()
    ours = ours.rename({"a/b": "a~2Fb", "__x": "~5F_x", "..": "~2E~2E"})
    theirs = xr.open_zarr(dp.zarr_store(frame, chunks=300), chunks=None).load()
    assert list(theirs) == list(ours)
    for name in ours:
        mine, read = ours[name].values, theirs[name].values
        if mine.dtype.kind in "mM":
            assert read.dtype.kind == mine.dtype.kind
        np.testing.assert_array_equal(read, mine.astype(object) if mine.dtype.kind == "O" else mine)
    m = make(cells((300, 200), "f4"))
    data = xr.open_zarr(dp.zarr_store(m, chunks=(64, 50)))["data"]  # as a Dask array
    assert data.dims == ("row", "col")
    np.testing.assert_array_equal(data.values, m[:])
    np.testing.assert_array_equal(data[3:200:7, ::-1].values, m[:][3:200:7, ::-1])


def test_dask_reads_the_store_from_threads(make):
    da = pytest.importorskip("dask.array")
    m = make(cells((300, 200), "i8", density=0.05), kind="csr", tile=(40, 200))
    array = da.from_zarr(dp.zarr_store(m), "data")
    np.testing.assert_array_equal(array.compute(scheduler="threads"), m[:])


@pytest.mark.long
def test_dask_reads_the_store_from_processes(make):
    da = pytest.importorskip("dask.array")
    m = make(cells((300, 200), "i8", density=0.05), kind="csr", tile=(40, 200))
    array = da.from_zarr(dp.zarr_store(m), "data")
    assert array.sum(axis=0).compute(scheduler="processes", num_workers=2).tolist() == m[:].sum(axis=0).tolist()


def test_a_collection_is_a_group_of_its_matrices_and_frames(tmp_path):
    c = dp.write_collection(tmp_path / "c.dds", {"X": np.eye(3), "obs": {"n": [1, 2, 3]}, "layers/a": np.ones((3, 3)), "uns": {"k": 1}})
    for source in (c, c.path, dp.pack_collection(c.path, tmp_path / "c.zip")):
        group = zarr.open_group(dp.zarr_store(source), mode="r")
        assert sorted(group) == ["X", "layers", "obs"]
        assert group["X"][:].tolist() == np.eye(3).tolist() and group["layers/a"][1, 1] == 1
        assert group["obs/n"][:].tolist() == [1, 2, 3]
