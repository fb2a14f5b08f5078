"""Annotated data: names, rows by condition, batches, scanpy's first steps and PCA, beside scanpy.

    annotated.py [CELLS [FOLDER [PART...]]]      default: 100,000 cells, a temporary folder; 3 GB

Simulated counts, 28,000 genes, about 1,700 entries a cell, drawn from at most 20,000 different
cells. Each figure is taken in a process of its own that may use one thread, in processor time
without imports, with its peak of memory; every answer is checked. Needs anndata, scanpy, dask and
h5py. Only `scanpy_memory` and `pca_scanpy` have the matrix in memory: more cells than that holds
are measured by naming the other parts.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version

GENES, ENTRIES, NAMES, KINDS, DIFFERENT = 28_000, 1_500, 10_000_000, 64, 20_000
ONE_THREAD = {
    f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "VECLIB_MAXIMUM")
}


def cpu(work, times=1):
    """The result, and the least processor time of some runs."""
    best, made = float("inf"), None
    for _ in range(times):
        start = time.process_time()
        made = work()
        best = min(best, time.process_time() - start)
    return made, best


def timed(work):
    """The result, and the processor time and time of one run."""
    start = time.perf_counter()
    made, used = cpu(work)
    return made, {"seconds": used, "wall": time.perf_counter() - start}


def counts(rng, cells, kinds):
    """Counts of some cells: few genes have most of them, and each kind of cell has its own."""
    import numpy as np
    import scipy.sparse as sp

    shares = 1 / np.arange(1, GENES + 1) ** 0.7
    cumulated = np.cumsum(shares / shares.sum())
    genes = np.searchsorted(cumulated, rng.random((cells, ENTRIES + 600)))
    programme = np.random.default_rng(7).integers(0, GENES, (KINDS, 300))  # of each kind
    own = rng.integers(0, 300, (cells, 250))
    genes[:, :250] = np.take_along_axis(programme[kinds], own, axis=1)
    rows = np.repeat(np.arange(cells), ENTRIES + 600)
    made = sp.csr_matrix(
        (np.ones(genes.size, np.float32), (rows, genes.ravel().astype(np.int32))), (cells, GENES)
    )
    made.sort_indices()
    return made


def write_all(cells, folder):
    """The same data as .h5ad, and as a collection, plain and packed."""
    import h5py
    import numpy as np
    import pandas as pd
    import pydapple as dp
    import scipy.sparse as sp
    from anndata.io import sparse_dataset, write_elem

    rng = np.random.default_rng(1)
    kinds = rng.integers(0, KINDS, min(cells, DIFFERENT))
    parts = np.split(kinds, range(2_000, len(kinds), 2_000))
    different = sp.vstack([counts(rng, len(part), part) for part in parts], "csr")
    drawn = np.arange(cells) if cells <= DIFFERENT else rng.integers(0, DIFFERENT, cells)
    obs = pd.DataFrame(
        {
            "cell_type": pd.Categorical(rng.choice(["B", "T", "NK", "Mono"], cells)),
            "n_genes": np.diff(different.indptr)[drawn],
        },
        index=[f"cell{k}" for k in range(cells)],
    )
    var = pd.DataFrame(index=[f"gene{k}" for k in range(GENES)])
    with h5py.File(f"{folder}/a.h5ad", "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        for begin in range(0, cells, DIFFERENT):
            part = different[drawn[begin : begin + DIFFERENT]]
            if obs["n_genes"].sum() >= 2**31:  # else scanpy wants both index arrays of one type
                part.indptr = part.indptr.astype(np.int64)
            if begin == 0:
                write_elem(file, "X", part)
            else:
                sparse_dataset(file["X"]).append(part)
        write_elem(file, "obs", obs)
        write_elem(file, "var", var)
    adata = dp.read_anndata(f"{folder}/a.h5ad")
    _, plain = cpu(lambda: dp.write_anndata(f"{folder}/a.dds", adata, sync=False))
    _, packed = cpu(
        lambda: dp.write_anndata(f"{folder}/packed.dds", adata, pack="fast", sync=False)
    )
    sizes = {
        name: os.path.getsize(f"{folder}/{name}")
        for name in ("a.dds/X.dbdf", "packed.dds/X.dbdf", "a.h5ad")
    }
    return {"entries": int(obs["n_genes"].sum()), "write": plain, "write packed": packed, **sizes}


def names(cells, folder):
    """A matrix of ten million named rows is opened, and a name found."""
    import numpy as np
    import pydapple as dp
    import scipy.sparse as sp

    path = f"{folder}/names.dbdf"
    if not os.path.exists(path):
        x = sp.csr_array(
            (np.ones(NAMES), np.arange(NAMES) % 100, np.arange(NAMES + 1)), (NAMES, 100)
        )
        dp.write(path, x, row_names=[f"AAACCTG-{k}" for k in range(NAMES)], sync=False)
        return {}
    m, opened = cpu(lambda: dp.open(path))
    wanted = np.random.default_rng(2).integers(0, NAMES, 10_000)
    found, first = cpu(lambda: [m.row_names.index(f"AAACCTG-{k}") for k in wanted])
    assert found == wanted.tolist()
    _, again = cpu(lambda: [m.row_names.index(f"AAACCTG-{k}") for k in wanted])
    return {"open": opened, "a name, untouched": first / 1e4, "a name": again / 1e4}


def gene(cells, folder):
    """One gene of all cells by its name, without and with a copy by column."""
    import numpy as np
    import pydapple as dp

    made = {}
    dp.index(f"{folder}/packed.dds/X.dbdf", columns=True)
    for name in ("a", "packed"):
        x = dp.open(f"{folder}/{name}.dds")["X"]
        got, made[name] = cpu(lambda x=x: x.cols["gene20000"], 5)
        assert np.array_equal(got, x.sparse[:, 20_000:20_001].toarray()[:, 0])
    return {"a gene": made["a"], "a gene, copy by column": made["packed"]}


def rows(cells, folder):
    """10,000 rows of X by a condition on obs, beside the same rows by number."""
    import numpy as np
    import pydapple as dp

    made = {}
    for name in ("a", "packed"):
        c = dp.open(f"{folder}/{name}.dds")
        x, obs = c["X"], c["obs"]
        limit = np.sort(obs["n_genes"][obs["cell_type"] == "B"])[-min(10_000, cells // 5)]
        condition = f"cell_type == 'B' and n_genes >= {limit}"
        numbers = c.rows_where(condition)
        by_condition, ours = cpu(lambda c=c, x=x, q=condition: x.sparse[c.rows_where(q)], 5)
        by_number, plain = cpu(lambda x=x, n=numbers: x.sparse[n], 5)
        assert (by_condition != by_number).nnz == 0 and by_number.shape[0] == len(numbers)
        made |= {f"{name}: rows": by_number.shape[0], f"{name}: by condition": ours,
                 f"{name}: by number": plain, f"{name}: ratio": ours / plain}  # fmt: skip
    return made


def batches(cells, folder):
    """Random rows through the loader, a second of processor time."""
    import numpy as np
    import pydapple as dp

    made = {}
    for name in ("a", "packed"):
        c = dp.open(f"{folder}/{name}.dds")
        for size in (64, 4096):
            loader = dp.loader(c["X"].sparse, c["obs"], columns=["n_genes"], batch=size, ahead=0)
            seen, start = 0, 0.0
            for k, batch in enumerate(b for _ in range(100) for b in loader):
                if k == 0:  # which reads what is kept
                    assert np.array_equal(np.diff(batch.x.indptr), batch.obs["n_genes"])
                    start = time.process_time()
                    continue
                seen += batch.x.shape[0]
                if time.process_time() - start > 1.5:
                    break
            assert seen > 0
            made[f"{name}: rows a second, batches of {size}"] = seen / (time.process_time() - start)
    return made


def first_steps(adata):
    """scanpy's quality control, normalisation and highly variable genes."""
    import scanpy as sc

    sc.pp.calculate_qc_metrics(adata, inplace=True, percent_top=None)
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    sc.pp.highly_variable_genes(adata, n_top_genes=2000)
    return adata


