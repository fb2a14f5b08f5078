"""Zarr in place, beside zarr-python, zarrs and annbatch; and our store, as napari shows it.

    zarr_peers.py [FOLDER]        default: a temporary folder; about 3 GB

Each figure is taken in a process of its own that may use one thread, in processor time without
imports, of files in memory; every answer is compared with what was written. Ratios are the peer's
time over ours. Needs zarr, zarrs, anndata, annbatch (Python 3.12) and napari: what lacks one fails
and is left out.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version

import numpy as np

ONE_THREAD = {
    f"{name}_NUM_THREADS": "1"
    for name in ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON", "BLOSC", "NUMEXPR")
} | {"ZARR_THREADING__MAX_WORKERS": "1", "QT_QPA_PLATFORM": "offscreen"}
SIDE, CHUNK = 8192, 512  # 256 MiB of float32 in chunks of 1 MiB
REGIONS = 64
CELLS, GENES, ENTRIES = 40_000, 28_000, 1_500
BATCH, BATCHES = 4_096, 4
CODECS = ("zstd", "blosc-zstd", "blosc-lz4", "zstd-sharded")
READERS = ("dapple", "zarr", "zarrs")


def cpu(work, times=1):
    """The result, and the least processor time of some runs."""
    best, made = float("inf"), None
    for _ in range(times):
        start = time.process_time()
        made = work()
        best = min(best, time.process_time() - start)
    return made, best


def noisy():
    """A measurement: smooth, with noise in the digits that are kept."""
    x = np.linspace(0, 20, SIDE, dtype="f4")
    noise = np.random.default_rng(1).standard_normal((SIDE, SIDE), dtype="f4")
    return np.round(100 * np.sin(x)[:, None] * np.cos(x) + noise, 1).astype("f4")


def labels():
    """A segmentation: regions of one number each."""
    x = np.arange(SIDE)
    border = (40 * np.sin(x / 97)).astype("i8")
    return ((x[:, None] + border) // 60 * 1000 + (x + border[:, None]) // 45).astype("f4")


IMAGES = {"noisy": noisy, "labels": labels}


def regions(apart):
    """Places of regions: somewhere, or so that no two of them touch a chunk."""
    rng = np.random.default_rng(2)
    if not apart:
        height, width = 300, 700
        return [
            (slice(r, r + height), slice(c, c + width))
            for r, c in rng.integers(0, SIDE - width, (REGIONS, 2))
        ]
    step = 2 * CHUNK
    corners = [(r, c) for r in range(0, SIDE, step) for c in range(0, SIDE, step)]
    return [(slice(r + 200, r + 800), slice(c + 200, c + 800)) for r, c in corners[:REGIONS]]


PLACES = {
    "whole": [(slice(None), slice(None))],
    "regions": regions(apart=False),
    "regions apart": regions(apart=True),
}


def write_dense(folder):
    """The same images with each codec; the shares of their bytes that are stored."""
    import zarr
    from zarr.codecs import BloscCodec, ZstdCodec

    codecs = {
        "zstd": (ZstdCodec(level=3), None),
        "blosc-zstd": (BloscCodec(cname="zstd", clevel=5, shuffle="shuffle"), None),
        "blosc-lz4": (BloscCodec(cname="lz4", clevel=5, shuffle="shuffle"), None),
        "zstd-sharded": (ZstdCodec(level=3), (4 * CHUNK, 4 * CHUNK)),
    }
    shares = {}
    for image, make in IMAGES.items():
        cells = make()
        np.save(f"{folder}/{image}.npy", cells)
        for name, (codec, shards) in codecs.items():
            path = f"{folder}/{image}-{name}.zarr"
            zarr.create_array(
                path, shape=cells.shape, dtype="f4", chunks=(CHUNK, CHUNK), shards=shards,
                compressors=codec,
            )[:] = cells  # fmt: skip
            files = (os.path.join(at, one) for at, _, names in os.walk(path) for one in names)
            shares[f"{image}, {name}"] = sum(map(os.path.getsize, files)) / cells.nbytes
    return shares


def use_zarrs():
    """Lets zarr-python decode by zarrs."""
    import zarr
    import zarrs  # noqa: F401

    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})


def places_of(opened, cells, name):
    """The least time of some runs for each kind of places, which have the right cells."""
    figures = {}
    for what, places in PLACES.items():
        best = float("inf")
        for _ in range(3):
            array = opened()  # anew: nothing is kept
            got, used = cpu(lambda a=array, p=places: [a[at] for at in p])
            best = min(best, used)
            for part, at in zip(got, places, strict=True):
                assert np.array_equal(part, cells[at])
            del got
        figures[f"{name}, {what}"] = best
    return figures


def dense(folder, reader):
    """Whole images, and regions of them."""
    if reader == "dapple":
        import pydapple as dp

        def opened(path):
            return dp.open(path)
    else:
        import zarr

        if reader == "zarrs":
            use_zarrs()

        def opened(path):
            return zarr.open_array(path, mode="r")

    figures = {}
    for image in IMAGES:
        cells = np.load(f"{folder}/{image}.npy")
        for name in CODECS:
            path = f"{folder}/{image}-{name}.zarr"
            figures |= places_of(lambda path=path: opened(path), cells, f"{image}, {name}")
    return figures


def write_rows(folder):
    """Simulated counts as anndata writes them."""
    import anndata
    import pandas as pd
    import scipy.sparse as sp

    rng = np.random.default_rng(1)
    counts = rng.poisson(ENTRIES, CELLS)
    step = GENES // int(counts.max() + 1)
    columns = [
        np.arange(n, dtype=np.int32) * step + rng.integers(0, step, n, np.int32) for n in counts
    ]
    values = (1 + rng.geometric(0.5, counts.sum())).astype("f4")
    ends = np.concatenate(([0], np.cumsum(counts)))
    x = sp.csr_matrix((values, np.concatenate(columns), ends), (CELLS, GENES))
    sp.save_npz(f"{folder}/x.npz", x, compressed=False)
    obs = pd.DataFrame({"n": counts}, index=[f"cell{k}" for k in range(CELLS)])
    anndata.AnnData(x, obs=obs).write_zarr(f"{folder}/a.zarr")
    import zarr

    data = zarr.open_group(f"{folder}/a.zarr", mode="r")["X/data"]
    return {"entries": x.nnz, "chunk": data.chunks[0], "shard": (data.shards or (0,))[0]}


def samplers():
    """What annbatch calls them: rows one by one, and runs of 64 rows of which some are mixed."""
    return {"single rows": (1, BATCH), "runs of 64 rows": (64, 2 * BATCH // 64)}


def rows(folder, reader):
    """Batches of rows at random, the same ones by all."""
    import scipy.sparse as sp

    oracle = sp.load_npz(f"{folder}/x.npz")
    figures = {}
    if reader == "dapple":
        import pydapple as dp

        for name in samplers():
            batches = np.load(f"{folder}/batches-{name}.npy")
            x = dp.open(f"{folder}/a.zarr", array="X").sparse
            got, used = cpu(lambda x=x, b=batches: [x[some] for some in b])
            figures |= compared(name, got, batches, oracle, used)
        return figures
    import anndata
    import zarr
    from annbatch import Loader

    if reader == "zarrs":
        use_zarrs()
    x = anndata.io.sparse_dataset(zarr.open_group(f"{folder}/a.zarr", mode="r")["X"])
    for name, (run, runs) in samplers().items():
        loader = Loader(
            batch_size=BATCH, chunk_size=run, preload_nchunks=runs, shuffle=True,
            return_index=True, preload_to_gpu=False, rng=np.random.default_rng(3),
        ).add_dataset(x)  # fmt: skip

        def take(loader=loader):
            return [b for b, _ in zip(loader, range(BATCHES), strict=False)]

        got, used = cpu(take)
        batches = np.stack([b["index"] for b in got])
        np.save(f"{folder}/batches-{name}.npy", batches)
        figures |= compared(name, [b["X"] for b in got], batches, oracle, used)
    return figures


def compared(name, got, batches, oracle, used):
    """Rows a second, and how many cells differ from the oracle's."""
    wrong = sum((g != oracle[b]).nnz for g, b in zip(got, batches, strict=True))
    assert all(g.shape == (len(b), GENES) for g, b in zip(got, batches, strict=True))
    return {f"{name}, rows/s": batches.size / used, f"{name}, wrong cells": wrong,
            f"{name}, cells": batches.size * GENES}  # fmt: skip


