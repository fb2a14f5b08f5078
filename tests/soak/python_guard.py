"""Files that are cut while two Python threads read them with the guard on, beside Python's
faulthandler: each reader gets the cells or an OSError, and the process lives.

    python_guard.py COUNT"""

import faulthandler
import os
import random
import sys
import tempfile
import threading

import numpy as np
import scipy.sparse  # noqa: F401  (imported before a fault, as in any program that reads for long)

import pydapple as dp

REPORTS = open(os.devnull, "w")


def ways(m, cells, rows):
    """What a reader does until the file is cut, and what it must get."""
    dense = np.empty(m.shape)
    return [
        lambda: np.array_equal(m.read(out=dense, threads=2), cells),
        lambda: np.array_equal(m.take(rows), cells[rows]),
        lambda: np.array_equal(m.sparse[rows].toarray(), cells[rows]),
        lambda: np.array_equal(m[3:900, 10:200], cells[3:900, 10:200]),
        lambda: m.where(above=90).rows.size == (cells > 90).sum(),
        lambda: np.array_equal(m.stats(axis=0).max, cells.max(axis=0)),
    ]


def read(way, reading, caught):
    """Reads until that raises, and keeps what was raised."""
    reading.wait()
    try:
        while True:
            assert way(), "other cells"
    except BaseException as error:
        caught.append(error)


def one_round(path, cells, random_):
    """A file, two readers, a cut."""
    dp.write(path, cells, tile=(100, 100), sync=False, overwrite=True)
    if random_.random() < 0.5:
        faulthandler.enable(REPORTS)
    m = dp.open(path, guard=True)
    m.blocks[0].numpy()  # maps it
    # Enabled last, it reports a fault before the guard sees it. It may not report what other threads
    # do: they go on, and it reads their frames.
    if not faulthandler.is_enabled():
        faulthandler.enable(REPORTS, all_threads=False)
    rows = np.array([random_.randrange(1000) for _ in range(50)])
    reading, caught = threading.Barrier(3), []
    chosen = random_.sample(ways(m, cells, rows), 2)
    readers = [threading.Thread(target=read, args=(way, reading, caught)) for way in chosen]
    for thread in readers:
        thread.start()
    reading.wait()
    os.truncate(path, random_.randrange(os.path.getsize(path)))
    for thread in readers:
        thread.join()
    m.close()
    del m, chosen, readers
    faulthandler.disable()
    assert all(isinstance(e, OSError) and isinstance(e, dp.Error) for e in caught), caught


def main():
    """So many rounds."""
    random_ = random.Random(1)
    rng = np.random.default_rng(0)
    cells = rng.integers(1, 100, (1000, 300)).astype("f8")
    cells[400:] *= rng.random((600, 300)) < 0.1
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(int(sys.argv[1])):
            one_round(folder + "/m.dbdf", cells, random_)
    print(f"{sys.argv[1]} files cut: every reader got the cells, or an OSError")


if __name__ == "__main__":
    main()
