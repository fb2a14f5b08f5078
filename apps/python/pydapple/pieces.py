"""What is too large for memory in one piece: tables one below the other, by way of files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from . import _core, temporary
from .errors import Error, SystemRefusedError
from .files import open
from .frame import Frame
from .matrix import Matrix
from .write import write


def joined(parts: Sequence[Matrix | Frame], axis: int, allow_loss: bool = False) -> Matrix | Frame:
    """Several as one, of which nothing is read before it is asked for."""
    whole = _core.concat(list(parts), axis, allow_loss)
    return Matrix(whole) if isinstance(whole, _core.Matrix) else Frame(whole)


@contextmanager
def stacked(pieces: Iterable[Any], source: str, threads: int | None) -> Iterator[Matrix | Frame]:
    """What `write` takes, one below the other, opened as one from temporary files.

    Exceptions name `source` in place of these files, which nobody has ever seen.
    """
    with temporary.folder() as folder, ExitStack() as files:
        try:
            parts: list[Matrix | Frame] = []
            for k, piece in enumerate(pieces):
                path = os.path.join(folder, f"{k}.dbdf")
                write(path, piece, sync=False, threads=threads)
                parts.append(open(path))
                files.enter_context(parts[-1])
            whole = parts[0] if len(parts) == 1 else joined(parts, 0)
            with whole:
                yield whole
        except Error as error:
            unseen = os.path.dirname(error.file) == folder
            if unseen and not isinstance(error, SystemRefusedError):  # of a full $TMPDIR, say
                error.file, error.offset = source, None
            raise
