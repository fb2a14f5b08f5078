#!/usr/bin/env python3
"""Text between dapple and pandas, NumPy and SciPy, both ways.

    text.py DAPPLE

What they write goes through dapple into a .dbdf file and back into text, which they must read with
the same values; floats with the same bits."""

import json
import pathlib
import subprocess
import sys
import warnings

from checks import run_checks

try:
    import numpy as np
    import pandas as pd
    import scipy.io
    import scipy.sparse
except ImportError as missing:
    print(missing)
    sys.exit(77)

DAPPLE = pathlib.Path(sys.argv[1]).resolve()


def dapple(*arguments, status=0):
    done = subprocess.run([DAPPLE, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done


def convert(source, target, *flags):
    dapple("convert", "-q", "--force", *flags, source, target)
    return target


def info(path):
    return json.loads(dapple("info", "--json", path).stdout)


def same(a, b):
    """Equal shapes and bits, but for the bits of NaNs."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind == "f" and b.dtype == a.dtype and a.shape == b.shape:
        nan = np.isnan(a)
        return (nan == np.isnan(b)).all() and a[~nan].tobytes() == b[~nan].tobytes()
    return a.shape == b.shape and (a == b).all()


def floats(shape, seed, special=True):
    rng = np.random.default_rng(seed)
    any_bits = rng.integers(0, 2**64, shape, dtype=np.uint64).view(np.float64)
    plain = np.round(rng.standard_normal(shape), 3)
    out = np.where(rng.random(shape) < 0.5, any_bits, plain)
    if special:
        out[rng.random(shape) < 0.05] = np.inf
        out[rng.random(shape) < 0.05] = -0.0
    else:
        out = np.where(np.isfinite(out), out, 0.5)
    return out


def frame():
    rng = np.random.default_rng(5)
    n = 500
    whole = np.iinfo(np.int64)
    return pd.DataFrame({
        "i64": rng.integers(whole.min, whole.max, n),
        "u64": rng.integers(2**63, 2**64, n, dtype=np.uint64),
        "f64, any": floats(n, 6),
        'say "x"': floats(n, 7, special=False),
        "two\nlines": rng.integers(0, 5, n),
        "\u00e9": rng.random(n),
    })


def read_csv(path, **options):
    return pd.read_csv(path, float_precision="round_trip", **options)


def check_frames(folder):
    table = frame()
    table.to_csv(folder / "in.csv", index=False)
    out = convert(convert(folder / "in.csv", folder / "mid.dbdf"), folder / "out.csv")
    columns = info(folder / "mid.dbdf")["columns"]
    assert [c["label"] for c in columns] == list(table.columns), columns
    assert [c["value_type"] for c in columns] == ["i64", "u64", "f64", "f64", "i64", "f64"], columns
    back = read_csv(out)
    for name in table.columns:
        assert same(table[name], back[name]), name

    table.loc[3, "\u00e9"] = np.nan
    table.to_csv(folder / "in.csv", index=False, lineterminator="\r\n", sep=";")
    # pandas leaves NaN empty: a missing cell, or NaN where that is asked for.
    for flags in [(), ("--missing", "nan")]:
        back = read_csv(convert(folder / "in.csv", folder / f"out{len(flags)}.csv", *flags))
        for name in table.columns:
            assert same(table[name], back[name]), name

    # A single column, where a missing value would be a blank line.
    pd.DataFrame({"a": [1.5, np.nan]}).to_csv(folder / "in.csv", index=False)
    back = read_csv(convert(folder / "in.csv", folder / "out.csv", "--missing", "nan"))
    assert same(back["a"], np.array([1.5, np.nan])), back


def check_labels_like_numbers(folder):
    table = pd.DataFrame(np.arange(6).reshape(2, 3))  # labels 0, 1, 2
    table.to_csv(folder / "in.csv", index=False)
    out = convert(folder / "in.csv", folder / "out.csv", "--header")
    assert list(read_csv(out).columns) == ["0", "1", "2"]
    assert len(info(out)["columns"]) == 3  # and dapple sees the header that it wrote


def check_matrices(folder):
    for number, array in enumerate([floats((40, 7), 1), floats((1, 1), 2),
                                    np.arange(-6, 6).reshape(3, 4)]):
        whole = array.dtype.kind == "i"
        np.savetxt(folder / "in.csv", array, delimiter=",", fmt="%d" if whole else "%.17g")
        out = convert(convert(folder / "in.csv", folder / "mid.dbdf"), folder / "out.csv")
        assert info(folder / "mid.dbdf")["value_type"] == ("i64" if whole else "f64")
        assert same(np.loadtxt(out, delimiter=",", ndmin=2, dtype=array.dtype), array), number
        assert same(read_csv(out, header=None).to_numpy(array.dtype), array), number


def through_mtx(folder, matrix, **options):
    """The matrix as SciPy reads it after dapple has had it: at once, and by way of a .dbdf."""
    scipy.io.mmwrite(folder / "in.mtx", matrix, **options)
    convert(folder / "in.mtx", folder / "once.mtx")
    convert(convert(folder / "in.mtx", folder / "mid.dbdf"), folder / "out.mtx")
    assert (folder / "once.mtx").read_bytes() == (folder / "out.mtx").read_bytes()
    return scipy.io.mmread(folder / "out.mtx")


def dense(matrix):
    return matrix.toarray() if scipy.sparse.issparse(matrix) else matrix


def check_matrix_market(folder):
    rng = np.random.default_rng(9)
    square = np.round(rng.standard_normal((30, 30)), 2)
    sparse = scipy.sparse.random(50, 70, 0.1, "coo", random_state=rng)
    lower = scipy.sparse.random(40, 40, 0.1, "csr", random_state=rng)
    cases = {
        "dense": floats((9, 5), 3, special=False),
        "integers": rng.integers(-99, 99, (6, 8)),
        "symmetric array": square + square.T,
        "skew array": square - square.T,
        "one row": floats((1, 4), 3, special=False),
        "coordinate": sparse,
        "integer coordinate": (sparse * 100).astype(np.int64),
        "symmetric": lower + lower.T,
        "skew": lower - lower.T,
        "no entries": scipy.sparse.coo_matrix((3, 4)),
        "unsigned": np.array([[2**64 - 1, 3]], dtype=np.uint64),
    }
    for name, matrix in cases.items():
        back = through_mtx(folder, matrix, precision=17)
        assert scipy.sparse.issparse(back) == scipy.sparse.issparse(matrix), name
        assert same(dense(back) + 0, dense(matrix) + 0), name  # + 0: SciPy mirrors 0 as -0
    back = through_mtx(folder, abs(sparse), field="pattern")
    assert same(dense(back), (dense(sparse) != 0).astype(float))

    special = scipy.sparse.coo_matrix(([np.nan, np.inf, -np.inf], ([0, 1, 2], [2, 1, 0])))
    scipy.io.mmwrite(folder / "in.mtx", special)
    assert same(dense(scipy.io.mmread(convert(folder / "in.mtx", folder / "out.mtx"))), dense(special))
    np.save(folder / "in.npy", floats((4, 3), 4))
    convert(folder / "in.npy", folder / "out.mtx")
    assert same(scipy.io.mmread(folder / "out.mtx"), np.load(folder / "in.npy"))

    scipy.io.mmwrite(folder / "in.mtx", np.array([[1j]]))
    failed = dapple("info", folder / "in.mtx", status=1)
    assert "complex values are not supported" in failed.stderr, failed.stderr


def check_single_precision(folder):
    """Readers take numbers of text as f64: an f32 must have the same value there."""
    bits = np.random.default_rng(31).integers(0, 2**32, (60, 5), dtype=np.uint32)
    array = bits.view(np.float32)
    array = np.where(np.isfinite(array), array, np.float32(0.1))
    array[0, :3] = 0.1, 9007199254740992, -0.0
    np.save(folder / "in.npy", array)
    wide = array.astype(np.float64)
    convert(folder / "in.npy", folder / "out.csv")
    assert same(np.loadtxt(folder / "out.csv", delimiter=","), wide)
    assert same(read_csv(folder / "out.csv", header=None).to_numpy(), wide)
    assert same(scipy.io.mmread(convert(folder / "in.npy", folder / "out.mtx")), wide)
    piped = dapple("get", folder / "in.npy").stdout
    assert piped == (folder / "out.csv").read_text()

    convert(folder / "in.npy", folder / "short.csv", "--short-floats")
    assert same(np.loadtxt(folder / "short.csv", delimiter=",").astype(np.float32), array)
    assert (folder / "short.csv").read_text().startswith("0.1,")


if __name__ == "__main__":
    warnings.simplefilter("ignore", RuntimeWarning)
    sys.exit(run_checks(globals()))
