"""A matrix in a file as what SciPy's iterative solvers multiply with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

if TYPE_CHECKING:
    from .matrix import Matrix


class FileOperator(LinearOperator):  # type: ignore[misc]
    """``A @ x`` and ``A.T @ y`` strip by strip, without the matrix in memory."""

    def __init__(self, matrix: Matrix) -> None:
        kind = np.result_type(matrix.dtype, np.float32)
        super().__init__(np.dtype(kind), matrix.shape)
        self.matrix = matrix
        counts = matrix._counts()
        self._sparse = counts["csr"] + counts["coo"] + counts["empty"] > counts["dense"]

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        out = np.empty((self.shape[0], x.shape[1]), np.result_type(self.dtype, x.dtype))
        for rows, cells in self.matrix.strips(self._sparse):
            out[rows] = cells @ x
        return out

    def _rmatmat(self, y: NDArray[Any]) -> NDArray[Any]:
        out = np.zeros((self.shape[1], y.shape[1]), np.result_type(self.dtype, y.dtype))
        for rows, cells in self.matrix.strips(self._sparse):
            out += cells.T @ y[rows]
        return out

    def _matvec(self, x: NDArray[Any]) -> NDArray[Any]:
        made: NDArray[Any] = self._matmat(x.reshape(-1, 1))[:, 0]
        return made

    def _rmatvec(self, y: NDArray[Any]) -> NDArray[Any]:
        made: NDArray[Any] = self._rmatmat(y.reshape(-1, 1))[:, 0]
        return made
