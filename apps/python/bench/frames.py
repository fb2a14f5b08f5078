"""A condition on one column and three columns out, of 2 M rows, beside polars and DuckDB.

    frames.py [ROWS [FOLDER]]        default: 2,000,000 rows in a temporary folder; about 600 MB

Ours reads CSV, and a frame of our own; polars and DuckDB scan the same CSV, and Parquet. All give
tables of polars. Each figure is the least processor time of some runs, in a process of its own that
may use one thread; every answer is compared with pandas'. Ratios are our time over the peer's.
Needs pandas, polars, duckdb and pyarrow.
"""

import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version

ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}
COLUMNS = ["id", "city", "price"]
#        name:    ours,                  SQL,                   polars' expression
CONDITIONS = {
    "a float, 5 %": ("price > 95", "price > 95", lambda c: c("price") > 95),
    "an integer, 30 %": ("age < 30", "age < 30", lambda c: c("age") < 30),
    "a word, 2 %": ('city == "Oslo"', "city = 'Oslo'", lambda c: c("city") == "Oslo"),
}  # fmt: skip
WAYS = ("dapple", "dapple scan", "polars", "duckdb")
KINDS = ("csv", "frame")


def write(rows, folder):
    """The table as CSV, as our frame, and as Parquet."""
    import numpy as np
    import pandas as pd

    import pydapple as dp

    rng = np.random.default_rng(1)
    cities = ["Oslo", "Bergen", *(f"Town {k}" for k in range(48))]
    first = ["Ann", "Bo", "Cy", "Dee", "Eve", "Flo", "Gus", "Hal"]
    table = pd.DataFrame({
        "id": np.arange(rows),
        "name": [f"{first[k % 8]} {k}" for k in rng.integers(0, 10**6, rows)],
        "city": pd.Categorical.from_codes(rng.integers(0, len(cities), rows), cities),
        "age": rng.integers(0, 100, rows),
        "price": np.round(rng.random(rows) * 100, 2),
        "score": rng.standard_normal(rows),
        "bought": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 10**8, rows), "s"),
        "member": rng.random(rows) < 0.3,
        "visits": pd.array(rng.integers(0, 50, rows), "Int64"),
        "note": [f"note {k}" for k in rng.integers(0, 10**4, rows)],
    })  # fmt: skip
    table.loc[rng.random(rows) < 0.1, "visits"] = None
    table.to_csv(f"{folder}/t.csv", index=False)
    dp.write(f"{folder}/t.dbdf", table, sync=False)
    table.to_parquet(f"{folder}/t.parquet")
    table["city"] = table["city"].astype(str)
    for name, (_, text, _) in CONDITIONS.items():
        table.query(text.replace(" = ", " == "))[COLUMNS].to_pickle(f"{folder}/{name}.pickle")
    for one in ("t.csv", "t.dbdf", "t.parquet"):
        print(f"{one}: {os.path.getsize(f'{folder}/{one}') / 1e6:.0f} MB")


def work_of(way, kind, condition, folder):
    """What a reader does, from a new start."""
    ours, sql, expression = CONDITIONS[condition]
    path = f"{folder}/t.{'csv' if kind == 'csv' else 'dbdf' if way[:6] == 'dapple' else 'parquet'}"
    if way == "dapple":
        import pydapple as dp

        return lambda: dp.open(path).to_polars(ours, COLUMNS)
    import polars as pl

    if way == "dapple scan":
        import pydapple as dp

        return lambda: dp.scan(dp.open(path)).filter(expression(pl.col)).select(COLUMNS).collect()
    if way == "polars":
        scan = pl.scan_csv if kind == "csv" else pl.scan_parquet
        return lambda: scan(path).filter(expression(pl.col)).select(COLUMNS).collect()
    import duckdb

    duckdb.execute("set threads = 1")
    return lambda: duckdb.sql(f"select {', '.join(COLUMNS)} from '{path}' where {sql}").pl()


def measure(way, kind, condition, folder):
    """The least processor time of some runs; the answer is checked."""
    import pandas as pd

    work = work_of(way, kind, condition, folder)
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        got = work()
        best = min(best, time.process_time() - start)
    wanted = pd.read_pickle(f"{folder}/{condition}.pickle")
    for name in COLUMNS:
        same = got[name].cast(str).to_list() if name == "city" else got[name].to_list()
        assert same == wanted[name].to_list(), (way, kind, condition, name)
    return best


def main(rows=2_000_000, folder=None):
    """Run each in a process of its own, and print the ratios."""
    print(", ".join(f"{one} {version(one)}" for one in ("pandas", "polars", "duckdb", "pyarrow")),
          f"load {os.getloadavg()[0]:.1f}")  # fmt: skip
    with tempfile.TemporaryDirectory(dir=folder or "/dev/shm") as made:
        write(int(rows), made)
        heads = "".join(f"{way:>13}" for way in WAYS)
        print(f"{'processor time, ms':28}{heads}  of polars  of duckdb")
        for kind in KINDS:
            for condition in CONDITIONS:
                took = []
                for way in WAYS:
                    given = ["--one", way, kind, condition, made]
                    done = subprocess.run(
                        [sys.executable, "-W", "ignore", __file__, *given],
                        env=os.environ | ONE_THREAD, stdout=subprocess.PIPE, text=True, check=False,
                    )  # fmt: skip
                    took.append(float(done.stdout) if done.returncode == 0 else float("nan"))
                line = "".join(f"{1e3 * one:13.1f}" for one in took)
                ratios = f"{took[0] / took[2]:10.2f} {took[0] / took[3]:10.2f}"
                print(f"{kind + ', ' + condition:28}{line} {ratios}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(measure(*sys.argv[2:]))
    else:
        main(*sys.argv[1:])
