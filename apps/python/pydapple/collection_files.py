"""Collections as a whole: written, packed into one file, and unpacked."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from . import _core, remote, temporary
from .arguments import told
from .attributes import tell
from .collection import Axes, Collection
from .collection_place import ENDING, is_collection
from .errors import Error, InvalidArgumentError, from_code
from .identity import file_name
from .reports import Path, Progress, reporting


@told
def write_collection(
    path: Path,
    members: Mapping[str, Any],
    *,
    axes: Mapping[str, Axes] | None = None,
    overwrite: bool = False,
    **options: Any,
) -> Collection:
    """Write a collection: a folder whose name ends in .dds, or one ZIP file of it (.zip).

    It appears when it is whole.

    Args:
        path: the folder or file to make.
        members: what each is, by name; as of `Collection.put`.
        axes: of members that do not share those which AnnData's names tell: a pair of names or None
            for rows and columns.
        overwrite: replace an existing collection.
        options: of `write`, for all members.
    """
    with being_written(path, overwrite, axes) as collection:
        for member, data in members.items():
            collection.put(member, data, **options)
    return Collection(path)


@contextmanager
def being_written(
    path: Path, overwrite: bool, axes: Mapping[str, Axes] | None = None
) -> Iterator[Collection]:
    """An empty collection that gets its name when it is full, or is gone after an exception."""
    name = file_name(path).rstrip("/")
    remote.require_local(name)
    if not name.endswith((ENDING, ".zip")):
        raise InvalidArgumentError(
            f"{name} is no name of a collection: it ends in {ENDING}, or in .zip for a single file"
        )
    if os.path.exists(name) and not (overwrite and is_collection(name)):
        raise _exists(name, "overwrite=True replaces a collection")
    with temporary.folder(beside=name) as hidden:
        made = os.path.join(hidden, "new" + ENDING)
        os.mkdir(made)
        with Collection(made) as collection:
            collection.declare(axes or {})
            yield collection
        if name.endswith(".zip"):
            _core.pack_collection(made, name, overwrite, None)
            return
        _core.publish_collection(made, name, overwrite)


def _exists(name: str, advice: str = "") -> Error:
    detail = f"it exists already{advice and '; ' + advice}"
    return from_code("invalid_argument", detail, name, None, errno.EEXIST)


@told
def pack_collection(
    path: Path, dst: Path, *, overwrite: bool = False, progress: Progress = None
) -> str:
    """Write a collection as one ZIP file, which is read in place: nothing in it is compressed.

    Each member starts at a multiple of 64 bytes. The file appears when it is whole. Warns of files
    in the folder that are no members, and so not in it.

    Args:
        path: the collection, a folder.
        dst: the file to make.
        overwrite: replace an existing file.
        progress: as of `convert`, in bytes.
    """
    name = file_name(dst)
    with reporting(progress, "pack") as report:
        left_out = _core.pack_collection(file_name(path), name, overwrite, report)
    for file in left_out:
        tell(f"not kept: {file} is no member, and not in {name}")
    return name


@told
def unpack_collection(
    path: Path, dst: Path, *, overwrite: bool = False, progress: Progress = None
) -> Collection:
    """Write a collection that is packed into one file as a folder whose name ends in .dds.

    The folder appears when it is whole.

    Args:
        path: the file.
        dst: the folder to make.
        overwrite: replace another collection.
        progress: as of `convert`, in bytes.
    """
    name = file_name(dst).rstrip("/")
    with reporting(progress, "unpack") as report:
        _core.unpack_collection(file_name(path), name, overwrite, report)
    return Collection(name)
