"""Rows, columns and cells of a matrix in any order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike, NDArray

from . import _core, fetch, keys
from .absent import Absent, absent_code
from .arguments import told
from .arrays import fill_rounded, new_array
from .errors import InvalidArgumentError
from .keys import Pick
from .matrix_names import NamedMatrix

if TYPE_CHECKING:
    from scipy.sparse import csc_array


@told
class Gathered(NamedMatrix):
    """What a list picks of a matrix, duplicates included."""

    if TYPE_CHECKING:

        @property
        def chunks(self) -> tuple[int, int]:
            """Of the matrix."""

    def take(
        self, rows: ArrayLike | slice, cols: Any = None, *, out: NDArray[Any] | None = None,
        absent: Absent = "error", allow_loss: bool = False,
    ) -> NDArray[Any]:  # fmt: skip
        """Gather rows in any order, duplicates included.

        Args:
            rows: integers, negative ones counting from the end, Booleans, names, or a slice.
            cols: the same, or all if not given: every combination with the rows is taken.
            out: a writable array of the result's shape with contiguous rows, to be used again. Its
                dtype counts.
            absent: as of `read`.
            allow_loss: as of `read`: ``m.take(rows, out=batch, allow_loss=True)`` rounds to float32
                where `batch` is that.

        Returns:
            `out`, or a new array of ``len(rows)`` rows.
        """
        down = keys.several(self._resolved(rows, 0), self.shape[0], "row")
        wanted = slice(None) if cols is None else self._resolved(cols, 1)
        across = keys.pick(wanted, self.shape[1], "column")
        across = Pick(across.of)
        if out is not None:
            _core.check_out(out, len(down), len(across))
            if allow_loss and out.dtype != self.dtype:
                code = absent_code(absent)
                return self._fill_rounded(
                    out, range(len(down)),
                    lambda band: fetch.dense(self, down.part(band), across, None, code),
                )  # fmt: skip
        taken: NDArray[Any] = fetch.dense(self, down, across, out, absent_code(absent))
        return taken if out is None else out

    def take_columns(
        self, cols: ArrayLike | slice, *, absent: Absent = "error", threads: int | None = 1
    ) -> csc_array:
        """Gather columns in any order, duplicates included, as compressed sparse columns.

        With a copy by column beside the file (see `index`), this costs what `take` does of as many
        rows. Without, each strip of tiles that holds a wanted column is read once.

        Args:
            cols: integers, negative ones counting from the end, Booleans, or a slice.
            absent: whether cells that no block covers are an error, or zero.
            threads: tiles read at once; 0: one for each processor.

        Returns:
            A `scipy.sparse.csc_array` of shape ``(rows, len(cols))``: all cells but positive zeros.

        Raises:
            IndexError: a column is outside the matrix.
            LookupError: a cell is absent.
        """
        wanted = keys.several(self._resolved(cols, 1), self.shape[1], "column").positions()
        return fetch.csc(self, wanted, absent_code(absent), threads)

    def cells(
        self, rows: ArrayLike, cols: ArrayLike, *, out: NDArray[Any] | None = None,
        absent: Absent = "error", allow_loss: bool = False,
    ) -> NDArray[Any]:  # fmt: skip
        """Gather single cells in any order, duplicates included: of each row the column beside it.

        Args:
            rows: integers, negative ones counting from the end.
            cols: as many.
            out: a writable, contiguous array of as many values, to be used again. Its dtype counts.
            absent: as of `read`.
            allow_loss: as of `read`.

        Returns:
            `out`, or a new array: ``[m[row, col] for row, col in zip(rows, cols)]``.
        """
        text = "; m.sel and m.take know names"
        down = keys.positions(rows, self.shape[0], "row", text=text)
        across = keys.positions(cols, self.shape[1], "column", text=text)
        if len(down) != len(across):
            raise InvalidArgumentError(
                f"{len(down)} rows and {len(across)} columns make no cells, which have one of each"
            )
        if out is None:
            out = new_array(len(down), self.dtype)
        elif allow_loss:
            _core.check_cells(out, len(down))
            if out.dtype != self.dtype:
                return self._fill_rounded(
                    out, range(len(down)), lambda band: self.cells(
                        down[band.start : band.stop], across[band.start : band.stop], absent=absent
                    ),
                )  # fmt: skip
        self._take_cells(down, across, out, absent_code(absent))
        return out

    def _fill_rounded(
        self, out: NDArray[Any], rows: range, read: Callable[[range], NDArray[Any]]
    ) -> NDArray[Any]:
        width = 1 if out.ndim == 1 else out.shape[1]
        fill_rounded(out, rows, self.chunks[0], width * self.dtype.itemsize, read)
        return out
