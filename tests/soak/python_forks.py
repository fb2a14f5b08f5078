"""Forks a process whose other threads are in the middle of reading, opening and searching files by
pydapple: every child must read the same files and end.

    python_forks.py COUNT"""

import multiprocessing
import os
import random
import signal
import sys
import tempfile
import threading

import numpy as np
import scipy.sparse  # noqa: F401  (a lock that an import holds stays locked in a child)

import pydapple as dp

SECONDS = 30  # a child that takes longer hangs


def make(folder):
    """The cells of m.dbdf, dense and sparse tiles; f.dbdf is a frame with words."""
    rng = np.random.default_rng(0)
    cells = rng.integers(1, 200, (600, 300)).astype("f8")
    cells[200:] *= rng.random((400, 300)) < 0.1
    dp.write(folder + "/m.dbdf", cells, tile=(50, 60), sync=False)
    words = np.array([f"word {k % 97}" for k in range(5000)], object)
    dp.write(folder + "/f.dbdf", {"n": np.arange(5000), "w": words}, tile=(1000, 1), sync=False)
    return cells


def use(folder, m, f, cells, random, threads):
    """One of the ways to read; the objects that are given, or new ones."""
    if random.random() < 0.3:
        m = dp.open(folder + "/m.dbdf", guard=random.random() < 0.5)
        f = dp.open(folder + "/f.dbdf")
    way = random.randrange(8)
    rows = [random.randrange(600) for _ in range(40)]
    if way == 0:
        assert np.array_equal(m.read(threads=threads), cells)
    elif way == 1:
        assert np.array_equal(m.sparse[rows].toarray(), cells[rows])
    elif way == 2:
        assert np.array_equal(m.take(rows), cells[rows])
    elif way == 3:
        assert m.stats().max == cells.max()
    elif way == 4:
        assert m.where(above=198).rows.size == (cells > 198).sum()
    elif way == 5:
        assert f["w"][random.randrange(5000)].startswith("word ")
    elif way == 6:
        assert np.array_equal(m[10:300, 7], cells[10:300, 7])
    else:
        assert f["n", 100:200].sum() == sum(range(100, 200))


def child(folder, m, f, cells, seed):
    """What a forked process does; its exit status."""
    signal.alarm(SECONDS)
    random_ = random.Random(seed)
    for _ in range(6):
        use(folder, m, f, cells, random_, random_.choice((1, 2)))
    return 0


def work(arguments):
    """A task of a pool of forked processes."""
    return child(*arguments)


def main():
    """Threads that read, and forks."""
    count = int(sys.argv[1])
    stop = threading.Event()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        cells = make(folder)
        shared = [dp.open(folder + "/m.dbdf"), dp.open(folder + "/f.dbdf")]

        def read(seed):
            random_ = random.Random(seed)
            try:
                while not stop.is_set():
                    use(folder, *shared, cells, random_, random_.choice((1, 2)))
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=read, args=(k,)) for k in range(3)]
        for thread in threads:
            thread.start()
        for k in range(count):
            # New objects, so that what is made on first use is being made.
            shared[:] = dp.open(folder + "/m.dbdf"), dp.open(folder + "/f.dbdf")
            pid = os.fork()
            if pid == 0:
                status = 2
                try:
                    status = child(folder, *shared, cells, k)
                finally:
                    os._exit(status)
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            if status != 0:
                wrong.append(f"child {k} ended with {status}")
                break
        with multiprocessing.get_context("fork").Pool(2) as pool:
            tasks = [(folder, *shared, cells, seed) for seed in range(max(4, count // 10))]
            wrong += [s for s in pool.map_async(work, tasks, 1).get(60 + count) if s != 0]
        stop.set()
        for thread in threads:
            thread.join()
    print(f"{count} forks: {wrong or 'all read and ended'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
