#!/usr/bin/env python3
"""HDF5 files with sparse groups whose arrays lie, and files with changed bytes.

    hdf5_damage.py DAPPLE COUNT [SEED]

A sparse group is refused or gives the cells that its arrays describe. A file with changed bytes is
read by the HDF5 library itself, so all that is asked there is that the program ends by itself; how
often it did not is printed. Needs h5py."""

import io
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError:
    print("h5py is missing")
    sys.exit(77)

TYPES = ("i4", "i8", "u4", "u8")


def sparse_file(path, r):
    """A CSR or CSC group, with one to three wrong values in most files; the arrays."""
    rows, cols = r.randrange(1, 9), r.randrange(1, 9)
    by_columns = r.random() < 0.5
    lines, width = (cols, rows) if by_columns else (rows, cols)
    indptr, indices = [0], []
    for _ in range(lines):
        indices += sorted(r.sample(range(width), r.randrange(width + 1)))
        indptr.append(len(indices))
    data = [r.randrange(1, 100) for _ in indices]
    shape = [rows, cols]
    for _ in range(r.randrange(4)):
        lie(r, indptr, indices, data, shape)
    filters = r.choice(({}, {"chunks": (2,)}, {"chunks": (3,), "compression": "gzip"}))
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"] = "csc_matrix" if by_columns else "csr_matrix"
        group.attrs["shape"] = np.array(shape, "i8")
        for name, values, kind in (("data", data, "f4"), ("indices", indices, r.choice(TYPES)),
                                   ("indptr", indptr, r.choice(TYPES))):
            if kind[0] == "u":
                values = [v % 2 ** (8 * int(kind[1])) for v in values]
            array = np.array(values, kind)
            group.create_dataset(name, data=array, **(filters if len(array) > 2 else {}))
            values[:] = array.tolist()
    return by_columns, indptr, indices, data, shape


def lie(r, indptr, indices, data, shape):
    """One change of the arrays."""
    way = r.randrange(7)
    if way == 0 and indices:
        indices[r.randrange(len(indices))] = r.choice((-1, 8, 9, 2**31 - 1))
    elif way == 1:
        indptr[r.randrange(len(indptr))] = r.choice((-1, 0, 1, 3, 50, 2**31 - 1))
    elif way == 2 and indices:
        indices[r.randrange(len(indices))] = indices[0]
    elif way == 3 and data:
        data.pop()
    elif way == 4:
        indices.append(0)
    elif way == 5:
        indptr.pop() if r.random() < 0.5 else indptr.append(indptr[-1])
    elif way == 6:
        shape[r.randrange(2)] = r.choice((0, 1, 8, 2**40, 2**62))


def described(by_columns, indptr, indices, data, shape):
    """The cells, or None where the arrays describe none."""
    lines, width = (shape[1], shape[0]) if by_columns else shape
    if (len(indptr) != lines + 1 or len(indices) != len(data) or indptr[0] != 0
            or indptr[-1] > len(data) or indptr != sorted(indptr) or max(shape) > 100):
        return None
    cells = np.zeros((lines, width), "f4")
    for line in range(lines):
        mine = indices[indptr[line]:indptr[line + 1]]
        if len(set(mine)) != len(mine) or any(not 0 <= k < width for k in mine):
            return None
        cells[line, mine] = data[indptr[line]:indptr[line + 1]]
    return cells.T if by_columns else cells


def run(program, path, out):
    """Exit status and bytes of the .npy file."""
    done = subprocess.run([program, "convert", path, out, "-q", "--force", "--threads", "1"],
                          capture_output=True, timeout=60)
    return done.returncode, done.stderr, out.read_bytes() if done.returncode == 0 else b""


def main(program, count, seed="1"):
    r = random.Random(int(seed))
    read = refused = died = 0
    with tempfile.TemporaryDirectory(prefix="dapple-hdf5-") as name:
        path, out = pathlib.Path(name) / "a.h5", pathlib.Path(name) / "a.npy"
        for k in range(int(count)):
            arrays = sparse_file(path, r)
            wanted = described(*arrays)
            status, told, got = run(program, path, out)
            if status == 0:
                cells = np.load(io.BytesIO(got))
                if wanted is None or cells.shape != wanted.shape or (cells != wanted).any():
                    print(f"seed {seed}, file {k}: {arrays}: {cells}, not {wanted}")
                    return 1
            elif status not in (1, 2) or wanted is not None:
                print(f"seed {seed}, file {k}: {arrays}: status {status}, {told}")
                return 1
            read, refused = read + (status == 0), refused + (status != 0)
            data = bytearray(path.read_bytes())
            for _ in range(r.randrange(1, 4)):
                data[r.randrange(len(data))] = r.choice((0, 1, 255, r.randrange(256)))
            path.write_bytes(data)
            status, told, _ = run(program, path, out)
            died += status not in (0, 1, 2, 3)
    print(f"{count} groups: {read} read, {refused} refused; of as many changed files the library "
          f"ended the process {died} times")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    sys.exit(main(*sys.argv[1:]))
