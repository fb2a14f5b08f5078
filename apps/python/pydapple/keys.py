"""What is in the brackets of ``m[...]``, told as one pick of rows and one of columns."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .errors import (
    InvalidArgumentError,
    InvalidIndexError,
    OutOfRangeError,
    TooLargeError,
    TypeMismatchError,
    shown,
)

Positions = NDArray[np.int64]
_TEXT = ", or give names of columns as columns="


class Pick(NamedTuple):
    """Rows or columns in the order in which they are wanted."""

    of: range | Positions
    drop: bool = False  # an integer asked for it: the result has no such axis

    def __len__(self) -> int:
        return len(self.of)

    def forward(self) -> tuple[range, bool] | None:
        """As an ascending range without gaps, and whether to turn it round; None if it is not."""
        if not isinstance(self.of, range):
            return None
        if not self.of:  # backwards, an empty one may begin before the first
            return range(0), False
        if self.of.step == 1 or len(self.of) < 2:
            return range(self.of.start, self.of.start + len(self.of)), False
        if self.of.step == -1:
            return range(self.of[-1], self.of[0] + 1), True
        return None

    def part(self, places: range) -> Pick:
        """Those of its rows or columns that stand at these ascending places."""
        return Pick(self.of[places.start : places.stop])

    def positions(self) -> Positions:
        """As an array."""
        if isinstance(self.of, range):
            return np.arange(self.of.start, self.of.stop, self.of.step, dtype=np.int64)
        return self.of


def _integer(key: Any) -> int | None:
    if isinstance(key, (bool, np.bool_)):
        return None
    try:
        return operator.index(key)
    except TypeError:
        return None


def positions(
    key: Any, extent: int, axis: str, means: str = "one array of integers or Booleans",
    text: str = _TEXT,
) -> Positions:  # fmt: skip
    """An array of integers or Booleans as positions from 0 to `extent` - 1.

    `means` names what else may pick them, for messages, `text` what str are for. A missing Boolean
    picks nothing.
    """
    masked = np.ma.getmask(key) if isinstance(key, np.ma.MaskedArray) else np.False_
    try:
        array = np.asarray(key)
    except ValueError as error:  # lists of different lengths
        raise InvalidIndexError(f"{axis}s are picked by {means}, not by {shown(key)}") from error
    if array.dtype.kind == "b":
        array = array & ~masked
    elif masked.any():
        raise InvalidIndexError(f"numbers that are missing pick no {axis}s")
    elif array.dtype.kind == "O" and array.ndim == 1:
        array = _booleans(array)
    if array.size == 0 and array.ndim == 1 and not isinstance(key, np.ndarray):
        array = array.astype(np.int64)
    if array.ndim != 1 and array.dtype.kind in "iub":
        raise InvalidIndexError(
            f"an array that picks {axis}s must have one dimension, and this one has {array.ndim}"
        )
    if array.dtype.kind == "b":
        if len(array) != extent:
            raise InvalidIndexError(
                f"a Boolean array that picks {axis}s must have one entry for each of the "
                f"{extent}, and this one has {len(array)}"
            )
        return np.flatnonzero(array).astype(np.int64, copy=False)
    if array.dtype.kind == "O" and array.ndim == 1:  # integers of more than 64 bits, perhaps
        for one in array:
            number = _integer(one)
            if number is not None and not -extent <= number < extent:
                raise OutOfRangeError(f"{axis} {number} is outside the {extent} {axis}s")
    if array.dtype.kind not in "iu":
        raise InvalidIndexError(
            f"{axis}s are picked by {means}, not by {shown(key)}"
            if array.ndim == 0
            else f"an array of {array.dtype} picks no {axis}s; make it integers or Booleans"
            f"{text if array.dtype.kind in 'UT' else ''}"
        )
    if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise OutOfRangeError(f"{axis} {array.max()} is outside the {extent} {axis}s")
    index = array.astype(np.int64)
    if len(index) and not (index.min() >= -extent and index.max() < extent):
        outside = (index < -extent) | (index >= extent)
        raise OutOfRangeError(f"{axis} {index[outside][0]} is outside the {extent} {axis}s")
    index[index < 0] += extent
    return index


def _booleans(objects: NDArray[Any]) -> NDArray[Any]:
    """Objects that are Booleans, of which some may be missing, as an array of those; or itself."""
    true = [isinstance(one, (bool, np.bool_)) for one in objects]
    if not any(true) or not all(
        known or one is None or type(one).__name__ == "NAType"
        for known, one in zip(true, objects, strict=True)
    ):
        return objects
    return np.array([known and bool(one) for known, one in zip(true, objects, strict=True)])


def _clipped(part: slice, extent: int) -> range:
    try:
        return range(extent)[part]
    except TypeError as error:
        named = any(isinstance(end, str) for end in (part.start, part.stop))
        hint = "; names are picked one by one, or as a list" if named else ""
        raise TypeMismatchError(f"{error}{hint}") from None
    except ValueError as error:
        raise InvalidArgumentError(str(error)) from None


def pick(key: Any, extent: int, axis: str) -> Pick:
    """What `key` picks of an axis of that extent."""
    if key is None:
        raise InvalidIndexError("np.newaxis makes no part of a file: index the array you get")
    if isinstance(key, slice):
        return Pick(_clipped(key, extent))
    index = _integer(key)
    if index is not None:
        if not -extent <= index < extent:
            raise OutOfRangeError(f"{axis} {index} is outside the {extent} {axis}s")
        index %= extent
        return Pick(range(index, index + 1), drop=True)
    if isinstance(key, range):
        key = list(key)
    if isinstance(key, (bool, np.bool_, str, bytes)):
        raise InvalidIndexError(f"{axis}s cannot be picked by {shown(key)}")
    means = "integers, slices, or one array of integers or Booleans"
    return Pick(positions(key, extent, axis, means))


def several(key: Any, extent: int, axis: str) -> Pick:
    """What a slice picks, or an array of integers or Booleans."""
    if isinstance(key, slice):
        return Pick(_clipped(key, extent))
    return Pick(positions(key, extent, axis, "a slice, or one array of integers or Booleans"))


def picks(key: Any, shape: tuple[int, int]) -> tuple[Pick, Pick]:
    """Both axes of ``m[key]``. Raises IndexError for what NumPy would not take either."""
    if max(shape) > np.iinfo(np.int64).max:
        raise TooLargeError("more than 2^63 - 1 rows or columns cannot be indexed")
    parts = list(key) if isinstance(key, tuple) else [key]
    dots = [k for k, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise InvalidIndexError("an index can have only a single ellipsis ('...')")
    if len(parts) - len(dots) > 2:
        raise InvalidIndexError(
            f"a matrix has 2 dimensions, but {len(parts) - len(dots)} were indexed"
        )
    if dots:
        missing = [slice(None)] * (3 - len(parts))
        parts[dots[0] : dots[0] + 1] = missing
    parts += [slice(None)] * (2 - len(parts))
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype.kind == "b" and part.ndim == 2:
            raise InvalidIndexError("a Boolean array picks whole rows or columns, not cells")
    rows, cols = pick(parts[0], shape[0], "row"), pick(parts[1], shape[1], "column")
    if not isinstance(rows.of, range) and not isinstance(cols.of, range):
        raise InvalidIndexError(
            "only one axis may be indexed by an array; m.take(rows, cols) gives every "
            "combination of both"
        )
    return rows, cols


def whole(value: Any) -> int:
    """The integer. Raises TypeMismatchError for what is none."""
    try:
        return operator.index(value)
    except TypeError as error:
        raise TypeMismatchError(str(error)) from None


def place(value: Any, least: int = 0) -> int:
    """The integer, of a row or column. Raises OutOfRangeError below `least` and beyond 64 bits."""
    number = whole(value)
    if not least <= number < 2**63:
        raise OutOfRangeError(f"{number} is no number of a row or column")
    return number


def span(part: Any, extent: int, axis: str) -> range:
    """Rows or columns as `Matrix.read` takes them, which clips nothing.

    Negative ends of a slice count from the end.
    """
    if part is None:
        return range(extent)
    ends: tuple[int, int] | None = None
    step = part.step if isinstance(part, range) else 1
    if isinstance(part, slice):
        step = 1 if part.step is None else whole(part.step)
        begin = 0 if part.start is None else whole(part.start)
        end = extent if part.stop is None else whole(part.stop)
        ends = begin, end
        part = range(*(one + extent if one < 0 else one for one in ends))
    elif isinstance(part, tuple) and len(part) == 2:
        part = range(whole(part[0]), whole(part[1]))
    if not isinstance(part, range):
        raise TypeMismatchError(
            f"{axis}s are read as a slice, a range or a pair (begin, end): {shown(part)}"
        )
    if step != 1:
        raise InvalidIndexError(f"{axis}s are read without a step; m[...] and m.take allow one")
    if part.start < 0 or part.stop > extent:
        begin, end = ends or (part.start, part.stop)
        hint = "" if ends or min(begin, end) >= 0 else "; a slice may count from the end"
        raise OutOfRangeError(
            f"{axis}s {begin} to {end} are not all inside the {extent} {axis}s{hint}"
        )
    return part if part else range(part.start, part.start)


def runs(index: Positions, gap: int) -> Iterator[tuple[int, int]]:
    """Pairs [begin, end) that cover the ascending `index`, split at gaps of more than `gap`."""
    if not len(index):
        return
    cuts = np.flatnonzero(np.diff(index) > gap)
    begins = index[np.concatenate(([0], cuts + 1))]
    ends = index[np.concatenate((cuts, [len(index) - 1]))] + 1
    yield from zip(begins.tolist(), ends.tolist(), strict=True)
