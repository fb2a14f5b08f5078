"""``m @ x`` and ``x @ m``, against NumPy's of the same cells."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import KINDS, cells

import pydapple as dp


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["u1", "i4", "f4", "f8"])
def test_products_are_those_of_an_array(make, kind, dtype):
    a = cells((30, 20), dtype, 0.3)
    m, wide = make(a, tile=(16, 12), kind=kind), a.astype("f8")
    right, left = np.linspace(-1, 1, 20), np.linspace(0, 2, 30)
    for x in (right, right.tolist(), right.astype("f4"), np.arange(20), right[:, None],
              np.outer(right, [1, 2, 3]), right + 1j, np.asfortranarray(np.ones((20, 2)))):  # fmt: skip
        made = m @ x
        assert type(made) is np.ndarray and np.allclose(made, wide @ np.asarray(x))
        assert made.shape == (wide @ np.asarray(x)).shape
        assert np.array_equal(np.matmul(m, x), made)
    for x in (left, left.tolist(), left[None], np.outer([1, 2, 3], left), left - 2j):
        made = x @ m
        assert type(made) is np.ndarray and np.allclose(made, np.asarray(x) @ wide)
        assert made.shape == (np.asarray(x) @ wide).shape
    turned = make(np.ascontiguousarray(a.T))
    assert np.allclose(m @ turned, wide @ wide.T)
    assert (right @ turned).dtype == np.float64


@pytest.mark.parametrize("name", ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"])
def test_products_with_sparse_arrays(make, name):
    a = cells((30, 20), "i4", 0.3)
    m = make(a, tile=(7, 12))
    for dtype in ("u1", "f4", "c8"):
        x = cells((20, 4), "i4", 0.2).astype(dtype)
        made = m @ sp.csr_array(x).asformat(name)
        assert type(made) is np.ndarray and np.allclose(made, a @ x)
        assert made.dtype == (a.astype("f8") @ x).dtype
    with pytest.raises(ValueError, match="dimension mismatch"):
        m @ sp.csr_array((19, 2)).asformat(name)
    assert np.allclose(m @ sp.coo_array(np.arange(20.0)), a @ np.arange(20.0))


@pytest.mark.parametrize("form", ["array", "matrix"])
@pytest.mark.parametrize("name", ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"])
def test_products_of_sparse_arrays_with_a_matrix(make, name, form):
    a = cells((20, 30), "i1", 0.5)
    m, wide = make(a, tile=(7, 12)), a.astype("f8")
    for dtype in ("i1", "f4", "c8"):
        x = cells((4, 20), dtype, 0.5)
        left = getattr(sp, f"{name}_{form}")(x)
        made = left @ m
        assert type(made) is np.ndarray and np.array_equal(made, x @ wide)
        assert made.dtype == (x @ wide).dtype
        assert np.array_equal(np.matmul(left, m), made) and np.array_equal(left.dot(m), made)
        if form == "matrix":
            assert np.array_equal(left * m, made)
    with pytest.raises(ValueError, match="dimension mismatch"):
        getattr(sp, f"{name}_{form}")((4, 19)) @ m
    assert np.array_equal(sp.coo_array(np.arange(20.0)) @ m, np.arange(20) @ wide)


def test_no_array_is_made_of_a_large_matrix(tmp_path):
    n = 10_000_000  # 800 TB as an array
    at = np.arange(0, n, 1_000_003)
    dp.write(tmp_path / "m.dbdf", sp.csr_array((at + 1.0, (at, at[::-1])), (n, n)), sync=False)
    x = np.arange(n, dtype="f8")
    m = dp.open(tmp_path / "m.dbdf")
    wanted = np.zeros(n)
    wanted[at] = (at + 1.0) * x[at[::-1]]
    assert np.array_equal(m @ x, wanted)
    assert np.array_equal(m @ sp.coo_array(x[:, None]), wanted[:, None])
    wanted[:] = 0
    wanted[at[::-1]] = (at + 1.0) * x[at]
    assert np.array_equal(x @ m, wanted)
    assert np.array_equal(sp.csr_array(x[None]) @ m, wanted[None])


def test_polars_has_factors_as_well(make):
    # A Series was multiplied by polars, which asked the matrix for `dot`.
    pl = pytest.importorskip("polars")
    a = cells((6, 4), "f8")
    m, x, y = make(a), np.arange(4.0), np.arange(6.0)
    assert np.array_equal(m @ pl.Series(x), a @ x)
    assert np.array_equal(m @ pl.DataFrame({"x": x}), a @ x[:, None])
    assert np.array_equal(pl.DataFrame(y[None]) @ m, y[None] @ a)
    with pytest.raises(dp.TypeMismatchError, match="multiplied by numbers"):
        m @ pl.Series(list("abcd"))
    with pytest.raises(dp.InvalidArgumentError, match="dimension mismatch"):
        m @ pl.Series(y)


def test_to_other_functions_a_matrix_is_an_array(make):
    a = cells((6, 5), "f8")
    m = make(a)
    masked = np.ma.array(np.ones(6), mask=[True] + 5 * [False])
    assert np.array_equal(np.add(a, m), a + a) and np.array_equal(np.sqrt(m), np.sqrt(a))
    assert np.array_equal(np.maximum.reduce(m), a.max(axis=0))
    assert np.array_equal(np.matmul(m, a.T, out=np.empty((6, 6))), a @ a.T)
    assert np.ma.is_masked(masked * 1) and np.allclose(np.ma.dot(masked, m), np.ma.dot(masked, a))
    assert np.allclose((sp.csr_array(a.T) @ m), a.T @ a)
    with pytest.raises(ValueError, match="dimension mismatch"):
        a @ m
    with pytest.raises(TypeError, match="unsupported operand"):
        m @ "x"


@pytest.mark.parametrize(
    "x",
    [
        ["1", "2", "3"],
        np.array(["1", "2", "3"], object),
        np.array([b"1", b"2", b"3"]),
        np.array(["2020-01-01"] * 3, "M8[s]"),
        np.array([1, 2, 3], "m8[s]"),
        [1, None, 2],
        np.array([1, "2", 3.0], object)[:, None],
    ],
)
def test_only_numbers_are_multiplied_with(make, x):
    m = make(cells((3, 3), "f8"))
    for product in (lambda: m @ x, lambda: np.transpose(x) @ m):
        with pytest.raises(TypeError, match="multiplied by numbers"):
            product()


def test_numbers_of_python_are_multiplied_with(make):
    m = make(cells((3, 3), "f8"))
    exact = np.array([Fraction(1, 2), 2**70, Decimal("0.25")], object)
    assert np.array_equal(m @ exact, m[:] @ exact.astype("f8"))
