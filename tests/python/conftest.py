"""What the tests share. A test names what it relies on as a sentence."""

import os

import numpy as np
import pytest

import pydapple as dp


def pytest_configure(config):
    config.addinivalue_line("markers", "long: starts clusters of processes; run where DAPPLE_TEST_ALL is set")


def pytest_collection_modifyitems(config, items):
    """Leaves what takes long to the soak suite."""
    if "DAPPLE_TEST_ALL" in os.environ:
        return
    long = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if item not in long]


DTYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8"]
KINDS = ["auto", "dense", "csr", "coo"]


def cells(shape, dtype, density=0.3, seed=1):
    """An array in which most cells are zero."""
    random = np.random.default_rng(seed)
    values = random.integers(1, 100, shape).astype(dtype)
    return np.where(random.random(shape) < density, values, values.dtype.type(0))


@pytest.fixture
def make(tmp_path):
    """Writes an array and opens the file: make(array, tile=..., ...)."""
    made = []

    def write_and_open(data, name=None, **options):
        path = tmp_path / (name or f"m{len(made)}.dbdf")
        dp.write(path, data, sync=False, **options)
        made.append(dp.open(path))
        return made[-1]

    return write_and_open


@pytest.fixture
def there(tmp_path):
    """Writes a table and opens it."""

    def write(table, **options):
        path = tmp_path / "t.dbdf"
        dp.write(path, table, overwrite=True, sync=False, **options)
        assert not dp.verify(path, payload=True).findings
        return dp.open(path)

    return write
