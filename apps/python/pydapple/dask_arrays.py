"""Matrices as Dask arrays, whose graphs hold the path of the file once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import fetch, keys
from .absent import Absent, absent_code
from .errors import InvalidArgumentError, TooLargeError, shown
from .matrix import Matrix
from .sparse_view import SparseView

_CHUNK = 1 << 26  # bytes of a chunk, as far as whole tiles go
_MOST_CHUNKS = 1 << 24


class DenseChunks:
    """A matrix of which slices are read, and the pages of the file given back after each."""

    ndim = 2

    def __init__(self, matrix: Matrix, absent: int) -> None:
        self.matrix = matrix
        self.shape: tuple[int, int] = matrix.shape
        self.dtype: np.dtype[Any] = matrix.dtype
        self._absent = absent

    def __getitem__(self, key: Any) -> Any:
        part = fetch.dense(self.matrix, *keys.picks(key, self.shape), absent=self._absent)
        self.matrix._let_go()
        return part

    def __dask_tokenize__(self) -> Any:
        return "pydapple.dense", self.matrix.__dask_tokenize__(), self._absent


class SparseChunks(SparseView):
    """The same of compressed sparse rows or columns."""

    def __init__(self, matrix: Matrix, absent: Absent, kind: Any) -> None:
        super().__init__(matrix, absent)
        self.kind = kind  # what a slice is made

    def __getitem__(self, key: Any) -> Any:
        register_sparse_arrays()  # for what is done with it in a worker
        part = super().__getitem__(key)
        self.matrix._let_go()
        return self.kind(part) if getattr(part, "ndim", 0) == 2 else part

    def __dask_tokenize__(self) -> Any:
        return super().__dask_tokenize__(), self.kind.__name__


def from_matrix(matrix: Matrix, chunks: Any, sparse: bool | str, absent: Absent) -> Any:
    """What `Matrix.to_dask` gives."""
    import dask.array as da

    if chunks is None:
        chunks = default_chunks(matrix, bool(sparse))
        count = math.prod(-(-all // one) for all, one in zip(matrix.shape, chunks, strict=True))
        if count > _MOST_CHUNKS:
            raise TooLargeError(
                f"the matrix would be {count} chunks, more than Dask's graph has room for: give "
                "larger chunks="
            )
    try:
        chunks = da.core.normalize_chunks(chunks, matrix.shape, dtype=matrix.dtype)
    except (TypeError, ValueError, ArithmeticError) as error:
        why = "they are rows and columns, of one or more"
        if not isinstance(error, ArithmeticError):
            why = str(error).splitlines()[0]
        raise InvalidArgumentError(f"chunks={shown(chunks)}: {why}") from error
    if any(size < 0 for sizes in chunks for size in sizes):
        raise InvalidArgumentError("chunks have one row and one column or more; -1 is all of them")
    if not sparse:
        dense = DenseChunks(matrix, absent_code(absent))
        return da.from_array(dense, chunks=chunks, asarray=False, fancy=False, lock=False)
    import scipy.sparse

    made = {True: "csr_array", "array": "csr_array", "matrix": "csr_matrix"}.get(sparse, sparse)
    if made not in ("csr_array", "csr_matrix", "csc_array", "csc_matrix"):
        raise InvalidArgumentError(
            "sparse is True, False, 'array', 'matrix', 'csc_array' or 'csc_matrix', not "
            f"{shown(sparse)}"
        )
    kind = getattr(scipy.sparse, str(made))
    register_sparse_arrays()
    return da.from_array(
        SparseChunks(matrix, absent, kind),
        chunks=chunks,
        asarray=False,
        fancy=False,
        lock=False,
        meta=kind((0, 0), dtype=matrix.dtype),
    )


def default_chunks(matrix: Matrix, sparse: bool) -> tuple[int, int]:
    """Whole tiles of about 64 MiB: first across, then down."""
    rows, cols = matrix.shape
    tile_rows, tile_cols = (max(1, extent) for extent in matrix.chunks)
    item: float = matrix.dtype.itemsize
    if sparse and matrix.size:
        item = max(item * 1e-4, (item + 4) * matrix.nnz / matrix.size)
    across = min(cols, max(1, int(_CHUNK / (tile_rows * tile_cols * item))) * tile_cols)
    if tile_rows * tile_cols * item > 2 * _CHUNK:  # a part of one large tile
        return max(1, int(_CHUNK / (tile_cols * item))), tile_cols
    down = max(1, int(_CHUNK / (tile_rows * max(across, 1) * item))) * tile_rows
    return max(1, min(rows, down)), max(1, across)


def register_sparse_arrays() -> None:
    """Tell Dask what it does not know of sparse arrays.

    These are what they take in memory, how single rows and columns, which have one dimension, are
    put together, and that compressed columns stay what they are when rows are.
    """
    from dask.array.dispatch import concatenate_lookup
    from dask.sizeof import sizeof
    from scipy.sparse import coo_array, csc_array, csc_matrix, csr_array, hstack, vstack

    def _compressed(part: Any) -> int:
        return int(part.data.nbytes + part.indices.nbytes + part.indptr.nbytes)

    def _coordinates(part: Any) -> int:
        return int(part.data.nbytes + sum(index.nbytes for index in part.coords))

    def _concatenate(parts: list[Any], axis: int = 0) -> Any:
        if parts[0].ndim == 2:
            formats = {part.format for part in parts}
            form = formats.pop() if formats in ({"csr"}, {"csc"}) else None
            return vstack(parts, form) if axis == 0 else hstack(parts, form)
        begins = np.cumsum([0] + [part.shape[0] for part in parts])
        index = [part.tocoo().coords[0] + begin for part, begin in zip(parts, begins, strict=False)]
        values = [part.tocoo().data for part in parts]
        return coo_array((np.concatenate(values), (np.concatenate(index),)), (int(begins[-1]),))

    concatenate_lookup.register((coo_array, csc_array, csc_matrix, csr_array), _concatenate)
    sizeof.register((csr_array, csc_array), _compressed)
    sizeof.register(coo_array, _coordinates)
