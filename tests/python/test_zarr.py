"""Zarr hierarchies that zarr-python writes, read in place: every cell."""

import concurrent.futures
import json
import multiprocessing
import os
import pickle
import shutil
import zipfile

import numpy as np
import pytest
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
    with pytest.raises(ValueError, match=r"one slice of two dimensions is read: .\[0,0,:,:\]"):
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
