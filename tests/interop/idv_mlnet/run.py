#!/usr/bin/env python3
"""ML.NET files between dapple and ML.NET, both ways.

    run.py DAPPLE FOLDER

FOLDER keeps ML.NET's files. What ML.NET saves must show the same cells in dapple, and what dapple
writes the same cells, types and key values in ML.NET. Skipped where ML.NET cannot be had."""

import csv
import datetime
import io
import math
import pathlib
import re
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

import mlnet

RUN_S = 120
FIELDS = {"Byte": "u1", "UInt16": "u2", "UInt32": "u4", "UInt64": "u8", "SByte": "i1",
          "Int16": "i2", "Int32": "i4", "Int64": "i8", "Single": "f4", "Double": "f8"}


def number(value, kind):
    """A number's bits; all NaNs are one."""
    if kind not in ("Single", "Double"):
        return int(value)
    value = float(value)
    return "nan" if math.isnan(value) else struct.pack("<f" if kind == "Single" else "<d", value)


def stored(text, kind):
    """The number in the file of a cell as dapple shows it."""
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


def items_of_vector(shown, kind):
    """The items of a vector as dapple shows it; those that a sparse one doesn't store are 0."""
    if kind == "String":
        return [item.replace('""', '"') for item in re.findall(r'"((?:[^"]|"")*)"', shown)]
    if shown.startswith("["):
        return [number(item, kind) for item in filter(None, shown[1:-1].split(", "))]
    size, held = re.fullmatch(r"(\d+): \{(.*)\}", shown).groups()
    items = [number(0, kind)] * int(size)
    for part in filter(None, held.split(", ")):
        slot, value = part.split(": ")
        items[int(slot)] = number(value, kind)
    return items


def expected_columns(types, cells):
    """(kind, cells) of each column that dapple must show; kind None for text as it is shown."""
    columns = []
    for described, values in zip(types, cells):
        vector = re.fullmatch(r"Vector<(Key<.*?>|\w+)((?:, \d+)*)>", described)
        kind = re.sub(r"^Key<(\w+),.*", r"\1", vector[1] if vector else described)
        if kind == "String" or (vector and not vector[2]):
            columns.append((kind, None if vector else "text", values))
            continue
        size = math.prod(int(d) for d in vector[2].split(", ")[1:]) if vector else 1
        rows = values if vector else [(v,) for v in values]
        assert all(len(row) == size for row in rows)
        if kind in ("DateTimeOffset", "DataViewRowId"):
            for part in range(2):
                columns += [(kind, "number", [row[slot][part] for row in rows])
                            for slot in range(size)]
        else:
            columns += [(kind, "number", [row[slot] for row in rows]) for slot in range(size)]
    return columns


