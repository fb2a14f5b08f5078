"""Quality control, highly variable genes and principal components of files equal scanpy's in memory."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import svds

import pydapple as dp

anndata = pytest.importorskip("anndata")
scanpy = pytest.importorskip("scanpy")
pytest.importorskip("h5py")

CELLS, GENES = 1500, 900


@pytest.fixture(scope="module")
def wanted():
    """Counts as scanpy takes them, in float64, so that its own rounding does not count."""
    rng = np.random.default_rng(11)
    depth, kinds = rng.gamma(3, 0.4, (CELLS, 1)), rng.integers(0, 4, CELLS)
    mean = rng.gamma(0.5, 3, GENES) * np.where(rng.random((4, GENES)) < 0.1, 4, 1)[kinds] * depth
    x = rng.negative_binomial(1.5, 1.5 / (1.5 + mean)).astype(np.float64)
    x[0] = 0
    var = pd.DataFrame({"mt": np.arange(GENES) % 40 == 0}, index=[f"gene{k}" for k in range(GENES)])
    return anndata.AnnData(sp.csr_matrix(x), pd.DataFrame(index=[f"cell{k}" for k in range(CELLS)]), var)


def opened(wanted, form, folder):
    if form == "h5ad":
        wanted.write_h5ad(folder / "a.h5ad")
        return dp.open(folder / "a.h5ad")
    if form == "zarr":
        wanted.write_zarr(folder / "a.zarr")
        return dp.open(folder / "a.zarr", array="X")
    if form == "csc":
        anndata.AnnData(wanted.X.tocsc(), wanted.obs, wanted.var).write_h5ad(folder / "a.h5ad")
        return dp.open(folder / "a.h5ad")
    if form == "dense":
        anndata.AnnData(wanted.X.toarray(), wanted.obs, wanted.var).write_h5ad(folder / "a.h5ad")
        return dp.open(folder / "a.h5ad")
    dp.write_anndata(folder / "a.dds", wanted, pack="small")
    return dp.open(folder / "a.dds")["X"]


def require_near(found, table):
    assert set(found) <= set(table.columns)
    for name in found:
        theirs = table[name].to_numpy()
        if theirs.dtype == bool:
            assert np.array_equal(found[name], theirs), name
        else:
            assert np.allclose(found[name], theirs, rtol=1e-6, atol=0, equal_nan=True), name


@pytest.mark.parametrize(
    "form, flavor, target, top",
    [
        *[(form, "seurat", 1e4, 200) for form in ("h5ad", "zarr", "csc", "dense", "collection")],
        ("h5ad", "seurat", None, None),
        ("h5ad", "cell_ranger", 1e4, None),
        ("h5ad", "cell_ranger", None, 200),
    ],
)
def test_a_survey_equals_scanpy(wanted, tmp_path, form, flavor, target, top):
    if target is None:  # of sparse arrays in memory, scanpy 1.11 counts cells without counts, too
        wanted = wanted[1:].copy()
    counts = dp.singlecell.survey(
        opened(wanted, form, tmp_path), qc_vars={"mt": wanted.var["mt"]}, target_sum=target, flavor=flavor
    )
    theirs = wanted.copy()
    scanpy.pp.calculate_qc_metrics(theirs, qc_vars=["mt"], inplace=True)
    scanpy.pp.normalize_total(theirs, target_sum=target)
    scanpy.pp.log1p(theirs)
    before = set(theirs.var.columns)
    scanpy.pp.highly_variable_genes(theirs, n_top_genes=top, flavor=flavor)
    genes = counts.highly_variable_genes(top)
    assert set(counts.obs) == set(theirs.obs.columns) and set(counts.var) | {"mt"} == before
    assert set(genes) == set(theirs.var.columns) - before and genes["highly_variable"].any()
    require_near(counts.obs, theirs.obs)
    norm = genes.pop("dispersions_norm")  # which scanpy rounds to float32, and are near zero
    assert np.allclose(norm, theirs.var["dispersions_norm"], rtol=1e-6, atol=1e-7, equal_nan=True)
    require_near(counts.var | genes, theirs.var)
    ours = wanted.copy()
    ours.obs = ours.obs.assign(**counts.obs)
    ours.var = ours.var.assign(**counts.var, **genes)
    assert ours.var["highly_variable"].sum() == genes["highly_variable"].sum()


def test_principal_components_equal_scanpy(wanted, tmp_path):
    counts = dp.singlecell.survey(opened(wanted, "h5ad", tmp_path), target_sum=1e4)
    counts.write_normalized(tmp_path / "hvg.dbdf", counts.highly_variable_genes(200)["highly_variable"], dtype="f8")
    u, s, vt = svds(dp.open(tmp_path / "hvg.dbdf").linear_operator(center=True), 50, random_state=0)
    theirs = wanted.copy()
    scanpy.pp.normalize_total(theirs, target_sum=1e4)
    scanpy.pp.log1p(theirs)
    scanpy.pp.highly_variable_genes(theirs, n_top_genes=200)
    scanpy.pp.pca(theirs, n_comps=50, svd_solver="arpack", dtype="float64")
    for ours, x in ((u * s)[:, ::-1], theirs.obsm["X_pca"]), (vt[::-1].T, theirs.varm["PCs"][theirs.var.highly_variable]):
        ours = ours * np.sign((ours * x).sum(axis=0))
        assert np.abs(ours - x).max() < 1e-5 * np.abs(x).max()
