"""What polars filters by, as conditions of a frame."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import Error
from .expressions import ColumnName, Condition, column_name, compared
from .frame import Frame

if TYPE_CHECKING:
    import polars as pl

_TURNED = {"Gt": "Lt", "GtEq": "LtEq", "Lt": "Gt", "LtEq": "GtEq", "Eq": "Eq"}
_BOUNDS = {"Gt": "above", "GtEq": "at_least", "Lt": "below", "LtEq": "at_most", "Eq": "equal"}
_UNITS: dict[str, Any] = {"Nanoseconds": "ns", "Microseconds": "us", "Milliseconds": "ms"}
_COARSEST = np.timedelta64(1, "ms")  # of the units in which polars compares times
_MANY = 50  # values that are looked for one by one, and more as all that is between them


def wider(frame: Frame, predicate: pl.Expr) -> Condition | None:
    """A condition that holds wherever the predicate does; None where that is not known.

    polars filters what is found once more, so what is not understood here is only slower.
    """
    return _known(frame, json.loads(predicate.meta.serialize(format="json")))


def _known(frame: Frame, tree: Any) -> Condition | None:
    """The same of a part of a predicate, of which the rest may be known even so."""
    try:
        return _of_tree(frame, tree)
    except (Error, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None


def _of_tree(frame: Frame, tree: Any) -> Condition | None:
    if "BinaryExpr" in tree:
        binary = tree["BinaryExpr"]
        return _of_operator(frame, binary["left"], binary["op"], binary["right"])
    if "Column" in tree:
        return _of_truth(frame, tree, True)
    call = tree["Function"]
    (kind, what), given = next(iter(call["function"].items())), call["input"]
    if kind == "Boolean" and what == "Not":
        return _of_truth(frame, given[0], False)
    if kind == "Boolean" and "IsBetween" in what:  # ends that are left out do no harm
        column, low, high = given
        return _both(_of_operator(frame, column, "GtEq", low),
                     _of_operator(frame, column, "LtEq", high))  # fmt: skip
    if kind == "Boolean" and "IsIn" in what and not what["IsIn"]["nulls_equal"]:
        return _of_list(frame, given[0], given[1]["Literal"]["Scalar"]["List"])
    if kind == "StringExpr" and what == "StartsWith":
        name, meaning, _ = _column(frame, given[0])
        prefix = _value(given[1])
        if meaning == "text" and isinstance(prefix, str) and prefix.isascii():
            return ColumnName(name).startswith(prefix)
    return None


def _of_operator(frame: Frame, left: Any, op: str, right: Any) -> Condition | None:
    if op in ("And", "LogicalAnd"):
        return _both(_known(frame, left), _known(frame, right))
    if op in ("Or", "LogicalOr"):
        one, other = _known(frame, left), _known(frame, right)
        return None if one is None or other is None else one | other
    if "Literal" in left:
        left, op, right = right, _TURNED[op], left
    return _compared(frame, left, op, _value(right)) if op in _TURNED else None


def _both(one: Condition | None, other: Condition | None) -> Condition | None:
    sides = [side for side in (one, other) if side is not None]
    return sides[0] & sides[1] if len(sides) == 2 else next(iter(sides), None)


def _column(frame: Frame, tree: Any) -> tuple[str, str, np.dtype[Any]]:
    """How conditions name a column, what its cells mean, and the dtype of those stored."""
    where = frame._where(tree["Column"])
    if where < 0:
        raise KeyError(tree["Column"])
    return column_name(frame, tree["Column"]), frame._meanings[where].kind, frame._dtypes[where]


def _of_truth(frame: Frame, tree: Any, value: bool) -> Condition | None:
    name, kind, _ = _column(frame, tree)
    return compared(name, "equal", value) if kind == "boolean" else None


def _compared(frame: Frame, tree: Any, op: str, value: Any) -> Condition | None:
    name, kind, dtype = _column(frame, tree)
    if isinstance(value, str):
        return _of_words(name, kind, op, value)
    if isinstance(value, (np.datetime64, np.timedelta64)):
        wanted = "timestamp" if isinstance(value, np.datetime64) else "duration"
        return _of_times(name, op, value) if kind == wanted else None
    if value is None or kind != "number":
        return None
    return _of_numbers(name, dtype, op, value)


def _of_list(frame: Frame, column: Any, stream: list[int]) -> Condition | None:
    """``is_in``, whose values come as a stream of Arrow; NULL among them finds nothing."""
    import polars

    listed = polars.read_ipc_stream(bytes(stream)).to_series().drop_nulls().unique().sort()
    times = listed.dtype.is_temporal()
    values = [_time(one) for one in listed.to_numpy()] if times else listed.to_list()
    if len(values) > _MANY and not isinstance(values[0], str):
        return _both(_compared(frame, column, "GtEq", values[0]),
                     _compared(frame, column, "LtEq", values[-1]))  # fmt: skip
    name, _, dtype = _column(frame, column)
    found = [_compared(frame, column, "Eq", value) for value in values]
    parts = [one for one in found if one is not None]
    if not values or len(parts) < len(values):
        return None
    if isinstance(values[0], str) or (isinstance(values[0], int) and dtype.kind != "f"):
        return ColumnName(name).isin(values)  # which are compared as they are
    return Condition(*parts, joint="or")


def _of_words(name: str, kind: str, op: str, value: str) -> Condition | None:
    """A comparison of text, or of a category with a word that it is equal to.

    polars sees U+FFFD where the file's bytes are not UTF-8, so what might tell these apart is left
    to it.
    """
    told = value.isascii() or (op == "Eq" and "\ufffd" not in value)
    if not told or not (kind == "text" or (kind == "category" and op == "Eq")):
        return None
    return compared(name, _BOUNDS[op], value)


def _of_times(name: str, op: str, value: np.datetime64 | np.timedelta64) -> Condition:
    """A little more than is asked for: polars rounds to the coarser unit of the two."""
    return _between(name, op, value - _COARSEST, value + _COARSEST)


def _of_numbers(name: str, dtype: np.dtype[Any], op: str, value: float) -> Condition:
    floats = dtype.kind == "f"
    low: float = value
    high: float = value
    if floats or isinstance(value, float):
        low, high = _around(value)
    wanted = _between(name, op, low, high)
    if floats:  # polars has NaN above all numbers
        wanted = wanted | Condition(f"{name} nan")
    return wanted


def _between(name: str, op: str, low: Any, high: Any) -> Condition:
    """A comparison with what is somewhere between the two."""
    above, below = compared(name, "at_least", low), compared(name, "at_most", high)
    if op == "Eq":
        return above & below
    return above if op in ("Gt", "GtEq") else below


def _around(value: float) -> tuple[float, float]:
    """Numbers between which is all that polars finds equal to this one, also as a float32.

    It rounds to the type that column and literal have in common, where `Frame.where` is exact.
    """
    with np.errstate(over="ignore", under="ignore"):
        near = np.float32(value)
        low, high = np.nextafter(near, [-np.inf, np.inf], dtype=np.float32).tolist()
    return low, high


def _value(tree: Any) -> Any:
    """The number, text or time of a literal; None of others."""
    value, kind = tree["Literal"], ""
    while isinstance(value, dict) and len(value) == 1:
        ((kind, value),) = value.items()
    if kind in _TIMES:
        return _time(_TIMES[kind](value))
    if isinstance(value, str):
        return value if kind in ("String", "Str") else None
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if known else None


_TIMES: dict[str, Callable[[Any], np.datetime64 | np.timedelta64]] = {
    "Date": lambda days: np.datetime64(days, "D"),
    "Datetime": lambda given: np.datetime64(given[0], _UNITS[given[1]]),  # in UTC, if in a zone
    "Duration": lambda given: np.timedelta64(given[0], _UNITS[given[1]]),
}


def _time(value: np.datetime64 | np.timedelta64) -> np.datetime64 | np.timedelta64:
    """The time, if those around it can be told, too."""
    if abs(int(value.astype("i8"))) > 2**61:
        raise OverflowError
    return value
