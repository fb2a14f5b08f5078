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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Skips what this build of dapple leaves out, HDF5 or addresses."""
    try:
        return (yield)
    except dp.UnsupportedError as error:
        if "dapple was built without" in str(error):
            pytest.skip(str(error))
        raise


DTYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8"]
KINDS = ["auto", "dense", "csr", "coo"]
# What a CSV file of two rows and columns may have beside it.
META = (
    '{"numRows":2,"numCols":2,"schema":[{"label":"left","valueType":"si64"},'
    '{"label":"right","valueType":"f32"}]}'
)


def cells(shape, dtype, density=0.3, seed=1):
    """An array in which most cells are zero."""
    random = np.random.default_rng(seed)
    values = random.integers(1, 100, shape).astype(dtype)
    return np.where(random.random(shape) < density, values, values.dtype.type(0))


def people():
    """A table with a column of each meaning."""
    import pandas as pd

    stamps = pd.to_datetime(["2024-02-29T12:00:00", None, "1969-12-31T23:59:59.999999"], format="ISO8601")
    return pd.DataFrame({
        "name": pd.array(["Ann", None, "Zoë"], "str" if pd.__version__ >= "3" else "string"),
        "grade": pd.Categorical(["low", "high", None], ["low", "mid", "high"], ordered=True),
        "city": pd.Categorical(["Oslo", "Bern", "Oslo"]),
        "ok": [True, False, True],
        "maybe": pd.array([True, None, False], "boolean"),
        "born": stamps.as_unit("us"),
        "seen": stamps.tz_localize("UTC").tz_convert("Europe/Berlin").as_unit("ns"),
        "took": pd.to_timedelta([1500, None, -3], unit="ms").as_unit("ms"),
        "n": pd.array([1, None, -(2**63)], "Int64"),
        "x": [1.5, np.nan, -0.0],
    })  # fmt: skip


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
