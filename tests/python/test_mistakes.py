"""Mistakes that people bring from NumPy, SciPy, pandas and polars: the right thing, or what to use.

Each line is an expression, what it raises, and a part of the message; or what it gives.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import pydapple as dp

CELLS = np.arange(12.0).reshape(4, 3)
TABLE = pd.DataFrame(
    {"age": [30, 41, 25, 60], "city": pd.Categorical(["Oslo", "Bergen", "Oslo", "Rome"]), "Height": [1.5, np.nan, 1.7, 1.8]}
)

REFUSED = """
f["Age"]                          | KeyError       | did you mean 'age'
f["agee"]                         | KeyError       | did you mean 'age'
f[["age", "nope"]]                | KeyError       | no column is called 'nope'
f["age", "city"]                  | IndexError     | f[['age', 'city']]
f["age", 9]                       | IndexError     | outside the 4 rows
f[9]                              | IndexError     | outside the 4 rows
f[-9]                             | IndexError     | outside the 4 rows
f["a":"b"]                        | TypeError      | names are picked one by one
f[f["age"][:2] > 30]              | IndexError     | one entry for each of the 4
f["age"] = 3                      | TypeError      | item assignment
f.age                             | AttributeError | f["age"] is the column
f.age = 3                         | AttributeError | only read
f.col("age")                      | AttributeError | f.c.NAME
f.groupby("city")                 | AttributeError | f.to_pandas(
f.loc[0, "age"]                   | AttributeError | f.to_pandas(rows, columns)
f.iloc[0]                         | AttributeError | f.to_pandas(rows, columns)
f.describe()                      | AttributeError | f.stats()
f.mean()                          | AttributeError | f.stats()
f.info()                          | AttributeError | f.dtypes
f.size                            | AttributeError | f.shape
f.isna()                          | AttributeError | f.to_pandas(
f.rename(columns={})              | AttributeError | f.to_pandas(
f.sort_values("age")              | AttributeError | f.to_pandas(
f.query("age > 30")               | AttributeError | f.where(
f.iterrows()                      | AttributeError | f.to_pandas(rows)
f.items()                         | AttributeError | f.read(
f.to_csv("x.csv")                 | AttributeError | pydapple.convert(
f.select("age")                   | AttributeError | f.to_polars(columns=[...])
f.where("agee > 30")              | KeyError       | did you mean "age"
f.where("age > ")                 | ValueError     | not the end, at character 7
f.where("age > 'x'")              | ValueError     | holds numbers
f.where("city == Oslo")           | ValueError     | a text in quotes
f.to_pandas(columns="agee")       | KeyError       | did you mean 'age'
f.to_pandas(columns=["age", 9])   | IndexError     | outside the 3 columns
f.to_pandas(["age"])              | IndexError     | columns=
f.read("age")                     | TypeError      | a slice, a range or a pair
f.sample(-1)                      | ValueError     | zero rows or more
dp.write("x.dbdf", {"a": 3})      | ValueError     | column 'a' has 0 dimensions
m.cells(["a"], [0])               | IndexError     | m.sel and m.take know names
m.to_dask(chunks=0)               | ValueError     | rows and columns, of one or more
m > 3                             | TypeError      | has no '>'
m <= 3                            | TypeError      | has no '<='
m[9, 0]                           | IndexError     | row 9 is outside
m[0, 9]                           | IndexError     | column 9 is outside
m[-5]                             | IndexError     | row -5 is outside
m[0, 0, 0]                        | IndexError     | 2 dimensions
m[1.5]                            | IndexError     | integers, slices
m["nope"]                         | IndexError     | no row is called 'nope'
m[:, ["x", "q"]]                  | IndexError     | no column is called 'q'
m["a":"c"]                        | TypeError      | names are picked one by one
m[[True, False]]                  | IndexError     | one entry for each of the 4
m[m > 3]                          | TypeError      | m.where(
m[m[:] > 3]                       | IndexError     | whole rows or columns
m[[0, 1], [0, 1]]                 | IndexError     | m.take(rows, cols)
m[None]                           | IndexError     | np.newaxis
m[0, 0] = 3                       | TypeError      | item assignment
m + 1                             | TypeError      | m.to_dask()
2 * m                             | TypeError      | m.to_dask()
m == 0                            | TypeError      | m.where(
float(m)                          | TypeError      | m[:]
m @ np.ones(4)                    | ValueError     | dimension mismatch
m @ "x"                           | TypeError      | unsupported operand
m.linear_operator() @ np.ones(4)  | ValueError     | dimension mismatch
m.T                               | AttributeError | transpose=True
m.mean(axis=0)                    | AttributeError | m.stats(axis=0)
m.toarray()                       | AttributeError | m[:]
m.tocsc()                         | AttributeError | m.to_scipy(
m.flatten()                       | AttributeError | m.to_dask()
m.columns                         | AttributeError | m.col_names
m.read(rows=[0, 1])               | TypeError      | a slice, a range or a pair
m.read(rows=slice(0, 9))          | IndexError     | not all inside the 4 rows
m.read(dtype=complex)             | TypeError      | float32 or float64
m.take([9])                       | IndexError     | outside the 4 rows
m.stats(axis="rows")              | ValueError     | axis is None, 0 or 1
m.shape = (3, 4)                  | AttributeError | set
m.attrs["unit"] = "mm"            | TypeError      | write the object again with attrs=
s.sparse[99]                      | IndexError     | outside the 50 rows
s.sparse @ np.ones(20)            | TypeError      | m @ x
s.sparse.T                        | AttributeError | transpose=True
np.asarray(s.sparse)              | TypeError      | m.sparse[rows]
closed[0]                         | ValueError     | is closed
closed.sparse[0]                  | ValueError     | is closed
dp.open(3)                        | TypeError      | given by its name
dp.open("none.dbdf")              | FileNotFoundError | No such file
dp.open(m.path, formt="csv")      | TypeError      | formt
dp.Matrix(m.path)                 | TypeError      | pydapple.open(path)
dp.write(m.path, CELLS)           | FileExistsError | overwrite=True
dp.write("x.dbdf", CELLS, tile=2) | TypeError      | a pair of integers
dp.write("x.dbdf", CELLS * 1j)    | TypeError      | float32 or float64
dp.write("x.dbdf", {"a": [1], "b": [1, 2]}) | ValueError | the first column has 1
dp.write("x.dbdf", [[1, 2], [3]]) | TypeError      | different lengths
dp.write("x.dbdf", None)          | TypeError      | neither a matrix nor a table
dp.write("x.xlsx", CELLS)         | ValueError     | another format
dp.write("x.dbdf", CELLS, row_names=["a"]) | ValueError | 1 name cannot be those of 4 rows
dp.convert(m, "m.parquet")        | ValueError     | .npz
dp.concat([m, f], "c.dbdf")       | ValueError     | a matrix and a frame
dp.read_csv("x.csv")              | AttributeError | pydapple.open(path)
dp.read_parquet("x.parquet")      | AttributeError | pydapple.convert(
dp.save("x", CELLS)               | AttributeError | pydapple.write(
dp.loader(f)                      | TypeError      | obs=
dp.loader(m, batch_size=4)        | TypeError      | batch_size
dp.scan(m)                        | TypeError      | scans frames
f.where(f.c.age + 1 > 3)          | TypeError      | pydapple.scan(f)
f.where(~f.c.age)                 | TypeError      | compared in a condition
f.where((f.c.age > 3) & f.c.city) | TypeError      | is joined to another one
f.to_dask(columns=["agee"])       | KeyError       | no column is called 'agee'
m[["a", 0]]                       | IndexError     | names are str, and 0 is none
m.spy(ax=3)                       | TypeError      | ax is an Axes
m @ np.ones((3, 3, 3))            | ValueError     | one or two dimensions
np.ones(3) @ m                    | ValueError     | a matrix of 4 rows, and 3 cells
m @ np.ones((4, 2))               | ValueError     | a matrix of 3 columns, and 4 rows
m.to_dask(chunks=-5)              | ValueError     | one row and one column or more
dp.open(m.path, array="X")        | ValueError     | of format dbdf, holds a single object
dp.convert(CELLS, "x.dbdf")       | TypeError      | pydapple.write writes what is in memory
dp.concat([CELLS], "x.dbdf")      | TypeError      | pydapple.write writes what is in memory
dp.write("x.dbdf", {"a": [1, "x"]}) | TypeError    | row 0 holds 1 (int) and row 1 'x' (str)
dp.write("x.dbdf", {"a": ["x", b"y"]}) | TypeError | row 1 holds b'y' (bytes); make
dp.write("x.dbdf", {"a": TABLE})  | ValueError     | 2 dimensions (a DataFrame of pandas)
dp.frame_writer("x.dbdf", 3, {"a": "int46"}) | TypeError | column 'a': data type 'int46' not understood
dp.write_anndata("x.dds", TABLE)  | TypeError      | a DataFrame of pandas is no AnnData
dp.pack_collection("none.dds", "x.zip") | FileNotFoundError | No such file
dp.unpack_collection("none.zip", "x.dds") | FileNotFoundError | No such file
""".strip().splitlines()

RIGHT = """
f.shape                           | TABLE.shape
len(f)                            | 4
"age" in f                        | True
f["age"][0]                       | 30
f[f["age"] > 30]["age"]           | [41, 60]
f[f.c.age > 30]["age"]            | [41, 60]
f.head(2)["age"]                  | [30, 41]
[row["age"] for row in f]         | [30, 41, 25, 60]
list(f)[1]["age"]                 | 41
dict(f)["age"]                    | dict(TABLE)["age"]
{**f}["age"]                      | TABLE["age"]
list(dict(f)) == list(TABLE)      | True
m[-1, -1]                         | 11
m["a", "x"]                       | 0
m[["b", "a"], 0]                  | [3, 0]
[row.sum() for row in m]          | CELLS.sum(axis=1)
m @ np.ones(3)                    | CELLS.sum(axis=1)
np.ones(4) @ m                    | CELLS.sum(axis=0)
np.mean(m)                        | 5.5
np.exp(m)                         | np.exp(CELLS)
np.concatenate([m, m])            | np.concatenate([CELLS, CELLS])
np.ones((4, 3)) + m               | CELLS + 1
m == m                            | True
m == s                            | False
m != None                         | True
len({m, m, s})                    | 2
""".strip().splitlines()


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mistakes")
    dp.write(folder / "m.dbdf", CELLS, row_names=list("abcd"), col_names=list("xyz"), sync=False)
    dp.write(folder / "f.dbdf", TABLE, sync=False)
    dp.write(folder / "s.dbdf", sp.random_array((50, 20), density=0.1, format="csr", rng=0), sync=False)
    opened = {name: dp.open(folder / f"{name}.dbdf") for name in "mfs"}
    closed = dp.open(folder / "m.dbdf")
    closed.close()
    return opened | {"closed": closed, "dp": dp, "np": np, "CELLS": CELLS, "TABLE": TABLE}


@pytest.mark.parametrize("line", REFUSED, ids=lambda line: line.split("|")[0].strip())
def test_a_mistake_is_told_with_what_to_use(names, tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    text, kind, told = (part.strip() for part in line.split("|"))
    with pytest.raises(Exception) as raised:
        exec(text, dict(names))
    assert kind in [one.__name__ for one in type(raised.value).__mro__]
    assert told in str(raised.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("line", RIGHT, ids=lambda line: line.split("|")[0].strip())
def test_what_people_are_used_to_works(names, line):
    text, wanted = (eval(part, dict(names)) for part in line.split("|"))
    assert np.allclose(text, wanted)


def test_a_dict_of_two_columns_is_none_of_rows(there):
    # Whose two cells each would do for a key and its value.
    columns = {"a": [5, 6, 7], "b": [1.5, 2.5, 3.5]}
    f = there(columns)
    assert f.keys() == ("a", "b")
    assert {name: cells.tolist() for name, cells in dict(f).items()} == columns
    assert pd.DataFrame(dict(f)).equals(pd.DataFrame(columns))
    assert [tuple(row) for row in f] == [(5, 1.5), (6, 2.5), (7, 3.5)]


def test_an_array_of_a_large_sparse_matrix_warns(names, monkeypatch):
    monkeypatch.setattr(dp.matrix, "_MUCH", 8000)
    with pytest.warns(UserWarning, match=r"m\.to_scipy\(\)"):
        made = np.asarray(names["s"])
    assert np.array_equal(made, names["s"][:])
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.asarray(names["s"])
