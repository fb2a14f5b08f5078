"""Statistics: of matrices, of their tiles, of single blocks, of the columns of frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core
from .absent import Absent, absent_code
from .errors import InvalidArgumentError, shown
from .meanings import Meaning

if TYPE_CHECKING:
    from .frame import Frame


_FIGURES = 9  # of `Stats`; then ticks


class Stats(NamedTuple):
    """What `Matrix.stats` gives: scalars, or arrays with one entry a column or row.

    Minimum and maximum of integers of 64 bits are such integers, where all entries have numbers.
    """

    count: Any  # cells, NaNs included
    nnz: Any  # cells that are neither zero nor NaN
    nans: Any
    min: Any
    max: Any
    sum: Any
    sum_squares: Any
    mean: Any
    var: Any


def of_object(
    owner: _core.Matrix,
    axis: int | None,
    absent: Absent,
    threads: int | None,
    *,
    tiles: bool = False,
) -> Stats:
    """Of all cells, of each column (axis 0) or row (1), or of each column or row of tiles."""
    if axis is not None and not (isinstance(axis, (int, np.integer)) and -2 <= axis <= 1):
        raise InvalidArgumentError(f"axis is None, 0 or 1, not {shown(axis)}")
    by = -1 if axis is None else axis % 2 + 2 * tiles
    parts = _core.stats(owner, by, absent_code(absent), threads)
    made = _exact(Stats(*parts[:_FIGURES]), parts[_FIGURES:], owner.dtype)
    if (made.count < 0).any():  # beyond 2^63
        made = made._replace(count=made.count.view(np.uint64))
    return Stats(*(part[0] for part in made)) if axis is None else made


def _exact(stats: Stats, ticks: Any, dtype: np.dtype[Any]) -> Stats:
    """With the minimum and maximum, which are arrays, as integers where float64 may round them."""
    if dtype.kind not in "iu" or dtype.itemsize < 8:
        return stats
    # Bits of 2^63 also stand for "not known": of cells that a file stores as floats, or none.
    known = [
        (bits != np.iinfo(np.int64).min) | (abs(rounded) == 2.0**63)
        for rounded, bits in ((stats.min, ticks[0]), (stats.max, ticks[1]))
    ]
    if not all(one.all() for one in known):
        return stats
    return stats._replace(min=ticks[0].view(dtype), max=ticks[1].view(dtype))


def of_block(block: _core.Block) -> Stats | None:
    """What `Block.stats` gives."""
    parts = _core.block_stats(block)
    if parts is None:
        return None
    made = _exact(Stats(*parts[:_FIGURES]), parts[_FIGURES:], block.dtype)
    return Stats(*(part[0] for part in made))


def of_frame(frame: Frame, absent: Absent, threads: int | None) -> dict[str, Stats]:
    """What `Frame.stats` gives."""
    parts = _core.stats(frame, 0, absent_code(absent), threads)
    made = {}
    for name, where in frame._named():
        if where >= 0:
            column = [part[where : where + 1] for part in parts]
            stats, ticks = Stats(*column[:_FIGURES]), [one[0] for one in column[_FIGURES:]]
            stats = _exact(stats, column[_FIGURES:], frame._dtypes[where])
            made[name] = _as_meant(Stats(*(one[0] for one in stats)), ticks, frame._meanings[where])
    return made


def _as_meant(stats: Stats, ticks: list[Any], meaning: Meaning) -> Stats:
    """Without what is meaningless for words and times, and with times as such.

    `ticks` are the minimum, maximum and mean of a column of times, not rounded to float64.
    """
    if meaning.kind == "number" or meaning.kind == "boolean":
        return stats
    named = stats._replace(min=None, max=None, sum=None, sum_squares=None, mean=None, var=None)
    if not meaning.is_time:
        return named
    least, most, mean = (tick.view(meaning.dtype(tick.dtype)) for tick in ticks)
    return named._replace(min=least, max=most, mean=mean)
