"""Slicing is NumPy's, whatever the tiles are stored as."""

import numpy as np
import pytest
from conftest import DTYPES, KINDS, cells

import pydapple as dp

SHAPE = (23, 17)
KEYS = {
    "cell": np.s_[3, 4],
    "negative cell": np.s_[-1, -17],
    "numpy integers": np.s_[np.int64(3), np.uint8(4)],
    "row": np.s_[5],
    "last row": np.s_[-1],
    "column": np.s_[:, 6],
    "part of a row": np.s_[5, 2:9],
    "part of a column": np.s_[5:19, -2],
    "all": np.s_[:],
    "rectangle": np.s_[4:21, 3:16],
    "one tile": np.s_[8:16, 5:10],
    "beyond the end": np.s_[20:99, 15:99],
    "empty": np.s_[0:0],
    "empty columns": np.s_[:, 9:3],
    "backwards": np.s_[::-1, ::-1],
    "backwards from": np.s_[10:3:-1, 4],
    "backwards from before the first": np.s_[-99::-1, :],
    "steps": np.s_[1::3, ::2],
    "backward steps": np.s_[::-4, ::-3],
    "step past the end": np.s_[::100],
    "ellipsis": np.s_[...],
    "ellipsis first": np.s_[..., -1],
    "ellipsis last": np.s_[2, ...],
    "ellipsis between": np.s_[2, ..., 3],
    "empty tuple": (),
    "one-tuple": (3,),
    "array of no axes": (2, np.array(3)),
    "list": np.s_[[2, 0, 2]],
    "negative list": np.s_[[-1, 0, -23]],
    "empty list": np.s_[[]],
    "list of columns": np.s_[:, [4, 4, 0, 16]],
    "list and integer": np.s_[[3, 1], 2],
    "list and slice": np.s_[[3, 1], 2:7],
    "list and backwards": np.s_[[3, 1], ::-1],
    "slice and list": np.s_[3:9, [5, 1]],
    "steps and list": np.s_[::-2, [5, 1]],
    "unsigned array": np.array([3, 1], np.uint16),
    "Booleans": np.arange(23) % 3 == 0,
    "no Booleans": np.zeros(23, bool),
    "list of Booleans": [True] + [False] * 22,
    "Boolean columns": (slice(None), np.arange(17) % 2 == 1),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_key_gives_what_numpy_gives(make, kind, dtype):
    a = cells(SHAPE, dtype)
    m = make(a, tile=(8, 5), kind=kind)
    assert m.dtype == a.dtype
    for name, key in KEYS.items():
        got, wanted = m[key], a[key]
        assert type(got) is type(wanted), name
        assert got.dtype == a.dtype, name
        assert np.array_equal(got, wanted), name
        if isinstance(got, np.ndarray):
            assert got.flags.writeable and got.flags.aligned, name


def test_a_matrix_in_another_format_is_sliced_the_same(tmp_path):
    a = cells(SHAPE, "f8")
    np.save(tmp_path / "a.npy", a)
    dp.convert(tmp_path / "a.npy", tmp_path / "a.csv")
    dp.convert(tmp_path / "a.npy", tmp_path / "a.mtx")
    for name in ("a.npy", "a.csv", "a.mtx"):
        m = dp.open(tmp_path / name)
        if isinstance(m, dp.Frame):
            continue
        for key in KEYS.values():
            assert np.array_equal(m[key], a[key]), name


def test_a_slice_is_the_readers_own(make):
    a = cells(SHAPE, "f8", density=1)
    m = make(a)
    part = m[2:4]
    part[:] = -1
    assert np.array_equal(m[2:4], a[2:4])


@pytest.mark.parametrize(
    "key",
    [
        23, -24, np.s_[0, 17], np.s_[0, -18], np.s_[1, 2, 3], np.s_[..., 1, ...], [23], [-24],
        np.s_[:, [17]], None, np.s_[None, 1], "a", b"a", 1.5, np.float64(1), True,
        np.s_[[1, 2], [1, 2]], np.ones(22, bool), np.ones(SHAPE, bool), [[1, 2]], [1.5], 2**70,
        np.array([2**63], np.uint64),
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_index_raises_index_error(make, key):
    m = make(cells(SHAPE, "f8"))
    with pytest.raises(IndexError):
        m[key]


def test_a_slice_of_floats_is_a_type_error_as_in_numpy(make):
    m = make(cells(SHAPE, "f8"))
    for key in (np.s_[1.5:3], np.s_[::0.5], np.s_["a":]):
        for read in (m.__getitem__, m.read, m.sparse.__getitem__):
            with pytest.raises(TypeError) as caught:
                read(key)
            assert isinstance(caught.value, dp.Error)
    with pytest.raises(ValueError, match="zero") as zero:
        m[::0]
    assert isinstance(zero.value, dp.Error)


def test_an_index_error_is_dapples_own_and_says_what_is_wrong(make):
    m = make(np.ones((3, 4)))
    with pytest.raises(dp.Error, match="row 3 is outside the 3 x 4 matrix") as caught:
        m[3]
    assert caught.value.code == "out_of_range"
    with pytest.raises(IndexError, match="take"):
        m[[0], [0]]


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_a_matrix_without_cells_is_sliced_too(make, shape):
    m = make(np.empty(shape, "f4"))
    a = np.empty(shape, "f4")
    assert m.shape == shape and m.size == 0 and m.nbytes == 0
    for key in (np.s_[:], np.s_[::-1], np.s_[0:3, 1:2], np.s_[[]], np.s_[:, []]):
        assert m[key].shape == a[key].shape
    assert m.to_scipy().shape == shape
    assert list(m.blocks) == []
    with pytest.raises(IndexError):
        m[0, 0]


def test_a_matrix_looks_like_an_array(make):
    a = cells((50, 40), "i4")
    m = make(a, tile=(16, 16))
    assert (m.ndim, m.shape, m.size, m.nbytes) == (2, (50, 40), 2000, 8000)
    assert (m.chunks, m.grid, len(m)) == ((16, 16), (4, 3), 50)
    assert np.array_equal(np.asarray(m), a)
    assert np.asarray(m, dtype="f8").dtype == np.float64
    assert np.array_equal(list(m), a)
    assert m.sum() == a.sum() if hasattr(m, "sum") else np.sum(m) == a.sum()
    assert not hasattr(m, "copy") and not hasattr(m, "__array_function__")
    assert not hasattr(m, "__array_interface__")


def test_a_matrix_of_more_rows_than_an_index_can_be_is_not_opened(tmp_path):
    with dp.writer(tmp_path / "huge.dbdf", (2**63 + 5, 3), "f8", tile=(2**31, 3), sync=False) as w:
        w.abort()
    path = tmp_path / "tall.dbdf"
    # A header alone, of 2^63 + 5 rows, without a block.
    header = bytes([1, 1]) + (2**63 + 5).to_bytes(8, "little") + (3).to_bytes(8, "little") + bytes([10])
    path.write_bytes(header)
    with pytest.raises(dp.UnsupportedError):
        dp.open(path)


@pytest.mark.parametrize("rows", [np.s_[:], np.s_[::-1], np.s_[100:731], np.s_[5:5]])
@pytest.mark.parametrize("tile", [(64, 40), (1000, 7)])
def test_many_columns_of_sparse_rows_are_picked_strip_by_strip(make, monkeypatch, rows, tile):
    from pydapple import fetch

    monkeypatch.setattr(fetch, "_STRIP", 1000)
    a = cells((1000, 40), "f4") * (np.arange(40_000).reshape(1000, 40) % 3 == 0)
    m = make(a, tile=tile)
    for cols in ([3, 39, 0, 3] * 20, list(range(1, 40)), np.arange(40) % 7 > 1, []):
        part = m.sparse[rows, cols]
        assert np.array_equal(part.toarray(), a[rows][:, cols])
        assert part.dtype == a.dtype and part.has_canonical_format
