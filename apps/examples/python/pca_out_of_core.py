"""Principal components of a sparse file that is larger than the memory allowed.

    python pca_out_of_core.py [--rows 2000000] [--cols 2000] [--limit-mib 600]

Writes a sparse matrix piece by piece, limits this process's private memory, and finds the leading
components with SciPy's `svds` straight on the file: centring is one outer product more, so nothing is
ever dense."""

import argparse
import os
import resource
import tempfile

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds

import pydapple as dp

RANK = 3


def make(path, rows, cols, seed=0):
    """Rows near a subspace of RANK dimensions, of which one in twenty cells is stored."""
    random = np.random.default_rng(seed)
    loadings = random.standard_normal((RANK, cols)) * np.array([[9.0], [6.0], [4.0]])
    step = 20_000
    with dp.writer(path, (rows, cols), "f4", tile=(step, cols), sparse=True, sync=False) as w:
        for top in range(0, rows, step):
            count = min(step, rows - top)
            cells = sp.random_array((count, cols), density=0.05, rng=random, format="csr")
            scores = random.standard_normal((count, RANK))
            row = np.repeat(np.arange(count), np.diff(cells.indptr))
            cells.data = np.einsum("ij,ij->i", scores[row], loadings.T[cells.indices])
            w[top : top + count] = cells.astype("f4")


def pca(matrix, components):
    """(components, explained variance) of the centred matrix."""
    _, singular, axes = svds(matrix.linear_operator(center=True), k=components, rng=0)
    order = np.argsort(-singular)
    return axes[order], singular[order] ** 2 / matrix.shape[0]


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--rows", type=int, default=2_000_000)
    parse.add_argument("--cols", type=int, default=2_000)
    parse.add_argument("--limit-mib", type=int, default=600)
    given = parse.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cells.dbdf")
        make(path, given.rows, given.cols)
        limit = given.limit_mib << 20
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        matrix = dp.open(path)
        _, variance = pca(matrix, RANK)
        print(f"file {matrix.file_bytes >> 20} MiB, private memory at most {given.limit_mib} MiB")
        print("explained variance", np.round(variance, 2))


if __name__ == "__main__":
    main()
