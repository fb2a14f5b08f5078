"""What an open file remembers of how it was opened, so that another process can open it again."""

from __future__ import annotations

import os
from typing import Any

from . import _core
from .errors import InvalidArgumentError, StaleError, TypeMismatchError

Stamp = tuple[int, int]


def file_name(path: Any) -> str:
    """The name of a file as str. Raises for what is none."""
    try:
        name = os.fsdecode(path)
    except TypeError as error:
        raise TypeMismatchError(f"a file is given by its name: {error}") from None
    if "\0" in name:
        raise InvalidArgumentError(f"no file can be called {name!r}")
    return name


def stamp_of(path: str) -> Stamp:
    """Size and time of the last change: what tells whether a file is still the same."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


class Opened:
    """Path and options of a Matrix or Frame. Pickles carry these, never cells."""

    path: str
    _whole_path: str  # from the root, wherever the process goes later
    _options: dict[str, Any]
    _stamp: Stamp

    def __reduce__(self) -> tuple[Any, ...]:
        _require_same(self._whole_path, self._stamp)
        return reopen, (self._whole_path, self._options, self._stamp)

    def __dask_tokenize__(self) -> Any:
        return "pydapple", self._whole_path, self._stamp, sorted(self._options.items())


def _require_same(path: str, stamp: Stamp) -> None:
    if stamp_of(path) != stamp:
        error = StaleError("the file is no longer the one that was opened; open it again")
        error.file = path
        raise error


def reopen(path: str, options: dict[str, Any], stamp: Stamp) -> Any:
    """Open a file that another process had open. Raises StaleError when it has changed."""
    from .files import open

    opened = open(path, **options)
    if opened._stamp != stamp:
        opened.close()
        _require_same(path, stamp)
    return opened


def open_options(options: dict[str, Any]) -> _core.OpenOptions:
    """The options of `open` as dapple takes them."""
    return _core.OpenOptions(**options)
