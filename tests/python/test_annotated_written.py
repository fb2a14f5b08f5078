"""AnnData written as a collection and read again: every field as it was, by anndata's own comparison."""

import os

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import pydapple as dp
from pydapple import table_types

anndata = pytest.importorskip("anndata")
pytest.importorskip("dask.array")

from anndata.tests.helpers import assert_equal, gen_adata  # noqa: E402
from annotated_same import require_same  # noqa: E402

N, M = 40, 7
CELLS = [f"cell{k}" for k in range(N)]


def columns():
    """A column of each kind that pandas has, by name."""
    k = np.arange(N)
    words = pd.Series([f"w{i % 3}" for i in k])
    some = [None if i % 5 == 0 else i for i in k]
    return {
        "category": pd.Categorical(words, categories=["w2", "unused", "w0", "w1"]),
        "ordered": pd.Categorical(words, categories=["w2", "w0", "w1"], ordered=True),
        "missing codes": pd.Categorical(words.where(k % 4 > 0)),
        "no codes": pd.Categorical([None] * N, categories=["a", "b"]),
        "no categories": pd.Categorical([None] * N),
        "empty word": pd.Categorical(["", "x"] * (N // 2)),
        "of int": pd.Categorical(k % 3 - 1),
        "of float": pd.Categorical(k % 3 / 7),
        "of bool": pd.Categorical(k % 2 == 0),
        "of times": pd.Categorical(pd.date_range("2020", periods=N, freq="D")),
        "Int64": pd.array(some, dtype="Int64"), "UInt8": pd.array(some, dtype="UInt8"),
        "Float32": pd.array(some, dtype="Float32"), "Int16 all": pd.array(k, dtype="Int16"),
        "boolean": pd.array([None if i % 3 == 0 else i % 2 == 0 for i in k], dtype="boolean"),
        "string": pd.array([None if i % 5 == 0 else f"s{i}" for i in k], dtype="string"),
        "object": words.to_numpy(object), "bool": k % 2 == 0, "int8": k.astype("i1"), "uint64": k.astype("u8") + (1 << 63),
        "float16": (k / 4).astype("f2"), "float32": np.where(k % 3, np.nan, k).astype("f4"), "float64": np.where(k == 3, np.inf, -0.0),
        "object with None": np.array([None if i % 5 == 0 else f"s{i}" for i in k], object),
        "times": pd.date_range("2020", periods=N, freq="h"), "zone": pd.date_range("2020", periods=N, freq="h", tz="Europe/Oslo"),
        "seconds": np.where(k % 3, k, np.iinfo("i8").min).astype("M8[s]"), "spans": pd.to_timedelta(k, unit="min"),
        "a/b": k, "../x": k, "": k, "\u00e9\u4e2d": k,
    }  # fmt: skip


def everything():
    obs = pd.DataFrame(columns(), index=pd.Index(CELLS, name="barcode"))
    var = pd.DataFrame(index=[f"gene{k}" for k in range(M)])
    x = sp.random(N, M, 0.3, "csr", dtype="f4", random_state=1)
    rng = np.random.default_rng(2)
    a = anndata.AnnData(x, obs=obs, var=var)
    a.layers.update({
        "csc": sp.csc_matrix(x), "csr array": sp.csr_array(x), "csc array": sp.csc_array(x), "bool": x.astype(bool),
        "dense bool": x.toarray() > 0, "i2": np.arange(N * M).reshape(N, M).astype("i2"), "f2": np.ones((N, M), "f2"),
        "../x": x, ".hidden": x, "a:b": x, "x.dbdf": x, "no entries": sp.csr_matrix((N, M), dtype="i4"), "%": x,
    })  # fmt: skip
    a.obsm.update({
        "X_pca": rng.random((N, 5)), "three": rng.random((N, 2, 3)), "no columns": np.zeros((N, 0)),
        "table": obs[["category", "Int64"]], "sparse": sp.random(N, 3, 0.5, "csr", random_state=1),
    })  # fmt: skip
    a.varm["loadings"] = rng.random((M, 5))
    a.obsp["near"] = sp.random(N, N, 0.1, "csr", random_state=2)
    a.varp["dense"] = rng.random((M, M))
    a.raw = anndata.AnnData(sp.csc_matrix((N, 9), dtype="f8"), obs=obs[[]], var=pd.DataFrame({"q": range(9)}, index=list("abcdefghi")))
    a.raw.varm["pcs"] = rng.random((9, 2))
    a.uns = unstructured()
    return a


def unstructured():
    groups = np.array([("g1", 1.5, 2), ("g2", np.nan, 3)], [("names", "O"), ("scores", "f4"), ("rank", "i8")])
    return {
        "none": None, "text": "a\u00e9", "true": True, "int": 1 << 40, "float": 0.1, "nan": float("nan"), "list": ["a", 1, None],
        "f4": np.float32(0.1), "i1": np.int8(-3), "yes": np.bool_(False), "when": np.datetime64("2020-01-02", "s"),
        "span": np.timedelta64(5, "m"), "str_": np.str_("x"), "bytes_": np.bytes_(b"a\xff'"), "void": np.void(b"\0\xfe"), "$dollar": 1, "nested": {"": {"a/b": np.arange(3), "..": {}}}, "empty": {},
        "words": np.array(["a", "", "ccc"]), "objects": np.array(["a", "b"], object), "2d words": np.array([["a", "b"], ["c", "d"]]),
        "bytes": np.array([b"ab", b"c"]), "times": np.array(["2020", "NaT"], "M8[D]"), "scalar array": np.array(3.5),
        "no values": np.zeros(0, "f4"), "3d": np.arange(24).reshape(2, 3, 4), "bools": np.array([True, False]), "groups": groups,
        "table": pd.DataFrame({"a": [1, 2]}, index=[5, 3]), "named": pd.DataFrame({"a": [1.5]}, index=pd.Index(["r"], name="i")),
        "no rows": pd.DataFrame({"a": np.zeros(0), "b": pd.Categorical([], categories=["x"])}), "sparse": sp.csr_matrix(np.eye(3)),
        "category": pd.Categorical(["a", None, "b"]), "Int64": pd.array([1, None], dtype="Int64"), "x.json": np.arange(2),
    }  # fmt: skip


@pytest.mark.parametrize("ending", [".dds", ".zip"])
def test_every_field_comes_back(tmp_path, ending):
    wanted = everything()
    dp.write_anndata(tmp_path / f"a{ending}", wanted)
    assert os.listdir(tmp_path) == [f"a{ending}"]
    got = dp.read_anndata(tmp_path / f"a{ending}", chunks=(16, -1))
    assert hasattr(got.X, "dask") and all(hasattr(x, "dask") for x in got.layers.values())
    read = got.to_memory()
    pd.testing.assert_frame_equal(read.obs, wanted.obs)
    require_same(dict(read.uns), dict(wanted.uns), "uns")
    assert list(read.uns) == list(wanted.uns)
    for part in ("layers", "obsm", "varm", "obsp", "varp"):
        ours, theirs = getattr(read, part), getattr(wanted, part)
        assert sorted(ours) == sorted(theirs)
        for name in theirs:
            assert ours[name].dtypes.equals(theirs[name].dtypes) if hasattr(theirs[name], "dtypes") else ours[name].dtype == theirs[name].dtype
            assert_equal(ours[name], theirs[name].tocsr() if sp.issparse(theirs[name]) else theirs[name])
    assert_equal(read.X, wanted.X)
    assert_equal(read.raw.X, wanted.raw.X.tocsr())
    assert_equal(read.raw.var, wanted.raw.var, exact=True)
    assert_equal(read.raw.varm["pcs"], wanted.raw.varm["pcs"])
    for key in ("nan", "times"):  # which are not equal to themselves
        del got.uns[key], read.uns[key]
    dp.write_anndata(tmp_path / "again.dds", got)  # what is lazy, once more
    assert_equal(dp.read_anndata(tmp_path / "again.dds").to_memory(), read)


def test_attributes_of_tables_come_back_and_notes_of_ours_do_not(tmp_path):
    a = anndata.AnnData(np.eye(2))
    a.uns["t"] = pd.DataFrame([[1, 2]], index=pd.Index(["r"], name="i"))
    a.uns["t"].attrs["unit"] = "mm"
    dp.write_anndata(tmp_path / "a.dds", a)
    got = dp.read_anndata(tmp_path / "a.dds").uns["t"]
    pd.testing.assert_frame_equal(got, a.uns["t"], check_column_type=False)
    assert got.attrs == {"unit": "mm"}


class Noted(dict):
    copies = 0

    def __deepcopy__(self, _):
        Noted.copies += 1
        return self


def test_notes_of_all_columns_are_not_copied_for_each(monkeypatch):
    monkeypatch.setattr(Noted, "copies", 0)
    words = {f"c{k}": pd.Categorical(["a", "b", "a"]) for k in range(100)}
    table = pd.DataFrame({**words, "n": [1, 2, 3], "o": np.array([1, None, "x"], object)})
    table.attrs["note"] = Noted()
    made, note = table_types.described(table, "obs")
    assert made.attrs["note"] is not None and list(made.columns) == list(table.columns)
    numbers = {**note, "categories": {k: "float64" for k in note["categories"]}}
    for k in range(100):
        made.isetitem(k, pd.Categorical(["1.0", "2.5", "1.0"]))
    Noted.copies = 0
    back = table_types.restored(made, numbers)
    assert back["c99"].tolist() == [1.0, 2.5, 1.0] and back["n"].tolist() == [1, 2, 3]
    assert Noted.copies < 20 and "note" in back.attrs


def test_words_and_times_of_each_row(tmp_path):
    words = np.array([[f"{k}", "x"] for k in range(4)])
    wanted = anndata.AnnData(np.eye(4, 3), obsm={"w": words, "t": np.array([["2020", "2021"]] * 4, "M8[D]")})
    dp.write_anndata(tmp_path / "a.dds", wanted)
    got = dp.read_anndata(tmp_path / "a.dds")
    for name in ("w", "t"):
        assert got.obsm[name].dtype == wanted.obsm[name].dtype
        assert np.array_equal(got.obsm[name], wanted.obsm[name])


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_matrix, np.asarray])
def test_what_anndata_makes_for_its_own_tests(tmp_path, form):
    for shape in ((30, 20), (1, 1)):
        wanted = gen_adata(shape, X_type=form, obsm_types=(sp.csr_matrix, np.ndarray, pd.DataFrame), varm_types=(sp.csr_matrix, np.ndarray, pd.DataFrame), layers_types=(sp.csr_matrix, np.ndarray))
        del wanted.uns  # which has arrays of anything in it
        dp.write_anndata(tmp_path / "a.dds", wanted, overwrite=True, pack="fast")
        assert_equal(dp.read_anndata(tmp_path / "a.dds").to_memory(), wanted)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_empty_axes(tmp_path, shape):
    wanted = anndata.AnnData(np.zeros(shape, "f4"))
    wanted.obs["a"] = pd.Categorical([None] * shape[0], categories=["x"])
    dp.write_anndata(tmp_path / "a.dds", wanted)
    assert_equal(dp.read_anndata(tmp_path / "a.dds").to_memory(), wanted)


