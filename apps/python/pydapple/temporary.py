"""Temporary folders, and what leaves them. What makes them is slow to import, and rarely needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from .errors import Error, SystemRefusedError, from_code


@contextmanager
def folder(beside: str | None = None) -> Iterator[str]:
    """A new folder, which is gone afterwards: with a hidden name beside a file, or in $TMPDIR.

    Where the system refuses something inside the hidden one, the exception names the file instead.
    """
    from tempfile import TemporaryDirectory

    if beside is None:
        with TemporaryDirectory() as made:
            yield made
        return
    hidden = os.path.join(os.path.dirname(os.path.abspath(beside)), ".new-")
    around, prefix = os.path.split(hidden)
    try:
        with TemporaryDirectory(prefix=prefix, dir=around, ignore_cleanup_errors=True) as made:
            yield made
    except OSError as error:
        refused = isinstance(error, SystemRefusedError) or not isinstance(error, Error)
        if not refused or not os.path.abspath(str(error.filename)).startswith(hidden):
            raise
        reason = os.strerror(error.errno) if error.errno else error
        detail = getattr(error, "detail", "") or f"cannot write: {reason}"
        raise from_code("io", detail, beside, None, error.errno or 0) from None


def publish(path: str, make: Callable[[str], None], sync: bool = False) -> None:
    """Have a file made under a name that nobody sees, and give it its own when it is whole.

    With `sync` it is on storage then.
    """
    with folder(beside=path) as hidden:
        made = os.path.join(hidden, os.path.basename(path))
        make(made)
        if os.path.exists(path):
            _keep_permissions(made, os.stat(path))
        if sync:
            _sync(made)
        os.replace(made, path)
    if sync:
        _sync(os.path.dirname(os.path.abspath(path)))


def _sync(path: str) -> None:
    """Wait until a file, or the names in a folder, are on storage."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _keep_permissions(made: str, old: os.stat_result) -> None:
    """Of the file that is replaced, with its owner where that is allowed."""
    with suppress(OSError):  # only the superuser may give files away
        os.chown(made, old.st_uid, old.st_gid)
    now = os.stat(made)
    mode = old.st_mode & (0o777 if now.st_gid == old.st_gid else 0o707)
    if now.st_mode & 0o777 != mode:  # not every file system has modes that change
        os.chmod(made, mode)
