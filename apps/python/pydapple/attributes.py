"""Attributes: what a user notes about an object, as a JSON object that its file keeps."""

from __future__ import annotations

import json
import math
import os
import struct
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from .advice import require_options
from .errors import InvalidArgumentError, TypeMismatchError, shown
from .names import to_core

Attributes = Mapping[str, Any]
Pairs = Iterable[tuple[bytes, bytes]]

# The member that holds the attributes of a frame's columns, by label.
COLUMNS = "column_attributes"
# The member that holds what the dimensions are called, rows first.
DIMENSIONS = "dimension_names"

# Options of writing that say how cells are stored, and the file made.
STORING = ("tile", "kind", "narrow", "align", "pack", "plain", "overwrite", "sync")

_MOST = 1 << 20  # bytes of JSON, as the format allows
_PANDAS = b"PANDAS_ATTRS"  # where pandas keeps its own in a Parquet file
_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


def tell(note: str) -> None:
    """Warn of what is lost, in the name of whoever called pydapple."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_FOLDER):
        level, frame = level + 1, frame.f_back
    warnings.warn(note, UserWarning, stacklevel=level)


def plain(value: Any, where: str) -> Any:
    """A value as JSON has it. Raises TypeMismatchError, which says where, for what JSON has not."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        if value.nbytes > _MOST:
            raise InvalidArgumentError(
                f"{where} is an array of {value.size} values: attributes take at most a mebibyte "
                "of JSON, so write it to a file of its own"
            )
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        raise TypeMismatchError(
            f"{where} is {value}, which JSON has no number for; leave it out, or make it a str"
        )
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeMismatchError(f"{where} has the key {key!r}; keys of attributes are str")
        return {key: plain(one, f"{where}[{key!r}]") for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one, f"{where}[{k}]") for k, one in enumerate(value)]
    raise TypeMismatchError(
        f"{where} is a {type(value).__name__}; attributes are what JSON has: str, numbers, bool, "
        "None, lists and dicts of these, and NumPy's numbers and arrays"
    )


def to_json(attrs: Any, where: str = "attrs") -> str:
    """A mapping as JSON text. Raises TypeMismatchError for what JSON has not."""
    if not isinstance(attrs, Mapping):
        raise TypeMismatchError(f"{where} is a mapping from str to values, not {shown(attrs)}")
    try:
        text = json.dumps(plain(attrs, where), ensure_ascii=False, allow_nan=False)
        text.encode()
    except RecursionError:
        raise InvalidArgumentError(f"{where} are nested too deeply, or hold themselves") from None
    except UnicodeEncodeError:
        raise InvalidArgumentError(f"{where} hold a str that is no Unicode text") from None
    return text


class _Kept(dict[str, Any]):
    """Attributes of a file, which copies, pickles and json take as a dict; it cannot be changed."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeMismatchError(
            "attributes are in the file: copy them with dict(...), and write the object again with "
            "attrs= as they should be"
        )

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return _Kept, (dict(self),)


def of_json(text: str) -> Attributes:
    """JSON text as a mapping that cannot be changed."""
    return _Kept(json.loads(text))


def read_once(text: str) -> Callable[[], Attributes]:
    """JSON text as a mapping whose lists and mappings are the caller's own, who may change them."""
    known = of_json(text)
    inner = [key for key, one in known.items() if isinstance(one, (list, dict))]
    if not inner:
        return lambda: known
    return lambda: _Kept({**known, **{key: _copied(known[key]) for key in inner}})


def _copied(value: Any) -> Any:
    if isinstance(value, list):
        return [_copied(one) for one in value]
    if isinstance(value, dict):
        return {key: _copied(one) for key, one in value.items()}
    return value


def storable(attrs: Mapping[Any, Any], whose: str) -> dict[str, Any]:
    """What another library noted; a warning tells of what JSON has not, which is left out."""
    kept: dict[str, Any] = {}
    for key, value in attrs.items():
        try:
            kept |= json.loads(to_json({key: value}, whose))
        except (TypeMismatchError, InvalidArgumentError) as error:
            tell(f"not kept: {error}")
    return kept


def write_options(
    attrs: Any = None, row_names: Any = None, col_names: Any = None, **options: Any
) -> _core.WriteOptions:
    """Options of writing; None: the attributes or names of what is copied."""
    require_options("writing", options, (*STORING, "attrs", "row_names", "col_names"))
    return _core.WriteOptions(
        attributes="" if attrs is None else to_json(attrs),
        row_names=to_core(row_names, "row_names"),
        col_names=to_core(col_names, "col_names"),
        **options,
    )


