"""read, take, strips and sparse slices: what they copy, and what they refuse."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import DTYPES, KINDS, cells

import pydapple as dp


@pytest.fixture(params=KINDS)
def pair(request, make):
    a = cells((100, 60), "f4")
    return a, make(a, tile=(32, 16), kind=request.param)


def test_read_copies_rectangles(pair):
    a, m = pair
    assert np.array_equal(m.read(), a)
    assert np.array_equal(m.read(slice(3, 90), (2, 50)), a[3:90, 2:50])
    assert np.array_equal(m.read(range(5, 6)), a[5:6])
    assert np.array_equal(m.read(threads=2), a)
    wide = m.read(dtype="f8")
    assert wide.dtype == np.float64 and np.array_equal(wide, a)
    assert m.read((7, 7)).shape == (0, 60)


def test_read_fills_memory_that_is_there(pair):
    a, m = pair
    out = np.full((40, 80), -1.0)
    m.read((10, 50), (0, 60), out=out[:, 10:70])
    assert np.array_equal(out[:, 10:70], a[10:50])
    assert (out[:, :10] == -1).all() and (out[:, 70:] == -1).all()


@pytest.mark.parametrize(
    "out",
    [
        np.empty((100, 59), "f4"), np.empty((60, 100), "f4").T, np.empty(6000, "f4"),
        np.empty((100, 120), "f4")[:, ::2], np.empty((100, 60), "f4")[::-1],
        np.broadcast_to(np.float32(0), (100, 60)),
    ],
)  # fmt: skip
def test_read_refuses_memory_of_another_layout(pair, out):
    with pytest.raises(ValueError, match="out"):
        pair[1].read(out=out)


@pytest.mark.parametrize("kind", ["c8", "O", "U3", "f2", "M8[s]"])
def test_cells_are_not_read_as_what_they_cannot_be(pair, kind):
    with pytest.raises(TypeError):
        pair[1].read(dtype=kind)
    with pytest.raises((TypeError, ValueError)):
        pair[1].read(out=np.empty((100, 60), kind))


def test_read_does_not_clip_nor_round(pair, make):
    m = pair[1]
    for rows in (slice(0, 101), (-1, 5), range(99, 102)):
        with pytest.raises(IndexError):
            m.read(rows)
    with pytest.raises(IndexError):
        m.read(slice(0, 10, 2))
    half = make(np.full((4, 4), 0.5))
    with pytest.raises(dp.TypeMismatchError):
        half.read(dtype="i4")
    with pytest.raises(TypeError):
        half.read(7)
    with pytest.raises(ValueError, match="absent"):
        half.read(absent="none")


def test_take_gathers_rows_in_any_order(pair):
    a, m = pair
    rows = np.random.default_rng(2).integers(-100, 100, 300)
    assert np.array_equal(m.take(rows), a[rows])
    assert np.array_equal(m.take(rows, slice(5, 50)), a[rows, 5:50])
    assert np.array_equal(m.take(rows, [3, 3, 59, 0]), a[np.ix_(rows, [3, 3, 59, 0])])
    assert np.array_equal(m.take([4, 2], [True] + [False] * 59), a[[4, 2]][:, :1])
    assert np.array_equal(m.take(a[:, 0] > 0), a[a[:, 0] > 0])
    assert m.take([]).shape == (0, 60)
    out = np.empty((300, 60), "f4")
    assert m.take(rows, out=out) is out
    assert np.array_equal(out, a[rows])
    with pytest.raises(ValueError, match="out"):
        m.take(rows, out=np.empty((299, 60), "f4"))
    with pytest.raises(IndexError):
        m.take([100])


@pytest.mark.parametrize("sparse", [False, True])
def test_strips_are_the_matrix_from_top_to_bottom(make, sparse):
    a = cells((5000, 700), "f8", density=0.05)
    for tile in ((1000, 100), (5000, 700), (3, 700)):
        m = make(a, tile=tile)
        next_row, parts = 0, []
        for rows, part in m.strips(sparse=sparse):
            assert rows.start == next_row and part.flags.writeable if not sparse else True
            assert sp.issparse(part) == sparse
            next_row = rows.stop
            parts.append(part.toarray() if sparse else part)
        assert next_row == 5000
        assert np.array_equal(np.vstack(parts), a)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_sparse_slices_are_what_scipy_gives(make, kind, dtype):
    a = cells((90, 70), dtype)
    m, s = make(a, tile=(32, 16), kind=kind), sp.csr_array(a)
    rows = np.random.default_rng(3).integers(0, 90, 50)
    keys = [
        np.s_[:], np.s_[10:40], np.s_[10:40, 5:60], np.s_[::-1], np.s_[::3, ::-2], rows,
        np.s_[rows, 3:9], np.s_[:, [5, 1, 5]], a[:, 0] > 0, np.s_[0:0], np.s_[..., 4:9],
        np.s_[-99::-1], np.s_[3:9, -99::-2],
    ]  # fmt: skip
    for key in keys:
        got, wanted = m.sparse[key], s[key]
        assert type(got) is sp.csr_array and got.dtype == a.dtype
        assert got.shape == wanted.shape and got.nnz == wanted.nnz
        assert np.array_equal(got.toarray(), wanted.toarray())
        assert got.indices.dtype == got.indptr.dtype == np.int32
        assert got.has_canonical_format and got.data.flags.writeable
        fresh = sp.csr_array((got.data, got.indices, got.indptr), got.shape)
        assert fresh.has_canonical_format
    assert m.sparse[3, 4] == s[3, 4]
    assert np.array_equal(m.sparse[3].toarray(), s[3].toarray())
    assert np.array_equal(m.to_scipy().toarray(), a)
    assert m.to_scipy("csc").format == "csc" and m.to_scipy("coo").format == "coo"
    assert m.sparse.shape == m.shape and m.sparse.dtype == m.dtype


@pytest.fixture
def cut(tmp_path):
    """4 x 4 ones, the last 2 x 2 of which are absent."""
    dp.write(tmp_path / "a.dbdf", np.ones((4, 4)), tile=(2, 2), plain=True, kind="dense", sync=False)
    whole = (tmp_path / "a.dbdf").read_bytes()
    last = dp.open(tmp_path / "a.dbdf").blocks[-1]
    (tmp_path / "cut.dbdf").write_bytes(whole[: last.offset - 16])
    return dp.open(tmp_path / "cut.dbdf")


def test_absent_cells_are_an_error_zero_or_nan(cut):
    m, a = cut, np.ones((4, 4))
    with pytest.raises(LookupError) as caught:
        m[3, 3]
    assert isinstance(caught.value, dp.AbsentError)
    zeros = m.read(absent="zero")
    assert zeros.sum() == 12 and zeros[2:, 2:].sum() == 0
    gaps = m.read(absent="nan")
    assert np.isnan(gaps[2:, 2:]).all() and np.array_equal(gaps[:2], a[:2])
    with pytest.raises(ValueError, match="'error', 'zero' or 'nan'"):
        m.read(absent="none")
    with pytest.raises(TypeError):
        m.read(absent="nan", dtype="i4")


def test_everything_that_reads_takes_absent(cut):
    zeros, gaps = cut.read(absent="zero"), cut.read(absent="nan")
    rows, cols = [3, 0, 3], [2, 1]
    dense = [
        (lambda **o: cut.take(rows, **o), lambda a: a[rows]),
        (lambda **o: cut.take(rows, cols, **o), lambda a: a[np.ix_(rows, cols)]),
        (lambda **o: cut.take(range(4), slice(1, 4), **o), lambda a: a[:, 1:]),
        (lambda **o: cut.cells(rows, [3, 0, 1], **o), lambda a: a[rows, [3, 0, 1]]),
        (lambda **o: np.vstack([part for _, part in cut.strips(**o)]), lambda a: a),
    ]
    sparse = [
        (lambda **o: cut.to_scipy(**o).toarray(), lambda a: a),
        (lambda **o: cut.to_scipy("coo", **o).toarray(), lambda a: a),
        (lambda **o: next(cut.strips(sparse=True, **o)).cells.toarray(), lambda a: a),
        (lambda **o: cut.linear_operator(**o) @ np.arange(4.0), lambda a: a @ np.arange(4.0)),
        (lambda **o: cut.linear_operator(**o).T @ np.ones(4), lambda a: a.T @ np.ones(4)),
    ]
    for read, wanted in dense + sparse:
        with pytest.raises(dp.AbsentError):
            read()
        assert np.array_equal(read(absent="zero"), wanted(zeros))
        with pytest.raises(ValueError, match="'error', 'zero' or 'nan'"):
            read(absent=["zero"])
    for read, wanted in dense:
        assert np.array_equal(read(absent="nan"), wanted(gaps), equal_nan=True)
    for read, _ in sparse:
        with pytest.raises(dp.UnsupportedError):
            read(absent="nan")


def test_take_says_what_is_wrong_with_its_arguments(pair):
    a, m = pair
    rows = [0, 1]
    shape = (2, a.shape[1])
    wrong = [
        (TypeError, "must be a NumPy array, not list", {"out": [1]}),
        (ValueError, r"of the result's shape, \(2, 60\)", {"out": np.empty((3, a.shape[1]))}),
        (ValueError, "contiguous", {"out": np.empty(shape[::-1]).T}),
        (ValueError, "not backwards", {"out": np.empty(shape)[::-1]}),
        (ValueError, "aligned", {"out": np.empty(shape[0] * 480 + 1, "u1")[1:].view("f8").reshape(shape)}),
        (ValueError, "writable", {"out": np.broadcast_to(np.float64(0), shape)}),
        (TypeError, "integers of 8 to 64 bits", {"out": np.empty(shape, "c16")}),
    ]
    for kind, words, options in wrong:
        for cols in (None, list(range(60))):
            with pytest.raises(kind, match=words) as caught:
                m.take(rows, cols, **options)
            assert isinstance(caught.value, dp.Error)
    for words, bad in [("is outside the", [0, len(a)]), (f"row {2**70} is", [2**70]), ("float64", [0.5]), ("'x'", "x"),
                       ("one dimension", [[0, 1]]), ("one entry for each", np.array([True]))]:  # fmt: skip
        with pytest.raises(IndexError, match=words):
            m.take(bad)


def test_take_writes_to_no_rows_that_overlap(pair):
    a, m = pair
    out = np.lib.stride_tricks.as_strided(np.zeros(8000, "f4"), (100, 60), (64 * 4, 4))
    rows = np.arange(100)[::-1]
    for cols in (None, slice(0, 60), list(range(60))):
        assert m.take(rows, cols, out=out) is out and np.array_equal(out, a[::-1])
    overlapping = np.lib.stride_tricks.as_strided(np.zeros(8000, "f4"), (100, 60), (59 * 4, 4))
    for cols in (None, slice(0, 60), list(range(60))):
        with pytest.raises(ValueError, match="overlap"):
            m.take(rows, cols, out=overlapping)


def test_cells_are_gathered_one_by_one(pair):
    a, m = pair
    random = np.random.default_rng(4)
    rows, cols = random.integers(-100, 100, 500), random.integers(-60, 60, 500)
    assert np.array_equal(m.cells(rows, cols), a[rows, cols]) and m.cells(rows, cols).dtype == "f4"
    out = np.empty(500)
    assert m.cells(rows, cols, out=out) is out and np.array_equal(out, a[rows, cols])
    assert m.cells([], []).shape == (0,)
    for kind, words, arguments in [
        (IndexError, "column 60 is outside", ([0], [60])),
        (ValueError, "2 rows and 1 columns", ([0, 1], [0])),
    ]:
        with pytest.raises(kind, match=words):
            m.cells(*arguments)
    for wrong in (np.empty(499), np.empty((500, 1)), np.empty(1000)[::2]):
        with pytest.raises(ValueError, match="500 contiguous"):
            m.cells(rows, cols, out=wrong)


@pytest.mark.parametrize("kind", ["dense", "csr", "coo", "auto"])
def test_where_finds_what_numpy_finds(make, kind):
    a = cells((37, 23), "f8")
    a[3, 4], a[5, 6] = np.nan, -7
    m = make(a, tile=(8, 8), kind=kind)
    conditions = [
        ({"above": 50}, a > 50), ({"at_least": 50.0}, a >= 50), ({"below": 3}, a < 3),
        ({"at_most": np.float32(3)}, a <= 3), ({"equal": -7}, a == -7), ({"nan": True}, np.isnan(a)),
        ({"between": (3, np.int8(9))}, (a >= 3) & (a <= 9)),
    ]  # fmt: skip
    for condition, truth in conditions:
        hits = m.where(**condition)
        order = np.lexsort((hits.cols, hits.rows))
        assert np.array_equal(np.argwhere(truth), np.c_[hits.rows, hits.cols][order])
        assert np.array_equal(hits.values, a[hits.rows, hits.cols], equal_nan=True)
        assert m.count_where(**condition, threads=2) == truth.sum()
        assert np.array_equal(m.rows_where(**condition), truth.any(axis=1))
    assert m.count_where(below=3, nonzero=True) == ((a < 3) & (a != 0)).sum()


def test_where_compares_large_integers_exactly(make):
    m = make(np.array([[2**63, 2**63 + 1]], "u8"))
    assert m.where(above=2**63).cols.tolist() == [1]
    assert m.where(above=float(2**63)).cols.tolist() == [1]
    assert m.count_where(above=-1) == 2 and m.count_where(below=2**70) == 2
    assert m.count_where(below=10**400) == 2 and m.count_where(above=-(10**400)) == 2
    assert m.count_where(above=10**400) == m.count_where(between=(2**64, 10**400)) == 0
    floats = make(np.array([[2.0**70, np.inf]]))
    for odd in (2**70 + 1, 2**70 - 1):
        assert floats.count_where(equal=odd) == 0
    assert floats.count_where(at_least=2**70 + 1) == floats.count_where(above=2**70 + 1) == 1
    assert floats.count_where(at_most=2**70 - 1) == floats.count_where(below=2**70 - 1) == 0
    assert floats.count_where(between=(2**70 - 1, 2**70 + 1)) == 1
    assert floats.count_where(equal=2**70) == floats.count_where(below=10**400) == 1
    assert m.count_where(between=(-1, 2**63 + 1)) == m.count_where(between=(0.5, 2**63 + 1)) == 2


def test_where_takes_one_condition(make):
    m = make(np.eye(3))
    for condition in ({}, {"above": 1, "below": 2}, {"over": 1}, {"above": "1"}, {"between": 1}):
        with pytest.raises(TypeError):
            m.where(**condition)
    with pytest.raises(ValueError):
        m.where(nan=False)


def test_cells_between_those_that_are_picked_are_of_no_account(make, tmp_path):
    a = np.arange(60, dtype="i4").reshape(6, 10)
    a[2, 4] = 70_000
    m = make(a, tile=(3, 10))
    for cols in ([0, 7, 3], [9, 3, 3, 5], [5, -1, 0]):
        out = np.zeros((3, len(cols)), "u2")
        assert np.array_equal(m.take([5, 2, 2], cols, out=out), a[[5, 2, 2]][:, cols])
    with pytest.raises(dp.TypeMismatchError, match=r"70000 in cell \(2, 4\)"):
        m.take([5, 2], [0, 4], out=np.zeros((2, 2), "u2"))
    for at, part in (((0, 0), a[:, :2]), ((0, 5), a[:, 5:])):  # nothing has columns 2, 3 and 4
        dp.dataset.append(tmp_path / "d", part, at=at, sync=False)
    with dp.open(tmp_path / "d") as holes:
        assert np.array_equal(holes[:, [9, 0, 5]], a[:, [9, 0, 5]])
        assert np.array_equal(holes[1:3, ::9], a[1:3, ::9])
        with pytest.raises(dp.AbsentError, match=r"\(0, 3\)"):
            holes[:, [0, 3]]
