#!/usr/bin/env python3
"""What pydapple takes for what users do, beside SciPy and NumPy with the same data in memory.

    PYTHONPATH=build/apps/python python apps/python/bench/bench.py [--only NAME]... [--json]

Every answer is checked. Each figure is the median of several samples in which both take turns;
`processor` is what the processor worked for it. apps/bench/compare.py compares builds with it."""

import argparse
import json
import pathlib
import statistics
import tempfile
import time

import numpy as np
import scipy.sparse as sp

import pydapple as dp


def shape(quick):
    """(rows, columns, entries a row)."""
    return (2000, 400, 10) if quick else (40_000, 20_000, 500)


def sparse(quick):
    """The matrix; its values are small integers in f4."""
    rows, cols, each = shape(quick)
    random = np.random.default_rng(0)
    step = cols // each
    columns = np.arange(each, dtype=np.int32) * step + random.integers(
        0, step, (rows, each), np.int32
    )
    values = random.integers(1, 255, rows * each).astype("f4")
    return sp.csr_array(
        (values, columns.ravel(), np.arange(0, rows * each + 1, each)), (rows, cols)
    )


def written(folder, quick):
    """The matrix in memory, and as a file that `dp.write` makes with defaults."""
    s = sparse(quick)
    dp.write(folder / "s.dbdf", s, sync=False)
    return s, dp.open(folder / "s.dbdf")


def to_scipy(folder, quick):
    """How soon is a whole file a csr_array, and how soon is one copied?"""
    s, m = written(folder, quick)
    assert (m.to_scipy() != s).nnz == 0
    return 1e3, "ms", m.to_scipy, s.copy


def batches(size):
    """Random rows in batches of a size; of all batches together."""

    def prepare(folder, quick):
        """What does a random row of 500 entries cost?"""
        s, m = written(folder, quick)
        rows = np.random.default_rng(1).integers(0, s.shape[0], 4096)
        lists = rows.reshape(-1, size)
        assert all((m.sparse[some] != s[some]).nnz == 0 for some in lists[:4])

        def all_of(matrix):
            return lambda: [matrix[some] for some in lists]

        return 1e6 / len(rows), "us", all_of(m.sparse), all_of(s)

    return prepare


def cell(folder, quick):
    """What does m[i, j] cost?"""
    a = np.arange(512.0 * 512).reshape(512, 512)
    dp.write(folder / "a.dbdf", a, tile=(256, 256), narrow=False, sync=False)
    m = dp.open(folder / "a.dbdf")
    assert m[123, 345] == a[123, 345]

    def often(matrix):
        def work():
            for _ in range(20_000):
                matrix[123, 345]

        return work

    return 1e9 / 20_000, "ns", often(m), often(a)


WORKLOADS = {
    "to_scipy": to_scipy,
    "m.sparse[64 rows]": batches(64),
    "m.sparse[4096 rows]": batches(4096),
    "m[i, j]": cell,
}


def take(work):
    """(seconds on the clock, seconds of the processor) of one run."""
    worked, begin = time.process_time(), time.perf_counter()
    work()
    return time.perf_counter() - begin, time.process_time() - worked


def measure(name, quick, samples):
    """The figures of a workload, as apps/bench/compare.py reads them."""
    with tempfile.TemporaryDirectory(prefix="pydapple-bench-") as folder:
        scale, unit, dapple, peer = WORKLOADS[name](pathlib.Path(folder), quick)
        dapple(), peer()
        pairs = [(take(dapple), take(peer)) for _ in range(samples)]
    result = {"name": name, "unit": unit, "rate": False, "waits": False}
    for k, who in enumerate(("dapple", "peer")):
        clock, processor = (
            statistics.median(pair[k][i] for pair in pairs) * scale for i in range(2)
        )
        result[who] = {"wall": clock, "processor": processor}
    return result


def main():
    """Measure all workloads, or some."""
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--only", metavar="NAME", choices=WORKLOADS, action="append")
    parse.add_argument("--samples", type=int, default=7)
    parse.add_argument("--quick", action="store_true", help="tiny data: shows that it runs")
    parse.add_argument("--data", help="not used: the data is made anew")
    parse.add_argument("--json", action="store_true", help="print the figures as JSON")
    parse.add_argument("--list", action="store_true", help="list the workloads")
    given = parse.parse_args()
    if given.list:
        for name, prepare in WORKLOADS.items():
            print(f"{name:<30} {prepare.__doc__}")
        return
    results = [measure(name, given.quick, given.samples) for name in given.only or WORKLOADS]
    if given.json:
        print(json.dumps(results, indent=2))
        return
    print(f"{'':<30} {'dapple':>10} {'processor':>10} {'in memory':>10} {'processor':>10}")
    for r in results:
        figures = [r[who][clock] for who in ("dapple", "peer") for clock in ("wall", "processor")]
        print(f"{r['name']:<30} " + " ".join(f"{f:>10.4g}" for f in figures), r["unit"])


if __name__ == "__main__":
    main()
