"""Stored columns out of everything in memory that has columns."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core, attributes, pandas_index, times
from .arrow_tables import from_arrow
from .errors import Error, InvalidArgumentError, TypeMismatchError
from .given import is_dask_frame, loaded, mixture, name_of, without_attrs
from .meanings import Meaning
from .stored import StoredColumn, Table, marked


def table_of(data: Any, index_names: bool = True) -> Table:
    """What a table, as `given.kind_of` calls it, holds; an index of str as names, or a column."""
    if isinstance(data, Table):
        return data
    if is_dask_frame(data):
        data = data.compute()
    if isinstance(data, np.ndarray):
        if data.ndim != 1:
            raise InvalidArgumentError(
                f"records are the rows of a table, and this array of them has {data.ndim} "
                "dimensions, not 1; reshape it first"
            )
        return Table([as_column(data[label], label) for label in data.dtype.names], {})
    if isinstance(data, Mapping):
        _require_aligned(data)
        return Table([as_column(values, str(label)) for label, values in data.items()], {})
    if hasattr(data, "iloc"):
        labels = [pandas_index.text_of(label) for label in data.columns]
        index = pandas_index.of_frame(data.index, labels, index_names)
        columns = [as_column(values, label) for label, values in index.columns]
        bare = without_attrs(data)
        columns += [as_column(bare.iloc[:, k], label) for k, label in enumerate(labels)]
        attrs = attributes.storable(getattr(data, "attrs", {}), "the attributes of the DataFrame")
        for key in pandas_index.notes_in(attrs):  # of the table that this one was made of
            del attrs[key]
        attrs |= pandas_index.of_labels(data.columns) | index.attrs
        return Table(columns, attrs, index.names)
    return from_arrow(data)


def _require_aligned(data: Mapping[Any, Any]) -> None:
    """Raise where columns are of pandas, and the same row has other labels in another one."""
    series = [(label, one) for label, one in data.items() if hasattr(one, "iloc")]
    for label, one in series[1:]:
        first, other = series[0][1].index, one.index
        if other is not first and len(other) == len(first) and not other.equals(first):
            raise InvalidArgumentError(
                f"columns {series[0][0]!r} and {label!r} have different indexes: pandas.DataFrame "
                "aligns their rows; to_numpy() of each leaves them as they are"
            )


def as_column(values: Any, label: str) -> StoredColumn:
    """A column of a table. Raises TypeMismatchError for what a column cannot hold."""
    values = loaded(values)
    if hasattr(values, "iloc") and values.ndim != 1:
        raise _no_column(values, values.ndim, label)
    try:
        column = _from_pandas(values, label) if hasattr(values, "iloc") else None
        return column or _from_numpy(values, label)
    except (TypeError, ValueError, ArithmeticError, NotImplementedError) as error:
        if isinstance(error, Error) and f"column {label!r}" in str(error):
            raise
        raise TypeMismatchError(
            f"column {label!r} cannot be stored: {error}; make it numbers, Booleans, times or text "
            "first, or drop it"
        ) from error


def _no_column(values: Any, dimensions: int, label: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"column {label!r} has {dimensions} dimensions ({name_of(values)}), and a column is a list "
        "or an array of one dimension"
    )


def _from_numpy(values: Any, label: str) -> StoredColumn:
    if not isinstance(values, np.ndarray):
        if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
            return _from_series(values, label)
        library = type(values).__module__.partition(".")[0]
        if library == "pandas":  # an index, or an array of its own
            import pandas as pd

            return as_column(pd.Series(values), label)
        if isinstance(values, (list, tuple)):
            values = _from_list(values)
    masked = isinstance(values, np.ma.MaskedArray)
    missing = np.ma.getmaskarray(values) if masked else None
    array = np.ma.getdata(values) if masked else np.asarray(values)
    if array.ndim != 1:
        raise _no_column(values, array.ndim, label)
    kind = array.dtype.kind
    if kind == "b":
        return marked(label, array, missing, Meaning("boolean"))
    if kind in "Mm":
        return _from_times(array, missing, label, "")
    if kind in "UST" or kind == "O":
        return _from_objects(array, missing, label)
    return marked(label, array, missing, Meaning())


def _from_series(values: Any, label: str) -> StoredColumn:
    """A polars Series, or another array that Arrow's interface gives."""
    if hasattr(values, "to_frame"):
        return from_arrow(values.to_frame(label)).columns[0]
    import pyarrow as pa

    if not hasattr(values, "__arrow_c_stream__"):
        values = pa.array(values)
    elif not isinstance(values, pa.ChunkedArray):
        values = pa.chunked_array(values)
    return from_arrow(pa.table({label: values})).columns[0]


