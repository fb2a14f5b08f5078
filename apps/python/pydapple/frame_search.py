"""The rows of a frame that meet a condition on its columns."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from .absent import Absent, absent_code
from .arguments import told
from .errors import InvalidArgumentError, TypeMismatchError, shown
from .expressions import ColumnNames, Condition, column_name, from_options
from .frame_columns import FrameColumns
from .search import Verdict, column_condition

Wanted = Condition | str | int


@told
class SearchedFrame(FrameColumns):
    """What a `Frame` finds its rows with."""

    @property
    def c(self) -> ColumnNames:
        """The columns, to compare in conditions: ``(f.c.age > 30) & f.c.city.isin(["Oslo"])``."""
        return ColumnNames(self)

    def where(
        self, wanted: Wanted, *, nonzero: bool = False, absent: Absent = "error", **condition: Any
    ) -> NDArray[np.int64]:
        """Find the rows that meet a condition: ``f.where((f.c.age > 30) & (f.c.city == "Oslo"))``.

        A missing cell meets no test but `is_missing`, and makes every other one neither true nor
        false, as in SQL: neither ``f.c.age > 30`` nor ``~(f.c.age > 30)`` finds it. NaN is a value
        that no bound includes. Words are compared once, as the dictionary has them, not row by row.
        Blocks whose statistics decide the condition are not read.

        Args:
            wanted: a condition made of `c`; the same as text, ``'age > 30 and city in ("Oslo",
                "Bergen")'``, as ``dapple where`` takes it; or a column, and its condition by
                keyword.
            nonzero: only cells that are not zero; for columns of numbers.
            absent: whether cells that no block covers are an error, or zero.
            condition: of a single column one of ``above=x``, ``at_least=x``, ``below=x``,
                ``at_most=x``, ``equal=x``, ``between=(low, high)`` (both included), ``nan=True``
                and ``missing=True``. Bounds are such as the column holds: numbers; words as str, of
                which those of an unordered category are only equal or not; dates and times of
                Python, NumPy or pandas, or in ISO 8601; timedeltas; True and False. Times without
                a zone are UTC where the column has a zone.

        Returns:
            The numbers of the rows, in ascending order. O(rows + words).
        """
        found: NDArray[np.int64] = self._find("numbers", wanted, condition, nonzero, absent, 1)
        return found

    def count_where(
        self, wanted: Wanted, *, nonzero: bool = False, absent: Absent = "error",
        threads: int | None = 1, **condition: Any,
    ) -> int:  # fmt: skip
        """How many rows meet a condition; arguments as of `where`."""
        return int(self._find("count", wanted, condition, nonzero, absent, threads))

    def rows_where(
        self, wanted: Wanted, *, nonzero: bool = False, absent: Absent = "error",
        threads: int | None = 1, **condition: Any,
    ) -> NDArray[np.bool_]:  # fmt: skip
        """For each row whether it meets a condition: ``f[f.rows_where("age", above=30)]``."""
        found: NDArray[Any] = self._find("rows", wanted, condition, nonzero, absent, threads)
        return found.view(np.bool_)

    def explain_where(
        self, wanted: Wanted, *, nonzero: bool = False, absent: Absent = "error", **condition: Any
    ) -> list[Verdict]:
        """What `where` would do with each block of the columns tested, without reading a cell.

        Returns:
            A pair (pos, skipped) for each block. `skipped` is None where it would be read, else
            ``"empty"``, ``"value_type"`` (it has no such value) or ``"statistics"``.
        """
        text = self._condition(wanted, condition)
        verdicts = _core.explain_rows(self, text, self._others, absent_code(absent), nonzero)
        return [Verdict(*one) for one in verdicts]

    def _find(
        self, what: str, wanted: Wanted, condition: dict[str, Any], nonzero: bool,
        absent: Absent, threads: int | None,
    ) -> Any:  # fmt: skip
        text = self._condition(wanted, condition)
        code = absent_code(absent)
        return _core.find_rows(self, what, text, self._others, code, nonzero, threads)

    @cached_property
    def _others(self) -> dict[bytes, int]:
        """The numbers of columns that have another name than their label."""
        named = zip(self._named(), self._order(), strict=True)
        others = {name: k for (name, k), (label, _) in named if name != label and k >= 0}
        return {name.encode("utf-8", "surrogateescape"): k for name, k in others.items()}

    def _condition(self, wanted: Wanted, condition: dict[str, Any]) -> bytes:
        """The text of a condition, as the library reads it."""
        if not isinstance(wanted, (Condition, str, int, np.integer)):
            raise TypeMismatchError(
                "rows are found by a condition such as f.c.age > 30, its text, or the label of a "
                f"column and above=30 or the like, not by {shown(wanted)}"
            )
        if isinstance(wanted, Condition) or (isinstance(wanted, str) and not condition):
            if condition:
                raise TypeMismatchError("keywords are for a single column, named by its label")
            if isinstance(wanted, str) and wanted in self._by_name:
                column_condition({}, "number")  # says which keywords there are
            text = str(wanted)
        else:
            kind = self._meanings[self.column(wanted)].kind
            text = str(from_options(column_name(self, wanted), condition, kind))
        try:
            return text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise InvalidArgumentError(f"the condition {text!r} is no Unicode text") from None
