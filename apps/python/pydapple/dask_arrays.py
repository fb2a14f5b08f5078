"""Matrices as Dask arrays, whose graphs hold the path of the file once."""

from __future__ import annotations

from typing import Any

from .matrix import Matrix
from .sparse_view import SparseView

_CHUNK = 1 << 26  # bytes of a chunk, as far as whole tiles go


def from_matrix(matrix: Matrix, chunks: Any, sparse: bool) -> Any:
    """What `Matrix.to_dask` gives."""
    import dask.array as da

    if chunks is None:
        chunks = default_chunks(matrix, sparse)
    if not sparse:
        return da.from_array(matrix, chunks=chunks, asarray=False, fancy=False, lock=False)
    from scipy.sparse import csr_array

    register_sizes()
    return da.from_array(
        SparseView(matrix),
        chunks=chunks,
        asarray=False,
        fancy=False,
        lock=False,
        meta=csr_array((0, 0), dtype=matrix.dtype),
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


def register_sizes() -> None:
    """Tell Dask what sparse arrays take in memory; it knows sparse matrices only."""
    from dask.sizeof import sizeof
    from scipy.sparse import coo_array, csc_array, csr_array

    def _compressed(part: Any) -> int:
        return int(part.data.nbytes + part.indices.nbytes + part.indptr.nbytes)

    def _coordinates(part: Any) -> int:
        return int(part.data.nbytes + sum(index.nbytes for index in part.coords))

    sizeof.register((csr_array, csc_array), _compressed)
    sizeof.register(coo_array, _coordinates)
