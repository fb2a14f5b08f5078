"""Parts of annotated data as members of a collection, and back as the same types. pandas is the oracle."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import pydapple as dp
from pydapple import elements

ROWS = 30


def column(kind):
    k = np.arange(ROWS)
    words = pd.Series([f"w{i % 3}" for i in k])
    some = [None if i % 5 == 0 else i for i in k]
    return {
        "category": lambda: pd.Categorical(words, categories=["w2", "unused", "w0", "w1"], ordered=True),
        "missing codes": lambda: pd.Categorical(words.where(k % 4 > 0)),
        "no codes": lambda: pd.Categorical([None] * ROWS, categories=["a", "b"]),
        "of int": lambda: pd.Categorical(k % 3 - 1),
        "of float": lambda: pd.Categorical(k % 3 / 7),
        "of bool": lambda: pd.Categorical(k % 2 == 0),
        "of times": lambda: pd.Categorical(pd.date_range("2020", periods=ROWS, freq="D")),
        "Int64": lambda: pd.array(some, dtype="Int64"),
        "Float32": lambda: pd.array(some, dtype="Float32"),
        "boolean": lambda: pd.array([None if i % 3 == 0 else i % 2 == 0 for i in k], dtype="boolean"),
        "string": lambda: pd.array([None if i % 5 == 0 else f"s{i}" for i in k], dtype="string[python]"),
        "arrow": lambda: pd.array([f"s{i}" for i in k], dtype="string[pyarrow]"),
        "object": lambda: np.array([None if i % 5 == 0 else f"s{i}" for i in k], object),
        "float16": lambda: (k / 4).astype("f2"),
        "uint8": lambda: k.astype("u1"),
        "zone": lambda: pd.date_range("2020", periods=ROWS, freq="h", tz="Europe/Oslo"),
        "spans": lambda: pd.to_timedelta(k, unit="min"),
        "Sparse": lambda: pd.arrays.SparseArray(k % 2.0),
    }[kind]()  # fmt: skip


def kept(tmp_path, value):
    """What is read of a member that was written."""
    data, note = elements.stored(value, "it")
    if hasattr(data, "iloc"):
        data.attrs[elements.NOTE] = note
        dp.write(tmp_path / "m.dbdf", data)
    else:
        dp.write(tmp_path / "m.dbdf", data, attrs={elements.NOTE: note})
    return elements.loaded(dp.open(tmp_path / "m.dbdf"))


@pytest.mark.parametrize("kind", [
    "category", "missing codes", "no codes", "of int", "of float", "of bool", "of times", "Int64", "Float32", "boolean",
    "string", "arrow", "object", "float16", "uint8", "zone", "spans", "Sparse",
])  # fmt: skip
def test_columns_keep_their_dtypes(tmp_path, kind):
    wanted = pd.DataFrame({"a": column(kind)}, index=[f"r{k}" for k in range(ROWS)])
    pd.testing.assert_frame_equal(kept(tmp_path, wanted), wanted)


@pytest.mark.parametrize("index", [
    pd.RangeIndex(3), pd.Index([5, 3, 4]), pd.Index([0, 1, 2], name="n"), pd.Index(["a", "b", "a"]), pd.Index(["a", "b", "c"], name="x"),
    pd.Index(["a", "b", "c"], dtype=object), pd.Index([1.5, 2.5, 3.5]), pd.date_range("2020", periods=3, freq="D"),
])  # fmt: skip
def test_an_index_comes_back(tmp_path, index):
    wanted = pd.DataFrame({"a": [1, 2, 3]}, index=index)
    pd.testing.assert_frame_equal(kept(tmp_path, wanted), wanted, check_freq=False, check_index_type=index.dtype != int)


@pytest.mark.parametrize("value", [
    np.arange(6), np.arange(24.0).reshape(2, 3, 4), np.array(3.5), np.zeros((0, 3)), np.zeros((3, 0)), np.array([True, False]),
    np.ones((2, 2), "f2"), np.array(["a", "", "ccc"]), np.array([["a", "b"]], object), np.array([b"ab", b"c"]),
    np.array([["a", "b"], ["", "ü"], ["c", "d"]]), np.zeros((3, 0), "U2"), np.array([["2020", "NaT"]], "M8[D]"), np.array("a"),
    np.array([[[b"a", b"bc"]], [[b"", b"d"]]]),
    np.array(["a", ""], np.dtypes.StringDType()), np.array(["2020", "NaT"], "M8[D]"), np.array([("a", 1.5), ("b", 2.0)], [("x", "U1"), ("y", "f4")]),
    np.array([("ü".encode(), 1)], [("x", "S2"), ("y", "i1")]),
])  # fmt: skip
def test_arrays_of_any_shape(tmp_path, value):
    got = kept(tmp_path, value)
    assert got.dtype == value.dtype and got.shape == value.shape
    np.testing.assert_array_equal(got, value)


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("dtype", [bool, "f4", "i8"])
def test_sparse_matrices(tmp_path, form, dtype):
    wanted = form(sp.random(20, 30, 0.1, random_state=1) > 0).astype(dtype)
    got = kept(tmp_path, wanted)
    assert type(got) is type(wanted) and got.dtype == wanted.dtype and (got != wanted).nnz == 0


@pytest.mark.parametrize("value", [
    pd.Categorical(["a", None, "b"], ["b", "a"], ordered=True), pd.array([1, None], "Int64"), pd.array(["a", None], "string"),
], ids=str)  # fmt: skip
def test_arrays_of_pandas(tmp_path, value):
    got = kept(tmp_path, value)
    assert type(got) is type(value)
    pd.testing.assert_series_equal(pd.Series(got), pd.Series(value))


def test_what_no_member_can_be_is_named():
    for value, told in (
        (object(), "it is object of builtins"),
        (pd.Series([1]), "it is a Series"),
        (pd.DataFrame({"i": pd.Categorical(pd.cut([1, 2, 3], 2))}), r"it\['i'\] is a category of interval"),
    ):
        with pytest.raises(dp.TypeMismatchError, match=told):
            elements.stored(value, "it")
