"""What a matrix knows of the names of its rows and columns."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from . import fetch, keys
from .arguments import told
from .identity import Opened
from .keys import Pick
from .names import ByName, Named, Names
from .search import Searched


@told
class NamedMatrix(Opened, Named, Searched):
    """Rows and columns by name."""

    @property
    def col_names(self) -> Names | None:
        """The names of the columns; None where the file has none."""
        return self._kept_names("column")

    @property
    def cols(self) -> ByName:
        """Columns by name: ``m.cols["CD3E"]``."""
        return ByName(self, 1)

    def sel(self, rows: Any = None, cols: Any = None) -> NDArray[Any]:
        """The cells of these rows in these columns, in their order, by name or as of `take`.

        ``m.sel(cols=["CD3E", "MS4A1"])`` has all rows; one name instead of a list drops the axis.
        """
        down, across = (
            keys.pick(slice(None) if part is None else self._resolved(part, axis), extent, what)
            for axis, (part, extent, what) in enumerate(
                zip((rows, cols), self.shape, ("row", "column"), strict=True)
            )
        )
        cells: NDArray[Any] = fetch.dense(self, Pick(down.of), Pick(across.of), None)
        return cells[0 if down.drop else slice(None), 0 if across.drop else slice(None)]

    def to_pandas(self, rows: Any = None, cols: Any = None) -> Any:
        """The cells of these rows and columns, as of `sel`, as a DataFrame with their names.

        Where they have none, their numbers are its index and columns.
        """
        import pandas as pd

        axes = []
        for axis, part in enumerate((rows, cols)):
            what = ("row", "column")[axis]
            wanted = slice(None) if part is None else self._resolved(part, axis)
            picked = keys.pick(wanted, self.shape[axis], what)
            names = self._kept_names(what)
            labels = pd.Index(picked.of if names is None else names[picked.of])
            axes.append((Pick(picked.of), labels))
        (down, index), (across, columns) = axes
        made = pd.DataFrame(fetch.dense(self, down, across, None), index, columns, copy=False)
        made.attrs = dict(self.attrs)
        return made
