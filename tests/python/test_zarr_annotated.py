"""Tables, sparse matrices and names in Zarr hierarchies that anndata writes, read in place."""

import numpy as np
import pytest
import scipy.sparse as sp

import pydapple as dp

zarr = pytest.importorskip("zarr", minversion="3.0")


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
