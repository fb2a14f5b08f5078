#!/usr/bin/env python3
"""Files far away, against the same files here: from stores, and from a server that fails and gives wrong answers at random.

    far.py [RUNS [SEED]]          default: 400 runs of each; wants fsspec and obstore

Every answer must be that of the local file, or an error; a server that only fails now and then must be got over."""

import collections
import functools
import gzip
import http.server
import itertools
import pathlib
import random
import re
import shutil
import struct
import sys
import tempfile
import threading
import time
import typing

import numpy as np
import pydapple as dp

FOLDER = pathlib.Path(tempfile.mkdtemp(dir="/dev/shm"))
MATRICES = ["dense.dbdf", "large.dbdf", "sparse.dbdf", "packed.dbdf", "irregular.dbdf", "named.dbdf", "set", "c.dds", "c.zip", "whole.zip", "a.npy", "a.npz", "z.zarr"]
FRAMES = ["f.dbdf", "fp.dbdf", "fset", "t.csv.gz", "r.npy"]
PASSES = ["503", "429", "drop", "cut", "slow"]           # what is tried again
LIES = ["whole", "shifted", "tag", "gzip", "longer", "shorter", "no-range", "size", "404", "403", "file", "loop"]


def write_irregular(path, a, rng):
    """The published format as it is, in blocks of any width; pydapple writes tilings only, and adds the index."""
    with path.open("wb") as file:
        file.write(struct.pack("<BBQQB", 1, 1, *a.shape, 9))
        for row in range(0, a.shape[0], 10):
            cuts = [0, *sorted(rng.choice(np.arange(1, a.shape[1]), 9, replace=False)), a.shape[1]]
            for begin, end in itertools.pairwise(cuts):
                file.write(struct.pack("<QQIIBB", row, begin, 10, end - begin, 1, 9))
                file.write(np.ascontiguousarray(a[row : row + 10, begin:end]).tobytes())
    dp.repair(path, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def make_files(rng):
    a = rng.integers(0, 1000, (900, 260)).astype("f4") * (rng.random((900, 260)) < 0.5)
    sparse = np.where(rng.random(a.shape) < 0.05, a, 0).astype("f4")
    dp.write(FOLDER / "dense.dbdf", a, tile=(64, 50), kind="dense", narrow=False)
    dp.write(FOLDER / "large.dbdf", a, tile=(300, 130), kind="dense", narrow=False)
    dp.write(FOLDER / "sparse.dbdf", sparse, tile=(8, 16))
    dp.write(FOLDER / "packed.dbdf", a, tile=(32, 32), pack="fast")
    dp.write(FOLDER / "named.dbdf", a, tile=(16, 16), row_names=[f"r{i}" for i in range(900)], col_names=[f"c{i}" for i in range(260)])
    write_irregular(FOLDER / "irregular.dbdf", a, rng)
    for begin in range(0, 900, 225):
        dp.dataset.append(str(FOLDER / "set"), a[begin : begin + 225], sync=False)
    dp.write_collection(FOLDER / "c.dds", {"X": a, "layers/n": sparse})
    dp.pack_collection(FOLDER / "c.dds", FOLDER / "c.zip")
    shutil.copy(FOLDER / "c.zip", FOLDER / "whole.zip")
    np.save(FOLDER / "a.npy", a)
    np.savez_compressed(FOLDER / "a.npz", a=a)
    import pandas as pd
    import zarr

    zarr.create_array(FOLDER / "z.zarr", shape=a.shape, chunks=(70, 60), dtype="f4")[:] = a
    n = 20_000
    table = pd.DataFrame({
        "word": rng.choice([f"word {i}" for i in range(3000)], n),
        "number": rng.random(n),
        "count": pd.array(rng.integers(0, 1000, n), "Int64"),
        "born": pd.to_datetime(rng.integers(0, 2**31, n), unit="s"),
        "yes": rng.random(n) < 0.5,
    })
    table.loc[rng.random(n) < 0.1, "count"] = pd.NA
    table.loc[rng.random(n) < 0.1, "word"] = None
    dp.write(FOLDER / "f.dbdf", table)
    dp.write(FOLDER / "fp.dbdf", table, pack="small")
    for begin in range(0, n, n // 3):
        dp.dataset.append(str(FOLDER / "fset"), table[begin : begin + n // 3].reset_index(drop=True), sync=False)
    table[:3000].to_csv(FOLDER / "t.csv.gz", index=False)
    np.save(FOLDER / "r.npy", np.rec.fromarrays([np.arange(n), rng.random(n)], names="i,x"))


def options_of(name):
    return {"array": "X"} if name in ("c.dds", "c.zip") else {}


def chosen(found):
    """X of what was opened whole."""
    return found["X"] if isinstance(found, dp.Collection) else found


def plain(found):
    """What can be compared."""
    if isinstance(found, np.ma.MaskedArray):
        return [None if m else x for x, m in zip(found.data.tolist(), np.ma.getmaskarray(found).tolist(), strict=True)]
    if isinstance(found, np.ndarray):
        return found.tolist() if found.dtype == object else found.tobytes()
    if hasattr(found, "tocsr"):
        found = found.tocsr()
        return (found.data.tobytes(), found.indices.tolist(), found.indptr.tolist())
    return repr(found)


def question(rng, frame, shape):
    """A question to a matrix or a frame, as a function."""
    rows, cols = shape
    r = sorted(rng.sample(range(rows + 1), 2))
    c = sorted(rng.sample(range(cols + 1), 2))
    some = [rng.randrange(rows) for _ in range(rng.choice([1, 5, 40]))]
    if frame:
        kind = rng.randrange(5)
        if kind == 0:
            return lambda f: [plain(f[name, r[0] : r[1]]) for name in f.columns]
        if kind == 1:
            return lambda f: f.to_pandas(some).to_csv()
        if kind == 2:
            return lambda f: plain(f[f.columns[c[0] % cols]])
        if kind == 3:
            return lambda f: [plain(s) for s in f.stats()]
        return lambda f: (f.columns, repr(f.meanings), f.shape)
    kind, limit = rng.randrange(7), rng.choice([5000.0, 990.0])
    if kind == 0:
        return lambda m: plain(m[r[0] : r[1], c[0] : c[1]])
    if kind == 1:
        return lambda m: plain(m.take(some))
    if kind == 2:
        return lambda m: plain(m.sparse[some])
    if kind == 3:
        return lambda m: plain(m.stats(axis=0).mean)
    if kind == 4:
        return lambda m: m.count_where(above=limit)
    if kind == 5:
        return lambda m: plain(m[:, c[0] : c[0] + 3])
    return lambda m: (plain(m.sparse[r[0] : r[1]]), m.shape, str(m.dtype))


@functools.cache
def content(path):
    return path.read_bytes()


class Server(http.server.BaseHTTPRequestHandler):
    """/SEED/NAME: what goes wrong at random, by the seed."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    faults: typing.ClassVar = {}
    lock = threading.Lock()

    def log_message(self, *_):
        """Nothing."""

    def plain(self, status, headers=(), body=b""):
        self.send_response(status)
        for header in headers:
            self.send_header(*header)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def fault(self, seed):
        with Server.lock:
            rng, kinds, left = Server.faults.get(seed, (None, [], 0))
            if not kinds or left == 0 or rng.random() < 0.6:
                return None
            Server.faults[seed] = (rng, kinds, left - 1)
            return rng.choice(kinds)

    def do_GET(self):
        _, seed, name = self.path.split("/", 2)
        path = FOLDER / name
        if not path.is_file():
            return self.plain(404)
        data = content(path)
        fault = self.fault(seed)
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers["Range"] or "")
        if fault == "slow":
            time.sleep(0.02)
        if fault in ("503", "429"):
            return self.plain(int(fault), [("Retry-After", "0")], b"later")
        if fault in ("403", "404"):
            return self.plain(int(fault), [], b"no")
        if fault == "drop":
            self.close_connection = True
            return None
        if fault == "file":
            return self.plain(302, [("Location", "file:///etc/passwd")])
        if fault == "loop":
            return self.plain(302, [("Location", self.path)])
        tag = '"2"' if fault == "tag" else '"1"'
        if fault == "whole" or not asked:
            return self.plain(200, [("ETag", tag)], data)
        first = int(asked[1]) if asked[1] else max(0, len(data) - int(asked[2]))
        last = min(int(asked[2]), len(data) - 1) if asked[1] and asked[2] else len(data) - 1
        size = len(data) + (fault == "size")
        if fault == "shifted" and last + 1 < len(data):
            first, last = first + 1, last + 1
        body = data[first : last + 1]
        headers = [("ETag", tag)]
        if fault != "no-range":
            headers.append(("Content-Range", f"bytes {first}-{last}/{size}"))
        if fault == "gzip":
            headers.append(("Content-Encoding", "gzip"))
            body = gzip.compress(body)
        body = {"longer": body + b"x", "shorter": body[:-1]}.get(fault, body)
        if fault == "cut":
            self.send_response(206)
            self.send_header("Content-Length", str(len(body)))
            for header in headers:
                self.send_header(*header)
            self.end_headers()
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
            return None
        self.plain(206, headers, body)
        return None


class Threads(http.server.ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, *_):
        """Clients that go away are what this is about."""


def openers():
    """Ways to a file far away, by name: functions from a name in the folder to what opens it."""
    import fsspec
    import obstore

    memory = fsspec.filesystem("memory", skip_instance_cache=True)
    held = obstore.store.MemoryStore()
    for path in FOLDER.rglob("*"):
        if path.is_file():
            name = str(path.relative_to(FOLDER))
            memory.pipe("/far/" + name, path.read_bytes())
            obstore.put(held, name, path.read_bytes())
    local = fsspec.filesystem("dir", path=str(FOLDER), fs=fsspec.filesystem("file"))
    disk = obstore.store.LocalStore(FOLDER)
    return {
        "fsspec memory": lambda name, o: chosen(dp.open("/far/" + name, fs=memory, **o)),
        "fsspec local": lambda name, o: chosen(dp.open(name, fs=local, **o)),
        "obstore memory": lambda name, o: chosen(dp.open(name, store=held, **o)),
        "obstore local": lambda name, o: chosen(dp.open(name, store=disk, **o)),
    }


def by_address(port, seed, kinds, most, cache):
    """The same of the server: at most `most` answers are wrong."""

    def opened(name, o):
        Server.faults[seed] = (random.Random(seed), kinds, most)
        where = f"http://127.0.0.1:{port}/{seed}/"
        shown = "c.dds/" if name == "c.dds" else name
        if name in ("set", "fset"):
            shown = f"{name}/dataset-{max(int(state.name[8:]) for state in (FOLDER / name).glob('dataset-*'))}"
        return chosen(dp.open(where + shown, **o, **({"cache": cache} if cache else {})))

    return opened


def much(port, seed, runs):
    """More than is kept, which comes straight into place, from a server that fails: how many answers are wrong."""
    a = np.random.default_rng(seed).random((2560, 8192), dtype="f8")
    dp.write(FOLDER / "much.dbdf", a, tile=(200, 1000), kind="dense", narrow=False)
    wrong = 0
    for run in range(runs):
        rng = random.Random(f"{seed} much {run}")
        row, col = rng.randrange(20), rng.randrange(20)
        opened = by_address(port, f"{seed}-much-{run}", PASSES, 2, None)("much.dbdf", {})
        wrong += not np.array_equal(opened[row:, col:], a[row:, col:])
        lied = by_address(port, f"{seed}-lies-{run}", LIES, 1 + run, None)
        try:
            wrong += not np.array_equal(lied("much.dbdf", {})[row:, col:], a[row:, col:])
        except (dp.Error, OSError):
            pass
    (FOLDER / "much.dbdf").unlink()
    return wrong


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    print(f"far.py {runs} {seed}")
    try:
        make_files(np.random.default_rng(1))
        server = Threads(("127.0.0.1", 0), Server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here = {name: chosen(dp.open(FOLDER / name, **options_of(name))) for name in MATRICES + FRAMES}
        stores = openers()
        told, wrong = collections.Counter(), 0
        for run in range(runs):
            rng = random.Random(f"{seed} {run}")
            name = rng.choice(MATRICES + FRAMES)
            local = here[name]
            ask = question(rng, name in FRAMES, local.shape)
            expected = ask(local)
            cache = FOLDER / "cache" if rng.random() < 0.3 else None
            # A chunk of Zarr that is not there is one of fill values: nobody can tell.
            lies = [lie for lie in PASSES + LIES if (lie, name) != ("404", "z.zarr")]
            ways = {rng.choice(list(stores)): None, "passes": (PASSES, 2), "lies": (lies, rng.randrange(1, 9))}
            for way, faults in ways.items():
                opener = stores[way] if faults is None else by_address(server.server_port, f"{seed}-{run}-{way}", *faults, cache)
                try:
                    found = ask(opener(name, options_of(name)))
                except (dp.Error, OSError) as e:
                    told[way, name, "error"] += 1
                    if way != "lies":
                        wrong += 1
                        print(f"run {run}: {way}, {name}: {type(e).__name__}: {e}")
                    continue
                except Exception as e:  # noqa: BLE001
                    wrong += 1
                    print(f"run {run}: {way}, {name}: foreign {type(e).__name__}: {e}")
                    continue
                told[way, name, "right"] += found == expected
                if found != expected:
                    wrong += 1
                    print(f"run {run}: {way}, {name}: another answer")
        wrong += much(server.server_port, seed, max(2, runs // 50))
        total = collections.Counter()
        for (way, _, what), n in told.items():
            total[way, what] += n
        print({f"{way}: {what}": n for (way, what), n in sorted(total.items())}, "wrong:", wrong)
        sys.exit(wrong != 0)
    finally:
        shutil.rmtree(FOLDER)


if __name__ == "__main__":
    main()
