"""Annotated data in place: what anndata and scanpy see of it is what they see of their own."""

import gzip
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import pydapple as dp

anndata = pytest.importorskip("anndata")
pytest.importorskip("h5py")


def made(form):
    """Annotated data with something in every place."""
    rng = np.random.default_rng(1)
    x = sp.random(400, 60, density=0.2, format="csr", random_state=1, dtype=np.float32)
    x.data = np.ceil(x.data * 9)
    obs = pd.DataFrame(
        {
            "cell_type": pd.Categorical(rng.choice(["B", "T", "NK"], 400)),
            "n": np.arange(400),
            "some": pd.array([None if i % 7 == 0 else i for i in range(400)], dtype="Int64"),
            "note": [f"n{i % 5}" for i in range(400)],
        },
        index=[f"cell{i}" for i in range(400)],
    )
    var = pd.DataFrame({"long": rng.random(60)}, index=[f"gene{i}" for i in range(60)])
    a = anndata.AnnData(form(x), obs=obs, var=var)
    a.layers["counts"] = x.copy()
    a.layers["dense"] = rng.random((400, 60))
    a.obsm["X_pca"] = rng.random((400, 5)).astype("f4")
    a.obsm["table"] = pd.DataFrame({"q": np.arange(400)}, index=obs.index)
    a.varm["loadings"] = rng.random((60, 5))
    a.obsp["near"] = sp.random(400, 400, density=0.01, format="csr", random_state=2)
    a.uns["how"] = {"k": 3, "names": np.array(["a", "b"]), "nested": {"x": np.arange(3.0)}}
    a.raw = a.copy()
    return a[:, :50].copy()


def in_memory(x):
    x = x.compute() if hasattr(x, "compute") else x
    return x.toarray() if sp.issparse(x) else np.asarray(x)


def require_same(got, wanted):
    assert got.shape == wanted.shape
    pd.testing.assert_frame_equal(got.obs, wanted.obs)
    pd.testing.assert_frame_equal(got.var, wanted.var)
    assert np.array_equal(in_memory(got.X), in_memory(wanted.X))
    for part in ("layers", "obsm", "varm", "obsp", "varp"):
        ours, theirs = getattr(got, part), getattr(wanted, part)
        assert set(ours) == set(theirs), part
        for name in theirs:
            if isinstance(theirs[name], pd.DataFrame):
                pd.testing.assert_frame_equal(ours[name], theirs[name])
            else:
                assert np.array_equal(in_memory(ours[name]), in_memory(theirs[name])), (part, name)
    assert got.uns["how"]["k"] == 3 and np.array_equal(got.uns["how"]["nested"]["x"], np.arange(3.0))
    assert list(got.uns["how"]["names"]) == ["a", "b"]
    assert np.array_equal(in_memory(got.raw.X), in_memory(wanted.raw.X))
    pd.testing.assert_frame_equal(got.raw.var, wanted.raw.var)


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_matrix, lambda x: x.toarray()])
@pytest.mark.parametrize("compression", [None, "gzip"])
def test_a_file_of_anndata_is_opened_in_place(tmp_path, form, compression):
    wanted = made(form)
    wanted.write_h5ad(tmp_path / "a.h5ad", compression=compression)
    got = dp.read_anndata(tmp_path / "a.h5ad", chunks=(128, -1))
    assert hasattr(got.X, "dask") and hasattr(got.layers["counts"], "dask")
    require_same(got, wanted)
    require_same(pickle.loads(pickle.dumps(got)), wanted)


def test_chunks_are_those_of_what_has_the_rows_of_x(tmp_path):
    wanted = made(sp.csr_matrix)
    wanted.write_h5ad(tmp_path / "a.h5ad")
    got = dp.read_anndata(tmp_path / "a.h5ad", chunks=((150, 250), -1))
    for x in (got.X, got.layers["dense"], got.raw.X):
        assert x.chunks[0] == (150, 250)
    assert np.array_equal(in_memory(got.raw.varm["loadings"]), wanted.raw.varm["loadings"])


