"""Tables that make their rows when they are asked for, which may be more than memory holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from .arrow_tables import read_arrow
from .given import is_dask_frame
from .stored import Table
from .tables import table_of

_PIECE = 256 << 20  # bytes of a table that comes in pieces


class Pieces(NamedTuple):
    """Tables one below the other, of which each is made when it is asked for."""

    tables: Iterable[Table]


def is_in_memory(data: Any) -> bool:
    """False for what makes its rows when they are asked for: a stream, or a Dask DataFrame."""
    if isinstance(data, (Table, Mapping, np.ndarray)):
        return True
    if isinstance(data, Pieces):
        return False
    known = any(hasattr(data, name) for name in ("iloc", "num_rows", "height"))
    return known and not is_dask_frame(data)


def tables_of(data: Any) -> Iterator[Table]:
    """The same as tables one below the other: as many as memory asks for, at least one.

    What is in memory is one.
    """
    if isinstance(data, Table):
        yield data
    elif isinstance(data, Pieces):
        yield from data.tables
    elif is_in_memory(data):
        yield table_of(data)._replace(bare_rows=_rows_of(data))
    elif is_dask_frame(data):
        parts = data.partitions
        yield from (table_of(parts[k].compute(), False) for k in range(data.npartitions))
    else:
        yield from read_arrow(data, _PIECE)


def _rows_of(data: Any) -> int:
    """How many rows a table without columns has."""
    return 0 if isinstance(data, Mapping) or not hasattr(data, "__len__") else len(data)
