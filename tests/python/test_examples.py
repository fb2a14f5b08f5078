"""The worked examples run, at a small size."""

import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / "apps/examples/python"


def run(name, *arguments):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments], capture_output=True, text=True,
        timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_pca_of_a_file_finds_its_components():
    pytest.importorskip("scipy")
    said = run("pca_out_of_core.py", "--rows", "60000", "--cols", "300", "--limit-mib", "500")
    variance = [float(x) for x in said.split("[")[1].split("]")[0].split()]
    assert len(variance) == 3 and variance[0] > 1.5 * variance[1] > 2 * variance[2] > 0


def test_a_cluster_computes_column_statistics_from_one_copy():
    pytest.importorskip("distributed")
    said = run("dask_statistics.py", "--rows", "120000", "--cols", "100")
    assert "3 chunks" in said and "2 workers" in said


def test_training_on_random_batches_learns():
    said = run("train_on_batches.py", "--rows", "20000", "--cols", "20", "--epochs", "2")
    assert float(said.splitlines()[-1].split()[2].rstrip("%")) > 90
