#!/usr/bin/env python3
"""ML.NET files between dapple and ML.NET, both ways.

    run.py DAPPLE FOLDER

FOLDER keeps what is built. Files that ML.NET saves must show the same cells in dapple, and files
that dapple writes the same cells in ML.NET. Skipped without dotnet, or where the package
Microsoft.ML cannot be had; DAPPLE_MLNET may name a folder that holds its assemblies."""

import csv
import datetime
import io
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import traceback

try:
    import numpy as np
except ImportError:
    print("NumPy is missing")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
BUILD_S, RUN_S = 240, 120
FIELDS = {"Byte": "u1", "UInt16": "u2", "UInt32": "u4", "UInt64": "u8", "SByte": "i1",
          "Int16": "i2", "Int32": "i4", "Int64": "i8", "Single": "f4", "Double": "f8"}


class Skip(Exception):
    """ML.NET can't be had here."""


def run(command, seconds, **options):
    env = dict(os.environ, DOTNET_CLI_TELEMETRY_OPTOUT="1", DOTNET_NOLOGO="1",
               DOTNET_SKIP_FIRST_TIME_EXPERIENCE="1")
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=env,
                          **options)


def build(folder):
    """The program that links ML.NET."""
    if shutil.which("dotnet") is None:
        raise Skip("no dotnet")
    sources = folder / "source"
    sources.mkdir(parents=True, exist_ok=True)
    for file in HERE.iterdir():
        if file.suffix in (".cs", ".csproj") and \
                (not (sources / file.name).exists()
                 or (sources / file.name).read_bytes() != file.read_bytes()):
            shutil.copy(file, sources)
    command = ["dotnet", "build", sources, "-c", "Release", "-o", folder / "program",
               "--disable-build-servers"]
    if assemblies := os.environ.get("DAPPLE_MLNET"):
        command.append(f"-p:MlNetFolder={pathlib.Path(assemblies).resolve()}")
    try:
        done = run(command, BUILD_S)
    except subprocess.TimeoutExpired:
        raise Skip("dotnet took too long to restore and build") from None
    if done.returncode == 0:
        return folder / "program" / "idv_mlnet.dll"
    if re.search(r"error (NU\d+|NETSDK\d+|MSB\d+)", done.stdout):
        raise Skip("Microsoft.ML cannot be restored")
    raise AssertionError(done.stdout)


class Cells:
    """What Cells.cs printed."""

    def __init__(self, path):
        self.names, self.types, self.rows = [], [], 0
        values = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            kind, rest = line.split(" ", 1)
            if kind == "rows":
                self.rows = int(rest)
            elif kind == "col":
                name, self_type = re.fullmatch(r'"((?:[^"]|"")*)" (.*)', rest).groups()
                self.names.append(name.replace('""', '"'))
                self.types.append(self_type)
            elif kind == "v":
                row, col, text = rest.split(" ", 2)
                values[int(row), int(col)] = re.sub(
                    r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text)
        self.values = [[values[r, c] for r in range(self.rows)] for c in range(len(self.names))]


def number(text, kind):
    """A number's bits; all NaNs are one."""
    if kind not in ("Single", "Double"):
        return int(text)
    value = float(text)
    return "nan" if math.isnan(value) else struct.pack("<f" if kind == "Single" else "<d", value)


def stored(text, kind):
    """The number that a cell as dapple shows it stands for in the file."""
    if kind == "Boolean":
        return {"true": "1", "false": "0"}.get(text, text)
    time = re.fullmatch(r"(?:(\d{4})-(\d\d)-(\d\d)T|(-?))(\d+):(\d\d):(\d\d)\.(\d+)", text)
    if time is None:
        return text or "0"  # of a key: missing
    year, month, day, sign, hours, minutes, seconds, fraction = time.groups()
    ticks = (int(hours) * 3600 + int(minutes) * 60 + int(seconds)) * 10**7 + \
        int(fraction.ljust(9, "0")) // 100
    if year:
        ticks += (datetime.date(int(year), int(month), int(day)).toordinal() - 1) * 864 * 10**9
    return str(-ticks if sign else ticks)


def items_of_vector(text, size):
    """The texts of all slots; those that a sparse vector doesn't store are 0."""
    if text.startswith("["):
        return text[1:-1].split(", ")
    slots = ["0"] * size
    for part in filter(None, re.fullmatch(r"\d+: \{(.*)\}", text)[1].split(", ")):
        slot, value = part.split(": ")
        slots[int(slot)] = value
    return slots


def parts(text, kind):
    """An item as the texts of its columns in dapple."""
    if kind == "DateTimeOffset":
        return text.split("@") if "@" in text else [text, "0"]
    if kind == "DataViewRowId":
        return text.split(":")
    return [text]


