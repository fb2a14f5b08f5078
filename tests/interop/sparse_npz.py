#!/usr/bin/env python3
"""Block and diagonal matrices, and big-endian ones, as scipy.sparse.save_npz writes them.

    sparse_npz.py DAPPLE

What dapple reads is compared with the dense array that SciPy makes of the same matrix."""

import itertools
import json
import sys

from archives import TYPES, dapple, np, sparse
from checks import run_checks

if sparse is None:
    print("SciPy is missing")
    sys.exit(77)

COMPRESSED = itertools.cycle((True, False))


def compare_cells(folder, matrix, kind=None):
    """Reads `matrix` whole, through .dbdf, in a region, and row by row."""
    dense = matrix.toarray().astype(kind or matrix.dtype)
    path, out, tiled = folder / "m.npz", folder / "m.npy", folder / "m.dbdf"
    sparse.save_npz(path, matrix, next(COMPRESSED))
    dapple("convert", "-q", "--force", path, out)
    same(np.load(out), dense)
    dapple("convert", "-q", "--force", "--tile", "17x9", path, tiled)
    dapple("convert", "-q", "--force", tiled, out)
    same(np.load(out), dense)
    rows, cols = (n // 3 for n in dense.shape)
    dapple("get", path, "--rows", f"{rows}:", "--cols", f"{cols}:", "-o", out, "--force")
    same(np.load(out), dense[rows:, cols:])
    about = json.loads(dapple("info", "--json", path))
    assert (about["rows"], about["cols"]) == dense.shape, about
    assert about["storage"] == "csr" and about["format"] == "npz", about
    assert about["stored"] == count_stored(matrix), about
    dapple("verify", "--payload", path)
    dapple("convert", "-q", "--force", path, folder / "m.mtx")
    found = sparse.coo_matrix((dense.shape), dtype=dense.dtype)
    if dense.size:
        found = read_mtx(folder / "m.mtx", dense.dtype)
    assert found.nnz == np.count_nonzero(dense), found
    same(found.toarray(), dense)


def count_stored(matrix):
    """SciPy's own count of diagonals goes wrong where they are outside, or too short."""
    if matrix.format == "bsr":
        return matrix.nnz
    rows, cols = matrix.shape
    return sum(0 <= col - offset < rows
               for offset in matrix.offsets for col in range(min(cols, matrix.data.shape[1])))


def read_mtx(path, kind):
    lines = [line for line in path.read_text().split("\n") if line and line[0] != "%"]
    rows, cols, count = map(int, lines[0].split())
    matrix = sparse.dok_matrix((rows, cols), dtype=kind)
    assert count == len(lines) - 1
    for line in lines[1:]:
        row, col, *value = line.split()
        matrix[int(row) - 1, int(col) - 1] = np.dtype(kind).type(value[0]) if value else 1
    return matrix.tocoo()


def same(found, wanted):
    assert found.dtype == wanted.dtype, (found.dtype, wanted.dtype)
    assert found.shape == wanted.shape and (found == wanted).all(), (found, wanted)


def some(rows, cols, density, kind, seed):
    matrix = sparse.random(rows, cols, density, "csr", random_state=seed)
    matrix.data = (matrix.data * 100 + 1).astype(kind)
    return matrix


def check_blocks(folder):
    for seed, kind in enumerate(TYPES):
        size = [(1, 1), (2, 3), (3, 2), (6, 1), (1, 6), (12, 18)][seed % 6]
        compare_cells(folder, some(36, 54, 0.05, kind, seed).tobsr(size))
    compare_cells(folder, sparse.bsr_matrix((6, 4)))
    compare_cells(folder, sparse.bsr_matrix((0, 4)))
    compare_cells(folder, sparse.bsr_matrix(np.array([[True, False], [False, False]])), "u1")
    # Not in order of columns; transposed, so that NumPy has the values in another order.
    data = np.arange(1, 13.0).reshape(3, 2, 2)
    unordered = sparse.bsr_matrix((data, [2, 0, 1], [0, 2, 3]), (4, 6))
    compare_cells(folder, unordered)
    compare_cells(folder, unordered.T)
    one = sparse.bsr_matrix((np.asfortranarray(data[:1]), [1], [0, 1, 1]), (4, 6))
    one.data = np.asfortranarray(one.data)
    compare_cells(folder, one)


def check_diagonals(folder):
    for seed, kind in enumerate(TYPES):
        compare_cells(folder, some(40, 30, 0.01, kind, seed).todia())
    # Shorter and longer than the matrix is wide, some outside of it, in no order, with zeros.
    rng = np.random.default_rng(3)
    for rows, cols, length in (7, 5, 5), (5, 9, 6), (9, 5, 12), (1, 1, 3), (6, 6, 1):
        offsets = rng.permutation(np.arange(-12, 13))[:15]
        data = rng.integers(0, 3, (15, length)).astype("f4")
        matrix = sparse.dia_matrix((data, offsets), (rows, cols))
        compare_cells(folder, matrix)
        matrix.data = np.asfortranarray(data)
        compare_cells(folder, matrix)
    compare_cells(folder, sparse.dia_matrix((4, 3)))
    compare_cells(folder, sparse.eye(1000, format="dia", dtype="i4"))


def check_big_endian(folder):
    """The values alone, or all numbers."""
    for seed, kind in enumerate(TYPES):
        matrix = some(36, 54, 0.05, kind, seed)
        for form in ("csr", "csc", "coo", "bsr", "dia"):
            sparse.save_npz(folder / "plain.npz", matrix.asformat(form), False)
            arrays = dict(np.load(folder / "plain.npz"))
            for name in arrays if seed % 2 else ["data"]:
                if name != "format":
                    arrays[name] = arrays[name].astype(arrays[name].dtype.newbyteorder(">"))
            for save in np.savez, np.savez_compressed:
                save(folder / "swapped.npz", **arrays)
                dapple("convert", "-q", "--force", folder / "swapped.npz", folder / "m.npy")
                same(np.load(folder / "m.npy"), matrix.toarray())


def check_half_precision(folder):
    matrix = some(20, 30, 0.2, "f4", 1)
    sparse.save_npz(folder / "plain.npz", matrix, False)
    arrays = dict(np.load(folder / "plain.npz"))
    for kind in "<f2", ">f2":
        arrays["data"] = arrays["data"].astype(kind)
        np.savez(folder / "half.npz", **arrays)
        dapple("convert", "-q", "--force", folder / "half.npz", folder / "m.npy")
        matrix.data = arrays["data"].astype("f4")
        same(np.load(folder / "m.npy"), matrix.toarray())


def check_many_strips(folder):
    """More than a block of dapple's holds."""
    banded = sparse.diags([np.arange(1, 400_001.0 - abs(k)) for k in range(-4, 5)], range(-4, 5),
                          format="dia")
    blocks = some(3000, 4000, 0.03, "u1", 9).tobsr((4, 4))
    for matrix in banded, blocks:
        sparse.save_npz(folder / "large.npz", matrix, False)
        assert json.loads(dapple("info", "--json", folder / "large.npz"))["blocks"]["total"] > 2
        dapple("convert", "-q", "--force", folder / "large.npz", folder / "large.dbdf")
        part = dapple("get", folder / "large.npz", "--rows", "2990:3000", "--cols", "2980:3010")
        other = dapple("get", folder / "large.dbdf", "--rows", "2990:3000", "--cols", "2980:3010")
        wanted = matrix.tocsr()[2990:3000, 2980:3010].toarray()
        found = np.loadtxt(part.splitlines(), delimiter=",", ndmin=2)
        assert part == other and (found == wanted).all()
        for name in "large.npz", "large.dbdf":
            total = json.loads(dapple("stats", "--json", folder / name))
            assert total["nnz"] == np.count_nonzero(matrix.data), total
            assert total["sum"] == matrix.data.sum(dtype="f8"), total


def check_refusals(folder):
    sparse.save_npz(folder / "plain.npz", some(36, 54, 0.05, "f4", 1).tobsr((2, 3)), False)
    arrays = dict(np.load(folder / "plain.npz"))
    arrays["shape"] = np.array([36, 55])
    np.savez(folder / "bad.npz", **arrays)
    assert "36 x 55 cells cannot be made of blocks of 2 x 3" in dapple(
        "info", folder / "bad.npz", status=1)
    arrays["format"] = np.array("lil", "S")
    np.savez(folder / "bad.npz", **arrays)
    assert ".tocsr()" in dapple("info", folder / "bad.npz", status=1)


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
