#!/usr/bin/env python3
"""The Python peers of dapple-bench: one request per line on standard input, a JSON object, and one
answer per line on standard output.

Requests name what to do ("do") and on what; answers hold the answer that dapple-bench checks, the
seconds it took and the processor seconds used. The first request is "hello": which libraries are
there, in which versions. Files and arrays stay open between requests."""

import functools
import importlib
import json
import os
import sys
import time

# Contenders of one thread each.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402

LIBRARIES = ("numpy", "scipy", "pandas", "h5py", "zarr")

TOUCH = np.dtype([("i", "<u2"), ("j", "<u2"), ("row", "<u2"), ("col", "<u2")])


def versions():
    found = {"Python": sys.version.split()[0]}
    for name in LIBRARIES:
        try:
            found[name] = importlib.import_module(name).__version__
        except ImportError:
            pass
    return found


# Each opener gives an object that is sliced as the whole matrix: m[r0:r1, c0:c1].


class MappedTiles:
    """numpy.memmap of the tiles in dapple's own file: tile-major, so slices must lie in one tile."""

    def __init__(self, path, offset, step, tile, grid):
        cells = np.memmap(path, dtype=np.uint8, mode="r")
        end = offset + (grid * grid - 1) * step + tile * tile * 8
        self.tiles = np.ndarray((grid, grid, tile, tile), "<f8", buffer=cells[:end], offset=offset,
                                strides=(grid * step, step, tile * 8, 8))
        self.tile = tile

    def __getitem__(self, key):
        rows, cols = key
        i, row = divmod(rows.start, self.tile)
        j, col = divmod(cols.start, self.tile)
        return self.tiles[i, j, row:row + rows.stop - rows.start, col:col + cols.stop - cols.start]


@functools.lru_cache(maxsize=4)
def open_matrix(library, path, layout):
    if library == "numpy":
        return MappedTiles(path, *layout)
    if library == "h5py":
        import h5py
        return h5py.File(path, "r")["cells"]
    import zarr
    return zarr.open(path, mode="r")


def matrix_of(request):
    return open_matrix(request["with"], request["file"], tuple(request.get("layout", ())))


def touches_of(request):
    return np.fromfile(request["touches"], dtype=TOUCH)[:request["count"]].tolist()


def touch(request):
    m, tile = matrix_of(request), request["tile"]
    touches = touches_of(request)

    def run():
        total = 0.0
        for i, j, row, col in touches:
            r, c = i * tile + row, j * tile + col
            total += m[r:r + 1, c:c + 1][0, 0]
        return float(total)
    return run


def sum_tiles(request):
    m, tile = matrix_of(request), request["tile"]
    touches = touches_of(request)

    def run():
        total = 0.0
        for i, j, _, _ in touches:
            r, c = i * tile, j * tile
            total += m[r:r + tile, c:c + tile].sum()
        return float(total)
    return run


