#!/usr/bin/env python3
"""Archives of NumPy and SciPy (.npz), read by dapple.

    npz.py DAPPLE

Each file is converted to .npy, and the cells compared; a part that lacks SciPy is skipped."""

import sys

from archives import TYPES, cells, copy_by_column, dapple, matrices, np, refusal, sparse
from checks import Skip, run_checks


def check_npz_of_one_array(folder):
    for number, kind in enumerate(TYPES):
        array = np.arange(60).reshape(12, 5).astype(kind)
        save = np.savez if number % 2 else np.savez_compressed
        save(folder / "a.npz", array)
        out = cells(folder / "a.npz")
        assert out.dtype == array.dtype and (out == array).all()


def check_npz_of_several_arrays(folder):
    a, b = np.arange(6.0).reshape(2, 3), np.arange(5)
    for save in (np.savez, np.savez_compressed):
        save(folder / "s.npz", first=a, second=b)
        assert (cells(folder / "s.npz", "--array", "first") == a).all()
        assert (cells(folder / "s.npz", "--array", "second")[:, 0] == b).all()
        text = refusal(folder / "s.npz")
        assert "first, second" in text and "--array" in text, text


def check_npz_copy_by_column(folder):
    x = np.random.default_rng(7).integers(0, 9, (700, 30)).astype("f8")
    np.savez(folder / "c.npz", x=x, y=x + 1)
    copy_by_column(folder / "c.npz", x, x + 1)
    np.savez_compressed(folder / "c.npz", x=x)
    told = dapple("index", "--columns", folder / "c.npz", status=1)
    assert "compressed" in told and "convert" in told, told


def check_npz_of_records(folder):
    records = np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")])
    np.savez(folder / "r.npz", records)
    assert dapple("convert", folder / "r.npz", "-", "--to", "csv") == "a,b\n1,2.5\n3,4.5\n"


def check_npz_of_scipy(folder):
    if sparse is None:
        raise Skip("SciPy")
    for matrix in matrices():
        dense = matrix.toarray()
        for kind in ("csr", "csc", "coo"):
            for compressed in (True, False):
                sparse.save_npz(folder / "m.npz", matrix.asformat(kind), compressed)
                out = cells(folder / "m.npz")
                assert out.shape == dense.shape and (out == dense).all(), (kind, compressed)
    wide = sparse.csr_matrix(matrix)
    wide.indices, wide.indptr = wide.indices.astype("i8"), wide.indptr.astype("i8")
    sparse.save_npz(folder / "m.npz", wide)
    assert (cells(folder / "m.npz") == wide.toarray()).all()


def check_npz_of_unordered_coordinates(folder):
    if sparse is None:
        raise Skip("SciPy")
    order = np.random.default_rng(1).permutation(1000)
    matrix = sparse.coo_matrix((np.arange(1, 1001.0), (order % 50, order // 50)), (50, 20))
    sparse.save_npz(folder / "c.npz", matrix, compressed=False)
    assert (cells(folder / "c.npz") == matrix.toarray()).all()


def check_npz_refusals(folder):
    if sparse is None:
        raise Skip("SciPy")
    twice = sparse.coo_matrix(([1.0, 2.0], ([0, 0], [1, 1])), (2, 2))
    sparse.save_npz(folder / "m.npz", twice)
    assert "twice" in dapple("convert", folder / "m.npz", folder / "x.npy", status=1)
    np.savez(folder / "o.npz", np.array([None, {}]))
    assert "'|O'" in refusal(folder / "o.npz")


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
