"""What pydapple reaches beside C++, NumPy, SciPy, h5py, zarr and anndata, in one run.

    meson setup build-python -Dpython=enabled && ninja -C build-python pydapple pydapple_bench
    PYTHONPATH=build-python/apps/python python apps/python/bench/bench.py [--quick] [--only NAME]

Needs NumPy, SciPy, h5py, zarr, Dask and distributed; anndata and annbatch where they are installed.
Every answer is checked. Each figure is the best of several rounds in which all take turns, so that
other work on the machine disturbs them alike."""

import argparse
import ctypes
import importlib.util
import os
import pickle
import sys
import tempfile
import threading
import time
import tracemalloc
from pathlib import Path

import h5py
import numpy as np
import scipy.sparse as sp
import zarr

import pydapple as dp

misses = []


def best(works, rounds=7):
    """Seconds of each piece of work by name, which take turns."""
    took = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            begin = time.perf_counter()
            given = work()
            took[name].append(given if given is not None else time.perf_counter() - begin)
    return {name: min(some) for name, some in took.items()}


def row(what, value, unit, goal=None, reached=True):
    """One line of the table."""
    mark = "" if goal is None else f"goal {goal}: {'reached' if reached else 'MISSED'}"
    print(f"{what:<52} {value:>10.4g} {unit:<5} {mark}".rstrip(), flush=True)
    if not reached:
        misses.append(what)


def times(expression, number, **names):
    """Work that evaluates an expression so often, and gives the seconds of one evaluation."""
    code = compile(f"for _ in range({number}): {expression}", "bench", "exec")

    def work():
        begin = time.perf_counter()
        exec(code, names)
        return (time.perf_counter() - begin) / number

    return work


class Native:
    """native.cpp, from beside the extension."""

    def __init__(self, path):
        where = Path(dp.__file__).parents[1] / "bench" / "libpydapple_bench.so"
        self.lib = ctypes.CDLL(str(where))
        self.lib.bench_open.restype = ctypes.c_void_p
        self.lib.bench_read.restype = self.lib.bench_gather.restype = ctypes.c_double
        self.matrix = ctypes.c_void_p(self.lib.bench_open(os.fsencode(path)))

    def read(self, rows, cols, out):
        """Seconds of one read."""
        bounds = [ctypes.c_uint64(x) for x in (*rows, *cols)]
        took = self.lib.bench_read(self.matrix, *bounds, ctypes.c_void_p(out.ctypes.data))
        assert took >= 0
        return took

    def gather(self, batches):
        """(seconds, sum of the values)."""
        total = ctypes.c_double()
        took = self.lib.bench_gather(
            self.matrix, ctypes.c_void_p(batches.ctypes.data), ctypes.c_uint64(len(batches)),
            ctypes.c_uint64(batches.shape[1]), ctypes.byref(total),
        )  # fmt: skip
        assert took >= 0
        return took, total.value


def dense_files(folder, side):
    """The same cells for everyone, in tiles of 512 x 512."""
    cells = np.random.default_rng(0).random((side, side))
    dp.write(folder / "a.dbdf", cells, tile=(512, 512), narrow=False, sync=False, overwrite=True)
    with h5py.File(folder / "a.h5", "w") as file:
        file.create_dataset("x", data=cells, chunks=(512, 512))
    array = zarr.create_array(
        folder / "a.zarr", shape=cells.shape, chunks=(512, 512), dtype="f8", compressors=None,
        overwrite=True,
    )  # fmt: skip
    array[:] = cells
    return cells, dp.open(folder / "a.dbdf"), h5py.File(folder / "a.h5")["x"], array


def bench_calls(folder, quick):
    """One cell, and a slice of 4 x 7."""
    cells, m, h, z = dense_files(folder, 2048)
    for name, expression, goal in (("m[i, j]", "[1234, 345]", 400), ("m[4 x 7]", "[1234:1238, 345:352]", 1000)):  # fmt: skip
        assert np.array_equal(eval(f"m{expression}"), eval(f"cells{expression}"))
        took = best({
            "dapple": times(f"m{expression}", 20_000, m=m),
            "NumPy": times(f"a{expression}.copy()", 20_000, a=cells),
            "h5py": times(f"h{expression}", 500, h=h),
            "zarr": times(f"z{expression}", 20, z=z),
        })  # fmt: skip
        mine = took["dapple"] * 1e9
        row(name, mine, "ns", f"<= {goal}", mine <= goal)
        for peer, wanted in (("NumPy", None), ("h5py", 10), ("zarr", 100)):
            ratio = took[peer] * 1e9 / mine
            row(f"  {peer} takes", ratio, "x", wanted and f">= {wanted}", not wanted or ratio >= wanted)


