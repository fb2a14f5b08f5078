"""What a process pool may want to send survives pickle."""

import pickle

import numpy as np
import pytest

import pydapple as dp


def again(thing):
    return pickle.loads(pickle.dumps(thing))


@pytest.fixture
def m(make):
    return make(np.arange(6.0).reshape(2, 3) + 0.5)


@pytest.mark.parametrize("chunks", [None, {}])
def test_datasets_of_xarray(m, there, chunks):
    xr = pytest.importorskip("xarray")
    for change in (lambda d: d, lambda d: d.isel(row=[0]), lambda d: d.load()):
        opened = xr.open_dataset(m.path, engine="pydapple", chunks=chunks)
        got = again(change(opened))["data"].values
        assert np.array_equal(got, change(opened)["data"].values)
        opened.close()
    array = again(xr.open_dataarray(m.path, engine="pydapple"))
    assert np.array_equal(array.values, m[:])
    f = there({"a": [1, 2], "b": ["x", None]})
    data = again(xr.open_dataset(f.path, engine="pydapple", chunks=chunks))
    assert data["b"].values.tolist() == ["x", None] and data["a"].values.tolist() == [1, 2]


def test_parts_and_results(m, there):
    f = there({"a": [1, 2, 3], "b": ["x", None, "y"]})
    assert np.array_equal(again(m.sparse)[:].toarray(), m[:])
    assert np.array_equal(again(m.linear_operator()) @ np.ones(3), m[:] @ np.ones(3))
    assert again(m.stats()) == m.stats()
    assert [again(one).cells.tolist() for one in m.strips()] == [m[:].tolist()]
    hits = m.where(above=3)
    assert all(np.array_equal(a, b) for a, b in zip(again(hits), hits, strict=True))
    assert again(m.explain_where(above=3)) == m.explain_where(above=3)
    meanings = again(f.meanings)
    assert meanings["b"].words.tolist() == ["x", "y"] and meanings["a"] == f.meanings["a"]
    with pytest.raises(dp.Error, match="send what was opened"):
        pickle.dumps(m.tile(0, 0))
    assert len(again(m.blocks)) == len(m.blocks)
    report = dp.verify(m.path)
    assert again(report).blocks == report.blocks and again(dp.formats()) == dp.formats()
    with pytest.raises(dp.Error, match="send what was opened"):
        pickle.dumps(m.picture())
