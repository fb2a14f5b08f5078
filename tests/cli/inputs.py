"""The files that the cases work on, made byte by byte from the published format alone."""

import base64
import struct
import zlib

DENSE_MATRIX, CSR_MATRIX, FRAME = 1, 2, 3
EMPTY, DENSE, CSR, COO = 0, 1, 2, 3
CODES = {"u8": 1, "u16": 2, "u32": 3, "u64": 4, "i8": 5, "i16": 6, "i32": 7, "i64": 8,
         "f32": 9, "f64": 10}
LETTERS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i8": "b", "i16": "h", "i32": "i",
           "i64": "q", "f32": "f", "f64": "d"}
OUTSIDE = 2**64 - 1  # where auxiliary blocks stand


def values(value_type, numbers):
    return struct.pack(f"<{len(numbers)}{LETTERS[value_type]}", *numbers)


def matrix_header(rows, cols, value_type, data_type=DENSE_MATRIX):
    return struct.pack("<BBQQB", 1, data_type, rows, cols, CODES[value_type])


def frame_header(rows, columns):
    """columns: pairs of label (bytes) and value type."""
    header = struct.pack("<BBQQ", 1, FRAME, rows, len(columns))
    header += bytes(CODES[t] for _, t in columns)
    return header + b"".join(struct.pack("<H", len(label)) + label for label, _ in columns)


def block_header(rx, cx, rows, cols, kind, value_type=None):
    header = struct.pack("<QQIIB", rx, cx, rows, cols, kind)
    return header if value_type is None else header + bytes([CODES[value_type]])


def empty(rx, cx, rows, cols):
    return block_header(rx, cx, rows, cols, EMPTY)


def dense(rx, cx, rows, cols, value_type, numbers):
    assert len(numbers) == rows * cols
    return block_header(rx, cx, rows, cols, DENSE, value_type) + values(value_type, numbers)


def csr(rx, cx, rows, cols, value_type, entries):
    """entries: one list of (column, value) pairs per row."""
    assert len(entries) == rows
    body = struct.pack("<Q", sum(len(row) for row in entries))
    for row in entries:
        body += struct.pack("<I", len(row))
        for col, value in row:
            body += struct.pack("<I", col) + values(value_type, [value])
    return block_header(rx, cx, rows, cols, CSR, value_type) + body


def coo(rx, cx, rows, cols, value_type, entries):
    """entries: (row, column, value) triples."""
    body = struct.pack("<I", len(entries))
    for row, col, value in entries:
        body += struct.pack("<I", row) if cols == 1 else struct.pack("<II", row, col)
        body += values(value_type, [value])
    return block_header(rx, cx, rows, cols, COO, value_type) + body


def mixed():
    """5 x 4 f64 in four tiles of 3 x 2, one of each kind."""
    return (matrix_header(5, 4, "f64")
            + dense(0, 0, 3, 2, "f64", [1.5, 2, -0.0, float("nan"), 0.1, float("-inf")])
            + empty(0, 2, 3, 2)
            + csr(3, 0, 2, 2, "u8", [[(1, 7)], [(0, 200)]])
            + coo(3, 2, 2, 2, "i16", [(1, 1, -300)]))


def frame():
    """3 rows of u8, f64 and two i32, in column strips."""
    columns = [(b"id", "u8"), (b"price, net", "f64"), ("gr\u00f6\u00dfe".encode(), "i32"),
               (b'12" disk', "i32")]
    return (frame_header(3, columns)
            + dense(0, 0, 3, 1, "u8", [1, 2, 255])
            + dense(0, 1, 3, 1, "f64", [0.5, 1e300, -0.0])
            + dense(0, 2, 3, 2, "i32", [10, -1, 20, -2, 30, -3]))


def gap():
    """4 x 4 of which the lower right quarter is absent."""
    return (matrix_header(4, 4, "i32")
            + dense(0, 0, 2, 2, "i32", [1, 2, 3, 4])
            + dense(0, 2, 2, 2, "i32", [5, 6, 7, 8])
            + dense(2, 0, 2, 2, "i32", [9, 10, 11, 12]))


