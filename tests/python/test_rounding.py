"""allow_loss: cells of a matrix in a dtype that does not hold them exactly."""

import numpy as np
import pytest
from conftest import cells

import pydapple as dp
from pydapple import arrays


@pytest.mark.parametrize("density", [1, 0.1])
def test_cells_are_rounded_where_that_is_asked_for(make, monkeypatch, density):
    monkeypatch.setattr(arrays, "BAND", 4096)  # so that there are several
    a = cells((200, 30), "f8", density) / 3
    m = make(a, tile=(64, 16))
    rows, cols = np.random.default_rng(0).permutation(200), [29, 3, 3]
    calls = [
        (lambda **o: m.read(dtype="f4", **o), a),
        (lambda **o: m.read((9, 180), (3, 20), out=np.empty((171, 17), "f4"), **o), a[9:180, 3:20]),
        (lambda **o: m.take(rows, out=np.empty((200, 30), "f4"), **o), a[rows]),
        (lambda **o: m.take(slice(199, 5, -2), cols, out=np.empty((97, 3), "f4"), **o), a[199:5:-2, cols]),
        (lambda **o: m.cells(rows, rows % 30, out=np.empty(200, "f4"), **o), a[rows, rows % 30]),
    ]
    for call, expected in calls:
        with pytest.raises(dp.TypeMismatchError, match="allow_loss=True rounds"):
            call()
        got = call(allow_loss=True)
        assert got.dtype == np.float32 and np.array_equal(got, expected.astype("f4"))
    assert m.read(dtype="i4", allow_loss=True, threads=2).tolist() == np.rint(a).tolist()
    assert np.array_equal(m.read(allow_loss=True), a)
    out = np.empty((2, 30), "f4")
    assert m.take([1, 2], out=out, allow_loss=True) is out
    for wrong in (np.empty((3, 30), "f4"), np.empty((2, 30), "c8"), [1]):
        with pytest.raises(dp.Error, match="out must be"):
            m.take([1, 2], out=wrong, allow_loss=True)
        with pytest.raises(dp.Error, match="out must be"):
            m.read((1, 3), out=wrong, allow_loss=True)
    for wrong in (np.empty(3, "f4"), np.empty(4, "f4")[::2], [1, 2]):
        with pytest.raises(dp.Error, match="out must be"):
            m.cells([1, 2], [1, 2], out=wrong, allow_loss=True)


def test_what_no_dtype_is_near_to_is_refused_as_convert_does(make, tmp_path):
    for value, dtype, wanted in [
        (1e300, "f8", "f4"), (np.nan, "f8", "i4"), (2.0**63, "f8", "i8"), (2.0**64, "f8", "u8"), (-0.6, "f8", "u1"),
        (np.inf, "f8", "i8"), (300, "i8", "u1"), (-1, "i8", "u8"), (2**64 - 1, "u8", "i8"), (127.5, "f4", "i1"),
    ]:  # fmt: skip
        m = make(np.array([[value]], dtype))
        for call in (
            lambda m=m, wanted=wanted: m.read(dtype=wanted, allow_loss=True),
            lambda m=m, wanted=wanted: dp.convert(m, tmp_path / "c.dbdf", dtype=wanted, allow_loss=True, overwrite=True),
        ):
            with pytest.raises(dp.TypeMismatchError):
                call()
    for value, dtype, wanted in [
        (np.inf, "f8", "f4"), (np.nan, "f8", "f4"), (2**64 - 1, "u8", "f4"), (2**53 + 1, "i8", "f8"), (2.5, "f8", "i1"),
        (-2.0**63, "f8", "i8"), (-0.4, "f8", "u1"), (3.5, "f4", "u8"), (1e-300, "f8", "f4"), (16777217, "i4", "f4"),
    ]:  # fmt: skip
        m = make(np.array([[value]], dtype))
        dp.convert(m, tmp_path / "c.dbdf", dtype=wanted, allow_loss=True, overwrite=True)
        assert np.array_equal(m.read(dtype=wanted, allow_loss=True), dp.open(tmp_path / "c.dbdf")[:], equal_nan=True)
