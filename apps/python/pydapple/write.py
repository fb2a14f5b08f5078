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
from .meanings import Meaning, narrow_codes
from .tables import StoredColumn, as_cells, as_column, columns_of

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
        self, writer: _core.Writer, path: str, rows: int, columns: Sequence[StoredColumn],
        threads: int,
    ) -> None:  # fmt: skip
        super().__init__(writer, path, threads)
        self.rows = rows
        self.columns = {
            column.label: column.meaning.dtype(column.cells.dtype) for column in columns
        }
        self._columns = columns
        self._labels = [column.label for column in columns]
        self._codes: dict[int, dict[str, int]] = {}
        # Columns that take any words: those that had none when the writer was made.
        self._growing = {
            k
            for k, (_, _, meaning) in enumerate(columns)
            if meaning.words is not None and len(meaning.words) == 0
        }

    def __setitem__(self, key: Any, data: Any) -> None:
        """Put some rows of one column, or of all."""
        if isinstance(key, str):
            key = (key, slice(None))
        if isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], str):
            if key[0] not in self.columns:
                raise InvalidIndexError(f"no column is called {key[0]!r}")
            rows, k = self._rows(key[1]), self._labels.index(key[0])
            values = data if np.ndim(data) else np.broadcast_to(np.asarray(data), (len(rows),))
            self._put(rows, k, [self._stored(k, values, len(rows))])
            return
        rows = self._rows(key)
        names = data.dtype.names if isinstance(data, np.ndarray) else list(data)
        if list(names or []) != self._labels:
            raise InvalidArgumentError(f"the columns are {self._labels}, not {list(names or [])}")
        arrays = [self._stored(k, data[x], len(rows)) for k, x in enumerate(self._labels)]
        self._put(rows, 0, arrays)

    def _stored(self, k: int, values: Any, rows: int) -> NDArray[Any]:
        """Values of column k as the file holds them."""
        label, like, meaning = self._columns[k]
        given = as_column(values, label)
        _require_shape(given.cells.shape, (rows,))
        cells, kind = given.cells, given.meaning
        if meaning.words is not None:
            if kind.words is None:
                raise InvalidArgumentError(f"column {label!r} holds words, and these are none")
            if k in self._growing:
                merged: NDArray[Any] = meaning.words.merge(kind.words)[cells]
                return merged
            codes = self._codes.setdefault(
                k, {word: code for code, word in enumerate(meaning.words.tolist(), 1)}
            )
            try:
                found = np.array([0] + [codes[word] for word in kind.words.tolist()])
            except KeyError as word:
                raise InvalidArgumentError(
                    f"column {label!r} has no category {word}; the writer was made with others"
                ) from None
            taken: NDArray[Any] = found[cells].astype(like.dtype)
            return taken
        if meaning.is_time and kind.kind == meaning.kind:
            ticks = cells.view(kind.dtype(cells.dtype)).astype(meaning.dtype(like.dtype))
            if not np.array_equal(ticks.astype(kind.dtype(cells.dtype)).view(np.int64), cells):
                raise InvalidArgumentError(
                    f"a time of column {label!r} is not exact in units of {meaning.unit}"
                )
            return ticks.view(np.int64)
        if kind.missing is not None and kind.missing != meaning.missing:
            raise InvalidArgumentError(f"column {label!r} was made without missing values")
        if kind.kind != meaning.kind and not (
            kind.kind in ("number", "boolean") and meaning.kind in ("number", "boolean")
        ):
            raise InvalidArgumentError(f"column {label!r} holds {meaning.kind}s, not {kind.kind}s")
        return _exact(cells, like.dtype)

    def _rows(self, key: Any) -> range:
        straight = keys.pick(key, self.rows, "row").forward()
        if straight is None or straight[1]:
            raise InvalidIndexError("rows are put at slices without a step")
        return straight[0]

    def _put(self, rows: range, first: int, arrays: Sequence[NDArray[Any]]) -> None:
        kinds = [column.cells.dtype for column in self._columns]
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
    columns: Mapping[str, DTypeLike | Sequence[str] | Meaning],
    *,
    threads: int = 1,
    **options: Any,
) -> FrameWriter:
    """Write a frame piece by piece: ``w["a", 0:9] = cells``, ``w[0:9] = {"a": ..., "b": ...}``.

    Args:
        path: the file.
        rows: number of rows.
        columns: what each column holds by its label, in order: a dtype (bool, str, datetime64 and
            timedelta64 too), the words of a category as a list of str, or a `Meaning` out of
            `Frame.meanings`, for example ``Meaning("timestamp", unit="us", zone="UTC")``. Text,
            and ``Meaning("category")``, take any words, and keep each different one in memory.
        threads: as of `writer`.
        options: as of `write`.
    """
    return _create_frame(
        path, rows, [_declared(label, spec) for label, spec in columns.items()], threads, options
    )


