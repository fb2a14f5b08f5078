"""Signals, forks, threads and memory: what a long-lived process relies on."""

import gc
import gzip
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import cells
from python_process import run

import pydapple as dp


def test_a_stream_whose_producer_needs_python_is_read(tmp_path):
    """pyarrow reads through a file system of Python in threads of its own, which need the GIL."""
    pa, _ = pytest.importorskip("pyarrow"), pytest.importorskip("fsspec")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"a": range(5000)}), tmp_path / "p.parquet", row_group_size=1000)
    done = run(
        """
        import faulthandler, fsspec, os, pyarrow.dataset, pyarrow.fs, pydapple as dp
        faulthandler.dump_traceback_later(30, exit=True)
        files = pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(fsspec.filesystem("file")))
        data = pyarrow.dataset.dataset(os.path.abspath("p.parquet"), filesystem=files)
        dp.write("p.dbdf", data.scanner().to_reader())
        print(dp.open("p.dbdf")["a"].tolist() == list(range(5000)))
        """,
        tmp_path,
    )
    assert done.stdout == "True\n", done.stderr


CTRL_C = """
    import os, signal, threading, time
    import numpy as np, scipy.sparse, pydapple as dp
    m = dp.open("a.dbdf")
    for work in {works}:
        code, seconds = compile(work, work, "eval"), []
        def stop():
            time.sleep(0.3)
            seconds.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        try:
            threading.Thread(target=stop).start()
            while True:
                eval(code)  # of a text, Python would end by the signal, too
        except KeyboardInterrupt:
            print(time.monotonic() - seconds[0], work)
"""

LONG_WORKS = [
    "m.read()", "m.to_scipy()", "m.take(np.random.default_rng(0).integers(0, 3000, 10_000))",
    "dp.convert(m, 'b.dbdf', kind='coo', overwrite=True, sync=False, threads=1)",
    "dp.write('c.dbdf', np.ones((4000, 4000)), overwrite=True, sync=False)",
    "dp.verify('a.dbdf', payload=True)", "m.stats(axis=0)", "m.linear_operator() @ np.ones(2000)",
    "m.where(above=1e9)", "m.count_where(below=7)",
    "m.take(np.random.default_rng(0).integers(0, 40_000, 60_000))",
    "m.sparse[np.random.default_rng(0).integers(0, 40_000, 60_000)]",
    "m.take_columns(np.random.default_rng(0).integers(0, 2000, 900))",
    "dp.index('a.dbdf', columns=True, sync=False)",
    "dp.convert(m, 'b.dbdf', transpose=True, overwrite=True, sync=False, threads=2)",
    "m.picture()", "m.picture('mean', threads=2, progress=lambda done, total: None)",
]  # fmt: skip


def test_ctrl_c_ends_long_work(tmp_path):
    with dp.writer(tmp_path / "a.dbdf", (40_000, 2000), "f8", tile=(1000, 2000), sync=False) as w:
        band = cells((1000, 2000), "f8")
        for top in range(0, 40_000, 1000):
            w[top : top + 1000] = band
    done = run(CTRL_C.format(works=LONG_WORKS), tmp_path)
    assert done.returncode == 0, done.stderr
    ended = dict(reversed(line.split(maxsplit=1)) for line in done.stdout.splitlines())
    assert list(ended) == LONG_WORKS
    slow = {work: float(s) for work, s in ended.items() if float(s) > 3}  # 1 s on a quiet machine
    assert not slow
    assert set(os.listdir(tmp_path)) <= {"a.dbdf", "a.dbdf.dpc", "b.dbdf", "c.dbdf"}