def scanpy_ours(cells, folder, packed=False):
    """The same on our lazy AnnData."""
    import dask
    import numpy as np
    import pydapple as dp
    import scanpy  # noqa: F401

    dask.config.set(scheduler="synchronous")
    name = "packed" if packed else "a"
    found, used = timed(
        lambda: first_steps(dp.read_anndata(f"{folder}/{name}.dds", chunks=(10_000, -1)))
    )
    np.save(f"{folder}/hvg-{name}.npy", found.var["highly_variable"])
    return used


def scanpy_packed(cells, folder):
    """The same, packed."""
    return scanpy_ours(cells, folder, True)


def scanpy_dask(cells, folder):
    """The same on anndata's own lazy matrix."""
    import anndata
    import dask
    import h5py
    import numpy as np
    import scanpy  # noqa: F401
    from anndata.experimental import read_elem_lazy

    dask.config.set(scheduler="synchronous")

    def work():
        with h5py.File(f"{folder}/a.h5ad") as file:
            x = read_elem_lazy(file["X"], chunks=(10_000, GENES))
            obs, var = anndata.io.read_elem(file["obs"]), anndata.io.read_elem(file["var"])
            return first_steps(anndata.AnnData(x, obs=obs, var=var))

    found, used = timed(work)
    for name in ("a", "packed"):
        if os.path.exists(f"{folder}/hvg-{name}.npy"):
            assert np.array_equal(found.var["highly_variable"], np.load(f"{folder}/hvg-{name}.npy"))
    found.obs.to_pickle(f"{folder}/obs.pickle")
    found.var.to_pickle(f"{folder}/var.pickle")
    return used


