"""Parts of annotated data as members of a collection, and back as the same types.

What cells and columns alone do not tell, such as that a matrix was a csc_matrix of bool, is an
attribute of the member, `NOTE`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import pandas_index, table_types
from .errors import TypeMismatchError
from .frame import Frame
from .given import is_sparse
from .matrix import Matrix

NOTE = "anndata"
_VALUES = "values"  # the only column of what is no table


def stored(value: Any, where: str) -> tuple[Any, dict[str, Any]]:
    """What `write` takes for a part, and the note about it.

    `where` is for the TypeMismatchError of what no member can hold.
    """
    if hasattr(value, "iloc") and not hasattr(value, "columns"):
        raise TypeMismatchError(f"{where} is a Series; to_frame() makes a table of it")
    if hasattr(value, "iloc"):
        return _table(value, where)
    value = _in_chunks(value)
    if is_sparse(value):
        return _plain(value), {"form": _sparse_form(value), **_type(value.dtype)}
    if hasattr(value, "dask"):
        form = _sparse_form(value._meta) if is_sparse(value._meta) else "array"
        flat, shape = _flat(value)
        return _plain(flat), {"form": form, **_type(value.dtype), **shape}
    if _is_of_pandas(value):
        import pandas as pd

        table, note = _table(pd.DataFrame({_VALUES: value}), where)
        return table, {**note, "form": "pandas"}
    if isinstance(value, np.ndarray):
        if np.ascontiguousarray(np.ma.getmask(value)).view(bool).any():
            raise TypeMismatchError(
                f"{where} has masked cells, for which a member has no place: fill them first, with "
                "a.filled(np.nan) say"
            )
        return _array(value)
    library, kind = type(value).__module__.partition(".")[0], type(value).__name__
    raise TypeMismatchError(
        f"{where} is {kind} of {library}, which no member can be: arrays, sparse matrices, tables, "
        "str, numbers, times of NumPy, and lists and dicts of these are written"
    )


def _is_of_pandas(value: Any) -> bool:
    """Whether it is an array of pandas' own, such as a Categorical."""
    if type(value).__module__.partition(".")[0] != "pandas":
        return False
    import pandas as pd

    return isinstance(value, pd.api.extensions.ExtensionArray)


def _table(value: Any, where: str) -> tuple[Any, dict[str, Any]]:
    if not hasattr(value, "dtypes"):  # one that anndata has not read yet
        value = value.to_memory()
    table, types = table_types.described(value, where)
    return table, {"form": "dataframe", **types}


def _in_chunks(value: Any) -> Any:
    """What is still in a file of another library, as a Dask array."""
    library = type(value).__module__.partition(".")[0]
    if library in ("h5py", "zarr"):
        import dask.array as da

        return da.from_array(value, chunks="auto")
    if library == "anndata" and hasattr(value, "group"):
        from anndata.experimental import read_elem_lazy

        return read_elem_lazy(value.group)
    return value


def _sparse_form(value: Any) -> str:
    from scipy.sparse import sparray

    form = value.format if value.format in ("csr", "csc") else "csr"
    return f"{form}_{'array' if isinstance(value, sparray) else 'matrix'}"


def _type(dtype: np.dtype[Any]) -> dict[str, str]:
    """The dtype, where a matrix of that is one of another."""
    return {"dtype": dtype.str} if dtype.kind == "b" or dtype == np.float16 else {}


def _plain(value: Any) -> Any:
    if value.dtype == np.float16:
        return value.astype(np.float32)
    return value.astype(np.uint8) if value.dtype.kind == "b" else value


def _flat(value: Any) -> tuple[Any, dict[str, Any]]:
    """An array of any shape as one of two dimensions, and the shape where that is another."""
    if value.ndim == 2:
        return value, {}
    rows = value.shape[0] if value.ndim else 1
    wide = math.prod(value.shape[1:])
    return value.reshape(rows, wide), {"shape": list(value.shape)}


