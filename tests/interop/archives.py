"""What npz.py and hdf5.py share: the program, what it makes of a file, and matrices to write."""

import pathlib
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("NumPy is missing")
    sys.exit(77)
try:
    import scipy.sparse as sparse
except ImportError:
    sparse = None

DAPPLE = pathlib.Path(sys.argv[1]).resolve()
TYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8"]


def run(*arguments):
    return subprocess.run([DAPPLE, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120)


def dapple(*arguments, status=0):
    done = run(*arguments)
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stderr if status else done.stdout


def refusal(*arguments):
    done = run("info", *arguments)
    assert done.returncode in (1, 2), (arguments, done)
    return done.stderr


def cells(path, *flags):
    """The cells as dapple writes them, by way of a .dbdf file in small tiles, too."""
    direct, tiled, again = (path.with_suffix(s) for s in (".out.npy", ".dbdf", ".again.npy"))
    dapple("convert", "-q", "--force", path, direct, *flags)
    dapple("convert", "-q", "--force", "--tile", "70x30", path, tiled, *flags)
    dapple("convert", "-q", "--force", tiled, again)
    result = np.load(direct)
    assert (result == np.load(again)).all()
    return result


def copy_by_column(path, x, y):
    """Of a file that holds x and y, of one shape, a copy by column of x gives x, and never y."""
    dapple("index", "-q", "--columns", path, "--array", "x")
    for name, array in (("x", x), ("y", y)):
        told = dapple("info", path, "--array", name)
        assert f"{path}.dpc" in told and ("stale" in told) == (name == "y"), told
        for column in (0, array.shape[1] - 1):
            read = dapple("get", path, "--array", name, "--cols", f"{column}:{column + 1}")
            assert (np.array(read.split(), float) == array[:, column]).all()
    assert "0 findings" in dapple("verify", "--payload", path, "--array", "x")


def matrices():
    for seed, kind in enumerate(["f8", "f4", "i8", "u1", "i4"]):
        matrix = sparse.random(200, 90, 0.1, "csr", random_state=seed)
        matrix.data = (matrix.data * 100 + 1).astype(kind)
        yield matrix
    yield sparse.csr_matrix((3, 5))
    yield sparse.csr_matrix(np.array([[True, False], [False, True]]))
