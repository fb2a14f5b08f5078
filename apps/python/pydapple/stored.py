"""Columns and tables as a file holds them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from .errors import TypeMismatchError
from .meanings import Meaning, mark_booleans, mark_missing, narrow_codes


class StoredColumn(NamedTuple):
    """A column as a file holds it."""

    label: str
    cells: NDArray[Any]
    meaning: Meaning


def as_cells(array: NDArray[Any]) -> NDArray[Any]:
    """The same values in a dtype that cells can have."""
    kind = array.dtype
    if kind == np.bool_:
        return array.view(np.uint8)
    if kind.kind == "f" and kind.itemsize == 2:
        return array.astype(np.float32)
    if not kind.isnative:
        array = array.astype(kind.newbyteorder("="))
    try:
        _core.checked_dtype(array.dtype)
    except TypeError as error:
        raise TypeMismatchError(str(error)) from None
    return array


class Table(NamedTuple):
    """Columns, and what else is known of them together."""

    columns: list[StoredColumn]
    attrs: dict[str, Any]
    row_names: _core.Names | None = None
    bare_rows: int = 0  # of one without columns

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return len(self.columns[0].cells) if self.columns else self.bare_rows


def marked(
    label: str, cells: NDArray[Any], missing: NDArray[np.bool_] | None, meaning: Meaning
) -> StoredColumn:
    """Marks missing cells as the meaning wants it."""
    if meaning.words is not None:
        mark = None if missing is None or not missing.any() else 0
        return StoredColumn(
            label, narrow_codes(cells, meaning.words), meaning._replace(missing=mark)
        )
    if meaning.kind == "boolean":
        if missing is None:
            return StoredColumn(label, cells.view(np.uint8), meaning)
        return StoredColumn(label, mark_booleans(cells, missing), meaning._replace(missing=2))
    if meaning.is_time:
        if missing is not None and missing.any():
            least = np.iinfo(np.int64).min
            if (cells[~missing] == least).any():
                raise TypeMismatchError(
                    f"column {label!r} holds the time {least}, which marks missing cells, beside "
                    "cells that are missing; make it missing, or cast the column to integers"
                )
            cells = np.where(missing, least, cells)
            meaning = meaning._replace(missing=1 << 63)
        return StoredColumn(label, cells, meaning)
    cells = as_cells(cells)
    if missing is not None:
        cells, bits = mark_missing(cells, missing)
        meaning = meaning._replace(missing=bits)
    return StoredColumn(label, cells, meaning)
