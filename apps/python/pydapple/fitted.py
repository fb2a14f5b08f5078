"""Columns of a table made what those of a data set or file are, where that loses nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core, times
from .errors import InvalidArgumentError, TypeMismatchError
from .meanings import Meaning
from .stored import StoredColumn, Table, marked


def says_nothing_of(column: StoredColumn, meaning: Meaning, dtype: np.dtype[Any]) -> bool:
    """Whether all its cells are missing, in a way that tells nothing of that column.

    None is taken for text, and NaN, by which pandas says the same, for a float.
    """
    given = column.meaning
    if given.words is not None:
        return given.kind == "text" and len(given.words) == 0 and meaning.kind != "text"
    if given.kind != "number" or column.cells.dtype.kind != "f":
        return False
    return (meaning.kind != "number" or dtype.kind != "f") and bool(np.isnan(column.cells).all())


def missing_like(column: StoredColumn, meaning: Meaning, dtype: np.dtype[Any]) -> StoredColumn:
    """As many missing cells of another meaning and dtype."""
    rows = len(column.cells)
    words = None if meaning.words is None else _core.Words([])
    gone = np.ones(rows, bool) if rows else None
    return marked(
        column.label, np.zeros(rows, dtype), gone, meaning._replace(missing=None, words=words)
    )


def fitted(table: Table, frame: Any) -> Table:
    """A table with its cells as the columns of a frame hold them, where that loses nothing."""
    likes = zip(table.columns, frame._labels, frame._meanings, frame._dtypes, strict=False)
    columns = [
        _as_stored(column, meaning, dtype) if column.label == label else column
        for column, label, meaning, dtype in likes
    ]
    return table._replace(columns=[*columns, *table.columns[len(columns) :]])


def _as_stored(column: StoredColumn, meaning: Meaning, dtype: np.dtype[Any]) -> StoredColumn:
    integers = meaning.kind == "number" and dtype.kind in "iu"
    given, cells = column.meaning, column.cells
    if says_nothing_of(column, meaning, dtype):
        return missing_like(column, meaning, dtype)
    if meaning.words is not None or (given.kind, given.zone) != (meaning.kind, meaning.zone):
        return column
    gone = given.missing_cells(cells)
    if meaning.is_time and given.unit != meaning.unit:
        ticks = np.where(gone, 0, cells).view(given.dtype(cells.dtype))
        try:
            cells = times.in_unit(ticks, meaning.unit).view(np.int64)
        except TypeMismatchError:
            return column
    made = _cast(np.where(gone, cells.dtype.type(0), cells), dtype)
    if made is None:
        return column
    if meaning.missing is None:
        return marked(column.label, made, gone if gone.any() else None, meaning)
    if meaning.missing_cells(made[~gone]).any():  # the mark is a cell of its own here
        if not integers:
            return column
        mark = made[meaning.missing_cells(made) & ~gone][0]
        raise InvalidArgumentError(
            f"column {column.label!r} holds {mark}, which marks missing cells in the data set"
            f"{_in_new(column.label, dtype.kind, 2 * dtype.itemsize)}"
        )
    if not gone.any():
        return StoredColumn(column.label, made, meaning._replace(missing=None))
    made[gone] = np.array(meaning.missing, f"u{dtype.itemsize}").view(dtype)
    return StoredColumn(column.label, made, meaning)


def _in_new(label: str, kind: str, size: int) -> str:
    """What to do, since parts that are there stay as they are."""
    name = f"{'U' * (kind == 'u')}Int{8 * size}" if size <= 8 else "Float64"
    as_that = f"df.astype({{{label!r}: {name!r}}})"
    return f"; write all parts to a new one with the column as {name}: {as_that}"


def _cast(cells: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """The same numbers in another dtype; None where one is not exact there."""
    if cells.dtype.kind == "f" and dtype.kind == "f":
        with np.errstate(over="ignore"):
            made = cells.astype(dtype)
        return made if ((made == cells) | np.isnan(cells)).all() else None
    if cells.dtype.kind == "f":
        end = 2.0 ** (8 * dtype.itemsize - (dtype.kind == "i"))
        whole = (np.trunc(cells) == cells) & ~((cells == 0) & np.signbit(cells))
        fits = whole & (cells >= (-end if dtype.kind == "i" else 0)) & (cells < end)
        return cells.astype(dtype) if fits.all() else None
    if dtype.kind == "f":
        most = 1 << np.finfo(dtype).nmant + 1
        low, high = -most, most
    else:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    if cells.size > 0 and (int(cells.min()) < low or int(cells.max()) > high):
        return None
    return cells.astype(dtype)
