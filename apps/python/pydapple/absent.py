"""What becomes of cells that no block covers."""

from __future__ import annotations

from typing import Literal

from .errors import InvalidArgumentError, shown

Absent = Literal["error", "zero", "nan"]


def absent_code(absent: Absent) -> int:
    """The choice as the library counts it."""
    names = ["error", "zero", "nan"]
    if absent not in names:
        raise InvalidArgumentError(f"absent is 'error', 'zero' or 'nan', not {shown(absent)}")
    return names.index(absent)
