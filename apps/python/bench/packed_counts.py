#!/usr/bin/env python3
"""What is done with plain and packed files of counts of single cells, beside SciPy in memory.

    PYTHONPATH=build/apps/python python apps/python/bench/packed_counts.py [--quick] [--cold FOLDER]

The matrix is that of packing.py. Warm figures are of the processor, the least of several samples,
of one thread; `rows` are random ones of `m.sparse[rows]`, `A x` and `A^T x` those of
`linear_operator`. --cold: also on the clock, of files in a folder on storage that are evicted from
memory before each sample; and rows of ten times as many, in a control group (which root makes) with
a fifth of the memory that the plain file takes. Every answer is checked."""

import argparse
import multiprocessing
import os
import pathlib
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import scipy.sparse as sp
from packing import counts, size_of

import pydapple as dp

SAMPLES = 5
HOW = {"plain": None, "fast": "fast", "small": "small"}


def works(s):
    """Of each: a function of a matrix, its answer, and how many pieces of which unit it does."""
    random = np.random.default_rng(2)
    x, y = random.integers(0, 9, s.shape[1]) + 0.0, random.integers(0, 9, s.shape[0]) + 0.0
    numbers = random.integers(0, s.shape[0], 4096)
    means = np.asarray(s.astype("f8").mean(axis=0)).ravel()

    def rows(size):
        lists = numbers.reshape(-1, size)
        return lambda m: sp.vstack([m.sparse[some] for some in lists[:4]]), lists

    def product(direction, v):
        return lambda m: getattr(m.linear_operator(), direction)(v)

    entries = s.nnz / 1e6, "M entries/s"
    found = {
        "whole, to_scipy": (lambda m: m.to_scipy(), s, entries),
        "A x": (product("matvec", x), s @ x, entries),
        "A^T x": (product("rmatvec", y), s.T @ y, entries),
        "mean, variance by column": (lambda m: m.stats(axis=0).mean, means, entries),
    }
    for size in (64, 4096):
        check, lists = rows(size)
        expected = sp.vstack([s[some] for some in lists[:4]])
        found[f"rows, batches of {size}"] = (
            lambda m, lists=lists: [m.sparse[some] for some in lists],
            (check, expected),
            (len(numbers) / 1e3, "k rows/s"),
        )
    return found


def require(work, answer, m):
    """Stops where the answer is another."""
    if isinstance(answer, tuple):
        work, answer = answer
    got = work(m)
    same = (got != answer).nnz == 0 if sp.issparse(answer) else np.allclose(got, answer, 1e-12)
    assert same


def least(work, clock, before=lambda: None):
    """Seconds, the least of several runs."""
    times = []
    for _ in range(SAMPLES):
        before()
        begin = clock()
        work()
        times.append(clock() - begin)
    return min(times)


def evict(path):
    """Has the pages of a file dropped from memory."""
    with open(path, "rb") as f:
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def in_memory(s):
    """What SciPy does of the same."""

    class Same:
        """A matrix in memory that is used as one of a file."""

        sparse = s

        def to_scipy(self):
            return s.copy()

        def linear_operator(self):
            return self

        def matvec(self, v):
            return s @ v

        def rmatvec(self, v):
            return s.T @ v

    return Same()


def measure(s, folder, cold):
    """A table: a line for each work, a column for each file."""
    files = {}
    for name, pack in HOW.items():
        files[name] = folder / f"{name}.dbdf"
        dp.write(files[name], s, pack=pack, sync=False)
        print(f"{name}: {size_of(files[name]) / s.nnz:.3f} bytes an entry")
    print(f"{'':<28} " + " ".join(f"{name:>9}" for name in [*files, "SciPy"]))
    for name, (work, answer, (pieces, unit)) in works(s).items():
        row = []
        for path in files.values():
            if cold:
                # A new matrix, whose pages are mapped again.
                spent = least(
                    lambda path=path, work=work: work(dp.open(path)),
                    time.perf_counter,
                    lambda path=path: evict(path),
                )
            else:
                m = dp.open(path)
                require(work, answer, m)
                spent = least(lambda work=work, m=m: work(m), time.process_time)
            row.append(f"{pieces / spent:>9.1f}")
        if not cold and "variance" not in name:
            spent = least(lambda work=work: work(in_memory(s)), time.process_time)
            row.append(f"{pieces / spent:>9.1f}")
        print(f"{name:<28} " + " ".join(row) + f" {unit}", flush=True)


def control_group(memory):
    """A control group of that many bytes; None where there is none to be had."""
    roots = {"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"}
    for root, limit in roots.items():
        group = pathlib.Path(root, "dapple-bench")
        try:
            group.mkdir(exist_ok=True)
            (group / limit).write_text(str(memory))
        except OSError:
            continue
        return group
    return None


def rows_a_second(path, group, top):
    """Of random rows by 64, on the clock, once the memory is full; `top` is what repeats below."""
    (group / "cgroup.procs").write_text(str(os.getpid()))
    evict(path)  # pages count for who brings them in
    m, random = dp.open(path), np.random.default_rng(4)
    some = random.integers(0, m.shape[0], 64)
    assert (m.sparse[some] != top[some % top.shape[0]]).nnz == 0
    for _ in range(3):
        lists = random.integers(0, m.shape[0], (2048, 64))
        begin = time.perf_counter()
        for some in lists:
            m.sparse[some]
    return lists.size / (time.perf_counter() - begin)


def measure_little_memory(s, folder):
    """Rows of a plain file that is five times the memory, and of the packed one."""
    files = {name: folder / f"tall-{name}.dbdf" for name in ("plain", "fast")}
    for name, path in files.items():
        dp.write(path, sp.vstack([s] * 10, format="csr"), pack=HOW[name])
    group = control_group(max(size_of(files["plain"]) // 5, 64 << 20))  # Python itself takes some
    if group is None:
        return print("no control group can be made here")
    rates = {}
    for name, path in files.items():  # a process each: one that the system kills is an error
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            rates[name] = pool.submit(rows_a_second, path, group, s).result()
    group.rmdir()
    print(*(f"{name}: {rate / 1e3:.1f} k rows/s" for name, rate in rates.items()), sep=", ")


def main():
    """Warm figures, and cold ones where a folder is given."""
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--quick", action="store_true", help="tiny data: shows that it runs")
    parse.add_argument("--cold", metavar="FOLDER", help="on storage, not in memory")
    given = parse.parse_args()
    s = sp.csr_array(counts(given.quick))
    for folder in (None, given.cold):
        if folder is None or given.cold:
            print("\ncold, on the clock" if folder else "\nwarm, of the processor")
            with tempfile.TemporaryDirectory(prefix="packed-", dir=folder) as made:
                measure(s, pathlib.Path(made), folder is not None)
                if folder:
                    print("\nfive times the memory, on the clock")
                    measure_little_memory(s, pathlib.Path(made))
        if not given.cold:
            break


if __name__ == "__main__":
    main()
