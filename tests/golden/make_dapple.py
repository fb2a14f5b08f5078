#!/usr/bin/env python3
"""Makes files with a release of dapple, and the text that they must be read as.

    make_dapple.py DAPPLE FOLDER

Run once for each release, with its program; never again for one that was released. NAME.csv is what
NAME.dbdf holds, written from the values here and not by dapple. `beside/` has files with what dapple keeps
beside them; tests renew the times and sizes that those are bound to. Python's standard library only."""

import pathlib
import struct
import subprocess
import sys


def npy(path, code, rows):
    """Writes rows of equal length as a NumPy array."""
    shape = f"{{'descr': '<{code}', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header = shape.ljust(117) + "\n"
    letter = {"f8": "d", "f4": "f", "i4": "i", "i8": "q", "u1": "B"}[code]
    cells = [x for row in rows for x in row]
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                     struct.pack(f"<{len(cells)}{letter}", *cells))


def csv(path, rows, header=None):
    lines = [",".join(f"{x:.17g}" if isinstance(x, float) else str(x) for x in row) for row in rows]
    path.write_text("".join(line + "\n" for line in ([header] if header else []) + lines))


def dense(rows, cols, scale):
    return [[scale * (r * cols + c - rows) for c in range(cols)] for r in range(rows)]


def sparse(rows, cols, scale):
    """About a sixth of the cells; the rows 4 to 7 of the first columns have none."""
    hit = [(r * 7 + c * 11) % 6 == 0 and not (4 <= r < 8 and c < 4) for r in range(rows)
           for c in range(cols)]
    return [[scale * (r * cols + c + 1) if hit[r * cols + c] else 0 for c in range(cols)]
            for r in range(rows)]


MATRICES = {
    "dense_f64": ("f8", dense(7, 5, 0.25), ["--tile", "3x2", "--kind", "dense"]),
    "dense_wide_i64": ("i8", dense(6, 4, 2**53 + 1), ["--tile", "4x4", "--no-narrow"]),
    "csr_f32": ("f4", sparse(13, 9, 0.5), ["--tile", "5x4", "--kind", "csr"]),
    "coo_i32": ("i4", sparse(13, 9, -3), ["--tile", "4x4", "--kind", "coo"]),
    "column_coo_f64": ("f8", sparse(12, 1, 0.125), ["--tile", "6x1", "--kind", "coo"]),
    "mixed_kinds_i32": ("i4", [a + b for a, b in zip(dense(12, 4, 1), sparse(12, 8, 70000))],
                        ["--tile", "4x4"]),
    "one_tile_u8": ("u1", [[1, 2, 255]], []),
}
# Of releases that count the rows of large CSR blocks (18 KiB).
COUNTED = sparse(350, 40, 0.5)
NUMBERS = ("count,share", [[r - 3, r * 0.125] for r in range(9)])
# Of releases that keep words, times, truth values and missing cells.
MEANINGS = """name,born,seen,took,member,age,weight
Ada,1815-12-10,1843-09-01T10:15:30,00:00:01.500,true,36,61.5
,1906-12-09,,,false,,70
Grace,,1959-05-28T00:00:00,48:00:00.000,,85,
"say ""hi"", all",1912-06-23,1950-10-01T12:00:00,-00:00:01.000,true,41,-0.25
Ada,1947-03-05,1969-07-20T20:17:40,00:00:00.000,false,-9007199254740993,1e+300
"""


def main(program, folder):
    def run(*arguments):
        subprocess.run([program, *map(str, arguments)], check=True)

    folder.mkdir(parents=True)
    if folder.name != "dapple-0.1":
        MATRICES["csr_counted_f32"] = ("f4", COUNTED, ["--tile", "350x40", "--kind", "csr"])
    source = folder / "source.npy"
    for name, (code, rows, flags) in MATRICES.items():
        npy(source, code, rows)
        run("convert", source, folder / f"{name}.dbdf", *flags)
        csv(folder / f"{name}.csv", rows)
    source.unlink()
    csv(folder / "numbers.csv", NUMBERS[1], NUMBERS[0])
    run("convert", folder / "numbers.csv", folder / "numbers.dbdf", "--tile", "4x2")
    if folder.name == "dapple-0.1":
        return
    (folder / "meanings.csv").write_text(MEANINGS)
    run("convert", folder / "meanings.csv", folder / "meanings.dbdf", "--tile", "2x7", "--type",
        "took=duration")
    csv(folder / "appended.csv", NUMBERS[1] + NUMBERS[1], NUMBERS[0])
    run("convert", folder / "numbers.csv", folder / "appended.dbdf", "--tile", "4x2")
    run("convert", "--append", folder / "numbers.csv", folder / "appended.dbdf")
    make_beside(run, folder / "beside")


def make_beside(run, folder):
    """Indexes beside plain files and a table, one with statistics, and a copy by column."""
    folder.mkdir()
    code, rows, flags = MATRICES["csr_f32"]
    npy(folder / "source.npy", code, rows)
    run("convert", folder / "source.npy", folder / "plain.dbdf", "--plain", *flags)
    run("index", folder / "plain.dbdf", "--stats")
    run("convert", folder.parent / "numbers.csv", folder / "frame.dbdf", "--plain", "--tile", "4x2")
    run("index", folder / "frame.dbdf")
    run("convert", folder / "source.npy", folder / "copied.dbdf", *flags)
    run("index", folder / "copied.dbdf", "--columns")
    (folder / "source.npy").unlink()
    (folder / "table.csv").write_text(MEANINGS)
    run("index", folder / "table.csv")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
