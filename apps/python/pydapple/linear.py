"""A matrix in a file as what SciPy's iterative solvers multiply with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from . import _core
from .absent import Absent, absent_code

if TYPE_CHECKING:
    from .matrix import Matrix


class FileOperator(LinearOperator):  # type: ignore[misc]
    """``A @ x`` and ``A.T @ y`` in float64, where the cells are, without the matrix in memory."""

    def __init__(
        self, matrix: Matrix, absent: Absent = "error", threads: int | None = 1,
        center: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(np.dtype(np.float64), matrix.shape)
        self.means = matrix.stats(axis=0, absent=absent, threads=threads).mean if center else None
        self.matrix = matrix
        self.absent = absent_code(absent)
        self.threads = threads

    def _multiply(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        if np.iscomplexobj(x):
            real, imaginary = (self._multiply(part, transposed) for part in (x.real, x.imag))
            return real + 1j * imaginary
        cells = np.asarray(x, np.float64)
        return _core.multiply(self.matrix, cells, transposed, self.absent, self.threads)

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        made = self._multiply(x, False)
        return made if self.means is None else made - self.means @ x

    def _rmatmat(self, y: NDArray[Any]) -> NDArray[Any]:
        made = self._multiply(y, True)
        if self.means is None:
            return made
        total = y.sum(axis=0)
        return made - (self.means * total if y.ndim == 1 else np.outer(self.means, total))

    _matvec, _rmatvec = _matmat, _rmatmat
