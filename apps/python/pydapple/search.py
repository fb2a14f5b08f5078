"""Conditions on values, and the cells that meet them."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core, times
from .absent import Absent, absent_code
from .arguments import told
from .errors import InvalidArgumentError, TypeMismatchError, shown

_CONDITIONS = {"above", "at_least", "below", "at_most", "equal", "between", "nan"}


class Hits(NamedTuple):
    """What `Matrix.where` finds: one entry of each array for a cell."""

    rows: NDArray[np.int64]
    cols: NDArray[np.int64]
    values: NDArray[Any]


class Verdict(NamedTuple):
    """What a search does with a block; see `Matrix.explain_where`."""

    pos: tuple[int, int]
    skipped: str | None


@told
class Searched(_core.Matrix):
    """What a `Matrix` finds its cells by value with."""

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


def one_condition(condition: dict[str, Any]) -> tuple[str, Any, Any]:
    """The name and the bounds (low, high) of a condition as `Matrix.where` takes it."""
    return _one(condition, _CONDITIONS, _number, "number")


def column_condition(condition: dict[str, Any], kind: str) -> tuple[str, Any, Any]:
    """The same as `Frame.where` takes it for a column of this kind; times and so on as text."""

    def bound(value: Any) -> Any:
        return (
            _number(value) if kind == "number" and not isinstance(value, str) else value_text(value)
        )

    return _one(condition, _CONDITIONS | {"missing"}, bound, "value such as the column holds")


def _one(
    condition: dict[str, Any], names: set[str], convert: Callable[[Any], Any], wanted: str
) -> tuple[str, Any, Any]:
    if len(condition) != 1 or not condition.keys() <= names:
        raise TypeMismatchError(
            f"one condition is needed out of {', '.join(sorted(names))}; "
            f"given: {', '.join(condition) or 'none'}"
        )
    ((name, bound),) = condition.items()
    if name in ("nan", "missing"):
        if bound is not True:
            raise InvalidArgumentError(f"{name}=True is the only condition called {name}")
        return name, bound, bound
    try:
        low, high = bound if name == "between" else (bound, bound)
        low, high = convert(low), convert(high)
        if isinstance(low, str) is not isinstance(high, str):
            raise TypeError
    except (TypeError, ValueError):
        many = f"two of them (low, high), each a {wanted}" if name == "between" else f"a {wanted}"
        raise TypeMismatchError(f"{name} takes {many}, not {shown(bound)}") from None
    return (name, low, high) if isinstance(low, str) else nearest_bounds(name, low, high)


def _number(value: Any) -> int | float:
    number = value.item() if isinstance(value, np.generic) else value
    if not isinstance(number, (int, float)) or isinstance(value, np.timedelta64):
        raise TypeError
    return number


def value_text(value: Any) -> Any:
    """A word, a time, a duration or a truth value as the library reads it."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, dt.timedelta) and not hasattr(value, "to_timedelta64"):
        return _duration(value // dt.timedelta(microseconds=1) * 1000)
    if isinstance(value, (np.timedelta64, dt.timedelta)):
        return _duration(times.nanoseconds(times.of_object(value)))
    if isinstance(value, np.datetime64):
        return _iso(str(times.in_unit(value.reshape(1), times.stored_unit(value.dtype))[0]))
    if isinstance(value, dt.date):
        return _iso(_to_the_minute(value).isoformat())
    return value if isinstance(value, str) else _number(value)


def _to_the_minute(value: dt.date) -> dt.date:
    """The same time with an offset in minutes: those of local mean times, before 1900, are not."""
    if not isinstance(value, dt.datetime):
        return value
    offset = value.utcoffset()
    whole = offset is None or not offset % dt.timedelta(minutes=1)
    return value if whole else value.astimezone(dt.timezone.utc)


def _iso(text: str) -> str:
    """Times of NumPy and pandas as ISO 8601: years of more than four digits have a sign."""
    year, dash, rest = text.lstrip("-").partition("-")
    sign = "-" if text.startswith("-") else "+" if len(year) > 4 else ""
    return f"{sign}{year:0>4}{dash}{rest}"


def _duration(nanoseconds: int) -> str:
    seconds, rest = divmod(abs(nanoseconds), 10**9)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{'-' if nanoseconds < 0 else ''}{text}" + (f".{rest:09}" if rest else "")


def nearest_bounds(name: str, low: Any, high: Any) -> tuple[str, Any, Any]:
    """The same condition with integers of more than 64 bits, which few doubles are, as doubles."""
    if name == "equal" and _nearest(low, math.inf) != low:
        name, low, high = "between", math.inf, -math.inf  # no cell has that value
    elif name == "between":
        low, high = _nearest(low, math.inf), _nearest(high, -math.inf)
    else:
        low = high = _nearest(low, math.inf if name in ("below", "at_least") else -math.inf)
    return name, low, high


def _nearest(bound: Any, towards: float) -> Any:
    """The bound itself, or the double next to it in that direction."""
    if isinstance(bound, float) or -(1 << 63) <= bound < 1 << 64:
        return bound
    try:
        near = float(bound)
    except OverflowError:
        near = math.inf if bound > 0 else -math.inf
    passed = near >= bound if towards > 0 else near <= bound
    return near if passed else math.nextafter(near, towards)