def _from_list(values: Any) -> NDArray[Any]:
    """A list as an array, without NumPy's ways.

    Beside text it makes text of numbers, and numbers of truth values beside those; it rounds
    integers, and far times wrap around.
    """
    array = np.asarray(values)
    if array.ndim != 1:
        return array
    kinds = set(map(type, values))
    truths = array.dtype.kind in "iuf" and any(issubclass(k, (bool, np.bool_)) for k in kinds)
    mixed = array.dtype.kind == "f" and any(issubclass(k, (int, np.integer)) for k in kinds)
    if not (truths or mixed or array.dtype.kind in "USMm"):
        return array
    objects = np.empty(len(values), object)
    objects[:] = values
    return _numbers(objects, np.zeros(len(values), bool)) if mixed and not truths else objects


def _from_times(
    array: NDArray[Any], missing: NDArray[np.bool_] | None, label: str, zone: str
) -> StoredColumn:
    wanted = times.stored_unit(array.dtype)
    ticks = times.in_unit(array, wanted)
    gone = np.isnat(array) if missing is None else np.isnat(array) | missing
    kind = "timestamp" if array.dtype.kind == "M" else "duration"
    return marked(label, ticks.view(np.int64), gone, Meaning(kind, unit=wanted, zone=zone))


def _is_missing(value: Any) -> bool:
    # None, NaN, NaT and pandas' NA: two differ from themselves, and the last one does not say.
    if value is None:
        return True
    try:
        differs = value != value
    except ArithmeticError:  # a decimal that signals
        return False
    return bool(differs) if isinstance(differs, (bool, np.bool_)) else differs is value


def _from_objects(
    array: NDArray[Any], missing: NDArray[np.bool_] | None, label: str
) -> StoredColumn:
    """Python objects, all of one kind: text, Booleans, times or numbers."""
    if array.dtype.kind == "S":
        texts = [value.decode("utf-8", "surrogateescape") for value in array.tolist()]
        array = np.array(texts, object)
    objects = array.astype(object, copy=False)
    gone = np.zeros(len(objects), bool) if missing is None else missing.astype(bool)
    kinds = _core.types_of(objects, gone.view(np.uint8), _is_missing)
    if all(issubclass(kind, str) for kind in kinds):
        codes, words = _core.encode_words(objects, gone.view(np.uint8))
        return marked(label, codes, gone, Meaning("text", words=words))
    mask = gone if gone.any() else None
    if kinds <= {bool, np.bool_}:
        return marked(label, np.where(gone, False, objects).astype(bool), mask, Meaning("boolean"))
    if all(issubclass(kind, (datetime.datetime, np.datetime64)) for kind in kinds):
        return _from_datetimes(objects, gone, label)
    if kinds == {datetime.date}:
        return _from_times(_ticks(objects, gone, "M"), None, label, "")
    if all(issubclass(kind, (datetime.timedelta, np.timedelta64)) for kind in kinds):
        return _from_times(_ticks(objects, gone, "m"), None, label, "")
    if all(issubclass(kind, (int, float, np.integer, np.floating)) and kind is not bool
           for kind in kinds):  # fmt: skip
        return marked(label, _numbers(objects, gone), mask, Meaning())
    if kinds == {decimal.Decimal}:
        return marked(label, _decimals(objects, gone), mask, Meaning())
    raise TypeError(mixture(objects, gone))


def _numbers(objects: NDArray[Any], gone: NDArray[np.bool_]) -> NDArray[Any]:
    """Python's numbers, 0 where they are gone. Raises TypeError where one would be rounded."""
    given = np.where(gone, 0, objects).tolist()
    numbers = np.array(given)
    if numbers.dtype.kind in "iu":
        return numbers
    exact = [value.item() if isinstance(value, np.generic) else value for value in given]
    if all(isinstance(value, int) for value in exact):
        low, high = min(exact), max(exact)
        if low < 0 or high >= 1 << 64:
            alone = low if low < -(1 << 63) else high if high >= 1 << 64 else None
            told = f"both {low} and {high}" if alone is None else f"{alone}"
            raise TypeError(f"no integer of 64 bits holds {told}")
        return np.array(exact, np.uint64)
    if numbers.dtype.kind != "f":
        numbers = np.array(given, np.float64)
    for row, (value, made) in enumerate(zip(exact, numbers.tolist(), strict=True)):
        if value != made and value == value:
            raise TypeError(f"row {row} holds {value}, which is not exact as {numbers.dtype}")
    return numbers


