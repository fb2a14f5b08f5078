"""Quality control and highly variable genes of counts of cells x genes, in one pass over the file.

>>> counts = dp.singlecell.survey(dp.open("pbmc.h5ad"), qc_vars={"mt": is_mitochondrial})
>>> adata.obs = adata.obs.assign(**counts.obs)
>>> adata.var = adata.var.assign(**counts.var, **counts.highly_variable_genes(n_top_genes=2000))

The results have the names and values of scanpy's `calculate_qc_metrics`, and of `normalize_total`,
`log1p` and `highly_variable_genes` after each other. Nothing of the size of the matrix is made.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import _core, keys, write
from .absent import Absent, absent_code
from .arguments import told
from .arrays import bands_of
from .declared import cell_dtype
from .errors import InvalidArgumentError, TypeMismatchError, shown
from .matrix import Matrix

if TYPE_CHECKING:
    from .reports import Path, WriteSummary

Floats = NDArray[np.float64]
_PIECE = 1 << 26  # bytes of rows between which Ctrl-C is seen, and the file's pages are given back
_FLAVORS = ("seurat", "cell_ranger")
_MAD_OF_NORMAL = 0.6744897501960817  # the median distance from the median, of deviation 1


@told
def survey(
    counts: Matrix,
    *,
    qc_vars: Mapping[str, ArrayLike] | None = None,
    percent_top: Sequence[int] | None = (50, 100, 200, 500),
    target_sum: float | None = None,
    flavor: str = "seurat",
    absent: Absent = "error",
    threads: int | None = 1,
) -> Survey:
    """Sum up counts of cells (rows) and genes (columns), of anything that `pydapple.open` opens.

    Args:
        counts: raw counts, as they are before `normalize_total`.
        qc_vars: groups of genes, ``{"mt": adata.var_names.str.startswith("MT-")}``: Booleans
            of all genes. The share of each cell's counts in a group is wanted.
        percent_top: of how many genes with the largest counts of each cell the share is wanted.
        target_sum: what the counts of each cell are scaled to; None: the median of those above 0.
        flavor: what highly variable genes will be found by: 'seurat', or 'cell_ranger', which takes
            the logarithm of each count, and without a `target_sum` a pass for the sums of the rows.
        absent: whether cells that no block covers are an error, or zero.
        threads: parts of the rows that are read at once; 0: one for each processor. Sums of
            fractions may differ in their last digits with the number.

    Raises:
        InvalidArgumentError: a group of genes of another length, an unknown flavor.
    """
    if not isinstance(counts, Matrix):
        raise TypeMismatchError(f"counts are a pydapple.Matrix, not a {type(counts).__name__}")
    if flavor not in _FLAVORS:
        raise InvalidArgumentError(f"flavor is 'seurat' or 'cell_ranger', not {shown(flavor)}")
    tops = sorted(keys.whole(top) for top in (() if percent_top is None else percent_top))
    if tops and not 0 < tops[0] <= tops[-1] <= counts.shape[1]:
        raise InvalidArgumentError(
            f"percent_top={shown(percent_top)} is outside 1 to {counts.shape[1]}, the number of "
            "genes: give others, or None"
        )
    masks = {name: np.asarray(mask) for name, mask in (qc_vars or {}).items()}
    for name, mask in masks.items():
        if mask.dtype != bool or mask.shape != counts.shape[1:]:
            raise InvalidArgumentError(
                f"qc_vars[{name!r}] is not a Boolean for each of the {counts.shape[1]} genes"
            )
    if target_sum is not None and not target_sum > 0:
        raise InvalidArgumentError(f"target_sum is above 0, not {target_sum}")
    logarithm = flavor == "cell_ranger"
    if logarithm and target_sum is None:
        target_sum = _median(counts.stats(axis=1, absent=absent, threads=threads).sum)
    table = np.ones((counts.shape[1], len(masks)))
    for k, mask in enumerate(masks.values()):
        table[:, k] = mask
    # Without a logarithm, what cells are scaled to is a factor of the sums.
    wanted = float(target_sum or 1) if logarithm else 1.0, logarithm, table, tops
    genes, cells = _pass(counts, absent_code(absent), threads, wanted)
    if target_sum is None:
        target_sum = _median(cells[:, 1])
    factor = 1.0 if logarithm else float(target_sum)
    moments = genes[:, 2] * factor, genes[:, 3] * factor**2
    obs, var = _of_cells(cells, list(masks), tops), _of_genes(genes, len(cells))
    return Survey(counts, obs, var, float(target_sum), flavor, moments, absent)


@told
class Survey:
    """What `survey` finds: columns by name, for ``adata.obs.assign(**counts.obs)``.

    `obs` has a value for each cell, `var` one for each gene; `target_sum` is what the counts of
    each cell are scaled to.
    """

    def __init__(
        self, counts: Matrix, obs: dict[str, NDArray[Any]], var: dict[str, NDArray[Any]],
        target_sum: float, flavor: str, moments: tuple[Floats, Floats], absent: Absent,
    ) -> None:  # fmt: skip
        self.counts, self.obs, self.var = counts, obs, var
        self.target_sum, self.flavor = target_sum, flavor
        self._moments, self._absent = moments, absent

    def highly_variable_genes(
        self,
        n_top_genes: int | None = None,
        *,
        min_disp: float = 0.5,
        max_disp: float = np.inf,
        min_mean: float = 0.0125,
        max_mean: float = 3,
        n_bins: int = 20,
    ) -> dict[str, NDArray[Any]]:
        """Columns for `adata.var`, as scanpy's function of that name has them. Reads nothing.

        Args:
            n_top_genes: how many genes with the largest normalised dispersions are highly variable;
                None: those within the limits.
            min_disp: limits of normalised dispersions and means, of which the 'seurat' flavor takes
                the logarithm.
            max_disp: the same.
            min_mean: the same.
            max_mean: the same.
            n_bins: groups of genes by mean, in which 'seurat' compares them.
        """
        if n_top_genes is not None and keys.whole(n_top_genes) < 1:
            raise InvalidArgumentError(f"n_top_genes is at least 1, not {n_top_genes}")
        rows = len(self.obs["total_counts"])
        sums, squares = self._moments
        if rows == 0 or len(sums) == 0:
            raise InvalidArgumentError("without cells or genes, none are highly variable")
        with np.errstate(divide="ignore", invalid="ignore"):
            means = sums / rows
            dispersions = np.maximum(squares - sums * means, 0) / (rows - 1)
            means[means == 0] = 1e-12
            dispersions /= means
            if self.flavor == "seurat":
                dispersions[dispersions == 0] = np.nan
                means, dispersions = np.log1p(means), np.log(dispersions)
            norm = _normalised(means, dispersions, self.flavor, n_bins)
        if n_top_genes is None:
            known = np.nan_to_num(norm)
            chosen = (means > min_mean) & (means < max_mean)
            chosen &= (known > min_disp) & (known < max_disp)
        else:
            ranked = np.sort(norm[~np.isnan(norm)])
            chosen = norm >= (ranked[-min(n_top_genes, len(ranked))] if len(ranked) else np.nan)
        names = "highly_variable", "means", "dispersions", "dispersions_norm"
        return dict(zip(names, (chosen, means, dispersions, norm), strict=True))

    def write_normalized(
        self, path: Path, genes: ArrayLike, *, dtype: DTypeLike = np.float32, **options: Any
    ) -> WriteSummary:
        """Write log1p of the normalised counts of some genes, in a second pass.

        The file is what `Matrix.linear_operator` multiplies with, for principal components:

        >>> counts.write_normalized("hvg.dbdf", adata.var["highly_variable"])
        >>> u, s, vt = svds(dp.open("hvg.dbdf").linear_operator(center=True), 50)

        Args:
            path: the file.
            genes: Booleans, numbers or names.
            dtype: float32 or float64.
            options: as of `pydapple.write`.
        """
        counts, kind = self.counts, cell_dtype(dtype)
        if kind.kind != "f":
            raise TypeMismatchError(f"logarithms are float32 or float64, not {kind}")
        wanted = keys.several(counts._resolved(genes, 1), counts.shape[1], "column").positions()
        if counts.row_names is not None:
            options.setdefault("row_names", counts.row_names)
        if counts.col_names is not None:
            options.setdefault("col_names", [counts.col_names[k] for k in wanted])
        with np.errstate(divide="ignore"):
            totals = self.obs["total_counts"]
            scales = np.where(totals != 0, self.target_sum / totals, 1)
        shape = counts.shape[0], len(wanted)
        with write.writer(path, shape, kind, sparse=True, **options) as out:
            for rows in _pieces(counts):
                part = counts.read_sparse(rows, absent=self._absent)[:, wanted]
                scale = np.repeat(scales[rows.start : rows.stop], np.diff(part.indptr))
                part.data = np.log1p(part.data * scale).astype(kind)
                out[rows.start : rows.stop] = part
                counts._let_go()
        assert out.summary is not None
        return out.summary


def _pieces(counts: Matrix, parts: int = 1) -> list[range]:
    rows = counts.shape[0]
    row_bytes = max(1, counts.nnz * (counts.dtype.itemsize + 4) // max(rows, 1))
    most = max(1, min(_PIECE, rows * row_bytes // parts))
    return list(bands_of(range(rows), counts.chunks[0] if rows else 1, row_bytes, most))


def _pass(
    counts: Matrix,
    absent: int,
    threads: int | None,
    wanted: tuple[float, bool, Floats, list[int]],
) -> tuple[Floats, Floats]:
    """Sums of each gene and of each cell, as `add_counts` of the extension has them."""
    from concurrent.futures import ThreadPoolExecutor
    from threading import Event

    workers = 1 if threads is None else keys.whole(threads) or os.cpu_count() or 1
    if workers < 0:
        raise InvalidArgumentError("threads is a number of threads, or 0: one for each processor")
    pieces, ended = _pieces(counts, workers), Event()
    cells = np.empty((counts.shape[0], 2 + wanted[2].shape[1] + len(wanted[3])))

    def work(worker: int) -> Floats:
        genes = np.zeros((counts.shape[1], 4))
        for rows in pieces[worker::workers]:
            if ended.is_set():
                break
            part = cells[rows.start : rows.stop]
            _core.add_counts(counts, rows.start, rows.stop, absent, *wanted, genes, part)
            counts._let_go()
        return genes

    with ThreadPoolExecutor(workers) as pool:
        try:
            return np.sum(list(pool.map(work, range(workers))), axis=0), cells
        finally:  # by Ctrl-C or an error, too
            ended.set()


def _median(totals: Floats) -> float:
    """Of the cells that have counts."""
    counted = totals[totals > 0]
    return float(np.median(counted)) if len(counted) else 1.0


def _of_cells(cells: Floats, groups: list[str], tops: list[int]) -> dict[str, NDArray[Any]]:
    total = cells[:, 1]
    made: dict[str, NDArray[Any]] = {"n_genes_by_counts": cells[:, 0].astype(np.int64)}
    made["log1p_n_genes_by_counts"] = np.log1p(cells[:, 0])
    made["total_counts"] = total.copy()
    made["log1p_total_counts"] = np.log1p(total)
    with np.errstate(divide="ignore", invalid="ignore"):  # cells without counts have no shares
        for k, top in enumerate(tops, 2 + len(groups)):
            made[f"pct_counts_in_top_{top}_genes"] = cells[:, k] / total * 100
        for k, name in enumerate(groups, 2):
            made[f"total_counts_{name}"] = cells[:, k].copy()
            made[f"log1p_total_counts_{name}"] = np.log1p(cells[:, k])
            made[f"pct_counts_{name}"] = cells[:, k] / total * 100
    return made


def _of_genes(genes: Floats, rows: int) -> dict[str, NDArray[Any]]:
    with np.errstate(invalid="ignore"):
        mean, seen = genes[:, 1] / rows, genes[:, 0] / rows
    return {
        "n_cells_by_counts": genes[:, 0].astype(np.int64),
        "mean_counts": mean,
        "log1p_mean_counts": np.log1p(mean),
        "pct_dropout_by_counts": (1 - seen) * 100,
        "total_counts": genes[:, 1].copy(),
        "log1p_total_counts": np.log1p(genes[:, 1]),
    }


def _normalised(means: Floats, dispersions: Floats, flavor: str, n_bins: int) -> Floats:
    """Dispersions beside those of genes with similar means."""
    if flavor == "seurat":  # bins of one width, as pandas.cut makes them
        low, high = means.min(), means.max()
        if low == high:
            slack = 0.001 * abs(low) or 0.001
            low, high = low - slack, high + slack
        edges = np.linspace(low, high, n_bins + 1)
        edges[0] = -np.inf
    else:
        edges = np.r_[-np.inf, np.unique(np.percentile(means, np.arange(10, 105, 5))), np.inf]
    bins = np.searchsorted(edges, means)
    made = np.full(len(means), np.nan)
    for one in np.unique(bins):
        here = bins == one
        known = dispersions[here & ~np.isnan(dispersions)]
        if flavor == "cell_ranger":
            centre = np.median(known)
            spread = np.median(np.abs(known - centre)) / _MAD_OF_NORMAL
        elif len(known) > 1:
            centre, spread = known.mean(), known.std(ddof=1)
        else:  # one alone becomes 1
            centre, spread = 0.0, known.sum()
        made[here] = (dispersions[here] - centre) / spread
    return made
