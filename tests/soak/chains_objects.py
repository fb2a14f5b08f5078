"""Objects as Python's own values: random ones, what a file holds, and how two of them differ."""

import dataclasses

import model_matrices
import numpy as np
import pyarrow as pa
import pydapple as dp

NUMBERS = {"u1": pa.uint8(), "u2": pa.uint16(), "u4": pa.uint32(), "u8": pa.uint64(), "i1": pa.int8(),
           "i2": pa.int16(), "i4": pa.int32(), "i8": pa.int64(), "f4": pa.float32(), "f8": pa.float64()}
TICKS = {"D": 86400 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
ZONES = ("", "", "UTC", "Europe/Berlin", "+05:30")
# Words that look like something else, or need quotes, or are no ASCII.
WORDS = ("red", "green", "", "NA", "nan", "true", "false", "2020-01-01", "2020-01-01T00:00:00Z", "1", "1.5", "-0", "007",
         "a,b", 'say "no"', "line\nbreak", "tab\there", " lead", "trail ", "caf\u00e9", "N/A", "?", "null", "inf", "x" * 40,
         "#c", "%", "'q'", ";", "\r", "1e5", "1:00:00", "2 days", "\ufeffbom", "a.0", "\U0001f600", "end\0")
POOLS = (WORDS, WORDS, ("red", "green"), ("true", "false"), ("2020-01-01", ""), ("1", "30"), ("", "NA"), ("1", "nan"))
ATTRIBUTES = {"units": "mm", "n": 2**53 + 1, "f": 0.1, "none": None, "list": [1, "a", [2.5]], "": {"\u00e9": '"'}}


@dataclasses.dataclass
class Column:
    """Cells are None where they are missing, times are ticks."""

    label: str
    kind: str
    cells: list
    stored: str = ""
    unit: str = ""
    zone: str = ""
    ordered: bool = False


@dataclasses.dataclass
class Object:
    """A matrix has cells, a frame columns."""

    rows: int
    cells: np.ndarray | None = None
    columns: list = dataclasses.field(default_factory=list)
    row_names: list | None = None
    col_names: list | None = None
    attrs: dict = dataclasses.field(default_factory=dict)

    @property
    def is_frame(self):
        return self.cells is None

    def numbers(self):
        """Columns of numbers, of a matrix as well."""
        if self.is_frame:
            return self.columns
        labels = self.col_names or [str(k) for k in range(self.cells.shape[1])]
        return [Column(label, "number", self.cells[:, k].tolist(), self.cells.dtype.str[1:])
                for k, label in enumerate(labels)]

    def part(self, rows):
        columns = [dataclasses.replace(c, cells=c.cells[rows]) for c in self.columns]
        names = self.row_names and self.row_names[rows]
        cells = None if self.is_frame else self.cells[rows]
        return dataclasses.replace(self, rows=len(range(self.rows)[rows]), cells=cells, columns=columns, row_names=names)

    def to_arrow(self):
        arrays = [to_arrow(c) for c in self.columns]
        return pa.table(arrays, [c.label for c in self.columns])


def to_arrow(column):
    if column.kind == "number":
        return pa.array(column.cells, NUMBERS[column.stored])
    if column.kind == "boolean":
        return pa.array(column.cells, pa.bool_())
    if column.kind == "timestamp" and column.unit == "D":
        return pa.array(column.cells, pa.int32()).cast(pa.date32())
    if column.kind == "timestamp":
        return pa.array(column.cells, pa.int64()).cast(pa.timestamp(column.unit, column.zone or None))
    if column.kind == "duration":
        return pa.array(column.cells, pa.int64()).cast(pa.duration(column.unit))
    if column.kind == "text":
        return pa.array(column.cells, pa.large_string())
    words = sorted({cell for cell in column.cells if cell is not None} | {"never used", "1"})
    codes = [None if cell is None else words.index(cell) for cell in column.cells]
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), words, ordered=column.ordered)


def random_names(r, n):
    """No two the same."""
    made = [r.choice(WORDS).rstrip("\0") + r.choice(("", str(k))) for k in range(n)]
    return [name if made.count(name) == 1 else f"{name}_{k}" for k, name in enumerate(made)]