@pytest.mark.parametrize("ending", ["h5ad", "zarr"])
@pytest.mark.parametrize("dtype", [bool, "f2", "i1", "f4"])
def test_types_of_cells_are_those_of_the_file(tmp_path, ending, dtype):
    cells = np.eye(6, 3).astype(dtype)
    wanted = anndata.AnnData(cells, obsm={"s": sp.csr_matrix(cells.astype("f4" if dtype == "f2" else dtype))})
    getattr(wanted, f"write_{ending}")(tmp_path / f"a.{ending}")
    got = dp.read_anndata(tmp_path / f"a.{ending}")
    for ours, theirs in ((got.X, wanted.X), (got.obsm["s"], wanted.obsm["s"])):
        assert hasattr(ours, "dask") and ours.dtype == theirs.dtype == ours.compute().dtype
        assert np.array_equal(in_memory(ours), in_memory(theirs))


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csc_matrix, lambda x: x.toarray()])
@pytest.mark.parametrize("version, shards", [(2, False), (3, False), (3, True)])
def test_a_folder_of_zarr_is_opened_in_place(tmp_path, form, version, shards):
    pytest.importorskip("zarr", minversion="3.0")
    wanted = made(form)
    with anndata.settings.override(zarr_write_format=version, **({"auto_shard_zarr_v3": True} if shards else {})):
        wanted.write_zarr(tmp_path / "a.zarr")
    got = dp.read_anndata(tmp_path / "a.zarr", chunks=(128, -1))
    assert hasattr(got.X, "dask") and hasattr(got.layers["counts"], "dask") and hasattr(got.obsp["near"], "dask")
    require_same(got, wanted)
    require_same(pickle.loads(pickle.dumps(got)), wanted)
    require_same(got[wanted.obs["n"] > 200].to_memory(), wanted[wanted.obs["n"] > 200].copy())
    dp.write_anndata(tmp_path / "a.dds", got)
    require_same(dp.read_anndata(tmp_path / "a.dds").to_memory(), anndata.read_zarr(tmp_path / "a.zarr"))


@pytest.mark.parametrize("ending", ["h5ad", "zarr", "dds"])
@pytest.mark.parametrize("chunks", [None, (128, -1)])
def test_compressed_columns_stay_what_they_are(tmp_path, ending, chunks):
    wanted = made(sp.csc_matrix)
    wanted.strings_to_categoricals()  # as anndata does when it writes
    path = tmp_path / f"a.{ending}"
    dp.write_anndata(path, wanted) if ending == "dds" else getattr(wanted, f"write_{ending}")(path)
    got = dp.read_anndata(path, chunks=chunks)
    assert isinstance(got.X._meta, sp.csc_matrix) and isinstance(got.X.compute(), sp.csc_matrix)
    rows = wanted.obs["n"] > 200
    for some in (got.to_memory(), got[rows].to_memory(), pickle.loads(pickle.dumps(got)).to_memory()):
        assert isinstance(some.X, sp.csc_matrix) and isinstance(some.layers["counts"], sp.csr_matrix)
        assert isinstance(some.raw.X, sp.csc_matrix)
    require_same(got[rows].to_memory(), wanted[rows].copy())
    got.write_h5ad(tmp_path / "b.h5ad")
    require_same(anndata.read_h5ad(tmp_path / "b.h5ad"), wanted)
    assert isinstance(anndata.read_h5ad(tmp_path / "b.h5ad").X, sp.csc_matrix)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_sparse_arrays_where_anndata_is_set_to_them(tmp_path, form):
    if not hasattr(anndata.settings, "use_sparse_array_on_read"):
        pytest.skip("anndata has no such setting")
    made(getattr(sp, f"{form}_matrix")).write_h5ad(tmp_path / "a.h5ad")
    with anndata.settings.override(use_sparse_array_on_read=True):
        wanted, got = anndata.read_h5ad(tmp_path / "a.h5ad"), dp.read_anndata(tmp_path / "a.h5ad").to_memory()
    assert type(got.X) is type(wanted.X) is getattr(sp, f"{form}_array")
    require_same(got, wanted)


@pytest.mark.parametrize("ending", ["h5ad", "zarr"])
def test_tables_are_frames_that_are_searched_and_converted(tmp_path, ending):
    wanted = made(sp.csr_matrix)
    wanted.obs["batch"] = pd.Categorical(np.arange(400) % 3 * 10)
    getattr(wanted, f"write_{ending}")(tmp_path / f"a.{ending}")
    path = tmp_path / f"a.{ending}"
    assert {"X", "obs", "var", "obsm/table", "raw/var"} <= set(dp.open(path).contents())
    f = dp.open(path, array="obs")
    rows = f.where("cell_type == 'B' and n > 100 and not (some missing) and batch == '20'")
    theirs = wanted.obs.eval("cell_type == 'B' and n > 100 and not some.isna() and batch == 20", engine="python")
    assert np.array_equal(rows, np.flatnonzero(theirs)) and len(rows) > 3
    dp.convert(f, tmp_path / "obs.dbdf")
    pd.testing.assert_frame_equal(dp.open(tmp_path / "obs.dbdf").to_pandas(), f.to_pandas())
    assert dp.open(path, array="obsm/table")["q"].tolist() == list(range(400))


