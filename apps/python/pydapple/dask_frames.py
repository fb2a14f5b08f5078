"""Frames as Dask DataFrames: partitions of rows, each of which carries the path of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import keys
from .errors import InvalidArgumentError
from .frame_columns import each_label
from .pandas_index import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .frame import Frame

_BYTES = 1 << 26  # of a partition


class _Rows:
    """Makes the DataFrame of one partition; Dask asks it for the columns that are used."""

    def __init__(self, frame: Frame, labels: list[str | int]) -> None:
        self.frame = frame
        self.labels = labels

    def __call__(self, rows: tuple[int, int], columns: Sequence[str] | None = None) -> Any:
        wanted = self.labels if columns is None else self._named(columns)
        made = self.frame.to_pandas(slice(*rows), wanted)
        self.frame._let_go()
        return made

    def _named(self, columns: Sequence[Any]) -> list[str | int]:
        """All columns with labels as pandas has them, of which some are integers, or repeat."""
        known: dict[str, list[str | int]] = {}
        for label in self.labels:
            known.setdefault(self.frame._label(self.frame._place(label)[1]), []).append(label)
        return [one for label in dict.fromkeys(map(text_of, columns)) for one in known[label]]

    def __dask_tokenize__(self) -> Any:
        return "pydapple.rows", self.frame.__dask_tokenize__(), self.labels


def from_frame(frame: Frame, rows: int | None, labels: Sequence[str] | None) -> Any:
    """What `Frame.to_dask` gives."""
    import dask.dataframe as dd

    wanted = list(frame.columns if labels is None else each_label(labels))
    if rows is not None and keys.whole(rows) < 1:
        raise InvalidArgumentError(f"a partition has one row or more, not {rows}")
    parts = row_ranges(frame, rows) or [(0, 0)]
    divisions: list[int | None] = [*(begin for begin, _ in parts), max(frame.shape[0] - 1, 0)]
    if frame.row_names is not None or frame._index_labels():  # which are in any order
        divisions = [None] * len(divisions)
    return dd.from_map(
        _Rows(frame, wanted),
        parts,
        meta=frame.to_pandas(slice(0, 0), wanted),
        divisions=divisions,
        label="pydapple",
    )


def row_ranges(frame: Frame, rows: int | None = None) -> list[tuple[int, int]]:
    """The rows of each partition."""
    step, count = rows or rows_of_partition(frame), frame.shape[0]
    return [(begin, min(begin + step, count)) for begin in range(0, count, step)]


def rows_of_partition(frame: Frame) -> int:
    """Rows of about 64 MiB, in whole tiles where there are some."""
    size = sum(64 if kind.hasobject else kind.itemsize for kind in frame.dtypes.values())
    wanted = max(1, _BYTES // max(size, 1))
    grid = frame._grid()
    tile = grid[1][0] if grid else 1
    return max(1, wanted // tile) * tile if tile <= wanted else wanted