class Check:
    def __init__(self, dapple, ml, folder):
        self.dapple, self.ml, self.folder = dapple, ml, folder

    def call(self, *arguments):
        done = subprocess.run([self.dapple, *map(str, arguments)], capture_output=True, text=True,
                              timeout=RUN_S)
        assert done.returncode == 0, (arguments, done.returncode, done.stderr)
        self.notes = done.stderr
        return done.stdout

    def written(self, *arguments):
        """What ML.NET sees of the file that a call of dapple writes."""
        file = self.folder / f"written_{len(list(self.folder.iterdir()))}.idv"
        verb, *operands = arguments
        self.call(verb, *operands, *(["-o", file] if verb == "concat" else [file]))
        return self.ml.load(file)

    def csv_file(self, text):
        file = self.folder / f"table_{len(list(self.folder.iterdir()))}.csv"
        file.write_text(text, encoding="utf-8")
        return file

    def same_cells(self, a, b, times=1):
        assert self.ml.types(a) == self.ml.types(b), (self.ml.types(a), self.ml.types(b))
        for name in self.ml.types(a):
            kind = self.ml.types(a)[name]
            got, want = self.ml.cells(b, name), self.ml.cells(a, name) * times
            # NaN is no equal of itself.
            assert list(map(repr, got)) == list(map(repr, want)), (name, kind)
            for annotation in ("KeyValues", "SlotNames"):
                has = [annotation in [c.Name for c in v.Schema[name].Annotations.Schema]
                       for v in (a, b)]
                assert has[0] == has[1], (name, annotation)
                if has[0]:
                    assert self.ml.annotation(a, name, annotation) == \
                        self.ml.annotation(b, name, annotation), name

    def check_saved_by_mlnet(self):
        """Files of ML.NET in dapple, and again in ML.NET after convert and concat."""
        import samples
        seen = 0
        for name, view in samples.all_samples(self.ml):
            seen += 1
            file = self.folder / f"{name}.idv"
            self.ml.save(view, file)
            types = self.ml.types(view)
            cells = [self.ml.cells(view, column) for column in types]
            rows = list(csv.reader(io.StringIO(self.call("get", "-q", file), newline="")))
            labels, rows = rows[0], rows[1:]
            for col, (kind, how, want) in enumerate(expected_columns(types.values(), cells)):
                got = [row[col] for row in rows]
                if how == "number":
                    got = [number(stored(t, kind), kind) for t in got]
                    want = [number(v, kind) for v in want]
                elif how is None:
                    got = [items_of_vector(t, kind) for t in got]
                    want = [[v if kind == "String" else number(v, kind) for v in row]
                            for row in want]
                assert got == want, (name, col, kind)
            if name.startswith("vectors"):
                assert labels[1:6] == ["one", "two", "Fixed.2", "four", "five"], labels
            assert self.call("verify", "-q", "--payload", file) == ""
            source = file
            if name.startswith("vectors"):  # without those that dapple only shows
                source = self.folder / f"{name}.some.idv"
                self.call("convert", "--drop-unsupported", file, source)
                dropped = ("Variable", "Words", "MoreWords")
                view = self.ml.load(source)
                assert self.ml.types(view) == {k: t for k, t in types.items() if k not in dropped}
            self.same_cells(view, self.written("convert", source))
            assert self.notes.count("\n") == 1, self.notes  # the summary alone
            self.same_cells(view, self.written("concat", source, source), times=2)
            assert self.notes.count("\n") == 1, self.notes
        assert seen == 9, seen

    def arrays(self):
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
        for rows in (0, 1, 9000):
            frame = np.zeros(rows, dtype=fields)
            for name, dtype in fields:
                frame[name] = np.frombuffer(rng.bytes(rows * 8), dtype="i8").astype(dtype)
            yield f"frame_{rows}", frame

    def check_written_by_dapple(self):
        """Arrays of every type."""
        for name, array in self.arrays():
            np.save(self.folder / f"{name}.npy", array)
            view = self.written("convert", self.folder / f"{name}.npy")
            types = self.ml.types(view)
            if array.dtype.names:
                assert list(types) == list(array.dtype.names)
                columns = [array[field] for field in array.dtype.names]
            else:
                assert list(types) == ["Features"]
                columns = [array[:, c] for c in range(array.shape[1])]
            shown = expected_columns(types.values(), [self.ml.cells(view, c) for c in types])
            assert len(shown) == len(columns)
            for (kind, _, values), column in zip(shown, columns):
                assert FIELDS[kind] == column.dtype.str[1:], (name, kind)
                assert [number(v, kind) for v in values] == \
                    [number(v, kind) for v in column.tolist()], name

    def check_categories_are_labels(self):
        """ML.NET's trainers take keys of 32 bits only: from whatever dapple has."""
        rows = "".join(f"{word},{i},{i * i}\n" for i, word in
                       enumerate(["red", "green", "red", "blue"] * 6))
        table = self.csv_file("k,x.0,x.1\n" + rows)
        types = ["--type", "x.0=f32", "--type", "x.1=f32"]
        frame, file = self.folder / "k.dbdf", self.folder / "k.idv"
        self.call("convert", table, frame, *types)
        self.call("convert", frame, file)
        for given in (["convert", table, *types], ["convert", frame], ["concat", frame, frame],
                      ["concat", file, file], ["concat", file, frame]):
            view = self.written(*given)
            assert self.ml.types(view) == {"k": "Key<UInt32, 0-2>", "x": "Vector<Single, 2>"}, given
            assert self.ml.annotation(view, "k", "KeyValues") == ("red", "green", "blue")
            assert set(self.ml.cells(view, "k")) == {1, 2, 3}
            self.ml.fit(view, "k", "x")
        narrow = self.folder / "narrow.idv"
        import samples
        import System
        made = samples.Builder(self.ml, 3)
        made.one("n", System.Byte, made.key(System.Byte, 9), lambda i: System.Byte(i))
        self.ml.save(made.view(), narrow)
        for given in (["convert", narrow], ["concat", narrow, narrow]):
            assert self.ml.types(self.written(*given)) == {"n": "Key<Byte, 0-8>"}

    def check_no_name_hides_a_column(self):
        """Of columns of one name ML.NET sees the last."""
        for text in ("a,a.0,a.1\n5,1,3\n6,2,4\n", "a.0,a.1,a\n1,3,5\n2,4,6\n",
                     "a.0,a.1,b,b.0\n1,2,3,4\n", "a.0,a.1,a.0.0,a.0.1,a\n1,2,3,4,5\n"):
            view = self.written("convert", self.csv_file(text))
            header, *rows = text.split()
            shown = {}
            for name, described in self.ml.types(view).items():
                cells = self.ml.cells(view, name)
                if described.startswith("Vector"):
                    for slot, column in enumerate(zip(*cells)):
                        shown[f"{name}.{slot}"] = list(column)
                else:
                    shown[name] = cells
            labels = header.split(",")
            assert shown == {label: [float(row.split(",")[k]) for row in rows]
                             for k, label in enumerate(labels)}, text
        view = self.written("convert", self.csv_file("a,a\n1,2\n3,4\n"))
        assert self.ml.cells(view, "a") == [2.0, 4.0]
        assert "ML.NET shows only the last" in self.notes

    def check_values_of_keys(self):
        """Keys whose values are equal, or numbers, stay what they are when files follow each other."""
        import samples
        import System
        types, memory = self.ml.ml.Data, System.ReadOnlyMemory[System.Char]
        texts = [samples.text(value) for value in ("a", "", "", "b")]
        for name, item, described, values in (
                ("texts", memory, types.TextDataViewType.Instance, texts),
                ("floats", System.Single, types.NumberDataViewType.Single, [1.5, -2.0, 7.0]),
                ("dates", System.DateTime, types.DateTimeDataViewType.Instance,
                 [System.DateTime(2020, 1, day) for day in (1, 2)])):
            made = samples.Builder(self.ml, 4)
            made.one("k", System.UInt32, made.key(System.UInt32, len(values)),
                     lambda i, n=len(values): System.UInt32(i % n + 1))
            view, file = made.view(k=(item, described, values)), self.folder / f"{name}.idv"
            self.ml.save(view, file)
            self.same_cells(view, self.written("convert", file))
            self.same_cells(view, self.written("concat", file, file, file), times=3)
            if name == "dates":
                assert self.call("get", "-q", file).splitlines()[1:3] == \
                    ['"2020-01-01T00:00:00.000000"', '"2020-01-02T00:00:00.000000"']


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    names = [name for name in vars(Check) if name.startswith("check_")]
    try:
        ml = mlnet.MlNet(pathlib.Path(sys.argv[2]).resolve())
    except mlnet.Skip as reason:
        print(reason)
        print(f"0 passed, 0 failed, {len(names)} skipped")
        sys.exit(77)
    failed = 0
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            check = Check(pathlib.Path(sys.argv[1]).resolve(), ml, pathlib.Path(folder))
            try:
                getattr(check, name)()
            except Exception:
                failed += 1
                print(f"{name}:")
                traceback.print_exc(file=sys.stdout)
    print(f"{len(names) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
