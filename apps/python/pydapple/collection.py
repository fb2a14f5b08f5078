"""Collections: several objects under one name, such as ``X``, ``obs`` and ``layers/counts``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core, files, temporary
from .arguments import told
from .attributes import of_json, to_json
from .collection_place import Place
from .errors import AbsentError, Error, InvalidArgumentError, UnsupportedError, naming, shown
from .frame import Frame
from .identity import Stamp, file_name, stamp_of
from .matrix import Matrix
from .member_names import DECLARED, JSON, OBJECT, checked_name
from .names import Names
from .reports import Path
from .write import write

Axes = tuple[str | None, str | None]


@told
class Collection(MutableMapping[str, Any]):
    """Matrices and frames by name, as `pydapple.open` gives what is in a folder ending in .dds.

    ``c["X"]`` opens a member, ``c["X"] = data`` replaces it, whole or not at all; who has the old
    one open goes on reading that. Members called ``uns``, or ``uns/...``, are JSON. `axes` tells
    which members share rows or columns; what does not fit them is refused. One that is packed into
    a single file, or far away, is only read, and has the members that it had when it was opened.
    """

    def __init__(
        self,
        path: Path,
        *,
        fs: Any = None,
        store: Any = None,
        cache: Path = "",
        _found: tuple[Place, _core.Collection] | None = None,
    ) -> None:
        self._kept: _core.Collection | None = None
        if _found is None:
            self._there = Place(file_name(path), fs, store, cache)
        else:
            self._there, self._kept = _found
        self.path = self._there.path
        self._is_folder = not self._there.far and os.path.isdir(self.path)
        self._opened: dict[str, tuple[Any, Matrix | Frame]] = {}
        self._state: Stamp | None = None  # of one file here
        self._listed: tuple[Any, _core.Collection] | None = None
        self._telling: dict[str, list[str]] = {}  # by axis, members that tell how long it is
        self._files().require_axes()

    def __reduce__(self) -> Any:
        return _reopened, (self.path, self._there.where | self._there.options)

    def _files(self) -> _core.Collection:
        """What there is; of a folder, now."""
        if self._kept is not None:
            return self._kept
        here = not self._is_folder and not self._there.far and os.path.exists(self.path)
        state = stamp_of(self.path) if here else None
        found = self._there.find()
        if found is None:
            raise InvalidArgumentError(
                f"{self._there.shown}: it is no collection: those are folders ending in .dds, or "
                "one ZIP file of one"
            )
        if not self._is_folder:
            self._kept, self._state = found, state
        return found

    def _has(self, name: str, ending: str) -> bool:
        if self._is_folder:
            return os.path.exists(os.path.join(self.path, *name.split("/")) + ending)
        files = self._files()
        return files.has(name) if ending == OBJECT else files.has_json(name)

    def _stamp(self, name: str) -> Any:
        if not self._is_folder:
            return None
        stamp = _stamp_of_file(self._file(name))
        if stamp is None:
            raise self._absent(name)
        return stamp

    def _listing(self, anew: bool = False) -> _core.Collection:
        """What there was when the declaration became what it is.

        A folder of thousands is not listed for each of its members.
        """
        if not self._is_folder:
            return self._files()
        stamp = _stamp_of_file(os.path.join(self.path, DECLARED))
        if anew or self._listed is None or self._listed[0] != stamp:
            self._listed = stamp, self._files()
        return self._listed[1]

    def _file(self, name: str) -> str:
        return os.path.join(self.path, *name.split("/")) + OBJECT

    def _absent(self, name: str) -> AbsentError:
        there = ", ".join(list(self)[:20]) or "none"
        return AbsentError(f"{self._there.shown} has no member {name!r}; there are {there}")

    def __getitem__(self, name: str) -> Any:
        """A member: a `Matrix` or `Frame`, or the JSON of ``uns`` as a mapping."""
        name = checked_name(name)
        if name != DECLARED[: -len(JSON)] and self._has(name, JSON):
            known = self._listing()
            found = known if known.has_json(name) else self._listing(anew=True)
            return self._json(found.json(name), name + JSON)
        if not self._has(name, OBJECT):
            raise self._absent(name)
        stamp = self._stamp(name)
        kept = self._opened.get(name)
        if kept is None or kept[0] != stamp or kept[1].closed:
            made = self._open(name)
            if isinstance(made, Matrix):
                made._given_names = _NamesOfAxes(self, self._axes_of(name))
            kept = self._opened[name] = (stamp, made)
        return kept[1]

    def _open(self, name: str) -> Matrix | Frame:
        if self._is_folder:
            return files.open(self._file(name))
        found = self._files()
        return self._there.member(found, self._state, name)

    def _json(self, text: bytes, file: str) -> Mapping[str, Any]:
        try:
            return of_json(text.decode())
        except (ValueError, TypeError) as error:
            raise InvalidArgumentError(
                f"{self._there.shown}: {file} is no JSON object: {error}"
            ) from error

    def __iter__(self) -> Iterator[str]:
        files = self._files()
        return iter(sorted(files.members + files.json_members))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        try:
            name = checked_name(name)
        except InvalidArgumentError:
            return False
        return self._has(name, OBJECT) or (name + JSON != DECLARED and self._has(name, JSON))

    def __setitem__(self, name: str, data: Any) -> None:
        self.put(name, data)

    def put(self, name: str, data: Any, *, axes: Axes | None = None, **options: Any) -> None:
        """Add or replace a member. It is there when it is whole, or not at all.

        Args:
            name: such as ``"X"`` or ``"layers/counts"``.
            data: as of `write`, or JSON as a mapping where the name is ``uns`` or ``uns/...``.
            axes: names of the axes of its rows and columns, None for one of its own; if not given,
                as declared before, or as AnnData has a member of that name.
            options: as of `write`.
        """
        name = self._changed(name)
        if name.split("/")[0] == "uns" and isinstance(data, Mapping):
            text = to_json(data, name)
            self._publish(name + JSON, lambda path: _put_text(path, text))
            self._remove(name, OBJECT)
            return
        wanted = self._axes_of(name) if axes is None else _checked_axes(name, axes)

        def make(path: str) -> None:
            with naming(name):
                write(path, data, overwrite=True, **options)
            with files.open(path) as made:
                self._require_fit(name, made.shape, wanted)

        self._publish(name + OBJECT, make)
        for axis in filter(None, wanted):
            self._telling.setdefault(axis, []).append(name)
        self._remove(name, JSON)  # which would be found first
        if axes is not None and tuple(wanted) != self._axes_of(name):
            self.declare({name: axes})

    def _require_fit(self, name: str, shape: tuple[int, int], axes: Sequence[str | None]) -> None:
        """Raises InvalidArgumentError where a member of this name does not fit the others."""
        sides = [(axis, extent) for axis, extent in zip(axes, shape, strict=True) if axis]
        if not all(self._tells(axis, extent, name) for axis, extent in sides):
            self._files().require_fit(name, *shape, *axes)

    def _tells(self, axis: str, extent: int, name: str) -> bool:
        """Whether a member that fitted when it was put has this axis, and it is so long.

        All others fit that one, so they need not be opened.
        """
        known = self._telling.setdefault(axis, [])
        known[:] = [one for one in known if one != name and self._has(one, OBJECT)][:1]
        if not known:
            return False
        pairs = zip(self._axes_of(known[0]), self[known[0]].shape, strict=True)
        return {length for shared, length in pairs if shared == axis} == {extent}

    def __delitem__(self, name: str) -> None:
        name = self._changed(name)
        removed = [self._remove(name, ending) for ending in (OBJECT, JSON)]
        if not any(removed):
            raise self._absent(name)
        self._opened.pop(name, None)

    def _changed(self, name: str) -> str:
        """The name of a member that may be replaced or removed."""
        self.require_folder()
        name = checked_name(name)
        if os.path.isdir(self._file(name)):
            raise UnsupportedError(
                f"{self._file(name)} is a data set, which others may be writing; remove the folder "
                "first"
            )
        return name

    def _remove(self, name: str, ending: str) -> bool:
        """Remove a member's file, if there is one."""
        file = os.path.join(self.path, *name.split("/")) + ending
        if name + ending == DECLARED or not os.path.exists(file):
            return False
        os.unlink(file)
        return True

    def _publish(self, file: str, make: Any) -> None:
        """Have the file of a member made; it is there when it is whole."""
        path = os.path.join(self.path, *file.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary.publish(path, make)

    def require_folder(self) -> None:
        """Raises UnsupportedError where it is packed into one file, or far away."""
        if self._there.far:
            raise UnsupportedError(f"{self._there.shown} is far away, and is only read")
        if not self._is_folder:
            raise UnsupportedError(
                f"{self.path} is packed into one file, and is only read: unpack_collection makes a "
                "folder of it"
            )

    @property
    def axes(self) -> Mapping[str, Axes]:
        """Of each matrix and frame the axes of its rows and columns; None is one of its own."""
        files = self._files()
        return MappingProxyType({name: files.axes_of(name) for name in files.members})

    def _axes_of(self, name: str) -> Axes:
        return self._listing().axes_of(name)

    def declare(self, axes: Mapping[str, Axes]) -> None:
        """Note which axes members have, besides those that their names tell."""
        self.require_folder()
        declared = {}
        path = os.path.join(self.path, DECLARED)
        if os.path.exists(path):
            with open(path, "rb") as file:
                declared = dict(self._json(file.read(), DECLARED).get("axes", {}))
        for name, pair in axes.items():
            declared[checked_name(name)] = _checked_axes(name, pair)
        text = json.dumps({"version": 1, "axes": declared})
        self._publish(DECLARED, lambda path: _put_text(path, text))

    def rows_where(self, condition: Any, table: str = "obs") -> NDArray[np.int64]:
        """Which rows of a frame of the collection meet a condition, as of `Frame.where`.

        ``c["X"].sparse[c.rows_where("cell_type == 'B' and n_genes > 500")]`` are rows of X.
        """
        frame = self[table]
        if not isinstance(frame, Frame):
            raise InvalidArgumentError(f"{table} is no frame, and conditions are on columns")
        found: NDArray[np.int64] = np.asarray(frame.where(condition))
        return found

    def close(self) -> None:
        """Close the members that are open."""
        for _, opened in self._opened.values():
            opened.close()
        self._opened = {}

    def __enter__(self) -> Collection:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        lines = [f"<pydapple.Collection {self._there.shown!r}>"]
        width = max((len(name) for name in self), default=0)
        for name in self:
            try:
                what = _described(self[name])
            except Error as error:  # the others are shown nevertheless
                what = f"cannot be opened: {error}"
            lines.append(f"{name:{width}}  {what}")
        return "\n".join(lines)


def _described(member: Any) -> str:
    if not isinstance(member, (Matrix, Frame)):
        return f"JSON, {len(member)} members"
    kind = str(member.dtype) if isinstance(member, Matrix) else "frame"
    rows, cols = member.shape
    return f"{rows} x {cols}, {kind}, {member.file_bytes} bytes"


class _NamesOfAxes(Mapping[str, Names]):
    """The names of a matrix's rows and columns, where frames called as its axes have some now."""

    def __init__(self, collection: Collection, axes: Axes) -> None:
        self._collection, self._axes = collection, axes

    def __reduce__(self) -> Any:
        return _NamesOfAxes, (self._collection, self._axes)

    def __getitem__(self, what: str) -> Names:
        axis = self._axes[0 if what == "row" else 1]
        known = axis is not None and self._collection._has(axis, OBJECT)
        frame = self._collection[axis] if known else None  # type: ignore[index]
        names = frame.row_names if isinstance(frame, Frame) else None
        if names is None:
            raise KeyError(what)
        return Names(names._names, what)

    def __iter__(self) -> Iterator[str]:
        return (what for what in ("row", "column") if what in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class NamesInCollection(Mapping[str, Names]):
    """The same of a matrix that was opened by itself: the collection is opened when it is asked."""

    def __init__(self, path: str, member: str) -> None:
        self._path, self._member = os.path.abspath(path), member

    @cached_property
    def _names(self) -> Mapping[str, Names]:
        names: Mapping[str, Names] = Collection(self._path)[self._member]._given_names
        return names

    def __reduce__(self) -> Any:
        return NamesInCollection, (self._path, self._member)

    def __getitem__(self, what: str) -> Names:
        return self._names[what]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _stamp_of_file(path: str) -> Any:
    """Which state of a file it is; None where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _put_text(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _checked_axes(name: str, axes: Any) -> list[str | None]:
    known = isinstance(axes, list | tuple) and len(axes) == 2
    if not known or not all(one is None or isinstance(one, str) for one in axes):
        raise InvalidArgumentError(
            f"the axes of {name!r} are a pair of names or None, not {shown(axes)}"
        )
    return list(axes)


def _reopened(path: str, where: dict[str, Any]) -> Collection:
    return Collection(path, **where)
