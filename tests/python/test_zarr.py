"""Zarr hierarchies that zarr-python and anndata write, read in place: every cell."""

import concurrent.futures
import json
import multiprocessing
import os
import pickle
import shutil
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from opened import opened_in

import pydapple as dp

zarr = pytest.importorskip("zarr", minversion="3.0")

from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec  # noqa: E402

TYPES = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
BLOSC = [
    BloscCodec(cname=name, shuffle=shuffle)
    for name in ("lz4", "zstd", "blosclz", "zlib")
    for shuffle in ("noshuffle", "shuffle", "bitshuffle")
]
CODECS = [None, ZstdCodec(level=1), GzipCodec(level=1), [GzipCodec(level=1), Crc32cCodec()], *BLOSC]


def values(shape, dtype, seed=1):
    random = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return random.random(shape) < 0.5
    if kind.kind == "f":
        return random.normal(size=shape).astype(kind)
    ends = np.iinfo(kind)
    return random.integers(ends.min, ends.max, shape, dtype=kind.newbyteorder("="), endpoint=True).astype(kind)


def as_read(data):
    """Booleans are u8 in a matrix, half floats f32."""
    data = data.astype("f4") if data.dtype == np.float16 else data
    data = data.astype("u1") if data.dtype == bool else data
    return np.ascontiguousarray(data.astype(data.dtype.newbyteorder("=")))


def require_equal(path, data, **options):
    wanted = as_read(data)
    with dp.open(path, **options) as m:
        assert m.format == "zarr"
        assert m.shape == wanted.shape and m.dtype == wanted.dtype
        assert m[:].tobytes() == wanted.tobytes()
        for rows, cols in ((slice(3, 11), slice(5, 8)), (slice(9, 31), slice(None)), (slice(36, 37), slice(0, 1))):
            assert m[rows, cols].tobytes() == np.ascontiguousarray(wanted[rows, cols]).tobytes()


@pytest.mark.parametrize("codec", CODECS, ids=str)
def test_types_and_compressors(tmp_path, codec):
    for dtype in TYPES:
        data = values((37, 23), dtype)
        path = tmp_path / f"{dtype}.zarr"
        zarr.create_array(path, shape=data.shape, chunks=(10, 7), dtype=dtype, compressors=codec)[:] = data
        require_equal(path, data)


@pytest.mark.parametrize("shards", [None, (20, 14), (40, 28)])
@pytest.mark.parametrize("order", [None, (1, 0)])
@pytest.mark.parametrize("endian", ["big", "little"])
def test_shards_transposes_and_byte_orders(tmp_path, endian, order, shards):
    for dtype in ("i2", "f4", "f8", "f2"):
        data = values((37, 23), dtype)
        path = tmp_path / f"{dtype}.zarr"
        filters = [TransposeCodec(order=order)] if order else None
        array = zarr.create_array(
            path, shape=data.shape, chunks=(10, 7), shards=shards, dtype=dtype, filters=filters,
            serializer=BytesCodec(endian=endian), fill_value=3,
        )
        array[:30, :20] = data[:30, :20]  # some chunks are not there
        require_equal(path, array[:])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("separator", [".", "/"])
def test_version_2(tmp_path, separator, order):
    numcodecs = pytest.importorskip("numcodecs")
    for k, codec in enumerate((None, numcodecs.Blosc(), numcodecs.Zlib(), numcodecs.GZip(), numcodecs.Zstd())):
        for dtype in ("<f4", ">i4", "|u1", ">f8", "|b1"):
            data = values((37, 23), dtype)
            path = tmp_path / f"{k}{dtype[1:]}.zarr"
            array = zarr.create_array(
                path, shape=data.shape, chunks=(10, 7), dtype=data.dtype, compressors=codec, zarr_format=2,
                order=order, chunk_key_encoding={"name": "v2", "separator": separator},
            )
            array[:] = data
            require_equal(path, data)


