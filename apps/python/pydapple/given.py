"""What an object of another library is, asked before which protocols it speaks.

Many speak several, and not each tells all of what they hold: a DataArray gives a stream of Arrow
tables, a Dask array of masked chunks an array without its mask.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _core
from .errors import InvalidArgumentError, TypeMismatchError

Kind = Literal["opened", "table", "sparse", "chunked", "array"]

# What is neither a matrix nor a table, and what to pass in its place.
_REFUSED = {
    "dask.Bag": "a Dask Bag has no cells yet: compute() it, and make an array or a table of it",
    "dask.Delayed": "a Delayed has no cells yet: compute() it, or make an array of it with "
    "dask.array.from_delayed",
    "anndata.AnnData": "an AnnData holds several objects, and write makes a file of one: "
    "write_anndata makes a collection of all",
    "xarray.Dataset": "a Dataset holds several arrays: write one of them, a DataArray of two "
    "dimensions such as ds['name'], or ds.to_dataframe().reset_index()",
    "xarray.DataTree": "a DataTree holds several arrays: write one of them, a DataArray of two "
    "dimensions such as tree['group/name']",
    "zarr.Group": "a Group holds several arrays: write one of them, such as group['X']",
    "pandas.Series": "a Series is one column: series.to_frame() makes a table of it",
    "polars.Series": "a Series is one column: series.to_frame() makes a table of it",
}

# Kinds of Python objects that are a column each; what is of two is of the first.
_FAMILIES: tuple[tuple[type, ...], ...] = (
    (str,),
    (bool, np.bool_),
    (datetime.datetime, np.datetime64),
    (datetime.date,),
    (datetime.timedelta, np.timedelta64),
    (int, float, np.integer, np.floating),
)


def _names_of(data: Any) -> set[str]:
    """Its classes as library and name, whichever module of the library they are in."""
    return {f"{one.__module__.partition('.')[0]}.{one.__name__}" for one in type(data).__mro__}


def unwrapped(data: Any) -> Any:
    """The array inside of an xarray DataArray, SciPy's for one of `sparse`, or the data itself.

    Of a LazyFrame, the rows of its query: a stream of them where its version of polars has one.
    """
    while _names_of(data) & {"xarray.DataArray", "xarray.Variable"}:
        data = data.data
    if "polars.LazyFrame" in _names_of(data):
        batches = data.collect_batches(lazy=True) if hasattr(data, "collect_batches") else None
        return batches if hasattr(batches, "__arrow_c_stream__") else data.collect()
    if "sparse.SparseArray" in _names_of(data) and data.ndim == 2:
        return data.asformat("coo").tocsr() if data.fill_value == 0 else data.todense()
    return data


def kind_of(data: Any) -> Kind:
    """What it is. Raises TypeMismatchError, which says what to pass, for what is none of these."""
    if isinstance(data, (_core.Matrix, _core.Frame)):
        return "opened"
    names = _names_of(data)
    for name in names & _REFUSED.keys():
        raise TypeMismatchError(_REFUSED[name])
    if is_sparse(data):  # of which one is a mapping, too
        return "sparse"
    if isinstance(data, Mapping) or is_dask_frame(data):
        return "table"
    if isinstance(data, np.ndarray):
        return "array" if data.dtype.names is None else "table"
    if "dask.Array" in names:
        return "chunked"
    if hasattr(data, "iloc") and hasattr(data, "columns"):  # of pandas, and what is like it
        return "table"
    is_array = hasattr(data, "dtype") and hasattr(data, "shape")
    if hasattr(data, "__arrow_c_stream__") and not is_array:
        return "table"
    return "array"


def without_attrs(data: Any) -> Any:
    """A table to take columns from: pandas copies its attributes for each that it gives."""
    if not (hasattr(data, "iloc") and getattr(data, "attrs", None)):
        return data
    bare = data.copy(deep=False)
    bare.attrs = {}
    return bare


def is_sparse(data: Any) -> bool:
    """Whether it is a SciPy sparse array, or gives one as those do."""
    return hasattr(data, "tocsr") and hasattr(data, "nnz")


def is_dask_frame(data: Any) -> bool:
    """A Dask DataFrame, whose partitions are made when they are asked for."""
    return bool(_names_of(data) & {"dask.DataFrame", "dask_expr.DataFrame"})


def is_polars(data: Any) -> bool:
    """A Series or DataFrame of polars, whose own products know no matrix in a file."""
    return bool(_names_of(data) & {"polars.Series", "polars.DataFrame"})


def require_sound(data: Any) -> None:
    """Raise where positions of SciPy's arrays are outside of them: its loops write where they say.

    Columns of CSR are not looked at, since nothing of SciPy does before the writer checks them.
    """
    form, shape = data.format, data.shape
    sound = True
    if form in ("csr", "csc", "bsr"):
        starts, minor = data.indptr, data.indices
        blocks = data.blocksize if form == "bsr" else (1, 1)
        major = shape[1] if form == "csc" else shape[0] // blocks[0]
        sound = (
            len(starts) == major + 1
            and starts[0] == 0
            and starts[-1] <= min(len(minor), len(data.data))
            and not (starts[1:] < starts[:-1]).any()
        )
        if form != "csr" and len(minor):
            extent = shape[0] if form == "csc" else shape[1] // blocks[1]
            sound = sound and bool(minor.min() >= 0 and minor.max() < extent)
    elif form == "coo" and data.nnz:
        sound = all(
            places.min() >= 0 and places.max() < extent
            for places, extent in zip((data.row, data.col), shape, strict=True)
        )
    if not sound:
        raise InvalidArgumentError(
            f"the positions of this {form} array are not inside of its shape {tuple(shape)}, or "
            "not in order; it was put together wrongly"
        )


def plain_array(data: Any) -> NDArray[Any]:
    """Cells as an array. Raises where some are masked, which no matrix in a file can tell."""
    data = loaded(data)
    rows = data if isinstance(data, (list, tuple)) else ()
    if np.ma.is_masked(data) or any(np.ma.is_masked(row) for row in rows):
        raise InvalidArgumentError(
            "a matrix has no place for masked cells: fill them first, with a.filled(np.nan) say"
        )
    try:
        array = np.asarray(data)
    except Exception as error:
        if isinstance(data, (list, tuple)):
            raise TypeMismatchError(
                "the rows of this list have different lengths, or hold what is no number; a matrix "
                "is a list of rows of one length"
            ) from error
        raise TypeMismatchError(f"{name_of(data)} cannot be made an array: {error}") from error
    bare = array.dtype.kind == "O" and not isinstance(data, np.ndarray)
    if bare or (array.ndim == 0 and array.dtype.kind not in "iufb"):
        raise TypeMismatchError(
            f"{name_of(data)} is neither a matrix nor a table: a NumPy or SciPy array of numbers, "
            "a DataFrame, or a mapping from labels to columns is written"
        )
    if len(rows) and array.dtype.kind == "f" and array.ndim == 2:
        _require_exact(rows, array)
    return array


def _require_exact(rows: Sequence[Any], array: NDArray[Any]) -> None:
    """NumPy rounds integers of a list where they have no type in common."""
    lists = ((row, made.tolist()) for row, made in zip(rows, array, strict=True)
             if isinstance(row, (list, tuple)))  # fmt: skip
    for row, made in lists:
        for value, cell in zip(row, made, strict=True):
            if isinstance(value, (int, np.integer)) and int(value) != cell:
                raise TypeMismatchError(
                    f"{value} in a list is not exact as {array.dtype}, which all of it would be; "
                    "make it an array of the dtype that is wanted first"
                )


def name_of(data: Any) -> str:
    """What to call it in a message: its class and library."""
    kind = type(data)
    if kind.__module__ == "builtins":
        return f"this {kind.__name__}"
    article = "an" if kind.__name__[0] in "AEIOUaeio" else "a"
    return f"{article} {kind.__name__} of {kind.__module__.partition('.')[0]}"


def loaded(data: Any) -> Any:
    """What a DataArray or a Dask collection holds, in memory; masked arrays keep their masks."""
    data = unwrapped(data)
    if type(data).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(data, "dask"):
        return data.compute()
    return data


def chunked(array: Any) -> Any:
    """A Dask array all of whose chunks have a size."""
    if any(extent != extent for extent in array.shape):
        raise InvalidArgumentError(
            "the chunks of this Dask array have no sizes yet: compute_chunk_sizes() it first"
        )
    return array


def store_chunks(array: Any, writer: Any) -> None:
    """Put the chunks of a Dask array, which threads make, along the tiles of a `MatrixWriter`."""
    import dask.array as da

    wanted = []
    for sizes, tile in zip(array.chunks, writer.chunks, strict=True):
        whole = round(max(sizes, default=1) / max(tile, 1))  # tiles of a chunk
        wanted.append(max(1, min(sum(sizes), max(1, whole) * tile)))
    aligned = array.rechunk(tuple(wanted))
    da.store(aligned, writer, lock=False, scheduler="threads")


def mixture(objects: NDArray[Any], gone: NDArray[np.bool_]) -> str:
    """Why no column holds them all: one that no column holds, or two of different kinds."""
    rows: dict[int | None, int] = {}
    for row in np.flatnonzero(~gone).tolist():
        kind = next((k for k, one in enumerate(_FAMILIES) if isinstance(objects[row], one)), None)
        rows.setdefault(kind, row)
    first, *others = [rows[None]] if None in rows else rows.values()
    said = [f"{objects[row]!r} ({type(objects[row]).__name__})" for row in (first, *others[:1])]
    if not others:
        return f"row {first} holds {said[0]}"
    return f"row {first} holds {said[0]} and row {others[0]} {said[1]}, which are not of one kind"
