"""Temporary folders. What makes them is slow to import, and rarely needed."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager


def folder(beside: str | None = None) -> AbstractContextManager[str]:
    """A new folder, which is gone afterwards: with a hidden name beside a file, or in $TMPDIR."""
    from tempfile import TemporaryDirectory

    if beside is None:
        return TemporaryDirectory()
    around = os.path.dirname(os.path.abspath(beside))
    return TemporaryDirectory(prefix=".new-", dir=around, ignore_cleanup_errors=True)
