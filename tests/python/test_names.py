"""Names of rows and columns; lists of Python and the index of pandas are the oracle."""

import gzip
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
import xarray as xr

import pydapple as dp

ROWS = ["Ann", "Bo", "", "Cy", "Dörte"]
COLS = ["x", "y", "x"]
CELLS = np.arange(15.0).reshape(5, 3)


@pytest.fixture
def named(make):
    return make(CELLS, row_names=ROWS, col_names=COLS)


def test_names_are_read_and_found(named):
    names = named.row_names
    assert list(names) == ROWS and len(names) == 5 and names == ROWS
    assert names[1] == "Bo" and names[-1] == "Dörte" and names[1:3] == ["Bo", ""]
    assert names[[4, 0]] == ["Dörte", "Ann"] and names[::-2] == ROWS[::-2]
    assert names.find("Cy") == 3 and names.index("Bo") == 1 and names.find("Z") is None
    assert "Ann" in names and "" not in names and "Z" not in names and 3 not in names
    assert names.unique and not named.col_names.unique
    assert names.positions(["Cy", "Ann"]).tolist() == [3, 0]
    assert repr(names).startswith("<5 names of rows: 'Ann', 'Bo'")
    assert np.asarray(names).tolist() == ROWS
    assert "x" in named.col_names
    assert not dp.verify(named.path, payload=True).findings
    assert dp.info(named.path)["row_names"] == {"count": 5, "unique": True}
    with pytest.raises(ValueError, match="more than once"):
        named.col_names.find("x")
    with pytest.raises(IndexError, match="no row is called 'Z'"):
        names.positions(["Ann", "Z"])


def test_cells_by_name(named):
    assert named["Cy", "y"] == CELLS[3, 1]
    np.testing.assert_array_equal(named["Bo"], CELLS[1])
    np.testing.assert_array_equal(named[["Cy", "Ann"]], CELLS[[3, 0]])
    np.testing.assert_array_equal(named[1:4, "y"], CELLS[1:4, 1])
    np.testing.assert_array_equal(named["Ann", ...], CELLS[0])
    np.testing.assert_array_equal(named.rows["Bo"], CELLS[1])
    np.testing.assert_array_equal(named.rows[["Bo", "Dörte"]], CELLS[[1, 4]])
    np.testing.assert_array_equal(named.cols["y"], CELLS[:, 1])
    np.testing.assert_array_equal(named.sel(rows=["Cy", "Bo"], cols=["y"]), CELLS[[3, 1]][:, [1]])
    np.testing.assert_array_equal(named.sel(cols="y"), CELLS[:, 1])
    np.testing.assert_array_equal(named.sel(rows=pd.Index(["Ann", "Bo"])), CELLS[:2])
    np.testing.assert_array_equal(named.sel(rows=slice(1, 3), cols=[2, 0]), CELLS[1:3][:, [2, 0]])
    np.testing.assert_array_equal(named.take(["Bo", "Ann"]), CELLS[[1, 0]])
    np.testing.assert_array_equal(named.sparse[["Cy", "Ann"]].toarray(), CELLS[[3, 0]])
    np.testing.assert_array_equal(named.take_columns(["y"]).toarray(), CELLS[:, [1]])
    for key in ("Z", ("Ann", "z"), ["Ann", "Z"]):
        with pytest.raises(IndexError, match="is called"):
            named[key]


def test_an_object_without_names_says_so(make):
    m = make(CELLS)
    assert m.row_names is None and m.col_names is None
    with pytest.raises(IndexError, match="rows have no names"):
        m["Ann"]


@pytest.mark.parametrize(
    ("names", "error", "words"),
    [
        (["a"], ValueError, "1 name cannot be those of 5 rows"),
        ("abcde", TypeError, "list of str"),
        ([1, 2, 3, 4, 5], TypeError, "1 is none"),
        (["a", "b", "c", "d", "\udcff"], ValueError, "not UTF-8"),
    ],
)
def test_what_cannot_be_names_is_refused(tmp_path, names, error, words):
    with pytest.raises(error, match=words):
        dp.write(tmp_path / "a.dbdf", CELLS, row_names=names)
    assert list(tmp_path.iterdir()) == []


def test_names_are_kept_changed_and_dropped(named, tmp_path):
    dp.convert(named, tmp_path / "t.dbdf", transpose=True)
    dp.convert(named, tmp_path / "part.dbdf", rows=(3, 5), row_names=["P", "Q"])
    dp.convert(named, tmp_path / "none.dbdf", row_names=[], col_names=[])
    dp.write(tmp_path / "sparse.dbdf", sp.csr_array(CELLS), row_names=named.row_names)
    turned, part, none, sparse = (
        dp.open(tmp_path / f"{name}.dbdf") for name in ("t", "part", "none", "sparse")
    )
    assert turned.row_names == COLS and turned.col_names == ROWS
    assert part.row_names == ["P", "Q"] and part.col_names == COLS
    assert none.row_names is None and sparse.row_names == ROWS
    dp.append(tmp_path / "part.dbdf", CELLS[:1])
    assert dp.open(tmp_path / "part.dbdf").row_names == ["P", "Q", ""]
    with pytest.warns(UserWarning, match="keeps no names of rows"):
        dp.convert(named, tmp_path / "a.npz")