def _array(value: NDArray[Any]) -> tuple[Any, dict[str, Any]]:
    if value.dtype.names is not None:
        note = {"form": "records", "fields": _fields(value.dtype), "shape": list(value.shape)}
        return np.asarray(value).reshape(-1), note
    if value.dtype.kind in "iufb":
        flat, shape = _flat(np.asarray(value))
        return _plain(flat), {"form": "array", **_type(value.dtype), **shape}
    flat, _ = _flat(np.asarray(value))  # one column for each, since rows are those of an axis
    names = [_VALUES] if value.ndim < 2 else [f"{_VALUES}{k}" for k in range(flat.shape[1])]
    kind = "O" if value.dtype.kind == "T" else value.dtype
    cells = np.empty(len(flat), [(name, kind) for name in names])
    for k, name in enumerate(names):
        cells[name] = flat[:, k]
    note = {"form": "cells", "dtype": _field_type(value.dtype), "shape": list(value.shape)}
    return cells, note


def _fields(dtype: np.dtype[Any]) -> list[list[str]]:
    return [[name, _field_type(dtype[name])] for name in dtype.names or ()]


def _field_type(dtype: np.dtype[Any]) -> str:
    return "T" if dtype.kind == "T" else dtype.str


def note_of(member: Matrix | Frame) -> dict[str, Any]:
    """The note about a member; an empty one where it is not, or not from here."""
    note = member.attrs.get(NOTE)
    return note if isinstance(note, dict) else {}


def loaded(member: Matrix | Frame) -> Any:
    """The part of annotated data that a member holds, in memory."""
    note = note_of(member)
    if isinstance(member, Frame):
        return _of_frame(member, note)
    form = note.get("form", f"{member._storage}_matrix")
    if not form.startswith(("csr", "csc")):
        cells = member.read().astype(note.get("dtype", member.dtype), copy=False)
        return cells.reshape(note.get("shape", cells.shape))
    import scipy.sparse as sp

    cells = member.to_scipy(form[:3]).astype(note.get("dtype", member.dtype), copy=False)
    return cells if form.endswith("_array") else getattr(sp, form)(cells)


def lazy(member: Matrix, chunks: Any) -> Any:
    """A matrix as a Dask array: sparse ones in chunks of compressed sparse rows, or columns."""
    note = note_of(member)
    form = note.get("form", f"{member._storage}_matrix")
    made = member.to_dask(chunks, sparse=form if form.startswith(("csr", "csc")) else False)
    if "dtype" in note:
        made = made.astype(note["dtype"])
    return made.reshape(note["shape"]) if "shape" in note else made


def _of_frame(member: Frame, note: dict[str, Any]) -> Any:
    form = note.get("form", "dataframe")
    if form in ("dataframe", "pandas"):
        table = table_types.restored(member.to_pandas(), note)
        for key in (NOTE, *pandas_index.notes_in(table.attrs)):
            table.attrs.pop(key, None)
        return table if form == "dataframe" else table[_VALUES].array
    if form == "records":
        made = np.empty(member.shape[0], [(name, kind) for name, kind in note["fields"]])
        for k, name in enumerate(made.dtype.names or ()):
            made[name] = _as_bytes(member.read(columns=[k])[member.labels[k]], made.dtype[name])
        return made.reshape(note["shape"])
    kind = np.dtypes.StringDType() if note["dtype"] == "T" else np.dtype(note["dtype"])
    cells = np.empty((member.shape[0], len(member.columns)), kind)
    for k, name in enumerate(member.columns):
        cells[:, k] = _as_bytes(member[name], kind)
    return cells.reshape(note["shape"])


def _as_bytes(words: Any, dtype: np.dtype[Any]) -> Any:
    """Words as bytes, where that is what they were; others as they are."""
    if dtype.kind != "S":
        return words
    return np.array([one.encode("utf-8", "surrogateescape") for one in words], dtype)
