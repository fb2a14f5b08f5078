"""The exceptions of pydapple: each is an `Error`, and what a NumPy user expects besides."""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Error(Exception):
    """What dapple reports. Every subclass is a Python exception of the usual kind as well.

    Attributes:
        code: what kind of failure it is, as the command line prints it: ``"corrupt"``,
            ``"out_of_range"``, ...
        file: the file to blame, or ``""``.
        offset: the byte of the file to blame, or None.
        detail: the message without file and code.
    """

    code = "error"
    file: str = ""
    offset: int | None = None
    detail: str = ""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        if args and not self.detail:
            self.detail = str(args[0])

    def __str__(self) -> str:
        file = f"{self.file}: " if self.file else ""
        corrupt = "corrupt " if self.code == "corrupt" else ""
        byte = "" if self.offset is None else f"{corrupt}at byte {self.offset}: "
        return f"{file}{byte}{self.detail}"

    def __reduce__(self) -> tuple[Any, ...]:
        if isinstance(self, SystemRefusedError):  # pickle may not find its class
            return from_code, (self.code, self.detail, self.file, self.offset, self.errno or 0)
        return _restore, (type(self), self.detail, self.file, self.offset)


class SystemRefusedError(Error, OSError):
    """The operating system refused: ``io``. By errno also FileNotFoundError and so on."""

    code = "io"


class NotRecognisedError(Error, ValueError):
    """The bytes are of no format that dapple knows."""

    code = "not_recognised"


class UnsupportedError(Error, NotImplementedError, ValueError):
    """A known format, but a part of it that dapple does not read or write."""

    code = "unsupported"


class CorruptError(Error, ValueError):
    """The bytes break a rule of their format."""

    code = "corrupt"


class OutOfRangeError(Error, IndexError):
    """A block, cell, column or index outside the object."""

    code = "out_of_range"


class InvalidIndexError(Error, IndexError):
    """What is in the brackets picks no part of a matrix or frame."""

    code = "invalid_argument"


class AbsentError(Error, KeyError):
    """No block covers the cell, no block is stored at the position, no column has the label."""

    code = "absent"


class TypeMismatchError(Error, TypeError, ValueError):
    """A value, block or column does not fit its type; an argument has a wrong one, or is none."""

    code = "type_mismatch"


class InvalidArgumentError(Error, ValueError):
    """The call itself cannot be carried out."""

    code = "invalid_argument"


class TooLargeError(InvalidArgumentError, MemoryError, OverflowError):
    """There is no memory for an array of that size, or NumPy cannot count its bytes."""

    code = "no_memory"


class ExistsError(InvalidArgumentError, FileExistsError):
    """The file is there already, and `overwrite` is False."""


class StaleError(Error, ValueError):
    """The file, or the index beside it, is no longer the one that it was."""

    code = "stale_index"


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Errors inside are about this: a part of what is written, into files that nobody sees."""
    try:
        yield
    except Error as error:
        if not isinstance(error, SystemRefusedError) and what not in error.detail:
            error.file, error.detail = "", f"{what}: {error.detail}"
        raise


def shown(value: object) -> str:
    """A value in a message: short, on one line, and without an address in memory."""
    text = repr(value)
    plain = len(text) <= 80 and " at 0x" not in text and "\n" not in text
    return text if plain else f"a {type(value).__name__}"


_CLASSES: dict[str, type[Error]] = {
    kind.code: kind
    for kind in (
        SystemRefusedError,
        NotRecognisedError,
        UnsupportedError,
        CorruptError,
        OutOfRangeError,
        AbsentError,
        TypeMismatchError,
        InvalidArgumentError,
        StaleError,
        TooLargeError,
    )
}
_BY_ERRNO: dict[type[OSError], type[Error]] = {}


def _system_class(number: int) -> type[Error]:
    """The class that is both an Error and what Python raises for this errno."""
    python_class = type(OSError(number, ""))
    if python_class is OSError:
        return SystemRefusedError
    if python_class not in _BY_ERRNO:
        _BY_ERRNO[python_class] = type(
            python_class.__name__, (SystemRefusedError, python_class), {"__module__": __name__}
        )
    return _BY_ERRNO[python_class]


def from_code(code: str, detail: str, file: str, offset: int | None, number: int) -> Error:
    """Make the exception for a failure that dapple reports."""
    error: Error
    if code == "io" and number:
        error = _system_class(number)(number, os.strerror(number), file or None)
        error.detail, error.file, error.offset = detail, file, offset
        return error
    kind = ExistsError if number == errno.EEXIST else _CLASSES.get(code, Error)
    return _restore(kind, detail, file, offset)


def too_large(shape: int | tuple[int, ...], dtype: Any) -> TooLargeError:
    """The exception for an array that cannot be made."""
    extents = shape if isinstance(shape, tuple) else (shape,)
    size = dtype.itemsize * math.prod(extents) / 2**30
    what = "fewer rows" if len(extents) == 1 else "a part of them; strips() goes through all"
    more = "" if len(extents) == 1 else ", and m @ x multiplies without such an array"
    return TooLargeError(
        f"{' x '.join(map(str, extents))} cells of {dtype} take {size:.1f} GiB, for which there is "
        f"no memory: read {what}{more}"
    )


def _restore(kind: type[Error], detail: str, file: str, offset: int | None) -> Error:
    error = kind(errno.EEXIST, detail) if kind is ExistsError else kind(detail)
    if isinstance(error, ExistsError):
        error.filename = file or None
    error.detail, error.file, error.offset = detail, file, offset
    return error
