"""Ray tasks write one data set together, and read it.

    python ray_data_set.py [--rows 1000000] [--tasks 8]
"""

import argparse
import os
import tempfile

import numpy as np
import ray

import pydapple as dp
from pydapple.ray_data import DappleDatasink, DappleDatasource


def measured(batch):
    """Some columns of what was measured at each number."""
    place = batch["id"]
    return {"id": place, "value": np.sqrt(place), "site": np.char.add("site ", (place % 9).astype(str))}


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--rows", type=int, default=1_000_000)
    parse.add_argument("--tasks", type=int, default=8)
    given = parse.parse_args()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    with tempfile.TemporaryDirectory() as home:
        folder = os.path.join(home, "scan")
        numbers = ray.data.range(given.rows, override_num_blocks=given.tasks)
        numbers.map_batches(measured).write_datasink(DappleDatasink(folder))
        frame = dp.open(folder)
        state = dp.dataset.log(folder)[-1]
        print(f"{state.parts} parts, {len(frame)} rows")
        rows = ray.data.read_datasource(DappleDatasource(folder), override_num_blocks=given.tasks)
        total = rows.sum("value")
        print(f"sum of values {total:.3f}, by dapple {frame['value'][:].sum():.3f}")
        assert abs(total - np.sqrt(np.arange(given.rows)).sum()) < 1e-6 * total
    ray.shutdown()


if __name__ == "__main__":
    main()
