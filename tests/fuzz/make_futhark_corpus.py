#!/usr/bin/env python3
"""Writes the corpus of the fuzz target for Futhark values: small streams of every kind, sound ones
and damaged ones. Regression files (corpus/futhark/found_*) are kept as they are.

usage: make_futhark_corpus.py  (writes beside itself)"""

import pathlib
import struct

CODES = {"i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I",
         "u64": "Q", "f16": "e", "f32": "f", "f64": "d", "bool": "?"}


def binary(element, dims, numbers):
    head = b"b\2" + bytes([len(dims)]) + element.rjust(4).encode()
    return head + struct.pack(f"<{len(dims)}q{len(numbers)}{CODES[element]}", *dims, *numbers)


def files():
    for element in CODES:
        yield "binary_" + element, binary(element, [2, 2], [0, 1, 1, 1])
    yield "binary_scalar", binary("i32", [], [7])
    yield "binary_empty", binary("f32", [2, 0], [])
    yield "binary_several", b"".join(binary("u8", [3], [1, 2, n]) + b"\n" for n in range(3))
    yield "binary_cut", binary("f64", [3], [1, 2, 3])[:-1]
    yield "binary_huge", binary("u8", [2**62, 2**62], [])
    yield "text_scalar", b"12i32"
    yield "text_vector", b"[1u8, 2, 0x3, 4u8,]"
    yield "text_integers", b"[0x1F, 010, -5, 0b101, 1_000, 99999999999999999999]"
    yield "text_reals", b"[[1.5f32, -0.0, 1e5], [f32.nan, f32.inf, -f32.inf]]"
    yield "text_scanf", b"[nan, -inf, .5, 5., 0x1.8p3, 1e, 0x., INFINITY]"
    yield "text_deep", b"[[[[1]], [[2]]]]"
    yield "text_truths", b"[true, false, true]"
    yield "text_string", b'["ab\\n\\x41\\&c", [1u8, 2, 3, 4, 5]]'
    yield "text_empty", b"empty([0][3]f32) [empty([0]i8), empty([0]i8)]"
    yield "text_empty_typed", b"empty ( [0] [3] f32 ) -- none"
    yield "text_comments", b"-- a\n[ -- b\n1, -- c\n2] -- d"
    yield "mixed", b"[1, 2] " + binary("f64", [2], [0.5, 1.5]) + b" [true,false] 3"
    yield "bad_rows", b"[[1, 2], [3]]"
    yield "bad_types", b"[1, 2.5]"
    yield "bad_number", b"[1E5, 08, 1..5]"


def main():
    folder = pathlib.Path(__file__).resolve().parent / "corpus" / "futhark"
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