@pytest.mark.parametrize("dtype, fill", [
    ("f8", np.nan), ("f8", np.inf), ("f8", -np.inf), ("f8", -0.0), ("f8", 1e300), ("f4", 0.1),
    ("u8", 2**64 - 1), ("i8", -(2**63)), ("i1", -1), ("bool", True),
])  # fmt: skip
def test_fill_values(tmp_path, dtype, fill):
    path = tmp_path / "a.zarr"
    array = zarr.create_array(path, shape=(5, 6), chunks=(2, 2), dtype=dtype, fill_value=fill)
    array[0, 0] = 1
    assert dp.open(path)[:].tobytes() == as_read(array[:]).tobytes()


def test_slices_of_more_dimensions(tmp_path):
    data = values((4, 5, 6, 7), "i4")
    path = tmp_path / "a.zarr"
    zarr.create_array(path, shape=data.shape, chunks=(2, 2, 4, 3), dtype="i4")[:] = data
    assert np.array_equal(dp.open(path, array="[1,:,3,:]")[:], data[1, :, 3, :])
    assert np.array_equal(dp.open(path, array="[3,4,:,:]")[:], data[3, 4])
    assert np.array_equal(dp.open(path, array="[:,1,5,6]")[:], data[:, 1, 5, 6].reshape(-1, 1))
    for array in ("[1,:,3]", "[4,0,:,:]", "[:,:,:,0]", "[0,0,0,0]", "[x,0,:,:]"):
        with pytest.raises(ValueError, match="one slice"):
            dp.open(path, array=array)
    with pytest.raises(dp.UnsupportedError, match=r"4 dimensions: open a slice, .\[0,0,:,:\]"):
        dp.open(path)


@pytest.mark.parametrize("consolidated", [False, True])
@pytest.mark.parametrize("version", [2, 3])
def test_groups(tmp_path, version, consolidated):
    path = tmp_path / "g.zarr"
    group = zarr.create_group(path, zarr_format=version)
    below = group.create_group("p").create_group("q")
    a, b = values((3, 4), "f4"), values((5, 6), "i2")
    attributes = {"units": "m", "n": [1, {"z": None}], "text": 'a"b\n\u00e9'}
    names = {"dimension_names": ("y", "x")} if version == 3 else {}
    below.create_array("a", shape=a.shape, chunks=(2, 2), dtype="f4", attributes=attributes, **names)[:] = a
    group.create_array("v", shape=(3,), chunks=(3,), dtype="i4")
    if consolidated:
        zarr.consolidate_metadata(path)
    m = dp.open(path)  # the only matrix
    assert np.array_equal(m[:], a)
    assert m.contents() == ["p/q/a", "v"]
    known = dict(m.attrs)
    if version == 3:
        assert known.pop("dimension_names") == ["y", "x"]
    assert known == attributes
    assert np.array_equal(dp.open(path, array="/p/q/a/")[:], a)
    if not consolidated:
        below.create_array("b", shape=b.shape, chunks=(2, 2), dtype="i2")[:] = b
        with pytest.raises(ValueError, match="p/q/a, p/q/b, v"):
            dp.open(path)
        assert np.array_equal(dp.open(path, array="p/q/b")[:], b)
    with pytest.raises(ValueError, match="no array 'nothing'"):
        dp.open(path, array="nothing")
    for array in ("../g.zarr/v", "p/../v", "p//q/a"):
        with pytest.raises(ValueError, match="no path"):
            dp.open(path, array=array)