def bench_slice(folder, quick):
    """A large slice beside the C++ read, into memory that is there."""
    side = 2048 if quick else 6144
    cells, m, h, z = dense_files(folder, side)
    native = Native(folder / "a.dbdf")
    rows, cols = (100, side - 100), (37, side - 37)
    out = np.empty((rows[1] - rows[0], cols[1] - cols[0]))
    theirs = np.empty_like(out)
    took = best({
        "C++": lambda: native.read(rows, cols, theirs),
        "dapple": lambda: m.read(rows, cols, out=out) is None or None,
        "h5py": lambda: h.read_direct(theirs, np.s_[slice(*rows), slice(*cols)]),
        "zarr": lambda: z[slice(*rows), slice(*cols)] is None or None,
        "NumPy": lambda: np.copyto(theirs, cells[slice(*rows), slice(*cols)]),
    })  # fmt: skip
    assert np.array_equal(out, cells[slice(*rows), slice(*cols)])
    row("large slice", out.nbytes / took["dapple"] / 1e9, "GB/s")
    ratio = took["C++"] / took["dapple"]
    row("  of the C++ read", 100 * ratio, "%", ">= 95", ratio >= 0.95)
    for peer in ("NumPy", "h5py", "zarr"):
        row(f"  {peer} takes", took[peer] / took["dapple"], "x")


def bench_gather(folder, quick):
    """Random batches of 256 sparse rows."""
    rows, cols = (40_000, 4000) if quick else (200_000, 4000)
    s = sp.random_array((rows, cols), density=0.01, format="csr", rng=0, dtype="f4")
    dp.write(folder / "s.dbdf", s, sync=False, overwrite=True)
    m, native = dp.open(folder / "s.dbdf"), Native(folder / "s.dbdf")
    lists = np.random.default_rng(1).integers(0, rows, (100, 256))
    total, fast = float(s[lists.ravel()].sum(dtype=float)), lists.astype(np.uint64)
    assert np.isclose(native.gather(fast)[1], total)
    assert np.isclose(sum(float(m.sparse[one].sum(dtype=float)) for one in lists), total)

    def each(take, some=lists):
        def work():
            begin = time.perf_counter()
            for one in some:
                take(one)
            return (time.perf_counter() - begin) / len(some)

        return work

    works = {
        "C++": lambda: native.gather(fast)[0] / len(lists),
        "dapple": each(lambda one: m.sparse[one]),
        "SciPy in memory": each(lambda one: s[one]),
    }
    with h5py.File(folder / "s.h5", "w") as file:
        for name in ("data", "indices", "indptr"):
            file[name] = getattr(s, name)
    h = h5py.File(folder / "s.h5")
    starts = h["indptr"][:]

    def by_hand(one):
        pieces = [slice(starts[r], starts[r + 1]) for r in one]
        data = np.concatenate([h["data"][p] for p in pieces])
        columns = np.concatenate([h["indices"][p] for p in pieces])
        ends = np.concatenate(([0], np.cumsum([p.stop - p.start for p in pieces])))
        return sp.csr_array((data, columns, ends), (len(one), cols))

    works["h5py"] = each(by_hand, lists[:3])
    if importlib.util.find_spec("anndata"):
        import anndata

        anndata.AnnData(sp.csr_matrix(s)).write_h5ad(folder / "s.h5ad")
        backed = anndata.read_h5ad(folder / "s.h5ad", backed="r")
        works["anndata backed"] = each(lambda one: backed.X[np.sort(one)], lists[:3])
    if importlib.util.find_spec("annbatch"):
        import annbatch

        store = zarr.open_group(folder / "s.zarr", mode="w")
        anndata.io.write_elem(store, "X", sp.csr_matrix(s))
        loader = annbatch.Loader(chunk_size=256, preload_nchunks=1, batch_size=256)
        loader.add_dataset(anndata.io.sparse_dataset(store["X"]))

        def chunks():
            begin, seen = time.perf_counter(), 0
            for _ in loader:
                seen += 1
            return (time.perf_counter() - begin) / seen

        works["annbatch (rows that are neighbours)"] = chunks
    took = best(works)
    row("256 random sparse rows", took["dapple"] * 1e6, "us")
    ratio = took["C++"] / took["dapple"]
    row("  of the C++ gather", 100 * ratio, "%", ">= 80", ratio >= 0.8)
    for peer in list(works)[2:]:
        row(f"  {peer} takes", took[peer] / took["dapple"], "x")


