"""Files that other libraries read and write for us: Parquet and Arrow's; NumPy's npz to write."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from . import _core, keys, pandas_index, temporary
from .absent import Absent, absent_code
from .attributes import Attributes, of_json, pandas_metadata, tell, to_json
from .errors import (
    Error,
    ExistsError,
    InvalidArgumentError,
    NotRecognisedError,
    OutOfRangeError,
    TypeMismatchError,
    from_code,
)
from .frame import Frame
from .identity import file_name
from .matrix import Matrix
from .names import Names, to_core
from .reports import WriteSummary
from .stored import Table
from .streams import tables_of

_GUESTS = {".parquet": "parquet", ".feather": "arrow", ".arrow": "arrow", ".npz": "npz"}


def endings_written() -> list[str]:
    """The endings of all files that are written here, by dapple itself or for it."""
    own = [one for _, _, all, _, writes, _ in _core.formats() if writes for one in all.split()]
    return [*own, *_GUESTS, ".csv.gz"]


@contextmanager
def pointed_out(path: Any, format: str | None = None) -> Iterator[None]:
    """Where a file of Parquet or Arrow is not recognised, the exception says what reads it."""
    try:
        yield
    except (NotRecognisedError, InvalidArgumentError) as error:
        named = format in (*_GUESTS.values(), *(ending[1:] for ending in _GUESTS))
        guest = isinstance(error, NotRecognisedError) and of_name(path, writing=False)
        if named or guest:
            error.detail = (
                "files of Parquet and Arrow are read by pydapple.convert, as their names end in "
                ".parquet, .feather or .arrow; it makes a .dbdf file of one, which can be opened"
            )
        raise


def of_name(path: Any, *, writing: bool) -> str | None:
    """Which of these files a name is of; None where dapple itself reads, or writes, such files."""
    if isinstance(path, (Matrix, Frame)):
        return None
    ending = os.path.splitext(file_name(path))[1].lower()
    for _, _, extensions, reads, writes, _ in _core.formats():
        if (writes if writing else reads) and ending in extensions.split():
            return None
    return _GUESTS.get(ending)


@contextmanager
def read(
    path: str, guest: str, labels: Sequence[str | int] | None = None
) -> Iterator[Iterator[Table]]:
    """The rows of a file, as `tables_of` has them, with pyarrow's exceptions as Errors.

    Only these columns, if all are given by label.
    """
    import pyarrow as pa

    refused: list[Exception] = []

    def noted(batches: Iterator[Any]) -> Iterator[Any]:
        try:
            yield from batches
        except (OSError, ValueError) as error:  # of which a stream keeps nothing but words
            refused.append(error)
            raise

    with ExitStack() as files:
        schema, batches = _reading(path, lambda: _opened(files, path, guest, labels))
        try:
            yield tables_of(pa.RecordBatchReader.from_batches(schema, noted(batches)))
        except Error as error:
            if refused:
                raise _bad(path, refused[0]) from error
            raise


def _opened(
    files: ExitStack, path: str, guest: str, labels: Sequence[str | int] | None
) -> tuple[Any, Iterator[Any]]:
    """The schema of a file, and its batches."""
    import pyarrow as pa

    if guest == "parquet":
        import pyarrow.parquet

        # read_table knows columns by name only
        file = files.enter_context(pyarrow.parquet.ParquetFile(path))
        wanted = _among(file.schema_arrow.names, labels)
        batches = file.iter_batches(columns=wanted)
    else:
        file = files.enter_context(_arrow_file(path))
        wanted = _among(file.schema.names, labels)
        whole = (file.get_batch(k) for k in range(file.num_record_batches))
        batches = whole if wanted is None else (batch.select(wanted) for batch in whole)
    schema = file.schema_arrow if guest == "parquet" else file.schema
    if wanted is not None:
        fields = [schema.field(name) for name in wanted]
        schema = pa.schema(fields, metadata=schema.metadata)
    return schema, batches


@contextmanager
def _arrow_file(path: str) -> Iterator[Any]:
    import pyarrow as pa

    with pa.memory_map(path) as source, pa.ipc.open_file(source) as file:
        yield file


def _names(path: str, guest: str) -> list[str]:
    names: list[str]
    if guest == "parquet":
        import pyarrow.parquet

        names = pyarrow.parquet.read_schema(path).names
    else:
        with _arrow_file(path) as file:
            names = file.schema.names
    return names


def _reading(path: str, read: Callable[[], Any]) -> Any:
    """What `read` gives, with pyarrow's and the system's exceptions as Errors."""
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        detail = f"cannot open: {error.strerror}"
        raise from_code("io", detail, path, None, error.errno or 0) from None
    try:
        return read()
    except OSError as error:  # pyarrow's word for bad bytes
        raise _bad(path, error) from error
    except ValueError as error:
        if type(error).__module__.startswith(("pyarrow", "numpy", "builtins")):
            raise _bad(path, error) from error
        raise


def labelled(
    path: str, guest: str, columns: Sequence[str | int] | None
) -> Sequence[str | int] | None:
    """The same columns, all by label, so that `load` need not read others."""
    if columns is None or all(isinstance(column, str) for column in columns):
        return columns
    names = _reading(path, lambda: _names(path, guest))
    if len(set(names)) < len(names):  # labels do not tell them apart
        return columns
    made: list[str | int] = []
    for column in columns:
        if isinstance(column, str):
            made.append(column)
            continue
        number = keys.whole(column)
        if not -len(names) <= number < len(names):
            raise OutOfRangeError(f"column {number} is outside the {len(names)} columns")
        made.append(names[number])
    return made


def _among(names: list[str], labels: Sequence[str | int] | None) -> list[str] | None:
    """The labels that a file has; None for all of its columns. Others are missed later."""
    repeats = len(set(names)) < len(names)  # and may be asked for by names that are no labels
    if labels is None or repeats or not all(isinstance(label, str) for label in labels):
        return None
    return [name for name in names if name in labels]


def _bad(path: str, error: Exception) -> NotRecognisedError:
    made = NotRecognisedError(str(error).splitlines()[0] if str(error) else "it cannot be read")
    made.file = path
    return made


def save(
    opened: Matrix | Frame, path: str, guest: str, rows: Any, columns: Any, absent: Absent, *,
    overwrite: bool = False, sync: bool = True, attrs: Any = None, row_names: Any = None,
    col_names: Any = None,
) -> WriteSummary:  # fmt: skip
    """Write rows and columns of an open matrix or frame. The file appears when it is whole."""
    require_new(path, overwrite)
    part = keys.span(rows, opened.shape[0], "row")
    noted = opened.attrs if attrs is None else of_json(to_json(attrs))
    if guest == "npz" and (row_names is not None or opened.row_names):
        tell("npz keeps no names of rows")
    if isinstance(opened, Matrix) and (col_names is not None or opened.col_names):
        tell(f"{guest} keeps no names of the columns of a matrix")
    write: Callable[[str], None]
    if guest == "npz":
        if not isinstance(opened, Matrix):
            raise InvalidArgumentError("an .npz file takes a matrix; a frame may become .parquet")
        write = _npz_writer(opened, part, columns, absent)
        if noted:
            tell("npz keeps no attributes")
    else:
        if not isinstance(opened, Frame):
            raise InvalidArgumentError(
                "Parquet and Arrow need a frame, and this is a matrix; write it as .npz, or what "
                "its to_pandas gives"
            )
        if col_names is not None:
            raise InvalidArgumentError("the columns of a frame have labels, and no other names")
        write = _arrow_writer(opened, part, columns, guest, noted, absent, row_names)
    return publish(path, write, sync)


def require_new(path: str, overwrite: bool) -> None:
    """Raises ExistsError where the file is there and may not be replaced."""
    if os.path.exists(path) and not overwrite:
        error = ExistsError(errno.EEXIST, "the file exists already; overwrite=True replaces it")
        error.detail = "the file exists already; overwrite=True replaces it"
        error.file = error.filename = path
        raise error


def publish(path: str, write: Callable[[str], None], sync: bool) -> WriteSummary:
    """Have a file written under a name that nobody sees, and give it its own when it is whole."""
    try:
        temporary.publish(path, write, sync)
    except OSError as error:
        if isinstance(error, Error):
            raise
        # It names a temporary file that nobody has seen.
        detail = f"cannot write: {os.strerror(error.errno) if error.errno else error}"
        raise from_code("io", detail, path, None, error.errno or 0) from error
    return WriteSummary({}, os.path.getsize(path))


def _npz_writer(opened: Matrix, rows: range, cols: Any, absent: Absent) -> Callable[[str], None]:
    across = keys.span(cols, opened.shape[1], "column")
    absent_code(absent)
    if opened._storage == "csr":
        from scipy.sparse import save_npz

        return lambda path: save_npz(path, opened.read_sparse(rows, across, absent=absent))
    return lambda path: np.savez(path, opened.read(rows, across, absent=absent))


@contextmanager
def _telling() -> Iterator[None]:
    """What pyarrow cannot write, such as seconds that Parquet's milliseconds do not hold, told."""
    from pyarrow import ArrowException

    try:
        yield
    except ArrowException as error:
        raise TypeMismatchError(f"pyarrow cannot write this frame: {error}") from error