def test_without_x_and_with_names_twice(tmp_path):
    wanted = anndata.AnnData(obs=pd.DataFrame({"a": [1, 2, 3]}, index=["x", "x", "y"]), var=pd.DataFrame(index=["g"]))
    wanted.obsm["X_pca"] = np.eye(3)
    dp.write_anndata(tmp_path / "a.dds", wanted)
    got = dp.read_anndata(tmp_path / "a.dds").to_memory()
    assert got.X is None and list(got.obs_names) == ["x", "x", "y"]
    assert_equal(got.obs, wanted.obs)
    c = dp.open(tmp_path / "a.dds")
    assert c["obsm/X_pca"].rows["y"].tolist() == [0, 0, 1]
    with pytest.raises(ValueError, match="x"):
        c["obsm/X_pca"].rows["x"]


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_matrix, lambda x: x.toarray()])
def test_backed_data_is_streamed(tmp_path, form):
    x = form(sp.random(300, 40, 0.2, "csr", dtype="f4", random_state=3))
    wanted = anndata.AnnData(x, obs=pd.DataFrame(index=[f"c{k}" for k in range(300)]))
    wanted.write_h5ad(tmp_path / "a.h5ad")
    backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
    dp.write_anndata(tmp_path / "a.dds", backed)
    assert_equal(dp.read_anndata(tmp_path / "a.dds").to_memory().X, x.tocsr() if sp.issparse(x) else x)
    dp.write_anndata(tmp_path / "b.dds", dp.read_anndata(tmp_path / "a.h5ad")[::-2])
    got = dp.read_anndata(tmp_path / "b.dds").to_memory()
    assert_equal(got.X, (x.tocsr() if sp.issparse(x) else x)[::-2])
    assert list(got.obs_names) == list(wanted.obs_names)[::-2]


