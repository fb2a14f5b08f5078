"""A frame as a polars LazyFrame that reads only the columns, rows and blocks that are needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .arguments import told
from .errors import TypeMismatchError, UnsupportedError
from .files import open
from .frame import Frame
from .matrix import Matrix
from .polars_conditions import wider
from .reports import Path

if TYPE_CHECKING:
    import polars as pl

_POLARS = (1, 33)  # older ones pass conditions whose numbers have no types, which select other rows
_ROWS = 1 << 18  # of a batch
_FEW = 256  # rows that are read one by one; of large batches, one in _APART
_APART = 32


@told
def scan(source: Path | Frame) -> pl.LazyFrame:
    """A polars LazyFrame over a frame: columns and conditions of the query are pushed down to it.

    Columns that the query does not need are not read, nor blocks whose statistics show that no row
    of theirs meets its conditions.

    Args:
        source: a frame, or the path of one.

    Raises:
        UnsupportedError: polars is older than 1.33.
    """
    import polars

    if tuple(map(int, polars.__version__.split(".")[:2])) < _POLARS:
        raise UnsupportedError(
            f"scan needs polars 1.33 or later, and {polars.__version__} is installed; "
            "to_polars() reads a frame, or some of its rows and columns"
        )
    from polars.io.plugins import register_io_source

    frame = source if isinstance(source, Frame | Matrix) else open(source)
    if not isinstance(frame, Frame):
        raise TypeMismatchError(f"{frame.path} holds a matrix, and polars scans frames")

    def read(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, size: int | None
    ) -> Iterator[pl.DataFrame]:
        wanted = list(frame.columns) if columns is None else columns
        needed = list(wanted)
        if predicate is not None:
            needed += [name for name in predicate.meta.root_names() if name not in needed]
        # polars counts the rows before it filters: ``head(9).filter(...)`` gives both.
        most = len(frame) if rows is None else min(rows, len(frame))
        for part in _pieces(frame, predicate, most, min(size or _ROWS, _ROWS)):
            batch = frame.to_polars(part, needed)
            if predicate is not None:
                batch = batch.filter(predicate)
            yield batch.select(wanted)

    schema = frame.to_polars(slice(0, 0)).schema
    return register_io_source(read, schema=schema, is_pure=True)


def _pieces(frame: Frame, predicate: pl.Expr | None, rows: int, size: int) -> Iterator[Any]:
    """Of the first `rows`, those among which are all that meet the predicate; some at a time."""
    condition = None if predicate is None else wider(frame, predicate)
    found = None if condition is None else frame.rows_where(condition)
    for begin in range(0, rows, size):
        end = min(begin + size, rows)
        if found is None:
            yield slice(begin, end)
            continue
        numbers = np.flatnonzero(found[begin:end]) + begin
        if len(numbers) > max(_FEW, (end - begin) // _APART):
            yield slice(int(numbers[0]), int(numbers[-1]) + 1)
        elif len(numbers):
            yield numbers
