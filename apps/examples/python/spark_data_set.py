"""Spark 4 writes and reads a data set.

    python spark_data_set.py [--rows 1000000] [--tasks 8]
"""

import argparse
import os
import tempfile

from pyspark.sql import SparkSession

import pydapple as dp
from pydapple.spark import Dapple


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--rows", type=int, default=1_000_000)
    parse.add_argument("--tasks", type=int, default=8)
    given = parse.parse_args()
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.dataSource.register(Dapple)
    with tempfile.TemporaryDirectory() as home:
        folder = os.path.join(home, "scan")
        rows = spark.range(0, given.rows, numPartitions=given.tasks).selectExpr(
            "id", "sqrt(id) as value", "concat('site ', id % 9) as site"
        )
        rows.write.format("dapple").mode("append").save(folder)
        frame = dp.open(folder)
        state = dp.dataset.log(folder)[-1]
        print(f"{state.parts} parts, {len(frame)} rows")
        read = spark.read.format("dapple").load(folder)
        means = {row["site"]: row["avg(value)"] for row in read.groupBy("site").avg("value").collect()}
        table = frame.to_pandas()
        wanted = table.groupby(table["site"].astype(str))["value"].mean()
        print("mean at site 0", round(means["site 0"], 3), "by pandas", round(wanted["site 0"], 3))
        assert all(abs(means[site] - mean) < 1e-9 * mean for site, mean in wanted.items())
    spark.stop()


if __name__ == "__main__":
    main()
