#!/usr/bin/env python3
"""Writes the corpus of the fuzz target for packed payloads: blocks of every kind, with streams of every
encoding, made from lib/codec/packed/FORMAT.md. Regression files (corpus/packed/found_*) are kept.

usage: make_packed_corpus.py  (writes beside itself)"""

import pathlib
import struct

DENSE, CSR, COO = 0, 1, 2  # as fuzz_packed.cpp reads them
TYPES = ("u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64")
OFFSETS, DELTAS, ZIGZAG = 0, 1, 2


def bits(numbers, width):
    word = sum((number & ((1 << width) - 1)) << (i * width) for i, number in enumerate(numbers))
    return word.to_bytes((len(numbers) * width + 7) // 8, "little")


def frame(content):
    """A frame of zstd that holds fewer than 256 bytes as they are."""
    head = (len(content) << 3 | 1).to_bytes(3, "little")
    return b"\x28\xb5\x2f\xfd\x20" + bytes([len(content)]) + head + content


def group(numbers, width, base, base_bytes):
    """Head and body of a group whose numbers are packed as they are."""
    wide = [(i, number >> width) for i, number in enumerate(numbers) if number >> width]
    rest = max((high.bit_length() for _, high in wide), default=0)
    head = bytes([width, len(wide), rest]) + base.to_bytes(base_bytes, "little")
    places = bytes(i for i, _ in wide)
    return head, bits(numbers, width) + places + bits([high for _, high in wide], rest)


def integers(packed, size, mode=OFFSETS, reference=0, width=3, base=0, base_bytes=0, zstd=False):
    """Up to 1024 integers."""
    groups = [group(packed[i:i + 128], width, base, base_bytes) for i in range(0, len(packed), 128)]
    piece = b"".join(head for head, _ in groups) + b"".join(body for _, body in groups)
    piece = frame(piece) if zstd else piece
    return (bytes([mode | zstd << 2, base_bytes]) + reference.to_bytes(size, "little") +
            struct.pack("<I", len(piece)) + piece)


def block(kind, value_type, rows, cols, stored, layout, *streams):
    ends = [sum(map(len, streams[:i + 1])) for i in range(len(streams))]
    shape = bytes([kind, TYPES.index(value_type), rows, cols, stored // 4])
    return shape + bytes([1, layout, 0, 0]) + struct.pack(f"<{len(ends)}I", *ends) + b"".join(streams)


def files():
    some = [i * 7 % 11 for i in range(24)]
    yield "raw", block(DENSE, "u16", 2, 3, 0, 0, b"\x00" + bytes(range(12)))
    yield "constant", block(DENSE, "i64", 200, 200, 0, 0, b"\x01" + bytes(range(8)))
    yield "offsets", block(DENSE, "u8", 4, 6, 0, 0, b"\x02" + integers(some, 1, reference=200))
    yield "bases", block(DENSE, "u32", 20, 13, 0, 0, b"\x02" + integers(
        [i % 40 for i in range(260)], 4, reference=9, width=4, base=70000, base_bytes=3))
    yield "deltas", block(DENSE, "i16", 6, 4, 0, 0, b"\x02" + integers(
        some, 2, DELTAS, 65535, base=300, base_bytes=2))
    yield "zigzag", block(DENSE, "f64", 4, 6, 0, 0, b"\x02" + integers(
        some, 8, ZIGZAG, width=2, base=2**62, base_bytes=8))
    yield "zigzag_of_colours", block(DENSE, "u8", 4, 6, 0, 0, b"\x02" + integers(
        some, 1, ZIGZAG | 2 << 3, width=4, base=90, base_bytes=1))
    yield "offsets_with_lag", block(DENSE, "u8", 4, 6, 0, 0, b"\x02" + integers(some, 1, 1 << 3))
    yield "compressed", block(DENSE, "u8", 4, 6, 0, 0, b"\x02" + integers(some, 1, width=8, zstd=True))
    yield "columns", block(DENSE, "u8", 24, 2, 0, 1, b"\x01\x05", b"\x02" + integers(some, 1))
    table = struct.pack("<I11d", 11, *(i / 3 for i in range(11)))
    yield "dictionary", block(DENSE, "f64", 4, 6, 0, 0, b"\x03" + table + integers(some, 4))
    decimal = struct.pack("<bIIIff", -2, 2, 3, 20, -0.0, 1e30)
    yield "decimal_f32", block(DENSE, "f32", 4, 6, 0, 0, b"\x04" + decimal + integers(
        some, 4, reference=2**30 + 1000))
    decimal = struct.pack("<bIId", 3, 1, 23, float("inf"))
    yield "decimal_f64", block(DENSE, "f64", 4, 6, 0, 0, b"\x04" + decimal + integers(
        some, 8, reference=2**51 - 1000))
    marked = struct.pack("<bIIIIf", -1, 2**30 + 1003, 0x7FC007A2, 1, 5, 1e30)
    yield "marked_f32", block(DENSE, "f32", 4, 6, 0, 0, b"\x06" + marked + integers(
        some, 4, reference=2**30 + 1000))
    marked = struct.pack("<bQdI", 0, 2**51 + 2, float("nan"), 0)
    yield "marked_f64", block(DENSE, "f64", 4, 6, 0, 0, b"\x06" + marked + integers(
        some, 8, reference=2**51))
    highs = struct.pack("<I11H", 11, *range(100, 111))
    codes = integers(some, 4)
    split = bytes([20]) + highs + struct.pack("<I", len(codes)) + codes
    yield "split", block(DENSE, "f32", 4, 6, 0, 0, b"\x05" + split + integers(some, 4, width=20))
    highs = struct.pack("<I11H", 11, *range(2000, 2011))
    split = bytes([50]) + highs + struct.pack("<I", len(codes)) + codes
    yield "split_f64", block(DENSE, "f64", 4, 6, 0, 0, b"\x05" + split + integers(some, 8, width=50))
    ends = b"\x02" + integers([8, 8, 24], 4, width=5)
    gaps = b"\x02" + integers([i % 5 for i in range(24)], 4, width=2)
    values = b"\x02" + integers(some, 1, reference=1)
    yield "csr_gaps", block(CSR, "u8", 3, 120, 24, 1, ends, gaps, values)
    yield "csr_columns", block(CSR, "u8", 3, 120, 24, 0, ends, gaps, values)
    yield "csr_empty_rows", block(CSR, "f64", 90, 7, 0, 1, b"\x01" + bytes(4), b"\x00", b"\x00")
    yield "coo", block(COO, "u8", 200, 30, 24, 0, gaps, gaps, values)
    yield "coo_column", block(COO, "i8", 200, 1, 24, 0, gaps, values)
    yield "gap_around_zero", block(CSR, "u8", 3, 120, 24, 1, ends, b"\x02" + integers(
        [2**32 - 2] * 24, 4, width=32), values)
    yield "ends_descend", block(CSR, "u8", 3, 120, 24, 1, b"\x02" + integers(
        [9, 8, 24], 4, width=5), gaps, values)
    yield "exception_outside", block(DENSE, "u8", 4, 6, 0, 0, b"\x02" + integers(
        some, 1, reference=200)[:-3] + b"\xff\xff\xff")
    yield "too_many_rows", block(CSR, "u8", 0, 120, 24, 1, b"\x00", gaps, values)


def main():
    folder = pathlib.Path(__file__).resolve().parent / "corpus" / "packed"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if not old.name.startswith("found_"):
            old.unlink()
    for name, content in files():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
