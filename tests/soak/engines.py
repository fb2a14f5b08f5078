"""Ray and Spark: what they write is what NumPy and pandas say, also when tasks fail half way."""

import decimal
import os

import numpy as np
import pandas as pd
import pytest
import ray
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import pydapple as dp
from pydapple.ray_data import DappleDatasink, DappleDatasource
from pydapple.spark import Dapple


@pytest.fixture(scope="module")
def spark():
    made = SparkSession.builder.master("local[2,3]").config("spark.ui.enabled", "false").getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    made.dataSource.register(Dapple)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


class FailsOnce(DappleDatasink):
    """Each task writes its parts, and then dies at its first attempt."""

    def __init__(self, folder, notes):
        super().__init__(folder, sync=False)
        self.notes = notes

    def write(self, blocks, ctx):
        made = super().write(blocks, ctx)
        note = f"{self.notes}/{ctx.task_idx}"
        if not os.path.exists(note):
            open(note, "w").close()
            os._exit(1)
        return made


def test_ray_writes_and_reads_a_frame(cluster, tmp_path):
    wanted = pd.DataFrame({"id": np.arange(5000), "word": [f"w{i % 30}" for i in range(5000)]})
    data = ray.data.from_pandas([wanted[i : i + 1000] for i in range(0, 5000, 1000)])
    data.write_datasink(DappleDatasink(tmp_path, sync=False))
    source = DappleDatasource(tmp_path)
    dp.dataset.append(tmp_path, wanted[:7], sync=False)  # the source is of the state before
    got = ray.data.read_datasource(source, override_num_blocks=7).to_pandas()
    got = got.sort_values("id", ignore_index=True)
    assert got["id"].tolist() == wanted["id"].tolist()
    assert got["word"].tolist() == wanted["word"].tolist()


def test_ray_writes_and_reads_a_matrix(cluster, tmp_path):
    x = np.random.default_rng(1).random((4000, 7))
    ray.data.from_numpy(x).repartition(6).write_datasink(DappleDatasink(tmp_path, sync=False))
    written = dp.open(tmp_path)[:]
    assert np.array_equal(written[np.argsort(written[:, 0])], x[np.argsort(x[:, 0])])
    got = ray.data.read_datasource(DappleDatasource(tmp_path), override_num_blocks=5).to_pandas()
    assert np.allclose(np.stack(got["data"]).sum(axis=0), x.sum(axis=0))


def test_ray_tasks_that_die_count_once(cluster, tmp_path):
    folder, notes = tmp_path / "set", tmp_path / "notes"
    notes.mkdir()
    ray.data.range(3000, override_num_blocks=3).write_datasink(FailsOnce(folder, notes))
    assert sorted(dp.open(folder)["id"][:].tolist()) == list(range(3000))
    assert len(list(folder.glob("part-*"))) > dp.dataset.log(folder)[-1].parts  # litter
    dp.dataset.collect(folder, grace=0)
    assert len(list(folder.glob("part-*"))) == dp.dataset.log(folder)[-1].parts


def test_spark_writes_and_reads_a_frame(spark, tmp_path):
    folder = str(tmp_path / "set")
    rows = spark.range(0, 5000, numPartitions=5).selectExpr(
        "id", "id * 0.5D as x", "if(id % 5 = 0, null, concat('w', id % 30)) as word",
        "timestamp_seconds(id) as at", "id % 2 = 0 as even", "cast(id % 100 as tinyint) as small",
    )  # fmt: skip
    rows.write.format("dapple").mode("append").save(folder)
    assert dp.dataset.log(folder)[-1].parts == 5
    assert dp.open(folder)["id"][:].tolist() == list(range(5000))
    read = spark.read.format("dapple").load(folder)
    dp.dataset.append(folder, dp.open(folder).to_pandas()[:9], sync=False)
    assert read.schema.simpleString() == rows.schema.simpleString()
    wanted = sorted(map(tuple, rows.collect()))
    assert sorted(map(tuple, spark.read.format("dapple").load(f"{folder}/dataset-1").collect())) == wanted


def test_spark_reads_types_that_it_has_not(spark, tmp_path):
    dp.dataset.append(
        tmp_path,
        pd.DataFrame({
            "large": np.arange(3, dtype="u8") + 2**63,
            "kind": pd.Categorical(["a", "b", "a"]),
            "some": pd.array([1, None, 3], dtype="UInt16"),
        }),
        sync=False,
    )  # fmt: skip
    got = spark.read.format("dapple").load(str(tmp_path)).collect()
    assert [tuple(row) for row in got] == [
        (decimal.Decimal(2**63), "a", 1),
        (decimal.Decimal(2**63 + 1), "b", None),
        (decimal.Decimal(2**63 + 2), "a", 3),
    ]


def test_spark_jobs_that_fail_change_nothing(spark, tmp_path):
    folder = str(tmp_path / "set")
    good = spark.range(0, 1000, numPartitions=4)
    good.write.format("dapple").mode("append").save(folder)
    bad = good.selectExpr("if(id = 999, raise_error('lost'), id) as id")
    with pytest.raises(PySparkException, match="lost"):
        bad.write.format("dapple").mode("append").save(folder)
    with pytest.raises(PySparkException, match="never overwritten"):
        good.write.format("dapple").mode("overwrite").save(folder)
    assert len(dp.dataset.log(folder)) == 1
    assert dp.open(folder)["id"][:].tolist() == list(range(1000))
    dp.dataset.append(tmp_path / "cells", np.ones((2, 2)), sync=False)
    with pytest.raises(PySparkException, match="frames, not matrices"):
        spark.read.format("dapple").load(str(tmp_path / "cells"))
