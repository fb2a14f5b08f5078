#!/usr/bin/env python3
"""Packed files beside the formats that others pack with: bytes, and how fast they are read.

    PYTHONPATH=build/apps/python python apps/python/bench/packing.py [--quick] [--only WORK]...

What is not installed is left out. Every answer is checked against the data in memory. Times are of
the processor, the least of several samples. Peers: anndata on Zarr 3, Parquet (pyarrow), Lance,
Vortex, Blosc2, Pcodec, BPCells; `pip install anndata zarr pyarrow pylance vortex-data blosc2 pcodec
bpcells scikit-learn pillow`."""

import argparse
import importlib
import importlib.metadata
import pathlib
import shutil
import tempfile
import time

import numpy as np
import scipy.sparse as sp

import pydapple as dp

SAMPLES = 5


def module(name):
    """The module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def size_of(path):
    """Bytes of a file, or of all files of a folder."""
    path = pathlib.Path(path)
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(f.stat().st_size for f in files if f.is_file())


def least(work):
    """Seconds of the processor, the least of several runs."""
    times = []
    for _ in range(SAMPLES):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def same(a, b):
    """Stops where two arrays differ in a bit."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    assert a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def counts(quick):
    """Counts of single cells: log-normal means, gamma and Poisson noise."""
    rows, cols = (500, 2000) if quick else (20_000, 20_000)
    random = np.random.default_rng(7)
    mean = np.minimum(np.exp(random.normal(-4.6, 2.1, cols)), 60)
    found, values, starts = [], [], [0]
    for _ in range(rows):
        depth = np.exp(random.normal(0, 0.45))
        row = random.poisson(mean * depth * random.gamma(2.0, 0.5, cols))
        at = np.flatnonzero(row)
        found.append(at.astype("i4"))
        values.append(np.minimum(row[at], 255).astype("f4"))
        starts.append(starts[-1] + len(at))
    return sp.csr_matrix(
        (np.concatenate(values), np.concatenate(found), np.array(starts)), (rows, cols)
    )


# Each way of a work gives (bytes, a function that reads all).


def dapple_counts(pack):
    """Sparse, packed so."""

    def prepare(folder, s):
        path = folder / "s.dbdf"
        dp.write(path, s, pack=pack, sync=False)
        m = dp.open(path)
        same(m.to_scipy().indices, s.indices)
        same(m.to_scipy().data.astype("f4"), s.data)
        return size_of(path), lambda: dp.open(path).to_scipy()  # anew: nothing is kept decoded

    return prepare


def anndata_counts(folder, s):
    """Sharded, with zstd, as it writes by default."""
    anndata = importlib.import_module("anndata")
    anndata.settings.zarr_write_format = 3
    path = folder / "s.zarr"
    anndata.AnnData(s).write_zarr(path)
    same(anndata.read_zarr(path).X.data, s.data)
    return size_of(path), lambda: anndata.read_zarr(path)


def lists_of(s):
    """Rows as lists of columns and counts."""
    pa = importlib.import_module("pyarrow")
    ends = pa.array(s.indptr.astype("i4"))
    values = pa.array(s.data.astype("u1"))
    return pa.table(
        {
            "cols": pa.ListArray.from_arrays(ends, pa.array(s.indices)),
            "counts": pa.ListArray.from_arrays(ends, values),
        }
    )


def check_lists(table, s):
    """The lists of a table are the rows of s."""
    same(table["cols"].combine_chunks().flatten().to_numpy().astype("i4"), s.indices)
    same(table["counts"].combine_chunks().flatten().to_numpy().astype("f4"), s.data)


def parquet_counts(folder, s):
    """Columns as gaps."""
    pq = importlib.import_module("pyarrow.parquet")
    path = folder / "s.parquet"
    how = {"cols.list.element": "DELTA_BINARY_PACKED", "counts.list.element": "PLAIN"}
    pq.write_table(lists_of(s), path, compression="zstd", use_dictionary=False, column_encoding=how)
    check_lists(pq.read_table(path), s)
    return size_of(path), lambda: pq.read_table(path, use_threads=False)


def lance_counts(folder, s):
    """With its defaults."""
    lance = importlib.import_module("lance")
    path = folder / "s.lance"
    lance.write_dataset(lists_of(s), str(path))
    check_lists(lance.dataset(str(path)).to_table(), s)
    return size_of(path), lambda: lance.dataset(str(path)).to_table()


def vortex_counts(folder, s):
    """With its defaults."""
    vortex = importlib.import_module("vortex")
    path = folder / "s.vortex"
    vortex.io.write(vortex.array(lists_of(s)), str(path))
    read = vortex.open(str(path))
    check_lists(read.scan().read_all().to_arrow_table(), s)
    return size_of(path), lambda: vortex.open(str(path)).scan().read_all().to_arrow_table()


