"""``xarray.open_dataset("m.dbdf", engine="pydapple", chunks={})``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from . import dask_arrays, dask_frames
from .attributes import COLUMNS, DIMENSIONS, Attributes, columns_in, dimensions_in
from .errors import TypeMismatchError
from .files import formats, open
from .frame import Frame
from .matrix import Matrix
from .meanings import Meaning

_LARGE = 1 << 20  # bytes
_FEW = 256  # tiles


def _given_back(opened: Matrix | Frame, cells: Any) -> Any:
    """The cells, once the pages of the file that a large read took are no longer the process's.

    Dask counts them as a worker's own, and ends it.
    """
    if cells.nbytes >= _LARGE:
        opened._let_go()
    return cells


def _chunks_of(matrix: Matrix) -> tuple[int, int]:
    """The tiles, unless a task for each would be too many."""
    tile_rows, tile_cols = matrix.chunks
    tiles = -(-matrix.shape[0] // max(tile_rows, 1)) * -(-matrix.shape[1] // max(tile_cols, 1))
    return matrix.chunks if tiles <= _FEW else dask_arrays.default_chunks(matrix, False)


class MatrixArray(BackendArray):  # type: ignore[misc]
    """A matrix that xarray reads piece by piece."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.shape = matrix.shape
        self.dtype = matrix.dtype

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER, self._read
        )

    def _read(self, key: tuple[Any, ...]) -> Any:
        rows, cols = key
        if isinstance(rows, np.ndarray) and isinstance(cols, np.ndarray):
            return _given_back(self.matrix, self.matrix.take(rows, cols))
        return _given_back(self.matrix, self.matrix[rows, cols])


class ColumnArray(BackendArray):  # type: ignore[misc]
    """A column of a frame that xarray reads piece by piece.

    xarray has no masks: integers and Booleans of which some are missing become floats, with NaN.
    None is rounded: reading an integer that is not exact as a float is an error.
    """

    def __init__(self, frame: Frame, name: str, where: int) -> None:
        self.frame = frame
        self.name = name
        self.where = where
        self.shape = (len(frame),)
        self.dtype = frame._dtype(where)
        self.masked = where >= 0 and frame._meanings[where].is_masked and self.dtype.kind != "f"
        if self.masked:
            self.dtype = np.dtype(np.float64)

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER, self._read
        )

    def _read(self, key: tuple[Any, ...]) -> Any:
        cells = self.frame._part(self.where, key[0])
        if not self.masked:  # a single word is a str
            return _given_back(self.frame, np.asarray(cells, self.dtype))
        cells = _given_back(self.frame, cells)
        given = np.ma.asarray(cells)
        if given.dtype.kind != "f" and given.dtype.itemsize == 8:  # np.ma.masked is a float
            self._require_exact(given.filled(0))
        return np.ma.filled(given.astype(self.dtype), np.nan)

    def _require_exact(self, given: Any) -> None:
        floats = given.astype(self.dtype)
        inside = floats <= np.nextafter(float(np.iinfo(given.dtype).max), 0)  # which rounds up
        rounded = ~inside | (np.where(inside, floats, 0).astype(given.dtype) != given)
        if rounded.any():
            raise TypeMismatchError(
                f"column {self.name!r} has missing cells, for which xarray needs floats, and "
                f"{given[rounded].flat[0]} is not exact as such: drop_variables={self.name!r} "
                "leaves it out, and pydapple.open reads it"
            )


def _attributes(frame: Frame, where: int, noted: Mapping[str, Attributes]) -> dict[str, Any]:
    """What a column means beyond what its cells tell; `noted` is of all columns."""
    meaning = frame._meanings[where] if where >= 0 else Meaning()
    known = dict(noted.get(frame._label(where)) or {})
    if meaning.zone:
        known["time_zone"] = meaning.zone
    if meaning.ordered and meaning.words is not None:
        known["ordered_categories"] = meaning.words.tolist()
    return known


class DappleBackend(BackendEntrypoint):  # type: ignore[misc]
    """xarray's door to every format that dapple reads.

    A matrix becomes the variable ``data`` of the dimensions ``row`` and ``col``, or those that its
    attribute ``dimension_names`` lists, with the names of rows and columns as coordinates. A frame
    becomes one variable a column, all of the dimension ``row``, by its name in `Frame.columns`, and
    names of rows its coordinate, where no column is called ``row``.
    ``chunks={}`` are the tiles of a matrix that has few, otherwise those of `Matrix.to_dask`,
    whole tiles of about 64 MiB; and those of `Frame.to_dask`. Attributes are those of the
    variable, or of the Dataset, with those of columns at their variables. Times are in UTC where
    the attribute ``time_zone`` names a zone; ``ordered_categories`` lists the words of an ordered
    category in their order.
    """

    description = "Open matrices and frames with dapple"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "open_with")

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        open_with: dict[str, Any] | None = None,
    ) -> xr.Dataset:
        """Open lazily; `open_with` holds options of `pydapple.open`."""
        opened = open(filename_or_obj, **(open_with or {}))
        variables: dict[str, xr.Variable]
        if isinstance(opened, Matrix):
            cells = indexing.LazilyIndexedArray(MatrixArray(opened))
            dims = dimensions_in(opened.attrs) or ("row", "col")
            chunks = dict(zip(dims, _chunks_of(opened), strict=True))
            attrs = {key: one for key, one in opened.attrs.items() if key != DIMENSIONS}
            variables = {
                "data": xr.Variable(dims, cells, attrs, encoding={"preferred_chunks": chunks})
            }
            for dim, names in zip(dims, (opened.row_names, opened.col_names), strict=True):
                if names is not None:
                    variables[dim] = xr.Variable(dim, np.asarray(names))
        else:
            chunks = {"row": dask_frames.rows_of_partition(opened)}
            of_columns = columns_in(opened.attrs)
            variables = {
                name: xr.Variable(
                    "row",
                    indexing.LazilyIndexedArray(ColumnArray(opened, name, where)),
                    _attributes(opened, where, of_columns),
                    encoding={"preferred_chunks": chunks},
                )
                for name, where in opened._named()
            }
            if opened.row_names is not None and "row" not in variables:
                variables["row"] = xr.Variable("row", np.asarray(opened.row_names))
        dropped = {drop_variables} if isinstance(drop_variables, str) else set(drop_variables or ())
        noted = {} if isinstance(opened, Matrix) else opened.attrs
        made = xr.Dataset(
            {k: v for k, v in variables.items() if k not in dropped},
            attrs={key: one for key, one in noted.items() if key != COLUMNS},
        )
        made.set_close(opened.close)
        return made

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether the name is one of dapple's own."""
        own = {extension for one in formats() if one.name == "dbdf" for extension in one.extensions}
        return (
            isinstance(filename_or_obj, (str, os.PathLike))
            and os.path.splitext(filename_or_obj)[1] in own
        )
