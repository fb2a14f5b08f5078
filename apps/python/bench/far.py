"""Files on a web server, beside curl, Zarr with obstore, and h5py with fsspec.

    far.py [MEBIBYTES]        default: 256, in /dev/shm; wants nginx and curl, and obstore, zarr, h5py, fsspec, aiohttp

Throughput is from nginx on loopback; round trips are counted on a server that waits 50 ms before each
answer. Every array is compared with the one that was written.
"""

import concurrent.futures
import http.server
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import pydapple as dp

DELAY = 0.05
TILE = 256
FOLDER = pathlib.Path(tempfile.mkdtemp(dir="/dev/shm"))
FOLDER.chmod(0o755)  # for the workers of nginx


def best(work, times=3):
    """The best time of some runs, on the clock, and what the last one gave."""
    shortest = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        result = work()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, result


def nginx():
    """The address of an nginx that serves the folder, and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (FOLDER / "nginx.conf").write_text(
        f"daemon off; worker_processes 2; pid {FOLDER}/pid; error_log {FOLDER}/error;\n"
        f"events {{}} http {{ access_log off; sendfile on; types {{}}\n"
        f"  client_body_temp_path {FOLDER}/a; proxy_temp_path {FOLDER}/b; fastcgi_temp_path {FOLDER}/c;\n"
        f"  uwsgi_temp_path {FOLDER}/d; scgi_temp_path {FOLDER}/e;\n"
        f"  server {{ listen 127.0.0.1:{port}; root {FOLDER}; }} }}\n"
    )
    process = subprocess.Popen(
        ["nginx", "-c", FOLDER / "nginx.conf", "-p", FOLDER], stderr=subprocess.DEVNULL
    )
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    return f"http://127.0.0.1:{port}/", process


class Slow(http.server.BaseHTTPRequestHandler):
    """Waits before each answer, and counts them and their bytes."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    lock = threading.Lock()
    requests = sent = 0

    def log_message(self, *_):
        """Nothing."""

    def do_HEAD(self):
        self.answer(False)

    def do_GET(self):
        self.answer(True)

    def answer(self, whole):
        time.sleep(DELAY)
        path = FOLDER / self.path[1:]
        size = path.stat().st_size if path.is_file() else None
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers["Range"] or "")
        self.send_response(404 if size is None else 206 if asked else 200)
        first, last = 0, (size or 0) - 1
        if size is not None and asked:
            first = int(asked[1]) if asked[1] else size - min(size, int(asked[2]))
            last = min(last, int(asked[2])) if asked[1] and asked[2] else last
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.send_header("ETag", '"1"')
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT")
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        with Slow.lock:
            Slow.requests += 1
            Slow.sent += last + 1 - first if whole else 0
        if whole and size is not None:
            with path.open("rb") as file:
                file.seek(first)
                self.wfile.write(file.read(last + 1 - first))


class Threads(http.server.ThreadingHTTPServer):
    """As a real server, it has room for connections that come at once."""

    request_queue_size = 128


def counted(work):
    """What it gave, and its requests, bytes, and time in delays of the server."""
    Slow.requests = Slow.sent = 0
    start = time.perf_counter()
    result = work()
    return result, Slow.requests, Slow.sent, (time.perf_counter() - start) / DELAY