def bench_threads(folder, quick):
    """Two Python threads that read, beside one."""
    side = 2048 if quick else 6144
    cells, m, _, _ = dense_files(folder, side)
    half = side // 2
    outs = [np.empty((half, side)) for _ in range(2)]

    def read(k):
        m.read((k * half, (k + 1) * half), out=outs[k])

    def one():
        read(0)
        read(1)

    def two():
        both = [threading.Thread(target=read, args=(k,)) for k in range(2)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()

    for out in outs:
        out[:] = 0
    took = best({"one": one, "two": two}, 15)
    assert np.array_equal(np.concatenate(outs), cells)
    ratio = took["one"] / took["two"]
    row("two threads reading f64, beside one", ratio, "x")
    s = dp.write(folder / "n.dbdf", (cells[:, : side // 2] * 100).astype("u1"), kind="csr",
                 overwrite=True, sync=False)  # fmt: skip
    assert s.blocks["csr"]
    m = dp.open(folder / "n.dbdf")
    outs = [np.empty((half, side // 2), "u1") for _ in range(2)]
    took = best({"one": one, "two": two}, 15)
    ratio = took["one"] / took["two"]
    row("two threads decoding sparse tiles, beside one", ratio, "x", ">= 1.8", ratio >= 1.8)


def bench_graph(folder, quick):
    """The graph of a matrix of 100 GB."""
    import dask.array  # noqa: F401  its import is no part of what is timed
    from dask.sizeof import sizeof

    rows = 12_500_000  # of 1000 f8
    with dp.writer(folder / "g.dbdf", (rows, 1000), "f8", tile=(8192, 1000), sync=False) as w:
        w[0:8192] = sp.random_array((8192, 1000), density=0.01, format="csr", rng=0)
    m = dp.open(folder / "g.dbdf")
    begin = time.perf_counter()
    x = m.to_dask((8192, 1000)).sum(axis=0)
    graph = dict(x.__dask_graph__())
    took = time.perf_counter() - begin
    tracemalloc.start()
    x = m.to_dask((8192, 1000)).sum(axis=0)
    graph = dict(x.__dask_graph__())
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    row(f"graph of 100 GB, {len(graph)} tasks", took, "s", "<= 1", took <= 1)
    row("  memory", memory / 2**20, "MiB", "<= 50", memory <= 50 << 20)
    plain = m.to_dask((8192, 1000))
    largest = max(len(pickle.dumps(task)) for task in dict(plain.__dask_graph__()).values())
    row("  largest pickled task", largest, "bytes", "< 1024", largest < 1024)
    part = m.sparse[0:8192]
    m.to_dask(sparse=True)
    real = part.data.nbytes + part.indices.nbytes + part.indptr.nbytes
    off = 100 * abs(sizeof(part) / real - 1)
    row("  size that Dask sees of a sparse chunk is off by", off, "%", "<= 10", off <= 10)


def bench_dask(folder, quick):
    """Column sums by two workers over the same graph."""
    import dask.array as da
    from dask.distributed import Client, LocalCluster

    side = 2048 if quick else 8192
    cells, m, _, z = dense_files(folder, side)
    truth = cells.sum(axis=0)
    h5 = str(folder / "a.h5")

    def chunk(info=None):
        (r0, r1), (c0, c1) = info[0]["array-location"]
        with h5py.File(h5, "r") as file:
            return file["x"][r0:r1, c0:c1]

    chunks = (2048, 2048)
    arrays = {
        "dapple": m.to_dask(chunks),
        "zarr": da.from_array(z, chunks=chunks),
        "h5py": da.map_blocks(lambda block_info=None: chunk({0: block_info[None]}), dtype="f8",
                              chunks=da.core.normalize_chunks(chunks, cells.shape)),
    }  # fmt: skip
    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        def summed(x):
            assert np.allclose(x.sum(axis=0).compute(), truth)

        took = best({name: lambda x=x: summed(x) for name, x in arrays.items()}, 5)
    row("column sums, two Dask workers", cells.nbytes / took["dapple"] / 1e9, "GB/s")
    for peer in ("zarr", "h5py"):
        ratio = took[peer] / took["dapple"]
        row(f"  {peer} takes", ratio, "x", ">= 1", ratio >= 1)


def main():
    """Run all benchmarks, or one."""
    benches = {name[6:]: work for name, work in globals().items() if name.startswith("bench_")}
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--quick", action="store_true", help="smaller files, for a look")
    parse.add_argument("--only", choices=benches, action="append")
    given = parse.parse_args()
    print(f"NumPy {np.__version__}, h5py {h5py.__version__}, zarr {zarr.__version__}, "
          f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")  # fmt: skip
    for name in given.only or benches:
        with tempfile.TemporaryDirectory() as folder:
            benches[name](Path(folder), given.quick)
    print(f"{len(misses)} missed: {', '.join(misses)}" if misses else "every goal is reached")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
