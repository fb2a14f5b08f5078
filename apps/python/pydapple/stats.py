"""Statistics: of matrices, of their tiles, of single blocks, of the columns of frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core
from .absent import Absent, absent_code
from .errors import InvalidArgumentError
from .meanings import Meaning

if TYPE_CHECKING:
    from .frame import Frame


_FIGURES = 9  # of `Stats`; then ticks


class Stats(NamedTuple):
    """What `Matrix.stats` gives: scalars, or arrays with one entry a column or row."""

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
    owner: _core.Object,
    axis: int | None,
    absent: Absent,
    threads: int | None,
    *,
    tiles: bool = False,
) -> Stats:
    """Of all cells, of each column (axis 0) or row (1), or of each column or row of tiles."""
    if axis is not None and not (isinstance(axis, (int, np.integer)) and -2 <= axis <= 1):
        raise InvalidArgumentError(f"axis is None, 0 or 1, not {axis!r}")
    by = -1 if axis is None else axis % 2 + 2 * tiles
    parts = _core.stats(owner, by, absent_code(absent), threads)[:_FIGURES]
    return Stats(*(part[0] if axis is None else part for part in parts))


def of_block(block: _core.Block) -> Stats | None:
    """What `Block.stats` gives."""
    parts = _core.block_stats(block)
    return None if parts is None else Stats(*(part[0] for part in parts[:_FIGURES]))


def of_frame(frame: Frame, absent: Absent, threads: int | None) -> dict[str, Stats]:
    """What `Frame.stats` gives."""
    parts = _core.stats(frame, 0, absent_code(absent), threads)
    columns, ticks = parts[:_FIGURES], parts[_FIGURES:]
    return {
        name: _as_meant(
            Stats(*(part[where] for part in columns)),
            [part[where] for part in ticks],
            frame._meanings[where],
        )
        for name, where in frame._named()
        if where >= 0
    }


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
