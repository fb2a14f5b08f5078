"""A name's ending is the format of the file, or the file is not written."""

import errno
import gzip
import os
import re
import resource

import numpy as np
import pytest

import pydapple as dp
from pydapple import guests

TABLE = {"a": [1, 2, 3], "b": ["x", None, "z"]}


def test_tables_become_what_their_names_say(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    feather = pytest.importorskip("pyarrow.feather")
    for name in ("t.parquet", "T.PARQUET", "t.feather", "t.csv", "t.csv.gz"):
        dp.write(tmp_path / name, TABLE, sync=False)
    with pytest.raises(dp.Error, match=r"t\.npy: column 'b' has missing cells"):
        dp.write(tmp_path / "t.npy", TABLE)
    dp.write(tmp_path / "t.npy", {"a": TABLE["a"]})
    assert pq.read_table(tmp_path / "t.parquet").to_pydict() == TABLE
    assert pq.read_table(tmp_path / "T.PARQUET").to_pydict() == TABLE
    assert feather.read_table(tmp_path / "t.feather").to_pydict()["a"] == TABLE["a"]
    text = (tmp_path / "t.csv").read_bytes()
    assert text.splitlines() == [b"a,b", b"1,x", b"2,", b"3,z"]
    assert gzip.decompress((tmp_path / "t.csv.gz").read_bytes()) == text
    dp.write(tmp_path / "t.csv.zst", TABLE)
    assert dp.open(tmp_path / "t.csv.zst")["a"].tolist() == TABLE["a"]
    assert dp.open(tmp_path / "t.csv.gz")["a"].tolist() == TABLE["a"]
    assert np.load(tmp_path / "t.npy")["a"].tolist() == TABLE["a"]


def test_matrices_become_what_their_names_say(tmp_path):
    sp = pytest.importorskip("scipy.sparse")
    a = np.arange(6.0).reshape(2, 3)
    dp.write(tmp_path / "m.npz", a)
    assert np.array_equal(np.load(tmp_path / "m.npz")["arr_0"], a)
    s = sp.random_array((20, 30), density=0.1, format="csr", rng=0)
    dp.write(tmp_path / "s.npz", s)
    assert abs(sp.load_npz(tmp_path / "s.npz") - s).nnz == 0
    dp.write(tmp_path / "m.mtx.gz", a)
    assert np.array_equal(dp.open(tmp_path / "m.mtx.gz")[:], a)
    dp.write(tmp_path / "m.npy", dp.open(tmp_path / "m.npz"))
    assert np.array_equal(np.load(tmp_path / "m.npy"), a)


@pytest.mark.parametrize(
    "name",
    [
        "x.zarr",
        "x.json",
        "x.h5ad",
        "x.h5",
        "x.tar.gz",
        "x.xlsx",
        "x.pkl",
        "x.dbdf.gz",
        "x.gz",
        "x.ZIP",
    ],
)
def test_what_is_not_written_is_refused(tmp_path, name):
    for call in (
        lambda: dp.write(tmp_path / name, TABLE),
        lambda: dp.frame_writer(tmp_path / name, 3, {"a": "i8"}),
        lambda: dp.writer(tmp_path / name, (3, 3), "f8"),
        lambda: dp.convert(dp.open(tmp_path / "m.dbdf"), tmp_path / name),
    ):
        dp.write(tmp_path / "m.dbdf", TABLE, overwrite=True, sync=False)
        with pytest.raises(dp.InvalidArgumentError):
            call()
    assert os.listdir(tmp_path) == ["m.dbdf"]


def test_writers_make_own_files_only(tmp_path):
    with pytest.raises(dp.Error, match="writer makes DAPHNE binary files"):
        dp.writer(tmp_path / "x.npy", (2, 2), "f8")
    with pytest.raises(dp.Error, match="written without tile"):
        dp.write(tmp_path / "x.parquet", TABLE, tile=(2, 2))
    dp.write(tmp_path / "x.parquet", TABLE)
    with pytest.raises(FileExistsError):
        dp.write(tmp_path / "x.parquet", TABLE)
    with pytest.raises(FileExistsError):
        dp.convert(tmp_path / "x.parquet", tmp_path / "x.parquet")
    dp.write(tmp_path / "own", TABLE)
    dp.write(tmp_path / "own.data", TABLE)
    assert dp.open(tmp_path / "own").format == dp.open(tmp_path / "own.data").format == "dbdf"


def test_parquet_with_one_name_twice(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    t = pa.Table.from_arrays([pa.array([1, 2]), pa.array(["x", "y"])], names=["a", "a"])
    pq.write_table(t, tmp_path / "other.parquet")
    dp.write(tmp_path / "f.dbdf", t)
    dp.convert(tmp_path / "f.dbdf", tmp_path / "own.parquet")
    for name in ("other", "own"):
        dp.convert(tmp_path / f"{name}.parquet", tmp_path / f"{name}.dbdf")
        f = dp.open(tmp_path / f"{name}.dbdf")
        assert f.columns == ("a", "a.1") and f["a.1"].tolist() == ["x", "y"]


def test_names_of_dtypes_in_npy_as_numpy_reads_them(tmp_path):
    names = "? |? b B h H i I l L q Q e f d <d p P bool int8 uint16 int32 uint64 float16 float32 float64 half double"
    for name in names.split():
        a = np.array([1, 0, 1], np.dtype(name))
        head = repr({"descr": name, "fortran_order": False, "shape": (3,)}).encode()
        head += b" " * (-(11 + len(head)) % 64) + b"\n"
        path = tmp_path / "t.npy"
        path.write_bytes(
            b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + a.tobytes()
        )
        assert np.array_equal(np.load(path), a)
        m = dp.open(path)
        wanted = {"?": np.dtype("u1"), "e": np.dtype("f4")}.get(a.dtype.char, a.dtype)
        assert m.dtype == wanted and m[:].ravel().tolist() == a.astype(wanted).tolist()


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_pandas_finds_the_index_in_files_of_arrow(tmp_path, name):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    read = pd.read_parquet if name == "t.parquet" else pd.read_feather
    def index_of(rows):
        words, numbers = [f"r{k}" for k in range(rows)], np.arange(rows)
        return (
            pd.Index(words), pd.Index(words, name="who"), pd.Index(words, name="id"), pd.Index(numbers / 2),
            pd.date_range("2020", periods=rows, freq="s", name="t"),
            pd.MultiIndex.from_arrays([words, numbers % 7], names=["w", "n"]),
        )  # fmt: skip

    for index in (index_of(70_000)[0], *index_of(20)):  # more than a batch of rows, and fewer
        columns = {"a": np.arange(len(index)), "id": np.arange(len(index)) % 7}
        t = pd.DataFrame(columns, index=index)
        for source in (t, None):
            if source is None:
                dp.write(tmp_path / "t.dbdf", t, overwrite=True)
                source = dp.open(tmp_path / "t.dbdf")
            dp.write(tmp_path / name, source, overwrite=True)
            pd.testing.assert_frame_equal(read(tmp_path / name), t, check_freq=False)
        dp.convert(tmp_path / name, tmp_path / "back.dbdf", overwrite=True)
        pd.testing.assert_frame_equal(dp.open(tmp_path / "back.dbdf").to_pandas(), t, check_freq=False)
        dp.convert(tmp_path / "t.dbdf", tmp_path / name, rows=slice(3, 9), columns=["a"], overwrite=True)
        got = read(tmp_path / name)
        assert got["a"].tolist() == list(range(3, 9))
        if index.nlevels == 1 and isinstance(index[0], str):
            assert got.index.tolist() == index[3:9].tolist()


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.npz", "t.csv.gz", "t.dbdf"])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path, name):
    given, made = tmp_path / "given.dbdf", tmp_path / name
    dp.write(given, np.eye(2) if name == "t.npz" else {"a": [1.5, 2.5]})
    dp.convert(given, made)
    assert made.stat().st_mode & 0o777 == 0o666 & ~mask()
    made.chmod(0o640)
    dp.convert(given, made, overwrite=True)
    assert made.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", ["t.parquet", "t.npz", "t.csv.gz"])
def test_file_systems_without_modes_take_files(tmp_path, monkeypatch, name):
    def refuse(*_):
        raise PermissionError(errno.EPERM, "no modes here")

    given, made = tmp_path / "given.dbdf", tmp_path / name
    dp.write(given, np.eye(2) if name == "t.npz" else {"a": [1.5, 2.5]})
    monkeypatch.setattr(os, "chmod", refuse)
    monkeypatch.setattr(os, "chown", refuse)
    for _ in range(2):
        dp.convert(given, made, overwrite=True)


def mask():
    now = os.umask(0)
    os.umask(now)
    return now


def test_what_is_not_yet_whole_has_a_hidden_name(tmp_path):
    """Nobody who lists *.parquet sees it, and errors name the file that is written."""
    seen = []

    def write(path):
        seen.extend(os.listdir(tmp_path))
        raise OSError(errno.ENOSPC, "in the words of a library", path)

    with pytest.raises(OSError, match=r"^\S*t.parquet: cannot write: No space left on device$"):
        guests.publish(str(tmp_path / "t.parquet"), write, sync=False)
    assert len(seen) == 1 and seen[0].startswith(".") and not os.listdir(tmp_path)


def test_collections_that_cannot_be_written_are_named(tmp_path):
    """Not the hidden folder that they are in before they are whole."""
    path, cells = tmp_path / "a.dds", np.random.default_rng(0).random((50, 50))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(OSError, match=f"^{re.escape(str(path))}: cannot write: File too large$") as caught:
            dp.write_collection(path, {"X": cells})
        assert caught.value.filename == str(path) and not os.listdir(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with pytest.raises(FileNotFoundError, match=r"^/nowhere/a.dds: cannot write: No such file"):
        dp.write_collection("/nowhere/a.dds", {"X": cells})
    collection = dp.write_collection(path, {"X": cells})
    (path / "X.dbdf").chmod(0o640)
    collection["X"] = cells
    assert (path / "X.dbdf").stat().st_mode & 0o777 == 0o640