def irregular():
    """3 x 3 in blocks of different sizes, out of order."""
    return (matrix_header(3, 3, "u16")
            + dense(2, 0, 1, 3, "u16", [7, 8, 9])
            + dense(0, 0, 2, 1, "u16", [1, 4])
            + dense(0, 1, 2, 2, "u16", [2, 3, 5, 6]))


def padded():
    """2 x 2 with a block of zero area and an auxiliary one between."""
    return (matrix_header(2, 2, "u8")
            + empty(0, 0, 0, 7)
            + dense(OUTSIDE, OUTSIDE, 1, 4, "u8", [0, 0, 0, 0])
            + dense(0, 0, 2, 2, "u8", [1, 2, 3, 4]))


def wide(cols):
    """2 rows of `cols` small numbers in one block."""
    return (matrix_header(2, cols, "i16")
            + dense(0, 0, 2, cols, "i16", [i * 37 % 1000 for i in range(2 * cols)]))


def many_blocks(rows):
    """One column in blocks of one cell."""
    return (matrix_header(rows, 1, "u8")
            + b"".join(dense(r, 0, 1, 1, "u8", [r % 251]) for r in range(rows)))


def many_columns(cols):
    columns = [(b"column %d" % i, "u8") for i in range(cols)]
    return frame_header(1, columns) + dense(0, 0, 1, cols, "u8", [i % 256 for i in range(cols)])


def leb128(n):
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7f | 0x80])
        n >>= 7
    return out + bytes([n])


def idv_string(text):
    return leb128(len(text.encode())) + text.encode()


def idv():
    """An ML.NET file of three rows: a text column and one of f32, without compression."""
    names = ["Bad", "Fair, or so", "\u00dc\"ber"]
    ends = [len("".join(names[:k + 1])) for k in range(3)]  # in UTF-16 units
    texts = struct.pack("<4i", 3, *ends) + idv_string("".join(names))
    return idv_file(3, [("Name", "TextSpan", texts), ("Value", "Single",
                                                      struct.pack("<3f", 0.5, 1, -2))])


def idv_vectors():
    """One of three rows: f32, and a column of vectors of as many bytes as their row has."""
    vectors = struct.pack("<8i", 3, 0, 0, 1, 2, -1, -1, -1) + struct.pack("<i3B", 0, 7, 8, 9)
    parameters = idv_string("Byte") + leb128(0) + struct.pack("<i", 0)
    return idv_file(3, [("Value", "Single", struct.pack("<3f", 0.5, 1, -2)),
                        ("Counts", "VBuffer", vectors, parameters)])


def idv_file(rows, columns):
    """columns: name, codec, the bytes of the one block, and parameters of the codec if it has some."""
    body, tables, toc = b"", [], b""
    for _, _, block, *_ in columns:
        tables.append((256 + len(body), len(block)))
        body += block
    lookup = 256 + len(body)
    for k, (offset, size) in enumerate(tables):
        body += struct.pack("<qii", offset, size, size)
        name, codec, _, *rest = columns[k]
        parameters = rest[0] if rest else b""
        toc += idv_string(name) + idv_string(codec) + leb128(len(parameters)) + parameters
        toc += b"\0" + leb128(rows)
        toc += struct.pack("<qq", lookup + 16 * k, 0)
    at = 256 + len(body)
    header = struct.pack("<QQQqqqi", 0x00425644004C4D43, 0x0001000100010006, 0x0001000100010006,
                         at, at + len(toc), rows, len(columns))
    return (header.ljust(256, b"\0") + body + toc
            + struct.pack("<Q", 0x434D4C0044564200))


def changed(data, at, new):
    assert data[at:at + len(new)] != new
    return data[:at] + new + data[at + len(new):]


def ordered():
    """A file that only the C++ API writes, whose hashes Python's library cannot make: a frame of two
    rows, its column "size" the ordered category small, medium, large."""
    return zlib.decompress(base64.b64decode(
        "eNpjZGZigABGGM3CUJxZlcqABpigShgZmRn/owGQuC1YziXARzfA0cWFgRyAbiwzUMwBbqyzv08wI9QRCVAdT99z"
        "LTF6sXU/zAQWRkYUE5mhNEy9AJT+rCBdV+02TSgBzQWsUJobTX1xbmJOTm5qSmZpbk5iUTo8cCZA6R9i+kqLLaOk"
        "Ye6EyfdwZAhaCodOxu8zTz+XCAa0WMAW/CCQGXVMo5e7Ujw7akuUuIS2Kro6TSjNg6aPkXHyjiV6IRmIaISIyx6x"
        "28l3e+3EAzjsh6sHhS4QB60SmWPht8cH5O4QR08fAB/0Y3E="))


