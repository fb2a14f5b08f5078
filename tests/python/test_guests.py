"""Files that pyarrow and NumPy read and write for `convert`, both ways."""

import numpy as np
import pytest
from conftest import people

import pydapple as dp
from pydapple import guests, streams

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")
pytest.importorskip("pyarrow.feather")


@pytest.mark.parametrize("ending", ["parquet", "feather", "arrow"])
def test_parquet_and_arrow_files_both_ways(there, tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    f = there(people())
    dp.convert(f, path)
    read = pa.parquet.read_table if ending == "parquet" else pa.feather.read_table
    assert read(path)["name"].to_pylist() == ["Ann", None, "Zoë"]
    with pytest.raises(FileExistsError):
        dp.convert(f, path)
    dp.convert(path, tmp_path / "back.dbdf")
    got = dp.open(tmp_path / "back.dbdf")
    for label in f.columns:
        assert str(got[label].tolist()) == str(f[label].tolist())
        assert got.meanings[label][:4] == f.meanings[label][:4]
    dp.convert(f.path, path, rows=(1, 3), columns=["n", "name"], overwrite=True)
    assert read(path).to_pydict() == {"n": [None, -(2**63)], "name": [None, "Zoë"]}
    dp.convert(path, tmp_path / "t.csv")
    assert "Zoë" in (tmp_path / "t.csv").read_text()
    assert {p.name for p in tmp_path.iterdir()} == {path.name, "t.dbdf", "back.dbdf", "t.csv"}
    with pytest.raises(FileNotFoundError, match=r"none/x.\w+: cannot write: No such file") as gone:
        dp.convert(f, tmp_path / "none" / f"x.{ending}")
    assert isinstance(gone.value, dp.Error)
    path.write_bytes(b"no such thing")
    with pytest.raises(dp.NotRecognisedError):
        dp.convert(path, tmp_path / "x.dbdf")
    with pytest.raises(FileNotFoundError):
        dp.convert(tmp_path / f"none.{ending}", tmp_path / "x.dbdf")
    dp.write(tmp_path / "m.dbdf", np.eye(3))
    with pytest.raises(ValueError, match=r"need a frame, and this is a matrix; write it as \.npz, or what its to_pandas"):
        dp.convert(tmp_path / "m.dbdf", tmp_path / f"m.{ending}")


def test_npz_files_both_ways(tmp_path):
    sp = pytest.importorskip("scipy.sparse")
    a, s = np.arange(12.0).reshape(3, 4), sp.csr_array(np.eye(4, dtype="f4"))
    np.savez_compressed(tmp_path / "a.npz", a)
    sp.save_npz(tmp_path / "s.npz", s)
    for name, truth in (("a", a), ("s", s.toarray())):
        dp.convert(tmp_path / f"{name}.npz", tmp_path / f"{name}.dbdf")
        m = dp.open(tmp_path / f"{name}.dbdf")
        assert m.dtype == truth.dtype and np.array_equal(m[:], truth)
        dp.convert(m, tmp_path / f"{name}2.npz")
    assert np.array_equal(np.load(tmp_path / "a2.npz")["arr_0"], a)
    assert np.array_equal(sp.load_npz(tmp_path / "s2.npz").toarray(), s.toarray())
    np.savez(tmp_path / "two.npz", x=a, y=a)
    with pytest.raises(ValueError, match="array='NAME'"):
        dp.convert(tmp_path / "two.npz", tmp_path / "x.dbdf")


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_names_that_are_given_are_those_of_the_rows(there, tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    f = there(people(), row_names=["a", "b", "c"])
    read = pa.parquet.read_table if ending == "parquet" else pa.feather.read_table
    dp.convert(f, path, rows=(1, 3))
    assert read(path).to_pandas().index.tolist() == ["b", "c"]
    dp.convert(f, path, rows=(1, 3), row_names=["y", "z"], overwrite=True)
    assert read(path).to_pandas().index.tolist() == ["y", "z"]
    with pytest.raises(ValueError, match="3 names cannot be those of 2 rows"):
        dp.convert(f, path, rows=(1, 3), row_names=["x", "y", "z"], overwrite=True)
    with pytest.raises(ValueError, match="the columns of a frame have labels, and no other names"):
        dp.convert(f, path, col_names=list(f.columns), overwrite=True)
    dp.write(tmp_path / "m.dbdf", np.eye(3))
    with pytest.warns(UserWarning, match="npz keeps no names of rows"):
        dp.convert(tmp_path / "m.dbdf", tmp_path / "m.npz", row_names=["x", "y", "z"])


def test_absent_cells_become_what_is_asked_for(there, tmp_path):
    pd = pytest.importorskip("pandas")
    table, path = pd.DataFrame({"a": [1.0, 2], "b": [3.0, 4]}), tmp_path / "t.parquet"
    dp.dataset.create(tmp_path / "d", there(table), shape=(4, 2))
    dp.dataset.commit(tmp_path / "d", [dp.dataset.write_part(tmp_path / "d", table, at=(0, 0))])
    with pytest.raises(dp.AbsentError):
        dp.convert(tmp_path / "d", path)
    for absent, value in (("zero", 0), ("nan", np.nan)):
        dp.convert(tmp_path / "d", path, absent=absent, overwrite=True)
        wanted = table.reindex(range(4), fill_value=value)
        pd.testing.assert_frame_equal(pa.parquet.read_table(path).to_pandas(), wanted)
        stream = dp.open(tmp_path / "d")._stream([3, 0], None, absent=absent)
        got = pa.RecordBatchReader.from_stream(stream).read_all()
        pd.testing.assert_frame_equal(got.to_pandas(), wanted.iloc[[3, 0]].reset_index(drop=True))
    with pytest.raises(ValueError, match="absent is 'error', 'zero' or 'nan', not 'none'"):
        dp.convert(tmp_path / "d", path, absent="none", overwrite=True)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
@pytest.mark.parametrize("ordered", [False, True])
def test_files_larger_than_memory_are_read_in_pieces(tmp_path, monkeypatch, name, ordered):
    n, rng, path = 3000, np.random.default_rng(5), tmp_path / name
    t = pd.DataFrame({
        "i": rng.integers(-100, 100, n), "f": rng.random(n).astype("f4"), "text": [f"w{k % 700}" for k in range(n)],
        "word": pd.Categorical(rng.choice(["x", "y", "z"], n)), "ok": rng.random(n) > 0.5,
        "time": pd.date_range("2020", periods=n, freq="min"), "zone": pd.date_range("2020", periods=n, tz="Asia/Tokyo"),
        "took": pd.to_timedelta(rng.integers(0, 10**9, n), unit="us"), "late": pd.array([None] * 2900 + [7] * 100, "Int8"),
        "gone": pd.array(rng.integers(0, 9, n), "Int64"), "maybe": pd.array(rng.random(n) > 0.5, "boolean"),
        "none": [None] * n,
    }, index=pd.Index(np.arange(n) * 3, name="k"))  # fmt: skip
    for column in ("text", "time", "gone", "maybe"):
        t.loc[t.index[2500:2600], column] = None
    if ordered:  # of which the first pieces do not tell
        t["word"] = pd.Categorical(np.where(np.arange(n) < 1500, "low", "high"), ["low", "mid", "high"], ordered=True)
    t.attrs["who"] = "me"
    if name == "t.parquet":
        t.to_parquet(path, row_group_size=500)
    else:
        pa.feather.write_feather(pa.Table.from_pandas(t), path, chunksize=500)
    made = []
    for piece in (1 << 30, 20_000):
        monkeypatch.setattr(streams, "_PIECE", piece)
        dp.convert(path, tmp_path / "t.dbdf", overwrite=True, sync=False)
        made.append(dp.open(tmp_path / "t.dbdf"))
    whole, pieces = (f.to_pandas() for f in made)
    pd.testing.assert_frame_equal(pieces, whole, check_categorical=ordered)
    assert made[0].attrs == made[1].attrs
    with guests.read(str(path), name.removeprefix("t.").replace("feather", "arrow")) as read:
        assert len(list(read)) == (1 if ordered else 6)
    dp.convert(path, tmp_path / "t.dbdf", columns=["f", 0], overwrite=True, sync=False)
    assert dp.open(tmp_path / "t.dbdf").columns == ("f", "i")
    if name == "t.parquet":
        path.write_bytes(path.read_bytes()[:60_000] + bytes(2000) + path.read_bytes()[62_000:])
        with pytest.raises(dp.Error, match=r"t\.parquet"):
            dp.convert(path, tmp_path / "u.dbdf")
        assert not (tmp_path / "u.dbdf").exists()


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "m.npz"])
def test_what_others_write_is_on_storage_unless_nobody_waits(there, tmp_path, monkeypatch, name):
    synced = []
    monkeypatch.setattr("os.fsync", lambda number: synced.append(number))
    monkeypatch.delattr("os.umask")  # which is that of all threads
    dp.write(tmp_path / "m.dbdf", np.eye(3))
    src = tmp_path / "m.dbdf" if name == "m.npz" else there(people())
    dp.convert(src, tmp_path / name)
    assert len(synced) == 2  # the file, and its folder
    assert (tmp_path / name).stat().st_mode == (tmp_path / "m.dbdf").stat().st_mode
    dp.convert(src, tmp_path / name, overwrite=True, sync=False)
    assert len(synced) == 2


def test_rows_of_a_stream_do_not_end_before_they_begin(there):
    f = there(people())
    for rows in ((2, 1), (1, 9)):
        with pytest.raises(dp.OutOfRangeError, match="are not inside the 3 rows"):
            dp._core.arrow_stream(f, rows=rows)
