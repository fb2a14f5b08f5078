"""Files that pyarrow and NumPy read and write for `convert`, both ways."""

import numpy as np
import pytest
from conftest import people

import pydapple as dp

pytest.importorskip("pandas")
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
    with pytest.raises(ValueError, match="no labelled columns"):
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