def survey(cells, folder, name="a.dds", threads=1):
    """The same in one pass by `pydapple.singlecell`."""
    import numpy as np
    import pandas as pd
    import pydapple as dp

    def work():
        opened = dp.open(f"{folder}/{name}")
        x = opened["X"] if name.endswith(".dds") else opened
        made = dp.singlecell.survey(x, percent_top=None, target_sum=1e4, threads=threads)
        return made, made.highly_variable_genes(n_top_genes=2000)

    (made, genes), used = timed(work)
    if not os.path.exists(f"{folder}/obs.pickle"):  # `scanpy_dask` was left out, or lacked memory
        wanted = dp.open(f"{folder}/a.dds")["obs"]["n_genes"]
        assert np.array_equal(made.obs["n_genes_by_counts"], wanted)
        return used
    obs, var = pd.read_pickle(f"{folder}/obs.pickle"), pd.read_pickle(f"{folder}/var.pickle")
    for found, table in ((made.obs, obs), (made.var, var)):
        for one in found:
            assert np.allclose(found[one], table[one], rtol=1e-6), one
    used["means apart"] = np.abs(genes["means"] / var["means"] - 1).max()
    used["dispersions apart"] = np.nanmax(np.abs(genes["dispersions"] - var["dispersions"]))
    used["genes apart"] = int(np.sum(genes["highly_variable"] != var["highly_variable"]))
    return used


def survey_packed(cells, folder):
    """The same, packed."""
    return survey(cells, folder, "packed.dds")


def survey_h5ad(cells, folder):
    """The same of anndata's file, in place."""
    return survey(cells, folder, "a.h5ad")


def survey_threads(cells, folder):
    """The same, packed, with two threads."""
    return survey(cells, folder, "packed.dds", 2)


def scanpy_memory(cells, folder):
    """The same in memory; it also writes the highly variable genes for PCA."""
    import anndata
    import numpy as np
    import pydapple as dp
    import scanpy  # noqa: F401

    adata, read = cpu(lambda: anndata.read_h5ad(f"{folder}/a.h5ad"))
    found, used = timed(lambda: first_steps(adata))
    found = found.var["highly_variable"].to_numpy()
    same = np.mean(found == np.load(f"{folder}/hvg-a.npy"))
    assert same > 0.999, same  # sums in another order
    few = adata[:, found].copy()
    few.X = few.X.astype(np.float64)
    few.write_h5ad(f"{folder}/hvg.h5ad")
    dp.write_anndata(f"{folder}/hvg.dds", few, sync=False)
    np.save(f"{folder}/hvg-memory.npy", found)
    return {**used, "read": read}


