"""AnnData written as a collection: `pydapple.write_anndata`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import elements
from .arguments import told
from .collection import Axes, Collection
from .collection_files import being_written
from .errors import TypeMismatchError, naming
from .given import name_of
from .member_names import escaped
from .reports import Path

if TYPE_CHECKING:
    import anndata

# The axes of rows and columns of what is in each part.
_PARTS: dict[str, Axes] = {
    "layers": ("obs", "var"),
    "obsm": ("obs", None),
    "varm": ("var", None),
    "obsp": ("obs", "obs"),
    "varp": ("var", "var"),
}
_RAW = "raw/var"  # the axis of the columns of raw


@told
def write_anndata(
    path: Path, adata: anndata.AnnData, *, overwrite: bool = False, **options: Any
) -> Collection:
    """Write annotated data as a collection: a folder ending in .dds, or one file ending in .zip.

    Every part is a member: X, obs, var, ``layers/counts``, ``obsm/X_pca``, ``raw/X``, ``uns`` and
    so on; `read_anndata` gives all of it back as it was. Only zeros that sparse matrices store are
    left out, and in `uns`, tuples become lists, records and matrices of NumPy plain arrays, and
    sparse forms other than CSC become CSR. What is lazy (Dask arrays, backed data) is written chunk
    by chunk. The collection appears when it is whole, or not at all.

    >>> dp.write_anndata("pbmc.dds", adata, pack="fast")
    >>> dp.open("pbmc.dds")["X"].cols["CD3E"]

    Args:
        path: the folder or file to make.
        adata: all of it, or a view.
        overwrite: replace an existing collection.
        options: of `write`, for all members: ``pack="fast"`` or ``"small"``, ``threads`` and so on.

    Raises:
        TypeMismatchError: a part holds what no member can, such as Python objects; it says which.
        ExistsError: the collection is there already.
    """
    if not all(hasattr(adata, part) for part in ("X", "obs", "var", "uns", "obsm")):
        raise TypeMismatchError(f"{name_of(adata)} is no AnnData; write_collection takes others")
    with being_written(path, overwrite) as collection:
        writing = _Writing(collection, options)
        for name, value, axes in _parts(adata):
            writing.put(name, value, axes)
        collection.put("uns", {key: writing.as_json(value, ("uns", key)) for key, value in
                               _items(adata.uns, "uns")})  # fmt: skip
    return Collection(path)


def aligned(adata: Any, part: str) -> dict[str, Any]:
    """The members of layers, obsm and so on; but X, which is a layer, too, since anndata 0.13."""
    return {name: value for name, value in getattr(adata, part).items() if name is not None}


def _parts(adata: Any) -> Iterator[tuple[str, Any, Axes]]:
    yield "obs", adata.obs, ("obs", None)
    yield "var", adata.var, ("var", None)
    if adata.X is not None:
        yield "X", adata.X, ("obs", "var")
    for part, axes in _PARTS.items():
        for name, value in aligned(adata, part).items():
            yield f"{part}/{escaped(name)}", value, axes
    if adata.raw is not None:
        yield "raw/var", adata.raw.var, (_RAW, None)
        yield "raw/X", adata.raw.X, ("obs", _RAW)
        for name, value in adata.raw.varm.items():
            yield f"raw/varm/{escaped(name)}", value, (_RAW, None)


class _Writing:
    """A collection that parts are put into."""

    def __init__(self, collection: Collection, options: dict[str, Any]) -> None:
        self._collection, self._options = collection, options

    def put(
        self, name: str, value: Any, axes: Axes | None = None, where: str | None = None
    ) -> None:
        with naming(where or name):
            data, note = elements.stored(value, where or name)
        given: dict[str, Any] = {"attrs": {elements.NOTE: note}}
        if hasattr(data, "iloc"):  # whose own attributes are written, too
            data.attrs = {**data.attrs, elements.NOTE: note}
            given = {}
        self._collection.put(name, data, axes=axes, **given, **self._options)

    def as_json(self, value: Any, path: tuple[str, ...]) -> Any:
        """What is unstructured as JSON; what JSON has not is a member, or under a key with a $."""
        single = not isinstance(value, np.void) or value.dtype.names is None
        if value is None or (isinstance(value, (bool, int, float, str, np.generic)) and single):
            return _single(value)
        if isinstance(value, Mapping):
            made = {
                key: self.as_json(one, (*path, key)) for key, one in _items(value, _shown(path))
            }
            return {"$dict": made} if any(key.startswith("$") for key in made) else made
        if isinstance(value, (list, tuple)):
            return [self.as_json(one, (*path, str(k))) for k, one in enumerate(value)]
        name = "/".join(escaped(part) for part in path)
        self.put(name, value, where=_shown(path))
        return {"$member": name}


def _single(value: Any) -> Any:
    """A single value as JSON that is read as the same type."""
    if isinstance(value, np.str_):
        return str(value)
    if isinstance(value, np.generic):
        if value.dtype.kind in "SV":
            return {"$scalar": [value.dtype.str, value.tobytes().decode("latin-1")]}
        number = value.astype("i8") if value.dtype.kind in "Mm" else value
        return {"$scalar": [value.dtype.str, str(number.item())]}
    finite = not isinstance(value, float) or math.isfinite(value)
    return value if finite else {"$float": repr(value)}


def _items(values: Mapping[Any, Any], where: str) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if not isinstance(key, str):
            raise TypeMismatchError(f"{where} has the key {key!r}; keys are str")
        yield key, value


def _shown(path: tuple[str, ...]) -> str:
    return path[0] + "".join(f"[{part!r}]" for part in path[1:])


def of_json(collection: Collection, value: Any) -> Any:
    """What `_Writing.as_json` made JSON of."""
    if isinstance(value, list):
        return [of_json(collection, one) for one in value]
    if not isinstance(value, Mapping):
        return value
    if len(value) == 1:
        [(key, inner)] = value.items()
        if key == "$member":
            return elements.loaded(collection[inner])
        if key == "$float":
            return float(inner)
        if key == "$scalar":
            return _scalar(*inner)
        if key == "$dict":
            value = inner
    return {key: of_json(collection, one) for key, one in value.items()}


def _scalar(kind: str, text: str) -> Any:
    dtype = np.dtype(kind)
    if dtype.kind == "b":
        return np.bool_(text == "True")
    if dtype.kind in "Mm":
        return np.array(int(text), "i8").view(dtype)[()]
    if dtype.kind in "SV":
        return dtype.type(text.encode("latin-1"))
    return np.array(text).astype(dtype)[()]
