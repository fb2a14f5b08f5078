"""The columns of a frame: by label, place or group, and their cells as what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core, fetch, keys
from .absent import absent_code
from .advice import meant, require_handle
from .arguments import told
from .arrays import new_array
from .errors import AbsentError, InvalidIndexError, OutOfRangeError, UnsupportedError, shown
from .identity import Opened
from .meanings import Group, Meaning
from .names import Named

# So few rows of all columns are read at once, also where what was read is not what is shown.
_FEW_ROWS = 1 << 16


@told
class FrameColumns(Opened, Named, _core.Frame):
    """What a `Frame` finds its columns with, and reads their cells.

    A column of numbers is known by its number k, a text column by -1 - k.
    """

    def __init__(self, handle: _core.Frame) -> None:
        require_handle(handle, _core.Frame)
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
        """The names of the columns in order, text columns included, each of which differs.

        They are the `labels`; where one is there twice, the later columns are called ``label.1``
        and so on. Every call that takes a column knows it by this name.
        """
        return tuple(self._by_name)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels as the file has them, in order; the same one may be there twice.

        Bytes that are not UTF-8 are kept as `surrogateescape` does.
        """
        return tuple(label for label, _ in self._order())

    def column(self, label: str | int) -> int:
        """The number of a column, counted in `shape`. Raises LookupError where there is none.

        Args:
            label: one of `columns`, or a number, which counts from the end where it is negative.
        """
        if isinstance(label, str):
            where = self._where(label)
            if where < 0:
                raise UnsupportedError(f"column {label!r} can only be shown as text")
            return where
        if isinstance(label, (bool, np.bool_)):
            raise InvalidIndexError(f"columns are labels or numbers, not {label!r}")
        number = keys.whole(label)
        count = self.shape[1]
        if not -count <= number < count:
            raise OutOfRangeError(f"column {number} is outside the {count} columns")
        return number % count

    @property
    def groups(self) -> dict[str, Group]:
        """Columns that are one vector, as ML.NET has them, by its name; the last one of that name.

        ``f[name]`` is all of its slots, unless that is the label of a column.
        """
        return {group.name: group for group in self._all_groups}

    def _order(self) -> list[tuple[str, int]]:
        order = [(label, k) for k, label in enumerate(self._labels)]
        for k, (label, _, before, readable) in reversed(list(enumerate(self._texts()))):
            if readable:
                order.insert(before, (label, -1 - k))
        return order

    @cached_property
    def _dtypes_by_name(self) -> dict[str, np.dtype[Any]]:
        return {name: self._dtype(where) for name, where in self._named()}

    @cached_property
    def _meanings_by_name(self) -> dict[str, Meaning]:
        shown = Meaning("text")
        return {
            name: self._meanings[where]._replace(stored=self._dtypes[where].name)
            if where >= 0
            else shown
            for name, where in self._named()
        }

    def _named(self) -> list[tuple[str, int]]:
        return list(self._by_name.items())

    def _place(self, label: str | int) -> tuple[str, int]:
        if isinstance(label, str):
            return label, self._where(label)
        where = self.column(label)
        return self._labels[where], where

    def _where(self, label: str) -> int:
        if label in self._by_name:
            return self._by_name[label]
        if label in self._text:  # one that cannot even be shown
            return -1 - self._text[label]
        raise AbsentError(f"no column is called {label!r}{meant(label, self.columns)}")

    @cached_property
    def _by_name(self) -> dict[str, int]:
        return dict(unique(self._order()))

    def _dtype(self, where: int) -> np.dtype[Any]:
        if where < 0:
            return np.dtype(object)
        return self._meanings[where].dtype(self._dtypes[where])

    def _read_stored(self, rows: keys.Pick, numbers: list[int], arrays: list[Any]) -> None:
        """Fill arrays with what the file holds of columns in these rows, all at once."""
        straight = rows.forward()
        if straight is not None:
            first = straight[0]
            self._read_columns(first.start, first.stop, numbers, arrays, False, 1)
            for cells in arrays if straight[1] else ():
                cells[:] = cells[::-1].copy()
        else:
            self._take_columns(rows.positions(), numbers, arrays, False, 1)

    def _stored_cells(self, where: int, rows: range) -> NDArray[Any]:
        cells = new_array(len(rows), self._dtypes[where])
        self._read_stored(keys.Pick(rows), [where], [cells])
        return cells

    def _shown_cells(self, where: int, rows: range) -> NDArray[Any]:
        made = np.empty(len(rows), object)
        made[:] = self._read_text(-1 - where, rows.start, rows.stop)
        return made

    def _cells(self, where: int, rows: keys.Pick) -> NDArray[Any]:
        if where < 0:
            return fetch.rows_of(lambda part: self._shown_cells(where, part), rows, gap=64)
        stored = new_array(len(rows), self._dtypes[where])
        self._read_stored(rows, [where], [stored])
        return self._meanings[where].to_numpy(stored)

    def _stored_columns(
        self, wanted: Sequence[tuple[str, int]], part: range, absent: int, threads: int | None
    ) -> list[NDArray[Any] | None]:
        """What the file holds of columns; None for those that it only shows."""
        arrays = {
            where: new_array(len(part), self._dtypes[where]) for _, where in wanted if where >= 0
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
        if not isinstance(name, str) or name in self._by_name or name in self._text:
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

            whole = fetch.covers(self, rows, np.array(group.columns))
            absent = absent_code("zero" if whole else "error")  # what is between may be

            def read(part: range) -> NDArray[Any]:
                cells = new_array((len(part), len(group.columns)), dtype)
                slots = [cells[:, k] for k in range(len(group.columns))]
                self._read_columns(part.start, part.stop, list(group.columns), slots, absent, 1)
                return cells

            return fetch.rows_of(read, rows, gap=64 if whole else 1)
        columns = [self._cells(k, rows) for k in group.columns]
        stack: Any = np.ma.stack if any(map(np.ma.isMaskedArray, columns)) else np.stack
        stacked: NDArray[Any] = stack(columns, axis=1)
        return stacked

    def _records(self, rows: keys.Pick, labels: Sequence[str] | None) -> NDArray[Any]:
        named = self._named() if labels is None else unique([self._place(x) for x in labels])
        # NumPy has no empty names: it calls that field after its place, and so does this.
        named = unique([(name or f"f{k}", where) for k, (name, where) in enumerate(named)])
        cells: Any = new_array(len(rows), [(name, self._dtype(where)) for name, where in named])
        if any(where >= 0 and self._meanings[where].is_masked for _, where in named):
            cells = np.ma.masked_array(cells)
        read: dict[int, Any] = {}
        later = []
        for name, where in named:
            plain = where >= 0 and self._meanings[where] == Meaning()
            if plain and where not in read:
                read[where] = cells[name]
                continue
            later.append((name, where))
            if where >= 0 and where not in read and len(rows) <= _FEW_ROWS:
                read[where] = new_array(len(rows), self._dtypes[where])
        self._read_stored(rows, list(read), list(read.values()))
        for name, where in later:
            known = read.get(where)
            cells[name] = (
                self._cells(where, rows) if known is None else self._meanings[where].to_numpy(known)
            )
        records: NDArray[Any] = cells
        return records


def each_label(columns: str | Sequence[str | int]) -> Sequence[str | int]:
    """The labels or numbers, which are not the letters of a single one."""
    if isinstance(columns, (str, int, np.integer)):
        return [columns]
    try:
        return list(columns)
    except TypeError:
        raise InvalidIndexError(f"columns are labels or numbers, not {shown(columns)}") from None


def unique(columns: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The same columns with names that differ: as pandas does, ``a``, ``a.1``, ``a.2``."""
    seen: set[str] = set()
    taken = {label for label, _ in columns}
    tried: dict[str, int] = {}
    out = []
    for label, where in columns:
        name, k = label, tried.get(label, 0)
        while name in seen or (k > 0 and name in taken):
            k += 1
            name = f"{label}.{k}"
        seen.add(name)
        tried[label] = k
        out.append((name, where))
    return out
