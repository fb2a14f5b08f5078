"""Writing: whole objects at once, or tile by tile."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import DTypeLike, NDArray

from . import _core, keys
from .arrays import bands_of
from .declared import cell_dtype, declared
from .errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from .files import format_of_name
from .frame import Frame
from .identity import file_name
from .matrix import Matrix
from .meanings import Meaning
from .reports import Path, Progress, WriteSummary, reporting
from .rewrite import rewrite
from .tables import StoredColumn, columns_of, rows_of
from .writers import FrameWriter, MatrixWriter, is_sparse, plain_array


def writer(
    path: Path,
    shape: tuple[int, int],
    dtype: DTypeLike,
    *,
    threads: int | None = 1,
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
    kind = cell_dtype(dtype)
    name = file_name(path)
    rows, cols = _extents(shape)
    made = _core.create_matrix(name, rows, cols, kind, _core.WriteOptions(**options), sparse)
    return MatrixWriter(made, name, (rows, cols), kind, threads)


def frame_writer(
    path: Path,
    rows: int,
    columns: Mapping[str, DTypeLike | Sequence[str] | Meaning],
    *,
    threads: int | None = 1,
    **options: Any,
) -> FrameWriter:
    """Write a frame piece by piece: ``w["a", 0:9] = cells``, ``w[0:9] = {"a": ..., "b": ...}``.

    Args:
        path: the file.
        rows: number of rows.
        columns: what each column holds by its label, in order: a dtype (bool, str, datetime64 and
            timedelta64 too); one of pandas' dtypes or its name, such as ``"Int32"``, ``"Float64"``,
            ``"boolean"``, ``"category"``; the words of a category as a list of str; or a `Meaning`,
            for example ``Meaning("timestamp", unit="us", zone="UTC")``. `Frame.meanings` of another
            file makes columns like its. Text, and categories without a list of words, take any
            words, and keep each different one in memory. Integers, floats and Booleans have missing
            cells (None, masked, pandas' NA) only where they are pandas' dtypes, or the Meaning has
            a mark for them.
        threads: as of `writer`.
        options: as of `write`.
    """
    return _create_frame(
        path, rows, [declared(label, spec) for label, spec in columns.items()], threads, options
    )


def _create_frame(
    path: Path,
    rows: int,
    columns: Sequence[StoredColumn],
    threads: int | None,
    options: dict[str, Any],
) -> FrameWriter:
    name = file_name(path)
    described = [
        (_label_bytes(label), cells.dtype, tuple(meaning)) for label, cells, meaning in columns
    ]
    rows = _extent(keys.whole(rows), "rows")
    made = _core.create_frame(name, rows, described, _core.WriteOptions(**options))
    return FrameWriter(made, name, rows, columns, threads)


def _extents(shape: Any) -> tuple[int, int]:
    try:
        rows, cols = (operator.index(extent) for extent in shape)
    except (TypeError, ValueError):
        raise TypeMismatchError(
            f"shape is a pair of integers (rows, columns), not {shape!r}"
        ) from None
    return _extent(rows, "rows"), _extent(cols, "columns")


def _extent(extent: int, what: str) -> int:
    if not 0 <= extent < 1 << 64:
        raise InvalidArgumentError(f"{extent} is no number of {what}")
    return extent


def _label_bytes(label: str) -> bytes:
    try:
        return label.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise InvalidArgumentError(f"the label {label!r} is no Unicode text") from None


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
    threads: int | None = 1,
    progress: Progress = None,
) -> WriteSummary:
    """Write a DAPHNE binary file. It appears when it is whole, or not at all.

    Args:
        path: the file to make; `convert` writes other formats.
        data: a NumPy array of two dimensions, a SciPy sparse array, a `Matrix` or `Frame`, a pandas
            or polars DataFrame, a structured array, a mapping from labels to arrays, or anything
            with ``__arrow_c_stream__``, such as a pyarrow Table. An index of pandas is not stored:
            one that has a name, or is not of integers, is refused. Columns keep what they mean:
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
        TypeMismatchError: the data, or a column of it, holds what a file cannot: a TypeError.
        FileExistsError: the file exists and `overwrite` is False.
    """
    other = format_of_name(path)
    if other not in (None, "dbdf"):
        raise InvalidArgumentError(
            f"{file_name(path)} is the name of a file of another format ({other}), and write "
            "makes DAPHNE binary files (.dbdf); pydapple.convert makes others of them"
        )
    options: dict[str, Any] = {
        "tile": tile, "kind": kind, "narrow": narrow, "align": align, "plain": plain,
        "overwrite": overwrite, "sync": sync,
    }  # fmt: skip
    if isinstance(data, (Matrix, Frame)):
        return rewrite(data, path, to="dbdf", threads=threads, progress=progress, **options)
    table = None if is_sparse(data) else columns_of(data)
    with reporting(progress, "write") as report:
        if table is not None:
            rows = len(table[0].cells) if table else rows_of(data)
            return write_columns(path, table, rows, threads, options, report)
        if not is_sparse(data):
            data = plain_array(data)
            cell_dtype(data.dtype)
        if len(data.shape) != 2:
            raise InvalidArgumentError(
                f"a matrix has 2 dimensions, and this array has {len(data.shape)}; reshape it first"
            )
        if is_sparse(data) and tile is None:
            options["tile"] = _sparse_tile(data)
        with writer(
            path, data.shape, data.dtype, threads=threads, sparse=is_sparse(data), **options
        ) as made:
            if is_sparse(data):
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
    row_bytes = data.shape[1] * data.itemsize
    for band in bands_of(range(len(data)), made.chunks[0], row_bytes):
        made[band.start : band.stop] = data[band.start : band.stop]
        if report is not None:
            report(band.stop, len(data))


def write_columns(
    path: Path,
    table: list[StoredColumn],
    rows: int,
    threads: int | None,
    options: dict[str, Any],
    report: Any,
) -> WriteSummary:
    """Write a frame of columns of so many rows; `report` is called with (done, total) rows."""
    for label, cells, meaning in table:
        if len(cells) != rows:
            raise InvalidArgumentError(
                f"column {label!r} has {len(cells)} rows, but the first column has {rows}"
            )
        if options.get("plain") and not (meaning.kind == "number" and meaning.missing is None):
            what = "has missing cells" if meaning.kind == "number" else f"is a {meaning.kind}"
            raise UnsupportedError(
                f"column {label!r} {what}, which cannot be written to the plain layout; make it "
                "numbers first"
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