def store(folder, which):
    """zarr-python over the same chunks: of a dbdf file by our store, or Zarr's own in a folder."""
    import zarr

    import pydapple as dp

    def opened(path):
        if which == "ours":
            array = zarr.open_group(dp.zarr_store(f"{path}.dbdf"), mode="r")["data"]
        else:
            array = zarr.open_array(f"{path}.zarr", mode="r")
        assert array.chunks == (CHUNK, CHUNK)
        return array

    figures = {}
    for image in IMAGES:
        cells = np.load(f"{folder}/{image}.npy")
        path = f"{folder}/{image}-store"
        if which == "ours":
            dp.write(f"{path}.dbdf", cells, tile=(CHUNK, CHUNK), sync=False)
        else:
            own = zarr.create_array(
                f"{path}.zarr", shape=cells.shape, dtype="f4", chunks=(CHUNK, CHUNK),
                compressors=None if which == "plain" else "auto",
            )  # fmt: skip
            own[:] = cells
        figures |= places_of(lambda path=path: opened(path), cells, image)
        shutil.rmtree(f"{path}.zarr", ignore_errors=True)
    return figures


def napari(folder):
    """An image layer of napari over our store of a dbdf file: what is shown of it."""
    import zarr
    from napari.layers import Image

    import pydapple as dp

    image = np.load(f"{folder}/noisy.npy")
    dp.write(f"{folder}/image.dbdf", image, sync=False)
    layer = Image(zarr.open_group(dp.zarr_store(f"{folder}/image.dbdf"), mode="r")["data"])
    assert layer.data.shape == image.shape
    shown = np.asarray(layer.data[:])
    view = np.asarray(layer._data_view)
    return {"cells": image.size, "wrong in data": int((shown != image).sum()),
            "wrong in view": int((view != image).sum())}  # fmt: skip