def bpcells_counts(folder, s):
    """Cells as columns, bit-packed."""
    bpcells = importlib.import_module("bpcells.experimental")
    path = str(folder / "s.bp")
    turned = s.T.tocsc().astype("u4")
    bpcells.DirMatrix.from_scipy_sparse(turned, path)
    assert (bpcells.DirMatrix(path)[:, :] != turned).nnz == 0
    return size_of(path), lambda: bpcells.DirMatrix(path)[:, :]


# Dense arrays. Peers keep chunks of the same size as a tile, in memory: theirs is a codec.
CHUNK = 1 << 19


def chunks_of(a):
    """Runs of cells, each as large as a tile."""
    flat = a.ravel()
    step = CHUNK // a.itemsize
    return [flat[i : i + step] for i in range(0, len(flat), step)]


def dapple_dense(pack):
    """Dense, packed so."""

    def prepare(folder, a):
        path = folder / "a.dbdf"
        dp.write(path, a, pack=pack, narrow=False, sync=False)
        m = dp.open(path)
        same(m.read(), a)
        out = np.empty_like(a)
        return size_of(path), lambda: dp.open(path).read(out=out)  # anew, as above

    return prepare


def blosc2_dense(folder, a):
    """In memory, with the filter that suits numbers."""
    blosc2 = importlib.import_module("blosc2")
    how = {"typesize": a.itemsize, "codec": blosc2.Codec.ZSTD, "clevel": 5}
    packed = [
        blosc2.compress2(part, filters=[blosc2.Filter.BITSHUFFLE], nthreads=1, **how)
        for part in chunks_of(a)
    ]
    back = np.concatenate([np.frombuffer(blosc2.decompress2(p), a.dtype) for p in packed])
    same(back, a.ravel())
    return sum(map(len, packed)), lambda: [blosc2.decompress2(p, nthreads=1) for p in packed]


def pcodec_dense(folder, a):
    """In memory, with its defaults."""
    pcodec = importlib.import_module("pcodec")
    standalone = importlib.import_module("pcodec.standalone")
    if a.itemsize == 1:
        raise ImportError("no codec for bytes")
    config = pcodec.ChunkConfig()
    packed = [standalone.simple_compress(part, config) for part in chunks_of(a)]
    same(np.concatenate([standalone.simple_decompress(p) for p in packed]), a.ravel())
    return sum(map(len, packed)), lambda: [standalone.simple_decompress(p) for p in packed]


def parquet_dense(folder, a):
    """A column for each of a few, or for each row."""
    pa, pq = (importlib.import_module(m) for m in ("pyarrow", "pyarrow.parquet"))
    path = folder / "a.parquet"
    columns = [a] if a.ndim == 1 or a.shape[1] > 64 else a.T
    table = pa.table({str(i): pa.array(np.ravel(c)) for i, c in enumerate(columns)})
    pq.write_table(table, path, compression="zstd")
    back = pq.read_table(path)
    for i, c in enumerate(columns):
        same(back[str(i)].to_numpy(), np.ravel(c))
    return size_of(path), lambda: pq.read_table(path, use_threads=False)


def texts(distinct):
    """Few different words, or all different."""

    def make(quick):
        """A column of text."""
        random = np.random.default_rng(3)
        n = 20_000 if quick else 10_000_000
        if distinct:
            numbers = random.permutation(n)
            return [f"user-{k:09d}@example-{k % 97}.org" for k in numbers]
        words = np.array([f"category number {k}" for k in range(200)])
        return list(words[random.zipf(1.3, n) % 200])

    return make


def dapple_text(pack):
    """A column of text, packed so."""

    def prepare(folder, words):
        pa = importlib.import_module("pyarrow")
        path = folder / "t.dbdf"
        dp.write(path, pa.table({"t": pa.array(words)}), pack=pack, sync=False)
        f = dp.open(path)
        back = f.to_arrow()["t"].cast(pa.string())
        assert back.to_pylist()[:1000] == words[:1000] and back[-1].as_py() == words[-1]
        return size_of(path), lambda: dp.open(path).to_arrow()

    return prepare


def parquet_text(folder, words):
    """With zstd."""
    pa, pq = (importlib.import_module(m) for m in ("pyarrow", "pyarrow.parquet"))
    path = folder / "t.parquet"
    pq.write_table(pa.table({"t": pa.array(words)}), path, compression="zstd")
    assert pq.read_table(path)["t"][-1].as_py() == words[-1]
    return size_of(path), lambda: pq.read_table(path, use_threads=False)


