"""AnnData over files: `pydapple.read_anndata`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import elements, files
from .annotated_write import aligned, of_json
from .arguments import told
from .collection import Collection
from .errors import Error, NotRecognisedError, UnsupportedError
from .identity import file_name
from .matrix import Matrix
from .member_names import unescaped
from .opening import find as find_collection
from .reports import Path

if TYPE_CHECKING:
    import anndata

_SPARSE = ("csr_matrix", "csc_matrix")
_ALIGNED = ("layers", "obsm", "varm", "obsp", "varp")


@told
def read_anndata(
    path: Path, *, chunks: Any = None, fs: Any = None, store: Any = None, cache: Path = ""
) -> anndata.AnnData:
    """Open annotated data in place, as a lazy `anndata.AnnData`.

    X, layers, raw and every other matrix are Dask arrays of `Matrix.to_dask`, whose tasks read the
    rows that they need: sparse ones in chunks of `scipy.sparse.csr_matrix`, as scanpy and anndata
    take them, or of `csc_matrix` where that is what was written (of arrays where anndata's settings
    say so). Tables (obs, var) and everything unstructured are read at once, by anndata. So
    ``adata[mask]`` stays lazy, ``adata[mask].to_memory()`` reads these rows only, and scanpy's
    functions for Dask arrays run as they are. The first of them, up to highly variable genes, read
    X five times, `singlecell.survey` once.

    >>> adata = dp.read_anndata("pbmc.h5ad")
    >>> sc.pp.normalize_total(adata); sc.pp.log1p(adata)
    >>> adata[adata.obs["cell_type"] == "B"].to_memory()

    Args:
        path: a collection of `write_anndata`, which may be far away; or a file of anndata (.h5ad),
            of any version since 0.7, or a folder of anndata's Zarr.
        chunks: of X and of what has its rows, as `Matrix.to_dask` takes them; if not given, whole
            tiles of about 64 MiB.
        fs, store, cache: as of `open`, of a collection far away.

    Raises:
        ImportError: anndata or h5py, or zarr for a folder, is not installed.
        NotRecognisedError: there is no annotated data.
    """
    name = file_name(path)
    if (found := find_collection(name, fs=fs, store=store, cache=cache)) is not None:
        return _of_collection(found, chunks)
    if fs is not None or store is not None:
        raise NotRecognisedError(f"{name}: there is no collection (.dds, or one .zip of it) there")
    with _group_of(name) as group:
        if group.attrs.get("encoding-type") == "anndata":
            return _assembled(group, _Elements(name, group, chunks))
        if not {"X", "obs", "var"} <= set(group):
            raise NotRecognisedError(
                f"{name}: there is no annotated data: X, obs or var is missing"
            )
    return _of_old_file(name, chunks)


class _Elements:
    """The elements of annotated data: matrices lazily, everything else as anndata reads it."""

    def __init__(self, path: str, group: Any, chunks: Any) -> None:
        self._path, self._group, self._chunks = path, group, chunks

    def __call__(self, name: str) -> Any:
        from anndata.io import read_elem

        element = self._group[name]
        kind = element.attrs.get("encoding-type", "array")
        wide = len(getattr(element, "shape", ())) == 2 and not element.dtype.hasobject
        if kind in _SPARSE or (kind == "array" and wide):
            lazy = self.matrix(name, kind[:3] if kind in _SPARSE else "")
            if lazy is not None:
                cells = element["data"] if kind in _SPARSE else element
                # Booleans and half floats are others in a Matrix.
                return lazy.astype(cells.dtype) if cells.dtype.kind in "bf" else lazy
        return read_elem(element)

    def of_backed(self, name: str, known: Any) -> Any:
        """The same of a matrix that anndata has open, or has read."""
        lazy = self.matrix(name, getattr(known, "format", ""))
        return lazy if lazy is not None else known[:]

    def matrix(self, name: str, form: str) -> Any:
        """A matrix, "csr", "csc" or "", as a Dask array; None for one that dapple does not read."""
        try:
            opened = files.open(self._path, array=name)
        except (UnsupportedError, NotRecognisedError):
            return None
        assert isinstance(opened, Matrix)
        chunks = self._chunks if _has_rows_of_x(name) else None
        import anndata

        arrays = getattr(anndata.settings, "use_sparse_array_on_read", False)
        kind = f"{form}_{'array' if arrays else 'matrix'}"
        return opened.to_dask(chunks, sparse=kind if form else False)


def _has_rows_of_x(name: str) -> bool:
    return name in ("X", "raw/X") or name.startswith("layers/")


def _assembled(group: Any, read: Callable[[str], Any]) -> anndata.AnnData:
    import anndata

    parts: dict[str, Any] = {
        part: {name: read(f"{part}/{name}") for name in sorted(group.get(part, ()))}
        for part in _ALIGNED
    }
    raw = group.get("raw")
    if hasattr(raw, "keys"):  # anndata 0.12 writes an array for None, too
        varm = {name: read(f"raw/varm/{name}") for name in raw.get("varm", ())}
        parts["raw"] = {"X": read("raw/X"), "var": read("raw/var"), "varm": varm}
    return anndata.AnnData(
        X=read("X") if "X" in group else None,
        obs=read("obs"),
        var=read("var"),
        uns=read("uns") if "uns" in group else {},
        **parts,
    )


def _of_collection(c: Collection, chunks: Any) -> anndata.AnnData:
    import anndata
    import pandas as pd

    members = list(c)
    if "X" not in members and not {"obs", "var"} <= set(members):
        raise NotRecognisedError(
            f"{c.path}: there is no annotated data: X, obs and var are missing"
        )

    def read(name: str) -> Any:
        member = c[name]
        if isinstance(member, Matrix):
            return elements.lazy(member, chunks if _has_rows_of_x(name) else None)
        return elements.loaded(member)

    def below(part: str) -> dict[str, Any]:
        within = [name for name in members if name.rpartition("/")[0] == part]
        return {unescaped(name.rpartition("/")[2]): read(name) for name in within}

    def table(name: str, axis: int) -> Any:
        if name in members:
            return read(name)
        return pd.DataFrame(index=[str(k) for k in range(c["X"].shape[axis])])

    raw = None
    if "raw/X" in members:
        raw = {"X": read("raw/X"), "var": read("raw/var"), "varm": below("raw/varm")}
    return anndata.AnnData(
        X=read("X") if "X" in members else None,
        obs=table("obs", 0),
        var=table("var", 1),
        uns=of_json(c, c["uns"]) if "uns" in members else {},
        raw=raw,
        **{part: below(part) for part in _ALIGNED},
    )


def _of_old_file(path: str, chunks: Any) -> anndata.AnnData:
    """Files of anndata before 0.8 have no encoding at their root; anndata knows their tables."""
    import anndata

    known = anndata.read_h5ad(path, backed="r")
    try:
        elements = _Elements(path, {}, chunks)
        raw = None
        if known.raw is not None:
            raw = {"X": elements.of_backed("raw/X", known.raw.X), "var": known.raw.var}
            raw["varm"] = dict(known.raw.varm)
        return anndata.AnnData(
            X=elements.of_backed("X", known.X),
            obs=known.obs,
            var=known.var,
            uns=known.uns,
            **{part: aligned(known, part) for part in _ALIGNED},
            raw=raw,
        )
    finally:
        known.file.close()


@contextmanager
def _group_of(path: str) -> Iterator[Any]:
    if os.path.isdir(path):
        import zarr

        try:
            group = zarr.open_group(path, mode="r")
        except Exception as error:  # of many classes, and none of them says what is wanted
            raise NotRecognisedError(
                f"{path}: the folder holds no annotated data, neither a collection (.dds) nor a "
                f"Zarr group: {error}"
            ) from error
        yield group
        return
    with _opened(path) as file:
        yield file


def _opened(path: str) -> Any:
    import h5py

    try:
        return h5py.File(path, "r", locking=False)
    except FileNotFoundError:
        files.open(path)  # raises, as for any other file
        raise
    except OSError as error:
        try:
            what = files.open(path).format
        except Error:
            what = ""
        if what == "hdf5":  # which this process has open with other settings, or it is damaged
            return h5py.File(path, "r")
        hint = f"this is a file of format {what}" if what else str(error)
        raise NotRecognisedError(f"{path}: {hint}, not one of anndata") from None
