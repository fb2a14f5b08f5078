#!/usr/bin/env python3
"""Writes the corpus of fuzz_hdf5: chunks of each pipeline of filters, and sparse groups."""

import pathlib
import struct
import zlib

FOLDER = pathlib.Path(__file__).resolve().parent / "corpus" / "hdf5"


def chunks(rows, cols, high, wide, filters, skipped, kind, payload):
    head = bytes((0, rows - 1, cols - 1, high - 1, wide - 1, filters, skipped, kind))
    return head + payload


def sparse(by_column, rows, cols, gzip, indptr, indices, data):
    def numbers(values):
        return bytes((len(values),)) + struct.pack(f"<{len(values)}i", *values)

    head = bytes((1, by_column, rows, cols, 3, gzip))
    return head + numbers(indptr) + numbers(indices) + bytes((len(data), *data))


def shuffled(payload, size):
    return b"".join(payload[i::size] for i in range(size))


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    integers = struct.pack("<12i", *range(-6, 6))
    files = {
        "plain": chunks(7, 5, 3, 4, 0, 0, 1, integers),
        "deflated": chunks(7, 5, 3, 4, 2, 0, 1, zlib.compress(integers)),
        "shuffled": chunks(6, 8, 3, 4, 1, 0, 1, shuffled(integers, 4)),
        "both": chunks(7, 5, 3, 4, 3, 0, 1, zlib.compress(shuffled(integers, 4))),
        "skipped": chunks(7, 5, 3, 4, 3, 2, 1, shuffled(integers, 4)),
        "doubles": chunks(2, 2, 2, 2, 2, 0, 2, zlib.compress(struct.pack("<4d", 1, -0.0, 2.5, 3))),
        "empty": chunks(3, 3, 2, 2, 2, 0, 0, b""),
        "csr": sparse(0, 4, 5, 1, (0, 2, 2, 3, 5), (0, 3, 1, 2, 4), (1, 2, 3, 4, 5)),
        "csc": sparse(1, 5, 4, 0, (0, 2, 2, 3, 5), (0, 3, 1, 2, 4), (1, 2, 3, 4, 5)),
        "unsorted": sparse(0, 2, 5, 0, (0, 3, 5), (3, 0, 1, 4, 2), (1, 2, 0, 4, 5)),
        "no_rows": sparse(0, 0, 5, 0, (0,), (), ()),
    }
    for name, content in files.items():
        (FOLDER / name).write_bytes(content)


if __name__ == "__main__":
    main()
