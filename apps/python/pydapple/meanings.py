"""What the numbers of a frame's column stand for, and how they are read as NumPy arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core, times
from .errors import CorruptError, TypeMismatchError

_NAN_F8 = 0x7FF80000000007A2  # the NaN that R uses for a missing value
_NAN_F4 = 0x7FC007A2
NAT = 1 << 63
MISSING_BOOLEAN = 2


class Group(NamedTuple):
    """Columns that are one vector, as ML.NET has them.

    Attributes:
        name: of the vector.
        columns: the numbers of its columns.
        slots: the names of its slots themselves; an empty string where one has none.
    """

    name: str
    columns: range
    slots: tuple[str, ...]


class Meaning(NamedTuple):
    """What the stored numbers of a column stand for.

    Attributes:
        kind: ``"number"``, ``"boolean"``, ``"timestamp"``, ``"duration"``, ``"category"`` (words
            that repeat) or ``"text"``.
        unit: of timestamps and durations: ``"D"``, ``"s"``, ``"ms"``, ``"us"`` or ``"ns"``.
        ordered: whether the order of a category's words is an order of its values.
        zone: of timestamps: ``""`` for local time, ``"UTC"``, or an IANA name; with one, ticks
            count in UTC.
        missing: the bits of the stored number that marks a missing cell, or None.
        words: of categories and text; code k is word k - 1.
        stored: the name of the dtype of the stored numbers, where that is told, as `Frame.meanings`
            does and `frame_writer` needs it of numbers.
    """

    kind: str = "number"
    unit: str = "s"
    ordered: bool = False
    zone: str = ""
    missing: int | None = None
    words: _core.Words | None = None
    stored: str | None = None

    def __repr__(self) -> str:
        """What was said of it, and nothing else."""
        told = [repr(self.kind)]
        if self.is_time:
            told.append(f"unit={self.unit!r}")
        if self.words is not None:
            told.append(f"{len(self.words)} words")
        usual = Meaning._field_defaults
        for name in ("ordered", "zone", "missing", "stored"):
            if getattr(self, name) != usual[name]:
                told.append(f"{name}={getattr(self, name)!r}")
        return f"Meaning({', '.join(told)})"

    @property
    def is_time(self) -> bool:
        """A timestamp or duration."""
        return self.kind in ("timestamp", "duration")

    def dtype(self, stored: np.dtype[Any]) -> np.dtype[Any]:
        """The dtype of the column as NumPy reads it; `object` for words."""
        if self.words is not None:
            return np.dtype(object)
        if self.is_time:
            return np.dtype(f"{'M' if self.kind == 'timestamp' else 'm'}8[{self.unit}]")
        return np.dtype(bool) if self.kind == "boolean" else stored

    @property
    def is_masked(self) -> bool:
        """Whether NumPy needs a mask to tell missing cells: those of integers and Booleans."""
        return self.missing is not None and self.words is None and not self.is_time

    def missing_cells(self, stored: NDArray[Any]) -> NDArray[np.bool_]:
        """Which stored numbers mark a missing cell."""
        mark = self.missing if self.words is None else 0  # no word has that code
        if mark is None:
            return np.zeros(stored.shape, bool)
        bits = np.ascontiguousarray(stored).view(f"u{stored.itemsize}")
        return np.asarray(bits == bits.dtype.type(mark))

    def to_numpy(self, stored: NDArray[Any]) -> NDArray[Any]:
        """Stored numbers as what they stand for; the array may be used for the result.

        Missing words are None, missing times NaT, missing floats NaN; integers and Booleans of
        which some may be missing come as a masked array.
        """
        if self.words is not None:
            return self.words.look_up(stored)
        if self.is_time:
            if self.missing not in (None, NAT):
                stored[self.missing_cells(stored)] = np.iinfo(np.int64).min
            return stored.view(self.dtype(stored.dtype))
        missing = self.missing_cells(stored) if self.missing is not None else None
        self._require_meant(stored, missing)
        if stored.dtype.kind == "f":
            if missing is not None:
                stored[missing] = np.nan
            return stored
        if missing is not None:
            stored[missing] = 0
        cells = stored.view(bool) if self.kind == "boolean" else stored
        return cells if missing is None else np.ma.MaskedArray(cells, missing)

    def _require_meant(self, stored: NDArray[Any], missing: NDArray[np.bool_] | None) -> None:
        """Raise CorruptError for codes without a word, and for truth values that are none."""
        if self.words is not None:
            most, wrong = len(self.words), "without a word"
        elif self.kind == "boolean":
            most, wrong = 1, "which is neither true nor false"
        else:
            return
        bad = stored > most if missing is None else (stored > most) & ~missing
        if bad.any():
            raise CorruptError(f"a cell holds {stored[bad][0]}, {wrong}")

    def _in_zone(self, utc: Any) -> Any:
        try:
            return utc.tz_convert(self.zone)
        except Exception as error:
            raise TypeMismatchError(
                f"the time zone {self.zone!r} is not known here; f[name] gives the times in UTC"
            ) from error

    def require_zone_of_polars(self) -> None:
        """Raise TypeMismatchError for a zone that polars does not know, which may panic there."""
        import polars as pl

        if not self.zone or self.zone[0] in "+-":
            return
        try:
            pl.Series([0]).cast(pl.Datetime("us", self.zone))
        except pl.exceptions.PolarsError as error:
            raise TypeMismatchError(
                f"polars does not know the time zone {self.zone!r}; f[name] gives the times in UTC"
            ) from error

    def to_pandas(self, stored: NDArray[Any]) -> Any:
        """Stored numbers as an array for a pandas column, of the dtype that keeps all of it."""
        import pandas as pd

        if self.kind == "category" and self.words is not None:
            self._require_meant(stored, None)
            codes = stored.astype(np.int64) - 1
            return pd.Categorical.from_codes(codes, self.words.tolist(), ordered=self.ordered)
        if self.words is not None:
            self._require_meant(stored, None)
            return _pandas_text(pd, self.words, stored)
        if self.is_time:
            ticks = self.to_numpy(stored)
            if self.unit == "D":  # which pandas does not have
                ticks = times.in_unit(ticks, "s")
            if not self.zone:
                return ticks
            return self._in_zone(pd.DatetimeIndex(ticks, tz="UTC"))
        if self.missing is None:
            return self.to_numpy(stored)
        missing = self.missing_cells(stored)
        self._require_meant(stored, missing)
        if self.kind == "boolean":
            return pd.arrays.BooleanArray((stored == 1), missing)
        if stored.dtype.kind == "f":
            stored[missing] = 0
            return pd.arrays.FloatingArray(stored, missing)
        return pd.arrays.IntegerArray(stored, missing)


def _pandas_text(pd: Any, words: _core.Words, codes: NDArray[Any]) -> Any:
    """The str dtype that pandas infers for text; before pandas 3 its "string"."""
    dtype = "str" if int(pd.__version__.split(".")[0]) >= 3 else "string"
    try:
        if len(words) < len(codes):  # each is made pandas' own once
            places = codes.astype(np.int64) - 1
            return pd.array(words.tolist(), dtype=dtype).take(places, allow_fill=True)
        return pd.array(words.look_up(codes), dtype=dtype)
    except UnicodeEncodeError:  # pandas' own strings have no place for what is not UTF-8
        return pd.Series(words.look_up(codes), dtype=object)


def mark_missing(cells: NDArray[Any], missing: NDArray[np.bool_]) -> tuple[NDArray[Any], int]:
    """Numbers in which missing ones are marked, and the bits of the mark.

    Integers are marked by one that no cell holds; where each is held, the dtype is widened.
    """
    if cells.dtype.kind == "f":
        bits = _NAN_F8 if cells.itemsize == 8 else _NAN_F4
        mark = np.array(bits, f"u{cells.itemsize}").view(cells.dtype)
    else:
        mark = _unused(cells[~missing])
        if mark is None:
            wider = np.dtype(f"{cells.dtype.kind}{cells.itemsize * 2}")
            return mark_missing(cells.astype(wider), missing)
        bits = int(mark.view(f"u{cells.itemsize}"))
    made = np.where(missing, mark, cells)
    return made, bits


def _unused(cells: NDArray[Any]) -> Any:
    """An integer of the same dtype that is not among these; None where there is none."""
    kind = cells.dtype
    limits = np.iinfo(kind)
    ends = (limits.min, limits.max) if kind.kind == "i" else (limits.max, limits.min)
    for end in ends:
        if not (cells == kind.type(end)).any():
            return np.array(end, kind)
    held = np.unique(cells)
    gaps = np.flatnonzero(held[1:] - held[:-1] != 1)
    return np.array(held[gaps[0]] + kind.type(1), kind) if len(gaps) else None


def mark_booleans(cells: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[Any]:
    """Booleans as stored."""
    return np.where(missing, np.uint8(MISSING_BOOLEAN), cells.astype(np.uint8))


def narrow_codes(codes: NDArray[Any], words: _core.Words) -> NDArray[Any]:
    """Codes in the smallest dtype that holds all of the dictionary's."""
    count = len(words)
    kind = np.uint8 if count < 1 << 8 else np.uint16 if count < 1 << 16 else np.uint32
    return codes.astype(kind, copy=False)


__all__ = ["MISSING_BOOLEAN", "NAT", "Meaning", "mark_booleans", "mark_missing", "narrow_codes"]
