"""What an open file remembers of how it was opened, so that another process can open it again."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import Any

from . import _core, remote
from .advice import require_options
from .arguments import told
from .attributes import Attributes, read_once
from .errors import InvalidArgumentError, StaleError, TypeMismatchError, from_code

Stamp = tuple[int, int, int] | remote.Version
_OPENING = ("format", "array", "check", "guard", "read_ahead", "threads", "csv", "futhark", "idv",
            "cache", "temporary")  # fmt: skip
_SAMPLE = 4096  # bytes
_METADATA = ("zarr.json", ".zmetadata", ".zgroup", ".zarray", ".zattrs")  # of a folder of Zarr


def file_name(path: Any) -> str:
    """The name of a file as str. Raises for what is none."""
    try:
        name = os.fsdecode(path)
    except TypeError as error:
        raise TypeMismatchError(f"a file is given by its name: {error}") from None
    try:
        is_name = b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        is_name = False
    if not is_name:
        raise InvalidArgumentError(f"no file can be called {name!r}")
    return name


def stamp_of(path: str) -> Stamp:
    """Size, time of the last change and inode: whether a file here is still the same.

    Of a folder of Zarr those of its root's metadata, which are written anew with the hierarchy.
    """
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            roots = [os.stat(file) for file in _metadata_in(path)]
            newest = max((root.st_mtime_ns for root in roots), default=status.st_mtime_ns)
            return sum(root.st_size for root in roots), newest, status.st_ino
    except OSError as error:
        raise _refused(path, error) from None
    return status.st_size, status.st_mtime_ns, status.st_ino


def _metadata_in(folder: str) -> list[str]:
    files = (os.path.join(folder, name) for name in _METADATA)
    return [file for file in files if os.path.exists(file)]


def fingerprint_of(path: str, array: str = "") -> bytes:
    """A hash of the first, middle and last bytes, by which a copy elsewhere is the same file.

    The last ones of dapple's own files hold a hash of all others. Of a folder of Zarr it is one of
    the metadata of its root and of the array, which does not tell of cells that are changed.
    """
    import hashlib

    digest = hashlib.blake2b(digest_size=16)
    try:
        for file in _files_of_array(path, array) if os.path.isdir(path) else [path]:
            _take_samples(file, digest)
    except OSError as error:
        raise _refused(path, error) from None
    return digest.digest()


def _files_of_array(folder: str, array: str) -> list[str]:
    """The metadata of a hierarchy's root, and of an array in it, or of a group's arrays."""
    node = os.path.join(folder, *array.partition("[")[0].split("/"))
    below = sorted(entry.path for entry in os.scandir(node) if entry.is_dir())
    return [file for one in dict.fromkeys([folder, node, *below]) for file in _metadata_in(one)]


def _take_samples(path: str, digest: Any) -> None:
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        for begin in (0, size // 2, max(0, size - _SAMPLE)):
            file.seek(begin)
            digest.update(file.read(_SAMPLE))


def _refused(path: str, error: OSError) -> Exception:
    return from_code("io", error.strerror or str(error), path, None, error.errno or 0)


@told
class Opened:
    """Path and options of a Matrix or Frame. Pickles carry these, never cells."""

    path: str
    _whole_path: str  # from the root, wherever the process goes later
    _options: dict[str, Any]
    _stamp: Stamp
    _through: dict[str, Any] | None  # of an object far away: `fs` or `store`, if it has one
    _noted: Callable[[], Attributes] | None = None  # read once, not for each key

    def _remember(
        self,
        path: str,
        options: dict[str, Any],
        stamp: Stamp,
        through: dict[str, Any] | None,
    ) -> None:
        self.path, self._options, self._stamp, self._through = path, options, stamp, through
        self._whole_path = os.path.abspath(path) if through is None else path

    @property
    def attrs(self) -> Attributes:
        """What was noted about the object, a JSON object, as a mapping that cannot be changed.

        Files of dapple's own format have attributes; `write`, `writer` and `convert` take them as
        ``attrs=``. Under ``"column_attributes"`` are those of a frame's columns, by label; under
        ``"dimension_names"`` is what rows and columns are called together.
        """
        if self._noted is None:
            self._noted = read_once(self._attributes())  # type: ignore[attr-defined]
        return self._noted()

    def close(self) -> None:
        """Close the file. Arrays and views that were made of it stay valid."""
        _core.Object.close(self)  # type: ignore[arg-type]

    def contents(self) -> list[str]:
        """The objects in the file, for formats that hold several."""
        return _core.Object.contents(self)  # type: ignore[arg-type]

    def details(self) -> list[tuple[str, bytes]]:
        """What the format has to say beside rows, columns and cells."""
        return _core.Object.details(self)  # type: ignore[arg-type]

    def prefetch(self, row_begin: int, row_end: int, col_begin: int, col_end: int) -> None:
        """Ask the system to fetch a region from storage; returns at once."""
        _core.Object.prefetch(self, row_begin, row_end, col_begin, col_end)  # type: ignore[arg-type]

    def require_intact(self) -> None:
        """Raise OSError when a file opened with guard=True has been cut or changed since."""
        _core.Object.require_intact(self)  # type: ignore[arg-type]

    def __reduce__(self) -> tuple[Any, ...]:
        made = self._how_to_reopen()
        names = self._given_names  # type: ignore[attr-defined]
        return (reopen_named, (made, names)) if names else made

    def _how_to_reopen(self) -> tuple[Any, ...]:
        path, stamp = self._whole_path, self._state()
        if self._through is not None:
            return reopen_far, (path, self._options, stamp, self._through)
        if stamp_of(path) != stamp:
            raise _stale(path)
        # Another machine may have a copy, whose inode is another one.
        mark = fingerprint_of(path, self._options.get("array") or "")
        return reopen, (path, self._options, stamp[:2], mark)

    def __dask_tokenize__(self) -> Any:
        return "pydapple", self._whole_path, self._state(), sorted(self._options.items())

    def _state(self) -> Stamp:
        return self._stamp


def _stale(path: str) -> StaleError:
    error = StaleError("the file is no longer the one that was opened; open it again")
    error.file = path
    return error


def reopen(
    path: str, options: dict[str, Any], size_and_time: tuple[int, int], fingerprint: bytes
) -> Any:
    """Open a file that another process had open. Raises StaleError when it has changed."""
    from . import files

    opened = files.open(path, **options)
    mark = fingerprint_of(path, options.get("array") or "")
    if opened._state()[:2] != size_and_time or mark != fingerprint:
        opened.close()
        raise _stale(path)
    if isinstance(opened, _core.Matrix):
        opened._give_back()
    return opened


def reopen_named(how: tuple[Any, ...], names: Any) -> Any:
    """The same with names of rows and columns that its own file does not have."""
    function, arguments = how
    opened = function(*arguments)
    opened._given_names = names
    return opened


def reopen_far(path: str, options: dict[str, Any], stamp: Stamp, through: dict[str, Any]) -> Any:
    """The same for an object far away, through the same file system or store."""
    from . import files

    opened = files.open(path, **options, **through)
    if opened._state() != stamp:
        opened.close()
        raise _stale(path)
    return opened


def open_options(options: dict[str, Any]) -> _core.OpenOptions:
    """The options of `open` as dapple takes them."""
    require_options("opening", options, _OPENING)
    return _core.OpenOptions(**options)
