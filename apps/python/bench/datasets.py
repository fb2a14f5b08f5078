"""Data sets: opening, committing and appending, in processor time and on the clock.

    datasets.py [FOLDER [PART...]]        default: a temporary one, all parts; about 25 GB

Each line says what it compares; every answer is checked. Zarr, Parquet, Lance, LMDB and TileDB
do the same beside it where they are installed: a shard, a file or a fragment for a part. Two workers of Dask
write 4 GB beside two `dd`, Zarr and Parquet, everything synced.
"""

import contextlib
import importlib.metadata
import os
import pickle
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import tracemalloc

import numpy as np
import pydapple as dp

PARTS, TILES = 1_000, 1_000  # tiles of a part
TILE = 8  # rows and columns
CHUNKS, CHUNK = 64, (8_192, 1_024)  # of doubles, that workers write: 64 MiB each


def seconds(work, times=5):
    """The best of some runs, on the clock, and the processor time of that run."""
    best = (float("inf"), 0.0)
    for _ in range(times):
        before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        work()
        clock = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_SELF)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best, (clock, used))
    return best


def say(what, best, goal=""):
    """Print a line."""
    clock, used = best
    line = f"{what:<58} {clock * 1e3:9.2f} ms {used * 1e3:9.2f} ms cpu"
    print(f"{line}   goal {goal}" if goal else line)