@pytest.mark.parametrize(
    "index",
    [
        pd.Index(["Ann", "Bo", "Ann"]),
        pd.Index(["Ann", "Bo", "Cy"], name="who"),
        pd.Index([7, 8, 9], name="id"),
        pd.Index([0.5, 1.5, 2.5]),
        pd.to_datetime(["2020-01-01", "2020-01-03", "2021-01-01"]),
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)], names=["k", None]),
        pd.CategoricalIndex(["u", "v", "u"], name="kind"),
    ],
)
def test_the_index_of_pandas_comes_back(there, index):
    table = pd.DataFrame({"n": [1, 2, 3], "t": ["x", None, "z"]}, index=index)
    f = there(table)
    back = f.to_pandas()
    assert list(back.index) == list(index) and back.index.names == index.names
    assert back["n"].tolist() == [1, 2, 3] and list(back.columns) == ["n", "t"]
    assert list(f.to_pandas([2, 0]).index) == list(index[[2, 0]])


def test_rows_of_a_frame_by_name(there):
    f = there(pd.DataFrame({"n": [1, 2, 3]}, index=["Ann", "Bo", "Cy"]))
    assert f["n", "Bo"] == 2 and f["n", ["Cy", "Ann"]].tolist() == [3, 1]
    assert f.rows["Cy"]["n"] == 3 and f.row_names.index("Bo") == 1


def test_the_index_of_a_parquet_file_of_pandas_comes_back(tmp_path):
    table = pd.DataFrame({"n": [1, 2]}, index=pd.Index(["a", "b"], name="who"))
    table.to_parquet(tmp_path / "a.parquet")
    dp.convert(tmp_path / "a.parquet", tmp_path / "a.dbdf")
    back = dp.open(tmp_path / "a.dbdf").to_pandas()
    pd.testing.assert_frame_equal(back, table, check_index_type=False)


def test_a_matrix_as_a_table(named, make):
    table = named.to_pandas(["Cy", "Bo"])
    pd.testing.assert_frame_equal(table, pd.DataFrame(CELLS[[3, 1]], ["Cy", "Bo"], COLS))
    plain = make(CELLS).to_pandas(slice(1, 3), [2])
    pd.testing.assert_frame_equal(plain, pd.DataFrame(CELLS[1:3, [2]], [1, 2], [2]))


def test_coordinates_of_xarray(make):
    given = xr.DataArray(CELLS, dims=("cell", "gene"), coords={"cell": ROWS, "gene": ["p", "q", "r"]})
    m = make(given)
    assert m.row_names == ROWS and m.col_names == ["p", "q", "r"]
    with xr.open_dataset(m.path, engine="pydapple") as back:
        xr.testing.assert_equal(back["data"].load(), given.rename("data"))
        assert back["data"].sel(cell="Cy", gene="q") == CELLS[3, 1]


@pytest.mark.parametrize("packed", [False, True])
def test_a_folder_of_10x(tmp_path, packed):
    counts = sp.coo_array(np.array([[1, 0], [0, 2], [3, 0], [0, 4]]))
    scipy.io.mmwrite(tmp_path / "matrix.mtx", counts)
    texts = {
        "matrix.mtx": (tmp_path / "matrix.mtx").read_text(),
        "barcodes.tsv": "AAAC-1\nAAAG-1\n",
        "features.tsv": "ENSG1\tCD3E\tGene\nENSG2\tTWICE\tGene\nENSG3\tMS4A1\tGene\nENSG4\tTWICE\tGene\n",
    }
    folder = tmp_path / "run"
    folder.mkdir()
    for name, text in texts.items():
        if packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
        else:
            (folder / name).write_text(text)
    m = dp.open(folder)
    assert m.row_names == ["CD3E", "ENSG2", "MS4A1", "ENSG4"] and m.col_names == ["AAAC-1", "AAAG-1"]
    assert m["MS4A1", "AAAC-1"] == pickle.loads(pickle.dumps(m))["MS4A1", "AAAC-1"] == 3
    dp.convert(folder, tmp_path / "m.dbdf")
    dp.convert(m, tmp_path / "part.dbdf", rows=(1, 3))
    kept, part = dp.open(tmp_path / "m.dbdf"), dp.open(tmp_path / "part.dbdf")
    assert kept.row_names == m.row_names and kept.col_names == m.col_names
    assert part.row_names == ["ENSG2", "MS4A1"] and part["MS4A1", "AAAC-1"] == 3
    (folder / ("barcodes.tsv.gz" if packed else "barcodes.tsv")).write_bytes(b"A\n")
    with pytest.raises(ValueError, match="2 columns, but there are 4 features and 1 barcodes"):
        dp.open(folder)
