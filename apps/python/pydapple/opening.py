"""Whatever is at a path, opened: a matrix, a frame or a collection."""

from __future__ import annotations

from functools import wraps
from typing import Any

from . import files, remote, ten_x
from .arguments import told
from .collection import Collection
from .collection_place import ENDING, Place, is_collection
from .frame import Frame
from .identity import file_name
from .matrix import Matrix
from .reports import Path


def find(path: Path, *, fs: Any = None, store: Any = None, cache: Path = "") -> Collection | None:
    """The collection that this is, if it is one; where it may be, as of `pydapple.open`."""
    there = Place(file_name(path), fs, store, cache)
    if not there.far:
        return Collection(there.path) if is_collection(there.path) else None
    may_be = remote.shown(there.path).rstrip("/").endswith((ENDING, ".zip"))
    found = there.find() if may_be else None
    return None if found is None else Collection(path, _found=(there, found))


@told
@wraps(files.open)
def open_any(path: Path, **options: Any) -> Matrix | Frame | Collection:
    """What `pydapple.open` is."""
    if options.keys() <= {"fs", "store", "cache"} and (found := find(path, **options)) is not None:
        return found
    if not options.keys() & {"fs", "store"} and ten_x.is_folder(path):
        return ten_x.open_folder(path, **options)
    return files.open(path, **options)
