"""Products of a matrix in a file with arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .advice import NotCalculatedWith
from .errors import InvalidArgumentError, TypeMismatchError, shown
from .given import is_polars, is_sparse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.sparse.linalg import LinearOperator

    from .strips import Strip


_PRODUCTS = ("_matmul_dispatch", "_mul_dispatch")  # of SciPy from 1.11 on, and before


class Multiplied(NotCalculatedWith):
    """A matrix that ``@`` multiplies where its cells are; an array of it is never made for that."""

    linear_operator: Callable[[], LinearOperator]
    shape: tuple[int, int]
    strips: Callable[[bool], Iterator[Strip]]

    def __matmul__(self, x: Any) -> Any:
        """``m @ x`` in float64, of an array of one or two dimensions, or a sparse one.

        O(stored values). The result is a NumPy array.
        """
        if is_sparse(x):
            return self._times_sparse(x) if x.ndim == 2 else self @ x.toarray()
        factor = _factor(x, self.shape[1], 0)
        return NotImplemented if factor is None else self.linear_operator() @ factor

    def __rmatmul__(self, x: Any) -> Any:
        if is_sparse(x):
            return self._of_sparse(x) if x.ndim == 2 else x.toarray() @ self
        factor = _factor(x, self.shape[0], -1)
        return NotImplemented if factor is None else factor @ self.linear_operator()

    def __rmul__(self, x: Any) -> Any:
        # SciPy's sparse matrices take `*` for that; its arrays do not ask.
        return self.__rmatmul__(x) if is_sparse(x) else super().__rmul__(x)

    def _times_sparse(self, x: Any) -> NDArray[Any]:
        _require_fit(x.shape, self.shape[1], 0)
        factor = x.tocsr().astype(np.result_type(x.dtype, np.float64))
        made = np.zeros((self.shape[0], x.shape[1]), factor.dtype)
        for rows, cells in self.strips(True):
            made[rows] = (cells @ factor).toarray()
        return made

    def _of_sparse(self, x: Any) -> NDArray[Any]:
        _require_fit(x.shape, self.shape[0], -1)
        factor = x.tocsc().astype(np.result_type(x.dtype, np.float64))
        made = np.zeros((x.shape[0], self.shape[1]), factor.dtype)
        for rows, cells in self.strips(True):
            part = (factor[:, rows] @ cells).tocoo()
            made[part.row, part.col] += part.data
        return made

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy asks for ``x @ m`` in this way; to its other functions a matrix is an array."""
        if ufunc is np.matmul and method == "__call__" and not options:
            left, right = inputs
            made = right.__rmatmul__(left) if right is self else self.__matmul__(right)
            if made is not NotImplemented:
                return made
        arrays = [np.asarray(one) if isinstance(one, Multiplied) else one for one in inputs]
        return getattr(ufunc, method)(*arrays, **options)


def is_factor_of_scipy() -> bool:
    """Whether who asks for an array is SciPy, in a product of a sparse matrix with this.

    It takes an array of no dimensions as a sign that the other factor knows how to multiply, and
    asks that. Nothing else that it looks at tells it so.
    """
    asks = sys._getframe(2)
    return asks.f_code.co_name in _PRODUCTS and (
        asks.f_globals.get("__name__", "").startswith("scipy.sparse.")
    )


def _require_fit(shape: tuple[int, ...], extent: int, axis: int) -> None:
    """Raises unless an array of that shape has `extent` cells along the axis."""
    if len(shape) not in (1, 2):
        raise InvalidArgumentError(
            f"a matrix is multiplied by an array of one or two dimensions, not of {len(shape)}"
        )
    if shape[axis] != extent:
        mine, other = ("columns", "rows") if axis == 0 else ("rows", "columns")
        other = "cells" if len(shape) == 1 else other
        raise InvalidArgumentError(
            f"dimension mismatch: a matrix of {extent} {mine}, and {shape[axis]} {other}"
        )


def _factor(x: Any, extent: int, axis: int) -> NDArray[Any] | None:
    """What is multiplied with as it is; None for what has masks, or products of its own."""
    if isinstance(x, (list, tuple, Multiplied)) or is_polars(x):
        try:
            x = np.asarray(x)
        except ValueError as error:  # rows of different lengths
            raise TypeMismatchError(
                f"a matrix is multiplied by numbers, not by {shown(x)}"
            ) from error
    if not isinstance(x, np.ndarray) or isinstance(x, np.ma.MaskedArray):
        return None
    numbers = x.dtype.kind in "biufc" or (
        x.dtype.kind == "O" and all(isinstance(one, Number) for one in x.flat)
    )
    if not numbers:  # NumPy would make some of text and times
        raise TypeMismatchError(f"a matrix is multiplied by numbers, not by an array of {x.dtype}")
    _require_fit(x.shape, extent, axis)
    return x
