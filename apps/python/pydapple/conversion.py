"""Files written as other files, of other libraries too."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from numpy.typing import DTypeLike

from . import guests, remote, ten_x
from .absent import Absent
from .arguments import told
from .errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from .files import open
from .frame import Frame
from .frame_columns import each_label
from .given import name_of
from .identity import file_name
from .matrix import Matrix
from .pieces import stacked
from .reports import Path, Progress, WriteSummary
from .rewrite import rewrite


@told
def convert(
    src: Path | Matrix | Frame,
    dst: Path,
    *,
    to: str | None = None,
    rows: Any = None,
    cols: Any = None,
    columns: str | Sequence[str | int] | None = None,
    dtype: DTypeLike | None = None,
    allow_loss: bool = False,
    absent: Absent = "error",
    drop_labels: bool = False,
    stored_numbers: bool = False,
    short_floats: bool = False,
    deflate: bool = True,
    transpose: bool = False,
    threads: int | None = 0,
    progress: Progress = None,
    open_with: Mapping[str, Any] | None = None,
    **write: Any,
) -> WriteSummary:
    """Write a file, or a part of it, in another format or with another tiling.

    Memory is bounded, whatever the size; the file appears when it is whole. Parquet and Arrow's own
    files (``.parquet .feather .arrow``) are read and written with pyarrow, some rows at a time, but
    all where a category has an order. ``.npz`` is written with NumPy and SciPy, and has to fit in
    memory. Where the name of a
    CSV, Matrix Market, .npy, Futhark or BTable file goes on with ``.gz`` or ``.zst``, it is
    compressed.

    Args:
        src: a path, or an open matrix or frame.
        dst: the file to make.
        to: its format, one of `formats()`; told from its name if not given.
        rows: a slice, whose ends may count from the end, a range or a pair (begin, end); not
            clipped.
        cols: the same of columns.
        columns: a frame's columns in their new order: names as `Frame.columns` has them, numbers,
            or names of groups.
        dtype: of all cells of the result.
        allow_loss: round values to `dtype` where they do not fit it exactly.
        absent: whether cells that no block covers are an error, zero, or NaN (floats only).
        drop_labels: leave out a frame's labels where the format has no place for them, and the
            header of a matrix whose columns have names.
        stored_numbers: of columns of words, times and Booleans, where the format has no place for
            these, write the codes, ticks and numbers that are stored.
        short_floats: to CSV and Matrix Market, write float32 in the fewest digits that read back as
            float32 (0.1), and not in those that read back to the same value as float64
            (0.10000000149011612).
        deflate: compress ML.NET files.
        transpose: write a matrix with its rows as columns, to dbdf; tiles are chosen for it.
        threads: 0: one for each processor.
        progress: True shows a bar where tqdm is installed; a function gets (done, total).
        open_with: options of `open` for `src`.
        **write: further keywords, ``tile=``, ``kind=``, ``narrow=``, ``align=``, ``pack=``,
            ``plain=``, ``overwrite=``, ``sync=``, ``attrs=``, ``row_names=`` and ``col_names=``, as
            of `write`. Attributes and names that are not given are those of `src`, where the format
            has a place for them.
    """
    if "write" in write:
        raise TypeMismatchError(
            "convert has no argument 'write': options of writing are keywords themselves, such as "
            "overwrite=True"
        )
    _require_source(src)
    remote.require_local(file_name(dst))
    reads = guests.of_name(src, writing=False)
    if columns is not None and reads and not (open_with or {}).get("format"):
        columns = guests.labelled(file_name(src), reads, each_label(columns))
    guest = guests.of_name(dst, writing=True) if to is None else None
    if guest is not None:
        taken = {"dtype": dtype, "allow_loss": allow_loss, "transpose": transpose}
        taken |= {"short_floats": short_floats, **write}
        finish = ("overwrite", "sync", "attrs", "row_names", "col_names")
        given = [name for name in taken if taken[name] is not None and taken[name] is not False]
        wrong = [name for name in given if name not in finish]
        if wrong:
            raise InvalidArgumentError(f"{guest} files are written without {', '.join(wrong)}")
        with opened_as(src, open_with, columns) as opened:
            return guests.save(
                opened, file_name(dst), guest, rows,
                cols if columns is None else list(each_label(columns)), absent,
                **{name: write[name] for name in finish if name in write},
            )  # fmt: skip

    beside = os.path.dirname(file_name(dst)) or "." if _is_own(file_name(dst), to) else None
    with opened_as(src, open_with, columns, beside) as opened:
        return rewrite(
            opened, dst, to=to, rows=rows, cols=cols, columns=columns, dtype=dtype,
            allow_loss=allow_loss, absent=absent, drop_labels=drop_labels,
            stored_numbers=stored_numbers, short_floats=short_floats, deflate=deflate,
            transpose=transpose, threads=0 if threads is None else threads, progress=progress,
            **write,
        )  # fmt: skip


def _is_own(name: str, to: str | None) -> bool:
    return name.endswith(".dbdf") if to is None else to == "dbdf"


def _require_source(src: Any) -> None:
    if not isinstance(src, (str, bytes, os.PathLike, Matrix, Frame)):
        raise TypeMismatchError(
            f"{name_of(src)} is neither a file nor open: pydapple.write writes what is in memory"
        )


@contextmanager
def opened_as(
    src: Path | Matrix | Frame,
    open_with: Mapping[str, Any] | None,
    columns: str | Sequence[str | int] | None = None,
    beside: str | None = None,
) -> Iterator[Matrix | Frame]:
    """`src` itself, or what its file holds; of a guest's file a temporary copy of the columns.

    Text is parsed in the folder `beside`, where a file that is written of it may be just that.
    """
    if isinstance(src, (Matrix, Frame)):
        yield src
        return
    _require_source(src)
    if ten_x.is_folder(src):
        with ten_x.open_folder(src, **(open_with or {})) as opened:
            yield opened
        return
    guest = guests.of_name(src, writing=False)
    if guest is None or (open_with or {}).get("format"):
        parsed = {"temporary": beside} if beside is not None and os.path.isdir(beside) else {}
        with open(src, **{**parsed, **(open_with or {})}) as opened:
            yield opened
        return
    if remote.is_far(file_name(src)):
        raise UnsupportedError(
            f"{remote.shown(file_name(src))}: files of Parquet and Arrow far away are not read "
            "here: download it first, or write what pandas, polars or pyarrow read of it"
        )
    labels = None if columns is None else each_label(columns)
    name = file_name(src)
    with guests.read(name, guest, labels) as tables, stacked(tables, name, 0) as whole:
        yield whole
