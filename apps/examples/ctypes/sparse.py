"""The C functions from Python, with nothing but ctypes: what ../c/sparse.c does. For NumPy, SciPy and pandas
there is pydapple (../../python).

usage: sparse.py FOLDER, with the folder of libdapple.so in LD_LIBRARY_PATH"""

import ctypes
import pathlib
import sys
from ctypes import byref, c_char, c_char_p, c_double, c_float, c_int32, c_uint8, c_uint64, c_void_p

F32, F64, U8, OUT_OF_RANGE = 9, 10, 1, 5


class Error(ctypes.Structure):
    _fields_ = [("code", c_int32), ("error_number", c_int32), ("byte", c_uint64), ("option", c_char * 32),
                ("file", c_char * 480), ("message", c_char * 1024)]


class Info(ctypes.Structure):
    _fields_ = [(name, c_uint64) for name in ("rows", "cols", "blocks", "tile_rows", "tile_cols", "bytes",
                                              "contents")] + [
        ("format", c_char_p), ("kind", c_int32), ("type", c_int32), ("sparse", c_int32),
        ("row_names", c_int32), ("col_names", c_int32), ("reserved", c_int32 * 3)]


class Region(ctypes.Structure):
    _fields_ = [(name, c_uint64) for name in ("row_begin", "row_end", "col_begin", "col_end")]


class Arrays(ctypes.Structure):
    _fields_ = [("rows", c_uint64), ("entries", c_uint64), ("ptr", ctypes.POINTER(c_uint64)),
                ("idx", ctypes.POINTER(c_uint64)), ("values", c_void_p), ("type", c_int32),
                ("reserved", c_int32 * 3)]


class Stats(ctypes.Structure):
    _fields_ = [(name, c_uint64) for name in ("count", "nonzero", "nans")] + [
        (name, c_double) for name in ("min", "max", "sum", "mean", "variance")]


class DappleError(Exception):
    def __init__(self, error):
        super().__init__(error.message.decode())
        self.code = error.code


dapple = ctypes.CDLL("libdapple.so")


def call(name, *arguments):
    """Calls a function whose last argument is the error."""
    error = Error()
    if getattr(dapple, name)(*arguments, byref(error)) != 0:
        raise DappleError(error)


def write_matrix(path):
    ptr, idx = (c_uint64 * 5)(0, 1, 1, 3, 3), (c_uint64 * 3)(1, 0, 2)
    options = (c_char_p * 3)(b"storage=csr", b"overwrite=true", None)
    writer = c_void_p()
    call("dapple_create", path, c_uint64(4), c_uint64(3), F64, options, byref(writer))
    call("dapple_put_sparse", writer, *map(c_uint64, (0, 0, 4, 3)), F64, ptr, idx, (c_double * 3)(5, 7, 9))
    call("dapple_finish", writer)
    dapple.dapple_abandon(byref(writer))


def read_matrix(path):
    matrix, info = c_void_p(), Info()
    call("dapple_open", path, None, byref(matrix))
    call("dapple_get_info", matrix, byref(info))
    print(info.rows, "x", info.cols)

    def read(region, kind, out):
        size = ctypes.c_size_t(ctypes.sizeof(out))
        call("dapple_read", matrix, byref(Region(*region)), kind, out, size, None, None, None)

    cells = (c_float * 6)()
    read((1, 3, 0, 3), F32, cells)
    print(*(f"{cell:g}" for cell in cells))

    rows, arrays = c_void_p(), Arrays()
    call("dapple_gather_rows", matrix, (c_uint64 * 2)(2, 0), ctypes.c_size_t(2), c_uint64(0), c_uint64(3), F64,
         None, byref(rows))
    call("dapple_get_arrays", rows, byref(arrays))
    values = ctypes.cast(arrays.values, ctypes.POINTER(c_double))
    print(*(f"{arrays.idx[k]}:{values[k]:g}" for k in range(arrays.entries)), "in", arrays.rows, "rows")
    dapple.dapple_sparse_free(byref(rows))

    stats = Stats()
    call("dapple_get_stats", matrix, 0, byref(stats), ctypes.c_size_t(1), None)
    print(f"sum {stats.sum:g}, maximum {stats.max:g}")

    try:
        read((0, 5, 0, 3), U8, (c_uint8 * 12)())
    except DappleError as error:
        print("out of range" if error.code == OUT_OF_RANGE else error)
    dapple.dapple_close(byref(matrix))


if __name__ == "__main__":
    file = str(pathlib.Path(sys.argv[1]) / "sparse.dbdf").encode()
    write_matrix(file)
    read_matrix(file)