def test_ctrl_c_ends_the_opening_of_compressed_text(tmp_path):
    dp.write(tmp_path / "a.dbdf", np.eye(2), sync=False)
    line = ",".join(str(k / 7) for k in range(40)) + "\n"
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(line.encode() * 100_000, 1) * 6)
    begin = time.monotonic()
    dp.open(tmp_path / "t.csv.gz")
    whole = time.monotonic() - begin  # a second and more
    done = run(CTRL_C.format(works=["dp.open('t.csv.gz')"]), tmp_path)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[0]) < whole / 4


def test_an_array_that_lives_until_the_end_is_no_leak(tmp_path):
    code = """
        import numpy as np, pydapple as dp
        dp.write("a.dbdf", np.full((9, 9), 0.1), kind="dense", sync=False)
        kept = np.from_dlpack(dp.open("a.dbdf").tile(0, 0))
        print(kept[3, 4])
    """
    done = run(code, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0.1\n", "")


def test_shards_of_a_store_that_are_kept_outlive_python(tmp_path):
    pytest.importorskip("zarr")
    pytest.importorskip("obstore")
    code = """
        import obstore, sys, zarr, pydapple as dp
        store = obstore.store.MemoryStore()
        zarr.create_array(zarr.storage.ObjectStore(store), shape=(9, 9), chunks=(3, 3), shards=(9, 9), dtype="i4")[:] = 7
        m = dp.open("", store=store)
        sys.kept = m
        print(m[3, 4])
    """
    done = run(code, tmp_path)
    assert (done.returncode, done.stdout) == (0, "7\n"), done.stderr


def test_what_threads_fetch_by_python_is_not_waited_for_with_the_gil(tmp_path):
    pytest.importorskip("zarr")
    pytest.importorskip("obstore")
    code = """
        import obstore, zarr, numpy as np, pydapple as dp
        store = obstore.store.MemoryStore()
        group = zarr.create_group(zarr.storage.ObjectStore(store))
        group.create_array("X", shape=(90, 60), chunks=(10, 10), dtype="f4")[:] = 7
        obs = group.create_group("obs", attributes={"encoding-type": "dataframe", "_index": "id", "column-order": []})
        obs.create_array("id", shape=(90,), chunks=(9,), dtype=str)[:] = np.array([f"r{i}" for i in range(90)], object)
        def opened(name): return dp.open("", store=store, array=name)
        print(opened("X").tile(0, 0).numpy()[5, 5], opened("X").blocks[0].shape, opened("X").row_names.find("r7"))
        print(opened("obs").words("id")[3], len(opened("obs").meanings["id"].words), opened("obs").to_pandas().shape)
    """
    done = run(code, tmp_path)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "7.0 (90, 60) 7"), done.stderr
    assert done.stdout.splitlines()[1:] == ["r3 90 (90, 1)"]


