"""Opens, slices, views, frames and writes by pydapple, over and over: memory, descriptors and maps
must stay what they are.

    python_handles.py COUNT"""

import gc
import os
import sys
import tempfile

import numpy as np

import pydapple as dp


def resources():
    """(bytes of private memory, open files, maps)."""
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    with open("/proc/self/maps") as file:
        maps = sum(1 for _ in file)
    return pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir("/proc/self/fd")), maps


def refused(work):
    """Calls what must fail."""
    try:
        work()
    except (dp.Error, TypeError, BufferError):
        return
    raise AssertionError("it was not refused")


def use(k, folder, cells):
    """Everything that holds the file, once; each tenth time what takes longer."""
    m = dp.open(folder + "/m.dbdf")
    view = m.blocks[0].numpy()
    row, block = m[3], m.tile(0, 0)
    assert m[5, 7] == cells[5, 7] and np.array_equal(m[1:5, 2:9], cells[1:5, 2:9])
    if k % 3 == 0:
        m.close()
        refused(lambda: m[0])
    del m
    assert view[5, 7] == cells[5, 7] and row[4] == cells[3, 4] and memoryview(block)[5, 7] == view[5, 7]
    if k % 10:
        return
    m, f = dp.open(folder + "/m.dbdf"), dp.open(folder + "/f.dbdf")
    assert m.take([9, 3, 9]).shape == (3, 64) and np.from_dlpack(block).shape == (64, 64)
    assert m.where(above=4000).rows.size == 95 and m.stats().max == cells.max()
    assert f["word"][1] is None and f[1:3]["flag"].tolist() == [None, False]
    f.__arrow_c_stream__()
    for wrong in (lambda: m[99], lambda: m[None], lambda: m.take([0.5]), lambda: f["none"],
                  lambda: dp.open(folder + "/none"), lambda: dp.write(folder + "/m.dbdf", cells)):  # fmt: skip
        refused(wrong)
    if k % 100 == 0:
        dp.write(folder + "/w.dbdf", {"a": f["flag"], "b": f["word"]}, sync=False, overwrite=True)


def main():
    """Warm up, then count."""
    count = int(sys.argv[1])
    cells = np.arange(4096.0).reshape(64, 64)
    with tempfile.TemporaryDirectory() as folder:
        dp.write(folder + "/m.dbdf", cells, narrow=False, sync=False)
        columns = {
            "word": np.array(["a", None, "b"], object),
            "flag": np.ma.array([True, False, False], mask=[False, True, False]),
            "time": np.array([1, 2, "NaT"], "M8[s]"),
        }
        dp.write(folder + "/f.dbdf", columns, sync=False)
        for k in range(2000):
            use(k, folder, cells)
        gc.collect()
        before = resources()
        for k in range(count):
            use(k, folder, cells)
        gc.collect()
        after = resources()
    print(f"{count} rounds: memory {before[0] >> 10} to {after[0] >> 10} KiB, "
          f"files {before[1]} to {after[1]}, maps {before[2]} to {after[2]}")  # fmt: skip
    assert after[0] < before[0] + (4 << 20) and after[1] <= before[1] and after[2] <= before[2] + 4


if __name__ == "__main__":
    main()