def run(folder, part, *given):
    """The figures of a part, taken in a process of its own; none when it failed."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--part", part, folder, *given],
        env=os.environ | ONE_THREAD, stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    name = " ".join((part, *given))
    if done.returncode != 0:
        print(f"{name}: failed")
        return {}
    figures = json.loads(done.stdout)
    print(f"{name}: {figures}", flush=True)
    return figures


def main(folder=None):
    """Run each part, and print the ratios."""
    for name in ("pydapple", "numpy", "zarr", "zarrs", "anndata", "annbatch", "napari"):
        try:
            print(name, version(name), end=", ")
        except PackageNotFoundError:
            print(f"{name} of the path" if name == "pydapple" else f"no {name}", end=", ")
    print("load", os.getloadavg()[0])
    with tempfile.TemporaryDirectory(dir=folder or "/dev/shm") as made:
        run(made, "write_dense")
        by_reader = {reader: run(made, "dense", reader) for reader in READERS}
        print(f"{'':36}" + "".join(f"{'x ' + peer:>10}" for peer in READERS[1:]))
        for what, ours in by_reader["dapple"].items():
            ratios = [by_reader[peer].get(what, np.nan) / ours for peer in READERS[1:]]
            print(f"{what:36}" + "".join(f"{ratio:10.2f}" for ratio in ratios))
        stores = {which: run(made, "store", which) for which in ("ours", "plain", "compressed")}
        for what, ours in stores["ours"].items():
            for which in ("plain", "compressed"):
                print(f"store, {what}, x {which} chunks: {stores[which][what] / ours:.2f}")
        run(made, "napari")
        run(made, "write_rows")
        for peer in READERS[1:]:
            theirs, ours = run(made, "rows", peer), run(made, "rows", "dapple")
            for what in theirs.keys() & ours.keys():
                if what.endswith("rows/s"):
                    print(f"x annbatch by {peer}, {what[:-8]}: {ours[what] / theirs[what]:.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--part"]:
        print(json.dumps(globals()[sys.argv[2]](*sys.argv[3:])))
    else:
        main(*sys.argv[1:])
