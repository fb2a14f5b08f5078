"""What Zarr sees of matrices and frames: groups and arrays, and the bytes of their chunks."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .absent import Absent
from .attributes import COLUMNS, DIMENSIONS, Attributes, columns_in, dimensions_in
from .errors import InvalidArgumentError, TypeMismatchError, shown
from .frame import Frame
from .matrix import Matrix
from .meanings import Meaning
from .names import Names

_SMALL = 1 << 18  # bytes of a chunk: smaller tiles are put together,
_LARGE = 1 << 24  # larger ones are cut
_UNITS = {
    "D": "days",
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
    "ns": "nanoseconds",
}

Json = dict[str, Any]


class Array(ABC):
    """An array of Zarr, of which any part of a chunk is decoded when it is asked for."""

    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    dims: tuple[str, ...]
    dtype: np.dtype[Any]  # object: str
    attributes: Json

    @abstractmethod
    def part(self, chunk: tuple[int, ...], rows: range) -> NDArray[Any]:
        """Rows of a chunk, counted from its first, padded with the fill value."""


class MatrixArray(Array):
    """A matrix as an array of two dimensions, with the user's attributes."""

    def __init__(self, matrix: Matrix, chunks: tuple[int, int] | None, absent: Absent) -> None:
        self.matrix = matrix
        self.shape = matrix.shape
        self.dtype = matrix.dtype
        self.chunks = _chunks_of(matrix) if chunks is None else chunks
        attrs = matrix.attrs
        self.dims = dimensions_in(attrs) or ("row", "col")
        self.attributes = {key: one for key, one in attrs.items() if key != DIMENSIONS}
        grid = matrix._grid()
        self._tiles = grid is not None and grid[1] == self.chunks
        self._absent = absent

    def part(self, chunk: tuple[int, ...], rows: range) -> NDArray[Any]:
        """A view of the file where a whole tile is asked for that is stored like this."""
        down, across = self.chunks
        begin, left = chunk[0] * down + rows.start, chunk[1] * across
        height = min(len(rows), self.shape[0] - begin)
        width = min(across, self.shape[1] - left)
        if self._tiles and (height, width) == self.chunks:
            return self.matrix.tile(*chunk).numpy()
        wanted = range(begin, begin + max(height, 0)), range(left, left + width)
        if (height, width) == (len(rows), across):
            return self.matrix.read(*wanted, absent=self._absent)
        cells = np.zeros((len(rows), across), self.dtype)
        if height > 0:
            self.matrix.read(*wanted, out=cells[:height, :width], absent=self._absent)
        return cells


class ColumnArray(Array):
    """A column of a frame as an array of one dimension.

    Times are integers with the CF conventions' ``units``, masked numbers have ``_FillValue``, and
    missing words are empty.
    """

    dims = ("row",)

    def __init__(
        self, frame: Frame, name: str, where: int, rows: int, noted: Mapping[str, Attributes]
    ) -> None:
        self.frame = frame
        self.shape = (len(frame),)
        self.chunks = (rows,)
        self._where = where
        self._meaning = meaning = frame._meanings[where] if where >= 0 else Meaning("text")
        words = where < 0 or meaning.words is not None
        self._as_stored = not words and (meaning.is_time or meaning.is_masked)
        stored = np.dtype(object) if where < 0 else frame._dtypes[where]
        self._floats = self._as_stored and stored.kind == "f"
        self.dtype = stored if self._as_stored and not self._floats else frame._dtype(where)
        self.attributes = _described(name, frame, where, self.dtype, noted)

    def part(self, chunk: tuple[int, ...], rows: range) -> NDArray[Any]:
        """Cells as Zarr has them."""
        begin = chunk[0] * self.chunks[0] + rows.start
        count = max(0, min(len(rows), self.shape[0] - begin))
        wanted = range(begin, begin + count)
        if self._where < 0:
            cells = self.frame._shown_cells(self._where, wanted)
        else:
            cells = stored = self.frame._stored_cells(self._where, wanted)
            if not self._as_stored or self._floats:
                cells = np.ma.getdata(self._meaning.to_numpy(stored))
            if self.dtype.hasobject:
                cells[self._meaning.missing_cells(stored)] = ""
        if count == len(rows):
            return cells
        padded: NDArray[Any] = np.full(len(rows), "" if self.dtype.hasobject else 0, self.dtype)
        padded[:count] = cells
        return padded