def many_parts(folder):
    """1,000 parts of 1,000 tiles each, side by side and below each other."""
    rows, cols = 25 * TILE, 40 * TILE
    rng = np.random.default_rng(1)
    block = rng.random((rows, cols))
    places = [(r * rows, c * cols) for r in range(PARTS // 20) for c in range(20)]
    parts = [
        dp.dataset.write_part(folder, block + i, at=at, tile=(TILE, TILE), sync=False)
        for i, at in enumerate(places)
    ]
    best = seconds(lambda: dp.dataset.commit(folder, parts, sync=False), 1)
    say("commit of 1,000 parts of 1,000 tiles", best, "1 s")
    state = os.path.join(folder, "dataset-1")
    say("open its state (10^6 tiles)", seconds(lambda: dp.open(state)), "1 ms")
    say("open its folder", seconds(lambda: dp.open(folder)), "1 ms")
    place = [0]

    def first_tile():
        place[0] += 1
        m = dp.open(state)
        at = 37 * place[0] % len(places)
        row, col = places[at]
        got = m[row : row + TILE, col : col + TILE]
        assert np.array_equal(got, (block + at)[:TILE, :TILE])

    say("open it, and read the first tile of a part", seconds(first_tile), "10 ms")
    m = dp.open(state)
    assert m.shape == (PARTS // 20 * rows, 20 * cols)
    assert m[-1, -1] == (block + PARTS - 1)[-1, -1]


def appending(folder):
    """1,000 rows below 1 GB in ten parts, and below 10 GB in a hundred."""
    block = np.random.default_rng(2).random((100_000, 128))
    rows = block[:1_000]
    for gigabytes in (1, 10):
        for _ in range(10 if gigabytes == 1 else 90):
            dp.dataset.append(folder, block, sync=False)
        say(
            f"append of 1,000 rows of 128 to {gigabytes} GB, not synced",
            seconds(lambda: dp.dataset.append(folder, rows, sync=False)),
            "20 ms",
        )
        m = dp.open(folder)
        assert np.array_equal(m[-1_000:], rows)


def graph(folder):
    """What Dask gets of 10^6 tiles in 10^4 parts: a task for each tile."""
    rows, cols = 10 * TILE, 10 * TILE
    block = np.random.default_rng(4).random((rows, cols))
    places = [(r * rows, c * cols) for r in range(100) for c in range(100)]
    parts = [
        dp.dataset.write_part(folder, block + i, at=at, tile=(TILE, TILE), sync=False)
        for i, at in enumerate(places)
    ]
    dp.dataset.commit(folder, parts, sync=False)
    m = dp.open(folder)
    m.to_dask()  # imports
    tracemalloc.start()
    chunked = m.to_dask(chunks=(TILE, TILE))
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert chunked.npartitions == 10**6
    say(
        f"graph of 10^6 tiles in 10^4 parts, {held / 2**20:.1f} MiB",
        seconds(lambda: m.to_dask(chunks=(TILE, TILE))),
        "1 s, 50 MiB",
    )
    sent = len(pickle.dumps(chunked))
    last = chunked[-TILE:, -TILE:]
    say(
        f"its last tile by Dask; the array is sent as {sent / 2**10:.0f} KiB",
        seconds(lambda: last.compute(scheduler="sync")),
    )
    assert np.array_equal(last.compute(scheduler="sync"), (block + len(places) - 1)[-TILE:, -TILE:])


class Zarr:
    """An array of version 3."""

    name = "zarr"

    def __init__(self, folder):
        import zarr

        self.module, self.folder = zarr, folder

    def write(self, parts, rows, cols):
        """Parts below each other, a shard for each; narrow ones in bands of rows."""
        made = self.module.create_array(
            self.folder,
            shape=(len(parts) * rows, cols),
            dtype="f8",
            shards=(rows, cols),
            chunks=(TILE, TILE) if cols > 128 else (1_000, cols),
            compressors=None,
        )
        for i, part in enumerate(parts):
            made[i * rows : (i + 1) * rows] = part

    def rows(self, begin, end):
        """These rows of the first columns, from a new start."""
        return self.module.open_array(self.folder, mode="r")[begin:end, :TILE]

    def append(self, rows):
        """Rows below."""
        self.module.open_array(self.folder, mode="r+").append(rows)


class Parquet:
    """A folder of files, a column for each of ours."""

    name = "pyarrow"

    def __init__(self, folder):
        import pyarrow
        import pyarrow.dataset
        import pyarrow.parquet

        self.module, self.folder = pyarrow, folder
        os.mkdir(folder)

    def write(self, parts, rows, cols):
        """A file for each part."""
        for part in parts:
            self.append(part)

    def rows(self, begin, end):
        """These rows of the first columns, from a new start."""
        found = self.module.dataset.dataset(self.folder, format="parquet")
        table = found.scanner(columns=[str(c) for c in range(TILE)]).take(list(range(begin, end)))
        return np.stack([column.to_numpy() for column in table.columns], axis=1)

    def append(self, rows):
        """One more file."""
        table = self.module.table({str(c): column for c, column in enumerate(rows.T)})
        name = f"part-{len(os.listdir(self.folder)):06}.parquet"
        self.module.parquet.write_table(table, os.path.join(self.folder, name))


class Lance:
    """A data set with a list of values for each row."""

    name = "lance"

    def __init__(self, folder):
        os.environ.setdefault("LANCE_LOG", "error")  # it warns of each new data set
        import lance
        import pyarrow

        self.module, self.arrow, self.folder = lance, pyarrow, folder

    def table(self, rows):
        """Rows as lists."""
        values = self.arrow.array(rows.ravel())
        return self.arrow.table(
            {"x": self.arrow.FixedSizeListArray.from_arrays(values, rows.shape[1])}
        )

    def write(self, parts, rows, cols):
        """A fragment for each part."""
        tables = map(self.table, parts)
        fragments = [
            one
            for table in tables
            for one in self.module.fragment.write_fragments(table, self.folder)
        ]
        operation = self.module.LanceOperation.Overwrite(self.table(parts[0]).schema, fragments)
        self.module.LanceDataset.commit(self.folder, operation)

    def rows(self, begin, end):
        """These rows of the first columns, from a new start."""
        found = self.module.dataset(self.folder).take(list(range(begin, end)))["x"]
        return np.array(found.to_pylist())[:, :TILE]

    def append(self, rows):
        """One more fragment."""
        self.module.write_dataset(self.table(rows), self.folder, mode="append")


class Lmdb:
    """A value for each tile, or each 1,000 rows of a narrow matrix, by its number."""

    name = "lmdb"

    def __init__(self, folder):
        import lmdb

        self.module, self.folder = lmdb, folder

    @contextlib.contextmanager
    def begin(self, write=False):
        """A transaction of a new start."""
        with (
            self.module.open(
                self.folder, map_size=1 << 34, readonly=not write, sync=False
            ) as found,
            found.begin(write=write) as transaction,
        ):
            yield transaction

    def write(self, parts, rows, cols):
        """All tiles, in one transaction."""
        self.tile = (TILE, TILE) if cols > 128 else (1_000, cols)
        self.across, self.next = cols // self.tile[1], 0
        with self.begin(write=True) as transaction:
            for part in parts:
                self.put(transaction, part)

    def put(self, transaction, part):
        """The tiles of a part."""
        high, wide = self.tile
        for row in range(0, len(part), high):
            for col in range(0, part.shape[1], wide):
                tile = part[row : row + high, col : col + wide]
                transaction.put(self.next.to_bytes(8, "big"), tile.tobytes())
                self.next += 1

    def rows(self, begin, end):
        """These rows of the first columns, from a new start; within one tile."""
        key = begin // self.tile[0] * self.across
        with self.begin() as transaction:
            tile = np.frombuffer(transaction.get(key.to_bytes(8, "big"))).reshape(self.tile)
        return tile[begin % self.tile[0] :][: end - begin, :TILE]

    def append(self, rows):
        """More tiles."""
        with self.begin(write=True) as transaction:
            self.put(transaction, rows)


class TileDb:
    """A dense array, a fragment for each part."""

    name = "tiledb"

    def __init__(self, folder):
        import tiledb

        self.module, self.folder, self.end = tiledb, folder, 0

    def write(self, parts, rows, cols):
        """A fragment for each part; rows end far beyond them."""
        high, wide = (TILE, TILE) if cols > 128 else (1_000, cols)
        dimensions = [
            self.module.Dim(name=name, domain=(0, end - 1), tile=tile, dtype="u8")
            for name, end, tile in (("row", 1 << 40, high), ("col", cols, wide))
        ]
        cell = self.module.Attr(name="x", dtype="f8")
        schema = self.module.ArraySchema(self.module.Domain(*dimensions), attrs=[cell])
        self.module.Array.create(self.folder, schema)
        for part in parts:
            self.append(part)

    def rows(self, begin, end):
        """These rows of the first columns, from a new start."""
        with self.module.open(self.folder) as found:
            return found[begin:end, :TILE]["x"]

    def append(self, rows):
        """One more fragment."""
        with self.module.open(self.folder, "w") as found:
            found[self.end : self.end + len(rows), :] = rows
        self.end += len(rows)


def peers(home):
    """The same work by others, with a part, shard, file or fragment for each 1,000 tiles."""
    rng = np.random.default_rng(1)
    rows, cols = 25 * TILE, 40 * TILE
    block, large = rng.random((rows, cols)), rng.random((100_000, 128))
    for peer in (Zarr, Parquet, Lance, Lmdb, TileDb):
        try:
            many, grows = (
                peer(os.path.join(home, f"{peer.name}-{what}")) for what in ("many", "grows")
            )
        except ImportError:
            print(f"{peer.name} is not installed")
            continue
        name = (
            f"{peer.name} {importlib.metadata.version('pylance' if peer is Lance else peer.name)}"
        )
        many.write([block + i for i in range(PARTS)], rows, cols)
        place = [0]

        def first_tile(many=many, place=place):
            place[0] += 1
            at = 37 * place[0] % PARTS
            got = many.rows(at * rows, at * rows + TILE)
            assert np.array_equal(got, (block + at)[:TILE, :TILE])

        say(f"{name}: open 1,000 parts, and read a first tile", seconds(first_tile))
        grows.write([large] * 10, *large.shape)
        say(
            f"{name}: append of 1,000 rows of 128 to 1 GB",
            seconds(lambda grows=grows: grows.append(large[:1_000])),
        )
        assert np.array_equal(grows.rows(1_000_990, 1_001_000), large[990:1_000, :TILE])


def noise(block_id=(0, 0)):
    """A chunk that costs next to nothing to make."""
    return np.tile(np.random.default_rng(3).random(CHUNK[1]), (CHUNK[0], 1))


def sync(folder):
    """Wait until storage has all files below it."""
    for root, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(root, name), "rb") as f:
                os.fsync(f.fileno())


def by_dd(folder):
    """The bytes alone: two processes, each half of them."""
    os.mkdir(folder)
    source = os.path.join("/dev/shm", f"dapple-bench-{os.getpid()}")
    with open(source, "wb") as f:
        f.write(noise())
    half = f"for i in $(seq {CHUNKS // 2}); do dd if={source} of={folder}/$0-$i bs=4M conv=fsync"
    try:
        running = [
            subprocess.Popen(["sh", "-c", f"{half} status=none; done", str(k)]) for k in (0, 1)
        ]
        assert [one.wait() for one in running] == [0, 0]
    finally:
        os.remove(source)


def workers(home):
    """Two processes of Dask write 4 GB in turns, Parquet once, others three times; the best counts."""
    import dask.array as da
    import distributed

    x = da.map_blocks(noise, chunks=(CHUNK[:1] * CHUNKS, CHUNK[1:]), dtype="f8")

    def by_zarr(folder):
        x.to_zarr(folder, compressors=None)
        sync(folder)

    def by_parquet(folder):
        import dask.dataframe as dd

        dd.from_dask_array(x, columns=[str(k) for k in range(CHUNK[1])]).to_parquet(
            folder, compression=None
        )
        sync(folder)

    ways = {
        "two dd": by_dd,
        "dp.dataset.store": lambda folder: dp.dataset.store(x, folder),
        "Dask's to_zarr": by_zarr,
        "Dask's to_parquet": by_parquet,
    }
    best = {}
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        cluster.get_client() as client,
    ):
        client.run(noise)  # imports
        for name, way in [*ways.items(), *list(ways.items())[:3] * 2]:
            folder = os.path.join(home, "workers")
            try:
                best[name] = min(best.get(name, (float("inf"), 0)), seconds(lambda: way(folder), 1))  # noqa: B023
                if name == "dp.dataset.store":
                    m = dp.open(folder)
                    assert m.shape == x.shape and np.array_equal(m[-CHUNK[0] :], noise())
            except ImportError as error:
                print(f"{name}: {error}")
            shutil.rmtree(folder, ignore_errors=True)
    for name, used in best.items():
        say(f"two workers write 4 GB: {name}", used, "0.9 of dd" if name.startswith("dp") else "")


def main():
    """Print all."""
    home = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
    parts = {
        "many": lambda: many_parts(os.path.join(home, "many")),
        "appending": lambda: appending(os.path.join(home, "grows")),
        "graph": lambda: graph(os.path.join(home, "graph")),
        "workers": lambda: workers(home),
        "peers": lambda: peers(home),
    }
    os.makedirs(home, exist_ok=True)
    try:
        for name in sys.argv[2:] or parts:
            parts[name]()
    finally:
        shutil.rmtree(home)


if __name__ == "__main__":
    main()