def _decimals(objects: NDArray[Any], gone: NDArray[np.bool_]) -> NDArray[Any]:
    """Decimals as Arrow's are taken: integers where none has a place after the point."""
    given = [
        decimal.Decimal(0) if absent else one for one, absent in zip(objects, gone, strict=True)
    ]
    digits = 20  # of the greatest integer of 64 bits
    if all(one.is_finite() and int(one.as_tuple().exponent) >= 0 and one.adjusted() <= digits
           for one in given):  # fmt: skip
        return _numbers(np.array([int(one) for one in given], object), gone)
    numbers = [float(one) for one in given]
    for row, (one, made) in enumerate(zip(given, numbers, strict=True)):
        if decimal.Decimal(repr(made)) != one:
            raise TypeError(f"row {row} holds {one}, of which float64 does not keep every digit")
    return np.array(numbers)


def _ticks(objects: NDArray[Any], gone: NDArray[np.bool_], kind: str) -> NDArray[Any]:
    """Times or durations of Python, NumPy or pandas; NaT where they are gone."""
    given = times.of_objects(objects[~gone].tolist(), kind)
    made = np.full(len(objects), "NaT", given.dtype)
    made[~gone] = given
    return made


def _from_datetimes(objects: NDArray[Any], gone: NDArray[np.bool_], label: str) -> StoredColumn:
    zones = {getattr(value, "tzinfo", None) for value in objects[~gone]}
    if None in zones and len(zones) > 1:
        raise TypeError("some of its times have a zone and some have none")
    if zones == {None}:
        return _from_times(_ticks(objects, gone, "M"), None, label, "")
    utc = np.empty(len(objects), object)
    for row in np.flatnonzero(~gone):
        utc[row] = objects[row].astimezone(datetime.timezone.utc).replace(tzinfo=None)
    names = {zone_name(zone) for zone in zones}
    zone = names.pop() if len(names) == 1 else "UTC"
    return _from_times(_ticks(utc, gone, "M"), None, label, zone)


def zone_name(zone: Any) -> str:
    """The name of a time zone as Arrow and the IANA have it, or its fixed offset as +02:00."""
    name = getattr(zone, "key", None) or getattr(zone, "zone", None)
    name = name or str(getattr(zone, "_filename", "")).partition("zoneinfo/")[2]  # dateutil's
    if name:
        return str(name)
    offset = zone.utcoffset(None)
    if offset is None or offset % datetime.timedelta(minutes=1):
        raise TypeError(f"its time zone {zone} has no IANA name; convert it to one that has")
    minutes = offset // datetime.timedelta(minutes=1)
    if minutes == 0:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"


def _from_pandas(series: Any, label: str) -> StoredColumn | None:
    """Columns of pandas' own dtypes; None where NumPy knows what it is."""
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return _from_numpy(series.to_numpy(), label)
    if isinstance(dtype, pd.CategoricalDtype):
        words = list(dtype.categories)
        if not all(isinstance(word, str) for word in words):
            raise TypeError(
                f"it is a category of {dtype.categories.dtype}, and categories are words: rename "
                "them to str, or store the values themselves"
            )
        codes = series.cat.codes.to_numpy().astype(np.int64) + 1
        meaning = Meaning("category", ordered=bool(dtype.ordered), words=_core.Words(words))
        return marked(label, codes, codes == 0, meaning)
    if isinstance(dtype, pd.DatetimeTZDtype):
        utc = series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        return _from_times(utc, None, label, zone_name(dtype.tz))
    if isinstance(dtype, pd.ArrowDtype) or getattr(dtype, "storage", None) == "pyarrow":
        return from_arrow(series.reset_index(drop=True).to_frame(label)).columns[0]
    missing = series.isna().to_numpy()
    if isinstance(dtype, pd.StringDtype):
        return _from_objects(series.to_numpy(object), missing, label)
    if isinstance(dtype, pd.BooleanDtype):
        return marked(label, series.to_numpy(bool, na_value=False), missing, Meaning("boolean"))
    kind = getattr(dtype, "numpy_dtype", None)
    if kind is not None and kind.kind in "iuf":
        return marked(label, series.to_numpy(kind, na_value=0), missing, Meaning())
    if isinstance(dtype, pd.SparseDtype):
        return _from_numpy(series.to_numpy(), label)
    raise TypeError(f"pandas calls its dtype {dtype}")