def test_a_hierarchy_of_many_groups_is_listed_without_its_square(tmp_path):
    array = (
        '{"zarr_format":2,"shape":[1],"chunks":[1],"dtype":"|i1","compressor":null,"fill_value":0,'
        '"order":"C","filters":null}'
    )
    groups = [f'"g{k}/.zgroup":{{"zarr_format":2}},"g{k}/a/.zarray":{array}' for k in range(49_000)]
    some = ['"g-/.zgroup":{"zarr_format":2}', f'"g-/a-/.zarray":{array}', f'"g-/a/.zarray":{array}']
    known = ",".join(['".zgroup":{"zarr_format":2}', *some, *groups])
    path = tmp_path / "many.zarr"
    path.mkdir()
    (path / ".zgroup").write_text('{"zarr_format":2}')
    (path / ".zmetadata").write_text(
        f'{{"metadata":{{{known}}},"zarr_consolidated_format":1}}'
    )
    with pytest.raises(ValueError, match="49002 arrays: g-/a, g-/a-, g0/a, g1/a"):  # not in minutes
        dp.open(path)


def test_consolidated_metadata_are_parsed_for_what_is_opened(tmp_path):
    group = zarr.create_group(tmp_path / "g.zarr")
    for name in ("a", 'b"]', "obs"):
        group.create_array(name, shape=(2, 3), chunks=(2, 3), dtype="i4")[:] = 7
    zarr.consolidate_metadata(tmp_path / "g.zarr")
    file = tmp_path / "g.zarr/zarr.json"
    whole = file.read_text()
    at = whole.index("regular", whole.index('"obs"'))
    file.write_text(whole[: at + 7] + whole[at + 8 :])  # a string of one array does not end
    with pytest.raises(dp.CorruptError, match="not valid JSON"):
        dp.open(tmp_path / "g.zarr", array="a")
    at = whole.index('"shape"', whole.index('"obs"'))
    file.write_text(f"{whole[:at]}?{whole[at:]}")
    for name in ("a", 'b"]'):
        assert (dp.open(tmp_path / "g.zarr", array=name)[:] == 7).all()
    with pytest.raises(dp.CorruptError, match=r"zarr\.json: .*not valid JSON") as raised:
        dp.open(tmp_path / "g.zarr", array="obs")
    assert raised.value.offset == at
    assert dp.verify(tmp_path / "g.zarr").findings


def test_a_chunk_that_is_too_large_to_be_kept_with_others_is_decompressed_once(tmp_path):
    data = np.zeros((1 << 17, 1100), "u1")  # more than half of what is kept of all
    data[:, 7] = 3
    zarr.create_array(
        tmp_path / "a.zarr", shape=data.shape, chunks=data.shape, dtype="u1", compressors=ZstdCodec(level=1)
    )[:] = data
    m = dp.open(tmp_path / "a.zarr")
    assert m[0, 5:9].tolist() == [0, 0, 3, 0]
    (tmp_path / "a.zarr/c/0/0").unlink()
    for row in (1, 99_999, 5):
        assert m[row, 5:9].tolist() == [0, 0, 3, 0]


def test_chunks_that_are_more_than_is_kept_are_converted_one_after_the_other(tmp_path):
    shape = (18_432, 16_384)  # in chunks of 72 MiB, of which all beside each other are not kept
    array = zarr.create_array(
        tmp_path / "a.zarr", shape=shape, chunks=(shape[0], 4096), dtype="u1", compressors=ZstdCodec(level=1)
    )
    array[:] = 7
    array[18_000:18_100, 4090:4100] = 9
    made = tmp_path / "a.dbdf"
    chunks = tmp_path / "a.zarr/c/0"
    count = opened_in(chunks, lambda: dp.convert(tmp_path / "a.zarr", made, pack="fast", sync=False, threads=1))
    assert count <= 8  # one may be needed for tiles that begin in the one before
    m = dp.open(made)
    assert m.shape == shape and m.stats().sum == 7 * shape[0] * shape[1] + 2 * 1000
    assert m[18_050, 4085:4105].tolist() == [7] * 5 + [9] * 10 + [7] * 5


def test_an_archive_of_many_members_is_opened_without_their_square(tmp_path):
    array = zarr.create_array(tmp_path / "a.zarr", shape=(60_000,), chunks=(1,), dtype="u1", compressors=None)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for k in range(60_000):
            archive.writestr(f"c/{k}", bytes([k % 251]))
        archive.write(tmp_path / "a.zarr/zarr.json", "zarr.json")
    m = dp.open(tmp_path / "a.zip")  # not in a minute
    assert m.shape == (60_000, 1) == (*array.shape, 1) and m[59_999, 0] == 59_999 % 251


