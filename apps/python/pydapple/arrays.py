"""Arrays for results: new ones, and cells rounded to another dtype on their way into one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .errors import TypeMismatchError, too_large

BAND = 1 << 25  # bytes of what is converted at once


def new_array(shape: int | tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """As `np.empty`. Raises TooLargeError where there is no memory for it."""
    try:
        return np.empty(shape, dtype)
    except (MemoryError, ValueError):  # the latter beyond what NumPy can count
        raise too_large(shape, np.dtype(dtype)) from None


def bands_of(rows: range, tile: int, row_bytes: int, most: int = BAND) -> Iterator[range]:
    """Cut rows where tiles end, into bands of about `most` bytes or of one row of tiles."""
    tile = max(1, tile)
    step = max(1, most // max(1, row_bytes) // tile) * tile
    begin = rows.start
    while begin < rows.stop:
        end = min(rows.stop, (begin // step + 1) * step)
        yield range(begin, end)
        begin = end


def fill_rounded(
    out: NDArray[Any], rows: range, tile: int, row_bytes: int, read: Callable[[range], NDArray[Any]]
) -> None:
    """Put what `read` gives of bands of these rows into `out`, rounded to its dtype."""
    for band in bands_of(rows, tile, row_bytes):
        out[band.start - rows.start : band.stop - rows.start] = nearest(read(band), out.dtype)


def nearest(cells: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    """Cells rounded to the nearest of that dtype, ties to even, as `convert` rounds them.

    Raises TypeMismatchError where that is out of range, or NaN should become an integer.
    """
    kind = np.dtype(dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        if kind.kind == "f":
            made = cells.astype(kind)
            wrong = np.isinf(made) & ~np.isinf(cells) if cells.dtype.kind == "f" else None
        else:
            whole = np.rint(cells) if cells.dtype.kind == "f" else cells
            limits = np.iinfo(kind)
            made = whole.astype(kind)
            wrong = ~_within(whole, limits.min, limits.max)
    if wrong is not None and wrong.any():
        raise TypeMismatchError(f"{cells[wrong].flat[0]} does not fit {kind}")
    return made


def _within(whole: NDArray[Any], low: int, high: int) -> NDArray[np.bool_]:
    """Which integers, perhaps held as floats, are from `low` to `high`; not NaN."""
    if whole.dtype.kind == "f":  # where high + 1 is exact, and high may not be
        return np.asarray((whole >= float(low)) & (whole < float(high + 1)))
    own = np.iinfo(whole.dtype)
    return np.asarray((whole >= max(low, own.min)) & (whole <= min(high, own.max)))
