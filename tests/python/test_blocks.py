"""Blocks: views where the bytes permit them, and views that outlive everything."""

import gc

import numpy as np
import pytest
from conftest import cells

import pydapple as dp


@pytest.fixture
def dense(make):
    a = cells((8, 6), "f8", density=1)
    return a, make(a, tile=(4, 3), kind="dense", narrow=False)


def test_blocks_tell_what_they_are(make):
    a = np.zeros((4, 6))
    a[0, 0] = 1.5
    m = make(a, tile=(2, 3))
    assert [b.kind for b in m.blocks] == ["coo", "empty", "empty", "empty"]
    first = m.blocks[0]
    assert (first.pos, first.shape, first.dtype, first.nnz) == ((0, 0), (2, 3), np.float64, 1)
    assert first.nbytes > 0 and first.offset > 0
    assert len(m.blocks) == 4 and m.blocks[-1].pos == (2, 3) and len(m.blocks[1:3]) == 2
    assert m.tile(1, 1).pos == m.block(2, 3).pos == m.cover(3, 5).pos == m.cover(-1, -1).pos
    for wrong in (lambda: m.blocks[4], lambda: m.tile(2, 0), lambda: m.cover(4, 0)):
        with pytest.raises(IndexError):
            wrong()
    with pytest.raises(LookupError):
        m.block(1, 1)


def test_a_view_is_read_only_and_of_the_file(dense):
    a, m = dense
    for b in m.blocks:
        (r, c), (h, w) = b.pos, b.shape
        view = b.numpy()
        assert np.array_equal(view, a[r : r + h, c : c + w])
        assert not view.flags.writeable and view.flags.aligned and view.base is b
        assert np.shares_memory(view, b.numpy(copy=False))
        copy = b.numpy(copy=True)
        assert copy.flags.writeable and not np.shares_memory(copy, view)
        with pytest.raises(ValueError):
            view[0, 0] = 1


@pytest.mark.parametrize(
    "options", [{"kind": "csr"}, {"kind": "coo"}, {"narrow": True, "kind": "dense"}]
)
def test_what_is_stored_otherwise_is_copied_or_refused(make, options):
    a = cells((5, 7), "f8")
    b = make(a, **options).blocks[0]
    assert np.array_equal(b.numpy(), a) and b.numpy().flags.writeable
    with pytest.raises(ValueError, match="copy"):
        b.numpy(copy=False)
    with pytest.raises(BufferError):
        memoryview(b)
    assert np.array_equal(np.asarray(b), a)
    assert np.array_equal(b.to_scipy().toarray(), a)


def test_values_that_are_not_aligned_are_viewed_on_request_only(make):
    a = cells((5, 7), "f8", density=1)
    b = make(a, plain=True, kind="dense", narrow=False).blocks[0]
    assert b.numpy().flags.writeable  # a copy
    with pytest.raises(ValueError, match="aligned"):
        b.numpy(copy=False)
    view = b.numpy(copy=False, aligned=False)
    assert not view.flags.aligned and np.array_equal(view, a)


def test_the_buffer_protocol_gives_the_view(dense):
    a, m = dense
    b = m.blocks[0]
    with memoryview(b) as view:
        assert view.readonly and view.shape == (4, 3) and view.format == "d"
        assert view.tolist() == a[:4, :3].tolist()
    assert np.shares_memory(np.asarray(b), b.numpy())


def test_dlpack_is_read_only(dense):
    a, m = dense
    b = m.blocks[0]
    view = np.from_dlpack(b)
    assert np.array_equal(view, a[:4, :3]) and not view.flags.writeable
    assert b.__dlpack_device__() == (1, 0)


def test_asarray_without_a_copy_needs_one_dense_tile(make):
    a = cells((8, 6), "f8", density=1)
    m = make(a, kind="dense", narrow=False)
    view = np.asarray(m, copy=False)
    assert not view.flags.writeable and np.array_equal(view, a)
    several = make(a, tile=(4, 3), kind="dense", narrow=False)
    with pytest.raises(ValueError):
        np.asarray(several, copy=False)
    with pytest.raises(ValueError):
        np.asarray(m, dtype="f4", copy=False)
    assert np.asarray(m).flags.writeable


def test_views_outlive_the_matrix_and_the_file(dense, tmp_path):
    a, m = dense
    block = m.blocks[0]
    view, dlpack, buffer = block.numpy(), np.from_dlpack(block), memoryview(block)
    dp.write(m.path, np.zeros((2, 2)), overwrite=True, sync=False)
    m.close()
    del m, block
    gc.collect()
    assert np.array_equal(view, a[:4, :3])
    assert np.array_equal(dlpack, a[:4, :3])
    assert buffer.tolist() == a[:4, :3].tolist()


def test_a_closed_matrix_says_so(dense):
    _, m = dense
    block = m.blocks[0]
    with m:
        pass
    assert m.closed and "closed" in repr(m)
    m.close()
    for use in (lambda: m[0, 0], lambda: m[:], lambda: m.shape, lambda: m.read(), lambda: m.nnz,
                lambda: m.blocks[0], lambda: m.tile(0, 0), lambda: m.to_scipy()):  # fmt: skip
        with pytest.raises(ValueError, match="closed"):
            use()
    assert block.numpy().shape == (4, 3)
