"""Columns that are one vector, as ML.NET has them, and columns that others hide."""

import pathlib
import struct

import numpy as np
import pytest

import pydapple as dp


@pytest.fixture
def vectors(tmp_path):
    """A frame of a vector x of two slots, a number, and a vector of one type with it."""
    (tmp_path / "t.csv").write_text("x.0,x.1,n,y.0,y.1\n1.5,2,1,1,2\n3,4.5,2,3,4\n5,6,3,5,6\n")
    dp.convert(tmp_path / "t.csv", tmp_path / "t.idv")
    dp.convert(tmp_path / "t.idv", tmp_path / "t.dbdf")
    return tmp_path


@pytest.mark.parametrize("name", ["t.idv", "t.dbdf"])
def test_a_group_is_an_array_of_two_dimensions(vectors, name):
    f = dp.open(vectors / name)
    assert f.columns == ("x.0", "x.1", "n", "y.0", "y.1")
    assert f.groups == {
        "x": dp.Group("x", range(2), ("", "")),
        "y": dp.Group("y", range(3, 5), ("", "")),
    }
    expected = np.array([[1.5, 2], [3, 4.5], [5, 6]], f.dtypes["x.0"])
    np.testing.assert_array_equal(f["x"], expected)
    np.testing.assert_array_equal(f["x", 1:], expected[1:])
    np.testing.assert_array_equal(f["x", 1], expected[1])
    np.testing.assert_array_equal(f["x", [2, 0, 2]], expected[[2, 0, 2]])
    assert f["x"].dtype == f.dtypes["x.0"]
    with pytest.raises(dp.AbsentError):
        f["z"]


def test_a_group_is_chosen_by_its_name(vectors):
    dp.convert(vectors / "t.dbdf", vectors / "part.dbdf", columns=["n", "y"])
    f = dp.open(vectors / "part.dbdf")
    assert f.columns == ("n", "y.0", "y.1")
    assert list(f.groups) == ["y"]
    with dp.open(vectors / "t.dbdf") as whole:
        dp.convert(whole, vectors / "some.dbdf", columns=["y.0", "n"])
    assert dp.open(vectors / "some.dbdf").groups == {}


def test_info_tells_groups(vectors):
    columns = dp.info(vectors / "t.dbdf")["columns"]
    assert [column.get("group") for column in columns] == ["x", "x", None, "y", "y"]


def test_a_matrix_keeps_the_name_of_its_vector(vectors):
    dp.convert(vectors / "t.idv", vectors / "m.dbdf", open_with={"idv": {"columns": ["x"]}})
    m = dp.open(vectors / "m.dbdf")
    assert m.group == dp.Group("x", range(2), ("", ""))
    dp.write(vectors / "plain.dbdf", np.eye(2))
    assert dp.open(vectors / "plain.dbdf").group is None
    assert dp.info(vectors / "m.dbdf")["group"] == "x"


def test_a_column_that_another_hides_is_left_out(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,a\n1,2,3\n")
    dp.convert(tmp_path / "t.csv", tmp_path / "t.idv")
    f = dp.open(tmp_path / "t.idv")
    assert f.columns == ("b", "a")
    assert f["a"].tolist() == [3]
    assert 'column 0 "a"' in f.note
    dp.convert(tmp_path / "t.idv", tmp_path / "a.dbdf", columns=["a"])
    assert dp.open(tmp_path / "a.dbdf")["a"].tolist() == [3]
    kept = dp.open(tmp_path / "t.idv", idv={"keep_hidden": True})
    assert kept.columns == ("a (hidden 0)", "b", "a")
    assert kept["a (hidden 0)"].tolist() == [1]


def test_a_slot_may_be_called_as_a_column_that_can_only_be_shown(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(pathlib.Path(__file__).parents[1] / "cli")
    import inputs

    def vectors(size):
        return inputs.idv_string("Byte") + inputs.leb128(0) + struct.pack("<2i", 1, size)

    varying = struct.pack("<8i", 2, 0, 2, 1, -1, -1, 0, 0)[:-4] + bytes([1, 2, 3])
    fixed = struct.pack("<5i", 2, 1, -1, -1, 0) + bytes([8, 9])
    columns = [("v.0", "VBuffer", varying, vectors(0)), ("v", "VBuffer", fixed, vectors(1))]
    (tmp_path / "t.idv").write_bytes(inputs.idv_file(2, columns))
    f = dp.open(tmp_path / "t.idv")
    assert f.labels == ("v.0", "v.0")
    assert f.columns == ("v.0", "v.0.1")
    assert list(f["v.0"]) == ["[1, 2]", "[3]"]
    assert list(f["v.0.1"]) == [8, 9]
    read = f.read(columns=["v.0.1", "v.0"])
    assert list(read["v.0.1"]) == [8, 9] and list(read["v.0"]) == ["[1, 2]", "[3]"]
