"""Whatever a call refuses, it raises an Error of dapple that is also what Python users expect."""

import numpy as np
import pytest
from conftest import cells

import pydapple as dp

CALLS = {
    "read": lambda m, f, p, n: m.read(threads=n),
    "read_sparse": lambda m, f, p, n: m.read_sparse(threads=n),
    "strips": lambda m, f, p, n: list(m.strips(threads=n)),
    "to_scipy": lambda m, f, p, n: m.to_scipy(threads=n),
    "stats": lambda m, f, p, n: m.stats(threads=n),
    "tile_stats": lambda m, f, p, n: m.tile_stats(0, threads=n),
    "count_where": lambda m, f, p, n: m.count_where(above=1, threads=n),
    "solvers": lambda m, f, p, n: m.linear_operator(threads=n) @ np.ones(8),
    "frame": lambda m, f, p, n: f.read(threads=n),
    "frame stats": lambda m, f, p, n: f.stats(threads=n),
    "frame count": lambda m, f, p, n: f.count_where("a", above=1, threads=n),
    "open": lambda m, f, p, n: dp.open(m.path, threads=n),
    "write": lambda m, f, p, n: dp.write(p, np.eye(3), threads=n, overwrite=True, sync=False),
    "sparse": lambda m, f, p, n: dp.write(p, m.to_scipy(), threads=n, overwrite=True, sync=False),
    "convert": lambda m, f, p, n: dp.convert(m, p, threads=n, overwrite=True, sync=False),
    "take_columns": lambda m, f, p, n: m.take_columns([1, 0], threads=n),
    "columns": lambda m, f, p, n: dp.index(m.path, columns=True, threads=n, sync=False),
    "index": lambda m, f, p, n: dp.index(m.path, threads=n),
    "picture": lambda m, f, p, n: m.picture(threads=n),
    "frame picture": lambda m, f, p, n: f.picture(threads=n),
    "pandas": lambda m, f, p, n: f.to_pandas(threads=n),
    "append": lambda m, f, p, n: dp.append(f.path, {"a": np.arange(3.0)}, threads=n, sync=False),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_number_of_threads_is_a_number_from_zero_on(make, there, tmp_path, name):
    m, f = make(cells((9, 8), "f8"), tile=(4, 4)), there({"a": np.arange(3.0)})
    call = CALLS[name]
    for threads in (0, 1, None, np.int32(2), True):
        call(m, f, tmp_path / "out.dbdf", threads)
    for threads in (-1, 2**32, 2**70, 1.5, "2"):
        with pytest.raises(dp.InvalidArgumentError, match="threads is a number of threads"):
            call(m, f, tmp_path / "out.dbdf", threads)


def test_arguments_of_other_kinds_are_refused_in_words(make, tmp_path):
    m = make(cells((9, 8), "f8"))
    read_only = np.zeros((1, 2))
    read_only.flags.writeable = False
    wrong = [
        (TypeError, "nope", lambda: m.read(dtype="nope")),
        (TypeError, "nope", lambda: m.read(dtype="nope", out=np.empty((9, 8)))),
        (TypeError, "nope", lambda: dp.convert(m, tmp_path / "c.dbdf", dtype="nope")),
        (TypeError, "nope", lambda: dp.writer(tmp_path / "w.dbdf", (2, 2), "nope")),
        (TypeError, "nope", lambda: dp.frame_writer(tmp_path / "w.dbdf", 2, {"a": "nope"})),
        (ValueError, "'error', 'zero' or 'nan'", lambda: m.read(absent=["zero"])),
        (ValueError, "format 'xyz'", lambda: m.to_scipy("xyz")),
        (ValueError, "writable", lambda: m.take([1], [0, 2], out=read_only)),
        (TypeError, "csv is a mapping", lambda: dp.open(m.path, csv=[1])),
        (IndexError, f"row {-(2**70)} is outside the 9 rows", lambda: m.take([-(2**70), 1])),
        (IndexError, "object", lambda: m.take(np.array([1, None], object))),
    ]
    for kind, words, call in wrong:
        with pytest.raises(kind, match=words) as caught:
            call()
        assert isinstance(caught.value, dp.Error), call
