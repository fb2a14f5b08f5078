"""Random batches of rows, for training: the protocol of a map-style torch data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import keys
from .errors import InvalidArgumentError

if TYPE_CHECKING:
    from .matrix import Matrix


class RowDataset:
    """Rows of a matrix as torch's ``DataLoader`` takes them; torch itself is not needed.

    A batch is fetched at once (``__getitems__``), as a list of rows of one new array. Workers get
    the path of the file, not its cells, so any number of them share one copy in memory.

    Args:
        matrix: the matrix, or what pickles as one.
        labels: one for each row, in their order, whatever index they have of their own; with them,
            an item is the pair (row, label).
    """

    def __init__(self, matrix: Matrix, labels: ArrayLike | None = None) -> None:
        labels = None if labels is None else np.asarray(labels)
        if labels is not None and len(labels) != len(matrix):
            raise InvalidArgumentError(f"{len(labels)} labels do not fit {len(matrix)} rows")
        self.matrix = matrix
        self.labels = labels

    def __len__(self) -> int:
        return len(self.matrix)

    def __getitem__(self, row: int) -> Any:
        cells = self.matrix[row]
        return cells if self.labels is None else (cells, self.labels[row])

    def __getitems__(self, rows: Sequence[int]) -> list[Any]:
        index = keys.positions(rows, len(self), "row")
        cells = self.matrix.take(index)
        if self.labels is None:
            return list(cells)
        return list(zip(cells, self.labels[index], strict=True))


def batches(
    rows: int, size: int, *, seed: int | None = None, drop_last: bool = False
) -> Iterator[NDArray[np.int64]]:
    """All row numbers once, in random order, `size` at a time."""
    rows, size = keys.whole(rows), keys.whole(size)
    if rows < 0 or size < 1:
        raise InvalidArgumentError(f"no batches of {size} rows can be made of {rows}")
    order = np.random.default_rng(seed).permutation(rows)
    last = rows - rows % size if drop_last else rows
    return (order[begin : begin + size] for begin in range(0, last, size))
