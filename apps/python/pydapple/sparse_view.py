"""A matrix that is sliced to compressed sparse rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import fetch, keys
from .absent import Absent, absent_code
from .advice import SPARSE, no_attribute
from .errors import TypeMismatchError

if TYPE_CHECKING:
    from .matrix import Matrix


class SparseView:
    """A matrix whose slices are compressed sparse rows: what ``m.sparse`` is."""

    ndim = 2

    def __init__(self, matrix: Matrix, absent: Absent = "error") -> None:
        self.matrix = matrix
        self._absent = absent_code(absent)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.matrix.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the cells."""
        return self.matrix.dtype

    @property
    def nnz(self) -> int:
        """Stored values."""
        return self.matrix.nnz

    def __len__(self) -> int:
        return self.shape[0]

    def __contains__(self, value: object) -> bool:
        return value in self.matrix

    def __getitem__(self, key: Any) -> Any:
        """Slice as `Matrix` does; gives a csr_array, for integers what SciPy gives for them.

        A list of columns of all rows costs what `Matrix.take_columns` does, if they are few or
        there is a copy by column; any other list of columns, a read of all columns of these rows.
        """
        rows, cols = keys.picks(self.matrix._by_number(key), self.shape)
        part = fetch.sparse(self.matrix, rows, cols, self._absent)
        if rows.drop or cols.drop:
            return part[(0 if rows.drop else slice(None), 0 if cols.drop else slice(None))]
        return part

    def __getattr__(self, name: str) -> Any:
        raise no_attribute("m.sparse", name, SPARSE, of=self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise TypeMismatchError(
            "m.sparse is no array: m.sparse[rows] is a csr_array, m[rows] a dense one, and "
            "m @ x multiplies"
        )

    def __repr__(self) -> str:
        return f"{self.matrix!r}.sparse"

    def __dask_tokenize__(self) -> Any:
        return "pydapple.sparse", self.matrix.__dask_tokenize__(), self._absent