def _create_frame(
    path: Path, rows: int, columns: Sequence[StoredColumn], threads: int, options: dict[str, Any]
) -> FrameWriter:
    name = os.fsdecode(path)
    described = [
        (label.encode("utf-8", "surrogateescape"), cells.dtype, tuple(meaning))
        for label, cells, meaning in columns
    ]
    made = _core.create_frame(name, rows, described, _core.WriteOptions(**options))
    return FrameWriter(made, name, rows, columns, threads)


def _growing(label: str, kind: str) -> StoredColumn:
    """A column whose words are not known yet. Codes are stored in the fewest bytes all the same."""
    return StoredColumn(
        label, np.empty(0, np.uint32), Meaning(kind, words=_core.Words([]), missing=0)
    )


def _declared(label: str, spec: Any) -> StoredColumn:
    """A column without cells, as `frame_writer` is told of it."""
    if isinstance(spec, Meaning):
        if spec.words is not None:
            return StoredColumn(label, narrow_codes(np.empty(0, np.uint32), spec.words), spec)
        if spec.kind in ("category", "text"):
            return _growing(label, spec.kind)
        if spec.kind == "number":
            raise InvalidArgumentError(f"column {label!r}: give the dtype of its numbers")
        kind = np.uint8 if spec.kind == "boolean" else np.int64
        return StoredColumn(label, np.empty(0, kind), spec)
    if isinstance(spec, (list, tuple)) and all(isinstance(word, str) for word in spec):
        words = _core.Words(spec)
        meaning = Meaning("category", words=words, missing=0)
        return StoredColumn(label, narrow_codes(np.empty(0, np.uint32), words), meaning)
    dtype = np.dtype(spec)
    if dtype.kind in "UOST":
        return _growing(label, "text")
    column = as_column(np.empty(0, dtype), label)
    if column.meaning.is_time:
        return column._replace(meaning=column.meaning._replace(missing=1 << 63))
    return column


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
            with ``__arrow_c_stream__``, such as a pyarrow Table. Columns keep what they mean:
            Booleans, times with unit and zone, categories with the order of their words, text, and
            missing values.
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
        TypeError: the data, or a column of it, holds what a file cannot.
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
    path: Path, table: list[StoredColumn], threads: int, options: dict[str, Any], report: Any
) -> WriteSummary:
    rows = len(table[0].cells) if table else 0
    for label, cells, _ in table:
        if len(cells) != rows:
            raise InvalidArgumentError(
                f"column {label!r} has {len(cells)} rows, but the first column has {rows}"
            )
    with _create_frame(path, rows, table, threads, options) as frame:
        tile = frame._writer.tile_rows() or 1
        step = max(1, (1 << 20) // tile) * tile
        for top in range(0, rows, step):
            part = range(top, min(top + step, rows))
            frame._put(part, 0, [column.cells[part.start : part.stop] for column in table])
            if report is not None:
                report(part.stop, rows)
    return frame.finish()
