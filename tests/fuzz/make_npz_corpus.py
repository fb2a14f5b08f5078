#!/usr/bin/env python3
"""Writes the corpus of fuzz_npz: small archives as NumPy and SciPy write them.

usage: make_npz_corpus.py  (writes beside itself; needs NumPy and SciPy)"""

import pathlib

import numpy as np
import scipy.sparse as sparse


def main():
    folder = pathlib.Path(__file__).parent / "corpus" / "npz"
    folder.mkdir(parents=True, exist_ok=True)
    matrix = sparse.csr_matrix(np.array([[0, 7, 0, 1], [0, 0, 0, 0], [5, 0, 0, 0]], "f4"))
    for compressed in (True, False):
        ending = "deflated" if compressed else "stored"
        for kind in ("csr", "csc", "coo", "bsr", "dia"):
            form = matrix.tobsr((3, 2)) if kind == "bsr" else matrix.asformat(kind)
            sparse.save_npz(folder / f"{kind}_{ending}.npz", form, compressed)
        save = np.savez_compressed if compressed else np.savez
        for kind in ("coo", "bsr", "dia"):
            with np.load(folder / f"{kind}_{ending}.npz") as file:
                arrays = {name: file[name] for name in file}
            for name in arrays.keys() - {"format"}:
                arrays[name] = arrays[name].astype(arrays[name].dtype.newbyteorder(">"))
            save(folder / f"{kind}_big_endian_{ending}.npz", **arrays)
        save(folder / f"array_{ending}.npz", np.arange(6, dtype="<i2").reshape(2, 3))
        save(folder / f"several_{ending}.npz", a=np.arange(3), b=np.zeros(2))
        save(folder / f"records_{ending}.npz", np.zeros(2, [("a", "u1"), ("b", "<f8")]))


if __name__ == "__main__":
    main()
