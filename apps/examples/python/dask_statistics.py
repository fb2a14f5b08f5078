"""Column statistics of a sparse file by a Dask cluster, whose processes share one copy of it.

    python dask_statistics.py [--rows 40000000] [--cols 4000] [--workers 2]

The default makes a file of about 20 GB. Prints the largest column sums, and how much memory the
workers' maps of the file took together at most: the proportional set size that Linux reports, which
counts a page once however many processes map it."""

import argparse
import os
import tempfile
import time

import numpy as np
import scipy.sparse as sp
from dask.distributed import Client, LocalCluster

import pydapple as dp


def make(path, rows, cols, density=0.015, seed=0):
    """The same sparse band again and again, times its number."""
    step = 50_000
    band = sp.random_array((step, cols), density=density, rng=np.random.default_rng(seed), format="csr")
    with dp.writer(path, (rows, cols), "f4", tile=(step, cols), sparse=True, sync=False) as w:
        for number, top in enumerate(range(0, rows, step)):
            count = min(step, rows - top)
            w[top : top + count] = (band[:count] * np.float32(number % 7 + 1)).astype("f4")


def column_sums(part):
    """Sum, sum of squares and stored values of each column of a sparse chunk, as rows of an array."""
    squares = part.copy()
    squares.data = squares.data.astype(float) ** 2
    stored = np.bincount(part.indices, minlength=part.shape[1])
    return np.stack([part.sum(axis=0, dtype=float), squares.sum(axis=0), stored])[None]


def shared_bytes(pids, path):
    """Proportional set size of these processes' maps of the file, together."""
    total = 0
    for pid in pids:
        mine = False
        with open(f"/proc/{pid}/smaps") as file:
            for line in file:
                first = line.split()
                if "-" in first[0] and not first[0].endswith(":"):
                    mine = line.rstrip().endswith(path)
                elif mine and first[0] == "Pss:":
                    total += int(first[1]) << 10
    return total


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--rows", type=int, default=40_000_000)
    parse.add_argument("--cols", type=int, default=4_000)
    parse.add_argument("--workers", type=int, default=2)
    given = parse.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cells.dbdf")
        make(path, given.rows, given.cols)
        matrix = dp.open(path)
        cells = matrix.to_dask((50_000, given.cols), sparse=True)
        sums = cells.map_blocks(
            column_sums, chunks=((1,) * cells.numblocks[0], (3,), (given.cols,)), new_axis=1,
            dtype=float, meta=np.empty((0, 0, 0)),
        )  # fmt: skip
        with (
            LocalCluster(given.workers, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            workers = client.run(os.getpid).values()
            result = client.compute(sums.sum(axis=0))
            most = 0
            while not result.done():
                most = max(most, shared_bytes(workers, path))
                time.sleep(0.1)
            total, squares, stored = result.result()
        exact = matrix.stats(axis=0)
        assert np.allclose(total, exact.sum) and np.allclose(squares, exact.sum_squares)
        assert np.array_equal(stored, exact.nnz)
        print(f"file {matrix.file_bytes / 1e9:.2f} GB in {cells.numblocks[0]} chunks")
        print("largest column sums", np.round(np.sort(total)[-3:], 1))
        print(f"maps of the file in {given.workers} workers: {most / 1e9:.2f} GB together at most")
        assert most <= matrix.file_bytes + (1 << 20)


if __name__ == "__main__":
    main()