class NamesArray(Array):
    """Names of rows or columns, as a coordinate: an array called as its dimension."""

    dtype = np.dtype(object)

    def __init__(self, names: Names, dim: str) -> None:
        self.names = names
        self.shape = (len(names),)
        self.chunks = (max(1, min(len(names), _SMALL // 8)),)
        self.dims = (dim,)
        self.attributes = {}

    def part(self, chunk: tuple[int, ...], rows: range) -> NDArray[Any]:
        """The names, "" for what has none."""
        begin = chunk[0] * self.chunks[0] + rows.start
        some = self.names[begin : begin + len(rows)]
        padded: NDArray[Any] = np.full(len(rows), "", object)
        padded[: len(some)] = some
        return padded


def _described(
    name: str, frame: Frame, where: int, dtype: np.dtype[Any], noted: Mapping[str, Attributes]
) -> Json:
    """What a column means beyond what its cells tell, as the CF conventions say it.

    `noted` is of all columns.
    """
    known: Json = dict(noted.get(frame._label(where)) or {})
    if name != node_name(name):
        known["label"] = name
    if where < 0:
        return known
    meaning = frame._meanings[where]
    if meaning.kind == "timestamp":
        known["units"] = f"{_UNITS[meaning.unit]} since 1970-01-01"
        known["calendar"] = "proleptic_gregorian"
    if meaning.kind == "duration":
        known["units"] = _UNITS[meaning.unit]
        known["dtype"] = str(meaning.dtype(dtype))  # by which xarray knows a duration
    if meaning.zone:
        known["time_zone"] = meaning.zone
    if meaning.ordered and meaning.words is not None:
        known["ordered_categories"] = meaning.words.tolist()
    if meaning.missing is not None and meaning.words is None and dtype.kind in "iu":
        bits = np.array(meaning.missing, np.uint64).astype(f"u{dtype.itemsize}")
        known["_FillValue"] = int(bits.view(dtype))
    return known


def node_name(label: str) -> str:
    """A label as the name of a node, as `dapple serve` makes it (apps/serve/zarr_tree.cpp)."""
    name = label.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    first = name.startswith("__") or name == "zarr.json"
    periods = not name.strip(".")
    escaped = [
        f"~{ord(c):02X}" if (k == 0 and first) or periods or c < " " or c in "\x7f~%/\\?#" else c
        for k, c in enumerate(name)
    ]
    return "".join(escaped) or "~"


def _chunks_of(matrix: Matrix) -> tuple[int, int]:
    """Whole tiles of a quarter of a mebibyte or more, or a part of a tile of 16."""
    rows, cols = (max(1, extent) for extent in matrix.shape)
    down, across = (max(1, extent) for extent in matrix.chunks)
    item = matrix.dtype.itemsize
    across = min(across * max(1, _SMALL // (down * across * item)), cols, _LARGE // item)
    down = min(down * max(1, _SMALL // (down * across * item)), rows)
    return max(1, min(down, _LARGE // (across * item))), across


def _rows_of(frame: Frame) -> int:
    """Rows of a chunk: a quarter of a mebibyte of numbers, in whole tiles."""
    grid = frame._grid()
    wanted = _SMALL // 8
    tile = max(1, min(grid[1][0], wanted)) if grid else 1
    return max(1, min(wanted // tile * tile, len(frame)))


class Tree:
    """The nodes by their paths, and the values of their keys."""

    def __init__(self, opened: Any, chunks: Any, absent: Absent) -> None:
        self.arrays: dict[str, Array] = {}
        self.groups: dict[str, Json] = {"": {}}
        if isinstance(opened, Matrix):
            array = MatrixArray(opened, _pair(chunks, opened), absent)
            self._add("data", array)
            for dim, names in zip(array.dims, (opened.row_names, opened.col_names), strict=True):
                self._add_names(dim, names, dim)
        elif isinstance(opened, Frame):
            self._add_frame("", opened, chunks)
        else:
            for label, one in opened.items():
                path = "/".join(node_name(part) for part in label.split("/"))
                if isinstance(one, Matrix):
                    self._add(path, MatrixArray(one, _pair(chunks, one), absent))
                else:
                    self._add_frame(path, one, None)
        self.metadata = {path: _group_json(known) for path, known in self.groups.items()}
        self.metadata |= {path: _array_json(array) for path, array in self.arrays.items()}
        self.metadata[""]["consolidated_metadata"] = {
            "kind": "inline",
            "must_understand": False,
            "metadata": {path: known for path, known in self.metadata.items() if path},
        }

    def _add(self, path: str, array: Array) -> None:
        if path in self.arrays or path in self.groups:
            raise InvalidArgumentError(f"two objects are called {path!r}")
        self.arrays[path] = array
        self._add_groups(path.rpartition("/")[0])

    def _add_names(self, path: str, names: Names | None, dim: str) -> None:
        """Names of rows or columns, unless there is another array of that name."""
        if names is not None and dim == node_name(dim) and path not in self.arrays:
            self._add(path, NamesArray(names, dim))

    def _add_groups(self, path: str) -> None:
        while path and path not in self.groups:
            if path in self.arrays:
                raise InvalidArgumentError(f"{path!r} is an array, in which nothing can be")
            self.groups[path] = {}
            path = path.rpartition("/")[0]

    def _add_frame(self, path: str, frame: Frame, rows: Any) -> None:
        self._add_groups(path)
        step = _rows_of(frame) if rows is None else _count(rows)
        attrs = frame.attrs
        of_columns = columns_in(attrs)
        for name, where in frame._named():
            below = f"{path}/{node_name(name)}" if path else node_name(name)
            self._add(below, ColumnArray(frame, name, where, step, of_columns))
        self._add_names(f"{path}/row" if path else "row", frame.row_names, "row")
        noted = {key: one for key, one in attrs.items() if key != COLUMNS}
        self.groups[path] |= noted
        self.groups[path]["column-order"] = [node_name(name) for name in frame.columns]

    def find(self, key: str) -> tuple[Array, tuple[int, ...]] | None:
        """The array and the chunk of a key such as ``data/c/0/1``; None where it is no chunk's."""
        path, _, rest = key.rpartition("/c/")
        array = self.arrays.get(path)
        if array is None:
            return None
        numbers = rest.split("/")
        if len(numbers) != len(array.shape) or not all(map(_is_plain, numbers)):
            return None
        chunk = tuple(int(number) for number in numbers)
        counts = _chunk_counts(array)
        return (array, chunk) if all(k < n for k, n in zip(chunk, counts, strict=True)) else None

    def every_key(self) -> Iterator[str]:
        """Every key there is."""
        for path in self.metadata:
            yield f"{path}/zarr.json" if path else "zarr.json"
        for path, array in self.arrays.items():
            for chunk in product(*map(range, _chunk_counts(array))):
                yield f"{path}/c/" + "/".join(map(str, chunk))

    def children(self, prefix: str) -> list[str]:
        """The next parts of the keys that begin so, each once."""
        if prefix in self.metadata:
            start = f"{prefix}/" if prefix else ""
            below = [path[len(start) :] for path in self.metadata if path.startswith(start)]
            names = dict.fromkeys(name.partition("/")[0] for name in below if name)
            return ["zarr.json", *names, *(["c"] if prefix in self.arrays else [])]
        path, _, rest = f"{prefix}/".rpartition("/c/")
        array = self.arrays.get(path)
        if array is None:
            return []
        numbers = rest.strip("/").split("/") if rest.strip("/") else []
        counts = _chunk_counts(array)
        if len(numbers) >= len(counts) or not all(map(_is_plain, numbers)):
            return []
        inside = all(int(number) < count for number, count in zip(numbers, counts, strict=False))
        return [str(k) for k in range(counts[len(numbers)])] if inside else []


def _chunk_counts(array: Array) -> list[int]:
    return [-(-extent // step) for extent, step in zip(array.shape, array.chunks, strict=True)]


def _is_plain(number: str) -> bool:
    return number.isascii() and number.isdecimal() and (number == "0" or number[0] != "0")


def _count(given: Any) -> int:
    try:
        count = int(given[0] if isinstance(given, tuple) and len(given) == 1 else given)
    except TypeError:
        raise TypeMismatchError(
            f"chunks of a frame are a number of rows, not {shown(given)}"
        ) from None
    if count < 1:
        raise InvalidArgumentError(f"a chunk has one row or more, not {count}")
    return count


def _pair(given: Any, matrix: Matrix) -> tuple[int, int] | None:
    if given is None:
        return None
    if not isinstance(given, tuple) or len(given) != 2:
        raise TypeMismatchError(f"chunks are (rows, columns), not {shown(given)}")
    down, across = _count(given[0]), _count(given[1])
    return min(down, max(1, matrix.shape[0])), min(across, max(1, matrix.shape[1]))


def _group_json(attributes: Json) -> Json:
    return {"zarr_format": 3, "node_type": "group", "attributes": attributes}


def _array_json(array: Array) -> Json:
    kind = array.dtype
    words = kind.hasobject
    codec: Json = {"name": "vlen-utf8" if words else "bytes"}
    if not words and kind.itemsize > 1:
        codec["configuration"] = {"endian": "little"}
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(array.shape),
        "data_type": "string" if words else kind.name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(array.chunks)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": "" if words else False if kind.kind == "b" else 0,
        "codecs": [codec],
        "attributes": array.attributes,
        "dimension_names": list(array.dims),
        "storage_transformers": [],
    }


def chunk_bytes(
    array: Array, chunk: tuple[int, ...], first: int | None, last: int | None
) -> NDArray[Any]:
    """Bytes of a chunk as a slice picks them; no more rows are decoded than hold them."""
    if array.dtype.hasobject:
        from numcodecs.vlen import VLenUTF8

        cells = array.part(chunk, range(array.chunks[0]))
        return np.frombuffer(VLenUTF8().encode(cells), np.uint8)[first:last]
    row = math.prod(array.chunks[1:]) * array.dtype.itemsize
    begin, end, _ = slice(first, last).indices(row * array.chunks[0])
    rows = range(begin // row, -(-max(begin, end) // row))
    cells = np.ascontiguousarray(array.part(chunk, rows)).reshape(-1).view(np.uint8)
    return cells[begin - rows.start * row : max(begin, end) - rows.start * row]