def copy_regions(request):
    m = matrix_of(request)
    regions = np.fromfile(request["regions"], dtype="<u8").reshape(-1, 4)[:request["count"]].tolist()

    def run():
        total = 0.0
        for r0, r1, c0, c1 in regions:
            part = m[r0:r1, c0:c1]
            total += part[0, 0] + part[(r1 - r0) // 2, (c1 - c0) // 2] + part[-1, -1]
        return float(total)
    return run


def make_zarr(request):
    """The matrix of W1 to W4 as a zarr directory, uncompressed, one chunk per tile."""
    import h5py
    import zarr

    def run():
        with h5py.File(request["from"], "r") as file:
            source, tile = file["cells"], request["tile"]
            out = zarr.open(request["file"], mode="w", shape=source.shape, chunks=(tile, tile),
                            dtype="<f8", compressor=None)
            for row in range(0, source.shape[0], tile):
                out[row:row + tile, :] = source[row:row + tile, :]
        return 0.0
    return run


@functools.lru_cache(maxsize=1)
def csr_matrix(path, rows, cols, entries, dtype):
    """From row_ptr, col_idx and values, one behind the other in a file."""
    import scipy.sparse
    with open(path, "rb") as file:
        row_ptr = np.fromfile(file, "<u8", rows + 1).astype(np.int32)
        col_idx = np.fromfile(file, "<u4", entries).astype(np.int32)
        values = np.fromfile(file, "<f8", entries).astype(dtype)
    return scipy.sparse.csr_matrix((values, col_idx, row_ptr), shape=(rows, cols))


def scipy_matrix(request):
    return csr_matrix(request["arrays"], request["rows"], request["cols"], request["entries"],
                      request.get("dtype", "<f8"))


def save_npz(request):
    import scipy.sparse
    matrix = scipy_matrix(request)

    def run():
        scipy.sparse.save_npz(request["file"], matrix, compressed=False)
        return 0.0
    return run


def load_npz(request):
    import scipy.sparse

    def run():
        return float(scipy.sparse.load_npz(request["file"]).data.sum())
    return run


def load_npy(request):
    def run():
        cells = np.load(request["file"])
        return float(cells[0, 0] + cells[-1, -1])
    return run


def save_npy(request):
    cells = np.load(request["from"])

    def run():
        np.save(request["file"], cells)
        return 0.0
    return run


def load_csv(request):
    import pandas

    def run():
        cells = pandas.read_csv(request["file"], header=None, dtype=np.float64).to_numpy()
        return float(cells[0, 0] + cells[-1, -1])
    return run


def load_table(request):
    import pandas

    def run():
        return float(len(pandas.read_csv(request["file"], engine="c")))
    return run


def load_mtx(request):
    import scipy.io

    def run():
        cells = scipy.io.mmread(request["file"])
        return float(cells[0, 0] + cells[-1, -1])
    return run


def load_coordinates(request):
    import scipy.io

    def run():
        return float(scipy.io.mmread(request["file"]).data.sum())
    return run


def batches_of(request):
    rows = np.fromfile(request["list"], "<u8").astype(np.int64)[:request["count"]]
    return rows.reshape(-1, request["batch"])


def take_rows(request):
    """Random rows of a sparse matrix in memory: entries, the first and the last value of each batch."""
    m, batches = scipy_matrix(request), batches_of(request)

    def run():
        total = 0.0
        for rows in batches:
            part = m[rows]
            total += part.nnz + part.data[0] + part.data[-1]
        return float(total)
    return run


def read_rows(request):
    """The same from an HDF5 file, row by row."""
    import h5py
    file, batches = h5py.File(request["file"], "r"), batches_of(request)
    row_ptr, col_idx, values = file["row_ptr"][:], file["col_idx"], file["values"]

    def run():
        total = 0.0
        for rows in batches:
            parts = [(col_idx[b:e], values[b:e]) for b, e in zip(row_ptr[rows], row_ptr[rows + 1])]
            total += sum(len(c) for c, _ in parts) + parts[0][1][0] + parts[-1][1][-1]
        return float(total)
    return run


def take_dense_rows(request):
    """Random rows of a mapped .npy file: the first and the last value of each batch."""
    m, batches = np.load(request["file"], mmap_mode="r"), batches_of(request)

    def run():
        total = 0.0
        for rows in batches:
            part = m[rows]
            total += float(part[0, 0]) + float(part[-1, -1])
        return total
    return run


@functools.lru_cache(maxsize=1)
def dense_f64(path):
    return np.load(path).astype(np.float64)


def product(request):
    """w A X, where X has k columns: the sums that products.cpp checks."""
    m = dense_f64(request["file"]) if "file" in request else scipy_matrix(request)
    m = m.T if request["transposed"] else m
    rows, cols = m.shape
    k = request["k"]
    x = ((np.arange(cols)[:, None] + np.arange(k)) % 16).astype(np.float64)
    x = x[:, 0] if k == 1 else x
    weights = (np.arange(rows) % 7 + 1).astype(np.float64)

    def run():
        return float((weights @ (m @ x)).sum())
    return run


def sums(request):
    """Sums and sums of squares along an axis, each weighted by 1 to 7: what variances need."""
    m, axis = scipy_matrix(request), request["axis"]
    weights = (np.arange(m.shape[1 - axis]) % 7 + 1).astype(np.float64)

    def run():
        squares = m.multiply(m).sum(axis=axis)
        return float((np.asarray(m.sum(axis=axis) + squares).ravel() * weights).sum())
    return run


WORK = {f.__name__: f for f in (touch, sum_tiles, copy_regions, make_zarr, save_npz, load_npz,
                                load_npy, save_npy, load_csv, load_table, load_mtx, load_coordinates, take_rows,
                                read_rows, take_dense_rows, product, sums)}


@functools.lru_cache(maxsize=16)
def prepared(line):
    request = json.loads(line)
    return WORK[request["do"]](request)


def answer(line):
    if json.loads(line)["do"] == "hello":
        return {"versions": versions()}
    if json.loads(line)["do"] == "forget":
        prepared.cache_clear()
        for cache in (open_matrix, csr_matrix, dense_f64):
            cache.cache_clear()
        return {}
    run = prepared(line)
    cpu, start = time.process_time(), time.perf_counter()
    result = run()
    seconds = time.perf_counter() - start
    return {"answer": result, "seconds": seconds, "cpu": time.process_time() - cpu}


def main():
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints is no answer
    for line in sys.stdin:
        try:
            reply = answer(line)
        except Exception as error:  # told to dapple-bench, which ends the workload
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=out, flush=True)


if __name__ == "__main__":
    main()