def _groups(batches: Iterable[Any]) -> Iterator[list[Any]]:
    """Batches that follow each other, as pyarrow makes row groups of them, but of little memory."""
    group: list[Any] = []
    rows = size = 0
    for batch in batches:
        group.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= 1 << 20 or size >= 128 << 20:
            yield group
            group, rows, size = [], 0, 0
    if group:
        yield group


def _arrow_writer(
    opened: Frame, rows: range, columns: Any, guest: str, attrs: Attributes, absent: Absent,
    row_names: Any,
) -> Callable[[str], None]:  # fmt: skip
    import pyarrow as pa

    if isinstance(columns, (slice, range, tuple)):
        columns = list(keys.span(columns, opened.shape[1], "column"))
    names, first = opened.row_names, 0
    if (given := to_core(row_names, "row_names")) is not None:
        names, first = Names(given, "row"), rows.start
        if len(names) != len(rows):
            raise InvalidArgumentError(f"{len(names)} names cannot be those of {len(rows)} rows")
    if names is not None:
        label, attrs = pandas_index.of_names(attrs, opened.labels)
    part = slice(rows.start, rows.stop)
    stream = opened._stream(part, columns, attrs=attrs, absent=absent)
    batches = pa.RecordBatchReader.from_stream(stream)
    schema = batches.schema
    if names is not None:
        schema = schema.append(pa.field(label, pa.large_string()))
    notes = {**(schema.metadata or {}), **pandas_index.to_metadata(attrs, schema.names)}
    if guest == "parquet":
        notes |= pandas_metadata(attrs)
    schema = schema.with_metadata(notes or None)

    def named() -> Iterator[Any]:
        begin = rows.start
        for batch in batches:
            arrays, end = batch.columns, begin + batch.num_rows
            if names is not None:
                arrays = [*arrays, pa.array(names[begin - first : end - first], pa.large_string())]
            yield pa.record_batch(arrays, schema=schema)
            begin = end

    def write(path: str) -> None:
        if guest == "parquet":
            import pyarrow.parquet as pq

            with _telling(), stream.raising(), pq.ParquetWriter(path, schema) as writer:
                for group in _groups(named()):
                    writer.write_table(pa.Table.from_batches(group))
        else:
            with _telling(), stream.raising(), pa.ipc.new_file(path, schema) as writer:
                for batch in named():
                    writer.write_batch(batch)

    return write
