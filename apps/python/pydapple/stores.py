"""Files as stores of other libraries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import files
from .absent import Absent
from .arguments import told
from .collection import Collection
from .errors import InvalidArgumentError
from .frame import Frame
from .matrix import Matrix
from .opening import open_any
from .reports import Path

if TYPE_CHECKING:
    from .zarr_adapter import DappleStore

Source = Path | Matrix | Frame


@told
def zarr_store(
    source: Source | Mapping[str, Source],
    *,
    chunks: tuple[int, int] | int | None = None,
    absent: Absent = "error",
    **options: Any,
) -> DappleStore:
    """What dapple opens as a read-only Zarr v3 store: for zarr-python 3, xarray, Dask or napari.

    >>> zarr.open_group(dp.zarr_store("ratings.dbdf"))["data"][10:20, 3]
    >>> xarray.open_zarr(dp.zarr_store("people.csv"))

    A matrix is the array ``data`` of the dimensions ``row`` and ``col``, a frame a group of one
    array of the dimension ``row`` for each of `Frame.columns`. Names of rows and columns are the
    arrays called as their dimensions, which xarray makes coordinates; of matrices, where one is all
    that the store holds. Chunks are decoded when they are asked for, whatever the tiles are, and
    nothing is written; a dense tile that is a chunk is not even copied.

    Words are of the data type ``string``, missing ones empty. Times are integers with the ``units``
    of the CF conventions, and columns with missing integers or Booleans have the attribute
    ``_FillValue``: xarray knows both.

    Args:
        source: a path, a `Matrix` or `Frame`, or a mapping of names to them, which are put in one
            group: a matrix as an array of that name, a frame as a group; slashes make groups. A
            collection is the mapping of its matrices and frames.
        chunks: rows and columns of a chunk, of a frame its rows; if not given, whole tiles of a
            quarter of a mebibyte or more.
        absent: as of `Matrix.read`: whether cells that no block covers are an error, or zero.
        options: as of `open`, for paths.

    Raises:
        ImportError: zarr-python 3 is not installed.
    """
    from .zarr_adapter import DappleStore

    if not isinstance(source, (Mapping, Matrix, Frame)):
        source, options = open_any(source, **options), {}
    if isinstance(source, Collection):
        source = {name: source[name] for name in source.axes}
    if isinstance(source, Mapping):
        if not source:
            raise InvalidArgumentError("an empty mapping makes no store")
        return DappleStore(
            {str(name): _opened(one, options) for name, one in source.items()}, chunks, absent
        )
    return DappleStore(_opened(source, options), chunks, absent)


def _opened(source: Source, options: dict[str, Any]) -> Matrix | Frame:
    if isinstance(source, (Matrix, Frame)):
        if options:
            raise InvalidArgumentError(f"it is open already, without {', '.join(options)}")
        return source
    return files.open(source, **options)