def pca_ours(cells, folder):
    """50 principal components by products with the file."""
    import numpy as np
    import pydapple as dp
    from scipy.sparse.linalg import svds

    x = dp.open(f"{folder}/hvg.dds")["X"]
    operator = x.linear_operator(center=True)
    used_by = {"products": 0.0, "count": 0}

    def counted(product):
        def work(v):
            start = time.process_time()
            made = product(v)
            used_by["products"] += time.process_time() - start
            used_by["count"] += 1
            return made

        return work

    operator._matvec = counted(operator._matvec)
    operator._rmatvec = counted(operator._rmatvec)
    (u, s, _), used = cpu(lambda: svds(operator, 50, random_state=0, v0=np.ones(min(x.shape))))
    scores = (u * s)[:, ::-1]
    np.save(f"{folder}/scores.npy", scores)
    return {"seconds": used, **used_by, "of its products": used / used_by["products"]}


def pca_survey(cells, folder):
    """The same of raw counts: a pass for the sums, one that writes these genes, and products."""
    import numpy as np
    import pydapple as dp
    from scipy.sparse.linalg import svds

    genes = np.load(f"{folder}/hvg-memory.npy")

    def work():
        counts = dp.singlecell.survey(
            dp.open(f"{folder}/packed.dds")["X"], percent_top=None, target_sum=1e4
        )
        counts.write_normalized(f"{folder}/genes.dbdf", genes, sync=False)
        operator = dp.open(f"{folder}/genes.dbdf").linear_operator(center=True)
        return svds(operator, 50, random_state=0, v0=np.ones(min(operator.shape)))

    (u, s, _), used = timed(work)
    ours, before = (u * s)[:, ::-1], np.load(f"{folder}/scores.npy")
    ours = ours * np.sign((ours * before).sum(axis=0))
    apart = np.abs(ours - before).max() / np.abs(before).max()
    assert apart < 1e-5, apart
    return {**used, "apart": apart}


def pca_scanpy(cells, folder):
    """The same by scanpy in memory."""
    import anndata
    import numpy as np
    import scanpy as sc

    adata = anndata.read_h5ad(f"{folder}/hvg.h5ad")
    _, used = cpu(
        lambda: sc.pp.pca(adata, n_comps=50, svd_solver="arpack", mask_var=None, dtype="float64")
    )
    theirs, ours = adata.obsm["X_pca"], np.load(f"{folder}/scores.npy")
    ours = ours * np.sign((ours * theirs).sum(axis=0))
    apart = np.abs(ours - theirs).max() / np.abs(theirs).max()
    assert apart < 1e-5, apart
    return {"seconds": used, "apart": apart}


PARTS = (
    write_all, names, names, gene, rows, batches, scanpy_ours, scanpy_packed, scanpy_dask,
    survey, survey_packed, survey_h5ad, survey_threads, scanpy_memory, pca_ours, pca_survey,
    pca_scanpy,
)  # fmt: skip


def main(cells=100_000, folder=None, *names):
    """Run each part, or those of these names, in a process of its own."""
    libraries = ("anndata", "scanpy", "dask", "zarr", "h5py", "scipy", "numpy", "pandas")
    print(", ".join(f"{name} {version(name)}" for name in libraries), f"{int(cells):,} cells")
    with tempfile.TemporaryDirectory(dir=folder) as made:
        for part in [one for one in PARTS if not names or one.__name__ in names]:
            given = ["--part", part.__name__, str(cells), made]
            done = subprocess.run(
                [sys.executable, "-W", "ignore", __file__, *given],
                env=os.environ | ONE_THREAD, stdout=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
            print(
                f"{part.__name__:14} {done.stdout.strip() or f'failed: {done.returncode}'}",
                flush=True,
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--part"]:
        figures = globals()[sys.argv[2]](int(sys.argv[3]), sys.argv[4])
        figures["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(json.dumps({key: round(one, 7) for key, one in figures.items()}))
    else:
        main(*sys.argv[1:])
