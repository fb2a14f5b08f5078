"""Writing: whole objects at once, or tile by tile."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from numpy.typing import DTypeLike, NDArray

from . import _core, attributes, guests, keys, pandas_index
from .arguments import told
from .arrays import bands_of
from .attributes import write_options
from .declared import cell_dtype, declared
from .errors import InvalidArgumentError, TypeMismatchError, UnsupportedError, shown
from .files import is_own_name
from .given import Kind, chunked, is_sparse, kind_of, plain_array, store_chunks, unwrapped
from .identity import file_name
from .meanings import Meaning
from .reports import Path, Progress, WriteSummary, reporting
from .rewrite import rewrite
from .stored import StoredColumn, Table
from .streams import Pieces, is_in_memory, tables_of
from .writers import FrameWriter, MatrixWriter

# What data has itself, as messages call it.
_KEPT = {"attrs": "attributes", "row_names": "names of rows"}


@told
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
    name = _own_name(path)
    rows, cols = _extents(shape)
    made = _core.create_matrix(name, rows, cols, kind, write_options(**options), sparse)
    return MatrixWriter(made, name, (rows, cols), kind, threads, sparse)


@told
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
    name = _own_name(path)
    described = [
        (_label_bytes(label), cells.dtype, tuple(meaning)) for label, cells, meaning in columns
    ]
    rows = _extent(keys.whole(rows), "rows")
    made = _core.create_frame(name, rows, described, write_options(**options))
    return FrameWriter(made, name, rows, columns, threads)


def _own_name(path: Path) -> str:
    if not is_own_name(path):
        raise InvalidArgumentError(
            f"{file_name(path)} is the name of a file of another format, and a writer makes DAPHNE "
            "binary files (.dbdf); convert makes others of them"
        )
    return file_name(path)


def _extents(shape: Any) -> tuple[int, int]:
    try:
        rows, cols = (operator.index(extent) for extent in shape)
    except (TypeError, ValueError):
        raise TypeMismatchError(
            f"shape is a pair of integers (rows, columns), not {shown(shape)}"
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


@told
def write(
    path: Path,
    data: Any,
    *,
    tile: tuple[int, int] | None = None,
    kind: str = "auto",
    narrow: bool = True,
    align: int = 64,
    pack: str | None = None,
    plain: bool = False,
    overwrite: bool = False,
    sync: bool = True,
    attrs: Mapping[str, Any] | None = None,
    row_names: Sequence[str] | None = None,
    col_names: Sequence[str] | None = None,
    threads: int | None = 1,
    progress: Progress = None,
) -> WriteSummary:
    """Write a DAPHNE binary file. It appears when it is whole, or not at all.

    A name such as ``x.parquet``, ``x.csv``, ``x.csv.gz`` or ``x.npz`` makes a file of that format
    instead, as `convert` does, which has more options for it.

    Args:
        path: the file to make.
        data: a NumPy array of two dimensions, a SciPy sparse array, a `Matrix` or `Frame`, a pandas
            or polars DataFrame, a structured array, a mapping from labels to arrays, anything
            with ``__arrow_c_stream__``, such as a pyarrow Table, an xarray DataArray, or a Dask
            array, which is written chunk by chunk by threads of this process. What makes its rows
            when they are asked for, such as a RecordBatchReader, a query of DuckDB, a LazyFrame of
            polars or a Dask DataFrame, may be larger than memory: it goes by temporary files in
            ``$TMPDIR``, but all at once where a category has an order. An index of pandas is kept,
            and `Frame.to_pandas` gives it back: one of str as names of rows, others as columns; one
            of integers without a name is not stored. So are labels of columns that are integers.
            Columns keep what they mean: Booleans, times with unit and zone, categories
            with the order of their words, text, and missing values. Decimals are integers, or
            where they have digits after the point, the nearest float64 if that keeps all digits.
        tile: rows and columns of a tile; if not given, tiles of about 512 KiB, wide ones for sparse
            data.
        kind: ``"auto"`` picks for each tile what takes the fewest bytes; or ``"dense"``, ``"csr"``,
            ``"coo"``.
        narrow: store tiles in a smaller dtype where every bit comes back.
        align: dense tiles start at a multiple of this, a power of two.
        pack: ``"fast"`` packs tiles into fewer bits, which are read about as fast as they are
            without it; ``"small"`` adds zstd. Other programs refuse packed tiles.
        plain: write no index and no padding, nothing but the published format.
        overwrite: replace an existing file.
        sync: wait until the file is on storage; False only for files to be thrown away.
        attrs: what to note about it, in place of what `data` has itself (``attrs`` of a `Matrix` or
            `Frame`, of pandas and xarray; metadata of Arrow): str, numbers, bool, None, lists and
            dicts, NumPy's numbers and arrays; at most a mebibyte as JSON.
        row_names: a str for each row, ``""`` for one without a name; in place of what `data` has
            itself: the names of a `Matrix` or `Frame`, an index of str of pandas, coordinates of
            str of xarray. A name may be there several times, but is not found then.
        col_names: the same of the columns of a matrix.
        threads: tiles encoded at once; 0: one for each processor.
        progress: True shows a bar where tqdm is installed; a function gets (done, total) rows.

    Raises:
        TypeMismatchError: the data, or a column of it, holds what a file cannot: a TypeError.
        FileExistsError: the file exists and `overwrite` is False.
    """
    options: dict[str, Any] = {
        "tile": tile, "kind": kind, "narrow": narrow, "align": align, "pack": pack,
        "plain": plain, "overwrite": overwrite, "sync": sync, "attrs": attrs,
        "row_names": row_names, "col_names": col_names,
    }  # fmt: skip
    if not plain:
        options |= {k: v for k, v in attributes.of_array(data).items() if options[k] is None}
    data = unwrapped(data)
    kind_given = "table" if isinstance(data, (Table, Pieces)) else kind_of(data)
    from .pieces import stacked  # which needs this module

    several = False
    pieces: Iterator[Any] = iter([data])
    if kind_given == "table":
        if not is_in_memory(data):  # and may not give its rows once more
            guests.require_new(file_name(path), overwrite)
        tables = tables_of(data)
        first, second = next(tables), next(tables, None)
        _keep_own(first, attrs, options)
        several = second is not None
        pieces = chain([first], [second] if several else [], tables)
        data = None if several else first
        del first, second  # each is freed as soon as it is written
    if not is_own_name(path):
        return _write_other(path, pieces, kind_given, threads, options, progress)
    if several:
        with stacked(pieces, file_name(path), threads) as whole:
            return rewrite(whole, path, to="dbdf", threads=threads, progress=progress, **options)
    if kind_given == "opened":
        return rewrite(data, path, to="dbdf", threads=threads, progress=progress, **options)
    with reporting(progress, "write") as report:
        if kind_given == "table":
            return write_columns(path, data.columns, data.rows, threads, options, report)
        return _write_matrix(path, data, kind_given, threads, options, report)


def _keep_own(table: Table, attrs: Any, options: dict[str, Any]) -> None:
    """Have the attributes and names kept that a table has itself, where no others are given."""
    if isinstance(attrs, Mapping) and not options["plain"]:  # in place of others, but for the index
        options["attrs"] = {**pandas_index.notes_in(table.attrs), **attrs}
    for name, own in (("attrs", table.attrs), ("row_names", table.row_names)):
        if options[name] is None and own:
            options[name] = None if options["plain"] else own
            if options["plain"]:
                attributes.tell(f"the plain layout keeps no {_KEPT[name]}")


def _write_other(
    path: Path, pieces: Iterator[Any], given: Kind, threads: int | None, options: dict[str, Any],
    progress: Progress,
) -> WriteSummary:  # fmt: skip
    """Write a file of another format, by way of a temporary one of ours."""
    from .conversion import convert
    from .pieces import stacked

    own = {"tile": None, "kind": "auto", "narrow": True, "align": 64, "pack": None, "plain": False}
    wrong = [name for name, default in own.items() if options[name] != default]
    if wrong:
        raise InvalidArgumentError(
            f"{file_name(path)} is the name of a file of another format, which is written without "
            f"{', '.join(wrong)}"
        )
    options = {name: one for name, one in options.items() if name not in own}
    guests.require_new(file_name(path), options["overwrite"])
    if given == "opened":
        return convert(next(pieces), path, threads=threads, progress=progress, **options)
    with stacked(pieces, file_name(path), threads) as whole:
        return convert(whole, path, threads=threads, progress=progress, **options)


def _write_matrix(
    path: Path, data: Any, given: Kind, threads: int | None, options: dict[str, Any], report: Any
) -> WriteSummary:
    if given == "array":
        data = plain_array(data)
    if len(data.shape) != 2:
        raise InvalidArgumentError(
            f"a matrix has 2 dimensions, and this array has {len(data.shape)}; reshape it first"
        )
    cells, sparse = cell_dtype(data.dtype), given == "sparse"
    if given == "chunked":
        data, sparse = chunked(data), is_sparse(data._meta)
    elif sparse and options["tile"] is None:
        options["tile"] = _core.default_sparse_tile(data.shape[0], data.shape[1], data.nnz, cells)
    with writer(path, data.shape, data.dtype, threads=threads, sparse=sparse, **options) as made:
        if given == "chunked":
            store_chunks(data, made)
        elif sparse:
            made[:] = data
        else:
            _put_bands(made, data, report)
    return made.finish()


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
    """Write a frame of `rows` rows; `report` is called with (done, total) rows."""
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
