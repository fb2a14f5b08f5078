"""An open matrix or frame, written as another file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import DTypeLike

from . import _core, keys
from .absent import Absent, absent_code
from .attributes import write_options
from .errors import InvalidArgumentError
from .frame import Frame
from .frame_columns import each_label
from .identity import file_name
from .matrix import Matrix
from .reports import Path, Progress, WriteSummary, reporting


def rewrite(
    src: Matrix | Frame,
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
    threads: int | None = 1,
    progress: Progress = None,
    **write: Any,
) -> WriteSummary:
    """What `convert` does with what is open, where dapple itself writes the format."""
    down = None if rows is None else keys.span(rows, src.shape[0], "row")
    picked: list[int] | None = None
    if columns is not None:
        if cols is not None or not isinstance(src, Frame):
            raise InvalidArgumentError("columns are those of a frame, and are given once")
        picked = [k for label in each_label(columns) for k in src._numbers(label)]
    elif cols is not None:
        picked = list(keys.span(cols, src.shape[1], "column"))
    for axis, name, part in (
        ("row", "row_names", down),
        ("column", "col_names", picked),
    ):
        given = src._given_names.get(axis)
        key = name if not transpose else {"row_names": "col_names"}.get(name, "row_names")
        if given is not None and write.get(key) is None:
            write[key] = given if part is None else given[part]
    with reporting(progress, "convert") as report:
        return WriteSummary(
            *_core.convert(
                src,
                file_name(dst),
                None if down is None else (down.start, down.stop),
                picked,
                to or "",
                None if dtype is None else _core.checked_dtype(dtype),
                allow_loss,
                absent_code(absent),
                threads,
                write_options(**write),
                drop_labels,
                deflate,
                stored_numbers,
                short_floats,
                transpose,
                report,
            )
        )