def test_what_is_not_read_is_named(tmp_path):
    cases = {
        "complex64": {"dtype": "c8"},
        "rectilinear": {},
    }
    for name, options in cases.items():
        path = tmp_path / f"{name}.zarr"
        zarr.create_array(path, shape=(4, 4), chunks=(2, 2), **({"dtype": "f4"} | options))
        if name == "rectilinear":
            meta = json.loads((path / "zarr.json").read_text())
            meta["chunk_grid"]["name"] = name
            (path / "zarr.json").write_text(json.dumps(meta))
        with pytest.raises(dp.UnsupportedError, match=name):
            dp.open(path)
    path = tmp_path / "codec.zarr"
    zarr.create_array(path, shape=(4, 4), chunks=(2, 2), dtype="f4")
    text = (path / "zarr.json").read_text()
    (path / "zarr.json").write_text(text.replace('"zstd"', '"zfp"'))
    with pytest.raises(dp.UnsupportedError, match="the codec 'zfp'"):
        dp.open(path)


def test_converted(tmp_path):
    data = values((300, 200), "i4") % 3
    zarr.create_array(tmp_path / "a.zarr", shape=data.shape, chunks=(64, 64), dtype="i4")[:] = data
    dp.convert(tmp_path / "a.zarr", tmp_path / "a.dbdf")
    assert np.array_equal(dp.open(tmp_path / "a.dbdf")[:], data)
    assert not dp.verify(tmp_path / "a.zarr", payload=True).findings
    group = zarr.create_group(tmp_path / "g.zarr")
    for name in ("X", "other"):
        group.create_array(name, shape=(4, 4), chunks=(2, 4), dtype="i4")[:] = 7
    whole = dp.verify(tmp_path / "g.zarr", payload=True)
    assert not whole.findings and whole.blocks == 2 * dp.verify(tmp_path / "g.zarr", array="X").blocks
    (tmp_path / "g.zarr/other/c/1/0").write_bytes(b"no chunk")
    assert "other" in str(dp.verify(tmp_path / "g.zarr", payload=True).findings[0])


def test_a_zip_store_that_was_written_twice_is_read_as_it_is_now(tmp_path):
    data = values((6, 4), "i4")
    with zarr.storage.ZipStore(tmp_path / "a.zip", mode="w") as store:
        array = zarr.create_array(store, shape=(4, 4), chunks=(2, 2), dtype="i4")
        array[:] = 1
        with pytest.warns(UserWarning, match="Duplicate name"):
            array.resize((6, 4))
            array[:] = data
    require_equal(tmp_path / "a.zip", data)


def damaged(path, key, change):
    file = os.path.join(path, key)
    data = bytearray(open(file, "rb").read())
    change(data)
    with open(file, "wb") as out:
        out.write(data)


