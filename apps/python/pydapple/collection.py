"""Collections: several objects under one name, such as ``X``, ``obs`` and ``layers/counts``."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, MutableMapping
from functools import wraps
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import files, ten_x
from .attributes import of_json, to_json
from .errors import AbsentError, ExistsError, InvalidArgumentError, UnsupportedError
from .frame import Frame
from .identity import file_name
from .matrix import Matrix
from .reports import Path
from .write import write

ENDING = ".dds"
_DECLARED = "collection.json"
_OBJECT, _JSON = ".dbdf", ".json"
_ALIGN = 64

Axes = tuple[str | None, str | None]

# Which axes the rows and columns of members are of, by the names that AnnData gives them.
_USUAL: dict[str, Axes] = {
    "X": ("obs", "var"),
    "layers": ("obs", "var"),
    "obs": ("obs", None),
    "var": ("var", None),
    "obsm": ("obs", None),
    "varm": ("var", None),
    "obsp": ("obs", "obs"),
    "varp": ("var", "var"),
}


def checked_name(name: Any) -> str:
    """The name of a member. Raises InvalidArgumentError for what is none."""
    parts = name.split("/") if isinstance(name, str) else []
    if not parts or any(part in ("", ".", "..") or part[0] == "." for part in parts):
        raise InvalidArgumentError(
            f"{name!r} is no name of a member: names are str such as 'X' or 'layers/counts', whose "
            "parts are not empty and do not start with a dot"
        )
    if any(character in name for character in "\\\0:"):
        raise InvalidArgumentError(f"{name!r} is no name of a member: it has a character of paths")
    return str(name)


def is_collection(path: Path) -> bool:
    """Whether this is a folder that ends in .dds, or a ZIP file of a collection."""
    name = file_name(path)
    if os.path.isdir(name):
        return name.rstrip("/").endswith(ENDING)
    if not name.endswith((ENDING, ".zip")) or not os.path.isfile(name):
        return False
    try:
        with open(name, "rb") as file:
            head = file.read(30 + len(_DECLARED))
    except OSError:
        return False
    return head.startswith(b"PK\3\4") and head[30:] == _DECLARED.encode()


class Collection(MutableMapping[str, Any]):
    """Matrices and frames by name, as `pydapple.open` gives what is in a folder ending in .dds.

    ``c["X"]`` opens a member, ``c["X"] = data`` replaces it, whole or not at all; who has the old
    one open goes on reading that. Members called ``uns``, or ``uns/...``, are JSON. `axes` tells
    which members share rows or columns; what does not fit them is refused. One that is packed into
    a single file is only read.
    """

    def __init__(self, path: Path) -> None:
        self.path = file_name(path)
        self._zip = os.path.isfile(self.path)
        self._opened: dict[str, tuple[Any, Matrix | Frame]] = {}
        declared = self._read_json(_DECLARED) if self._has(_DECLARED) else {}
        self._declared = _declared_axes(declared, self.path)
        self._check_axes()

    def _files(self) -> list[str]:
        """Files of members, as paths with slashes, in order."""
        if self._zip:
            with zipfile.ZipFile(self.path) as archive:
                found = archive.namelist()
        else:
            found = []
            for folder, folders, names in os.walk(self.path):
                inside = os.path.relpath(folder, self.path).replace(os.sep, "/")
                sets = [one for one in folders if one.endswith(_OBJECT)]  # data sets
                folders[:] = [one for one in folders if one not in sets and one[0] != "."]
                shown = [name for name in names + sets if name[0] != "."]
                found += [name if inside == "." else f"{inside}/{name}" for name in shown]
        return sorted(name for name in found if name.endswith((_OBJECT, _JSON)))

    def _has(self, file: str) -> bool:
        if not self._zip:
            return os.path.exists(os.path.join(self.path, *file.split("/")))
        with zipfile.ZipFile(self.path) as archive:
            return file in archive.namelist()

    def _read_json(self, file: str) -> Mapping[str, Any]:
        try:
            if self._zip:
                with zipfile.ZipFile(self.path) as archive:
                    return of_json(archive.read(file).decode())
            with open(os.path.join(self.path, *file.split("/")), encoding="utf-8") as text:
                return of_json(text.read())
        except (ValueError, TypeError) as error:
            raise InvalidArgumentError(f"{self.path}: {file} is no JSON object: {error}") from error

    def _stamp(self, name: str) -> Any:
        if self._zip:
            return None
        try:
            status = os.stat(self._file(name))
        except OSError:
            raise self._absent(name) from None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _file(self, name: str) -> str:
        return os.path.join(self.path, *name.split("/")) + _OBJECT

    def _absent(self, name: str) -> AbsentError:
        shown = ", ".join(list(self)[:20]) or "none"
        return AbsentError(f"{self.path} has no member {name!r}; there are {shown}")

    def __getitem__(self, name: str) -> Any:
        """A member: a `Matrix` or `Frame`, or the JSON of ``uns`` as a mapping."""
        name = checked_name(name)
        if self._has(name + _JSON) and name != _DECLARED[: -len(_JSON)]:
            return self._read_json(name + _JSON)
        if not self._has(name + _OBJECT):
            raise self._absent(name)
        stamp = self._stamp(name)
        kept = self._opened.get(name)
        if kept is None or kept[0] != stamp or kept[1].closed:
            made = (
                files.open(self.path, array=name) if self._zip else files.open(self._file(name))
            )
            kept = self._opened[name] = (stamp, made)
        return kept[1]

    def __iter__(self) -> Iterator[str]:
        ends = len(_OBJECT), len(_JSON)
        for file in self._files():
            if file != _DECLARED:
                yield file[: -ends[0] if file.endswith(_OBJECT) else -ends[1]]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in set(self)

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
        self._require_folder()
        name = checked_name(name)
        if name.split("/")[0] == "uns":
            text = to_json(data, name)
            return self._publish(name + _JSON, lambda path: _put_text(path, text))
        wanted = axes or self._axes_of(name)

        def make(path: str) -> None:
            write(path, data, overwrite=True, **options)
            with files.open(path) as made:
                self._require_fit(name, made.shape, wanted)

        self._publish(name + _OBJECT, make)
        if axes is not None and axes != self._axes_of(name):
            self._declared[name] = axes
            self._declare()
        return None

    def __delitem__(self, name: str) -> None:
        self._require_folder()
        name = checked_name(name)
        for ending in (_OBJECT, _JSON):
            file = os.path.join(self.path, *name.split("/")) + ending
            if os.path.exists(file):
                os.unlink(file)
                self._opened.pop(name, None)
                return
        raise self._absent(name)

    def _publish(self, file: str, make: Any) -> None:
        """Have a file made under a name that nobody sees, and give it its own when it is whole."""
        path = os.path.join(self.path, *file.split("/"))
        folder = os.path.dirname(path)
        os.makedirs(folder, exist_ok=True)
        hidden = tempfile.mkdtemp(prefix=".new-", dir=folder)
        try:
            made = os.path.join(hidden, os.path.basename(path))
            make(made)
            os.replace(made, path)
        finally:
            shutil.rmtree(hidden, ignore_errors=True)

    def _require_folder(self) -> None:
        if self._zip:
            raise UnsupportedError(
                f"{self.path} is packed into one file, and is only read: unpack_collection makes a "
                "folder of it"
            )

    @property
    def axes(self) -> Mapping[str, Axes]:
        """Of each matrix and frame the axes of its rows and columns; None is one of its own."""
        return MappingProxyType({name: self._axes_of(name) for name in self._objects()})

    def _objects(self) -> list[str]:
        return [file[: -len(_OBJECT)] for file in self._files() if file.endswith(_OBJECT)]

    def _axes_of(self, name: str) -> Axes:
        group, slash, _ = name.partition("/")
        usual = bool(slash) != (group in ("X", "obs", "var"))
        return self._declared.get(name) or (_USUAL.get(group) if usual else None) or (None, None)

    def _declare(self) -> None:
        text = json.dumps({"version": 1, "axes": {k: list(v) for k, v in self._declared.items()}})
        self._publish(_DECLARED, lambda path: _put_text(path, text))

    def _extents(self, but: str | None = None) -> dict[str, tuple[int, str]]:
        """How long each axis is, and which member says so."""
        known: dict[str, tuple[int, str]] = {}
        for name in self._objects():
            axes = self._axes_of(name)
            if name == but or axes == (None, None):
                continue
            for axis, extent in zip(axes, self[name].shape, strict=True):
                if axis is not None:
                    known.setdefault(axis, (extent, name))
        return known

    def _require_fit(self, name: str, shape: tuple[int, int], axes: Axes) -> None:
        known = self._extents(name)
        for axis, extent, what in zip(axes, shape, ("rows", "columns"), strict=True):
            if axis in known and known[axis][0] != extent:
                wanted, other = known[axis]
                raise InvalidArgumentError(
                    f"{name} has {extent} {what}, and the axis {axis!r} has {wanted}, as {other} "
                    "says"
                )

    def _check_axes(self) -> None:
        for name in self._objects():
            if self._axes_of(name) != (None, None):
                self._require_fit(name, self[name].shape, self._axes_of(name))

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
        lines = [f"<pydapple.Collection {self.path!r}>"]
        width = max((len(name) for name in self), default=0)
        for name in self:
            member = self[name]
            if isinstance(member, Mapping) and not isinstance(member, (Matrix, Frame)):
                what = f"JSON, {len(member)} members"
            else:
                kind = str(member.dtype) if isinstance(member, Matrix) else "frame"
                rows, cols = member.shape
                what = f"{rows} x {cols}, {kind}, {member.file_bytes} bytes"
            lines.append(f"{name:{width}}  {what}")
        return "\n".join(lines)


def _put_text(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _declared_axes(declared: Mapping[str, Any], path: str) -> dict[str, Axes]:
    axes = declared.get("axes", {})
    made: dict[str, Axes] = {}
    if not isinstance(axes, dict):
        raise InvalidArgumentError(f"{path}: the axes in {_DECLARED} are no object")
    for name, pair in axes.items():
        known = isinstance(pair, list) and len(pair) == 2
        if not known or not all(one is None or isinstance(one, str) for one in pair):
            raise InvalidArgumentError(
                f"{path}: the axes of {name!r} in {_DECLARED} are no pair of names or null"
            )
        made[checked_name(name)] = (pair[0], pair[1])
    return made


def write_collection(
    path: Path,
    members: Mapping[str, Any],
    *,
    axes: Mapping[str, Axes] | None = None,
    overwrite: bool = False,
    **options: Any,
) -> Collection:
    """Write a collection, a folder whose name ends in .dds. It appears when it is whole.

    Args:
        path: the folder to make.
        members: what each is, by name; as of `Collection.put`.
        axes: of members that do not share those which AnnData's names tell: a pair of names or None
            for rows and columns.
        overwrite: replace an existing collection.
        options: of `write`, for all members.
    """
    name = file_name(path).rstrip("/")
    if not name.endswith(ENDING):
        raise InvalidArgumentError(f"{name} is no name of a collection: it ends in {ENDING}")
    if os.path.exists(name) and not (overwrite and is_collection(name)):
        error = ExistsError(17, f"{name} exists already; overwrite=True replaces a collection")
        error.file = error.filename = name
        raise error
    hidden = tempfile.mkdtemp(prefix=".new-", dir=os.path.dirname(os.path.abspath(name)))
    try:
        made = os.path.join(hidden, os.path.basename(name))
        os.mkdir(made)
        with Collection(made) as collection:
            collection._declared = _declared_axes(
                {"axes": {k: list(v) for k, v in (axes or {}).items()}}, name
            )
            collection._declare()
            for member, data in members.items():
                collection.put(member, data, **options)
        if os.path.exists(name):
            os.rename(name, os.path.join(hidden, "old"))
        os.rename(made, name)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
    return Collection(name)


def pack_collection(path: Path, dst: Path, *, overwrite: bool = False) -> str:
    """Write a collection as one ZIP file, which is read in place: nothing in it is compressed.

    Each member starts at a multiple of 64 bytes. The file appears when it is whole.
    """
    source, name = Collection(path), file_name(dst)
    source._require_folder()
    if os.path.exists(name) and not overwrite:
        error = ExistsError(17, f"{name} exists already; overwrite=True replaces it")
        error.file = error.filename = name
        raise error
    hidden = tempfile.mkdtemp(prefix=".new-", dir=os.path.dirname(os.path.abspath(name)))
    try:
        made = os.path.join(hidden, "packed")
        with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
            first = [] if source._has(_DECLARED) else [_DECLARED]
            if first:
                archive.writestr(_DECLARED, '{"version": 1, "axes": {}}')
            for file in sorted(source._files(), key=lambda one: (one != _DECLARED, one)):
                _add_aligned(archive, os.path.join(source.path, *file.split("/")), file)
        os.replace(made, name)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
    return name


def _add_aligned(archive: zipfile.ZipFile, path: str, name: str) -> None:
    """Add a file whose content starts at a multiple of 64: an extra field fills the gap."""
    info = zipfile.ZipInfo.from_file(path, name)
    info.compress_type = zipfile.ZIP_STORED
    # A field that zipfile adds itself.
    wide = 20 if info.file_size * 1.05 > zipfile.ZIP64_LIMIT else 0
    at = archive.start_dir + 30 + len(name.encode()) + wide + 4
    info.extra = b"\x64\xd1" + (-at % _ALIGN).to_bytes(2, "little") + bytes(-at % _ALIGN)
    if os.path.isdir(path):
        raise UnsupportedError(f"{path} is a data set; write it as one file first")
    with open(path, "rb") as source, archive.open(info, "w", force_zip64=wide > 0) as out:
        shutil.copyfileobj(source, out, 1 << 20)


def unpack_collection(path: Path, dst: Path) -> Collection:
    """Write a collection that is packed into one file as a folder whose name ends in .dds."""
    name = file_name(dst).rstrip("/")
    if not name.endswith(ENDING):
        raise InvalidArgumentError(f"{name} is no name of a collection: it ends in {ENDING}")
    source = Collection(path)
    if os.path.exists(name):
        error = ExistsError(17, f"{name} exists already")
        error.file = error.filename = name
        raise error
    hidden = tempfile.mkdtemp(prefix=".new-", dir=os.path.dirname(os.path.abspath(name)))
    try:
        made = os.path.join(hidden, os.path.basename(name))
        with zipfile.ZipFile(source.path) as archive:
            for file in source._files():
                checked_name(file.rpartition(".")[0])
                archive.extract(file, made)
        os.rename(made, name)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
    return Collection(name)


@wraps(files.open)
def open_any(path: Path, **options: Any) -> Matrix | Frame | Collection:
    """What `pydapple.open` is."""
    if not options and is_collection(path):
        return Collection(path)
    if not options.keys() & {"fs", "store"} and ten_x.is_folder(path):
        return ten_x.open_folder(path, **options)
    return files.open(path, **options)
