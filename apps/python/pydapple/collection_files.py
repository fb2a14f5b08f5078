"""Collections as a whole: written, packed into one file, and unpacked."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .collection import (
    DECLARED,
    ENDING,
    Axes,
    Collection,
    checked_name,
    declared_axes,
    is_collection,
)
from .errors import ExistsError, InvalidArgumentError, UnsupportedError
from .identity import file_name
from .reports import Path

_ALIGN = 64
_NOTHING_DECLARED = '{"version": 1, "axes": {}}'


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
    if not name.endswith((ENDING, ".zip")):
        raise InvalidArgumentError(
            f"{name} is no name of a collection: it ends in {ENDING}, or in .zip for a single file"
        )
    if os.path.exists(name) and not (overwrite and is_collection(name)):
        raise _exists(name, "overwrite=True replaces a collection")
    with _hidden(name) as hidden:
        made = os.path.join(hidden, "new" + ENDING)
        os.mkdir(made)
        with Collection(made) as collection:
            collection.declare(
                declared_axes({"axes": {k: list(v) for k, v in (axes or {}).items()}}, name)
            )
            yield collection
        if name.endswith(".zip"):
            packed = os.path.join(hidden, "packed")
            _pack(Collection(made), packed)
            os.replace(packed, name)
            return
        if os.path.exists(name):
            os.rename(name, os.path.join(hidden, "old"))
        os.rename(made, name)


@contextmanager
def _hidden(name: str) -> Iterator[str]:
    """A folder beside the file, which is gone afterwards."""
    folder = tempfile.mkdtemp(prefix=".new-", dir=os.path.dirname(os.path.abspath(name)))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _exists(name: str, advice: str = "") -> ExistsError:
    error = ExistsError(17, f"{name} exists already{advice and '; ' + advice}")
    error.file = error.filename = name
    return error


def pack_collection(path: Path, dst: Path, *, overwrite: bool = False) -> str:
    """Write a collection as one ZIP file, which is read in place: nothing in it is compressed.

    Each member starts at a multiple of 64 bytes. The file appears when it is whole.
    """
    source, name = Collection(path), file_name(dst)
    source.require_folder()
    if os.path.exists(name) and not overwrite:
        raise _exists(name, "overwrite=True replaces it")
    with _hidden(name) as hidden:
        made = os.path.join(hidden, "packed")
        _pack(source, made)
        os.replace(made, name)
    return name


def _pack(source: Collection, made: str) -> None:
    files = sorted(source.files(), key=lambda one: (one != DECLARED, one))
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        if DECLARED not in files:
            archive.writestr(DECLARED, _NOTHING_DECLARED)
        for file in files:
            _add_aligned(archive, os.path.join(source.path, *file.split("/")), file)
    with open(made, "rb") as written:
        os.fsync(written.fileno())


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
        raise _exists(name)
    with _hidden(name) as hidden:
        made = os.path.join(hidden, os.path.basename(name))
        with zipfile.ZipFile(source.path) as archive:
            for file in source.files():
                checked_name(file.rpartition(".")[0])
                archive.extract(file, made)
        os.rename(made, name)
    return Collection(name)