def make(folder):
    folder.mkdir()

    def put(name, data):
        (folder / name).write_bytes(data)

    whole = mixed()
    put("mixed.dbdf", whole)
    put("frame.dbdf", frame())
    put("ordered.dbdf", ordered())
    put("gap.dbdf", gap())
    put("irregular.dbdf", irregular())
    put("padded.dbdf", padded())
    put("wide.dbdf", wide(30))
    put("csr.dbdf", matrix_header(2, 3, "f32", CSR_MATRIX)
        + csr(0, 0, 2, 3, "f32", [[(0, 1.0)], [(2, 0.1)]]))
    put("none.dbdf", matrix_header(0, 0, "f64"))
    put("no_columns.dbdf", frame_header(0, []))
    put("many.dbdf", many_blocks(20000))
    put("columns.dbdf", many_columns(30))
    put("labels.dbdf", frame_header(1, [(b"", "u8"), (b" x ", "u8"), (b"a\x1b[31m\nb", "u8"),
                                        (b"\xff\xc3\xa9", "u8"), (b"back\\slash", "u8")])
        + dense(0, 0, 1, 5, "u8", [1, 2, 3, 4, 5]))
    put("big.dbdf", matrix_header(10**12, 10**12, "f64") + empty(0, 0, 2**32 - 1, 2**32 - 1))
    put("numbers.dbdf", matrix_header(1, 10, "f64")
        + dense(0, 0, 1, 10, "f64", [0.1, 1 / 3, 1e22, 5e-324, 1e5, 100, -0.0, float("nan"),
                                     float("inf"), float("-inf")]))
    put("cut.dbdf", whole[:-4])
    put("cut_header.dbdf", whole[:12])
    put("version.dbdf", changed(whole, 0, b"\x02"))
    put("type.dbdf", changed(whole, 18, b"\x63"))
    put("outside.dbdf", matrix_header(2, 2, "u8") + dense(1, 0, 2, 2, "u8", [1, 2, 3, 4]))
    put("overlap.dbdf", matrix_header(2, 2, "u8") + dense(0, 0, 2, 2, "u8", [1, 2, 3, 4])
        + dense(1, 1, 1, 1, "u8", [5]))
    long_row = bytearray(matrix_header(3, 2, "u8") + csr(0, 0, 3, 2, "u8", [[(0, 1)], [(1, 5)], []]))
    long_row[62] = 9  # entries of row 1
    put("long_row.dbdf", bytes(long_row))
    put("column.dbdf", matrix_header(2, 2, "u8") + csr(0, 0, 2, 2, "u8", [[(0, 1)], [(2, 5)]]))
    put("twice.dbdf", matrix_header(4, 2, "u8") + csr(0, 0, 2, 2, "u8", [[(0, 1), (5, 2)], []])
        + csr(2, 0, 2, 2, "u8", [[(9, 1)], []]))
    put("noise.dbdf", bytes((i * 73 + 11) % 256 for i in range(300)))
    put("nothing.dbdf", b"")
    put("table.csv", b"id,weight,note\n1,2.5,10\n2,-1,20\n")
    put("plain.csv", b"1,2,3\n4,5,6\n")
    put("holes.csv", b"a,b\n1,\n,2\n")
    put("semicolon.csv", b"x;y\n1;0.5\n2;1.5\n")
    put("values.in", b"-- three values\n[1, 2, 3]\n[[1.5, 2.0], [0.25, 4.0]]\n7i64\n")
    put("texts.idv", idv())
    put("vectors.idv", idv_vectors())
    put("metadata.idv", changed(idv(), len(idv()) - 16, b"\x03"))  # of the last column: nowhere
    (folder / "folder").mkdir()
