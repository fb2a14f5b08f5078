"""Writing: what goes in comes out, and what fails leaves no file."""

import os
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import DTYPES, cells

import pydapple as dp


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_come_back_with_every_bit(make, dtype):
    for a in (cells((70, 50), dtype), cells((70, 50), dtype, density=1)):
        for layout in (a, a[::-1, ::2], np.asfortranarray(a), a.T):
            m = make(layout, tile=(16, 16))
            assert m.dtype == a.dtype and np.array_equal(m[:], layout)


def test_floats_keep_their_bits(make):
    a = np.array([[0.0, -0.0, np.nan, np.inf], [1e-310, -np.inf, 0.1, 2.0**60]])
    assert make(a)[:].tobytes() == a.tobytes()


@pytest.mark.parametrize(
    ("given", "stored"), [("?", "u1"), ("f2", "f4"), (">f8", "f8"), (">i2", "i2"), ("<u4", "u4")]
)
def test_dtypes_that_cells_do_not_have_are_widened(make, given, stored):
    a = cells((9, 9), "i1").astype(given)
    m = make(a)
    assert m.dtype == stored and np.array_equal(m[:], a)


@pytest.mark.parametrize("dtype", ["c16", "O", "U3", "S3", "M8[s]", "m8[s]"])
def test_what_holds_no_numbers_is_refused(tmp_path, dtype):
    with pytest.raises(TypeError, match="dtype"):
        dp.write(tmp_path / "a.dbdf", np.zeros((2, 2), dtype))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("data", [np.zeros(3), np.zeros((2, 2, 2)), 3.5, [1, 2], sp.coo_array(np.ones(3))])
def test_a_matrix_has_two_dimensions(tmp_path, data):
    with pytest.raises(ValueError, match="2 dimensions"):
        dp.write(tmp_path / "a.dbdf", data)


def test_masked_cells_are_refused(tmp_path, make):
    a = np.ma.masked_equal(np.eye(2), 1)
    with pytest.raises(ValueError, match="fill"):
        dp.write(tmp_path / "a.dbdf", a)
    with (
        pytest.raises(ValueError, match="fill"),
        dp.writer(tmp_path / "w.dbdf", (2, 2), "f8", sync=False) as w,
    ):
        w[:] = a
    assert np.array_equal(make(np.ma.array(np.eye(2)))[:], np.eye(2))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "lil", "dok"])
@pytest.mark.parametrize("container", ["array", "matrix"])
def test_sparse_arrays_of_every_form_are_written(make, form, container):
    a = cells((90, 40), "f4", density=0.1)
    s = sp.csr_array(a) if container == "array" else sp.csr_matrix(a)
    m = make(s.asformat(form), tile=(32, 16))
    assert m.dtype == np.float32 and np.array_equal(m[:], a)
    assert dp.info(m.path)["storage"] == "csr"


def test_a_sparse_array_out_of_order_is_written_and_left_as_it_is(make):
    s = sp.csr_array((np.array([1.0, 2, 3]), np.array([3, 1, 3]), np.array([0, 3, 3])), (2, 5))
    m = make(s)
    assert m[0].tolist() == [0, 2, 0, 4, 0]
    assert s.indices.tolist() == [3, 1, 3]


def test_indices_that_are_wrong_are_refused(tmp_path):
    s = sp.csr_array(np.eye(4))
    s.indices[2] = 77
    with pytest.raises(IndexError, match=r"entry \(2, 77\) is outside"):
        dp.write(tmp_path / "a.dbdf", s)
    assert os.listdir(tmp_path) == []


