"""``xarray.open_dataset("m.dbdf", engine="pydapple", chunks={})``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from .files import formats, open
from .frame import Frame
from .matrix import Matrix


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
            return self.matrix.take(rows, cols)
        return self.matrix[rows, cols]


class ColumnArray(BackendArray):  # type: ignore[misc]
    """A column of a frame that xarray reads piece by piece.

    xarray has no masks: integers and Booleans of which some are missing become floats, with NaN.
    """

    def __init__(self, frame: Frame, name: str, where: int) -> None:
        self.frame = frame
        self.where = where
        self.shape = (len(frame),)
        self.masked = frame.meanings[name].is_masked
        self.dtype = np.dtype(float) if self.masked else frame.dtypes[name]

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(
            key, self.shape, indexing.IndexingSupport.OUTER, self._read
        )

    def _read(self, key: tuple[Any, ...]) -> Any:
        cells = self.frame._part(self.where, key[0])
        if not self.masked:
            return cells
        return np.ma.filled(np.ma.asarray(cells).astype(float), np.nan)


class DappleBackend(BackendEntrypoint):  # type: ignore[misc]
    """xarray's door to every format that dapple reads.

    A matrix becomes the variable ``data`` of the dimensions ``row`` and ``col``, a frame one
    variable a column, all of the dimension ``row``; labels that repeat are called as `Frame.read`
    does.
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
            chunks = dict(zip(("row", "col"), opened.chunks, strict=True))
            variables = {
                "data": xr.Variable(("row", "col"), cells, encoding={"preferred_chunks": chunks})
            }
        else:
            variables = {
                name: xr.Variable(
                    "row", indexing.LazilyIndexedArray(ColumnArray(opened, name, where))
                )
                for name, where in opened._named()
            }
        dropped = {drop_variables} if isinstance(drop_variables, str) else set(drop_variables or ())
        made = xr.Dataset({k: v for k, v in variables.items() if k not in dropped})
        made.set_close(opened.close)
        return made

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether the name is one of dapple's own."""
        own = {extension for one in formats() if one.name == "dbdf" for extension in one.extensions}
        return (
            isinstance(filename_or_obj, (str, os.PathLike))
            and os.path.splitext(filename_or_obj)[1] in own
        )
