"""Writing: whole objects at once, or tile by tile."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _core, files, keys
from .errors import InvalidArgumentError, InvalidIndexError
from .files import Path, Progress, WriteSummary, reporting
from .frame import Frame
from .matrix import Matrix
from .tables import as_cells, as_column, columns_of

_BAND = 1 << 25  # bytes of what is converted at once


def _cell_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    return as_cells(np.empty(0, dtype)).dtype


def _is_sparse(data: Any) -> bool:
    return hasattr(data, "tocsr") and hasattr(data, "nnz")


_W = TypeVar("_W", bound="_TileWriter")


class _TileWriter:
    """What both writers share: a file that appears when the ``with`` ends without an exception."""

    def __init__(self, writer: _core.Writer, path: str, threads: int) -> None:
        self._writer = writer
        self.path = path
        self._threads = threads
        self.summary: WriteSummary | None = None

    def finish(self) -> WriteSummary:
        """Publish the file. Cells that were never put are zero."""
        if self.summary is None:
            self.summary = WriteSummary(*self._writer.finish())
        return self.summary

    def abort(self) -> None:
        """Leave no file."""
        self._writer.abort()

    def __enter__(self: _W) -> _W:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None:
            self.abort()
        elif self._writer.open:
            self.finish()


class MatrixWriter(_TileWriter):
    """What `writer` makes: ``w[r0:r1, c0:c1] = cells``, in any order, from any number of threads.

    No cell may be put twice. Pieces that follow the tiles are stored as they are; others are cut
    along them. `shape`, `dtype` and `chunks` are those of the matrix, so that
    ``dask.array.store(x, w, lock=False)`` works.
    """

    ndim = 2

    def __init__(
        self, writer: _core.Writer, path: str, shape: tuple[int, int], dtype: np.dtype[Any],
        threads: int,
    ) -> None:  # fmt: skip
        super().__init__(writer, path, threads)
        self.shape = shape
        self.dtype = dtype

    @property
    def chunks(self) -> tuple[int, int]:
        """Rows and columns of a tile."""
        strips = self._writer.strips()
        return self._writer.tile_rows(), strips[0][1] - strips[0][0] if strips else 0

    def __setitem__(self, key: Any, cells: Any) -> None:
        """Put cells, which may be dense, sparse, a matrix, or one value for all of them."""
        rows, cols = (part.forward() for part in keys.picks(key, self.shape))
        if rows is None or cols is None or rows[1] or cols[1]:
            raise InvalidIndexError("cells are put at slices without a step")
        self._put(rows[0], cols[0], cells)

    def _put(self, rows: range, cols: range, data: Any) -> None:
        shape = (len(rows), len(cols))
        if _is_sparse(data):
            _require_shape(data.shape, shape)
            self._put_sparse(rows.start, cols.start, shape[1], data)
        elif isinstance(data, Matrix):
            _require_shape(data.shape, shape)
            for part, cells in data.strips():
                self._put_dense(rows.start + part.start, cols.start, cells)
        else:
            array = np.asarray(data)
            if array.shape != shape:
                array = _broadcast(array, shape)
            self._put_dense(rows.start, cols.start, array)

    def _put_dense(self, row: int, col: int, array: NDArray[Any]) -> None:
        tile = self._writer.tile_rows() or 1
        step = max(1, _BAND // max(1, array.shape[1] * array.itemsize) // tile) * tile
        if array.flags.c_contiguous and array.dtype == self.dtype:
            step = max(1, len(array))
        first = step - row % tile if row % tile else step
        top = 0
        while top < len(array):
            end = min(len(array), top + (first if top == 0 else step))
            band = np.ascontiguousarray(as_cells(array[top:end]))
            self._writer.put(row + top, col, band, self._threads)
            top = end

    def _put_sparse(self, row: int, col: int, cols: int, data: Any) -> None:
        from scipy.sparse import csr_array

        rows = csr_array(data)
        if not rows.has_canonical_format:
            rows = rows.copy() if rows is data or np.shares_memory(rows.data, data.data) else rows
            rows.sum_duplicates()
        indices, indptr = rows.indices, rows.indptr
        if indices.dtype != indptr.dtype or indices.dtype not in (np.int32, np.int64):
            indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
        self._writer.put_csr(
            row,
            col,
            cols,
            np.ascontiguousarray(as_cells(rows.data)),
            indices,
            indptr,
            self._threads,
        )


class FrameWriter(_TileWriter):
    """What `frame_writer` makes: ``w["a", 0:9] = cells`` or ``w[0:9] = table``.

    A table is a mapping from labels to arrays, a structured array or a pandas DataFrame.
    """

    def __init__(
        self, writer: _core.Writer, path: str, rows: int, columns: dict[str, np.dtype[Any]],
        threads: int,
    ) -> None:  # fmt: skip
        super().__init__(writer, path, threads)
        self.rows = rows
        self.columns = columns
        self._labels = list(columns)

    def __setitem__(self, key: Any, data: Any) -> None:
        """Put some rows of one column, or of all."""
        if isinstance(key, str):
            key = (key, slice(None))
        if isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], str):
            if key[0] not in self.columns:
                raise InvalidIndexError(f"no column is called {key[0]!r}")
            rows = self._rows(key[1])
            self._put(
                rows, self._labels.index(key[0]), [_broadcast(np.asarray(data), (len(rows),))]
            )
            return
        rows = self._rows(key)
        names = data.dtype.names if isinstance(data, np.ndarray) else list(data)
        if list(names or []) != self._labels:
            raise InvalidArgumentError(f"the columns are {self._labels}, not {list(names or [])}")
        arrays = [as_column(data[label], label) for label in self._labels]
        for array in arrays:
            _require_shape(array.shape, (len(rows),))
        self._put(rows, 0, arrays)

    def _rows(self, key: Any) -> range:
        straight = keys.pick(key, self.rows, "row").forward()
        if straight is None or straight[1]:
            raise InvalidIndexError("rows are put at slices without a step")
        return straight[0]

    def _put(self, rows: range, first: int, arrays: Sequence[NDArray[Any]]) -> None:
        kinds = list(self.columns.values())
        tile = self._writer.tile_rows() or 1
        for begin, end in self._writer.strips():
            low, high = max(begin, first), min(end, first + len(arrays))
            if low >= high:
                continue
            part = arrays[low - first : high - first]
            # Neighbouring columns of one dtype are stored row by row.
            step = max(1, _BAND // ((high - low) * kinds[low].itemsize) // tile) * tile
            for top in range(0, len(rows), step):
                cells = [_exact(array[top : top + step], kinds[low]) for array in part]
                self._writer.put(rows.start + top, low, np.stack(cells, axis=1), self._threads)


def _exact(array: NDArray[Any], kind: np.dtype[Any]) -> NDArray[Any]:
    cells = as_cells(array)
    if cells.dtype == kind:
        return cells
    with np.errstate(invalid="ignore"):
        made = cells.astype(kind)
    if not np.array_equal(made, cells, equal_nan=kind.kind == "f"):
        raise InvalidArgumentError(f"a value of {cells.dtype} is not exact as {kind}")
    return made


def _require_shape(given: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if tuple(given) != wanted:
        raise InvalidArgumentError(f"cells of shape {tuple(given)} do not fit a place of {wanted}")


def _broadcast(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        _require_shape(array.shape, shape)
        raise


def writer(
    path: Path,
    shape: tuple[int, int],
    dtype: DTypeLike,
    *,
    threads: int = 1,
    sparse: bool = False,
    **options: Any,
) -> MatrixWriter:
    """Write a matrix piece by piece: ``with dp.writer(...) as w: w[0:9, 0:9] = cells``.

    The file appears when the ``with`` ends; an exception inside leaves none.

    Args:
        path: the file.
        shape: rows and columns.
        dtype: integers of 8 to 64 bits, float32 or float64; bool is stored as uint8.
        threads: tiles encoded at once by one assignment; 0: one for each processor.
        sparse: the header says that the matrix is sparse. Tiles are stored in the smallest kind
            either way.
        options: as of `write`.
    """
    kind = _cell_dtype(dtype)
    name = os.fsdecode(path)
    rows, cols = shape
    made = _core.create_matrix(name, rows, cols, kind, _core.WriteOptions(**options), sparse)
    return MatrixWriter(made, name, (rows, cols), kind, threads)


def frame_writer(
    path: Path,
    rows: int,
    columns: Mapping[str, DTypeLike],
    *,
    threads: int = 1,
    **options: Any,
) -> FrameWriter:
    """Write a frame piece by piece: ``w["a", 0:9] = cells``, ``w[0:9] = {"a": ..., "b": ...}``.

    Args:
        path: the file.
        rows: number of rows.
        columns: dtypes by label, in order.
        threads: as of `writer`.
        options: as of `write`.
    """
    kinds = {label: _cell_dtype(dtype) for label, dtype in columns.items()}
    name = os.fsdecode(path)
    made = _core.create_frame(
        name,
        rows,
        [(label.encode("utf-8", "surrogateescape"), kind) for label, kind in kinds.items()],
        _core.WriteOptions(**options),
    )
    return FrameWriter(made, name, rows, kinds, threads)


def write(
    path: Path,
    data: Any,
    *,
    tile: tuple[int, int] | None = None,
    kind: str = "auto",
    narrow: bool = True,
    align: int = 64,
    plain: bool = False,
    overwrite: bool = False,
    sync: bool = True,
    threads: int = 1,
    progress: Progress = None,
) -> WriteSummary:
    """Write a DAPHNE binary file. It appears when it is whole, or not at all.

    Args:
        path: the file to make; `convert` writes other formats.
        data: a NumPy array of two dimensions, a SciPy sparse array, a `Matrix` or `Frame`, a pandas
            or polars DataFrame, a structured array, a mapping from labels to arrays, or anything
            with ``__arrow_c_stream__``.
        tile: rows and columns of a tile; if not given, tiles of about 512 KiB, wide ones for sparse
            data.
        kind: ``"auto"`` picks for each tile what takes the fewest bytes; or ``"dense"``, ``"csr"``,
            ``"coo"``.
        narrow: store tiles in a smaller dtype where every bit comes back.
        align: dense tiles start at a multiple of this, a power of two.
        plain: write no index and no padding, nothing but the published format.
        overwrite: replace an existing file.
        sync: wait until the file is on storage; False only for files to be thrown away.
        threads: tiles encoded at once; 0: one for each processor.
        progress: True shows a bar where tqdm is installed; a function gets (done, total) rows.

    Raises:
        TypeError: the data, or a column of it, holds no numbers.
        FileExistsError: the file exists and `overwrite` is False.
    """
    other = files.format_of_name(path)
    if other not in (None, "dbdf"):
        raise InvalidArgumentError(
            f"{os.fsdecode(path)} is the name of a file of another format ({other}), and write "
            "makes DAPHNE binary files (.dbdf); pydapple.convert makes others of them"
        )
    options: dict[str, Any] = {
        "tile": tile, "kind": kind, "narrow": narrow, "align": align, "plain": plain,
        "overwrite": overwrite, "sync": sync,
    }  # fmt: skip
    if isinstance(data, (Matrix, Frame)):
        return files.convert(data, path, to="dbdf", threads=threads, progress=progress, **options)
    table = columns_of(data)
    with reporting(progress, "write") as report:
        if table is not None:
            return _write_table(path, table, threads, options, report)
        if not _is_sparse(data):
            data = np.asarray(data)
            _cell_dtype(data.dtype)
            if data.ndim != 2:
                raise InvalidArgumentError(
                    f"a matrix has 2 dimensions, and this array has {data.ndim}; reshape it first"
                )
        elif tile is None:
            options["tile"] = _sparse_tile(data)
        with writer(
            path, data.shape, data.dtype, threads=threads, sparse=_is_sparse(data), **options
        ) as made:
            if _is_sparse(data):
                made[:] = data
            else:
                _put_bands(made, data, report)
        return made.finish()


def _sparse_tile(data: Any) -> tuple[int, int]:
    """Wide tiles of about 512 KiB as they are stored: a row is then in few of them."""
    rows, cols = data.shape
    across = min(cols, 1 << 16)
    row_bytes = (data.dtype.itemsize + 4) * data.nnz * across / max(1, rows * cols)
    down = min(rows, 1 << 16, int((1 << 19) / max(row_bytes, 8)))
    return max(1, down), max(1, across)


def _put_bands(made: MatrixWriter, data: NDArray[Any], report: Any) -> None:
    tile = made.chunks[0] or 1
    step = max(1, _BAND // max(1, data.shape[1] * data.itemsize) // tile) * tile
    for top in range(0, len(data), step):
        made[top : top + step] = data[top : top + step]
        if report is not None:
            report(min(top + step, len(data)), len(data))


def _write_table(
    path: Path, table: list[tuple[str, NDArray[Any]]], threads: int, options: dict[str, Any],
    report: Any,
) -> WriteSummary:  # fmt: skip
    rows = len(table[0][1]) if table else 0
    for label, array in table:
        if len(array) != rows:
            raise InvalidArgumentError(
                f"column {label!r} has {len(array)} rows, and the first column {rows}"
            )
    name = os.fsdecode(path)
    columns = [(label.encode("utf-8", "surrogateescape"), array.dtype) for label, array in table]
    made = _core.create_frame(name, rows, columns, _core.WriteOptions(**options))
    kinds = {str(k): array.dtype for k, (_, array) in enumerate(table)}  # labels may repeat
    with FrameWriter(made, name, rows, kinds, threads) as frame:
        step = max(1, (1 << 20) // (made.tile_rows() or 1)) * (made.tile_rows() or 1)
        for top in range(0, rows, step):
            part = range(top, min(top + step, rows))
            frame._put(part, 0, [array[part.start : part.stop] for _, array in table])
            if report is not None:
                report(part.stop, rows)
    return frame.finish()
