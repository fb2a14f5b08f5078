"""Parts of a matrix that are no plain rectangle, as new NumPy or SciPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .absent import absent_code
from .arrays import bands_of, new_array
from .keys import Pick, Positions, runs

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

# Columns between two wanted ones that are cheaper to read than to step over.
_GAP = 256
# From this number of columns, or cells, on, one is few.
_FEW = 8
_ZERO, _NAN = absent_code("zero"), absent_code("nan")
# Bytes of a band that is read before its columns are picked.
_BAND = 1 << 24
_BAND_ROWS = 1 << 20
_STRIP = 1 << 22  # the same of sparse rows: what the processor's cache has room for


def dense(
    matrix: _core.Matrix, rows: Pick, cols: Pick, out: NDArray[Any] | None = None, absent: int = 0
) -> Any:
    """``matrix[rows, cols]`` for any two picks, every combination of them."""
    if out is None:
        out = new_array((len(rows), len(cols)), matrix.dtype)
    if out.size:
        straight = cols.forward()
        if straight is None and _gathers_dense(matrix, rows, cols, out, absent):
            _scatter_columns(matrix, rows, cols.positions(), out, absent)
        elif straight is None:
            _pick_columns(matrix, rows, cols.positions(), out, absent)
        elif straight[1]:
            reverse = new_array(out.shape, out.dtype)
            _fill(matrix, rows, straight[0], reverse, absent)
            out[...] = reverse[:, ::-1]
        else:
            _fill(matrix, rows, straight[0], out, absent)
    return out[_dropped(rows, cols)]


def _all_rows(matrix: _core.Matrix, rows: Pick) -> bool:
    straight = rows.forward()
    return straight is not None and len(straight[0]) == matrix.shape[0]


def _few(matrix: _core.Matrix, cols: Pick) -> bool:
    return len(cols) * _FEW <= matrix.shape[1]


def _gathers_dense(
    matrix: _core.Matrix, rows: Pick, cols: Pick, out: NDArray[Any], absent: int
) -> bool:
    """Whether few columns of all rows are best gathered as sparse ones, and may be."""
    if not (_all_rows(matrix, rows) and _few(matrix, cols)):
        return False
    if absent == _NAN or out.dtype != matrix.dtype:
        return False
    size = matrix.shape[0] * matrix.shape[1]
    return matrix._counts()["stored"] * _FEW <= size or matrix.column_copy == "fresh"


def _scatter_columns(
    matrix: _core.Matrix, rows: Pick, cols: Positions, out: NDArray[Any], absent: int
) -> None:
    straight = rows.forward()
    target = out[::-1] if straight and straight[1] else out
    target[...] = 0
    # Without a copy each call reads the file, and finds little.
    step = len(cols)
    if matrix.column_copy == "fresh":
        step = max(1, _BAND // (len(out) * out.itemsize))
    for first in range(0, len(cols), step):
        data, down, ends = matrix._take_csc(cols[first : first + step], absent, 1)
        across = np.repeat(np.arange(first, first + len(ends) - 1), np.diff(ends))
        target[down, across] = data


def _dropped(rows: Pick, cols: Pick) -> tuple[Any, ...]:
    return (0 if rows.drop else slice(None), 0 if cols.drop else slice(None))


def _fill(matrix: _core.Matrix, rows: Pick, cols: range, out: NDArray[Any], absent: int) -> None:
    straight = rows.forward()
    if straight is None:
        matrix._take(rows.positions(), cols.start, cols.stop, out, absent)
        return
    matrix._read(straight[0].start, straight[0].stop, cols.start, cols.stop, out, absent, 1)
    if straight[1]:
        out[...] = out[::-1].copy()


def covers(opened: _core.Object, rows: Pick, cols: Positions) -> bool:
    """Whether no cell of these ascending columns is absent, from the first row to the last."""
    if not len(rows):
        return True
    of = rows.of
    ends = (of[0], of[-1]) if isinstance(of, range) else (int(of.min()), int(of.max()))
    return opened._covers(min(ends), max(ends) + 1, cols)


def _pick_columns(
    matrix: _core.Matrix, rows: Pick, cols: Positions, out: NDArray[Any], absent: int
) -> None:
    wanted, place = np.unique(cols, return_inverse=True)
    # What is between them may be absent, and need not fit the dtype.
    near = _GAP if absent == _ZERO or covers(matrix, rows, wanted) else 1
    for begin, end in runs(wanted, near):
        first, last = np.searchsorted(wanted, (begin, end))
        mine = np.flatnonzero((place >= first) & (place < last))
        across, code, dtype = cols[mine], absent, out.dtype
        if end - begin > last - first:
            code, dtype = _ZERO, matrix.dtype
        step = max(1, _BAND // ((end - begin) * dtype.itemsize))
        for top in range(0, len(rows), step):
            band = rows.part(range(top, top + step))
            cells = np.empty((len(band), end - begin), dtype)
            _fill(matrix, band, range(begin, end), cells, code)
            picked = cells[:, across - begin]
            if dtype != out.dtype:
                picked = _converted(matrix, band, across, picked, out.dtype)
            out[top : top + len(band), mine] = picked


def _converted(
    matrix: _core.Matrix, rows: Pick, cols: Positions, cells: NDArray[Any], dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Cells of these rows and columns as that dtype. Raises TypeMismatchError for the first."""
    made = np.empty(cells.shape, dtype)
    done = _core.convert_values(np.ascontiguousarray(cells), made)
    if done < cells.size:
        row, col = divmod(done, len(cols))
        one = np.array([rows.of[row]]), np.array([cols[col]]), np.empty(1, dtype)
        matrix._take_cells(*one, _ZERO)  # says what does not fit
    return made


