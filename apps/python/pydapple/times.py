"""Times and durations counted in other units: exactly, or not at all. NumPy's casts wrap around."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import TypeMismatchError

UNITS = ("D", "s", "ms", "us", "ns")  # that a file counts in
_NANOSECONDS = {
    "W": 604_800 * 10**9, "D": 86_400 * 10**9, "h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9,
    "ms": 10**6, "us": 1000, "ns": 1,
}  # fmt: skip
_COARSE = {"h": "s", "m": "s", "W": "D", "M": "D", "Y": "D"}
_MONTHS = {"M": 1, "Y": 12}
_NAT = np.iinfo(np.int64).min
_LONG = datetime.timedelta(days=10**8)  # microseconds of that have 64 bits
_FARTHEST = 10**17  # months whose days have 64 bits


def stored_unit(dtype: np.dtype[Any]) -> str:
    """The unit in which a file counts times of that dtype. Raises TypeMismatchError if none."""
    unit, _ = np.datetime_data(dtype)
    if unit in UNITS:
        return unit
    if unit not in _COARSE:
        raise TypeMismatchError(f"its unit is {unit}, and times count in D, s, ms, us or ns")
    if dtype.kind == "m" and unit in _MONTHS:
        raise TypeMismatchError("months and years have no fixed length")
    return _COARSE[unit]


def finest(units: Iterable[str]) -> str:
    """The finest of some units that a file counts in."""
    return max(units, key=UNITS.index)


def in_unit(times: NDArray[Any], unit: str) -> NDArray[Any]:
    """The same times or durations, counted in one of `UNITS`; NaT stays NaT.

    Raises TypeMismatchError where one has no place in 64 bits, or is no whole number of that unit.
    """
    letter = times.dtype.kind
    own, count = np.datetime_data(times.dtype)
    if own in _MONTHS and letter == "M":
        times = _days_of_months(times, own, count)
        own, count = "D", 1
    if own not in _NANOSECONDS:
        stored_unit(times.dtype)
    ticks = times.astype(times.dtype.newbyteorder("=")).view(np.int64)
    gone = ticks == _NAT
    made = _scaled(np.where(gone, 0, ticks), count * _NANOSECONDS[own], unit)
    return np.where(gone, _NAT, made).view(f"{letter}8[{unit}]")


def _scaled(ticks: NDArray[np.int64], size: int, unit: str) -> NDArray[np.int64]:
    """Ticks of `size` nanoseconds each, counted in that unit."""
    wanted = _NANOSECONDS[unit]
    if size % wanted == 0:
        factor = size // wanted
        limit = ((1 << 63) - 1) // factor
        if ((ticks > limit) | (ticks < -limit)).any():
            raise TypeMismatchError(f"one of its times is too far off to be counted in {unit}")
        return ticks * factor
    if wanted % size == 0:
        whole, rest = np.divmod(ticks, wanted // size)
        if rest.any():
            raise TypeMismatchError(f"one of its times is not exact in units of {unit}")
        return whole
    exact = [divmod(tick * size, wanted) for tick in ticks.ravel().tolist()]
    if any(rest for _, rest in exact):
        raise TypeMismatchError(f"one of its times is not exact in units of {unit}")
    if not all(abs(whole) < 1 << 63 for whole, _ in exact):
        raise TypeMismatchError(f"one of its times is too far off to be counted in {unit}")
    return np.array([whole for whole, _ in exact], np.int64).reshape(ticks.shape)


def _days_of_months(times: NDArray[Any], own: str, count: int) -> NDArray[Any]:
    """Months and years as the first of their days."""
    ticks = times.astype(times.dtype.newbyteorder("=")).view(np.int64)
    gone, limit = ticks == _NAT, _FARTHEST // (count * _MONTHS[own])
    if (((ticks > limit) | (ticks < -limit)) & ~gone).any():
        raise TypeMismatchError("one of its times is too far off to be counted in D")
    months = np.where(gone, 0, ticks) * (count * _MONTHS[own])
    days = months.view("M8[M]").astype("M8[D]")
    days[gone] = np.datetime64("NaT")
    return days


def of_object(value: Any) -> np.datetime64 | np.timedelta64:
    """A time or duration of Python, NumPy or pandas as NumPy has it; a time without its zone.

    Raises TypeMismatchError where it has no place in 64 bits.
    """
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return value
    for own in ("to_datetime64", "to_timedelta64"):  # of pandas, which may count in nanoseconds
        if hasattr(value, own):
            made: np.datetime64 | np.timedelta64 = getattr(value, own)()
            return made
    if isinstance(value, datetime.timedelta):
        ticks = value // datetime.timedelta(microseconds=1)
        if abs(ticks) >= 1 << 63:
            raise TypeMismatchError(f"{value} is too long to be counted in us")
        return np.timedelta64(ticks, "us")
    if isinstance(value, datetime.datetime):
        return np.datetime64(value.replace(tzinfo=None), "us")
    return np.datetime64(value, "D")


def of_objects(objects: Sequence[Any], kind: str) -> NDArray[Any]:
    """Times (`kind` is "M") or durations ("m"), in the finest of the units that they need.

    What Python and pandas have counts in microseconds, and in nanoseconds where there are some.
    """
    kinds = set(map(type, objects))
    if len(kinds) == 1 and (unit := _exact_unit(kinds.pop(), objects)):
        return np.array(objects, f"{kind}8[{unit}]")
    rows: dict[tuple[str, int], list[int]] = {}
    ticks = np.zeros(len(objects), np.int64)
    needed = set()
    for row, value in enumerate(objects):
        exact = of_object(value)
        size = np.datetime_data(exact.dtype)
        rows.setdefault(size, []).append(row)
        ticks[row] = exact.astype(np.int64)
        if exact is value:
            needed.add(stored_unit(exact.dtype))
        elif not np.isnat(exact) and size[0] != "D":
            needed.add("ns" if size[0] == "ns" and ticks[row] % 1000 else "us")
    least = finest(needed or {"us" if kind == "m" or not rows else "D"})
    made = np.empty(len(objects), f"{kind}8[{least}]")
    for (own, count), places in rows.items():
        made[places] = in_unit(ticks[places].view(f"{kind}8[{count}{own}]"), least)
    return made


def _exact_unit(kind: type, objects: Sequence[Any]) -> str | None:
    """The unit in which NumPy makes an array of such objects exactly; None where it might not."""
    if kind is datetime.date:
        return "D"
    if kind is datetime.datetime:
        return "us" if all(one.tzinfo is None for one in objects) else None
    if kind is datetime.timedelta:
        return "us" if max(map(abs, objects)) < _LONG else None
    return None


def nanoseconds(value: np.datetime64 | np.timedelta64) -> int:
    """The length of a duration. Raises ValueError for months, and what is none."""
    unit, count = np.datetime_data(value.dtype)
    if np.isnat(value) or unit not in _NANOSECONDS or value.dtype.kind != "m":
        raise ValueError
    return int(value.astype(np.int64)) * count * _NANOSECONDS[unit]
