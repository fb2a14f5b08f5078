"""What writes files piece by piece: what `writer` and `frame_writer` of write.py make."""

from __future__ import annotations

import os
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _core, keys, times
from .arguments import told
from .arrays import bands_of
from .errors import InvalidArgumentError, InvalidIndexError, TypeMismatchError
from .fitted import says_nothing_of
from .given import is_sparse, plain_array, require_sound, unwrapped, without_attrs
from .matrix import Matrix
from .reports import WriteSummary
from .stored import StoredColumn, as_cells
from .tables import as_column

_W = TypeVar("_W", bound="_TileWriter")


@told
class _TileWriter:
    """What both writers share: a file that appears when the ``with`` ends without an exception."""

    def __init__(self, writer: _core.Writer, path: str, cells: int, threads: int | None) -> None:
        self._writer = writer
        self._cells = cells
        self._put_cells: list[int] = []  # of each call; to append is safe in any thread
        self.path = path
        self._threads = threads
        self._process = os.getpid()
        self.summary: WriteSummary | None = None

    def finish(self) -> WriteSummary:
        """Publish the file. Cells that were never put are zero.

        A ResourceWarning tells of them, unless the matrix is sparse.
        """
        if self.summary is None:
            self.summary = WriteSummary(*self._writer.finish())
            left = self._cells - sum(self._put_cells)
            if left > 0:
                warnings.warn(
                    f"{left} of the {self._cells} cells of {self.path} were never put, and are "
                    "zero",
                    ResourceWarning,
                    stacklevel=2,
                )
        return self.summary

    def abort(self) -> None:
        """Leave no file."""
        self._writer.abort()

    def __reduce__(self) -> Any:
        raise InvalidArgumentError(
            "a writer belongs to the process that made it: write a file of its own in each "
            "process, and put them together with pydapple.concat"
        )

    def __del__(self) -> None:
        writer = getattr(self, "_writer", None)
        if writer is not None and writer.open and self._process == os.getpid():
            warnings.warn(
                f"{self.path} was never finished, and is not written: a writer's place is a with",
                ResourceWarning,
                stacklevel=2,
                source=self,
            )

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
        threads: int | None, sparse: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(writer, path, 0 if sparse else shape[0] * shape[1], threads)
        self.shape = shape
        self.dtype = dtype

    @property
    def chunks(self) -> tuple[int, int]:
        """Rows and columns of a tile."""
        strips = self._writer.strips()
        return self._writer.tile_rows(), strips[0][1] - strips[0][0] if strips else 0

    def __setitem__(self, key: Any, cells: Any) -> None:
        """Put cells, which may be dense, sparse, a matrix, or one value for all of them."""
        picks = keys.picks(key, self.shape)
        rows, cols = (part.forward() for part in picks)
        if rows is None or cols is None or rows[1] or cols[1]:
            raise InvalidIndexError("cells are put at slices without a step")
        self._put(rows[0], cols[0], cells, tuple(len(part) for part in picks if not part.drop))

    def _put(self, rows: range, cols: range, data: Any, kept: tuple[int, ...]) -> None:
        shape = (len(rows), len(cols))
        data = unwrapped(data)
        if is_sparse(data):
            _require_shape(data.shape, shape)
            self._put_sparse(rows.start, cols.start, shape[1], data)
        elif isinstance(data, Matrix):
            _require_shape(data.shape, shape)
            for part, cells in data.strips():
                self._put_dense(rows.start + part.start, cols.start, cells)
        else:
            array = plain_array(data)
            if array.shape != shape:  # a row or a column has one axis, as in NumPy
                array = _broadcast(array, kept).reshape(shape)
            self._put_dense(rows.start, cols.start, array)
        self._put_cells.append(shape[0] * shape[1])

    def _put_dense(self, row: int, col: int, array: NDArray[Any]) -> None:
        rows = range(row, row + len(array))
        bands: Iterable[range] = [rows]
        if not array.flags.c_contiguous or array.dtype != self.dtype:  # bands are copied
            row_bytes = array.shape[1] * max(array.itemsize, self.dtype.itemsize)
            bands = bands_of(rows, self._writer.tile_rows(), row_bytes)
        for band in bands:
            cells = np.ascontiguousarray(as_cells(array[band.start - row : band.stop - row]))
            self._writer.put(band.start, col, cells, self._threads)

    def _put_sparse(self, row: int, col: int, cols: int, data: Any) -> None:
        from scipy.sparse import csr_array

        if hasattr(data, "format"):
            require_sound(data)
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

    A table is a mapping from labels to arrays, a structured array, a DataFrame of pandas or polars,
    or a pyarrow Table.
    """

    def __init__(
        self, writer: _core.Writer, path: str, rows: int, columns: Sequence[StoredColumn],
        threads: int | None,
    ) -> None:  # fmt: skip
        super().__init__(writer, path, rows * len(columns), threads)
        self.rows = rows
        self.columns = {
            column.label: column.meaning.dtype(column.cells.dtype) for column in columns
        }
        self._columns = columns
        self._labels = [column.label for column in columns]
        self._places = {label: k for k, label in reversed(list(enumerate(self._labels)))}
        self._strips = [end for _, end in writer.strips()]
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
            rows, k = self._rows(key[1]), self._places[key[0]]
            one = None if data is np.ma.masked else data
            several = isinstance(data, (list, tuple)) or np.ndim(data)
            values = data if several else np.broadcast_to(np.asarray(one), (len(rows),))
            self._put(rows, k, [self._stored(k, values, len(rows))])
            return
        rows = self._rows(key)
        names = _labels_of(data)
        if names != self._labels:
            raise InvalidArgumentError(f"the columns are {self._labels}, not {names}")
        bare = without_attrs(data)
        arrays = [self._stored(k, bare[x], len(rows)) for k, x in enumerate(self._labels)]
        self._put(rows, 0, arrays)

    def _stored(self, k: int, values: Any, rows: int) -> NDArray[Any]:
        """Values of column k as the file holds them."""
        label, like, meaning = self._columns[k]
        given = as_column(values, label)
        _require_shape(given.cells.shape, (rows,))
        if says_nothing_of(given, meaning, like.dtype):
            return _missing(self._columns[k], rows)
        cells, kind = given.cells, given.meaning
        if meaning.words is not None:
            if kind.words is None:
                raise InvalidArgumentError(f"column {label!r} holds words, and these are none")
            if k in self._growing:
                merged: NDArray[Any] = meaning.words.merge(kind.words)[cells]
                return merged
            if k not in self._codes:
                words = meaning.words.tolist()
                self._codes[k] = {word: code for code, word in enumerate(words, 1)}
            codes = self._codes[k]
            try:
                found = np.array([0] + [codes[word] for word in kind.words.tolist()])
            except KeyError as word:
                raise InvalidArgumentError(
                    f"column {label!r} has no category {word}; the writer was made with others"
                ) from None
            taken: NDArray[Any] = found[cells].astype(like.dtype)
            return taken
        if kind.zone and not meaning.zone:
            raise InvalidArgumentError(
                f"column {label!r} was made without a time zone, and these times have one"
            )
        if meaning.is_time and kind.kind == meaning.kind:
            try:
                exact = times.in_unit(cells.view(kind.dtype(cells.dtype)), meaning.unit)
            except TypeMismatchError as error:
                raise InvalidArgumentError(f"column {label!r}: {error}") from None
            ticks: NDArray[np.int64] = exact.view(np.int64)
            return ticks
        if kind.kind != meaning.kind and not (
            kind.kind in ("number", "boolean") and meaning.kind in ("number", "boolean")
        ):
            raise InvalidArgumentError(f"column {label!r} holds {meaning.kind}s, not {kind.kind}s")
        gone = kind.missing_cells(cells)
        try:
            exact = _exact(np.where(gone, cells.dtype.type(0), cells), like.dtype)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"column {label!r}: {error}") from None
        if meaning.kind == "boolean" and kind.kind == "number" and (exact > 1).any():
            raise InvalidArgumentError(
                f"column {label!r} holds Booleans, and a number is not 0 or 1"
            )
        taken_for = meaning.missing_cells(exact) & ~gone
        if like.dtype.kind != "f" and taken_for.any():
            raise InvalidArgumentError(
                f"column {label!r}: {exact[taken_for][0]} marks its missing cells; make it of a "
                "wider dtype"
            )
        if gone.any():
            exact[gone] = _missing(self._columns[k], int(gone.sum()))
        return exact

    def _rows(self, key: Any) -> range:
        straight = keys.pick(key, self.rows, "row").forward()
        if straight is None or straight[1]:
            raise InvalidIndexError("rows are put at slices without a step")
        return straight[0]

    def _put(self, rows: range, first: int, arrays: Sequence[NDArray[Any]]) -> None:
        last = first + len(arrays)
        low = first
        while low < last:
            high = min(self._strips[bisect_right(self._strips, low)], last)
            part = arrays[low - first : high - first]
            dtype = self._columns[low].cells.dtype
            # Neighbouring columns of one dtype are stored row by row.
            row_bytes = (high - low) * dtype.itemsize
            for band in bands_of(rows, self._writer.tile_rows(), row_bytes):
                here = slice(band.start - rows.start, band.stop - rows.start)
                cells = [_exact(array[here], dtype) for array in part]
                self._writer.put(band.start, low, np.stack(cells, axis=1), self._threads)
            low = high
        self._put_cells.append(len(rows) * len(arrays))


def _missing(column: StoredColumn, rows: int) -> NDArray[Any]:
    """Missing cells as the column holds them."""
    label, like, meaning = column
    mark = meaning.missing if meaning.words is None else 0
    if mark is None:
        name = like.dtype.name.replace("int", "Int").replace("float", "Float").replace("u", "U")
        wanted = "boolean" if meaning.kind == "boolean" else name
        raise InvalidArgumentError(
            f"column {label!r} was made without missing values; {wanted!r} as its dtype has them"
        )
    return np.full(rows, mark, f"u{like.dtype.itemsize}").view(like.dtype)


def _labels_of(table: Any) -> list[str]:
    if isinstance(table, np.ndarray):
        return list(table.dtype.names or ())
    if isinstance(table, Mapping):
        return list(table)
    for columns in ("column_names", "columns"):  # of pyarrow, of the others
        if hasattr(table, columns):
            return list(getattr(table, columns))
    raise TypeMismatchError(f"rows are put as a table, and a {type(table).__name__} is none")


def _exact(array: NDArray[Any], kind: np.dtype[Any]) -> NDArray[Any]:
    cells = as_cells(array)
    if cells.dtype == kind:
        return cells
    with np.errstate(invalid="ignore", over="ignore"):
        made = cells.astype(kind)
        back = made.astype(cells.dtype)
    # Both ways, because NumPy compares integers with floats as floats; 0 has no sign as an integer.
    same = (back == cells) & (made == cells) & (np.signbit(back) == np.signbit(cells))
    if kind.kind == "f":
        same |= np.isnan(cells)
    elif cells.dtype.kind == "f":  # beyond its end, some processors give the last integer
        same &= cells < 2.0 ** (8 * kind.itemsize - (kind.kind == "i"))
    if not same.all():
        wrong = np.flatnonzero(~same)[0]
        raise InvalidArgumentError(
            f"{cells.flat[wrong]} ({cells.dtype}) in row {wrong} of these is not exact as {kind}"
        )
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
