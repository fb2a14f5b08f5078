#!/usr/bin/env python3
"""Futhark, BTable and DAPHNE runtime files between dapple and plain readers and writers, which are
written here from the formats' public descriptions and share nothing with the library.

    neighbours.py DAPPLE

Streams go through pipes, as between programs: what the writers here write must come out of dapple
as the same cells, and what dapple writes must be what the readers here read."""

import io
import json
import pathlib
import re
import resource
import struct
import subprocess
import sys

from checks import run_checks

try:
    import numpy as np
except ImportError:
    print("NumPy is missing")
    sys.exit(77)

DAPPLE = pathlib.Path(sys.argv[1]).resolve()
NAMES = {"u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64", "i1": "i8", "i2": "i16", "i4": "i32",
         "i8": "i64", "f4": "f32", "f8": "f64"}
CODES = {name: code for code, name in NAMES.items()}


def dapple(*arguments, stream=None):
    done = subprocess.run([DAPPLE, *map(str, arguments)], input=stream, capture_output=True,
                          timeout=60)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


def name_of(array):
    return NAMES[array.dtype.str[1:]]


def saved(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def same(got, wanted):
    """Bit for bit; text knows one NaN only."""
    assert got.dtype == wanted.dtype and got.shape == wanted.shape, (got, wanted)
    if got.dtype.kind == "f":
        got, wanted = (np.where(np.isnan(a), np.array(np.nan, a.dtype), a) for a in (got, wanted))
    assert got.tobytes() == wanted.tobytes(), (got, wanted)


def random_array(name, shape, seed):
    dtype = np.dtype("<" + CODES[name])
    n = int(np.prod(shape)) * dtype.itemsize
    array = np.frombuffer(np.random.default_rng(seed).bytes(n), dtype).reshape(shape).copy()
    if name[0] == "f":
        array.flat[:5] = [0.0, -0.0, np.inf, -np.inf, np.nan]
    return array


# Futhark: values one after the other, white space between them.

def futhark_binary(array):
    head = b"b\2" + bytes([array.ndim]) + name_of(array).rjust(4).encode()
    return head + struct.pack(f"<{array.ndim}Q", *array.shape) + array.tobytes()


def futhark_text(array):
    def number(x):
        if array.dtype.kind != "f":
            return str(x)
        if np.isfinite(x):
            return repr(float(x)) if "e" not in repr(float(x)) else f"{float(x):.17e}"
        return ("-" if x < 0 else "") + name_of(array) + (".nan" if np.isnan(x) else ".inf")

    def value(part):
        if part.ndim == 0:
            text = number(part[()])
            return text if "." in text and text[-1].isalpha() else text + name_of(array)
        return "[" + ", ".join(map(value, part)) + "]"
    return value(array).encode()


def read_futhark(stream):
    values = []
    while stream := stream.lstrip():
        if stream[:1] == b"b":
            version, rank, code = stream[1], stream[2], stream[3:7].decode().strip()
            assert version == 2
            shape = struct.unpack_from(f"<{rank}Q", stream, 7)
            dtype = np.dtype("<" + CODES[code])
            end = 7 + 8 * rank + int(np.prod(shape, dtype=int)) * dtype.itemsize
            values.append(np.frombuffer(stream[7 + 8 * rank:end], dtype).reshape(shape))
            stream = stream[end:]
            continue
        line, _, stream = stream.partition(b"\n")
        text = line.decode()
        name = re.search("[iuf](?:8|16|32|64)", text)[0]
        text = text.replace(name + ".nan", "NaN").replace("-" + name + ".inf", "-Infinity")
        text = text.replace(name + ".inf", "Infinity").replace(name, "")
        whole = float if name[0] == "f" else int  # a float's -0 has a sign
        values.append(np.array(json.loads(text, parse_int=whole), "<" + CODES[name]))
    return values


def check_futhark(folder):
    for seed, name in enumerate(CODES):
        for shape in [(6, 5), (7,), (2, 3, 4)]:
            array = random_array(name, shape, seed)
            rows = array.reshape(-1, shape[-1] if len(shape) > 1 else 1)
            for write in (futhark_binary, futhark_text):
                npy = dapple("convert", "-", "-", "--to", "npy", stream=write(array))
                same(np.load(io.BytesIO(npy)), rows)
            for to in ("futhark", "futhark-text"):
                out = dapple("convert", "-", "-", "--to", to, stream=saved(rows))
                assert out.endswith(b"\n")
                (got,) = read_futhark(out)
                same(got, rows)


def check_futhark_streams(folder):
    """Several values, and a frame with a program on either side."""
    columns = [random_array(name, (9,), 7) for name in CODES]
    stream = b"-- columns\n" + b"\n".join(
        (futhark_binary, futhark_text)[i % 2](column) for i, column in enumerate(columns))
    for i, column in enumerate(columns):
        npy = dapple("get", "-", "--value", i, "--to", "npy", "-o", "-", stream=stream)
        same(np.load(io.BytesIO(npy)), column.reshape(-1, 1))
    for to in ("futhark", "futhark-text"):
        out = dapple("convert", "-", "-", "--frame", "--to", to, stream=stream)
        for got, column in zip(read_futhark(out), columns, strict=True):
            same(got, column)


# BTable: everything big-endian.

def btable(labels, rows):
    units = "\x1f".join(labels).encode("utf-16-be")
    out = [struct.pack(">ii", 0, len(units) // 2), units]
    for row in rows:
        stored = [c for c in range(len(row)) if row[c] != 0]
        out.append(struct.pack(">i", len(stored)))
        out += [struct.pack(">id", c, row[c]) for c in stored]
    return b"".join(out)


def read_btable(data):
    version, units = struct.unpack_from(">ii", data)
    assert version == 0
    at = 8 + 2 * units
    labels = data[8:at].decode("utf-16-be").split("\x1f")
    rows = []
    while at < len(data):
        (count,) = struct.unpack_from(">i", data, at)
        at += 4
        row = [0.0] * len(labels)
        for _ in range(count):
            col, row_value = struct.unpack_from(">id", data, at)
            row[col] = row_value
            at += 12
        rows.append(row)
    return labels, np.array(rows, "<f8").reshape(-1, len(labels))


def check_btable(folder):
    random = np.random.default_rng(3)
    labels = ["pH", "\u00e9\u901a", "\U0001f600", "a b,\"c", "", "end"]
    table = np.where(random.random((300, 6)) < 0.3, random.standard_normal((300, 6)), 0)
    table[5] = 0
    table[7, 2] = np.inf
    data = btable(labels, table)
    assert dapple("convert", "-", "-", "--to", "btable", stream=data) == data
    (folder / "t.btable").write_bytes(data)
    dapple("convert", "-q", folder / "t.btable", folder / "t.dbdf", "--tile", "64x4")
    assert dapple("convert", folder / "t.dbdf", "-", "--to", "btable") == data
    wide = random_array("f32", (40, 3), 5)
    got_labels, got = read_btable(dapple("convert", "-", "-", "--to", "btable", stream=saved(wide)))
    assert got_labels == ["0", "1", "2"]
    same(got, wide.astype("<f8"))


def check_wide(folder):
    """A row is decoded once, not once for each of its columns."""
    columns = 70_000
    row = [c % 5 for c in range(columns)]
    (folder / "wide.btable").write_bytes(btable(map(str, range(columns)), [row, row]))
    for name in ("wide.dbdf", "wide.idv", "wide.in"):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        dapple("convert", "-q", folder / "wide.btable", folder / name,
               *(["--drop-labels"] if name == "wide.in" else []))
        taken = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        assert taken < 10, (name, taken)
        back = dapple("convert", folder / name, "-", "--to", "btable",
                      *(["--frame"] if name == "wide.in" else []))
        assert back == (folder / "wide.btable").read_bytes(), name


def check_long_columns(folder):
    """Memory for text does not grow with the columns of a frame."""
    frame = np.zeros(16_000_000, [("0", "u1")])
    np.save(folder / "long.npy", frame)
    dapple("convert", "-q", folder / "long.npy", folder / "long.txt", "--to", "futhark-text")
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 400 << 10


# DAPHNE runtime: one header, one block, and a .meta file for the compiler.

RUNTIME = {"i8": (0, "si8"), "i32": (1, "si32"), "i64": (2, "si64"), "u8": (3, "ui8"),
           "u32": (4, "ui32"), "u64": (5, "ui64"), "f32": (6, "f32"), "f64": (7, "f64")}


def runtime_head(array, kind):
    rows, cols = array.shape
    code = RUNTIME[name_of(array)][0]
    return (struct.pack("<BBQQB", 1, kind, rows, cols, code)
            + struct.pack("<QQIIBB", 0, 0, rows, cols, kind, code))


def runtime_csr(array):
    places = [np.flatnonzero(row) for row in array]
    ends = np.cumsum([0] + [len(p) for p in places]).astype("<u8")
    cols = np.concatenate(places).astype("<u8")
    values = np.concatenate([row[p] for row, p in zip(array, places)])
    return (runtime_head(array, 2) + struct.pack("<Q", len(cols)) + ends.tobytes() + cols.tobytes()
            + values.tobytes())


def check_daphne(folder):
    for seed, (name, (_, word)) in enumerate(RUNTIME.items()):
        dense = random_array(name, (11, 7), seed)
        sparse = np.where(np.random.default_rng(seed).random((11, 70)) < 0.1, 7, 0)
        sparse = sparse.astype(dense.dtype)
        for array, kind, data in ((dense, "dense", runtime_head(dense, 1) + dense.tobytes()),
                                  (sparse, "csr", runtime_csr(sparse))):
            (folder / "in.npy").write_bytes(saved(array))
            out = folder / "out.dbdf"
            dapple("convert", "-q", "--force", folder / "in.npy", out, "--to", "daphne", "--kind",
                   kind)
            assert out.read_bytes() == data
            meta = json.loads((folder / "out.dbdf.meta").read_text())
            wanted = {"numRows": array.shape[0], "numCols": array.shape[1], "valueType": word}
            if kind == "csr":
                wanted["numNonZeros"] = int(np.count_nonzero(array))
            assert meta == wanted, meta
            same(np.load(io.BytesIO(dapple("convert", out, "-", "--to", "npy"))), array)


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