def rows_of(read: Callable[[range], NDArray[Any]], rows: Pick, gap: int) -> NDArray[Any]:
    """Rows of a column that `read` gives by ranges, with up to `gap` unwanted ones in between."""
    straight = rows.forward()
    if straight is not None:
        cells = read(straight[0])
        return cells[::-1].copy() if straight[1] else cells
    wanted, place = np.unique(rows.positions(), return_inverse=True)
    parts = []
    for begin, end in runs(wanted, gap):
        for top in range(begin, end, _BAND_ROWS):
            bottom = min(top + _BAND_ROWS, end)
            first, last = np.searchsorted(wanted, (top, bottom))
            parts.append(read(range(top, bottom))[wanted[first:last] - top])
    return np.concatenate(parts)[place] if parts else read(range(0))


def sparse(matrix: _core.Matrix, rows: Pick, cols: Pick, absent: int = 0) -> csr_array:
    """The same as compressed sparse rows; integers keep their axis."""
    straight_rows, straight_cols = rows.forward(), cols.forward()
    if (
        straight_cols is None
        and _all_rows(matrix, rows)
        and (_few(matrix, cols) or matrix.column_copy == "fresh")
    ):
        part = csc(matrix, cols.positions(), absent).tocsr()
        return part[::-1] if straight_rows and straight_rows[1] else part
    columns = straight_cols[0] if straight_cols else range(matrix.shape[1])
    if straight_cols is None and absent != _ZERO:
        wanted = np.unique(cols.positions())
        if not covers(matrix, rows, wanted):
            return _picked_by_runs(matrix, rows, cols.positions(), wanted, absent)
        absent = _ZERO  # all columns are read
    if straight_rows and straight_cols is None:
        part = _picked_by_strips(matrix, straight_rows[0], cols.positions(), absent)
        if straight_rows[1]:
            part = part[::-1]
    elif straight_rows:
        part = csr(matrix, straight_rows[0], columns, absent)
        if straight_rows[1]:
            part = part[::-1]
    else:
        taken = matrix._take_csr(rows.positions(), columns.start, columns.stop, absent)
        part = csr_of(taken, (len(rows), len(columns)))
    if straight_cols is None and not straight_rows:
        part = part[:, cols.positions()]
    elif straight_cols and straight_cols[1]:
        part = part[:, ::-1]
    if not (part.has_sorted_indices and part.has_canonical_format):
        part.sum_duplicates()
    return part


def _picked_by_runs(
    matrix: _core.Matrix, rows: Pick, cols: Positions, wanted: Positions, absent: int
) -> csr_array:
    """Only neighbours are read at once: what is between others may be absent."""
    from scipy.sparse import hstack

    parts = [sparse(matrix, rows, Pick(range(*run)), absent) for run in runs(wanted, 1)]
    return hstack(parts, format="csr")[:, np.searchsorted(wanted, cols)]


def _picked_by_strips(matrix: _core.Matrix, rows: range, cols: Positions, absent: int) -> csr_array:
    """Many columns: SciPy picks them of a strip of rows while that is in the processor's cache."""
    from scipy.sparse import vstack

    grid = matrix._grid()
    stored = matrix._counts()["stored"] // max(1, matrix.shape[0])
    row_bytes = max(1, stored * (matrix.dtype.itemsize + 4))
    bands = list(bands_of(rows, grid[1][0] if grid else 1, row_bytes, _STRIP)) or [rows]
    parts = [csr(matrix, band, range(matrix.shape[1]), absent)[:, cols] for band in bands]
    return parts[0] if len(parts) == 1 else vstack(parts, format="csr")


def csr(
    matrix: _core.Matrix, rows: range, cols: range, absent: int = 0, threads: int | None = 1
) -> csr_array:
    """A rectangle as compressed sparse rows with canonical, writable arrays."""
    new_array(len(rows) + 1, np.dtype(np.int32))  # fails at once where there can be no `indptr`
    return csr_of(
        matrix._read_csr(rows.start, rows.stop, cols.start, cols.stop, absent, threads),
        (len(rows), len(cols)),
    )


def csc(
    matrix: _core.Matrix, cols: Positions, absent: int = 0, threads: int | None = 1
) -> csc_array:
    """Columns in any order as compressed sparse columns with canonical, writable arrays."""
    from scipy.sparse import csc_array

    taken = matrix._take_csc(cols, absent, threads)
    return _compressed(csc_array, taken, (matrix.shape[0], len(cols)))


def csr_of(arrays: tuple[Any, Any, Any], shape: tuple[int, int]) -> csr_array:
    """(data, indices, indptr) that dapple made, and so need no checks, as a csr_array."""
    from scipy.sparse import csr_array

    return _compressed(csr_array, arrays, shape)


def _compressed(kind: Any, arrays: tuple[Any, Any, Any], shape: tuple[int, int]) -> Any:
    # The constructor checks the arrays again, which takes as long as gathering a batch of rows.
    made = kind.__new__(kind)
    made.__dict__.update(_empty(kind), _shape=shape)
    made.data, made.indices, made.indptr = arrays
    made.has_canonical_format = True
    return made


@cache
def _empty(kind: Any) -> dict[str, Any]:
    """What a csr_array or csc_array is made of, whatever the release of SciPy."""
    return dict(vars(kind((1, 1))))


def block_to_csr(block: _core.Block) -> csr_array:
    """A block's stored cells as compressed sparse rows."""
    data, indices, indptr = block._csr()
    rows, cols = block.shape
    kind = np.int32 if max(len(data), cols) <= np.iinfo(np.int32).max else np.int64
    # Indices fit, so that unsigned ones of the same width can be taken as they are.
    indices = indices.view(np.int32) if kind is np.int32 else indices.astype(np.int64)
    return csr_of((data, indices, indptr.astype(kind)), (rows, cols))
