"""Conditions on the columns of a frame: ``(f.c.age > 30) & f.c.city.isin(["Oslo", "Bergen"])``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .advice import CONDITION, no_attribute
from .arguments import told
from .errors import AbsentError, InvalidArgumentError, TypeMismatchError, shown
from .search import value_text

if TYPE_CHECKING:
    from .frame_columns import FrameColumns

_BEYOND_DOUBLES = 10**400  # no cell is between this and what is beyond it
_DEEPEST = 100  # what the library's parser takes at least

_SIGNS = {"above": ">", "at_least": ">=", "below": "<", "at_most": "<=", "equal": "=="}


class Condition:
    """A condition on rows: what `Frame.where` and ``f.to_pandas(rows=...)`` take.

    Put together by ``&``, ``|`` and ``~``, with each comparison in parentheses. As text, `str`
    gives what ``dapple where`` takes.
    """

    __slots__ = ("_depth", "_joint", "_parts")

    def __init__(self, *parts: Condition | str, joint: str = "") -> None:
        self._parts = parts  # of a chain by one word any of them, see `_side_by_side`
        self._joint = joint  # "and", "or", "not", or none of a single test
        chained = joint if joint in ("and", "or") else None
        self._depth: int = 1 + max(
            part._depth - (part._joint == chained) if isinstance(part, Condition) else 0
            for part in parts
        )
        if self._depth > _DEEPEST:
            raise InvalidArgumentError(
                f"this condition is nested more than {_DEEPEST} levels deep; isin tests many values"
            )

    def _joined(self, other: Any, joint: str) -> Condition:
        if not isinstance(other, Condition):
            raise TypeMismatchError(
                f"a condition is joined to another one, not to {shown(other)}; comparisons need "
                "parentheses: (f.c.a > 1) & (f.c.b < 2)"
            )
        return Condition(self, other, joint=joint)

    def _side_by_side(self) -> list[Condition | str]:
        """What the word joins, however many there are and in whatever order they were joined."""
        found: list[Condition | str] = []
        left: list[Condition | str] = [*reversed(self._parts)]
        while left:
            one = left.pop()
            if isinstance(one, Condition) and one._joint == self._joint:
                left.extend(reversed(one._parts))
            else:
                found.append(one)
        return found

    def __reduce__(self) -> Any:
        parts = self._side_by_side() if self._joint in ("and", "or") else self._parts
        return partial(Condition, joint=self._joint), tuple(parts)

    def __and__(self, other: Any) -> Condition:
        return self._joined(other, "and")

    def __or__(self, other: Any) -> Condition:
        return self._joined(other, "or")

    __rand__, __ror__ = __and__, __or__

    def __invert__(self) -> Condition:
        if self._joint == "not" and isinstance(self._parts[0], Condition):
            return self._parts[0]
        return Condition(self, joint="not")

    def __bool__(self) -> bool:
        raise InvalidArgumentError(
            "a condition on rows is neither true nor false: put conditions together by &, | and ~, "
            "not by and, or, not, or a chain such as 1 < f.c.a < 3"
        )

    def __str__(self) -> str:
        if self._joint == "not":
            return f"not ({self._parts[0]})"
        if not self._joint:
            return str(self._parts[0])
        parts = [
            f"({part})" if isinstance(part, Condition) and part._joint in ("and", "or") else part
            for part in self._side_by_side()
        ]
        return f" {self._joint} ".join(map(str, parts))

    def __repr__(self) -> str:
        return f"<pydapple.Condition {self}>"


@told
class ColumnName:
    """A column in a condition: compared with ``<``, ``<=``, ``>``, ``>=``, ``==`` and ``!=``.

    A missing cell meets none of these, and no ``~`` of them, but `is_missing`.
    """

    __slots__ = ("_name",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str) -> None:
        self._name = name

    def __lt__(self, value: Any) -> Condition:
        return compared(self._name, "below", value)

    def __le__(self, value: Any) -> Condition:
        return compared(self._name, "at_most", value)

    def __gt__(self, value: Any) -> Condition:
        return compared(self._name, "above", value)

    def __ge__(self, value: Any) -> Condition:
        return compared(self._name, "at_least", value)

    def __eq__(self, value: Any) -> Condition:  # type: ignore[override]
        return compared(self._name, "equal", value)

    def __ne__(self, value: Any) -> Condition:  # type: ignore[override]
        return ~compared(self._name, "equal", value)

    def between(self, low: Any, high: Any) -> Condition:
        """From `low` to `high`, both included."""
        made: Condition = (self >= low) & (self <= high)
        return made

    def isin(self, values: Iterable[Any]) -> Condition:
        """Equal to one of some values."""
        if isinstance(values, (str, bytes)):
            raise TypeMismatchError(f"isin takes a list of values, not {shown(values)}")
        try:
            listed = [_literal(value) for value in values]
        except TypeError as error:
            if isinstance(error, TypeMismatchError):
                raise
            raise TypeMismatchError(f"isin takes a list of values, not {shown(values)}") from None
        found = ", ".join(text for text in listed if text != "nan")  # which no cell is equal to
        return Condition(f"{self._name} in ({found})")

    def startswith(self, prefix: str) -> Condition:
        """Words that start with this."""
        if not isinstance(prefix, str):
            raise TypeMismatchError(f"words start with a str, not {shown(prefix)}")
        return Condition(f"{self._name} prefix {_quoted(prefix)}")

    def is_missing(self) -> Condition:
        """Missing cells."""
        return Condition(f"{self._name} missing")

    def is_nan(self) -> Condition:
        """NaN, which no comparison but ``!=`` finds."""
        return Condition(f"{self._name} nan")

    def _calculated(self, *_: Any) -> NoReturn:
        raise TypeMismatchError(
            f"column {self._name} is compared in a condition (> 30, == True), and not calculated "
            "with or joined by itself; pydapple.scan(f) of polars has all else"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _calculated
    __rtruediv__ = __floordiv__ = __mod__ = __pow__ = __neg__ = __abs__ = _calculated
    __and__ = __rand__ = __or__ = __ror__ = __invert__ = _calculated

    def __getattr__(self, name: str) -> NoReturn:
        raise no_attribute("a column of a condition", name, CONDITION, of=self)

    def __repr__(self) -> str:
        return f"<column {self._name} of a condition>"


class ColumnNames:
    """The columns of a frame, to compare: ``f.c.age > 30``, ``f.c["first name"] == "Ann"``."""

    def __init__(self, frame: FrameColumns) -> None:
        self._frame = frame

    def __getitem__(self, label: str | int) -> ColumnName:
        return ColumnName(column_name(self._frame, label))

    def __getattr__(self, label: str) -> ColumnName:
        if label.startswith("__"):
            raise AttributeError(label)
        try:
            return self[label]
        except AbsentError as error:
            raise AttributeError(str(error)) from error

    def __dir__(self) -> list[str]:
        return [label for label in self._frame.columns if label.isidentifier()]

    def __iter__(self) -> Iterator[ColumnName]:
        return (self[label] for label in self._frame.columns)

    _ipython_key_completions_ = __dir__


def column_name(frame: FrameColumns, label: str | int) -> str:
    """A column as text of a condition names it."""
    number = frame.column(label)
    told = frame._by_name.get(frame._labels[number]) == number  # the only one, or the first
    return f"`{frame._labels[number].replace('`', '``')}`" if told else f"#{number}"


def compared(name: str, how: str, value: Any) -> Condition:
    """A comparison of a column, as text names it."""
    literal = _literal(value)
    if literal == "nan":  # which no cell is equal to, above or below
        return Condition(f"{name} > inf")
    return Condition(f"{name} {_SIGNS[how]} {literal}")


def _literal(value: Any) -> str:
    """A value as text of a condition has it; "nan", which that has not, for NaN."""
    if value is None or _is_missing(value):
        raise TypeMismatchError(
            f"no cell is compared with {shown(value)}: is_missing() finds missing cells"
        )
    try:
        given = value_text(value)
    except (TypeError, ValueError):
        raise TypeMismatchError(
            "a column is compared with numbers, words, times and truth values, not with "
            f"{shown(value)}"
        ) from None
    if isinstance(given, str):
        return _quoted(given)
    if isinstance(given, int):  # Python prints no integer of some thousand digits
        given = max(-_BEYOND_DOUBLES, min(given, _BEYOND_DOUBLES))
    return repr(given)


def _is_missing(value: Any) -> bool:
    """Whether it is NaT, or NA of pandas."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return type(value).__name__ in ("NaTType", "NAType")


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def from_options(name: str, condition: dict[str, Any], kind: str) -> Condition:
    """The condition of `Frame.where` with one keyword, such as ``above=30``."""
    from .search import column_condition

    how, low, high = column_condition(condition, kind)
    if how in ("nan", "missing"):
        return Condition(f"{name} {how}")
    if how != "between":
        return compared(name, how, low)
    return compared(name, "at_least", low) & compared(name, "at_most", high)
