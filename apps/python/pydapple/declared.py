"""Columns as `frame_writer` is given them, before there are any cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from . import _core
from .errors import InvalidArgumentError, TypeMismatchError
from .meanings import MISSING_BOOLEAN, NAT, Meaning, mark_missing, narrow_codes
from .stored import StoredColumn, as_cells
from .tables import as_column

# pandas' names of dtypes with room for missing cells, which are known without pandas.
_NULLABLE = {f"{kind}{bits}" for kind in ("Int", "UInt") for bits in (8, 16, 32, 64)} | {
    "Float32",
    "Float64",
}


def cell_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """The dtype of cells that are given in this one."""
    return as_cells(np.empty(0, _dtype(dtype))).dtype


def _dtype(given: Any) -> np.dtype[Any]:
    try:
        made: np.dtype[Any] = np.dtype(given)
    except (TypeError, ValueError) as error:
        raise TypeMismatchError(str(error).splitlines()[0]) from None
    return made


def _of_pandas_name(spec: Any) -> Any:
    """The dtype that pandas, and not NumPy, knows by a name; None for others."""
    try:
        np.dtype(spec)
    except (TypeError, ValueError):
        try:
            from pandas.api.types import pandas_dtype

            made = pandas_dtype(spec)
        except (ImportError, TypeError, ValueError):
            return None
        return made if hasattr(made, "construct_array_type") else None
    return None


def declared(label: str, spec: Any) -> StoredColumn:
    """A column without cells, as `frame_writer` is given it."""
    if isinstance(spec, Meaning):
        return _of_meaning(label, spec)
    if isinstance(spec, (list, tuple)) and all(isinstance(word, str) for word in spec):
        return _of_words(label, Meaning("category", words=_core.Words(spec)))
    if hasattr(spec, "construct_array_type"):
        return _of_pandas(label, spec)
    if isinstance(spec, str) and spec in _NULLABLE:
        return _nullable(StoredColumn(label, np.empty(0, spec.lower()), Meaning()))
    if isinstance(spec, str) and spec == "boolean":
        return _nullable(StoredColumn(label, np.empty(0, np.uint8), Meaning("boolean")))
    if isinstance(spec, str) and spec in ("category", "string"):
        return _growing(label, "category" if spec == "category" else "text")
    known = _of_pandas_name(spec) if isinstance(spec, str) else None
    if known is not None:
        return _of_pandas(label, known)
    try:
        dtype = _dtype(spec)
    except TypeMismatchError as error:
        raise TypeMismatchError(f"column {label!r}: {error}") from None
    if dtype.kind in "UOST":
        return _growing(label, "text")
    column = as_column(np.empty(0, dtype), label)
    return _nullable(column) if column.meaning.is_time else column


def _of_meaning(label: str, spec: Meaning) -> StoredColumn:
    if spec.kind == "category" and spec.words is not None and len(spec.words) > 0:
        return _of_words(label, spec)
    if spec.kind in ("category", "text"):
        return _growing(label, spec.kind, spec.ordered)
    if spec.is_time:
        return _nullable(StoredColumn(label, np.empty(0, np.int64), spec))
    if spec.stored is None and spec.kind == "number":
        raise InvalidArgumentError(
            f"column {label!r}: a Meaning of numbers needs their dtype, as in "
            "Meaning(stored='int32'); or give the dtype itself"
        )
    kind = cell_dtype(spec.stored or np.uint8)
    if spec.missing is not None and not 0 <= spec.missing < 1 << 8 * kind.itemsize:
        raise InvalidArgumentError(
            f"column {label!r}: its mark of missing cells, {spec.missing}, has no place in {kind}"
        )
    return StoredColumn(label, np.empty(0, kind), spec)


def _of_words(label: str, meaning: Meaning) -> StoredColumn:
    assert meaning.words is not None
    codes = narrow_codes(np.empty(0, np.uint32), meaning.words)
    return StoredColumn(label, codes, meaning._replace(missing=0))


def _growing(label: str, kind: str, ordered: bool = False) -> StoredColumn:
    """A column whose words are not known yet. Codes are stored in the fewest bytes all the same."""
    meaning = Meaning(kind, ordered=ordered, words=_core.Words([]), missing=0)
    return StoredColumn(label, np.empty(0, np.uint32), meaning)


def _of_pandas(label: str, dtype: Any) -> StoredColumn:
    """Of one of pandas' own dtypes; all of them have room for missing cells."""
    import pandas as pd

    if dtype == "category" and dtype.categories is None:
        return _growing(label, "category")
    column = as_column(pd.Series([], dtype=dtype), label)
    if column.meaning.words is None:
        return _nullable(column)
    if len(column.meaning.words) == 0:
        return _growing(label, column.meaning.kind)
    return _of_words(label, column.meaning)


def _nullable(column: StoredColumn) -> StoredColumn:
    """The same column with a mark for missing cells."""
    if column.meaning.is_time:
        mark = NAT
    elif column.meaning.kind == "boolean":
        mark = MISSING_BOOLEAN
    else:
        mark = mark_missing(column.cells, np.zeros(0, bool))[1]
    return column._replace(meaning=column.meaning._replace(missing=mark))
