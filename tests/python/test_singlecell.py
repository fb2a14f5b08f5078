"""Quality control and highly variable genes in one pass: what plain NumPy finds with all cells in memory."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import svds

import pydapple as dp

CELLS, GENES = 600, 90


@pytest.fixture
def x():
    """Counts of genes of different means, with a cell and a gene of which there is nothing."""
    rng = np.random.default_rng(5)
    made = rng.negative_binomial(1.3, 1 / (1 + rng.gamma(0.4, 2, GENES) * rng.gamma(2, 0.5, (CELLS, 1))))
    made[7], made[:, 3] = 0, 0
    return made.astype(np.float64)


def normalised(x, target):
    totals = x.sum(axis=1)
    target = np.median(totals[totals > 0]) if target is None else target
    return x / np.where(totals, totals, 1)[:, None] * target


def plain_dispersions(y, flavor):
    """Loops over bins and genes."""
    means, variances = y.mean(axis=0), y.var(axis=0, ddof=1)
    means = np.where(means == 0, 1e-12, means)
    dispersions = variances / means
    if flavor == "seurat":
        dispersions = np.log(np.where(dispersions == 0, np.nan, dispersions))
        means = np.log1p(means)
        width = (means.max() - means.min()) / 20
        limits = [means.min() + width * k for k in range(1, 20)]
    else:
        limits = sorted(set(np.percentile(means, range(10, 105, 5))))
    bins = [sum(mean > limit for limit in limits) for mean in means]
    norm = []
    for one, dispersion in zip(bins, dispersions, strict=True):
        group = np.array([d for d, k in zip(dispersions, bins, strict=True) if k == one and d == d])
        if flavor == "cell_ranger":
            middle = np.median(group)
            norm.append((dispersion - middle) / (np.median(abs(group - middle)) / 0.6744897501960817))
        elif len(group) == 1:
            norm.append(dispersion / group[0])
        else:
            norm.append((dispersion - group.mean()) / group.std(ddof=1) if len(group) else np.nan)
    return means, dispersions, np.array(norm)


def require_qc(made, x, mask, tops):
    totals, seen = x.sum(axis=1), (x != 0).sum(axis=1)
    obs = {"n_genes_by_counts": seen, "total_counts": totals, "total_counts_mt": x[:, mask].sum(axis=1)}
    var = {"n_cells_by_counts": (x != 0).sum(axis=0), "mean_counts": x.mean(axis=0), "total_counts": x.sum(axis=0)}
    obs |= {f"log1p_{name}": np.log1p(values) for name, values in obs.items()}
    var |= {f"log1p_{name}": np.log1p(var[name]) for name in ("mean_counts", "total_counts")}
    largest = -np.sort(-x, axis=1)
    with np.errstate(invalid="ignore"):
        obs["pct_counts_mt"] = 100 * obs["total_counts_mt"] / totals
        for top in tops:
            obs[f"pct_counts_in_top_{top}_genes"] = 100 * largest[:, :top].sum(axis=1) / totals
    var["pct_dropout_by_counts"] = 100 * (x == 0).mean(axis=0)
    for found, wanted in ((made.obs, obs), (made.var, var)):
        assert found.keys() == wanted.keys()
        for name in wanted:
            assert np.allclose(found[name], wanted[name], rtol=1e-12, equal_nan=True), name


FORMS = {
    "sparse": lambda x, path: dp.write(path, sp.csr_array(x), tile=(100, GENES)),
    "tiles": lambda x, path: dp.write(path, sp.csr_array(x), tile=(64, 32)),
    "packed": lambda x, path: dp.write(path, sp.csr_array(x.astype("f4")), pack="small"),
    "dense": lambda x, path: dp.write(path, x),
    "integers": lambda x, path: dp.write(path, x.astype("u2"), tile=(50, 40)),
    "npy": lambda x, path: np.save(path, x.astype("f4")),
}


@pytest.mark.parametrize("threads", [None, 3])
@pytest.mark.parametrize("form", FORMS)
def test_a_pass_finds_what_numpy_finds(x, tmp_path, form, threads, monkeypatch):
    monkeypatch.setattr(dp.singlecell, "_PIECE", 20_000)
    path = tmp_path / ("x.npy" if form == "npy" else "x.dbdf")
    FORMS[form](x, path)
    mask = np.arange(GENES) % 7 == 0
    for flavor, target in (("seurat", 1e4), ("seurat", None), ("cell_ranger", 1e4), ("cell_ranger", None)):
        made = dp.singlecell.survey(
            dp.open(path), qc_vars={"mt": mask}, percent_top=(50, 5, GENES), target_sum=target, flavor=flavor,
            threads=threads,
        )  # fmt: skip
        require_qc(made, x, mask, (5, 50, GENES))
        y = normalised(x, target)
        means, dispersions, norm = plain_dispersions(y if flavor == "seurat" else np.log1p(y), flavor)
        for top in (None, 20, 10_000):
            found = made.highly_variable_genes(top)
            assert np.allclose(found["means"], means, rtol=1e-10)
            assert np.allclose(found["dispersions"], dispersions, rtol=1e-9, equal_nan=True)
            assert np.allclose(found["dispersions_norm"], norm, rtol=1e-8, equal_nan=True)
            if top is None:
                wanted = (means > 0.0125) & (means < 3) & (norm > 0.5)
                assert np.array_equal(found["highly_variable"], wanted) and wanted.any()
            else:
                last = sorted(norm[~np.isnan(norm)])[-min(top, np.sum(norm == norm))]
                near = abs(norm - last) < 1e-9  # two genes alone in a bin are as far from its mean
                assert np.array_equal(found["highly_variable"] | near, (norm > last) | near)
                assert found["highly_variable"].sum() >= min(top, 80)


def test_a_data_set_is_surveyed_as_one(x, tmp_path):
    for part in (x[:200], x[200:]):
        dp.dataset.append(tmp_path / "set", part)
    made = dp.singlecell.survey(dp.open(tmp_path / "set"), percent_top=None, target_sum=1e4)
    assert np.array_equal(made.obs["total_counts"], x.sum(axis=1))
    assert np.array_equal(made.var["total_counts"], x.sum(axis=0))


def test_zeros_that_are_stored_are_no_counts_and_absent_cells_are_refused(tmp_path):
    stored = sp.csr_array((np.array([0.0, -0.0, 2.0]), [0, 1, 1], [0, 2, 3]), (2, 2))
    dp.write(tmp_path / "zeros.dbdf", stored)
    made = dp.singlecell.survey(dp.open(tmp_path / "zeros.dbdf"), percent_top=np.array([1, 2]))
    assert made.obs["n_genes_by_counts"].tolist() == [0, 1] and made.var["n_cells_by_counts"].tolist() == [0, 1]
    dp.dataset.create(tmp_path / "set", dp.open(tmp_path / "zeros.dbdf"), (4, 2))
    dp.dataset.commit(tmp_path / "set", [dp.dataset.write_part(tmp_path / "set", np.ones((2, 2)), at=(0, 0))])
    with pytest.raises(dp.AbsentError):
        dp.singlecell.survey(dp.open(tmp_path / "set"), percent_top=None)
    made = dp.singlecell.survey(dp.open(tmp_path / "set"), percent_top=None, absent="zero")
    assert made.obs["total_counts"].tolist() == [2, 2, 0, 0]


def test_principal_components_of_the_written_genes_are_those_in_memory(x, tmp_path):
    names = [f"cell{k}" for k in range(CELLS)], [f"gene{k}" for k in range(GENES)]
    dp.write(tmp_path / "x.dbdf", sp.csr_array(x), row_names=names[0], col_names=names[1])
    counts = dp.singlecell.survey(dp.open(tmp_path / "x.dbdf"), percent_top=None, target_sum=1e4)
    genes = counts.highly_variable_genes(30)["highly_variable"]
    counts.write_normalized(tmp_path / "hvg.dbdf", genes, dtype="f8")
    m = dp.open(tmp_path / "hvg.dbdf")
    wanted = np.log1p(normalised(x, 1e4))[:, genes]
    assert np.allclose(m[:], wanted, rtol=1e-12) and m.nnz == np.count_nonzero(wanted)
    assert list(m.row_names) == names[0] and list(m.col_names) == [names[1][k] for k in np.flatnonzero(genes)]
    u, s, _ = svds(m.linear_operator(center=True), 10)
    left, singular, _ = np.linalg.svd(wanted - wanted.mean(axis=0), full_matrices=False)
    ours, theirs = (u * s)[:, ::-1], left[:, :10] * singular[:10]
    ours = ours * np.sign((ours * theirs).sum(axis=0))
    assert np.abs(ours - theirs).max() < 1e-8 * np.abs(theirs).max()


def test_what_does_not_fit_is_refused_with_a_sentence(x, tmp_path):
    dp.write(tmp_path / "x.dbdf", x)
    m = dp.open(tmp_path / "x.dbdf")
    for wrong, sentence in (
        ({"flavor": "seurat_v3"}, "'seurat' or 'cell_ranger'"),
        ({"qc_vars": {"mt": [True]}}, "Boolean for each of the 90 genes"),
        ({"qc_vars": {"mt": np.ones(GENES)}}, "Boolean for each of the 90 genes"),
        ({"percent_top": (50, 91)}, "outside 1 to 90"),
        ({"percent_top": (0,)}, "outside 1 to 90"),
        ({"target_sum": 0}, "above 0, not 0"),
        ({"threads": -1}, "threads is a number of threads"),
    ):
        with pytest.raises(dp.InvalidArgumentError, match=sentence):
            dp.singlecell.survey(m, **({"percent_top": None} | wrong))
    with pytest.raises(dp.TypeMismatchError, match="not a ndarray"):
        dp.singlecell.survey(x)
    made = dp.singlecell.survey(m, percent_top=None)
    with pytest.raises(dp.InvalidArgumentError, match="at least 1, not 0"):
        made.highly_variable_genes(0)
    with pytest.raises(dp.TypeMismatchError, match="not int32"):
        made.write_normalized(tmp_path / "y.dbdf", [1], dtype="i4")
    for shape in ((0, 4), (4, 0)):
        dp.write(tmp_path / "none.dbdf", np.zeros(shape), overwrite=True)
        made = dp.singlecell.survey(dp.open(tmp_path / "none.dbdf"), percent_top=None)
        assert (len(made.obs["total_counts"]), len(made.var["total_counts"])) == shape
        with pytest.raises(dp.InvalidArgumentError, match="without cells or genes"):
            made.highly_variable_genes(1)