def with_columns(attrs: dict[str, Any], columns: Mapping[str, Attributes]) -> dict[str, Any]:
    """The same with attributes of columns, by label."""
    known = {label: dict(one) for label, one in columns.items() if one}
    return {**attrs, COLUMNS: known} if known else attrs


def columns_in(attrs: Attributes) -> Mapping[str, Attributes]:
    """The attributes of columns by label, among those of a frame."""
    known = attrs.get(COLUMNS)
    return known if isinstance(known, Mapping) else {}


def dimensions_in(attrs: Attributes) -> tuple[str, str] | None:
    """What rows and columns are called together, where the attributes tell."""
    known = attrs.get(DIMENSIONS)
    if isinstance(known, list) and len(known) == 2 and all(isinstance(x, str) for x in known):
        return (known[0], known[1]) if known[0] != known[1] else None
    return None


def of_array(data: Any) -> dict[str, Any]:
    """What of an xarray DataArray is written beside its cells, as arguments of `write`.

    Attributes, names of dimensions, and coordinates of str, which become names; nothing of other
    arrays.
    """
    if not hasattr(data, "dims") or not isinstance(getattr(data, "attrs", None), Mapping):
        return {}
    found: dict[str, Any] = {}
    kept = storable(data.attrs, "the attributes of the DataArray")
    dims = [str(dim) for dim in data.dims]
    if dims not in (["dim_0", "dim_1"], ["row", "col"]):
        kept[DIMENSIONS] = dims
    found["attrs"] = kept
    for name, coordinate in getattr(data, "coords", {}).items():
        texts = coordinate.dtype.kind in "UTO" and all(
            isinstance(one, str) for one in coordinate.values.flat
        )
        if texts and coordinate.dims == (name,) and len(dims) == 2:
            found["row_names" if str(name) == dims[0] else "col_names"] = coordinate.values.tolist()
        else:
            tell(f"not kept: the coordinate {name!r} of the DataArray")
    return found


# Arrow's metadata are pairs of bytes. Text is kept as it is, other values as JSON; and what is the
# JSON that would be written here is read as that, so that either comes back as it was.


def _of_bytes(value: str) -> Any:
    try:
        read = json.loads(value, parse_constant=_no_constant)
        same = json.dumps(read) == value
    except (ValueError, RecursionError):
        return value
    return read if same else value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _to_text(value: Any) -> str:
    if isinstance(value, str) and _of_bytes(value) == value:
        return value
    return json.dumps(value)


def of_metadata(pairs: Pairs) -> dict[str, Any]:
    """Arrow's metadata of a schema or field as attributes, pandas' own included."""
    found: dict[str, Any] = {}
    of_pandas: Any = None
    for key, value in pairs:
        if key.startswith((b"ARROW:", b"PARQUET:")):
            continue
        try:
            name, read = key.decode(), _of_bytes(value.decode())
        except UnicodeDecodeError:
            tell(f"not kept: the metadata {key!r}, which are not UTF-8")
            continue
        if key == _PANDAS and isinstance(read, dict):
            of_pandas = read
        else:
            found[name] = read
    return {**found, **of_pandas} if of_pandas else found


def to_metadata(attrs: Attributes) -> dict[bytes, bytes]:
    """Attributes as metadata of a schema or field; those of columns belong to the fields."""
    return {
        key.encode(): _to_text(value).encode() for key, value in attrs.items() if key != COLUMNS
    }


def pandas_metadata(attrs: Attributes) -> dict[bytes, bytes]:
    """What makes pandas find the same in a Parquet file."""
    known = {key: value for key, value in attrs.items() if key not in ("pandas", COLUMNS)}
    return {_PANDAS: json.dumps(known).encode()} if known else {}


def metadata_of(attrs: Attributes, labels: Sequence[str]) -> tuple[bytes, list[bytes]]:
    """The metadata of a schema and of the fields of these columns, as Arrow's C interface has them.

    Nothing where there are none; no fields where none has any.
    """
    known = columns_in(attrs)
    fields = [_packed(to_metadata(known.get(label) or {})) for label in labels] if known else []
    return _packed(to_metadata(attrs)), fields


def _packed(metadata: Mapping[bytes, bytes]) -> bytes:
    if not metadata:
        return b""
    parts = [struct.pack("=i", len(metadata))]
    for pair in metadata.items():
        for one in pair:
            parts += [struct.pack("=i", len(one)), one]
    return b"".join(parts)
