#!/usr/bin/env python3
"""Writes the corpus of the fuzz target for ML.NET files: a column of every codec, in every version
and compression. Regression files (corpus/idv/found_*) are kept as they are.

usage: make_idv_corpus.py  (writes beside itself)"""

import pathlib
import struct
import zlib


def leb(n):
    out = b""
    while n >= 128:
        out += bytes([n % 128 + 128])
        n //= 128
    return out + bytes([n])


def string(text):
    data = text.encode()
    return leb(len(data)) + data


def codec(name, parameters=b""):
    return string(name) + leb(len(parameters)) + parameters


def vector_codec(items, *dims):
    return codec("VBuffer", items + struct.pack(f"<{len(dims) + 1}i", len(dims), *dims))


def ints(*numbers, kind="i"):
    return struct.pack(f"<{len(numbers)}{kind}", *numbers)


def texts(*all_texts):
    ends, joined = [], ""
    for text in all_texts:
        joined += text or ""
        ends.append(len(joined.encode("utf-16-le")) // 2 | (1 << 31 if text is None else 0))
    return ints(len(ends)) + ints(*ends, kind="I") + string(joined)


def vectors(length, rows, items):
    """rows: a list of slots for a sparse vector, a number of slots for a dense one."""
    counts = [len(row) if isinstance(row, list) else -1 for row in rows]
    slots = [slot for row in rows if isinstance(row, list) for slot in row]
    lengths = ints(*(9 if isinstance(row, list) else row for row in rows)) if length == 0 else b""
    return ints(len(rows), length) + lengths + ints(*counts, len(slots), *slots) + items


def squeeze(compression, data):
    if compression == 0:
        return data
    packer = zlib.compressobj(9, zlib.DEFLATED, -15 if compression == 1 else 15)
    return packer.compress(data) + packer.flush()


def build(version, rows, block_rows, compression, columns):
    """columns: (name, codec definition, blocks, metadata as (kind, definition, value))."""
    out = bytearray(256)
    lookups, toc = [], b""
    for _, _, blocks, _ in columns:
        lookup = b""
        for block in blocks:
            packed = squeeze(compression, block)
            lookup += struct.pack("<qii", len(out), len(packed), len(block))
            out += packed
        lookups.append(lookup)
    for (name, definition, _, metadata), lookup in zip(columns, lookups):
        toc += string(name) + definition + bytes([compression]) + leb(block_rows)
        toc += struct.pack("<q", len(out))
        out += lookup
        if version == 3:
            names = ints(0) + string("first")
            toc += struct.pack("<qqi", len(out), len(names), 1) if metadata else bytes(8)
            out += names if metadata else b""
        if version >= 4 and metadata:
            table = leb(len(metadata))
            for kind, meta_definition, value in metadata:
                packed = squeeze(compression, value)
                table += string(kind) + meta_definition + bytes([compression])
                table += struct.pack("<q", len(out)) + leb(len(packed))
                out += packed
            toc += struct.pack("<q", len(out))
            out += table
        elif version >= 4:
            toc += bytes(8)
    number = 0x0001000100010000 + version
    struct.pack_into("<QQQqqqi", out, 0, 0x00425644004C4D43, number, number, len(out),
                     len(out) + len(toc), rows, len(columns))
    return bytes(out) + toc + struct.pack("<Q", 0x434D4C0044564200)


def numbers():
    kinds = {"SByte": "b", "Byte": "B", "Int16": "h", "UInt16": "H", "Int32": "i", "UInt32": "I",
             "Int64": "q", "UInt64": "Q", "Single": "f", "Double": "d", "TimeSpan": "q",
             "DvDateTime": "q"}
    return [(name, codec(name), [ints(1, 2, kind=kind), ints(3, kind=kind)], [])
            for name, kind in kinds.items()]


def others():
    key2 = codec("Key2", codec("UInt16") + struct.pack("<Q", 700))
    key = codec("Key", codec("Byte") + struct.pack("<BQi", 1, 0, 9))
    return [
        ("bool", codec("Boolean"), [b"\2", b"\1"], []),
        ("old", codec("DvBool"), [ints(9), ints(1)], []),
        ("zone", codec("DateTimeOffset"), [ints(-60, 90, kind="h") + ints(5, 6, kind="q"),
                                           ints(0, kind="h") + ints(7, kind="q")], []),
        ("id", codec("DataViewRowId"), [ints(1, 2, 3, 4, kind="Q"), ints(5, 6, kind="Q")], []),
        ("text", codec("TextSpan"), [texts("one", None), texts("\U0001f600")], []),
        ("key2", key2, [ints(0, 700, kind="H"), ints(1, kind="H")], []),
        ("key", key, [b"\0\7", b"\1"], []),
        ("strange", codec("Strange", b"abc"), [b"x", b"y"], []),
    ]


def vector_columns():
    names = vectors(3, [3], texts("a", "b", "c"))
    fixed = vector_codec(codec("Single"), 3)
    return [
        ("fixed", fixed, [vectors(3, [3, [1]], ints(1, 2, 3, 4, kind="f")),
                          vectors(3, [[]], b"")],
         [("SlotNames", vector_codec(codec("TextSpan"), 3), names),
          ("IsNormalized", codec("Boolean"), b"\1")]),
        ("varying", vector_codec(codec("Int16"), 0),
         [vectors(0, [2, [0, 8]], ints(1, 2, 3, 4, kind="h")), vectors(1, [1], ints(5, kind="h"))],
         []),
        ("words", vector_codec(codec("TextSpan"), 2),
         [vectors(2, [2, [0]], texts("x", "y", "z")), vectors(2, [2], texts("", "q"))], []),
        ("wide", vector_codec(codec("Single"), 1 << 30),
         [vectors(1 << 30, [[5], [7]], ints(1, 2, kind="f")),
          vectors(1 << 30, [[(1 << 30) - 1]], ints(3, kind="f"))], []),
    ]


def main():
    folder = pathlib.Path(__file__).resolve().parent / "corpus" / "idv"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if not old.name.startswith("found_"):
            old.unlink()
    for version in range(2, 7):
        compression = version % 3
        for name, columns in (("numbers", numbers()), ("others", others()),
                              ("vectors", vector_columns())):
            data = build(version, 3, 2, compression, columns)
            (folder / f"{name}_v{version}_c{compression}.idv").write_bytes(data)
    for compression in range(3):
        data = build(6, 3, 2, compression, vector_columns()[:1])
        (folder / f"matrix_c{compression}.idv").write_bytes(data)
    (folder / "no_columns.idv").write_bytes(build(6, 4, 1, 0, []))
    (folder / "no_rows.idv").write_bytes(
        build(6, 0, 1, 1, [(n, d, [], m) for n, d, _, m in others() + vector_columns()]))


if __name__ == "__main__":
    main()
