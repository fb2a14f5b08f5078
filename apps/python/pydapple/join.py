"""Several objects put together, and rows appended."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from . import _core, temporary
from .absent import Absent, absent_code
from .arguments import told
from .conversion import convert, opened_as
from .errors import Error, InvalidArgumentError, TypeMismatchError, UnsupportedError, shown
from .files import holds_states
from .frame import Frame
from .identity import file_name
from .matrix import Matrix
from .names import Names
from .pieces import joined
from .reports import Path, Progress, WriteSummary, reporting
from .write import write


@told
def concat(
    sources: Sequence[Path | Matrix | Frame],
    dst: Path,
    *,
    axis: int = 0,
    allow_loss: bool = False,
    open_with: Mapping[str, Any] | None = None,
    **options: Any,
) -> WriteSummary:
    """Write several matrices, or several frames, as one, in the order given.

    Memory is bounded. Frames put together by rows need the same labels in the same order; their
    dictionaries are merged, and times get the finest of their units. Where dtypes differ the
    result has one that holds both. A column of nothing but missing cells or NaN is of what the
    others hold there. Orders of categories become one; where they do not tell which of two words
    comes first, the words have none, and a warning says so.

    Args:
        sources: a list of paths, or of open matrices or frames; formats may differ.
        dst: the file to make.
        axis: 0 puts rows below rows, 1 columns beside columns.
        allow_loss: round integers that are put together with floats and not exact as such; also
            as of `convert`.
        open_with: options of `open` for paths among the sources.
        options: as of `convert`.

    Raises:
        InvalidArgumentError: shapes, labels or meanings do not fit each other.
    """
    if isinstance(sources, (str, bytes, os.PathLike, Matrix, Frame)):
        raise TypeMismatchError(f"sources is a list of what is put together, not {shown(sources)}")
    with ExitStack() as files:
        parts = [files.enter_context(opened_as(one, open_with)) for one in sources]
        with joined(parts, axis, allow_loss) as whole:
            whole._given_names = _joined_names(parts, axis)
            return convert(whole, dst, allow_loss=allow_loss and "dtype" in options, **options)


def _joined_names(parts: Sequence[Matrix | Frame], axis: int) -> dict[str, Names]:
    """The names of the whole, where the library does not know those of a part."""
    if not any(part._given_names for part in parts):
        return {}
    made = {}
    for other, what in enumerate(("row", "column")):
        known = [part._kept_names(what) for part in parts]
        named = [names for names in known if names is not None]
        if not named:
            continue
        if other == axis:
            extents = (part.shape[axis] for part in parts)
            lists = (names or [""] * size for names, size in zip(known, extents, strict=True))
            made[what] = Names(_core.Names([name for one in lists for name in one]), what)
        elif all(names == named[0] for names in named):
            made[what] = named[0]
        else:
            raise InvalidArgumentError(f"the {what}s of these objects have different names")
    return made


@told
def append(
    path: Path,
    rows: Any,
    *,
    allow_loss: bool = False,
    absent: Absent = "error",
    sync: bool = True,
    threads: int | None = 0,
    progress: Progress = None,
    open_with: Mapping[str, Any] | None = None,
) -> WriteSummary:
    """Put rows below those of a DAPHNE binary file.

    A new file takes its place, whole or not at all; whoever has the old one open goes on reading
    that. Old blocks are not decoded: their bytes are shared or copied by the system. New words of
    an ordered category need a place in its order, which the rows must tell by an order of theirs.
    A column of nothing but None or NaN is of what the file holds there.

    Args:
        path: the file, of a matrix or a frame.
        rows: a path, an open matrix or frame, or what `write` takes, with the same columns.
        allow_loss: round integers where floats join them and they are not exact as such.
        absent: whether cells that no block covers are an error, or zero.
        sync: wait until the file is on storage.
        threads: 0: one for each processor.
        progress: as of `convert`.
        open_with: options of `open` where `rows` is a path.
    """
    if holds_states(file_name(path)):
        raise UnsupportedError(
            f"{file_name(path)} is a data set, whose rows pydapple.dataset.append adds"
        )
    with ExitStack() as files:
        file, given = "", not isinstance(rows, (str, bytes, os.PathLike, Matrix, Frame))
        opened = None if given else files.enter_context(opened_as(rows, open_with))
        if opened is None or opened._given_names:  # which are in no file of its own
            folder = files.enter_context(temporary.folder())
            file, given = os.path.join(folder, "rows.dbdf"), True
            if opened is None:
                write(file, rows, sync=False, threads=threads)
            else:
                convert(opened, file, absent=absent, sync=False, threads=threads)
            opened = files.enter_context(opened_as(file, None))
        report = files.enter_context(reporting(progress, "append"))
        options = _core.WriteOptions(sync=sync, overwrite=True)
        try:
            made = _core.append(
                file_name(path),
                opened,
                allow_loss,
                absent_code(absent),
                0 if threads is None else threads,
                options,
                report,
            )
        except Error as error:
            if given and error.file == file:  # which nobody has ever seen
                of_all = error.detail.startswith("has ")
                what = "what is appended" if of_all else "the rows to append:"
                error.file, error.detail = "", f"{what} {error.detail}"
            raise
    return WriteSummary(*made)