def test_options_are_as_they_are_called(make, tmp_path):
    a = cells((64, 64), "f8")
    assert {b.kind for b in make(a, tile=(16, 16), kind="coo").blocks} == {"coo"}
    assert make(a, narrow=False, kind="dense").blocks[0].stored_dtype == np.float64
    assert make(a, kind="dense").blocks[0].stored_dtype == np.uint8
    assert make(a, align=4096, kind="dense", narrow=False).blocks[0].numpy().ctypes.data % 4096 == 0
    assert make(a, plain=True).index_origin == "scanned"
    assert np.array_equal(make(a, tile=(8, 8), threads=2)[:], a)
    path = make(a).path
    with pytest.raises(ValueError):
        dp.write(path, a)
    dp.write(path, a, overwrite=True)
    for wrong in ({"kind": "best"}, {"align": 3}, {"tile": (0, 4)}):
        with pytest.raises(ValueError):
            dp.write(tmp_path / "wrong.dbdf", a, **wrong)
    with pytest.raises(TypeError):
        dp.write(tmp_path / "wrong.dbdf", a, tiles=(1, 1))
    with pytest.raises(TypeError):
        dp.write(tmp_path / "wrong.dbdf", a, tile=7)


def test_a_writer_takes_pieces_in_any_order(tmp_path):
    a = cells((50, 40), "f8")
    with dp.writer(tmp_path / "w.dbdf", a.shape, "f8", tile=(16, 16), sync=False) as w:
        assert (w.shape, w.dtype, w.chunks, w.ndim) == ((50, 40), np.float64, (16, 16), 2)
        w[32:, :] = a[32:]
        w[:16, 16:] = sp.csr_array(a[:16, 16:])
        w[16:32, :] = a[16:32].astype("f4")
        w[3:16, 0:16] = a[3:16, 0:16]
        assert not (tmp_path / "w.dbdf").exists()
    assert w.summary.bytes == (tmp_path / "w.dbdf").stat().st_size
    a[:3, :16] = 0  # never put
    assert np.array_equal(dp.open(tmp_path / "w.dbdf")[:], a)
    with dp.writer(tmp_path / "c.dbdf", (9, 9), "i4", sync=False) as w:
        w[:] = 7
    assert (dp.open(tmp_path / "c.dbdf")[:] == 7).all()


def test_rows_columns_and_cells_are_put_as_in_numpy(tmp_path):
    a = np.zeros((6, 4))
    with dp.writer(tmp_path / "w.dbdf", a.shape, "f8", tile=(2, 2), sync=False) as w:
        for x in (w, a):
            x[:, 1] = np.arange(6)
            x[2:4, 3] = [7, 8]
            x[4, 2:] = [5, 6]
            x[5, 0] = 9
        with pytest.raises(ValueError, match=r"\(4,\) do not fit a place of \(6,\)"):
            w[:, 0] = np.arange(4)
    assert np.array_equal(dp.open(tmp_path / "w.dbdf")[:], a)


def test_a_writer_refuses_what_does_not_fit(tmp_path):
    path = tmp_path / "w.dbdf"
    w = dp.writer(path, (8, 8), "u1", tile=(4, 4))
    for key, value, error in [
        (np.s_[0:4, 0:4], np.ones((3, 4)), ValueError),
        (np.s_[0:4, 0:4], np.full((4, 4), 300), ValueError),
        (np.s_[0:4, 0:4], np.full((4, 4), 0.5), ValueError),
        (np.s_[::2], np.ones((4, 8)), IndexError),
        (np.s_[[1, 2]], np.ones((2, 8)), IndexError),
        (np.s_[9], np.ones(8), IndexError),
        (np.s_[0:4, 0:4], "text", TypeError),
    ]:
        with pytest.raises(error):
            w[key] = value
    w.abort()
    with pytest.raises(ValueError, match="closed"):
        w[0:4, 0:4] = 1
    assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError), dp.writer(path, (8, 8), "u1", tile=(4, 4)) as w:
        w[0:4, 0:4] = 1
        w[0:4, 0:4] = 2  # the same cells
    assert os.listdir(tmp_path) == []


