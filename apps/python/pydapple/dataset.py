"""Data sets: a folder of many files that many processes write, opened as one matrix or frame.

>>> part = dp.dataset.write_part("scan", block, at=(0, 4096))     # in any process, on any machine
>>> dp.dataset.commit("scan", [part])                             # in one, or in each
>>> dp.open("scan")[0:10, 4096:4100]                              # the latest state

A part is a file that nobody else writes; a state says which parts there are, and is created under
the next number by whoever is first. Nothing is ever changed in place.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import numpy as np

from . import _core, remote
from .advice import require_options
from .arguments import told
from .attributes import STORING, tell
from .errors import (
    InvalidArgumentError,
    NotRecognisedError,
    TypeMismatchError,
    from_code,
    shown,
)
from .files import open as open_file
from .fitted import fitted
from .frame import Frame
from .given import kind_of, name_of, unwrapped
from .identity import file_name
from .matrix import Matrix
from .reports import Path, Progress, reporting
from .stored import Table
from .streams import Pieces, is_in_memory, tables_of
from .tables import table_of
from .write import write

__all__ = [
    "Collected",
    "Part",
    "State",
    "append",
    "collect",
    "commit",
    "compact",
    "create",
    "log",
    "store",
    "write_part",
]


_NO_NAMES = "a data set keeps no names of rows and columns"


class Part(NamedTuple):
    """A part that was written, for `commit`. Pickles are small; send them anywhere."""

    name: str
    bytes: int
    header_bytes: int
    header_hash: int
    trailer_hash: int
    rows: tuple[int, int]  # where it is in the data set, half-open
    cols: tuple[int, int]


class State(NamedTuple):
    """One state of a data set."""

    number: int
    action: str  # create, commit, compact or gc
    time_ns: int  # since 1970, by the clock of whoever made it
    shape: tuple[int, int]
    parts: int
    blocks: int
    bytes: int  # of its parts


class Collected(NamedTuple):
    """What `collect` removed."""

    states: int
    parts: int
    bytes: int


@told
def create(
    folder: Path, like: Matrix | Frame, shape: tuple[int, int] = (0, 0), *, sync: bool = True
) -> State:
    """Make an empty data set with the columns and the dtype of `like`.

    There is no need to: the first `commit` makes one with those of its parts.

    Args:
        folder: made if there is none.
        like: an open matrix or frame.
        shape: rows and columns that it has at least; it grows with its parts.
        sync: wait until it is on storage.
    """
    return State(*_core.dataset_create(file_name(folder), like, shape, sync))


@told
def write_part(folder: Path, data: Any, at: tuple[int, int] = (0, 0), **options: Any) -> Part:
    """Write a part under a name that nobody else has; it is in no state before it is committed.

    Columns of a table or frame become what the data set holds there, if it has a state and that
    loses nothing: times of another unit (of a frame, a coarser one), integers of another size,
    other marks of missing cells. An index of pandas is columns, of str too; names of rows and
    columns are not kept.

    Args:
        folder: of the data set; made if there is none.
        data: whatever `write` takes.
        at: the row and column of the data set where its first cell is.
        options: as of `write`. If no `tile` is given, dense cells get tiles that divide the part,
            so that parts of one size are one regular tiling.
    """
    data = unwrapped(data)
    opened = data if isinstance(data, (Matrix, Frame)) else None
    if any(options.get(one) or getattr(opened, one, None) for one in ("row_names", "col_names")):
        tell(_NO_NAMES)
    name = f"part-{os.urandom(16).hex()}.dbdf"
    if "tile" not in options and isinstance(data, np.ndarray) and data.ndim == 2 and data.size:
        options["tile"] = _core.dataset_tile(*data.shape)
    with _part_in(file_name(folder), name) as file:
        write(file, _as_in(folder, data), **options)
        return Part(*_core.dataset_part(file_name(folder), name, at))


@contextmanager
def _part_in(folder: str, name: str) -> Iterator[str]:
    """The path of a part. After an exception neither it nor a folder made for it is left."""
    remote.require_local(folder)
    if not folder or os.path.isfile(folder):
        what = "is a file" if folder else "has no name"
        raise InvalidArgumentError(f"{folder!r} {what}, and a data set is a folder")
    fresh, file = not os.path.isdir(folder), os.path.join(folder, name)
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        detail = f"cannot make the folder: {error.strerror}"
        raise from_code("io", detail, folder, None, error.errno or 0) from None
    try:
        yield file
    except BaseException:
        with suppress(OSError):  # of a folder in which others write meanwhile
            os.remove(file)
        with suppress(OSError):
            if fresh:
                os.rmdir(folder)
        raise


def _as_in(folder: Path, data: Any) -> Any:
    """The data, a table with columns as the data set holds them.

    An index of str is a column there, since names of rows are what a file has, not a data set.
    """
    if isinstance(data, Frame):
        return Frame(_core.dataset_fitted(file_name(folder), data))
    if not isinstance(data, Table) and kind_of(data) != "table":
        return data
    if not is_in_memory(data):
        return Pieces(_as_in(folder, table) for table in tables_of(data))
    table = table_of(data, index_names=False)
    try:
        whole = open_file(_core.dataset_latest(file_name(folder)))
    except NotRecognisedError:  # it has no state yet
        return table if table.columns else data
    with whole:
        if len(table.columns) > whole.shape[1]:  # which has no column for the index
            table = table_of(data)
            if table.row_names is not None:
                tell(_NO_NAMES)
        table = fitted(table, whole) if isinstance(whole, Frame) else table
    return table if table.columns else data


@told
def commit(
    folder: Path,
    parts: Part | Iterable[Part],
    *,
    shape: tuple[int, int] = (0, 0),
    whole: bool = False,
    below: bool = False,
    sync: bool = True,
) -> State:
    """Make the next state, which has these parts, too.

    When others commit meanwhile, it is made from their state. Parts that it has already are no
    error, so that a task may be run twice.

    Args:
        folder: of the data set.
        parts: what `write_part` gave, in this process or in others; one, or several.
        shape: rows and columns that the data set has at least; it grows with its parts.
        whole: every cell has to be in a part.
        below: put the parts below all rows, one after the other.
        sync: wait until the state is on storage.

    Raises:
        InvalidArgumentError: parts share cells, or their dtype, labels or meanings are not those of
            the data set.
        CorruptError: a part was changed since it was written.
    """
    given = [parts] if isinstance(parts, Part) else list(parts)
    if not all(isinstance(one, (tuple, list)) and len(one) == len(Part._fields) for one in given):
        raise TypeMismatchError("parts are what write_part gave, one or a list of them")
    return State(*_core.dataset_commit(file_name(folder), given, shape, whole, below, sync))


@told
def append(folder: Path, data: Any, *, at: tuple[int, int] | None = None, **options: Any) -> State:
    """Write rows as a part below all others, and commit it. A part that is refused is removed.

    Args:
        folder: of the data set; made if there is none.
        data: whatever `write` takes.
        at: the row and column of its first cell, if it is not to be below all others.
        options: as of `write_part`.
    """
    part = write_part(folder, data, at or (0, 0), **options)
    sync = options.get("sync", True)
    return State(*_core.dataset_append(file_name(folder), part, at is None, sync))


@told
def compact(
    folder: Path,
    small: int = 64 << 20,
    *,
    threads: int | None = 1,
    progress: Progress = None,
    **options: Any,
) -> State:
    """Put parts of fewer than `small` bytes together, where they fill a rectangle.

    Old states keep theirs, until `collect` removes both. Options are as of `write`.
    """
    require_options("compacting", options, STORING)
    made = _core.WriteOptions(**options)
    with reporting(progress, "compact") as report:
        return State(*_core.dataset_compact(file_name(folder), small, threads, made, report))


@told
def collect(folder: Path, *, keep: int = 1, grace: float = 7 * 24 * 3600) -> Collected:
    """Remove old states, and parts that no state has.

    Args:
        folder: of the data set.
        keep: how many of the latest states stay.
        grace: seconds; what is younger stays, since somebody may be reading or committing it.
    """
    if not 0 <= grace < 2**63:
        raise InvalidArgumentError(f"grace is a number of seconds from 0 on, not {shown(grace)}")
    return Collected(*_core.dataset_collect(file_name(folder), keep, int(grace)))


@told
def log(folder: Path) -> list[State]:
    """Every state that can be opened, the latest last. Warns of those that cannot."""
    states, damaged = _core.dataset_log(file_name(folder))
    for why in damaged:
        tell(why)
    return [State(*state) for state in states]


@told
def store(
    data: Any, folder: Path, *, at: tuple[int, int] = (0, 0), compute: bool = True, **options: Any
) -> Any:
    """Write a Dask array, one part for each chunk, or a Dask DataFrame, one for each partition.

    Each worker writes parts of its own, so that none waits for another; one task commits them all
    at once. Partitions go below the rows that the data set has. Chunks that share cells with parts
    that are there are refused, and then nothing is committed.

    Args:
        data: a dask.array of two dimensions, or a dask.dataframe.
        folder: of the data set; every worker has to see it.
        at: where the first cell of an array is in the data set.
        compute: False: give a delayed `State`.
        options: as of `write_part`.
    """
    import dask

    folder = os.path.abspath(file_name(folder))  # wherever workers run
    part = dask.delayed(write_part)
    if not hasattr(data, "to_delayed"):
        raise TypeMismatchError(
            f"{name_of(data)} has no chunks: append writes what is in memory, and "
            "dask.array.from_array makes chunks of it"
        )
    if hasattr(data, "partitions") and hasattr(data, "divisions"):
        parts = [part(folder, chunk, **options) for chunk in data.to_delayed()]
        made = dask.delayed(commit)(folder, parts, below=True)
    else:
        places = list(_places(data, at))
        chunks = data.to_delayed().ravel()
        parts = [part(folder, *one, **options) for one in zip(chunks, places, strict=True)]
        shape = (at[0] + data.shape[0], at[1] + data.shape[1])
        made = dask.delayed(commit)(folder, parts, shape=shape)
    return made.compute() if compute else made


def _places(data: Any, at: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Where each chunk starts, in the order of `to_delayed().ravel()`."""
    if data.ndim != 2 or any(np.isnan(sum(sizes)) for sizes in data.chunks):
        raise InvalidArgumentError(
            "only arrays of two dimensions whose chunks have known sizes can be stored; "
            "compute_chunk_sizes() finds them"
        )
    rows, cols = (np.cumsum((first, *sizes)) for first, sizes in zip(at, data.chunks, strict=True))
    return ((int(row), int(col)) for row in rows[:-1] for col in cols[:-1])
