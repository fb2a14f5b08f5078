"""The worked examples run, at a small size."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import pydapple as dp

EXAMPLES = pathlib.Path(__file__).parents[2] / "apps/examples/python"


def run(name, *arguments):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments], capture_output=True, text=True,
        timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_pca_of_a_file_finds_its_components(tmp_path, monkeypatch):
    pytest.importorskip("scipy")
    said = run("pca_out_of_core.py", "--rows", "60000", "--cols", "300", "--limit-mib", "500")
    variance = [float(x) for x in said.split("[")[1].split("]")[0].split()]
    # The same cells as a dense array, and NumPy's eigenvalues of their covariance.
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import pca_out_of_core

    pca_out_of_core.make(str(tmp_path / "cells.dbdf"), 60000, 300)
    cells = dp.open(tmp_path / "cells.dbdf").read(dtype="f8")
    cells -= cells.mean(axis=0)
    truth = np.linalg.eigvalsh(cells.T @ cells / len(cells))[::-1][:3]
    assert np.allclose(variance, truth, atol=0.01)


@pytest.mark.long
def test_a_cluster_computes_column_statistics_from_one_copy():
    pytest.importorskip("distributed")
    said = run("dask_statistics.py", "--rows", "120000", "--cols", "100")
    assert "3 chunks" in said and "2 workers" in said


def test_training_on_random_batches_learns():
    said = run("train_on_batches.py", "--rows", "20000", "--cols", "20", "--epochs", "2")
    assert float(said.splitlines()[-1].split()[2].rstrip("%")) > 90