def expected_columns(cells):
    """(kind, texts) of each column that dapple must show; kind None for text."""
    columns = []
    for values, described in zip(cells.values, cells.types):
        vector = re.fullmatch(r"Vector<(Key<.*?>|\w+)((?:, \d+)*)>", described)
        kind = re.sub(r"^Key<(\w+),.*", r"\1", vector[1] if vector else described)
        if kind == "String" or (vector and not vector[2]):
            plain = not vector
            columns.append((None, [v[1:-1].replace('""', '"') if plain else v for v in values]))
            continue
        size = math.prod(int(d) for d in vector[2].split(", ")[1:]) if vector else 1
        rows = [[parts(item, kind) for item in (items_of_vector(v, size) if vector else [v])]
                for v in values]
        width = {"DateTimeOffset": 2, "DataViewRowId": 2}.get(kind, 1)
        for part in range(width):
            for slot in range(size):
                columns.append((kind, [row[slot][part] for row in rows]))
    return columns


class Check:
    def __init__(self, dapple, program, folder):
        self.dapple, self.program, self.folder = dapple, program, folder

    def call(self, *arguments):
        done = run([self.dapple, *map(str, arguments)], RUN_S)
        assert done.returncode == 0, (arguments, done.returncode, done.stderr)
        return done.stdout

    def mlnet(self, *arguments):
        done = run(["dotnet", self.program, *map(str, arguments)], RUN_S)
        assert done.returncode == 0, done.stdout + done.stderr

    def check_saved_by_mlnet(self):
        """Files of ML.NET in dapple."""
        saved = self.folder / "saved"
        saved.mkdir()
        self.mlnet("save", saved)
        files = sorted(saved.glob("*.idv"))
        assert len(files) == 11, files
        for file in files:
            cells = Cells(file.with_name(file.name + ".cells"))
            rows = list(csv.reader(io.StringIO(self.call("get", "-q", file), newline="")))
            matrix = file.name.startswith("matrix")
            labels, rows = ([], rows) if matrix else (rows[0], rows[1:])
            wanted = expected_columns(cells)
            assert len(rows) == cells.rows, (file, len(rows), cells.rows)
            for col, (kind, texts) in enumerate(wanted):
                got = [row[col] for row in rows]
                if kind is not None:
                    got = [number(stored(t, kind), kind) for t in got]
                    texts = [number(t, kind) for t in texts]
                assert got == texts, (file, col, kind)
            if file.name.startswith("vectors"):
                assert labels[1:6] == ["one", "two", "Fixed.2", "four", "five"], labels
            assert self.call("verify", "-q", "--payload", file) == ""

    def written(self):
        """Arrays, and the files that dapple made of them."""
        rng = np.random.default_rng(9)
        for kind, dtype in FIELDS.items():
            for rows, cols, share in ((0, 3, 1), (1, 1, 1), (700, 5, 1), (9000, 4, 0.3),
                                      (50, 400, 0.02)):
                bits = np.frombuffer(rng.bytes(rows * cols * 8), dtype="u8").reshape(rows, cols)
                array = bits.astype(dtype) if kind not in ("Single", "Double") else \
                    (bits.astype("i8") / 2**40).astype(dtype)
                array = np.where(rng.random((rows, cols)) < share, array, 0).astype(dtype)
                yield f"{kind}_{rows}x{cols}", array
        fields = [(f"the {kind} \u00e9", dtype) for kind, dtype in FIELDS.items()]
        for rows in (0, 1, 20000):
            frame = np.zeros(rows, dtype=fields)
            for name, dtype in fields:
                frame[name] = np.frombuffer(rng.bytes(rows * 8), dtype="i8").astype(dtype)
            yield f"frame_{rows}", frame

    def check_written_by_dapple(self):
        """Files of dapple in ML.NET."""
        arrays = dict(self.written())
        files = []
        for name, array in arrays.items():
            np.save(self.folder / f"{name}.npy", array)
            files.append(self.folder / f"{name}.idv")
            self.call("convert", "-q", self.folder / f"{name}.npy", files[-1])
        self.mlnet("print", *files)
        for file in files:
            cells = Cells(file.with_name(file.name + ".cells"))
            array = arrays[file.stem]
            assert cells.rows == len(array), file
            if array.dtype.names:
                assert cells.names == list(array.dtype.names)
                columns = [array[name] for name in array.dtype.names]
            else:
                assert cells.names == ["Features"]
                columns = [array[:, c] for c in range(array.shape[1])]
            shown = expected_columns(cells)
            assert len(shown) == len(columns)
            for (kind, texts), column in zip(shown, columns):
                assert FIELDS[kind] == column.dtype.str[1:], (file, kind)
                assert [number(t, kind) for t in texts] == \
                    [number(repr(v), kind) for v in column.tolist()], file


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        program = build(pathlib.Path(sys.argv[2]).resolve())
    except Skip as reason:
        print(reason)
        print("0 passed, 0 failed, 2 skipped")
        sys.exit(77)
    failed = 0
    for name in ("check_saved_by_mlnet", "check_written_by_dapple"):
        with tempfile.TemporaryDirectory() as folder:
            check = Check(pathlib.Path(sys.argv[1]).resolve(), program, pathlib.Path(folder))
            try:
                getattr(check, name)()
            except Exception:
                failed += 1
                print(f"{name}:")
                traceback.print_exc(file=sys.stdout)
    print(f"{2 - failed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
