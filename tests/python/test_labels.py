"""Columns of one label: told apart by names that every call knows."""

import numpy as np
import pytest

import pydapple as dp

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def twins(there):
    """Two columns "a", of integers and words."""
    return there(pd.DataFrame([[1, "x"], [3, "y"]], columns=["a", "a"]))


def test_names_of_columns_are_accepted_wherever_they_are_told(twins, tmp_path):
    assert twins.columns == ("a", "a.1") == tuple(twins.read()) == tuple(twins.meanings)
    assert twins.labels == ("a", "a") and list(twins.to_pandas()) == ["a", "a"]
    assert [twins[name].tolist() for name in twins.columns] == [[1, 3], ["x", "y"]]
    assert "a.1" in twins and "a.2" not in twins and twins.column("a.1") == 1
    assert twins["a.1", 1] == "y" and twins[["a.1", "a"]].tolist() == [("x", 1), ("y", 3)]
    assert twins.where("a.1", equal="y").tolist() == [1] and twins.count_where("a.1", missing=True) == 0
    assert twins.stored("a.1").tolist() == [1, 2] and twins.words("a.1") == ["x", "y"]
    assert list(twins.read(columns=["a.1"])) == ["a.1"]
    with pytest.raises(dp.AbsentError):
        twins["a.2"]
    for name in ("c.dbdf", "c.csv", "c.parquet"):
        dp.convert(twins, tmp_path / name, columns=["a.1"])
        dp.convert(tmp_path / name, tmp_path / "back.dbdf", overwrite=True)
        back = dp.open(tmp_path / "back.dbdf")
        assert back.columns == ("a",) and back["a"].tolist() == ["x", "y"]


def test_a_label_of_the_file_goes_first(there):
    f = there(pd.DataFrame([[1, 2, 3]], columns=["a", "a", "a.1"]))
    assert f.columns == ("a", "a.2", "a.1")
    assert [f[name].tolist() for name in f.columns] == [[1], [2], [3]]


def test_columns_of_parquet_are_picked_by_number_too(tmp_path):
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    table = pa.table({"lists": [[1], [2, 3]], "a": [1, 2], "b": ["x", "y"]})
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    pa.feather.write_feather(table, tmp_path / "t.feather")
    for source in (tmp_path / "t.parquet", tmp_path / "t.feather"):
        for columns, labels in (([1], ("a",)), ([-1, "a"], ("b", "a")), (["a"], ("a",)), (np.array([2, 1]), ("b", "a"))):
            dp.convert(source, tmp_path / "out.dbdf", columns=columns, overwrite=True)
            assert dp.open(tmp_path / "out.dbdf").columns == labels
        with pytest.raises(dp.OutOfRangeError, match="column 3 is outside the 3 columns"):
            dp.convert(source, tmp_path / "out.dbdf", columns=[3], overwrite=True)
        with pytest.raises(TypeError, match="lists"):
            dp.convert(source, tmp_path / "out.dbdf", columns=[0], overwrite=True)
