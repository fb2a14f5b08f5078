"""Names of rows and columns: lists of str, in which a name is found at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from . import _core, keys
from .arguments import is_list, told
from .errors import InvalidIndexError, TypeMismatchError, shown

_AT_ONCE = 1 << 16  # names


@told
class Names(Sequence[str]):
    """The names of the rows, or columns, of an open object, in order; ``""`` where one has none.

    They are read from the file as they are asked for; `find`, `index` and ``in`` ask the hash table
    that the file has of them.
    """

    def __init__(self, names: _core.Names, axis: str) -> None:
        self._names = names
        self._axis = axis

    def __len__(self) -> int:
        return len(self._names)

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | NDArray[Any]) -> list[str]: ...
    def __getitem__(self, key: Any) -> Any:
        """One name; of a slice, or an array of integers or Booleans, a list."""
        picked = keys.Pick(key) if isinstance(key, range) else keys.pick(key, len(self), self._axis)
        if picked.drop:
            return self._names.get(picked.of[0])
        straight = picked.forward()
        if straight is not None and not straight[1]:
            return self._names.between(straight[0].start, straight[0].stop)
        return [self._names.get(int(place)) for place in picked.of]

    def __iter__(self) -> Iterator[str]:
        for begin in range(0, len(self), _AT_ONCE):
            yield from self._names.between(begin, min(begin + _AT_ONCE, len(self)))

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self._names.find(name) is not None
        except ValueError:  # several have it
            return True

    @property
    def unique(self) -> bool:
        """Whether no two have the same name, other than ``""``."""
        return self._names.unique

    def find(self, name: str) -> int | None:
        """Which row or column has this name; None where none has it.

        Raises ValueError where several have it.
        """
        return self._names.find(name)

    def index(self, name: str, *_: Any) -> int:
        """The same. Raises IndexError where none has it."""
        found = self._names.find(name)
        if found is None:
            raise self._missing(name)
        return found

    def positions(self, names: Any) -> NDArray[np.int64]:
        """Which rows or columns have these names. Raises IndexError where none has one of them."""
        if not is_list(names) or not all(isinstance(name, str) for name in names):
            raise TypeMismatchError(f"names are a list of str, not {shown(names)}")
        wanted = list(names)
        found = self._names.find_all(wanted)
        if (found < 0).any():
            raise self._missing(wanted[int(np.argmax(found < 0))])
        return found

    def _missing(self, name: str) -> InvalidIndexError:
        return InvalidIndexError(f"no {self._axis} is called {name!r}")

    def __reduce__(self) -> Any:
        return _of_list, (list(self), self._axis)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        made = np.empty(len(self), object)
        made[:] = list(self)
        return made if dtype is None else made.astype(dtype)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) or not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(repr(name) for name in self[:4])
        more = ", ..." if len(self) > 4 else ""
        return f"<{len(self)} names of {self._axis}s: {shown}{more}>"


def _of_list(names: list[str], axis: str) -> Names:
    return Names(_core.Names(names), axis)


def to_core(given: Any, what: str) -> _core.Names | None:
    """Names to write; None stays None."""
    if given is None or isinstance(given, _core.Names):
        return given
    if isinstance(given, Names):
        return given._names
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise TypeMismatchError(f"{what} is a list of str, not {shown(given)}")
    # A list of all at once: pandas' own arrays take a microsecond to give the next one.
    return _core.Names(given.tolist() if hasattr(given, "tolist") else given)


def is_names(key: Any) -> bool:
    """Whether a key, or each part of it, is a name."""
    if isinstance(key, (str, Names)):
        return True
    if isinstance(key, (list, tuple)):
        return len(key) > 0 and all(isinstance(one, str) for one in key)
    if hasattr(key, "dtype") and len(getattr(key, "shape", ())) == 1 and key.shape[0]:
        kind = getattr(key.dtype, "kind", "O")  # of NumPy's dtypes and pandas' own
        return kind in "UT" or (kind == "O" and all(isinstance(one, str) for one in key))
    return False


class ByName:
    """What ``m.rows`` and ``m.cols`` are: rows or columns by their names."""

    def __init__(self, opened: Named, axis: int) -> None:
        self._opened = opened
        self._axis = axis

    def __getitem__(self, names: Any) -> Any:
        """The cells of one row or column by its name, or of several by a list of names."""
        place = self._opened._resolved(names, self._axis)
        return self._opened[place if self._axis == 0 else (slice(None), place)]  # type: ignore[index]

    def __len__(self) -> int:
        extent: int = self._opened.shape[self._axis]  # type: ignore[attr-defined]
        return extent


class Named:
    """What an open matrix or frame knows of names."""

    _given_names: Mapping[str, Names] = MappingProxyType({})  # which its file does not have

    @property
    def row_names(self) -> Names | None:
        """The names of the rows; None where the file has none."""
        return self._kept_names("row")

    @property
    def rows(self) -> ByName:
        """Rows by name: ``m.rows["AAACCTG"]``, ``m.rows[["AAACCTG", "AAACGGG"]]``."""
        return ByName(self, 0)

    def _kept_names(self, axis: str) -> Names | None:
        if axis in self._given_names:
            return self._given_names[axis]
        kept: dict[str, Names | None] = self.__dict__.setdefault("_names", {})
        if axis not in kept:
            read = _core.row_names if axis == "row" else _core.col_names
            names = read(self)  # type: ignore[arg-type]
            kept[axis] = None if names is None else Names(names, axis)
        return kept[axis]

    def _resolved(self, key: Any, axis: int) -> Any:
        """The key, or numbers in the place of names."""
        if not is_names(key):
            if isinstance(key, (list, tuple)) and any(isinstance(one, str) for one in key):
                other = next(one for one in key if not isinstance(one, str))
                raise InvalidIndexError(
                    f"names are str, and {shown(other)} is none: give all by name"
                )
            return key
        what = ("row", "column")[axis]
        names = self._kept_names(what)
        if names is None:
            raise InvalidIndexError(f"the {what}s have no names, so none is called {shown(key)}")
        return names.index(key) if isinstance(key, str) else names.positions(key)

    def _by_number(self, key: Any) -> Any:
        """A key of ``m[key]`` without names."""
        if isinstance(key, tuple):
            last = len(key) - 1
            return tuple(
                self._resolved(one, 1 if k == last and k > 0 else 0) for k, one in enumerate(key)
            )
        return self._resolved(key, 0)
