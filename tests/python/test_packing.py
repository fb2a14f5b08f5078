"""Packed files: pack= of everything that writes, and every way to cells beside the plain file."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import DTYPES, cells

import pydapple as dp

PACKS = ["fast", "small"]


def packed_and_plain(make, data, pack, **options):
    """The same data in both; the packed file is the smaller one."""
    plain, packed = make(data, **options), make(data, pack=pack, **options)
    assert os.path.getsize(packed.path) < os.path.getsize(plain.path)
    return packed, plain


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_packed_cells_keep_every_bit(make, dtype, pack):
    a = np.arange(60000).reshape(300, 200).astype(dtype)
    packed, plain = packed_and_plain(make, a, pack, tile=(128, 128))
    assert packed[:].tobytes() == plain[:].tobytes() == a.tobytes()
    assert np.array_equal(packed[17:250:3, 5:190], a[17:250:3, 5:190])
    scattered = cells((300, 200), dtype)
    assert make(scattered, pack=pack, tile=(128, 128))[:].tobytes() == scattered.tobytes()


def test_packed_floats_keep_minus_zero_and_payloads_of_nans(make):
    a = np.tile(np.array([0.25, -0.0, 17.5, np.nan]), (400, 25))
    a[::7, 3] = np.frombuffer(np.uint64(0x7FF80000000007A2).tobytes())[0]
    for pack in PACKS:
        packed, _ = packed_and_plain(make, a, pack)
        assert packed[:].tobytes() == a.tobytes()


@pytest.mark.parametrize("pack", PACKS)
def test_rows_products_and_searches_of_packed_sparse_files(make, pack):
    s = sp.random_array((500, 900), density=0.1, rng=np.random.default_rng(4), format="csr")
    s.data = np.ceil(s.data * 5)
    m, _ = packed_and_plain(make, s, pack, tile=(100, 900))
    a = s.toarray()
    rows = np.random.default_rng(1).integers(0, 500, 200)
    assert (m.to_scipy() != s).nnz == 0
    assert (m.sparse[rows] != s[rows]).nnz == 0
    assert (m.sparse[20:300, 30:500] != s[20:300, 30:500]).nnz == 0
    assert np.array_equal(m.take(rows), a[rows])
    assert np.array_equal(m.take_columns([5, 800, 5]).toarray(), a[:, [5, 800, 5]])
    x = np.arange(900.0)
    assert np.array_equal(m.linear_operator() @ x, a @ x)
    stats = m.stats(axis=0)
    assert np.allclose(stats.mean, a.mean(axis=0)) and np.allclose(stats.var, a.var(axis=0))
    assert m.count_where(above=3.0) == (a > 3).sum()
    assert not dp.verify(m.path, payload=True).findings


def test_views_of_packed_tiles_say_that_they_cannot(make):
    m = make(np.tile(np.arange(100.0), (100, 1)), kind="dense", narrow=False, pack="fast")
    block = m.blocks[0]
    assert np.array_equal(block.numpy(), m[:])
    with pytest.raises(ValueError, match=r"cop|view|place"):
        block.numpy(copy=False)
    with pytest.raises(ValueError, match=r"cop|view|place"):
        np.asarray(block, copy=False)


def test_tables_with_packed_words(tmp_path):
    words = np.array([f"word {k}" for k in np.random.default_rng(2).permutation(20000)], object)
    words[3] = None
    table = {"w": words, "n": np.arange(20000), "x": np.where(np.arange(20000) % 9, 0.5, np.nan)}
    dp.write(tmp_path / "p.dbdf", table, sync=False)
    for pack in PACKS:
        dp.write(tmp_path / "t.dbdf", table, pack=pack, overwrite=True, sync=False)
        size = (tmp_path / "t.dbdf").stat().st_size
        assert size < (tmp_path / "p.dbdf").stat().st_size / 2
        f = dp.open(tmp_path / "t.dbdf")
        assert f["w"].tolist() == words.tolist()
        assert np.array_equal(f["x"], table["x"], equal_nan=True)
        assert not dp.verify(f.path, payload=True).findings


def test_whatever_writes_packs(make, tmp_path):
    a = np.tile(np.arange(200.0), (100, 1))
    with dp.writer(tmp_path / "w.dbdf", a.shape, "f8", pack="fast", sync=False) as w:
        w[:] = a
    dp.convert(make(a), tmp_path / "c.dbdf", pack="small", sync=False)
    for name in ("w", "c"):
        m = dp.open(tmp_path / f"{name}.dbdf")
        assert np.array_equal(m[:], a) and os.path.getsize(m.path) < a.nbytes / 20
    with pytest.raises(ValueError, match="fast"):
        make(a, pack="best")
    with pytest.raises(ValueError, match="plain"):
        make(a, pack="fast", plain=True)


@pytest.mark.parametrize("pack", ["fast", "small"])
def test_packed_files_are_put_together(tmp_path, pack):
    cells = np.where(np.arange(44 * 21).reshape(44, 21) % 12 == 0, 7, 0).astype("i1")
    dp.write(tmp_path / "a.dbdf", cells, tile=(22, 22), kind="csr", pack=pack)
    for axis in (0, 1):
        out = tmp_path / f"{axis}.dbdf"
        dp.concat([tmp_path / "a.dbdf"] * 2, out, axis=axis, tile=(25, 25), pack=pack)
        np.testing.assert_array_equal(dp.open(out)[:], np.concatenate([cells, cells], axis))


def test_estimate_packing_is_what_a_small_file_takes(make, tmp_path):
    s = sp.random_array((300, 900), density=0.2, rng=np.random.default_rng(5), format="csr")
    s.data = np.ceil(s.data * 5)
    m = make(s)
    for pack in PACKS:
        plain, packed = dp.estimate_packing(m.path, pack)
        dp.convert(m, tmp_path / f"{pack}.dbdf", pack=pack)
        assert packed == os.path.getsize(tmp_path / f"{pack}.dbdf") < plain
        assert (plain, packed) == dp.estimate_packing(m, pack)
    dp.convert(m, tmp_path / "plain.dbdf")
    assert plain == os.path.getsize(tmp_path / "plain.dbdf")
    with pytest.raises(dp.InvalidArgumentError, match="'none'"):
        dp.estimate_packing(m.path, "none")


@pytest.mark.parametrize("pack", [None, "fast", "small"])
@pytest.mark.parametrize("kind", ["csr", "coo", "dense"])
def test_a_value_that_does_not_fit_is_told_of_few_rows_of_a_tile(make, kind, pack):
    a = np.zeros((40, 30), "u4")
    a[:, ::3] = np.arange(400).reshape(40, 10) + 1
    a[17, 6] = 70_000
    m = make(a, kind=kind, pack=pack, tile=(40, 30))
    for rows in ((16, 19), (17, 18), (0, 40)):
        with pytest.raises(dp.TypeMismatchError, match=r"70000 in cell \(17, 6\) does not fit"):
            m.read(rows, dtype="u2")
        assert np.array_equal(m.read(rows), a[slice(*rows)])
    assert np.array_equal(m.read((18, 22), dtype="u2"), a[18:22])