def curl(address, size, pieces=16):
    """The seconds that as many curl need to fetch a file together."""
    step = -(-size // pieces)

    def one(k):
        last = min(size, (k + 1) * step) - 1
        command = ["curl", "-sf", "-o", "/dev/null", "-r", f"{k * step}-{last}", address]
        subprocess.run(command, check=True)

    with concurrent.futures.ThreadPoolExecutor(pieces) as pool:
        return best(lambda: list(pool.map(one, range(pieces))))[0]


def write_files(mebibytes):
    """The same cells as dapple's file, Zarr and HDF5, in chunks of one size, not compressed."""
    import h5py
    import zarr

    rows = mebibytes * (1 << 20) // 4 // 8192
    a = np.random.default_rng(1).random((rows, 8192), dtype="f4")
    dp.write(FOLDER / "m.dbdf", a, tile=(TILE, TILE), kind="dense", narrow=False, sync=False)
    dp.write(FOLDER / "r.dbdf", a[:TILE], tile=(TILE, TILE), kind="dense", narrow=False, sync=False)
    parts = [
        dp.dataset.write_part(
            FOLDER / "d", a[row : row + TILE], at=(row, 0), tile=(TILE, TILE), sync=False
        )
        for row in range(0, rows, TILE)
    ]
    dp.dataset.commit(FOLDER / "d", parts, sync=False)
    z = zarr.create_array(
        FOLDER / "m.zarr", shape=a.shape, chunks=(TILE, TILE), dtype="f4", compressors=None
    )
    z[:] = a
    with h5py.File(FOLDER / "m.h5", "w") as file:
        file.create_dataset("x", data=a, chunks=(TILE, TILE))
    return a


def from_zarr(address):
    """The array of Zarr at an address, through obstore."""
    import obstore
    import zarr

    store = obstore.store.HTTPStore.from_url(
        address + "m.zarr", client_options={"allow_http": True}
    )
    return zarr.open_array(zarr.storage.ObjectStore(store, read_only=True), mode="r")


def from_hdf5(address):
    """The data set of HDF5 at an address, through fsspec."""
    import fsspec
    import h5py

    return h5py.File(fsspec.open(address + "m.h5", block_size=1 << 20).open(), "r")["x"]


def throughput(a, address):
    """Whole arrays without a delay."""
    size = (FOLDER / "m.dbdf").stat().st_size
    limit = size / curl(address + "m.dbdf", size) / 1e9
    print(f"16 curl -r at once                     {limit:6.2f} GB/s")
    ways = {
        "dapple": lambda: dp.open(address + "m.dbdf")[:],
        "dapple, 2 threads": lambda: dp.open(address + "m.dbdf").read(threads=2),
        "Zarr with obstore": lambda: from_zarr(address)[:],
        "h5py with fsspec": lambda: from_hdf5(address)[:],
    }
    for name, work in ways.items():
        seconds, got = best(work, 1 if "h5py" in name else 3)
        assert np.array_equal(got, a)
        print(
            f"{name:<38} {a.nbytes / seconds / 1e9:6.2f} GB/s = {a.nbytes / seconds / 1e9 / limit:4.2f} of curl"
        )


def round_trips(a, address):
    """Opening, a row, and a region of 100 tiles, where an answer takes 50 ms."""
    m, requests, sent, delays = counted(lambda: dp.open(address + "m.dbdf"))
    print(
        f"open: dapple                           {requests:4d} requests {sent:10d} bytes {delays:6.1f} delays"
    )
    row = a.shape[0] // 2
    got, requests, sent, delays = counted(lambda: m[row])
    assert np.array_equal(got, a[row])
    print(
        f"first row: dapple                      {requests:4d} requests {sent:10d} bytes {delays:6.1f} delays"
    )
    high, wide = 10 * TILE - 2, 10 * TILE - 2
    some = np.sort(np.random.default_rng(2).choice(a.shape[0], 32, replace=False))
    for name, opened in (
        ("dapple", m),
        ("data set of dapple", dp.open(address + "d/dataset-1")),
        ("Zarr by dapple", dp.open(address + "m.zarr")),
        ("Zarr with obstore", from_zarr(address)),
        ("h5py with fsspec", from_hdf5(address)),
    ):
        got, requests, sent, delays = counted(lambda: opened[1 : high + 1, 1 : wide + 1])  # noqa: B023
        assert np.array_equal(got, a[1 : high + 1, 1 : wide + 1])
        tiles = sent / (100 * TILE * TILE * 4)
        print(
            f"100 tiles: {name:<27} {requests:4d} requests {tiles:5.2f} x the tiles   {delays:6.1f} delays"
        )
        got, requests, _, delays = counted(lambda: opened[some, :TILE])  # noqa: B023
        assert np.array_equal(got, a[some, :TILE])
        print(f"32 rows at random: {name:<19} {requests:4d} requests {delays:29.1f} delays")


CHILD = """
import sys, time, pydapple as dp
start = time.perf_counter()
m = dp.open(sys.argv[1], **({"cache": sys.argv[2]} if sys.argv[2:] else {}))
s = m[:].sum(dtype="f8")
print(time.perf_counter() - start, s)
"""


def warm_cache(address):
    """The second process of this machine, beside one that reads the file itself; both on storage.

    In memory (tmpfs) the pages of the file would be larger than those of the cache.
    """

    def run(*arguments):
        made = subprocess.run(
            [sys.executable, "-c", CHILD, *map(str, arguments)], check=True, capture_output=True
        )
        seconds, total = map(float, made.stdout.split())
        return seconds, total

    where = address + "m.dbdf"
    with tempfile.TemporaryDirectory() as disk:
        local_file = shutil.copy(FOLDER / "m.dbdf", disk)
        run(where, f"{disk}/cache")
        Slow.requests = 0
        cached = min(run(where, f"{disk}/cache") for _ in range(5))
        requests = Slow.requests
        local = min(run(local_file) for _ in range(5))
    assert cached[1] == local[1]
    print(
        f"second process, warm cache             {requests:4d} requests "
        f"{cached[0] / local[0]:5.2f} x a local file ({cached[0]:.2f} s)"
    )


def main():
    mebibytes = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    process = None
    try:
        a = write_files(mebibytes)
        address, process = nginx()
        throughput(a, address)
        slow = Threads(("127.0.0.1", 0), Slow)
        threading.Thread(target=slow.serve_forever, daemon=True).start()
        delayed = f"http://127.0.0.1:{slow.server_port}/"
        round_trips(a, delayed)
        warm_cache(delayed)
    finally:
        if process is not None:
            process.terminate()
            process.wait()
        shutil.rmtree(FOLDER)


if __name__ == "__main__":
    main()
