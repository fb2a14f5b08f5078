"""Frame: labelled columns, each of its own dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core, fetch, keys
from .absent import Absent, absent_code
from .arrow_stream import LabelledStream
from .blocks import Blocks
from .errors import (
    AbsentError,
    InvalidIndexError,
    OutOfRangeError,
    TypeMismatchError,
    UnsupportedError,
)
from .identity import Opened
from .meanings import Group, Meaning
from .search import column_condition
from .stats import Stats, of_frame

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Frame(Opened, _core.Frame):
    """A frame in a file, as `pydapple.open` gives it.

    ``f["a"]`` is a column, ``f["a", 0:9]`` a part of one, ``f[0:9]`` rows as a structured array.
    The name of one of its `groups` gives an array of two dimensions, a column for each slot.
    Everything read is a new, writable array. Any number of threads may read at once.

    A file stores numbers; `meanings` tells what those of a column stand for, and reading gives
    that: Booleans as bool, times as datetime64 and timedelta64 (UTC where there is a zone), words
    as arrays of str. A missing word is None, a missing time NaT, a missing float NaN; columns of
    integers and Booleans of which some may be missing are masked arrays (`numpy.ma`). `stored`
    gives the numbers themselves.

    Columns that their format can only show as text are no part of `shape`.
    """

    ndim = 2

    def __init__(self, handle: _core.Frame) -> None:
        super().__init__(handle)
        columns = self._columns()
        self._labels = [label for label, *_ in columns]
        self._dtypes = [dtype for _, dtype, _ in columns]
        self._meanings = [Meaning(*described) for *_, described in columns]
        self._all_groups = [
            Group(name, range(first, first + len(slots)), tuple(slots))
            for name, first, slots in self._groups()
        ]
        self._text = {label: k for k, (label, *_) in reversed(list(enumerate(self._texts())))}

    @property
    def columns(self) -> tuple[str, ...]:
        """Labels in order, text columns included; the same one may be there twice.

        Bytes that are not UTF-8 are kept as `surrogateescape` does.
        """
        return tuple(label for label, _ in self._order())

    @property
    def dtypes(self) -> dict[str, np.dtype[Any]]:
        """The dtype of each column as it is read, by its label; `object` for words."""
        return {name: self._dtype(where) for name, where in self._named()}

    @property
    def meanings(self) -> dict[str, Meaning]:
        """What the stored numbers of each column stand for, by its label."""
        shown = Meaning("text")
        return {
            name: self._meanings[where] if where >= 0 else shown for name, where in self._named()
        }

    @property
    def groups(self) -> dict[str, Group]:
        """Columns that are one vector, as ML.NET has them, by its name; the last one of that name.

        ``f[name]`` is all of its slots, unless that is the label of a column.
        """
        return {group.name: group for group in self._all_groups}

    def stored(self, label: str | int, rows: Any = None) -> NDArray[Any]:
        """The numbers of a column as the file holds them: codes of words, ticks of times.

        Args:
            label: the column.
            rows: a slice, a range or a pair (begin, end), not clipped; all of them if not given.
        """
        part = keys.span(rows, self.shape[0], "row")
        return self._stored_cells(self.column(label), part)

    def words(self, label: str | int) -> list[str]:
        """The dictionary of a column of categories or text, in order: code k is word k - 1."""
        words = self._meanings[self.column(label)].words
        if words is None:
            raise TypeMismatchError(f"column {label!r} holds no words")
        return words.tolist()

    @property
    def nnz(self) -> int:
        """Stored values, zeros that are stored included."""
        return self._counts()["stored"]

    @property
    def blocks(self) -> Blocks:
        """The stored blocks in file order."""
        return Blocks(self)

    def __contains__(self, label: object) -> bool:
        """Whether a column has that label."""
        return label in self.columns

    def __len__(self) -> int:
        return self.shape[0]

    def column(self, label: str | int) -> int:
        """The number of a column, counted in `shape`. Raises LookupError where there is none."""
        if isinstance(label, str):
            if label in self._labels:
                return self._labels.index(label)
            if label in self._text:
                raise UnsupportedError(f"column {label!r} can only be shown as text")
            raise AbsentError(f"no column is called {label!r}")
        number = keys.whole(label)
        count = self.shape[1]
        if not -count <= number < count:
            raise OutOfRangeError(f"column {number} is outside the {count} columns")
        return number % count

    def __getitem__(self, key: Any) -> Any:
        """A column, a part of one, or rows as a structured array."""
        if isinstance(key, str):
            key = (key, slice(None))
        if isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], tuple):
            raise InvalidIndexError("a frame has 2 dimensions, and rows are picked by one of them")
        if isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], str):
            return self._part(key[0], key[1])
        if isinstance(key, list) and key and all(isinstance(one, str) for one in key):
            return self._records(keys.Pick(range(self.shape[0])), key)
        if isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], list):
            rows = keys.pick(key[1], self.shape[0], "row")
            cells = self._records(rows, key[0])
            return cells[0] if rows.drop else cells
        if isinstance(key, tuple):
            raise InvalidIndexError('a frame is indexed as f["a"], f["a", 0:9] or f[0:9]')
        rows = keys.pick(key, self.shape[0], "row")
        cells = self._records(rows, None)
        return cells[0] if rows.drop else cells

    def read(
        self,
        rows: Any = None,
        columns: str | Sequence[str | int] | None = None,
        *,
        absent: Absent = "error",
        threads: int = 1,
    ) -> dict[str, NDArray[Any]]:
        """Copy rows of some columns, or of all.

        Args:
            rows: a slice, a range or a pair (begin, end), not clipped.
            columns: a label, or several, or numbers as of `column`.
            absent: whether cells that no block covers are an error, zero, or NaN (floats only).
            threads: blocks decoded at once; 0: one for each processor.

        Returns:
            The arrays by label, as ``f[label]`` gives them. Where a label is there twice, the later
            columns are called ``label.1`` and so on.
        """
        part = keys.span(rows, self.shape[0], "row")
        if columns is None:
            wanted = self._named()
        else:
            wanted = _unique([self._place(label) for label in each_label(columns)])
        stored = self._stored_columns(wanted, part, absent_code(absent), threads)
        return {
            name: self._cells(where, keys.Pick(part))
            if cells is None
            else self._meanings[where].to_numpy(cells)
            for (name, where), cells in zip(wanted, stored, strict=True)
        }

    def stats(self, *, absent: Absent = "error", threads: int = 1) -> dict[str, Stats]:
        """Statistics of each column, by its label as `read` gives it; see `Matrix.stats`.

        Missing cells count as `nans`. Of Booleans the mean is the share of True. Of times only
        `count`, `nnz`, `nans`, and, rounded to 53 bits, `min`, `max` and `mean` mean something; of
        words `count`, `nnz` and `nans`; all else is None.

        Args:
            absent: whether cells that no block covers are an error, or zero.
            threads: 0: one for each processor.
        """
        return of_frame(self, absent, threads)

    def where(
        self, label: str | int, *, nonzero: bool = False, absent: Absent = "error", **condition: Any
    ) -> NDArray[np.int64]:
        """Find the rows in which a column meets one condition: ``f.where("age", above=30)``.

        A missing cell meets no condition but ``missing=True``, NaN none but ``nan=True``. Words are
        compared once, as the dictionary has them, not row by row. Blocks that cannot hold a match
        are not read.

        Args:
            label: the column.
            nonzero: only cells that are not zero; for columns of numbers.
            absent: whether cells that no block covers are an error, or zero.
            condition: one of ``above=x``, ``at_least=x``, ``below=x``, ``at_most=x``,
                ``equal=x``, ``between=(low, high)`` (both included), ``nan=True`` and
                ``missing=True``. Bounds are such as the column holds: numbers; words as str, of
                which those of an unordered category are only equal or not; dates and times of
                Python, NumPy or pandas, or in ISO 8601; timedeltas; True and False. Times without
                a zone are UTC where the column has a zone.

        Returns:
            The numbers of the rows, in ascending order. O(rows + words).
        """
        found: NDArray[np.int64] = self._find("numbers", label, condition, nonzero, absent, 1)
        return found

    def count_where(
        self, label: str | int, *, nonzero: bool = False, absent: Absent = "error",
        threads: int = 1, **condition: Any,
    ) -> int:  # fmt: skip
        """In how many rows a column meets a condition; arguments as of `where`."""
        return int(self._find("count", label, condition, nonzero, absent, threads))

    def rows_where(
        self, label: str | int, *, nonzero: bool = False, absent: Absent = "error",
        threads: int = 1, **condition: Any,
    ) -> NDArray[np.bool_]:  # fmt: skip
        """For each row whether a column meets a condition: ``f[f.rows_where("age", above=30)]``."""
        found: NDArray[Any] = self._find("rows", label, condition, nonzero, absent, threads)
        return found.view(np.bool_)

    def _find(
        self, what: str, label: str | int, condition: dict[str, Any], nonzero: bool,
        absent: Absent, threads: int,
    ) -> Any:  # fmt: skip
        col = self.column(label)
        name, low, high = column_condition(condition, self._meanings[col].kind)
        return _core.find_in_column(
            self, col, what, name, low, high, absent_code(absent), nonzero, threads
        )

    def _stored_columns(
        self, wanted: Sequence[tuple[str, int]], part: range, absent: int, threads: int
    ) -> list[NDArray[Any] | None]:
        """What the file holds of columns; None for those that it only shows."""
        arrays = {
            where: np.empty(len(part), self._dtypes[where]) for _, where in wanted if where >= 0
        }
        self._read_columns(
            part.start, part.stop, list(arrays), list(arrays.values()), absent, threads
        )
        seen: set[int] = set()
        made: list[NDArray[Any] | None] = []
        for _, where in wanted:  # a column that is asked for twice is copied
            cells = arrays.get(where)
            made.append(cells.copy() if cells is not None and where in seen else cells)
            seen.add(where)
        return made

    def to_pandas(self, *, threads: int = 1) -> pd.DataFrame:
        """All of it as a pandas DataFrame.

        Categories become Categorical, times datetime64 and timedelta64 with their zones, text str;
        Booleans and numbers of which some may be missing pandas' nullable dtypes. O(cells).
        """
        import pandas as pd

        part, named = range(self.shape[0]), self._named()
        stored = self._stored_columns(named, part, False, threads)
        columns = [
            self._meanings[where].to_pandas(cells)
            if cells is not None
            else self._cells(where, keys.Pick(part))
            for (_, where), cells in zip(named, stored, strict=True)
        ]
        made = pd.DataFrame(dict(enumerate(columns)), index=pd.RangeIndex(len(self)), copy=False)
        try:
            made.columns = pd.Index(self.columns)
        except UnicodeEncodeError:  # pandas' own strings have no place for what is not UTF-8
            made.columns = pd.Index(self.columns, dtype=object)
        return made

    def to_polars(self) -> pl.DataFrame:
        """All of it as a polars DataFrame; labels that repeat are called as `read` does."""
        import polars as pl

        return pl.DataFrame(LabelledStream(self, [name for name, _ in self._named()]))

    def to_arrow(self) -> pa.Table:
        """All of it as a pyarrow Table, in batches of 65536 rows.

        Categories become dictionaries, times timestamps, dates and durations; missing cells null.
        `pyarrow.RecordBatchReader.from_stream(f)` gives one batch after the other.
        """
        import pyarrow as pa

        return pa.table(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _core.arrow_stream(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("an array of a frame is always a copy")
        cells = self._records(keys.Pick(range(self.shape[0])), None)
        if isinstance(cells, np.ma.MaskedArray) and np.any(cells.mask.view(bool)):
            raise ValueError("a plain array cannot tell missing cells; f[:] gives a masked one")
        cells = np.ma.getdata(cells)
        return cells if dtype is None else cells.astype(dtype)

    def __repr__(self) -> str:
        if self.closed:
            return f"<pydapple.Frame {self.path!r}, closed>"
        shown = ", ".join(self.columns[:6]) + (", ..." if len(self.columns) > 6 else "")
        return (
            f"<pydapple.Frame {self.path!r}: {self.shape[0]} rows, "
            f"{len(self.columns)} columns ({shown})>"
        )

    def _repr_html_(self) -> str:
        from .picture import frame_html

        return frame_html(self)

    def __enter__(self) -> Frame:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # A column of numbers is known by its number k, a text column by -1 - k.

    def _order(self) -> list[tuple[str, int]]:
        order = [(label, k) for k, label in enumerate(self._labels)]
        for k, (label, _, before, readable) in reversed(list(enumerate(self._texts()))):
            if readable:
                order.insert(before, (label, -1 - k))
        return order

    def _named(self) -> list[tuple[str, int]]:
        return _unique(self._order())

    def _place(self, label: str | int) -> tuple[str, int]:
        where = self._where(label) if isinstance(label, str) else self.column(label)
        return (label if isinstance(label, str) else self._labels[where]), where

    def _where(self, label: str) -> int:
        if label in self._labels or label not in self._text:
            return self.column(label)
        return -1 - self._text[label]

    def _dtype(self, where: int) -> np.dtype[Any]:
        if where < 0:
            return np.dtype(object)
        return self._meanings[where].dtype(self._dtypes[where])

    def _stored_cells(self, where: int, rows: range) -> NDArray[Any]:
        cells = np.empty(len(rows), self._dtypes[where])
        self._read_columns(rows.start, rows.stop, [where], [cells], False, 1)
        return cells

    def _shown_cells(self, where: int, rows: range) -> NDArray[Any]:
        made = np.empty(len(rows), object)
        made[:] = self._read_text(-1 - where, rows.start, rows.stop)
        return made

    def _cells(self, where: int, rows: keys.Pick) -> NDArray[Any]:
        if where < 0:
            return fetch.rows_of(lambda part: self._shown_cells(where, part), rows, gap=64)
        stored = fetch.rows_of(lambda part: self._stored_cells(where, part), rows, gap=2048)
        return self._meanings[where].to_numpy(stored)

    def _part(self, label: str | int, key: Any) -> Any:
        """Rows of a column (a number is its place) or group as they stand between the brackets."""
        rows = keys.pick(key, self.shape[0], "row")
        group = self._group(label)
        if group is not None:
            cells = self._vectors(group, rows)
        else:
            cells = self._cells(self._where(label) if isinstance(label, str) else label, rows)
        return cells[0] if rows.drop else cells

    def _group(self, name: str | int) -> Group | None:
        """The group of that name, if it is no column's label."""
        if not isinstance(name, str) or name in self._labels or name in self._text:
            return None
        return self.groups.get(name)

    def _numbers(self, label: str | int) -> Sequence[int]:
        """The column of that label, or all of a group of that name."""
        group = self._group(label)
        return [self.column(label)] if group is None else group.columns

    def _vectors(self, group: Group, rows: keys.Pick) -> NDArray[Any]:
        first = group.columns[0]
        if all(self._meanings[k] == Meaning() for k in group.columns):
            types = {self._dtypes[k] for k in group.columns}
            dtype = self._dtypes[first] if len(types) == 1 else np.result_type(*types)

            def read(part: range) -> NDArray[Any]:
                cells = np.empty((len(part), len(group.columns)), dtype)
                slots = [cells[:, k] for k in range(len(group.columns))]
                self._read_columns(part.start, part.stop, list(group.columns), slots, False, 1)
                return cells

            return fetch.rows_of(read, rows, gap=64)
        columns = [self._cells(k, rows) for k in group.columns]
        stack: Any = np.ma.stack if any(map(np.ma.isMaskedArray, columns)) else np.stack
        stacked: NDArray[Any] = stack(columns, axis=1)
        return stacked

    def _records(self, rows: keys.Pick, labels: Sequence[str] | None) -> NDArray[Any]:
        named = self._named() if labels is None else _unique([self._place(x) for x in labels])
        # NumPy has no empty names: it calls such a field after its place, and so does this.
        named = _unique([(name or f"f{k}", where) for k, (name, where) in enumerate(named)])
        cells: Any = np.empty(len(rows), [(name, self._dtype(where)) for name, where in named])
        if any(where >= 0 and self._meanings[where].is_masked for _, where in named):
            cells = np.ma.masked_array(cells)
        straight = rows.forward()
        numbers = {}  # that can be read where they belong
        for name, where in named:
            if straight == (rows.of, False) and where >= 0 and self._meanings[where] == Meaning():
                numbers[where] = cells[name]
            else:
                cells[name] = self._cells(where, rows)
        if straight is not None:
            first, arrays = straight[0], list(numbers.values())
            self._read_columns(first.start, first.stop, list(numbers), arrays, False, 1)
        records: NDArray[Any] = cells
        return records


def each_label(columns: str | Sequence[str | int]) -> Sequence[str | int]:
    """The labels, which are not the letters of a single one."""
    return [columns] if isinstance(columns, str) else columns


def _unique(columns: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The same columns with names that differ: as pandas does, ``a``, ``a.1``, ``a.2``."""
    seen: set[str] = set()
    taken = {label for label, _ in columns}
    out = []
    for label, where in columns:
        name, k = label, 0
        while name in seen or (k > 0 and name in taken):
            k += 1
            name = f"{label}.{k}"
        seen.add(name)
        out.append((name, where))
    return out
