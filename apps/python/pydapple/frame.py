"""Frame: labelled columns, each of its own dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import keys
from .absent import Absent, absent_code
from .advice import FRAME, no_attribute
from .arguments import told
from .blocks import Blocks
from .errors import InvalidArgumentError, InvalidIndexError, TypeMismatchError
from .expressions import Condition
from .frame_columns import each_label, unique
from .frame_parts import FrameParts
from .meanings import Meaning
from .picture import Pictured
from .stats import Stats, of_frame


@told
class Frame(Pictured, FrameParts):
    """A frame in a file, as `pydapple.open` gives it.

    ``f["a"]`` is a column by its name in `columns`, ``f["a", 0:9]`` a part of one, ``f[0:9]`` rows
    as a structured array. Where rows have names, ``f["a", "Ann"]`` and ``f.rows["Ann"]`` know them.
    The name of one of its `groups` gives an array of two dimensions, a column for each slot.
    Everything read is a new, writable array. Any number of threads may read at once.

    A file stores numbers; `meanings` tells what those of a column stand for, and reading gives
    that: Booleans as bool, times as datetime64 and timedelta64 (UTC where there is a zone), words
    as arrays of str. A missing word is None, a missing time NaT, a missing float NaN; columns of
    integers and Booleans of which some may be missing are masked arrays (`numpy.ma`). `stored`
    gives the numbers themselves.

    ``dict(f)`` has the columns, as ``in`` and `keys` tell of them; ``len(f)`` and ``for row in f``
    are of rows, as of a structured array.

    Columns that their format can only show as text are no part of `shape`.
    """

    ndim = 2

    @property
    def dtypes(self) -> dict[str, np.dtype[Any]]:
        """The dtype of each of `columns` as it is read; `object` for words."""
        return dict(self._dtypes_by_name)

    @property
    def meanings(self) -> dict[str, Meaning]:
        """What the stored numbers of each of `columns` stand for; `frame_writer` takes them."""
        return dict(self._meanings_by_name)

    def stored(self, label: str | int, rows: Any = None) -> NDArray[Any]:
        """The numbers of a column as the file holds them: codes of words, ticks of times.

        Args:
            label: the column.
            rows: as of `read`.
        """
        part = keys.span(rows, self.shape[0], "row")
        return self._stored_cells(self.column(label), part)

    def words(self, label: str | int) -> list[str]:
        """The dictionary of a column of categories or text, in order: code k is word k - 1."""
        words = self._meanings[self.column(label)].words
        if words is None:
            raise TypeMismatchError(f"column {label!r} holds no words")
        return words.tolist()

    @property
    def nnz(self) -> int:
        """Stored values, zeros that are stored included."""
        return self._counts()["stored"]

    @property
    def blocks(self) -> Blocks:
        """The stored blocks in file order."""
        return Blocks(self)

    def keys(self) -> tuple[str, ...]:
        """The names in `columns`, so that ``dict(f)`` and ``{**f}`` have an array for each."""
        return self.columns

    def __contains__(self, label: object) -> bool:
        """Whether it is one of `columns`."""
        return isinstance(label, str) and label in self._by_name

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        """A column, a part of one, or rows as a structured array; a condition picks rows."""
        if isinstance(key, Condition):
            key = self.where(key)
        if isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], Condition):
            key = (key[0], self.where(key[1]))
        if isinstance(key, str):
            key = (key, slice(None))
        if isinstance(key, tuple) and self.row_names is None and self._are_columns(key):
            raise InvalidIndexError(f"several columns are a list: f[{list(key)}]")
        if isinstance(key, tuple) and len(key) == 2:
            if self.row_names is None and isinstance(key[1], str) and key[1] in self._by_name:
                raise InvalidIndexError(f"the column comes first: f[{key[1]!r}, {key[0]!r}]")
            key = (key[0], self._resolved(key[1], 0))
        if isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], tuple):
            raise InvalidIndexError("a frame has 2 dimensions, and rows are picked by one of them")
        if isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], str):
            return self._part(key[0], key[1])
        if isinstance(key, list) and key and all(isinstance(one, str) for one in key):
            return self._records(keys.Pick(range(self.shape[0])), key)
        if isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], list):
            rows = keys.pick(key[1], self.shape[0], "row")
            cells = self._records(rows, key[0])
            return cells[0] if rows.drop else cells
        if isinstance(key, tuple):
            raise InvalidIndexError('a frame is indexed as f["a"], f["a", 0:9] or f[0:9]')
        rows = keys.pick(key, self.shape[0], "row")
        cells = self._records(rows, None)
        return cells[0] if rows.drop else cells

    def _are_columns(self, key: tuple[Any, ...]) -> bool:
        return len(key) > 1 and all(isinstance(one, str) and one in self._by_name for one in key)

    def read(
        self,
        rows: Any = None,
        columns: str | Sequence[str | int] | None = None,
        *,
        absent: Absent = "error",
        threads: int | None = 1,
    ) -> dict[str, NDArray[Any]]:
        """Copy rows of some columns, or of all.

        Args:
            rows: a slice, whose ends may count from the end, a range or a pair (begin, end); not
                clipped; all of them if not given.
            columns: one of `columns`, or several, or numbers as of `column`.
            absent: whether cells that no block covers are an error, zero, or NaN (floats only).
            threads: blocks decoded at once; 0: one for each processor.

        Returns:
            The arrays by their names in `columns`, as ``f[name]`` gives them; of columns that are
            picked by number, by label, and ``label.1`` and so on where that is there twice.
        """
        part = keys.span(rows, self.shape[0], "row")
        if columns is None:
            wanted = self._named()
        else:
            wanted = unique([self._place(label) for label in each_label(columns)])
        stored = self._stored_columns(wanted, part, absent_code(absent), threads)
        return {
            name: self._cells(where, keys.Pick(part))
            if cells is None
            else self._meanings[where].to_numpy(cells)
            for (name, where), cells in zip(wanted, stored, strict=True)
        }

    def stats(self, *, absent: Absent = "error", threads: int | None = 1) -> dict[str, Stats]:
        """Statistics of each of `columns` that is no text column; see `Matrix.stats`.

        Missing cells count as `nans`. Of Booleans the mean is the share of True. Of times only
        `count`, `nnz`, `nans`, `min`, `max` and `mean`, the last rounded to a tick, mean something;
        of words `count`, `nnz` and `nans`; all else is None.

        Args:
            absent: whether cells that no block covers are an error, or zero.
            threads: 0: one for each processor.
        """
        return of_frame(self, absent, threads)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise InvalidArgumentError("an array of a frame is always a copy")
        cells = self._records(keys.Pick(range(self.shape[0])), None)
        if isinstance(cells, np.ma.MaskedArray) and np.any(cells.mask.view(bool)):
            raise InvalidArgumentError(
                "a plain array cannot tell missing cells; f[:] gives a masked one"
            )
        cells = np.ma.getdata(cells)
        return cells if dtype is None else cells.astype(dtype)

    def to_dask(self, rows: int | None = None, columns: Sequence[str] | None = None) -> Any:
        """A Dask DataFrame of partitions of rows, whose tasks carry the file's path, not its bytes.

        Its divisions are the numbers of rows, or unknown where the frame has an index or names of
        rows; a query reads the columns that it needs.

        Args:
            rows: of a partition, one or more; if not given, whole tiles of about 64 MiB.
            columns: some of `columns`.
        """
        from .dask_frames import from_frame

        return from_frame(self, rows, columns)

    def __getattr__(self, name: str) -> Any:
        known = () if name.startswith("_") else self.columns
        raise no_attribute("a pydapple.Frame", name, FRAME, known, self)

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name != "path":
            raise AttributeError(f"{name!r} cannot be set: a frame in a file is only read")
        object.__setattr__(self, name, value)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.columns)

    def __repr__(self) -> str:
        if self.closed:
            return f"<pydapple.Frame {self.path!r}, closed>"
        from .summary import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from .notebook import frame_html

        return frame_html(self)

    def __enter__(self) -> Frame:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
