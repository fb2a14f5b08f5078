"""Parts of a frame as tables of other libraries: rows and columns picked, types kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core, keys, pandas_index, times
from .absent import Absent, absent_code
from .arguments import told
from .arrays import new_array
from .arrow_stream import LabelledStream
from .attributes import Attributes, metadata_of
from .errors import InvalidArgumentError, TypeMismatchError
from .expressions import Condition
from .frame_columns import each_label, unique
from .frame_search import SearchedFrame

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Columns = str | Sequence[str | int] | None


@told
class FrameParts(SearchedFrame):
    """What a `Frame` gives to pandas, polars and Arrow."""

    def to_pandas(
        self, rows: Any = None, columns: Columns = None, *, threads: int | None = 1
    ) -> pd.DataFrame:
        """All of it, or some rows and columns, as a pandas DataFrame.

        Categories become Categorical, times datetime64 and timedelta64 with their zones, text str;
        Booleans and numbers of which some may be missing pandas' nullable dtypes. Columns have
        their `labels`, of which some may repeat. O(cells).

        Args:
            rows: a slice, whose step may be any, an array of row numbers or Booleans, or a
                condition as of `where`. The index is the one that the frame was written with, the
                names of the rows, or else their numbers.
            columns: one of `columns`, or several, or numbers as of `column`; the index is there in
                any case.
            threads: blocks decoded at once; 0: one for each processor.
        """
        import pandas as pd

        picked, wanted = self._picked_rows(rows), self._picked(columns)
        wanted += [
            (label, self._where(label))
            for label in self._index_labels()
            if all(where != self._where(label) for _, where in wanted)
        ]
        stored = self._stored_rows(wanted, picked, threads)
        made = pd.DataFrame(
            {
                k: self._meanings[where].to_pandas(cells)
                if cells is not None
                else self._cells(where, picked)
                for k, ((_, where), cells) in enumerate(zip(wanted, stored, strict=True))
            },
            index=pd.Index(picked.of) if len(picked) or not wanted else None,
            copy=False,
        )
        labels = [self._label(where) for _, where in wanted]
        made.attrs = dict(self.attrs)
        try:
            made.columns = pd.Index(labels)
        except UnicodeEncodeError:  # pandas' own strings have no place for what is not UTF-8
            made.columns = pd.Index(labels, dtype=object)
        return pandas_index.restored(made, self.attrs, self.row_names, picked.of)

    def _index_labels(self) -> list[str]:
        """The columns that `to_pandas` makes the index."""
        if self.row_names is not None:
            return []
        return pandas_index.labels(self.attrs, self.labels)

    def to_polars(self, rows: Any = None, columns: Columns = None) -> pl.DataFrame:
        """All of it, or some rows and columns, as a polars DataFrame; arguments as of `to_pandas`.

        Columns have the names that `columns` has. Ordered categories are polars' `Enum`, others
        `Categorical`. Times of a zone that is a fixed offset come in UTC, since polars knows zones
        by name only.
        """
        import polars as pl

        wanted = self._picked(columns)
        names = [name for name, _ in wanted]
        for name, where in wanted:
            if where >= 0:
                self._meanings[where].require_zone_of_polars()
                self._require_room_in_polars(name, where, rows)
        with self._stream(rows, columns, names, named_zones=True).raising() as stream:
            made = pl.DataFrame(stream)
        ordered: dict[str, Any] = {}
        for column, (_, where) in zip(made.columns, wanted, strict=True):
            words = self._meanings[where].words if where >= 0 else None
            if words is not None and self._meanings[where].ordered:
                ordered[column] = pl.Enum(words.tolist())
        return made.cast(ordered) if ordered else made

    def _require_room_in_polars(self, name: str, where: int, rows: Any) -> None:
        """Raise TypeMismatchError for seconds that polars, which has none, would wrap around."""
        meaning = self._meanings[where]
        if not (meaning.unit == "s" if meaning.kind == "timestamp" else
                meaning.kind == "duration" and meaning.unit in ("s", "D")):  # fmt: skip
            return
        (stored,) = self._stored_rows([(name, where)], self._picked_rows(rows), 1)
        assert stored is not None
        try:
            times.in_unit(meaning.to_numpy(stored), "ms")
        except TypeMismatchError as error:
            raise TypeMismatchError(
                f"column {name!r} does not fit polars, which has no seconds: {error}"
            ) from None

    def to_arrow(self, rows: Any = None, columns: Columns = None) -> pa.Table:
        """All of it, or some rows and columns, as a pyarrow Table, in batches of 65536 rows.

        Categories become dictionaries, times timestamps, dates and durations; missing cells null.
        `pyarrow.RecordBatchReader.from_stream(f)` gives one batch after the other. Arguments as of
        `to_pandas`.
        """
        import pyarrow as pa

        with self._stream(rows, columns).raising() as stream:
            return pa.table(stream)

    def _named_arrow(self, rows: slice) -> pa.Table:
        """Under the names in `columns`, for libraries that know no two columns by one label."""
        import pyarrow as pa

        with self._stream(rows, None, self.columns).raising() as stream:
            return pa.table(stream)

    def head(self, rows: int = 5) -> pd.DataFrame:
        """The first rows, as `to_pandas` gives them; all but the last `-rows` if it is negative."""
        return self.to_pandas(slice(None, keys.whole(rows)))

    def tail(self, rows: int = 5) -> pd.DataFrame:
        """The last rows, as `to_pandas` gives them; all but the first `-rows` if it is negative."""
        count = keys.whole(rows)
        return self.to_pandas(slice(max(0, self.shape[0] - count) if count >= 0 else -count, None))

    def sample(self, rows: int = 5, *, seed: int | None = None) -> pd.DataFrame:
        """Random rows, each at most once, in their order, as `to_pandas` gives them."""
        if keys.whole(rows) < 0:
            raise InvalidArgumentError(f"a sample has zero rows or more, not {rows}")
        count = min(keys.whole(rows), self.shape[0])
        picked = np.random.default_rng(seed).choice(self.shape[0], count, replace=False)
        return self.to_pandas(np.sort(picked))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        columns = None
        if requested_schema is not None:
            names = _core.schema_names(requested_schema)
            columns = names if all(name in self._by_name for name in names) else None
        return self._stream(None, columns).__arrow_c_stream__()

    def _stream(
        self, rows: Any, columns: Columns, names: Sequence[str] | None = None, *,
        named_zones: bool = False, attrs: Attributes | None = None, absent: Absent = "error",
    ) -> LabelledStream:  # fmt: skip
        """Rows and columns as a stream of Arrow record batches; under their labels, or `names`."""
        places = None
        labels = self.labels
        if columns is not None:
            order = {where: place for place, (_, where) in enumerate(self._order())}
            places = [order[where] for _, where in self._picked(columns)]
            labels = tuple(labels[place] for place in places)
        picked = self._picked_rows(rows)
        straight = picked.forward()
        part: Any = picked.positions() if straight is None or straight[1] else (
            straight[0].start, straight[0].stop
        )  # fmt: skip
        metadata = metadata_of(self.attrs if attrs is None else attrs, labels)
        code = absent_code(absent)
        return LabelledStream(self, names, places, part, named_zones, metadata, code)

    def _picked(self, columns: Columns) -> list[tuple[str, int]]:
        """Names and numbers of some columns, or of all."""
        if columns is None:
            return self._named()
        return unique([self._place(label) for label in each_label(columns)])

    def _picked_rows(self, rows: Any) -> keys.Pick:
        if isinstance(rows, (Condition, str)):
            rows = self.where(rows)
        return keys.Pick(keys.pick(slice(None) if rows is None else rows, self.shape[0], "row").of)

    def _label(self, where: int) -> str:
        return self._labels[where] if where >= 0 else self._texts()[-1 - where][0]

    def _stored_rows(
        self, wanted: Sequence[tuple[str, int]], rows: keys.Pick, threads: int | None
    ) -> list[NDArray[Any] | None]:
        """What the file holds of columns in these rows; None for those that it only shows."""
        straight = rows.forward()
        if straight is not None:
            read = self._stored_columns(wanted, straight[0], False, threads)
            if not straight[1]:
                return read
            return [None if cells is None else cells[::-1].copy() for cells in read]
        made = [
            None if where < 0 else new_array(len(rows), self._dtypes[where]) for _, where in wanted
        ]
        numbers = [where for _, where in wanted if where >= 0]
        arrays = [cells for cells in made if cells is not None]
        self._take_columns(rows.positions(), numbers, arrays, False, threads)
        return made
