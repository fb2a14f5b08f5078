"""Conditions on values, and the cells that meet them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .errors import InvalidArgumentError, TypeMismatchError

_CONDITIONS = {"above", "at_least", "below", "at_most", "equal", "between", "nan"}


class Hits(NamedTuple):
    """What `Matrix.where` finds: one entry of each array for a cell."""

    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
    values: NDArray[Any]


def one_condition(condition: dict[str, Any]) -> tuple[str, Any, Any]:
    """The name and the bounds (low, high) of a condition as `Matrix.where` takes it."""
    if len(condition) != 1 or not condition.keys() <= _CONDITIONS:
        raise TypeMismatchError(
            f"one condition is needed out of {', '.join(sorted(_CONDITIONS))}; "
            f"given: {', '.join(condition) or 'none'}"
        )
    ((name, bound),) = condition.items()
    if name == "nan" and bound is not True:
        raise InvalidArgumentError("nan=True is the only condition on NaN")
    try:
        low, high = bound if name == "between" else (bound, bound)
        low, high = (x.item() if isinstance(x, np.generic) else x for x in (low, high))
        if not all(isinstance(x, (int, float)) for x in (low, high)):
            raise TypeError
    except (TypeError, ValueError):
        wanted = "two numbers (low, high)" if name == "between" else "a number"
        raise TypeMismatchError(f"{name} takes {wanted}, not {bound!r}") from None
    return name, low, high