def test_damaged_chunks_name_their_key(tmp_path):
    data = values((64, 64), "f4")
    for name, codec in (("zstd", ZstdCodec()), ("gzip", GzipCodec()), ("blosc", BloscCodec()),
                        ("crc", [ZstdCodec(), Crc32cCodec()]), ("plain", None)):
        path = tmp_path / f"{name}.zarr"
        zarr.create_array(path, shape=data.shape, chunks=(32, 32), dtype="f4", compressors=codec)[:] = data
        damaged(path, "c/1/0", lambda b: b.__delitem__(slice(len(b) // 2, None)))
        m = dp.open(path)
        assert np.array_equal(m[:32], data[:32])
        with pytest.raises(dp.CorruptError, match="c/1/0"):
            m[:]


def bytes_read():
    with open("/proc/self/io") as file:
        return int(file.readline().split()[1])


def test_rows_at_random_decode_a_chunk_once(tmp_path):
    """Even when all of them are more than the cache holds: here 335 MB."""
    path = tmp_path / "a.zarr"
    array = zarr.create_array(path, shape=(640, 65_536), chunks=(8, 65_536), dtype="f8")
    ends = values((640, 512), "f8")
    for k in range(0, 640, 8):
        band = np.zeros((8, 65_536))
        band[:, :512] = ends[k : k + 8]
        array[k : k + 8] = band
    stored = sum(os.path.getsize(os.path.join(at, one)) for at, _, names in os.walk(path) for one in names)
    rows = np.arange(640).reshape(80, 8).T.ravel()  # one of each chunk, and then the next ones
    m = dp.open(path)
    before = bytes_read()
    assert np.array_equal(m.take(rows, slice(0, 600))[:, :512], ends[rows])
    assert bytes_read() - before < 1.5 * stored
    cells = np.random.default_rng(3).integers(0, 512, 2000)
    before = bytes_read()
    assert np.array_equal(m.cells(np.resize(rows, 2000), cells), ends[np.resize(rows, 2000), cells])
    assert bytes_read() - before < 1.5 * stored


def test_damaged_shards_name_their_key(tmp_path):
    data = values((64, 64), "f4")
    def point_outside(b):
        b[-20 - 48 : -20 - 40] = (1 << 40).to_bytes(8, "little")
    def overlap(b):
        b[-4 - 32 : -4 - 24] = b[-4 - 16 : -4 - 8]
    for k, change in enumerate((point_outside, overlap, lambda b: b.__delitem__(slice(8, None)))):
        path = tmp_path / f"{k}.zarr"
        zarr.create_array(path, shape=data.shape, chunks=(32, 32), shards=(64, 64), dtype="f4")[:] = data
        damaged(path, "c/0/0", change)
        with pytest.raises(dp.CorruptError, match="c/0/0"):
            dp.open(path)[:]


@pytest.fixture(params=[2, 3])
def cells_file(tmp_path, request):
    anndata = pytest.importorskip("anndata")
    pd = pytest.importorskip("pandas")
    random = np.random.default_rng(4)
    x = sp.random(500, 80, 0.1, "csr", dtype="f4", random_state=1)
    obs = pd.DataFrame(
        {
            "batch": pd.Categorical(random.choice(["a", "b", None], 500), categories=["b", "a"], ordered=True),
            "count": random.integers(0, 99, 500),
            "score": random.normal(size=500),
            "doublet": random.random(500) < 0.1,
            "name": [f"cell {k % 7}" for k in range(500)],
        },
        index=[f"c{k}" for k in range(500)],
    )
    adata = anndata.AnnData(x, obs=obs, layers={"raw": x.tocsc(), "dense": x.toarray()})
    path = tmp_path / "cells.zarr"
    before = anndata.settings.zarr_write_format
    anndata.settings.zarr_write_format = request.param
    adata.write_zarr(path)
    anndata.settings.zarr_write_format = before
    return path, x, obs


def test_sparse_matrices_of_anndata(cells_file):
    path, x, _ = cells_file
    m = dp.open(path)  # X
    assert m.nnz == x.nnz and m.dtype == np.float32
    assert (m.to_scipy() != x).nnz == 0
    for rows in ([499, 3, 3, 77], np.random.default_rng(5).integers(0, 500, 20_000)):
        assert (m.sparse[rows] != x[rows]).nnz == 0
    assert np.array_equal(m[10:20, 5:9], x.toarray()[10:20, 5:9])
    assert (dp.open(path, array="layers/raw").to_scipy() != x).nnz == 0
    assert np.array_equal(dp.open(path, array="layers/dense")[:], x.toarray())
    assert {"X", "obs", "var", "layers/raw", "layers/dense"} <= set(m.contents())


def test_tables_of_anndata(cells_file):
    path, _, obs = cells_file
    f = dp.open(path, array="obs")
    assert f.columns[1:] == tuple(obs.columns)
    assert f[f.columns[0]].tolist() == list(obs.index)
    table = f.to_pandas()
    assert table["batch"].dtype == obs["batch"].dtype
    assert table["batch"].isna().tolist() == obs["batch"].isna().tolist()
    for name in ("count", "score", "doublet", "name"):
        assert f[name].tolist() == obs[name].tolist()
    assert f["doublet"].dtype == bool


@pytest.mark.parametrize("version", [2, 3])
def test_strings_that_no_chunk_holds_are_the_fill_value(tmp_path, version):
    table = zarr.create_group(tmp_path / "t.zarr", zarr_format=version)
    table.attrs.update({"encoding-type": "dataframe", "column-order": ["some", "none"]})
    for name, fill in (("some", "nil"), ("none", "")):
        table.create_array(name, shape=(5,), chunks=(2,), dtype=str, fill_value=fill)[2] = "x"
    f = dp.open(tmp_path / "t.zarr")
    assert f["some"].tolist() == ["nil", "nil", "x", "nil", "nil"]
    assert f["none"].tolist() == ["", "", "x", "", ""]


def test_strings_beside_a_mask_are_columns(tmp_path):
    """As anndata writes the words of pandas 3."""
    table = zarr.create_group(tmp_path / "t.zarr")
    table.attrs.update({"encoding-type": "dataframe", "_index": "id", "column-order": ["name"]})
    for name, words, mask in (("id", ["a", "b", "c"], [0, 0, 0]), ("name", ["x", "", ""], [0, 1, 0])):
        column = table.create_group(name, attributes={"encoding-type": "nullable-string-array"})
        column.create_array("values", shape=(3,), chunks=(2,), dtype=str)[:] = np.array(words)
        column.create_array("mask", shape=(3,), chunks=(3,), dtype="bool")[:] = np.array(mask, "bool")
    f = dp.open(tmp_path / "t.zarr")
    assert f.columns == ("id", "name") and f.note == ""
    assert f["id"].tolist() == ["a", "b", "c"] and f["name"].tolist() == ["x", None, ""]
    table["name"].create_array("mask", shape=(2,), chunks=(2,), dtype="bool", overwrite=True)
    with pytest.raises(dp.CorruptError, match=r"column 'name'.*a mask of as many"):
        dp.open(tmp_path / "t.zarr")


MASKED = [
    ("i1", [-128, 127, 5], "i2"), ("u1", [0, 255, 5], "u2"), ("i4", [-(2**31), 2**31 - 1, 5], "i8"),
    ("u4", [0, 2**32 - 1, 5], "u8"), ("i8", [2**63 - 1, -(2**63) + 1, 5], "i8"),
    ("u8", [2**64 - 2, 0, 5], "u8"), ("bool", [True, False, True], "bool"),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "cells", "read_as"), MASKED)
def test_numbers_beside_a_mask_are_columns(tmp_path, dtype, cells, read_as):
    kind = "nullable-boolean" if dtype == "bool" else "nullable-integer"
    for k, mask in enumerate(([0, 0, 0], [0, 1, 0], [1, 1, 1])):
        table = zarr.create_group(tmp_path / f"{k}.zarr")
        table.attrs.update({"encoding-type": "dataframe", "column-order": ["n"]})
        column = table.create_group("n", attributes={"encoding-type": kind})
        column.create_array("values", shape=(3,), chunks=(2,), dtype=dtype)[:] = np.array(cells, dtype)
        column.create_array("mask", shape=(3,), chunks=(3,), dtype="bool")[:] = np.array(mask, "bool")
        f = dp.open(tmp_path / f"{k}.zarr")
        wanted = [None if gone else cell for cell, gone in zip(cells, mask, strict=True)]
        assert f["n"].dtype == np.dtype(read_as) and f["n"].tolist() == wanted and f.note == ""
        assert f["n", [2, 1, 1]].tolist() == [wanted[2], wanted[1], wanted[1]]
        assert f.where(f.c.n.is_missing()).tolist() == np.flatnonzero(mask).tolist()
    if dtype in ("i8", "u8"):
        column["values"][2] = -(2**63) if dtype == "i8" else 2**64 - 1
        column["mask"][:] = np.array([1, 0, 0], "bool")
        with pytest.raises(dp.UnsupportedError, match="row 2 of column 'n' holds the number that marks"):
            dp.open(tmp_path / "2.zarr")["n"]


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("version", [2, 3])
def test_matrices_of_annotated_data_have_names(tmp_path, version, masked):
    if version == 2 and masked:
        pytest.skip("anndata writes masks to version 3")
    root = zarr.create_group(tmp_path / "a.zarr", zarr_format=version)
    for name, words in (("obs", ["c1", "c2", "é"]), ("var", ["g1", "g2"]), ("raw/var", ["r1"])):
        table = root.create_group(name)
        table.attrs.update({"encoding-type": "dataframe", "_index": "id", "column-order": []})
        index = table
        if masked:
            index = table.create_group("id", attributes={"encoding-type": "nullable-string-array"})
            index.create_array("mask", shape=(len(words),), dtype="bool")
        index.create_array("values" if masked else "id", shape=(len(words),), dtype=str)[:] = np.array(words)
    shapes = {"X": (3, 2), "layers/n": (3, 2), "raw/X": (3, 1), "obsm/p": (3, 4), "varp/d": (2, 2)}
    shapes |= {"layers/odd": (4, 2), "other": (3, 2)}
    for name, shape in shapes.items():
        root.create_array(name, shape=shape, dtype="f4")
    obs, var = ["c1", "c2", "é"], ["g1", "g2"]
    wanted = {"X": (obs, var), "layers/n": (obs, var), "raw/X": (obs, ["r1"]), "obsm/p": (obs, None),
              "varp/d": (var, var), "layers/odd": (None, var), "other": (None, None)}  # fmt: skip
    for name, (rows, cols) in wanted.items():
        m = dp.open(tmp_path / "a.zarr", array=name)
        assert (m.row_names and list(m.row_names)) == rows and (m.col_names and list(m.col_names)) == cols
    m = dp.open(tmp_path / "a.zarr")
    assert m["é", "g2"] == 0 and m.to_pandas().index.tolist() == obs


@pytest.mark.parametrize("version", [2, 3])
def test_a_matrix_of_a_folder_goes_to_other_processes(tmp_path, version):
    group = zarr.create_group(tmp_path / "g.zarr", zarr_format=version)
    a = values((30, 20), "i4")
    group.create_array("p/a", shape=a.shape, chunks=(10, 20), dtype="i4")[:] = a
    m = dp.open(tmp_path / "g.zarr", array="p/a")
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert np.array_equal(pool.submit(np.asarray, m).result(), a)
    shutil.copytree(tmp_path / "g.zarr", tmp_path / "copy.zarr", copy_function=shutil.copy2)
    sent = pickle.dumps(m)
    assert np.array_equal(pickle.loads(sent)[:], a)
    shutil.rmtree(tmp_path / "g.zarr")
    (tmp_path / "copy.zarr").rename(tmp_path / "g.zarr")
    assert np.array_equal(pickle.loads(sent)[:], a)  # the same hierarchy, copied
    del group["p/a"]
    group.create_array("p/a", shape=(3, 3), chunks=(3, 3), dtype="i4")
    with pytest.raises(dp.StaleError):
        pickle.loads(sent)


def test_a_folder_that_is_written_anew_is_another_one(tmp_path):
    for shape in ((4, 4), (5, 5)):
        zarr.create_array(tmp_path / "a.zarr", shape=shape, chunks=(2, 2), dtype="f4", overwrite=True)
        if shape == (4, 4):
            m = dp.open(tmp_path / "a.zarr")
            sent = pickle.dumps(m)
    for use in (lambda: pickle.dumps(m), lambda: pickle.loads(sent)):
        with pytest.raises(dp.StaleError):
            use()
