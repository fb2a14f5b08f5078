"""Matrix: a file's cells, sliced like a NumPy array."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _core, fetch, keys, strips
from .absent import Absent, absent_code
from .advice import MATRIX, no_attribute, require_handle
from .arguments import told
from .arrays import new_array
from .blocks import Blocks
from .errors import InvalidArgumentError, TypeMismatchError, shown
from .gathers import Gathered
from .meanings import Group
from .picture import Pictured
from .products import Multiplied, is_factor_of_scipy
from .sparse_view import SparseView
from .stats import Stats, of_object
from .strips import Strip

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import LinearOperator

# Who makes an array of `_MUCH` bytes, and `_MUCH_LARGER` cells for each that is stored, is warned.
_MUCH = 1 << 28
_MUCH_LARGER = 8


@told
class Matrix(Multiplied, Pictured, Gathered):
    """A matrix in a file, as `pydapple.open` gives it.

    Slicing works as NumPy's does and always gives a new, writable array of ``dtype``, whatever kind
    and type the tiles are stored in; `Block.numpy` gives views. Any number of threads may read at
    once. Long reads let other threads run, and Ctrl-C ends them.
    """

    ndim = 2

    def __init__(self, handle: _core.Matrix) -> None:
        require_handle(handle, _core.Matrix)
        super().__init__(handle)

    @property
    def size(self) -> int:
        """Number of cells."""
        rows, cols = self.shape
        return rows * cols

    @property
    def nbytes(self) -> int:
        """Bytes of all cells as an array; `file_bytes` is what the file takes."""
        return self.size * self.dtype.itemsize

    @property
    def nnz(self) -> int:
        """Stored values, zeros that are stored included. O(blocks) at worst, and only once."""
        return self._counts()["stored"]

    @property
    def group(self) -> Group | None:
        """What the columns are called, where the file tells: the slots of a vector of ML.NET."""
        known = self._group()
        return known and Group(known[0], range(self.shape[1]), tuple(known[1]))

    @property
    def grid(self) -> tuple[int, int] | None:
        """Tiles down and across; None where the blocks form no regular tiling."""
        grid = self._grid()
        return None if grid is None else grid[0]

    @property
    def chunks(self) -> tuple[int, int]:
        """Rows and columns of a tile; without a regular tiling, of a tile of a good size."""
        grid = self._grid()
        return _core.default_tile(*self.shape) if grid is None else grid[1]

    @property
    def blocks(self) -> Blocks:
        """The stored blocks in file order, as a sequence that makes each when it is asked for."""
        return Blocks(self)

    @property
    def sparse(self) -> SparseView:
        """The same matrix, whose slices are `scipy.sparse.csr_array`: ``m.sparse[10:20]``."""
        return SparseView(self)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[NDArray[Any]]:
        for _, cells in self.strips():
            yield from cells

    def __contains__(self, value: object) -> bool:
        """Refused: whether a cell has a value is found by ``m.count_where(equal=value)``."""
        raise TypeMismatchError("m.count_where(equal=value) tells how many cells have a value")

    def _subscript(self, key: Any) -> Any:
        rows, cols = keys.picks(self._by_number(key), self.shape)
        cells = fetch.dense(self, rows, cols)
        if rows.drop and cols.drop and any(part is Ellipsis for part in key):
            return np.asarray(cells)  # to which NumPy gives no scalar
        return cells

    def read(
        self,
        rows: Any = None,
        cols: Any = None,
        *,
        dtype: DTypeLike | None = None,
        out: NDArray[Any] | None = None,
        absent: Absent = "error",
        allow_loss: bool = False,
        threads: int | None = 1,
    ) -> NDArray[Any]:
        """Copy a rectangle of cells.

        Args:
            rows: a slice, whose ends may count from the end, a range or a pair (begin, end); all of
                them if not given. Unlike those of ``m[...]``, they are not clipped.
            cols: the same of columns.
            dtype: any dtype that holds every value exactly; the matrix's own if not given.
            out: where to put them: a writable array of the rectangle's shape whose rows are
                contiguous. Its dtype counts.
            absent: whether cells that no block covers are an error, zero, or NaN (floats only).
            allow_loss: round to the nearest value of the dtype where one does not fit exactly; what
                is out of its range is still an error. `out` may be filled in part then.
            threads: tiles decoded at once; 0: one for each processor.

        Returns:
            `out`, or a new array of two dimensions.

        Raises:
            IndexError: the rectangle leaves the matrix.
            TypeMismatchError: a value does not fit the dtype exactly (a TypeError and ValueError).
            LookupError: a cell is absent.
        """
        down = keys.span(rows, self.shape[0], "row")
        across = keys.span(cols, self.shape[1], "column")
        if out is None:
            kind = self.dtype if dtype is None else _core.checked_dtype(dtype)
            out = new_array((len(down), len(across)), kind)
        elif dtype is not None and (kind := _core.checked_dtype(dtype)) != out.dtype:
            raise InvalidArgumentError(f"out is of {out.dtype}, but dtype is {kind}")
        if allow_loss:
            _core.check_out(out, len(down), len(across))
            if out.dtype != self.dtype:
                return self._fill_rounded(
                    out, down, lambda band: self.read(band, across, absent=absent, threads=threads)
                )
        self._read(
            down.start, down.stop, across.start, across.stop, out, absent_code(absent), threads
        )
        return out

    def read_sparse(
        self,
        rows: Any = None,
        cols: Any = None,
        *,
        absent: Absent = "error",
        threads: int | None = 1,
    ) -> csr_array:
        """Copy a rectangle as compressed sparse rows; arguments as of `read`."""
        down = keys.span(rows, self.shape[0], "row")
        across = keys.span(cols, self.shape[1], "column")
        return fetch.csr(self, down, across, absent_code(absent), threads)

    def strips(
        self, sparse: bool = False, *, absent: Absent = "error", threads: int | None = 1
    ) -> Iterator[Strip]:
        """Walk down the matrix in strips of whole tiles of some MiB: ``for rows, cells in ...``.

        `rows` is a slice; `cells` a new array, or a `csr_array`. The next strip is fetched from
        storage while the caller works on one. `absent` is as of `read`.
        """
        return strips.walk(self, bool(sparse), absent, threads)

    def block(self, rx: int, cx: int) -> _core.Block:
        """The block whose first cell is (rx, cx). Raises LookupError where none begins."""
        return self._block(keys.place(rx), keys.place(cx))

    def tile(self, i: int, j: int) -> _core.Block:
        """Tile (i, j) of the grid. Raises IndexError outside it, ValueError without one."""
        return self._tile(keys.place(i), keys.place(j))

    def cover(self, row: int, col: int) -> _core.Block | None:
        """The block that covers a cell, or None. Raises IndexError outside the matrix."""
        return self._cover(keys.place(row, -self.shape[0]), keys.place(col, -self.shape[1]))

    def to_scipy(
        self, format: str = "csr", *, absent: Absent = "error", threads: int | None = 1
    ) -> Any:
        """All cells but positive zeros as a SciPy sparse array: ``csr``, ``csc`` or ``coo``.

        Absent cells are an error, or zero.
        """
        if format not in ("csr", "csc", "coo", "bsr", "dia", "dok", "lil"):
            raise InvalidArgumentError(f"SciPy has no sparse arrays of the format {shown(format)}")
        part = self.read_sparse(absent=absent, threads=threads)
        return part if format == "csr" else part.asformat(format)

    def to_dask(
        self, chunks: Any = None, *, sparse: bool | str = False, absent: Absent = "error"
    ) -> Any:
        """The matrix as a Dask array whose tasks carry the file's path, not its bytes.

        Each task gives the pages of the file back, which a worker's memory limit counts.

        Args:
            chunks: as Dask takes them; if not given, whole tiles of about 64 MiB.
            sparse: True: its chunks are `scipy.sparse.csr_array`. Slices, ``x.T`` and arithmetic
                work on them, and ``map_blocks``; Dask's reductions and products, such as
                ``x.sum(axis=0)``, do not, for SciPy lacks what they need. `stats` and
                `linear_operator` have them, and a dense `to_dask` does. ``"matrix"``: they are
                `scipy.sparse.csr_matrix`, as scanpy wants them. ``"csc_array"``, ``"csc_matrix"``:
                the same by columns.
            absent: as of `read`; of sparse chunks an error or zero.
        """
        from .dask_arrays import from_matrix

        return from_matrix(self, chunks, sparse, absent)

    def linear_operator(
        self, *, center: bool = False, absent: Absent = "error", threads: int | None = 1
    ) -> LinearOperator:
        """A `scipy.sparse.linalg.LinearOperator`, for `svds`, `lsqr` and so on, on the file itself.

        It computes in float64, as ``m @ x`` and ``x @ m`` do by it, with that many threads (0: one
        for each processor). Absent cells are an error, or zero. With `center`, it is the matrix
        less the mean of each column, so that ``svds`` gives principal components, and stays as
        sparse as it is.
        """
        from .linear import FileOperator

        return FileOperator(self, absent, threads, center)

    def stats(
        self, axis: int | None = None, *, absent: Absent = "error", threads: int | None = 1,
    ) -> Stats:  # fmt: skip
        """Statistics of all cells, of each column (axis 0) or of each row (axis 1).

        Zeros that are not stored count; NaNs are counted and left out of everything else. The
        variance is the mean squared distance from the mean (ddof 0), with a relative error below
        2^-36 of floats, mostly 2^-50, however far they are from zero; of integers it is exact but
        for its last rounding.

        Args:
            axis: None gives scalars, 0 and 1 arrays.
            absent: whether cells that no block covers are an error, or zero.
            threads: 0: one for each processor.
        """
        return of_object(self, axis, absent, threads)

    def tile_stats(self, axis: int, *, absent: Absent = "error", threads: int | None = 1) -> Stats:
        """The same of each column of tiles (axis 0) or each row of tiles (axis 1), as arrays.

        Raises ValueError where the blocks form no regular tiling. `Block.stats` has those of one
        tile. Files that dapple wrote have them all, so that no cell is read.
        """
        if axis is None:
            raise InvalidArgumentError("axis is 0 or 1 for statistics of tiles")
        return of_object(self, axis, absent, threads, tiles=True)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if is_factor_of_scipy():
            return np.array(None)
        if copy is False:
            blocks = self.blocks
            if len(blocks) == 1 and blocks[0].shape == self.shape:
                view = blocks[0].numpy(copy=False)
                if dtype is None or np.dtype(dtype) == view.dtype:
                    return view
            raise InvalidArgumentError(
                "an array without a copy needs a matrix of one dense tile, stored as declared"
            )
        if self.nbytes >= _MUCH and self.size >= _MUCH_LARGER * max(self.nnz, 1):
            warnings.warn(
                f"an array of {self.nbytes >> 20} MiB is made of a sparse matrix of which "
                f"{self.file_bytes >> 20} MiB are stored: m.to_scipy(), m.sparse[rows] and "
                "m.to_dask(sparse=True) keep it sparse, and m[:] is this array",
                UserWarning,
                stacklevel=2,
            )
        cells = self.read()
        return cells if dtype is None else cells.astype(dtype, copy=False)

    def __getattr__(self, name: str) -> Any:
        raise no_attribute("a pydapple.Matrix", name, MATRIX, of=self)

    def __repr__(self) -> str:
        if self.closed:
            return f"<pydapple.Matrix {self.path!r}, closed>"
        rows, cols = self.shape
        grid = self._grid()
        tiling = (
            f"{grid[0][0]} x {grid[0][1]} tiles of {grid[1][0]} x {grid[1][1]}"
            if grid
            else f"{len(self.blocks)} blocks"
        )
        return f"<pydapple.Matrix {self.path!r}: {rows} x {cols} {self.dtype}, {tiling}>"

    def _repr_html_(self) -> str:
        from .notebook import matrix_html

        return matrix_html(self)

    def __enter__(self) -> Matrix:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