def test_what_cannot_be_written_is_named_and_leaves_nothing(tmp_path):
    def written(change):
        a = anndata.AnnData(np.eye(3))
        change(a)
        dp.write_anndata(tmp_path / "a.dds", a)

    def uns(value):
        return lambda a: a.uns.__setitem__("here", {"deep": value})

    for change, told in (
        (uns(object()), r"uns\['here'\]\['deep'\] is object of builtins"),
        (uns({3: 1}), r"uns\['here'\]\['deep'\] has the key 3"),
        (uns(np.array([1, "a"], object)), "^uns/here/deep: column 'values'"),
        (uns(np.array([b"\xff"])), "^uns/here/deep: column 'values' holds the word .* UTF-8"),
        (uns(np.array([1j])), "^uns/here/deep: .*complex128"),
        (uns(np.zeros(1, [("a", "i4")])[0]), r"^uns\['here'\]\['deep'\] is void of numpy"),
        (uns(pd.Series([1])), "is a Series"),
        (uns(pd.Index(["a"])), "is Index of pandas, which no member can be: arrays"),
        (uns(np.ma.array([1, 2], mask=[True, False])), r"^uns\['here'\]\['deep'\] has masked cells.*fill them"),
        (uns(np.ma.array([(1, 2.0)], mask=[(False, True)], dtype=[("a", "i4"), ("b", "f4")])), "has masked cells"),
        (lambda a: a.layers.__setitem__("m", np.ma.array(np.eye(3), mask=np.eye(3))), "^layers/m has masked cells"),
        (lambda a: a.obs.__setitem__("i", pd.Categorical(pd.cut([1, 2, 3], 2))), r"obs\['i'\] is a category of interval"),
        (lambda a: a.obs.__setitem__("c", [1j, 2, 3]), "column 'c'"),
        (lambda a: a.layers.__setitem__("c", np.eye(3) * 1j), "^layers/c: .*complex"),
    ):
        with pytest.raises(ValueError, match=told):
            written(change)
        assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError, match=r"ends in \.dds, or in \.zip"):
        dp.write_anndata(tmp_path / "a.h5ad", anndata.AnnData(np.eye(3)))