@pytest.mark.parametrize("ending", ["h5ad", "zarr"])
def test_there_may_be_no_raw(tmp_path, ending):  # for which anndata 0.12 writes an array, too
    wanted = made(sp.csr_matrix)
    del wanted.raw
    path = tmp_path / f"a.{ending}"
    wanted.write_h5ad(path) if ending == "h5ad" else wanted.write_zarr(path)
    got = dp.read_anndata(path)
    assert got.raw is None and np.array_equal(in_memory(got.X), in_memory(wanted.X))


@pytest.mark.parametrize("version", ["0.7.8", "0.8.0", "0.9.2", "0.12.19", "0.13.4"])
def test_files_of_all_versions(tmp_path, version):
    packed = Path(__file__).parent.parent / f"golden/anndata/{version}.h5ad.gz"
    (tmp_path / "a.h5ad").write_bytes(gzip.decompress(packed.read_bytes()))
    wanted = anndata.read_h5ad(tmp_path / "a.h5ad")
    got = dp.read_anndata(tmp_path / "a.h5ad")
    assert hasattr(got.X, "dask") and got.X.shape == (20, 5)
    require_same(got, wanted)
    m = dp.open(tmp_path / "a.h5ad")
    assert list(m.row_names) == list(wanted.obs_names) and m.cols["gene3"].tolist() == in_memory(wanted.X)[:, 3].tolist()
    assert list(dp.open(tmp_path / "a.h5ad", array="raw/X").col_names) == list(wanted.raw.var_names)
    dp.write_anndata(tmp_path / "a.dds", got)
    require_same(dp.read_anndata(tmp_path / "a.dds"), wanted)


def test_slices_stay_lazy_and_read_their_rows(tmp_path):
    wanted = made(sp.csr_matrix)
    wanted.write_h5ad(tmp_path / "a.h5ad")
    got = dp.read_anndata(tmp_path / "a.h5ad", chunks=(64, -1))
    picked = got[got.obs["cell_type"] == "B"]
    assert hasattr(picked.X, "dask") and picked.n_obs == (wanted.obs["cell_type"] == "B").sum()
    require_same(picked.to_memory(), wanted[wanted.obs["cell_type"] == "B"].copy())
    assert sp.issparse(picked.to_memory().X)
    picked.copy().write_h5ad(tmp_path / "b.h5ad")  # what is lazy can be written
    require_same(anndata.read_h5ad(tmp_path / "b.h5ad"), wanted[wanted.obs["cell_type"] == "B"].copy())


def test_scanpy_runs_on_it_unmodified(tmp_path):
    scanpy = pytest.importorskip("scanpy")
    da = pytest.importorskip("dask.array")
    wanted = made(sp.csr_matrix)
    wanted.write_h5ad(tmp_path / "a.h5ad")
    got = dp.read_anndata(tmp_path / "a.h5ad", chunks=(100, -1))
    theirs = wanted.copy()  # the same chunks of arrays in memory: scanpy rounds them otherwise
    theirs.X = da.from_array(wanted.X.toarray(), chunks=(100, -1)).map_blocks(sp.csr_matrix)
    for one in (wanted, got, theirs):
        scanpy.pp.calculate_qc_metrics(one, inplace=True, percent_top=None)
        scanpy.pp.normalize_total(one, target_sum=1e4)
        scanpy.pp.log1p(one)
        scanpy.pp.highly_variable_genes(one, n_top_genes=20)
    assert np.allclose(got.obs["total_counts"], wanted.obs["total_counts"])
    assert np.allclose(in_memory(got.X), in_memory(wanted.X), rtol=1e-5)
    assert np.allclose(got.var["dispersions"], wanted.var["dispersions"], rtol=1e-4)
    assert np.array_equal(got.var["highly_variable"], theirs.var["highly_variable"])


def test_what_is_no_annotated_data_is_refused_with_a_sentence(tmp_path):
    import h5py

    with h5py.File(tmp_path / "plain.h5", "w") as file:
        file["x"] = np.zeros((2, 2))
    with pytest.raises(dp.NotRecognisedError, match="X, obs or var is missing"):
        dp.read_anndata(tmp_path / "plain.h5")
    dp.write(tmp_path / "m.dbdf", np.eye(3))
    with pytest.raises(dp.NotRecognisedError, match="dbdf"):
        dp.read_anndata(tmp_path / "m.dbdf")
    with pytest.raises(FileNotFoundError):
        dp.read_anndata(tmp_path / "none.h5ad")
