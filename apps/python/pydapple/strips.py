"""Walking down a matrix in strips of whole tiles."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from . import fetch
from .absent import Absent, absent_code

if TYPE_CHECKING:
    from .matrix import Matrix


class Strip(NamedTuple):
    """Rows `rows` of a matrix, and their cells."""

    rows: slice
    cells: Any


def walk(matrix: Matrix, sparse: bool, absent: Absent, threads: int | None) -> Iterator[Strip]:
    """What `Matrix.strips` gives."""
    rows, cols = matrix.shape
    step = _strip_rows(matrix, sparse)
    for begin in range(0, rows, step):
        end = min(begin + step, rows)
        if end < rows:
            matrix.prefetch(end, min(end + step, rows), 0, cols)
        part = range(begin, end)
        cells = (
            fetch.csr(matrix, part, range(cols), absent_code(absent), threads)
            if sparse
            else matrix.read(part, absent=absent, threads=threads)
        )
        yield Strip(slice(begin, end), cells)


def _strip_rows(matrix: Matrix, sparse: bool, target: int = 1 << 24) -> int:
    """Rows of a strip of about `target` bytes: whole tiles, or a part of very tall ones."""
    rows, cols = matrix.shape
    row_bytes = cols * matrix.dtype.itemsize
    if sparse and rows:
        row_bytes = min(row_bytes, matrix.nnz * (matrix.dtype.itemsize + 4) // rows + 8)
    wanted = max(1, target // max(row_bytes, 1))
    tile = matrix.chunks[0] if rows else 1
    if tile > 4 * wanted:
        return math.ceil(tile / math.ceil(tile / wanted))
    return max(1, wanted // tile) * tile