def random_column(r, label, rows):
    kind = r.choice(("number", "number", "boolean", "timestamp", "duration", "category", "text"))
    column = Column(label, kind, [], r.choice(tuple(NUMBERS)) if kind == "number" else "")
    if kind == "number":
        column.cells = model_matrices.random_cells(r, rows, 1, column.stored)[:, 0].tolist()
    elif kind == "boolean":
        column.cells = [r.random() < 0.5 for _ in range(rows)]
    elif kind in ("timestamp", "duration"):
        column.unit = r.choice(("s", "ms", "us", "ns", *(("D",) if kind == "timestamp" else ())))
        column.zone = r.choice(ZONES) if kind == "timestamp" and column.unit != "D" else ""
        day = TICKS["D"] // TICKS[column.unit]
        column.cells = [r.randrange(-30000, 30000) * day + r.choice((0, r.randrange(day))) for _ in range(rows)]
    else:
        words, column.ordered = r.choice(POOLS), kind == "category" and r.random() < 0.3
        column.cells = [r.choice(words) for _ in range(rows)]
    missing = r.choice((0, 0, 0.1, 0.6, 1))
    column.cells = [None if r.random() < missing else cell for cell in column.cells]
    return column


def random_object(r):
    rows, cols = r.choice((0, 1, 2, 5, 40)), r.choice((1, 1, 2, 5, 20))
    made = Object(rows, attrs=dict(r.sample(tuple(ATTRIBUTES.items()), r.choice((0, 0, 2)))))
    if r.random() < 0.5:
        made.cells = model_matrices.random_cells(r, rows, cols, r.choice(tuple(NUMBERS)))
        made.col_names = random_names(r, cols) if r.random() < 0.3 else None
    else:
        made.columns = [random_column(r, label, rows) for label in random_names(r, min(cols, 5))]
    made.row_names = random_names(r, rows) if rows and r.random() < 0.3 else None
    return made


def held_by(opened):
    """All that a file tells, from the stored numbers themselves: NaN is not missing."""
    made = Object(opened.shape[0], attrs=dict(opened.attrs))
    made.row_names = None if opened.row_names is None else list(opened.row_names)
    if isinstance(opened, dp.Matrix):
        made.cells = opened.read()
        made.col_names = None if opened.col_names is None else list(opened.col_names)
        return made
    for k, (label, name) in enumerate(zip(opened.labels, opened.columns, strict=True)):
        meaning, stored = opened.meanings[name], opened.stored(k)
        cells = stored.tolist()
        if meaning.words is not None:
            cells = [None, *meaning.words.tolist()]
            cells = [cells[code] for code in stored.tolist()]
        elif meaning.kind == "boolean":
            cells = [bool(cell) for cell in cells]
        missing = meaning.missing_cells(stored).tolist()
        made.columns.append(Column(
            label, meaning.kind, [None if gone else cell for cell, gone in zip(cells, missing, strict=True)],
            stored.dtype.str[1:], meaning.unit if meaning.is_time else "", meaning.zone, meaning.ordered))
    return made


def of_cell(column, cell):
    """What tells cells apart: the value of a number, the sign of a zero, the time of ticks."""
    if cell is None or cell != cell:
        return "missing" if cell is None else "nan"
    if column.unit:
        return "time", cell * TICKS[column.unit]
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        return cell, isinstance(cell, float) and np.signbit(cell) and cell == 0
    return repr(cell)


def differences(before, after):
    """Pairs of what differs and an example."""
    if before.rows != after.rows or len(before.numbers()) != len(after.numbers()):
        yield "shape", (before.rows, after.rows)
        return
    if before.is_frame != after.is_frame:
        yield "frame", before.is_frame
    if (before.row_names or None) != (after.row_names or None):
        yield "row names", (before.row_names, after.row_names)
    labels = [[c.label for c in one.numbers()] for one in (before, after)]
    if labels[0] != labels[1]:
        yield "labels", labels
    if repr(before.attrs) != repr(after.attrs):
        yield "attributes", (before.attrs, after.attrs)
    for x, y in zip(before.numbers(), after.numbers(), strict=True):
        yield from column_differences(x, y)


def column_differences(x, y):
    if x.kind != y.kind:
        yield "kind", (x, y)
    elif x.kind == "number" and x.stored != y.stored:
        yield "type", (x, y)
    for name in ("unit", "zone", "ordered"):
        if x.kind == y.kind and getattr(x, name) != getattr(y, name):
            yield name, (x, y)
    for a, b in zip(x.cells, y.cells, strict=True):
        if of_cell(x, a) != of_cell(y, b):
            yield ("missing" if a is None and b != b else "cells"), (x.label, a, b)
            return