def test_an_exception_leaves_no_file(tmp_path):
    path = tmp_path / "bad.dbdf"
    with pytest.raises(ZeroDivisionError), dp.writer(path, (4, 4), "f8", tile=(2, 2)) as w:
        w[0:2, 0:2] = np.ones((2, 2))
        1 / 0

    def fail(done, total):
        raise KeyError(done, total)

    with pytest.raises(KeyError):
        dp.write(path, np.ones((4, 4)), progress=fail)
    dp.write(tmp_path / "good.dbdf", np.ones((400, 400)), sync=False)
    with pytest.raises(KeyError):
        dp.convert(tmp_path / "good.dbdf", path, tile=(7, 7), progress=fail)
    assert os.listdir(tmp_path) == ["good.dbdf"]


def test_threads_may_put_at_once(tmp_path):
    a = cells((160, 160), "f8")
    with dp.writer(tmp_path / "t.dbdf", a.shape, "f8", tile=(16, 16), sync=False) as w:

        def put(k):
            w[k * 16 : k * 16 + 16] = a[k * 16 : k * 16 + 16]

        threads = [threading.Thread(target=put, args=(k,)) for k in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert np.array_equal(dp.open(tmp_path / "t.dbdf")[:], a)


def test_a_matrix_is_written_from_a_matrix(make, tmp_path):
    a = cells((50, 40), "f4")
    m = make(a, tile=(16, 16))
    seen = []
    dp.write(tmp_path / "b.dbdf", m, tile=(7, 9), sync=False, progress=lambda *s: seen.append(s))
    b = dp.open(tmp_path / "b.dbdf")
    assert b.chunks == (7, 9) and np.array_equal(b[:], a)
    assert seen[-1] == (50, 50)
    with dp.writer(tmp_path / "c.dbdf", (60, 40), "f8", sync=False) as w:
        w[10:60] = m
    assert np.array_equal(dp.open(tmp_path / "c.dbdf")[10:], a)


def test_what_cannot_be_written_is_refused_in_words(tmp_path):
    a = np.ones((2, 2))
    dp.write(tmp_path / "a.dbdf", a, sync=False)
    with pytest.raises(FileExistsError, match="overwrite=True") as caught:
        dp.write(tmp_path / "a.dbdf", a)
    assert isinstance(caught.value, dp.Error) and caught.value.filename.endswith("a.dbdf")
    with pytest.raises(TypeError, match=r"tile is a pair of integers \(rows, columns\), not 5"):
        dp.write(tmp_path / "b.dbdf", a, tile=5)
    for wrong in (
        lambda: dp.writer(tmp_path / "b.dbdf", (2, 2), "f8", tiles=(1, 1)),
        lambda: dp.frame_writer(tmp_path / "b.dbdf", 2, {"a": "f8"}, tiles=(1, 1)),
    ):
        with pytest.raises(TypeError, match="writing has no option 'tiles'") as option:
            wrong()
        assert isinstance(option.value, dp.Error)
    for shape in (2, (2,), (2.0, 2), (2, 2, 2)):
        with pytest.raises(TypeError, match="shape is a pair of integers"):
            dp.writer(tmp_path / "b.dbdf", shape, "f8")
    for wrong in (
        lambda: dp.writer(tmp_path / "b.dbdf", (-2, 2), "f8"),
        lambda: dp.frame_writer(tmp_path / "b.dbdf", -2, {"a": "f8"}),
    ):
        with pytest.raises(ValueError, match="-2 is no number of rows"):
            wrong()
    with pytest.raises(TypeError, match="neither a matrix nor a table"):
        dp.write(tmp_path / "b.dbdf", "hello")


def test_sparse_arrays_get_wide_tiles(make):
    scipy = pytest.importorskip("scipy.sparse")
    s = scipy.random_array((9000, 3000), density=0.01, format="csr", rng=0)
    m = make(s)
    assert m.chunks[1] == 3000 and m.file_bytes < 2 * s.nnz * 12
    assert np.array_equal(m.sparse[[8999, 0]].toarray(), s[[8999, 0]].toarray())
    assert make(scipy.csr_array((5, 0))).shape == (5, 0)