def test_rows_by_a_condition_with_their_cells(tmp_path):
    a = everything()
    c = dp.write_anndata(tmp_path / "a.dds", a)
    rows = c.rows_where("category == 'w0' and int8 > 10 or not (bool == true) and category == 'w2'")
    wanted = ((a.obs["category"] == "w0") & (a.obs["int8"] > 10) | ~a.obs["bool"] & (a.obs["category"] == "w2")).to_numpy()
    assert np.array_equal(rows, np.flatnonzero(wanted)) and len(rows) > 3
    assert_equal(sp.csr_matrix(c["X"].sparse[rows]), a.X[wanted])


def test_members_of_a_collection_that_are_no_annotated_data(tmp_path):
    dp.write_collection(tmp_path / "a.dds", {"layers/x": np.eye(3)})
    with pytest.raises(dp.NotRecognisedError, match="X, obs and var are missing"):
        dp.read_anndata(tmp_path / "a.dds")
    dp.write_collection(tmp_path / "b.dds", {"X": np.eye(3), "uns": {"a": {"$member": "../a.dds/layers/x"}}})
    with pytest.raises(ValueError, match="no name of a member"):
        dp.read_anndata(tmp_path / "b.dds")
    dp.write_collection(tmp_path / "c.dds", {"X": np.eye(3)})
    assert_equal(dp.read_anndata(tmp_path / "c.dds").to_memory(), anndata.AnnData(np.eye(3)))


def test_folders_that_are_no_annotated_data(tmp_path):
    zarr = pytest.importorskip("zarr")
    zarr.create_array(tmp_path / "array.zarr", data=np.eye(3))
    (tmp_path / "empty").mkdir()
    dp.dataset.append(tmp_path / "set", np.eye(3))
    for name in ("array.zarr", "empty", "set"):
        with pytest.raises(dp.NotRecognisedError, match=r"neither a collection .* nor a Zarr group"):
            dp.read_anndata(tmp_path / name)
