#!/usr/bin/env python3
"""Writes the corpora of the fuzz targets for DAPHNE files, published and of the runtime, and BTables:
small files of every kind, sound and damaged. Regression files (corpus/*/found_*) are kept.

usage: make_corpus.py  (writes beside itself)"""

import pathlib
import struct

FORMATS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i8": "b", "i16": "h", "i32": "i",
           "i64": "q", "f32": "f", "f64": "d"}
CODES = {name: code for code, name in enumerate(FORMATS, start=1)}
OUTSIDE = 2**64 - 1


def values(value_type, numbers):
    return struct.pack(f"<{len(numbers)}{FORMATS[value_type]}", *numbers)


def matrix(rows, cols, value_type, data_type=1):
    return struct.pack("<BBQQB", 1, data_type, rows, cols, CODES[value_type])


def frame(rows, columns):
    head = struct.pack("<BBQQ", 1, 3, rows, len(columns))
    head += bytes(CODES[value_type] for _, value_type in columns)
    for label, _ in columns:
        head += struct.pack("<H", len(label.encode())) + label.encode()
    return head


def block(rx, cx, rows, cols, kind, rest=b""):
    return struct.pack("<QQIIB", rx, cx, rows, cols, kind) + rest


def empty(rx, cx, rows, cols):
    return block(rx, cx, rows, cols, 0)


def dense(rx, cx, rows, cols, value_type, numbers):
    return block(rx, cx, rows, cols, 1, bytes([CODES[value_type]]) + values(value_type, numbers))


def csr(rx, cx, cols, value_type, rows):
    rest = struct.pack("<BQ", CODES[value_type], sum(map(len, rows)))
    for row in rows:
        rest += struct.pack("<I", len(row))
        for col, value in row:
            rest += struct.pack("<I", col) + values(value_type, [value])
    return block(rx, cx, len(rows), cols, 2, rest)


def coo(rx, cx, rows, cols, value_type, entries):
    rest = struct.pack("<BI", CODES[value_type], len(entries))
    for row, col, value in entries:
        rest += struct.pack("<I", row) + (b"" if cols == 1 else struct.pack("<I", col))
        rest += values(value_type, [value])
    return block(rx, cx, rows, cols, 3, rest)


def files():
    four = matrix(4, 4, "f64")
    sparse = matrix(4, 4, "i32", data_type=2)
    mixed = [dense(0, 0, 2, 2, "u8", [1, 2, 3, 4]), csr(0, 2, 2, "i16", [[(1, -5)], []]),
             coo(2, 0, 2, 2, "i32", [(1, 1, 7), (0, 0, 9)]), empty(2, 2, 2, 2)]
    yield "matrix_mixed", sparse + b"".join(mixed)
    yield "matrix_shuffled", sparse + b"".join(mixed[i] for i in (2, 0, 3, 1))
    yield "matrix_without_a_block", sparse + b"".join(mixed[:3])
    yield "matrix_no_body", four
    yield "matrix_one_dense", matrix(2, 3, "f32") + dense(0, 0, 2, 3, "f32", range(6))
    yield "matrix_column", matrix(5, 1, "u64") + coo(0, 0, 5, 1, "u16", [(4, 0, 5), (0, 0, 1)])
    yield "matrix_pinwheel", matrix(3, 3, "u8") + b"".join(
        [dense(0, 0, 1, 2, "u8", [1, 2]), dense(0, 2, 2, 1, "u8", [3, 4]), empty(1, 1, 1, 1),
         dense(1, 0, 2, 1, "u8", [5, 6]), coo(2, 1, 1, 2, "u8", [(0, 1, 7)])])
    yield "matrix_huge_and_empty", matrix(2**60, 2**60, "f64") + b"".join(
        [empty(0, 0, 2**32 - 1, 2**32 - 1), dense(2**60 - 1, 2**60 - 1, 1, 1, "f64", [0.5])])
    yield "matrix_auxiliary", four + dense(OUTSIDE, OUTSIDE, 1, 9, "u8", range(9)) + empty(0, 0, 4, 4)
    yield "matrix_zero_area", four + bytes(50) + csr(9, 9, 0, "f64", [[], []]) + empty(0, 0, 4, 4)
    yield "frame_strips", frame(3, [("a", "u8"), ("", "u8"), ("c d", "f64")]) + b"".join(
        [dense(0, 0, 3, 2, "u8", range(6)), csr(0, 2, 1, "f64", [[(0, 1.5)], [], [(0, -0.0)]])])
    yield "frame_no_columns", frame(3, [])
    yield "bad_overlap", four + empty(0, 0, 4, 4) + empty(3, 3, 1, 1)
    yield "bad_outside", four + empty(1, 0, 4, 4)
    yield "bad_cut_short", four + dense(0, 0, 4, 4, "f64", range(15))
    yield "bad_csr_counts", four + csr(0, 0, 4, "u8", [[(0, 1)]] * 4)[:-9] + bytes(9)
    yield "bad_coo_twice", four + coo(0, 0, 4, 4, "u8", [(1, 1, 1), (1, 1, 2)])
    yield "bad_value", matrix(1, 2, "u8") + dense(0, 0, 1, 2, "i16", [-1, 300])
    yield "bad_version", b"\2" + four[1:]


