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
    assert twins.where("a.1 = 'y' and not a < 3").tolist() == [1] and twins.count_where("`a.1` prefix 'x'") == 1
    assert [one.skipped for one in twins.explain_where("a.1 missing or a.1 = 'x'")] == [None]
    assert twins.stored("a.1").tolist() == [1, 2] and twins.words("a.1") == ["x", "y"]
    assert list(twins.read(columns=["a.1"])) == ["a.1"]
    with pytest.raises(dp.AbsentError):
        twins["a.2"]
    with pytest.raises(dp.AbsentError, match=r'no column "a\.2"'):
        twins.where("a.1 = 'x' or a.2 = 3")
    for name in ("c.dbdf", "c.csv", "c.parquet"):
        dp.convert(twins, tmp_path / name, columns=["a.1"])
        dp.convert(tmp_path / name, tmp_path / "back.dbdf", overwrite=True)
        back = dp.open(tmp_path / "back.dbdf")
        assert back.columns == ("a",) and back["a"].tolist() == ["x", "y"]


def test_a_label_of_the_file_goes_first(there):
    f = there(pd.DataFrame([[1, 2, 3]], columns=["a", "a", "a.1"]))
    assert f.columns == ("a", "a.2", "a.1")
    assert [f[name].tolist() for name in f.columns] == [[1], [2], [3]]
    assert f.where("a.1 = 3 and a.2 = 2 and a = 1").tolist() == [0]


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


class Compared(str):
    """A label that counts how often it is compared."""

    count = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Compared.count += 1
        return str.__eq__(self, other)


def test_a_column_of_many_is_found_without_looking_at_all(tmp_path, there, monkeypatch):
    labels = [f"c{k}" for k in range(2000)]
    f = there({label: [k] for k, label in enumerate(labels)})
    asked = [Compared(label) for label in reversed(labels)]
    made = f.columns
    monkeypatch.setattr(dp.frame_columns, "unique", None)  # names are made once
    assert all(label in f for label in asked) and made == tuple(labels)
    assert f[asked[0]][0] == 1999 and len(f.where(f.c[asked[0]] > 1)) == 1
    monkeypatch.undo()
    assert f.to_arrow(columns=asked).column_names == asked
    dp.convert(f, tmp_path / "turned.dbdf", columns=asked)
    assert dp.open(tmp_path / "turned.dbdf").columns == tuple(asked)
    with dp.frame_writer(tmp_path / "put.dbdf", 1, dict.fromkeys(labels, "i4")) as w:
        for label in asked:
            w[label] = [7]
    assert Compared.count < 40 * len(labels)


def test_what_columns_are_is_not_made_anew_for_each(there, monkeypatch):
    f = there({f"c{k}": [k] for k in range(50)})
    made, named = [], type(f)._named
    monkeypatch.setattr(type(f), "_named", lambda self: made.append(self) or named(self))
    assert all(f.meanings[name].kind == "number" and f.dtypes[name].kind in "iu" for name in f.columns)
    f.meanings.clear()
    f.dtypes.clear()
    assert len(made) <= 2 and len(f.meanings) == len(f.dtypes) == 50


class Counted(list):
    """Words that count how often they are listed."""

    count = 0

    def tolist(self):
        Counted.count += 1
        return list(self)


def test_words_of_a_column_are_listed_once_for_all_puts(tmp_path):
    words = [f"w{k}" for k in range(30)]
    with dp.frame_writer(tmp_path / "f.dbdf", 30, {"w": words}) as w:
        column = w._columns[0]
        w._columns[0] = column._replace(meaning=column.meaning._replace(words=Counted(words)))
        for row, word in enumerate(words):
            w["w", row : row + 1] = [word]
    assert Counted.count == 1 and dp.open(tmp_path / "f.dbdf")["w"].tolist() == words


def test_a_label_that_is_there_often_is_counted_on():
    twins = [("a", k) for k in range(20_000)] + [("a.7", -1), ("a", -2)]
    names = [name for name, _ in dp.frame_columns.unique(twins)]
    assert names[:9] == ["a", *(f"a.{k}" for k in (1, 2, 3, 4, 5, 6, 8, 9))]
    assert names[-2:] == ["a.7", "a.20001"] and len(set(names)) == len(names)
