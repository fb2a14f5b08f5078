"""A frame as a polars LazyFrame that reads only the columns, rows and blocks that are needed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .arguments import told
from .errors import Error, TypeMismatchError, UnsupportedError
from .expressions import Condition, column_name, compared
from .files import open
from .frame import Frame
from .matrix import Matrix
from .reports import Path

if TYPE_CHECKING:
    import polars as pl

_POLARS = (1, 33)  # older ones pass conditions whose numbers have no types, which select other rows
_ROWS = 1 << 18  # of a batch
_TURNED = {"Gt": "Lt", "GtEq": "LtEq", "Lt": "Gt", "LtEq": "GtEq", "Eq": "Eq"}
_BOUNDS = {"Gt": "above", "GtEq": "at_least", "Lt": "below", "LtEq": "at_most", "Eq": "equal"}


@told
def scan(source: Path | Frame) -> pl.LazyFrame:
    """A polars LazyFrame over a frame: columns and conditions of the query are pushed down to it.

    Columns that the query does not need are not read, nor blocks whose statistics show that no row
    of theirs meets its conditions.

    Args:
        source: a frame, or the path of one.

    Raises:
        UnsupportedError: polars is older than 1.33.
    """
    import polars

    if tuple(map(int, polars.__version__.split(".")[:2])) < _POLARS:
        raise UnsupportedError(
            f"scan needs polars 1.33 or later, and {polars.__version__} is installed; "
            "to_polars() reads a frame, or some of its rows and columns"
        )
    from polars.io.plugins import register_io_source

    frame = source if isinstance(source, Frame | Matrix) else open(source)
    if not isinstance(frame, Frame):
        raise TypeMismatchError(f"{frame.path} holds a matrix, and polars scans frames")

    def read(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, size: int | None
    ) -> Iterator[pl.DataFrame]:
        wanted = list(frame.columns) if columns is None else columns
        needed = list(wanted)
        if predicate is not None:
            needed += [name for name in predicate.meta.root_names() if name not in needed]
        # polars counts the rows before it filters: ``head(9).filter(...)`` gives both.
        most = len(frame) if rows is None else min(rows, len(frame))
        for part in _pieces(frame, predicate, most, min(size or _ROWS, _ROWS)):
            batch = frame.to_polars(part, needed)
            if predicate is not None:
                batch = batch.filter(predicate)
            yield batch.select(wanted)

    schema = frame.to_polars(slice(0, 0)).schema
    return register_io_source(read, schema=schema, is_pure=True)


def _pieces(frame: Frame, predicate: pl.Expr | None, rows: int, size: int) -> Iterator[Any]:
    """Of the first `rows`, those among which are all that meet the predicate; some at a time."""
    condition = None if predicate is None else _condition(frame, predicate)
    if condition is None:
        for begin in range(0, rows, size):
            yield slice(begin, min(begin + size, rows))
        return
    found = frame.where(condition)
    found = found[found < rows]
    for begin in range(0, len(found), size):
        yield found[begin : begin + size]


def _condition(frame: Frame, predicate: pl.Expr) -> Condition | None:
    """A condition that holds wherever the predicate does; None where that is not known.

    polars filters what is found once more, so what is not understood here is only slower.
    """
    try:
        tree = json.loads(predicate.meta.serialize(format="json"))
        return _wider(frame, tree)
    except (Error, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None


def _wider(frame: Frame, tree: Any) -> Condition | None:
    tree = _without_between(tree)
    binary = tree.get("BinaryExpr") if isinstance(tree, dict) else None
    if binary is None:
        return None
    left, op, right = binary["left"], binary["op"], binary["right"]
    if op in ("And", "LogicalAnd"):
        sides = [side for side in (_wider(frame, left), _wider(frame, right)) if side is not None]
        if len(sides) == 2:
            return sides[0] & sides[1]
        return sides[0] if sides else None
    if op in ("Or", "LogicalOr"):
        one, other = _wider(frame, left), _wider(frame, right)
        return None if one is None or other is None else one | other
    if "Literal" in left:
        left, op, right = right, _TURNED.get(op), left
    if op not in _TURNED or "Column" not in left:
        return None
    label, value = left["Column"], _value(right)
    where = frame._where(label)
    if value is None or where < 0:
        return None
    name, kind = column_name(frame, label), frame._meanings[where].kind
    if isinstance(value, str):
        return _of_words(name, kind, op, value)
    return _of_numbers(name, frame._dtypes[where], op, value) if kind == "number" else None


def _without_between(tree: Any) -> Any:
    """``is_between`` as two comparisons."""
    call = tree.get("Function") if isinstance(tree, dict) else None
    what = call.get("function") if isinstance(call, dict) else None
    what = what.get("Boolean") if isinstance(what, dict) else None
    if not (isinstance(what, dict) and "IsBetween" in what):
        return tree
    column, low, high = tree["Function"]["input"]
    sides = [{"BinaryExpr": {"left": column, "op": "GtEq", "right": low}},
             {"BinaryExpr": {"left": column, "op": "LtEq", "right": high}}]  # fmt: skip
    return {"BinaryExpr": {"left": sides[0], "op": "And", "right": sides[1]}}


def _of_words(name: str, kind: str, op: str, value: str) -> Condition | None:
    """A comparison of text, or of a category with a word that it is equal to.

    polars sees U+FFFD where the file's bytes are not UTF-8, so what might tell these apart is left
    to it.
    """
    told = value.isascii() or (op == "Eq" and "\ufffd" not in value)
    if not told or not (kind == "text" or (kind == "category" and op == "Eq")):
        return None
    return compared(name, _BOUNDS[op], value)


def _of_numbers(name: str, dtype: np.dtype[Any], op: str, value: float) -> Condition:
    floats = dtype.kind == "f"
    low: float = value
    high: float = value
    if floats or isinstance(value, float):
        low, high = _around(value)
    parts = [] if op in ("Lt", "LtEq") else [compared(name, "at_least", low)]
    parts += [] if op in ("Gt", "GtEq") else [compared(name, "at_most", high)]
    wanted = Condition(*parts, joint="and") if len(parts) > 1 else parts[0]
    if floats:  # polars has NaN above all numbers
        wanted = wanted | Condition(f"{name} nan")
    return wanted


def _around(value: float) -> tuple[float, float]:
    """Numbers between which is all that polars finds equal to this one, also as a float32.

    It rounds to the type that column and literal have in common, where `Frame.where` is exact.
    """
    with np.errstate(over="ignore", under="ignore"):
        near = np.float32(value)
        low, high = np.nextafter(near, [-np.inf, np.inf], dtype=np.float32).tolist()
    return low, high


def _value(tree: Any) -> int | float | str | None:
    """The number or text of a literal."""
    value, kind = tree.get("Literal") if isinstance(tree, dict) else None, ""
    while isinstance(value, dict) and len(value) == 1:
        ((kind, value),) = value.items()
    if isinstance(value, str):
        return value if kind in ("String", "Str") else None
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if known else None
