#!/usr/bin/env python3
"""Files for the browser to show.

usage: inputs.py FOLDER"""

import math
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))

import inputs  # noqa: E402

TYPES = list(inputs.CODES)


def every_type():
    """20 x 40: each value type as a dense, a CSR and a COO block, and an empty one."""
    data = inputs.matrix_header(20, 40, "f64")
    for k, t in enumerate(TYPES):
        row = 2 * k
        data += inputs.dense(row, 0, 2, 10, t, [10 * k + i % 10 for i in range(20)])
        data += inputs.csr(row, 10, 2, 10, t, [[(1, k + 1)], [(2, k + 2)]])
        data += inputs.coo(row, 20, 2, 10, t, [(0, 3, k + 3), (1, 9, k + 4)])
        data += inputs.empty(row, 30, 2, 10)
    return data


def gaps():
    """3000 x 5000: scattered values in blocks of every kind, NaN, and cells that no block covers."""
    spots = [[(c, (r * 7 + c) % 90 + 1) for c in range(r % 11, 1000, 97)] for r in range(1000)]
    data = inputs.matrix_header(3000, 5000, "f32")
    data += inputs.csr(0, 0, 1000, 1000, "u8", spots)
    data += inputs.coo(1000, 1000, 1000, 1000, "f32", [(r, c, float("nan") if c % 5 == 0 else -v)
                                                      for r, row in enumerate(spots) for c, v in row])
    data += inputs.dense(2000, 3000, 200, 300, "i16", [i * 31 % 701 - 350 for i in range(60000)])
    return data + inputs.empty(0, 1000, 1000, 3500)


def write_holes(path):
    """400000 x 25000 f64, 80 GB of which the file system stores nothing: a dense block of holes."""
    head = inputs.matrix_header(400000, 25000, "f64")
    head += inputs.block_header(0, 0, 400000, 25000, inputs.DENSE, "f64")
    path.write_bytes(head)
    os.truncate(path, len(head) + 400000 * 25000 * 8)


def main(folder):
    folder = pathlib.Path(folder)
    nan = float("nan")
    draw = random.Random(1)
    n = 10**7
    entries = [(i * 9973 % n, i + 1) for i in range(1000)]
    files = {
        "types": every_type(),
        "mixed": inputs.mixed(),
        "gaps": gaps(),
        "none": inputs.matrix_header(0, 0, "f64"),
        "nan": inputs.matrix_header(30, 30, "f32") + inputs.dense(0, 0, 30, 30, "f32", [nan] * 900),
        "wide": inputs.matrix_header(1, n, "u16")
        + inputs.csr(0, 0, 1, n, "u16", [sorted(entries)]),
        "tall": inputs.matrix_header(n, 1, "u16")
        + inputs.coo(0, 0, n, 1, "u16", [(r, 0, v) for r, v in sorted(entries)]),
        "thirds": inputs.matrix_header(300, 40, "f64")
        + inputs.dense(0, 0, 300, 40, "f64", [(i % 7 - 3) / 3 for i in range(12000)]),
        "offset": inputs.matrix_header(300, 300, "f64")
        + inputs.dense(0, 0, 300, 300, "f64", [1000 + math.sin(i % 300 / 50) for i in range(90000)]),
        "noise": inputs.matrix_header(1000, 1000, "f32")
        + inputs.dense(0, 0, 1000, 1000, "f32", [draw.gauss(0, 1) for _ in range(1000000)]),
        "large": inputs.matrix_header(4000000, 1, "u32")
        + inputs.dense(0, 0, 4000000, 1, "u32", range(4000000)),
        "infinite": inputs.matrix_header(1, 2, "f64")
        + inputs.dense(0, 0, 1, 2, "f64", [float("inf"), float("-inf")]),
        "markup": inputs.frame_header(2, [(b"<img src=x onerror=window.hurt=1>", "u8"),
                                          (b"</script><script>window.hurt=1</script>", "u8")])
        + inputs.dense(0, 0, 2, 2, "u8", [1, 2, 3, 4]),
    }
    (folder / "words.csv").write_text("name,when,flag,value\n" + "".join(
        f"n{i} <b>,2024-01-{i + 1:02},{'true' if i % 3 else 'false'},{i * 1.5 if i % 7 else ''}\n" for i in range(20)))
    for name, data in files.items():
        (folder / f"{name}.dbdf").write_bytes(data)
    write_holes(folder / "holes.dbdf")


if __name__ == "__main__":
    main(*sys.argv[1:])
