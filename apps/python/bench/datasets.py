"""Data sets: opening, committing and appending, in processor time and on the clock.

    datasets.py [FOLDER]        default: a temporary one; about 1 GB

Each line says what it stands for; every answer is checked.
"""

import os
import resource
import shutil
import sys
import tempfile
import time

import numpy as np
import pydapple as dp

PARTS, TILES = 1_000, 1_000  # tiles of a part
TILE = 8  # rows and columns


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


def say(what, best, goal):
    """Print a line."""
    clock, used = best
    print(f"{what:<58} {clock * 1e3:9.2f} ms {used * 1e3:9.2f} ms cpu   goal {goal}")


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
    """1,000 rows below 1 GB in ten parts."""
    block = np.random.default_rng(2).random((100_000, 128))
    for _ in range(10):
        dp.dataset.append(folder, block, sync=False)
    rows = block[:1_000]
    say(
        "append of 1,000 rows of 128 to 1 GB, not synced",
        seconds(lambda: dp.dataset.append(folder, rows, sync=False)),
        "20 ms",
    )
    m = dp.open(folder)
    assert np.array_equal(m[-1_000:], rows)


def main():
    """Print all."""
    home = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
    try:
        many_parts(os.path.join(home, "many"))
        appending(os.path.join(home, "grows"))
    finally:
        shutil.rmtree(home)


if __name__ == "__main__":
    main()
