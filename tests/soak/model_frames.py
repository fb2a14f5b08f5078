"""Frames, and the pandas tables that they must equal."""

import numpy as np
import pandas as pd

import pydapple as dp
from pydapple.pieces import joined

WORDS = ("red", "green", "", "blue green", "caf\u00e9", "a,b", 'say "no"', "NA?", "1", "x" * 40)
# What a column is called, and what it may be in each file: of several that are put together, one type
# holds the cells of all.
KINDS = {"integer": ("u1", "u2", "u4", "i1", "i2", "i4", "i8"), "unsigned": ("u1", "u2", "u4", "u8"),
         "float": ("f4", "f8"), "bool": ("bool",), "category": ("category",), "text": ("text",),
         "words": ("category", "text"), "time": ("time",), "duration": ("duration",)}
NUMBERS = ("integer", "unsigned", "float")


def plain(column):
    """The cells as Python's own, None where one is missing; times as nanoseconds."""
    return [cell.value if isinstance(cell, (pd.Timestamp, pd.Timedelta)) else cell
            for cell in plain_cells(column)]


def plain_cells(column):
    """The same, with times as pandas has them."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    cells = column if column.dtype.kind in "mM" else column.tolist()
    return [None if cell is None or cell is pd.NA or cell is pd.NaT or cell != cell else cell
            for cell in cells]


def same_column(got, want, what):
    """Cell by cell; signs of zeros count."""
    got, want = plain(got), plain(want)
    assert len(got) == len(want), (what, len(got), len(want))
    for row, (a, b) in enumerate(zip(got, want)):
        assert a == b and repr(a) == repr(b), (what, row, a, b)


def random_column(r, rows, family):
    kind = r.choice(KINDS[family])
    rng = np.random.default_rng(r.randrange(2**32))
    missing = rng.random(rows) < r.choice((0, 0, 0.1, 0.9))
    if family in NUMBERS:
        dtype = np.dtype(kind)
        if dtype.kind == "f":
            cells = rng.normal(0, 100, rows).astype(dtype)
            cells[missing] = np.nan
            return pd.Series(cells)
        info = np.iinfo(dtype)
        low, high = (info.min, info.max) if r.random() < 0.3 else (max(info.min, -9), 100)
        cells = pd.Series(rng.integers(low, high, rows, dtype, endpoint=True))
        if not missing.any():
            return cells
        # One value is the mark of missing cells where every one could be there.
        cells = pd.Series(rng.integers(1, 100, rows, dtype)).astype(
            f"{'U' if kind[0] == 'u' else ''}Int{8 * dtype.itemsize}")
    elif kind == "bool":
        cells = pd.Series(rng.random(rows) < 0.5)
        cells = cells.astype("boolean") if missing.any() else cells
    elif kind == "category":
        words = r.sample(WORDS, r.randrange(1, len(WORDS)))
        cells = pd.Series(pd.Categorical.from_codes(rng.integers(0, len(words), rows), words,
                                                    ordered=False))
    elif kind == "text":
        cells = pd.Series([r.choice(WORDS) + str(r.randrange(99)) for _ in range(rows)], dtype=object)
    else:
        unit = r.choice(("s", "ms", "us", "ns"))
        ticks = rng.integers(-10**9, 10**9, rows)
        cells = pd.Series(ticks.astype(f"{'M' if kind == 'time' else 'm'}8[{unit}]"))
    if missing.any():
        cells[missing] = None
    return cells


def part(r, n):
    begin = r.randrange(n + 1)
    return slice(begin, r.randrange(begin, n + 1)) if r.random() < 0.7 else slice(0, n)


class Frames:
    KINDS = tuple(KINDS)

    def __init__(self, r, folder):
        self.r, self.folder, self.history, self.known = r, folder, [], []
        self.write()

    def path(self, ending="dbdf"):
        return self.folder / f"{len(self.history)}.{ending}"

    def tell(self, what, **how):
        self.history.append(f"{len(self.history)}: {what} {how}")

    def keep(self, path, table):
        self.known.append((path, table))
        self.ask(path, table)

    def any(self):
        return self.r.choice(self.known[-4:])

    def options(self):
        r, options = self.r, {"sync": False}
        if r.random() < 0.5:
            options["tile"] = (r.randrange(1, 60), r.randrange(1, 9))
        if r.random() < 0.3:
            options["pack"] = r.choice(("fast", "small"))
        if r.random() < 0.3:
            options["narrow"] = False
        return options

    def step(self):
        self.r.choice((self.write, self.convert, self.convert, self.through, self.concat, self.append,
                       self.append, self.ask_again))()

    def table(self, rows, kinds):
        return pd.DataFrame({f"{kind} {k}": random_column(self.r, rows, kind)
                             for k, kind in enumerate(kinds)})

    def write(self):
        r = self.r
        table = self.table(r.randrange(1, 200), r.choices(self.KINDS, k=r.randrange(1, 9)))
        path, options = self.path(), self.options()
        self.tell("write", rows=len(table), columns=list(table.dtypes.items()), **options)
        dp.write(path, table, **options)
        self.keep(path, table)

    def convert(self):
        r, (source, table) = self.r, self.any()
        path, options = self.path(), self.options()
        if r.random() < 0.5:
            options["rows"] = part(r, len(table))
            table = table[options["rows"]].reset_index(drop=True)
        if r.random() < 0.5:
            names = r.sample(list(table.columns), r.randrange(1, len(table.columns) + 1))
            options["columns"] = names
            table = table[names]
        self.tell("convert", source=source.name, **options)
        dp.convert(source, path, **options)
        self.keep(path, table)

    def through(self):
        """Formats that keep what columns mean."""
        r, (source, table) = self.r, self.any()
        ending = r.choice(("idv", "parquet", "feather", "csv"))
        path = self.path(ending)
        self.tell("through", source=source.name, to=ending)
        if len(table) == 0:
            return
        try:
            dp.convert(source, path)
        except (dp.UnsupportedError, dp.TypeMismatchError) as refusal:
            assert ending == "idv", refusal
            self.history[-1] += f" refused: {refusal}"
            return
        back = self.folder / f"{len(self.history)}.back.dbdf"
        dp.convert(path, back, sync=False)
        f = dp.open(back)
        if ending in ("idv", "csv"):
            with dp.open(path) as there:
                self.same_answers(there, f)
        if ending == "csv":  # tells types by the fields: what is written again is the same text
            again = self.folder / f"{len(self.history)}.again.csv"
            dp.convert(back, again)
            return
        if ending == "idv" and any(isinstance(t, np.dtype) and t.kind == "O" for t in table.dtypes):
            return  # ML.NET has no missing texts
        got = f.to_pandas()
        assert list(got.columns) == list(table.columns)
        for name in table.columns:
            if ending != "idv" or not table[name].isna().any():
                same_column(got[name], table[name], (ending, name))

    def same_answers(self, there, copy):
        """What is read where it is, and a copy of it."""
        r, table = self.r, copy.to_pandas()
        assert there.columns == copy.columns and there.meanings.keys() == copy.meanings.keys()
        got = there.to_pandas()
        for name in dict.fromkeys(table.columns):
            same_column(got[name], table[name], name)
            real = [cell for cell in plain(table[name]) if cell is not None]
            column, tests = copy.c[name], [copy.c[name].is_missing(), ~copy.c[name].is_missing()]
            if real:
                kind, bound = copy.meanings[name].kind, r.choice(real)
                if kind in ("timestamp", "duration"):
                    bound = (pd.Timestamp if kind == "timestamp" else pd.Timedelta)(bound)
                tests += [column == bound, ~(column == bound), column != bound]
                if kind not in ("text", "category", "boolean"):
                    tests += [column < bound, column >= bound, ~(column > bound)]
            for test in tests:
                assert there.where(test).tolist() == copy.where(test).tolist(), (name, test)

    def concat(self):
        (a, x), (b, y) = self.any(), self.any()
        if list(x.columns) != list(y.columns):
            return
        path, options = self.path(), self.options()
        self.tell("concat", sources=(a.name, b.name), **options)
        whole = self.below(x, y)
        with dp.open(a) as above, dp.open(b) as below, joined([above, below], 0) as both:
            self.question(both, whole)
        dp.concat([a, b], path, **options)
        self.keep(path, whole)

    def append(self):
        r, (source, table) = self.r, self.any()
        if source.suffix != ".dbdf":
            return
        more = self.table(r.randrange(1, 60), [name.split()[0] for name in table.columns])
        more.columns = table.columns
        path = self.path()
        path.write_bytes(source.read_bytes())
        self.tell("append", source=source.name, rows=len(more))
        dp.append(path, more, sync=False)
        self.keep(path, self.below(table, more))

    @staticmethod
    def below(x, y):
        """Column by column as Python's own cells: pandas makes floats of integers, and NaN of None."""
        return pd.DataFrame({name: pd.Series(plain_cells(x[name]) + plain_cells(y[name]), dtype=object)
                             for name in x.columns})

    def ask_again(self):
        source, table = self.any()
        self.tell("ask", source=source.name)
        self.ask(source, table)

    def ask(self, path, table):
        assert not dp.verify(path, payload=True).findings
        self.question(dp.open(path), table)

    def question(self, f, table):
        r = self.r
        assert f.columns == tuple(table.columns) and f.shape == table.shape, (f.columns, f.shape)
        got = f.to_pandas()
        for name in table.columns:
            same_column(got[name], table[name], name)
        rows = part(r, len(table))
        names = r.sample(list(table.columns), r.randrange(1, len(table.columns) + 1))
        some = f.to_pandas(rows, names)
        for name in names:
            same_column(some[name], table[name][rows], (name, rows))
        if not len(table):
            return
        numbers = [r.randrange(len(table)) for _ in range(r.randrange(1, 9))]
        some = f.to_pandas(numbers)
        for name in table.columns:
            same_column(some[name], table[name].iloc[numbers], (name, numbers))
            self.ask_where(f, table, name)

    def ask_where(self, f, table, name):
        r, kind = self.r, name.split()[0]
        cells = plain(table[name])
        real = [(row, cell) for row, cell in enumerate(cells) if cell is not None]
        missing = [row for row, cell in enumerate(cells) if cell is None]
        if not kind.startswith("f"):
            assert f.where(f.c[name].is_missing()).tolist() == missing, (name, "missing")
        if not real:
            return
        bound = r.choice(real)[1]
        if kind in ("time", "duration"):
            as_time = (pd.Timestamp if kind == "time" else pd.Timedelta)(bound)
            for found, wanted in ((f.c[name] == as_time, [row for row, cell in real if cell == bound]),
                                  (f.c[name] < as_time, [row for row, cell in real if cell < bound]),
                                  (f.c[name] >= as_time, [row for row, cell in real if cell >= bound])):
                assert f.where(found).tolist() == wanted, (name, as_time)
            return
        found = f.where(f.c[name].isin([bound, bound])).tolist()
        assert found == [row for row, cell in real if cell == bound], (name, "in", bound)
        found = f.where(f.c[name] == bound).tolist()
        assert found == [row for row, cell in real if cell == bound], (name, bound)
        found = f.where(~(f.c[name] == bound)).tolist()
        other = [row for row, cell in enumerate(cells)
                 if cell != bound and (cell is not None or kind.startswith("f"))]
        assert found == other, (name, "not", bound)
        if kind in NUMBERS:
            found = f.where((f.c[name] > bound) | (f.c[name] < bound - 3)).tolist()
            assert found == [row for row, cell in real if cell > bound or cell < bound - 3], (name, bound)
