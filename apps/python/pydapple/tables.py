"""What holds a table: columns of numbers out of everything that has columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .errors import InvalidArgumentError


def as_cells(array: NDArray[Any]) -> NDArray[Any]:
    """The same values in a dtype that cells can have."""
    kind = array.dtype
    if kind == np.bool_:
        return array.view(np.uint8)
    if kind == np.float16:
        return array.astype(np.float32)
    if not kind.isnative:
        array = array.astype(kind.newbyteorder("="))
    _core.checked_dtype(array.dtype)
    return array


def columns_of(data: Any) -> list[tuple[str, NDArray[Any]]] | None:
    """Columns of what is a table; None where it is a matrix."""
    if isinstance(data, np.ndarray):
        if data.dtype.names is None:
            return None
        flat = data.reshape(-1) if data.ndim != 1 else data
        return [(label, as_column(flat[label], label)) for label in data.dtype.names]
    if isinstance(data, Mapping):
        return [(str(label), as_column(values, str(label))) for label, values in data.items()]
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        return [
            (str(label), as_column(data.iloc[:, k], str(label)))
            for k, label in enumerate(data.columns)
        ]
    if hasattr(data, "__arrow_c_stream__"):
        return [
            (label, as_cells(array)) for label, array in _core.read_arrow(data.__arrow_c_stream__())
        ]
    return None


def as_column(values: Any, label: str) -> NDArray[Any]:
    """A column of a table as an array of numbers."""
    # pandas' columns that may have missing values know what NumPy calls the rest.
    kind = getattr(getattr(values, "dtype", None), "numpy_dtype", None)
    if kind is not None and kind.kind in "biuf":
        array = _nullable(values, kind, label)
    else:
        array = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    if array.ndim != 1:
        raise InvalidArgumentError(f"column {label!r} has {array.ndim} dimensions")
    try:
        return as_cells(array)
    except TypeError as error:
        raise TypeError(
            f"column {label!r} is of {array.dtype} and holds no numbers; drop it, or make it a "
            "number or a Boolean first"
        ) from error


def _nullable(values: Any, kind: np.dtype[Any], label: str) -> NDArray[Any]:
    if kind.kind == "f":
        return np.asarray(values.to_numpy(dtype=kind, na_value=np.nan))
    if values.isna().any():
        raise InvalidArgumentError(
            f"column {label!r} has missing values, which integers cannot hold; "
            "make it a float first"
        )
    return np.asarray(values.to_numpy(dtype=kind))
