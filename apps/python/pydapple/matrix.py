"""Matrix: a file's cells, sliced like a NumPy array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import _core, fetch, keys, strips
from .absent import Absent, absent_code
from .blocks import Blocks
from .errors import InvalidArgumentError
from .identity import Opened
from .keys import Pick
from .meanings import Group
from .picture import Pictured
from .search import Hits, Verdict, one_condition
from .sparse_view import SparseView
from .stats import Stats, of_object
from .strips import Strip

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array
    from scipy.sparse.linalg import LinearOperator


class Matrix(Pictured, Opened, _core.Matrix):
    """A matrix in a file, as `pydapple.open` gives it.

    Slicing works as NumPy's does and always gives a new, writable array of ``dtype``, whatever kind
    and type the tiles are stored in; `Block.numpy` gives views. Any number of threads may read at
    once. Long reads let other threads run, and Ctrl-C ends them.
    """

    ndim = 2

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

    def _subscript(self, key: Any) -> Any:
        rows, cols = keys.picks(key, self.shape)
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
        threads: int | None = 1,
    ) -> NDArray[Any]:
        """Copy a rectangle of cells.

        Args:
            rows: a slice, a range or a pair (begin, end); all of them if not given. Unlike those of
                ``m[...]``, they are not clipped.
            cols: the same of columns.
            dtype: any dtype that holds every value exactly; the matrix's own if not given.
            out: where to put them: a writable array of the rectangle's shape whose rows are
                contiguous. Its dtype counts.
            absent: whether cells that no block covers are an error, zero, or NaN (floats only).
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
            out = np.empty((len(down), len(across)), kind)
        elif dtype is not None and (kind := _core.checked_dtype(dtype)) != out.dtype:
            raise InvalidArgumentError(f"out is of {out.dtype}, but dtype is {kind}")
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

    def take(
        self, rows: ArrayLike, cols: Any = None, *, out: NDArray[Any] | None = None,
        absent: Absent = "error",
    ) -> NDArray[Any]:  # fmt: skip
        """Gather rows in any order, duplicates included.

        Args:
            rows: integers, negative ones counting from the end, or Booleans.
            cols: the same, a slice, or all if not given: every combination with the rows is taken.
            out: a writable array of the result's shape with contiguous rows, to be used again. Its
                dtype counts.
            absent: as of `read`.

        Returns:
            `out`, or a new array of ``len(rows)`` rows.
        """
        down = Pick(keys.positions(rows, self.shape[0], "row"))
        across = keys.pick(slice(None) if cols is None else cols, self.shape[1], "column")
        across = Pick(across.of)
        if out is not None:
            _core.check_out(out, len(down), len(across))
        taken: NDArray[Any] = fetch.dense(self, down, across, out, absent_code(absent))
        return taken if out is None else out

    def take_columns(
        self, cols: ArrayLike, *, absent: Absent = "error", threads: int | None = 1
    ) -> csc_array:
        """Gather columns in any order, duplicates included, as compressed sparse columns.

        With a copy by column beside the file (see `index`), this costs what `take` does of as many
        rows. Without, each strip of tiles that holds a wanted column is read once.

        Args:
            cols: integers, negative ones counting from the end, or Booleans.
            absent: whether cells that no block covers are an error, or zero.
            threads: tiles read at once; 0: one for each processor.

        Returns:
            A `scipy.sparse.csc_array` of shape ``(rows, len(cols))``: all cells but positive zeros.

        Raises:
            IndexError: a column is outside the matrix.
            LookupError: a cell is absent.
        """
        return fetch.csc(
            self, keys.positions(cols, self.shape[1], "column"), absent_code(absent), threads
        )

    def cells(
        self, rows: ArrayLike, cols: ArrayLike, *, out: NDArray[Any] | None = None,
        absent: Absent = "error",
    ) -> NDArray[Any]:  # fmt: skip
        """Gather single cells in any order, duplicates included: of each row the column beside it.

        Args:
            rows: integers, negative ones counting from the end.
            cols: as many.
            out: a writable, contiguous array of as many values, to be used again. Its dtype counts.
            absent: as of `read`.

        Returns:
            `out`, or a new array: ``[m[row, col] for row, col in zip(rows, cols)]``.
        """
        down = keys.positions(rows, self.shape[0], "row")
        across = keys.positions(cols, self.shape[1], "column")
        if len(down) != len(across):
            raise InvalidArgumentError(
                f"{len(down)} rows and {len(across)} columns make no cells, which have one of each"
            )
        if out is None:
            out = np.empty(len(down), self.dtype)
        self._take_cells(down, across, out, absent_code(absent))
        return out

    def strips(
        self, sparse: bool = False, *, absent: Absent = "error", threads: int | None = 1
    ) -> Iterator[Strip]:
        """Walk down the matrix in strips of whole tiles of some MiB: ``for rows, cells in ...``.

        `rows` is a slice; `cells` a new array, or a `csr_array`. The next strip is fetched from
        storage while the caller works on one. `absent` is as of `read`.
        """
        return strips.walk(self, sparse, absent, threads)

    def block(self, rx: int, cx: int) -> _core.Block:
        """The block whose first cell is (rx, cx). Raises LookupError where none begins."""
        return self._block(rx, cx)

    def tile(self, i: int, j: int) -> _core.Block:
        """Tile (i, j) of the grid. Raises IndexError outside it, ValueError without one."""
        return self._tile(i, j)

    def cover(self, row: int, col: int) -> _core.Block | None:
        """The block that covers a cell, or None. Raises IndexError outside the matrix."""
        return self._cover(row, col)

    def to_scipy(
        self, format: str = "csr", *, absent: Absent = "error", threads: int | None = 1
    ) -> Any:
        """All cells but positive zeros as a SciPy sparse array: ``csr``, ``csc`` or ``coo``.

        Absent cells are an error, or zero.
        """
        if format not in ("csr", "csc", "coo", "bsr", "dia", "dok", "lil"):
            raise InvalidArgumentError(f"SciPy has no sparse arrays of the format {format!r}")
        part = self.read_sparse(absent=absent, threads=threads)
        return part if format == "csr" else part.asformat(format)

    def to_dask(self, chunks: Any = None, *, sparse: bool = False, absent: Absent = "error") -> Any:
        """The matrix as a Dask array whose tasks carry the file's path, not its bytes.

        Args:
            chunks: as Dask takes them; if not given, whole tiles of about 64 MiB.
            sparse: True: its chunks are `scipy.sparse.csr_array`. Slices, ``x.T`` and arithmetic
                work on them, and ``map_blocks``; Dask's reductions and products, such as
                ``x.sum(axis=0)``, do not, for SciPy lacks what they need. `stats` and
                `linear_operator` have them, and a dense `to_dask` does.
            absent: as of `read`; of sparse chunks an error or zero.
        """
        from .dask_arrays import from_matrix

        return from_matrix(self, chunks, sparse, absent)

    def linear_operator(
        self, *, absent: Absent = "error", threads: int | None = 1
    ) -> LinearOperator:
        """A `scipy.sparse.linalg.LinearOperator`, for `svds`, `lsqr` and so on, on the file itself.

        It computes in float64, with so many threads (0: one for each processor). Absent cells are
        an error, or zero.
        """
        from .linear import FileOperator

        return FileOperator(self, absent, threads)

    def stats(
        self, axis: int | None = None, *, absent: Absent = "error", threads: int | None = 1,
    ) -> Stats:  # fmt: skip
        """Statistics of all cells, of each column (axis 0) or of each row (axis 1).

        Zeros that are not stored count; NaNs are counted and left out of everything else. The
        variance is the mean squared distance from the mean (ddof 0), made of the sums: where the
        mean is 10^k times the standard deviation, about 2k of its 16 digits are lost.

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

    def where(self, *, nonzero: bool = False, absent: Absent = "error", **condition: Any) -> Hits:
        """Find the cells whose value meets one condition: ``m.where(above=0.5)``.

        Cells that are not stored are zeros like others: a condition that holds for zero finds
        them all, unless `nonzero` says otherwise. NaN meets no condition but ``nan=True``. Bounds
        are compared exactly. Blocks whose kind or type rules out every match are not read.

        Args:
            nonzero: only cells that are not zero.
            absent: whether cells that no block covers are an error, or zero.
            condition: one of ``above=x``, ``at_least=x``, ``below=x``, ``at_most=x``,
                ``equal=x``, ``between=(low, high)`` (both included) and ``nan=True``.

        Returns:
            The arrays (rows, cols, values), row by row of one block after the other. O(stored
            values), and O(cells) where zeros are found.
        """
        return Hits(*self._find("cells", condition, nonzero, absent, 1))

    def count_where(
        self, *, nonzero: bool = False, absent: Absent = "error", threads: int | None = 1,
        **condition: Any,
    ) -> int:  # fmt: skip
        """How many cells meet a condition; arguments as of `where`. O(stored values)."""
        return int(self._find("count", condition, nonzero, absent, threads))

    def rows_where(
        self, *, nonzero: bool = False, absent: Absent = "error", threads: int | None = 1,
        **condition: Any,
    ) -> NDArray[np.bool_]:  # fmt: skip
        """For each row whether a cell of it meets a condition: ``m[m.rows_where(nan=True)]``."""
        found: NDArray[Any] = self._find("rows", condition, nonzero, absent, threads)
        return found.view(np.bool_)

    def explain_where(
        self, *, nonzero: bool = False, absent: Absent = "error", **condition: Any
    ) -> list[Verdict]:
        """What `where` would do with each block, without reading a cell; arguments as of `where`.

        Returns:
            A pair (pos, skipped) for each block. `skipped` is None where it would be read, else
            ``"empty"``, ``"value_type"`` (it has no such value) or ``"statistics"``. O(blocks).
        """
        code = absent_code(absent)
        verdicts = _core.explain(self, *one_condition(condition), code, nonzero)
        return [Verdict(*one) for one in verdicts]

    def _find(
        self,
        what: str,
        condition: dict[str, Any],
        nonzero: bool,
        absent: Absent,
        threads: int | None,
    ) -> Any:
        name, low, high = one_condition(condition)
        return _core.find(self, what, name, low, high, absent_code(absent), nonzero, threads)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            blocks = self.blocks
            if len(blocks) == 1 and blocks[0].shape == self.shape:
                view = blocks[0].numpy(copy=False)
                if dtype is None or np.dtype(dtype) == view.dtype:
                    return view
            raise ValueError(
                "an array without a copy needs a matrix of one dense tile, stored as declared"
            )
        cells = self.read()
        return cells if dtype is None else cells.astype(dtype, copy=False)

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
