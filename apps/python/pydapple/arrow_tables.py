"""Tables out of Arrow streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import _core, attributes
from .errors import Error, TypeMismatchError
from .given import name_of
from .meanings import Meaning
from .stored import Table, marked


def from_arrow(data: Any) -> Table:
    """The table of anything with ``__arrow_c_stream__``; metadata become attributes."""
    return next(read_arrow(data, (1 << 64) - 1))


def read_arrow(data: Any, most: int) -> Iterator[Table]:
    """Tables of about these bytes; all rows are one where a category has an order."""
    try:
        stream = data.__arrow_c_stream__()
    except Exception as error:
        raise TypeMismatchError(f"{name_of(data)} gives no Arrow stream: {error}") from error
    reader = None
    while True:
        try:
            reader = reader or _core.ArrowReader(stream)
            read = reader.next(most)
        except TypeError as error:
            raise TypeMismatchError(str(error)) from None
        except ValueError as error:
            if isinstance(error, Error):
                raise
            raise TypeMismatchError(f"{name_of(data)} gives no Arrow stream: {error}") from None
        if read is None:
            return
        columns, noted = [], {}
        for label, cells, missing, described, of_column in read:
            gone = None if missing is None else missing.view(bool)
            columns.append(marked(label, cells, gone, Meaning(*described)))
            noted[label] = attributes.of_metadata(of_column)
        known = attributes.of_metadata(reader.metadata())
        yield Table(columns, attributes.with_columns(known, noted))
