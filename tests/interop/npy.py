#!/usr/bin/env python3
"""npy files between dapple and NumPy, both ways.

    npy.py DAPPLE

What numpy.save writes goes through dapple into a .dbdf file and back into a .npy file, which NumPy
must load, and memory-map, with the same bits; where NumPy would have written the same array, the
file must be the same bytes."""

import io
import pathlib
import subprocess
import sys
import warnings

from checks import run_checks

try:
    import numpy as np
except ImportError:
    print("NumPy is missing")
    sys.exit(77)

DAPPLE = pathlib.Path(sys.argv[1]).resolve()
TYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8"]


def dapple(*arguments, status=0):
    done = subprocess.run([DAPPLE, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done.stderr


def saved(array, version=None):
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of versions 2.0 and 3.0
        np.lib.format.write_array(buffer, array, version=version, allow_pickle=False)
    return buffer.getvalue()


def bits(array):
    return np.ascontiguousarray(array).tobytes()


def random_array(dtype, shape, seed):
    dtype = np.dtype(dtype)
    n = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer(np.random.default_rng(seed).bytes(n), dtype).reshape(shape)


def through(folder, data):
    """The .npy that comes out when these bytes go in, by way of a .dbdf in small tiles."""
    (folder / "in.npy").write_bytes(data)
    dapple("convert", "-q", "--force", "--tile", "7x3", folder / "in.npy", folder / "mid.dbdf")
    dapple("convert", "-q", "--force", folder / "mid.dbdf", folder / "via.npy")
    dapple("convert", "-q", "--force", folder / "in.npy", folder / "out.npy")
    out = (folder / "out.npy").read_bytes()
    assert (folder / "via.npy").read_bytes() == out
    return out


def as_rows(array):
    """The array as dapple shows it: two dimensions, C order, little endian."""
    if array.ndim < 2:
        array = array.reshape(-1, 1)
    array = np.ascontiguousarray(array.reshape(int(np.prod(array.shape[:-1])), array.shape[-1]))
    return array.astype(array.dtype.newbyteorder("<"))


def check_plain_arrays(folder):
    shapes = [(), (1,), (9,), (4, 5), (1, 3), (2, 3, 4), (0,), (3, 0)]
    for number, kind in enumerate(TYPES):
        for order in "<>":
            shape = shapes[number % len(shapes)] if order == "<" else (8, 11)
            array = random_array(order + kind, shape, number)
            for layout in "CF":
                wanted = as_rows(array)
                out = through(folder, saved(array.copy(order=layout)))
                assert out == saved(wanted), (kind, order, layout, shape)
                mapped = np.load(folder / "out.npy", mmap_mode="r")
                assert mapped.shape == wanted.shape and bits(mapped) == bits(wanted)


def check_bools(folder):
    array = np.array([[True, False], [False, True]])
    assert through(folder, saved(array)) == saved(array.view("u1"))


def check_records(folder):
    fields = [(f"field {i}", order + kind) for i, (order, kind) in
              enumerate(zip("<>" * 5, TYPES))]
    for dtype in (np.dtype(fields), np.dtype(fields, align=True)):
        for shape in [(), (1,), (40,)]:
            array = random_array(dtype, shape, 5)
            out = np.load(io.BytesIO(through(folder, saved(array))))
            assert out.dtype == np.dtype([(name, kind.replace(">", "<")) for name, kind in fields])
            for name, _ in fields:
                wanted = array[name].reshape(-1)
                assert bits(out[name]) == bits(wanted.astype(wanted.dtype.newbyteorder("<")))
    packed = random_array(np.dtype([("a", "<f8"), ("b", "u1"), ("c", "<i2")]), (17,), 6)
    assert through(folder, saved(packed)) == saved(packed)


def check_labels(folder):
    latin = "".join(map(chr, range(1, 0x100)))
    labels = ["it's", 'say "it"', "it's \"it\"", "back\\slash", "\t\n\r", latin, "\0",
              "日本", "".join(map(chr, range(0x100, 0x250))), "\u2028\ue000\U0001f600", " "]
    for label in labels:
        array = np.zeros(3, [(label, "<f4"), ("other", "u1")])
        assert through(folder, saved(array)) == saved(array), label
    many = np.zeros(2, [(f"a column with a long name, number {i}", "u1") for i in range(3000)])
    assert through(folder, saved(many)) == saved(many)


def check_versions(folder):
    array = random_array("<f4", (5, 6), 7)
    for version in [(1, 0), (2, 0), (3, 0)]:
        assert through(folder, saved(array, version)) == saved(array)


def check_several_arrays_in_one_file(folder):
    first, second = random_array("<f4", (5, 6), 8), random_array("<f4", (2, 2), 9)
    assert through(folder, saved(first) + saved(second)) == saved(first)


def check_a_memory_map_that_numpy_made(folder):
    mapped = np.lib.format.open_memmap(folder / "map.npy", "w+", "<i4", (100, 30))
    mapped[:] = np.arange(3000).reshape(100, 30)
    mapped.flush()
    assert through(folder, (folder / "map.npy").read_bytes()) == saved(np.array(mapped))


def check_refusals(folder):
    for array in [np.zeros(2, "c8"), np.zeros(2, "S3"), np.zeros(2, "U2"),
                  np.zeros(2, "M8[s]"), np.zeros(2, [("a", "f8", (2,))]),
                  np.zeros(2, [("a", [("b", "f8")])])]:
        (folder / "in.npy").write_bytes(saved(array))
        stderr = dapple("convert", "--json", folder / "in.npy", folder / "refused.dbdf", status=1)
        assert '"code":"unsupported"' in stderr, stderr
    np.save(folder / "in.npy", np.array([None, {}]), allow_pickle=True)
    stderr = dapple("convert", folder / "in.npy", folder / "refused.dbdf", status=1)
    assert "'|O'" in stderr, stderr
    assert not (folder / "refused.dbdf").exists()


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