def btable(labels, rows, version=0):
    joined = "\x1f".join(labels)
    data = struct.pack(">ii", version, len(joined.encode("utf-16-be")) // 2)
    data += joined.encode("utf-16-be")
    for row in rows:
        data += struct.pack(">i", len(row)) + b"".join(struct.pack(">id", *e) for e in row)
    return data


def btable_files():
    three = ["a", "\u00e9\u901a", "\U0001d11e"]
    yield "three_columns", btable(three, [[(0, 1.5), (2, -0.0)], [], [(1, float("nan"))]])
    yield "one_column", btable([""], [[(0, 1e300)], [(0, 0.0)]])
    yield "no_rows", btable(three, [])
    yield "trailing_empty_labels", btable(["a", "", ""], [[(2, 7.0)]])
    yield "repeated_columns", btable(three, [[(2, 1.0), (0, 2.0), (2, 3.0), (0, 0.0)]])
    yield "many_rows", btable(["x", "y"], [[(r % 2, float(r))] for r in range(40)])
    yield "bad_version", btable(three, [], version=1)
    yield "bad_column", btable(three, [[(0, 1.0)], [(3, 1.0)]])
    yield "bad_negative_column", btable(three, [[(-1, 1.0)]])
    yield "bad_negative_count", btable(three, []) + struct.pack(">i", -1)
    yield "bad_surrogate", struct.pack(">iiHH", 0, 2, 0xD834, 0x61)
    yield "bad_label_length", struct.pack(">ii", 0, 2**31 - 1) + b"\0a"
    yield "bad_stray_bytes", btable(three, [[(0, 1.0)]]) + b"\0\0\0"


RUNTIME_CODES = {"i8": 0, "i32": 1, "i64": 2, "u8": 3, "u32": 4, "u64": 5, "f32": 6, "f64": 7}


def runtime_matrix(rows, cols, value_type, data_type):
    code = RUNTIME_CODES[value_type]
    return struct.pack("<BBQQBQQIIBB", 1, data_type, rows, cols, code, 0, 0, rows % 2**32,
                       cols % 2**32, data_type, code)


def runtime_csr(cols, value_type, rows):
    offsets = [sum(map(len, rows[:r])) for r in range(len(rows) + 1)]
    entries = [entry for row in rows for entry in row]
    return (runtime_matrix(len(rows), cols, value_type, 2) + struct.pack("<Q", len(entries))
            + values("u64", offsets) + values("u64", [col for col, _ in entries])
            + values(value_type, [value for _, value in entries]))


def runtime_frame(rows, types, label_bytes=0):
    head = struct.pack("<BBQQ", 1, 3, rows, len(types))
    head += bytes(RUNTIME_CODES[t] for t in types)
    return head + (struct.pack("<H", label_bytes) + b"\xaa" * label_bytes) * len(types) + bytes(16)


def daphne_files():
    yield "dense_i32", runtime_matrix(2, 3, "i32", 1) + values("i32", range(6))
    yield "dense_zeros", runtime_matrix(5, 5, "i32", 1) + bytes(100)
    yield "dense_i8", runtime_matrix(3, 1, "i8", 1) + values("i8", [-1, 0, 1])
    yield "dense_no_cells", runtime_matrix(0, 5, "f32", 1)
    yield "csr_f64", runtime_csr(4, "f64", [[(0, 1.5), (3, -0.0)], [], [(2, 2.5)]])
    yield "csr_unordered", runtime_csr(4, "i64", [[(3, 1), (0, 2)], [(1, 3)]])
    yield "csr_capacity", runtime_csr(3, "f32", [[(1, 2.5)], []]) + bytes(24)
    yield "csr_no_values", runtime_csr(2, "u8", [[]] * 23)
    yield "frame", runtime_frame(2, ["u8", "f64", "f64", "i32"], 5) + bytes(range(42))
    yield "frame_no_rows", runtime_frame(0, ["i64", "u8"])
    yield "frame_no_columns", runtime_frame(3, [])
    yield "scalar", struct.pack("<BB16sBd", 1, 4, b"anything at all!", 7, -1.25)
    yield "huge", runtime_matrix(2**63, 0, "u8", 1)
    yield "bad_column", runtime_csr(2, "u8", [[(2, 1)]])
    yield "bad_twice", runtime_csr(2, "u8", [[(1, 1), (1, 2)]])
    yield "bad_cut_short", (runtime_matrix(2, 3, "i32", 1) + values("i32", range(6)))[:-1]


def region_files():
    """A choice of region, type and memory in front of files of the other corpus."""
    choices = {"all": bytes([0, 0, 255, 255, 0, 0, 255, 255, 9, 0, 1, 0, 0, 0]),
               "inner": bytes([0, 1, 0, 2, 0, 1, 0, 2, 3, 2, 0, 1, 0, 0]),
               "narrow": bytes([0, 0, 0, 3, 0, 0, 0, 2, 0, 1, 0, 2, 0, 0])}
    for name, data in files():
        if name.startswith("matrix_") and len(data) < 1000:
            for choice, front in choices.items():
                yield f"{name}_{choice}", front + data


def view_files():
    """Rows, columns and value type in front of the payload of a CSR block."""
    for code, (rows, cols, entries) in enumerate([
            (3, 4, [[(1, 7), (3, 9)], [], [(0, 1)]]), (1, 1, [[(0, 5)]]), (2, 3, [[], []]),
            (2, 5, [[(4, 1), (0, 2)], [(2, 3)]]), (2, 2, [[(0, 1), (0, 2)], []]),
            (2, 2, [[(5, 1)], []])]):
        for value_type in ("u8", "i32", "f64"):
            data = bytes([rows - 1, cols - 1, CODES[value_type] - 1, 0, 0, 0, 0])
            for row in entries:
                data += struct.pack("<I", len(row))
                for col, value in row:
                    data += struct.pack("<I", col) + values(value_type, [value])
            yield f"{code}_{value_type}", data


def convert_files():
    """The formats to read and to write, and what to do about absent cells, in front of a file.
    Formats are counted as in fuzz_convert.cpp and lib/foreign/formats.cpp."""
    corpus = pathlib.Path(__file__).resolve().parent / "corpus"
    number = 0
    inputs = [(0, name, data) for name, data in files() if not name.startswith("bad_")]
    inputs += [(1, name, data) for name, data in daphne_files() if not name.startswith("bad_")]
    inputs += [(2, name, data) for name, data in btable_files() if not name.startswith("bad_")]
    for code, name in ((6, "mtx"), (7, "csv"), (5, "idv")):
        inputs += [(code, path.stem, path.read_bytes())
                   for path in sorted((corpus / name).iterdir())[:6]]
    for code, name, data in inputs:
        if len(data) < 1000:
            number += 1
            yield f"{code}_{name}", bytes([code, number % 6, number % 4 // 3]) + data


def main():
    corpus = pathlib.Path(__file__).resolve().parent / "corpus"
    made = {"dbdf": files, "btable": btable_files, "daphne": daphne_files,
            "region": region_files, "views": view_files,
            "convert": convert_files}
    for format_name, make in made.items():
        folder = corpus / format_name
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in make():
            (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