def dense(name):
    """What makes that array."""

    def make(quick):
        """A dense array that is real, or as real ones are."""
        random = np.random.default_rng(5)
        sk = module("sklearn.datasets")
        if name == "digits, f64":
            return sk.load_digits().data
        if name == "clinical measurements, f64":
            return sk.load_breast_cancer().data
        if name == "photographs, u8":
            return np.concatenate([i.reshape(len(i), -1) for i in sk.load_sample_images().images])
        if name == "photographs, f32":
            return dense("photographs, u8")(quick).astype("f4") / np.float32(255)
        if name == "normalised counts, f32":
            s = counts(True)
            s = sp.csr_matrix(s)
            scale = 1e4 / np.maximum(1, np.asarray(s.sum(axis=1)).ravel())
            return np.log1p(s.multiply(scale[:, None]).toarray()).astype("f4")
        n = 1 << (16 if quick else 23)
        if name == "ids, i64":
            return (np.cumsum(random.integers(1, 9, n)) + 10**12).reshape(-1, 8)
        if name == "times, i64":
            gaps = random.integers(990, 1010, n) * 1000
            return (np.cumsum(gaps) + 1_700_000_000_000_000).reshape(-1, 1)
        if name == "sound, i16":
            t = np.arange(n)
            return (
                (8000 * np.sin(t / 50) * np.sin(t / 9000) + random.normal(0, 30, n))
                .astype("i2")
                .reshape(-1, 2)
            )
        return random.normal(0, 0.05, (n // 1024, 1024)).astype("f4")  # embeddings

    return make


DENSE = {
    "dapple": dapple_dense(None),
    "dapple, fast": dapple_dense("fast"),
    "dapple, small": dapple_dense("small"),
    "Blosc2 (bitshuffle, zstd)": blosc2_dense,
    "Pcodec": pcodec_dense,
    "Parquet (zstd)": parquet_dense,
}
WORKS = {
    "counts": (
        counts,
        {
            "dapple": dapple_counts(None),
            "dapple, fast": dapple_counts("fast"),
            "dapple, small": dapple_counts("small"),
            "anndata (Zarr 3)": anndata_counts,
            "Parquet (delta, zstd)": parquet_counts,
            "Lance": lance_counts,
            "Vortex": vortex_counts,
            "BPCells": bpcells_counts,
        },
    ),
    **{
        name: (dense(name), DENSE)
        for name in (
            "digits, f64",
            "clinical measurements, f64",
            "photographs, u8",
            "photographs, f32",
            "normalised counts, f32",
            "ids, i64",
            "times, i64",
            "sound, i16",
            "embeddings, f32",
        )
    },
    **{
        name: (
            make,
            {
                "dapple": dapple_text(None),
                "dapple, fast": dapple_text("fast"),
                "dapple, small": dapple_text("small"),
                "Parquet (zstd)": parquet_text,
            },
        )
        for name, make in (("few words", texts(False)), ("many words", texts(True)))
    },
}
PEERS = ["pyarrow", "pylance", "vortex-data", "anndata", "zarr", "blosc2", "pcodec", "bpcells"]


def versions():
    """What is installed, with versions."""
    for name in ("numpy", "scipy", *PEERS):
        try:
            print(f"{name} {importlib.metadata.version(name)}", end="  ")
        except importlib.metadata.PackageNotFoundError:
            print(f"{name}: not installed", end="  ")
    print()


def main():
    """Runs all works, or some."""
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--only", metavar="WORK", choices=WORKS, action="append")
    parse.add_argument("--quick", action="store_true", help="tiny data: shows that it runs")
    given = parse.parse_args()
    versions()
    for work in given.only or WORKS:
        make, ways = WORKS[work]
        data = make(given.quick)
        plain = getattr(data, "nbytes", None)
        per = f"{data.nnz} entries" if sp.issparse(data) else f"{plain or len(data)}"
        print(f"\n{work} ({per}{'' if sp.issparse(data) else ' bytes' if plain else ' words'})")
        for name, prepare in ways.items():
            folder = pathlib.Path(tempfile.mkdtemp(prefix="packing-"))
            try:
                begin = time.process_time()
                size, read = prepare(folder, data)
                written = time.process_time() - begin
                spent = least(read)
            except ImportError as missing:
                print(f"  {name:<28} left out: {missing}")
                continue
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            each = f"{size / data.nnz:8.3f} B/entry" if sp.issparse(data) else f"{size:12d} B"
            print(f"  {name:<28} {each}  read in {1e3 * spent:9.2f} ms  (made in {written:.2f} s)")


if __name__ == "__main__":
    main()
