"""Where a collection is: a folder, one ZIP file, or either far away."""

from __future__ import annotations

import os
from typing import Any

from . import _core, files, remote
from .frame import Frame
from .identity import Stamp, file_name, open_options
from .matrix import Matrix
from .member_names import DECLARED, OBJECT
from .reports import Path

ENDING = ".dds"


def is_collection(path: Path) -> bool:
    """Whether this is a folder that ends in .dds, or a ZIP file of a collection."""
    name = file_name(path)
    if os.path.isdir(name):
        return name.rstrip("/").endswith(ENDING)
    if not name.endswith((ENDING, ".zip")) or not os.path.isfile(name):
        return False
    try:
        with open(name, "rb") as file:
            head = file.read(30 + len(DECLARED))
    except OSError:
        return False
    return head.startswith(b"PK\3\4") and head[30:] == DECLARED.encode()


class Place:
    """Where a collection is."""

    def __init__(self, path: str, fs: Any, store: Any, cache: Path) -> None:
        self.objects = remote.objects_of(path, fs, store)
        self.far = self.objects is not None or remote.is_address(path)
        # Whole, so that it is the same wherever the process goes later.
        self.path = path if self.far else os.path.abspath(remote.local_path(path, fs))
        self.where = {"fs": fs, "store": store} if self.objects is not None else {}
        folder = file_name(cache)
        self.options = {"cache": folder} if folder else {}

    @property
    def shown(self) -> str:
        """The path, without what may be secret."""
        return remote.shown(self.path) if remote.is_far(self.path) else self.path

    def find(self) -> _core.Collection | None:
        """What there is now; None where there is no collection."""
        if self.objects is not None:
            return _core.find_far_collection(*self.objects, open_options(self.options))
        return _core.find_collection(self.path, open_options(self.options))

    def member(self, found: _core.Collection, stamp: Stamp | None, name: str) -> Matrix | Frame:
        """A member of what is far away, or in one file of this state."""
        handle = found.open(name, self.far)
        options = self.options | {"array": name}
        if self.objects is None:
            return files.remembering(handle, self.path, options, stamp, {} if self.far else None)
        objects, inside = self.objects
        folder = inside.rstrip("/")
        own = f"{folder}/{name}{OBJECT}"
        for file, reader in reversed(objects.opened):
            if file == own or file.startswith(own + "/dataset-"):  # or a state of a data set
                path = self.path.rstrip("/") + file[len(folder) :]
                return files.remembering(handle, path, self.options, reader.version, self.where)
        version = objects.opened[0][1].version
        return files.remembering(handle, self.path, options, version, self.where)