def test_threads_that_still_read_do_not_abort_the_end(tmp_path):
    code = """
        import threading, time, numpy as np, pydapple as dp
        dp.write("a.dbdf", np.arange(10_000).reshape(100, 100), sync=False)
        m = dp.open("a.dbdf")
        def read():
            while True: m.take(np.arange(100))
        for _ in range(3): threading.Thread(target=read, daemon=True).start()
        time.sleep(0.1)
    """
    for _ in range(3):
        done = run(code, tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        (tmp_path / "a.dbdf").unlink()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_child_of_fork_reads_while_another_thread_did(make, threads):
    a = cells((300, 300), "f8")
    m = make(a, tile=(32, 32))
    stop = threading.Event()

    def read():
        while not stop.is_set():
            m.read(threads=2)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for _ in range(3):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                os._exit(0 if np.array_equal(m.read(threads=threads), a) else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize(
    ("script", "count"),
    [("python_forks.py", "8"), ("python_guard.py", "4"), ("python_keys.py", "1500")],
)
def test_what_the_soak_tests_do_for_long(tmp_path, script, count):
    soak = pathlib.Path(__file__).parents[1] / "soak"
    done = subprocess.run([sys.executable, soak / script, count], cwd=tmp_path, text=True,
                          capture_output=True, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_fork_in_a_progress_callback_waits_for_nobody(make):
    m = make(cells((2000, 300), "f8"), tile=(32, 32))
    children = []

    def fork(done, total):
        if not children:
            children.append(os.fork())
            if children[0] == 0:
                os._exit(0)

    start = time.monotonic()
    dp.convert(m, m.path + ".csv", progress=fork, threads=2, sync=False)
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0
    assert time.monotonic() - start < 8


def test_threads_read_at_once(make):
    a = cells((400, 300), "f8")
    m = make(a, tile=(32, 32))
    wrong = []

    def read(seed):
        random = np.random.default_rng(seed)
        for _ in range(200):
            r, c = (int(x) for x in random.integers(0, 290, 2))
            if not np.array_equal(m[r : r + 9, c : c + 9], a[r : r + 9, c : c + 9]):
                wrong.append((r, c))
            if m[r, c] != a[r, c]:
                wrong.append((r, c))
            rows = random.integers(0, 400, 20)
            if not np.array_equal(m.sparse[rows].toarray(), a[rows]):
                wrong.append(rows)

    threads = [threading.Thread(target=read, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def uses(m, f, path):
    """Everything that may leak, once."""
    m[3, 4], m[3], m[1:5, 2:9], m[[1, 2]], m.sparse[2:9], m.take([1])
    block = m.blocks[0]
    block.numpy(), np.asarray(block), memoryview(block), np.from_dlpack(block), block.to_scipy()
    f["a"], f[0:3], f.__arrow_c_stream__()
    for wrong in (lambda: m[999], lambda: m[None], lambda: m.block(1, 1), lambda: f["z"],
                  lambda: dp.open("none"), lambda: memoryview(m.blocks[1])):  # fmt: skip
        try:
            wrong()
        except (dp.Error, BufferError):
            pass
    dp.open(path).close()


def test_nothing_leaks(make, tmp_path):
    a = np.ones((64, 64))
    a[32:] = 0
    m = make(a, tile=(32, 64), kind="auto", narrow=False)
    m.blocks[0].numpy()
    dp.write(tmp_path / "f.dbdf", {"a": np.arange(9.0)}, sync=False)
    f = dp.open(tmp_path / "f.dbdf")
    for _ in range(200):
        uses(m, f, m.path)
    gc.collect()
    before, references = memory(), sys.getrefcount(m.dtype)
    files = len(os.listdir("/proc/self/fd"))
    for _ in range(1000):
        uses(m, f, m.path)
    gc.collect()
    assert memory() - before < 2 << 20
    assert sys.getrefcount(m.dtype) <= references + 2
    assert len(os.listdir("/proc/self/fd")) <= files


def test_a_million_slices_and_views_leak_nothing(make):
    m = make(np.ones((64, 64)), kind="dense", narrow=False)
    block = m.blocks[0]
    for count in (10_000, 300_000):
        for _ in range(count):
            m[3, 4]
            m[1:5, 2:9]
        for _ in range(count // 10):
            block.numpy()
        if count == 10_000:
            before = memory()
    assert memory() - before < 2 << 20
    assert sys.getrefcount(block) < 4 and sys.getrefcount(m) < 6


def test_importing_is_quick_and_needs_numpy_only(tmp_path):
    code = """
        import sys
        for name in ("scipy", "pandas", "polars", "pyarrow", "dask", "xarray", "matplotlib", "tqdm"):
            sys.modules[name] = None
        import numpy as np, pydapple as dp
        dp.write("a.dbdf", np.eye(4), sync=False)
        m = dp.open("a.dbdf")
        print(m[2, 2], m[:].sum(), m._repr_html_()[:4], next(m.strips()).cells.shape)
        dp.write("f.dbdf", {"a": np.arange(3)}, sync=False, progress=True)
        print(dp.open("f.dbdf")["a"].sum())
    """
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["1.0 4.0 <div (4, 4)", "3"]
