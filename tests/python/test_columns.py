"""Columns at random, the copy by column that makes them fast, and matrices turned round."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import DTYPES, KINDS, cells

import pydapple as dp

COPIED = [False, True]
LISTS = [
    [3, 7, 7, 1], [], [69], [-1, 0, -70, 5, 5], np.arange(70)[::-1], np.array([2, 1], "u1"), range(3, 9),
    np.arange(70) % 9 == 4, [False] * 70, [True] * 70, np.tile(np.arange(70), 3),
]  # fmt: skip


SLICES = [slice(0, 3), slice(None, None, -1), slice(-5, 99), slice(5, 2), slice(3, 60, 7)]


def copied(m):
    """The same file, opened with a copy by column beside it."""
    assert dp.index(m.path, columns=True, sync=False) == m.path + ".dpc"
    return dp.open(m.path)


def same(got, wanted):
    assert got.shape == wanted.shape and got.dtype == wanted.dtype and got.nnz == wanted.nnz
    assert np.array_equal(got.toarray(), wanted.toarray())
    assert got.has_canonical_format and got.data.flags.writeable
    assert got.indices.dtype == got.indptr.dtype == np.int32
    assert type(got)((got.data, got.indices, got.indptr), got.shape).has_canonical_format


@pytest.mark.parametrize("copy", COPIED)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_columns_in_any_order_are_what_numpy_gives(make, kind, dtype, copy):
    a = cells((90, 70), dtype)
    m, s = make(a, tile=(32, 16), kind=kind), sp.csc_array(a)
    m = copied(m) if copy else m
    for cols in LISTS:
        picked = list(cols) if isinstance(cols, range) else cols
        wanted = s[:, np.asarray(picked, None if len(picked) else int)]
        for threads in (1, 2):
            got = m.take_columns(cols, threads=threads)
            assert type(got) is sp.csc_array
            same(got, wanted)
        rows = m.sparse[:, cols]
        assert type(rows) is sp.csr_array
        same(rows, wanted.tocsr())
        same(m.sparse[::-1, cols], wanted.tocsr()[::-1])
        same(m.sparse[4:20, cols], wanted.tocsr()[4:20])
        assert np.array_equal(m[:, cols], wanted.toarray())
    same(m.sparse[:, ::-11], sp.csr_array(a)[:, ::-11])
    assert np.array_equal(m.sparse[:, 5].toarray(), s[:, 5].toarray())
    assert np.array_equal(m[:, 5], a[:, 5])


@pytest.mark.parametrize("copy", COPIED)
def test_few_columns_of_many_rows(make, copy):
    a = cells((20_000, 300), "f4", density=0.02)
    a[7::500, ::3] = -0.0
    m = make(a, tile=(4096, 300))
    m = copied(m) if copy else m
    cols = np.random.default_rng(3).integers(-300, 300, 20)
    assert np.array_equal(m.take_columns(cols).toarray(), a[:, cols])
    assert np.array_equal(m.sparse[:, cols].toarray(), a[:, cols])
    assert np.array_equal(m.sparse[::-1, cols].toarray(), a[::-1, cols])
    assert np.array_equal(m[:, cols], a[:, cols]) and np.array_equal(m[::-1, cols], a[::-1, cols])
    assert np.array_equal(np.signbit(m[:, cols]), np.signbit(a[:, cols]))
    assert np.array_equal(m.take(range(20_000), cols), a[:, cols])
    assert np.array_equal(m.sparse[:, 7].toarray().ravel(), a[:, 7])
    assert np.array_equal(m.sparse[:, 9:11].toarray(), a[:, 9:11])
    wide = np.empty((20_000, 20))
    assert np.array_equal(m.take(range(20_000), cols, out=wide), a[:, cols])


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_columns_of_a_matrix_without_cells(make, shape):
    m = make(np.empty(shape))
    assert m.take_columns([]).shape == (shape[0], 0)
    assert m.take_columns(np.ones(shape[1], bool)).shape == shape


@pytest.mark.parametrize("copy", COPIED)
def test_take_columns_says_what_is_wrong(make, copy):
    m = make(cells((20, 9), "f8"))
    m = copied(m) if copy else m
    for words, bad in [
        ("column 9 is outside the 9 columns", [0, 9]), ("column -10", [-10]), ("float64", [0.5]),
        ("one dimension", [[0]]), ("one entry for each of the 9", [True]), (f"{2**70}", [2**70]), ("'x'", "x"),
    ]:  # fmt: skip
        for take in (m.take_columns, lambda cols: m.sparse[:, cols]):
            with pytest.raises(IndexError, match=words) as caught:
                take(bad)
            assert isinstance(caught.value, dp.Error)
    with pytest.raises(ValueError, match="'error', 'zero' or 'nan'"):
        m.take_columns([0], absent="none")
    m.close()
    for use in (lambda: m.take_columns([0]), lambda: m.sparse[:, [0]], lambda: m.column_copy):
        with pytest.raises(ValueError, match="closed"):
            use()


def test_absent_cells_are_an_error_or_zero(tmp_path):
    dp.write(tmp_path / "a.dbdf", np.ones((4, 4)), tile=(2, 2), plain=True, kind="dense", sync=False)
    whole = (tmp_path / "a.dbdf").read_bytes()
    last = dp.open(tmp_path / "a.dbdf").blocks[-1]
    (tmp_path / "cut.dbdf").write_bytes(whole[: last.offset - 16])
    m = dp.open(tmp_path / "cut.dbdf")
    with pytest.raises(dp.AbsentError):
        m.take_columns([3, 1])
    assert m.take_columns([3, 1], absent="zero").toarray().tolist() == [[1, 1]] * 2 + [[0, 1]] * 2
    assert np.isnan(m.take(range(4), [3, 0], absent="nan")[2:, 0]).all()
    with pytest.raises(dp.UnsupportedError):
        m.take_columns([3], absent="nan")
    with pytest.raises(dp.AbsentError):
        dp.index(m.path, columns=True, sync=False)
    assert m.column_copy == "none" and not os.path.exists(m.path + ".dpc")


def test_a_copy_is_none_fresh_stale_or_damaged(make):
    a = cells((50, 40), "f4")
    m = make(a, tile=(16, 16))
    assert m.column_copy == "none" and "column_copy" not in dp.info(m.path)
    seen = []
    assert dp.index(m.path, columns=True, threads=2, progress=lambda *p: seen.append(p)) == m.path + ".dpc"
    assert seen and all(0 <= done <= total for done, total in seen)
    assert not dp.verify(m.path, payload=True).findings
    assert m.column_copy == dp.info(m.path)["column_copy"] == "fresh"
    copy = dp.open(m.path + ".dpc")
    assert copy.shape == (40, 50) and np.array_equal(copy[:], a.T)

    with open(copy.path, "r+b") as file:  # the tag of the hint
        where = (whole := file.read()).index(b"DPL-COPY")
        file.seek(where + 8)
        file.write(b"\xff")
    damaged = dp.open(m.path)
    assert damaged.column_copy == "damaged" and dp.verify(m.path).findings
    assert np.array_equal(damaged.take_columns([5, 1]).toarray(), a[:, [5, 1]])

    with open(copy.path, "wb") as file:
        file.write(whole)
    assert dp.open(m.path).column_copy == "fresh"
    dp.write(m.path, -a, overwrite=True, sync=False)
    stale = dp.open(m.path)
    assert stale.column_copy == dp.info(m.path)["column_copy"] == "stale"
    assert np.array_equal(stale.take_columns([5, 1]).toarray(), -a[:, [5, 1]])
    assert np.array_equal(stale.sparse[:, [5, 1]].toarray(), -a[:, [5, 1]])
    assert np.array_equal(copied(stale).take_columns([5]).toarray(), -a[:, [5]])


def test_blocks_of_a_copy_that_are_damaged_are_passed_over(make):
    a = cells((3000, 40), "f8", density=1)
    m = make(a)
    copied(m)
    first = dp.open(m.path + ".dpc").blocks[0]
    with open(m.path + ".dpc", "r+b") as file:
        file.seek(first.offset + first.nbytes // 2)
        file.write(b"\xff" * 64)
    checked = dp.open(m.path, check="always")
    assert checked.column_copy == "fresh" and dp.verify(m.path, payload=True).findings
    assert np.array_equal(checked.take_columns([5, 1, 5]).toarray(), a[:, [5, 1, 5]])
    assert np.array_equal(checked[:, 3], a[:, 3])


def test_an_open_matrix_finds_a_copy_that_is_written_before_it_needs_one(make):
    a = cells((50, 40), "f4")
    m = make(a)
    copied(m)
    assert np.array_equal(m.take_columns([9, 9, 2]).toarray(), a[:, [9, 9, 2]])
    assert dp.index(m.path, columns=True, sync=False) == m.path + ".dpc"  # in place of the old one


def test_index_of_columns_refuses_what_has_none(make, there, tmp_path):
    m, f = make(np.eye(3)), there({"a": np.arange(3.0)})
    with pytest.raises(dp.UnsupportedError, match="frame"):
        dp.index(f.path, columns=True)
    assert not hasattr(f, "take_columns") and not hasattr(f, "column_copy")
    (tmp_path / "a.csv").write_text("1,2\n3,4\n")
    with pytest.raises(dp.UnsupportedError, match="text"):
        dp.index(tmp_path / "a.csv", columns=True)
    with pytest.raises(FileNotFoundError):
        dp.index(tmp_path / "none", columns=True)
    with pytest.raises(dp.InvalidArgumentError, match="statistics"):
        dp.index(m.path, columns=True, statistics=True)
    with pytest.raises(dp.InvalidArgumentError, match="columns=True"):
        dp.index(m.path, sync=False)
    np.save(tmp_path / "a.npy", np.eye(3)[:2])
    assert dp.index(tmp_path / "a.npy", columns=True) == str(tmp_path / "a.npy.dpc")
    assert dp.open(tmp_path / "a.npy").column_copy == "fresh"


@pytest.mark.parametrize("dtype", ["u1", "i8", "f4", "f8"])
@pytest.mark.parametrize("kind", KINDS)
def test_convert_turns_a_matrix_round(make, tmp_path, kind, dtype):
    a = cells((90, 70), dtype)
    m = make(a, tile=(32, 16), kind=kind)
    out = tmp_path / "t.dbdf"
    dp.convert(m, out, transpose=True, sync=False)
    t = dp.open(out)
    assert t.dtype == a.dtype and np.array_equal(t[:], a.T)
    assert not dp.verify(out, payload=True).findings
    dp.convert(m.path, out, transpose=True, rows=(3, 80), cols=(5, 6), threads=2, overwrite=True, sync=False)
    assert np.array_equal(dp.open(out)[:], a[3:80, 5:6].T)


def test_what_cannot_be_turned_round_is_refused(make, there, tmp_path):
    m, f = make(np.eye(3)), there({"a": np.arange(3.0)})
    with pytest.raises(dp.Error):
        dp.convert(f, tmp_path / "f.dbdf", transpose=True)
    with pytest.raises(dp.Error):
        dp.convert(m, tmp_path / "m.npy", transpose=True)
    with pytest.raises(dp.InvalidArgumentError, match="transpose"):
        dp.convert(m, tmp_path / "m.npz", transpose=True)
    assert not list(tmp_path.glob("[fm].*[!f]"))


@pytest.mark.parametrize("copy", COPIED)
def test_rows_and_columns_are_taken_by_slices(make, copy):
    a = cells((70, 70), "f4")
    m = make(a, tile=(32, 16))
    m = copied(m) if copy else m
    for part in SLICES:
        same(m.take_columns(part), sp.csc_array(a[:, part]))
        assert np.array_equal(m.take(part), a[part]) and np.array_equal(m.take(part, part), a[part, part])
    for call in (m.take, m.take_columns):
        with pytest.raises(dp.InvalidIndexError, match="picked by a slice, or one array"):
            call(None)
    with pytest.raises(dp.InvalidIndexError, match="picked by one array"):
        m.cells(slice(0, 3), [1, 2, 3])
