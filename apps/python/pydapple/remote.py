"""Objects far away: at web addresses, and in stores that fsspec or obstore open.

Web addresses (http, https) are read by the library itself. Whatever else people already have, S3,
GCS, Azure, an archive, memory, is read through their own object, with their own credentials: a
file system of fsspec (``fs=``), or a store of obstore (``store=``). One state of an object is read,
or an error raised: obstore asks for that state with each request (``if_match``); fsspec cannot, so
the state is asked for again after each reading.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

from .errors import InvalidArgumentError, TypeMismatchError, UnsupportedError, from_code
from .errors import shown as shown_value

_AT_ONCE = 16  # requests
_PIECE = 4 << 20  # bytes of a request: larger ranges are read side by side

_TAGS = ("ETag", "etag", "e_tag", "version_id", "generation", "md5")  # of fsspec's `info`
_DATES = ("mtime", "created", "LastModified")
# What tells two stores apart whose buckets have one name.
_PLACES = ("bucket", "container_name", "account_name", "endpoint", "endpoint_url", "base_url")

Version = tuple[int, str]  # size, and what the store calls this state of the object
Range = tuple[int, int]  # first byte, number of bytes


class Reader(Protocol):
    """An object that is read in ranges."""

    size: int
    version: Version
    lasting_name: str  # of this state of the object, for all time; "" where there is none

    def read(self, ranges: Sequence[Range]) -> list[Any]:
        """The bytes of each range, in order. Raises OSError when the object was replaced."""


class Objects(Protocol):
    """What one call of `open` reads, as `_core.open_far` takes it."""

    opened: list[tuple[str, Reader]]  # what was found, the object itself before its parts

    def find(self, name: str) -> Reader | None:
        """The object of that name; None when there is none."""

    def list(self, folder: str) -> list[str]:
        """What is directly in a folder, which ends in a slash; folders end in one."""


def is_address(path: str) -> bool:
    """Whether a name is a web address."""
    return path.lower().startswith(("http://", "https://"))


def objects_of(path: str, fs: Any, store: Any) -> tuple[Objects, str] | None:
    """Where an object far away is, and its name there; None for what the library opens by its name.

    Raises InvalidArgumentError for both a file system and a store, UnsupportedError for an address
    that nothing installed here knows.
    """
    if fs is not None and store is not None:
        raise InvalidArgumentError("give fs= or store=, not both")
    if store is not None:
        return StoreObjects(store), path
    if fs is None:
        if not is_far(path) or is_address(path):
            return None
        fs, path = _file_system(path, path.partition("://")[0])
    if not hasattr(fs, "cat_ranges"):
        raise TypeMismatchError(
            "fs is a file system of fsspec, such as fsspec.filesystem('memory'), not "
            f"{shown_value(fs)}"
        )
    return None if _is_local(fs) else (FileSystemObjects(fs), path)


def is_far(path: str) -> bool:
    """Whether a name is a web address, or one that fsspec may know, such as ``s3://bucket/key``."""
    scheme, found, _ = path.partition("://")
    return bool(found) and scheme.isalnum()


def local_path(path: str, fs: Any) -> str:
    """The path of a file of this machine, where `fs` or an address such as file:///x says so."""
    if fs is None and is_far(path) and not is_address(path):
        fs = _file_system(path, path.partition("://")[0])[0]
    return str(fs._strip_protocol(path)) if fs is not None and _is_local(fs) else path


def require_local(path: str) -> None:
    """Raises InvalidArgumentError for an address, at which nothing is written."""
    if is_far(path):
        raise InvalidArgumentError(
            f"{shown(path)}: what is at an address is only read; name a place on this machine"
        )


def shown(address: str) -> str:
    """An address without what may be secret: user, password, query."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _may_be_there(name: str, error: OSError) -> bool:
    """Whether there is something that one may not see.

    Where one may not list, that is also the answer for what is not there: a .meta is none then.
    """
    return isinstance(error, PermissionError) and not name.endswith(".meta")


class StoreObjects:
    """The objects in a store of obstore."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.opened: list[tuple[str, Reader]] = []

    def find(self, name: str) -> Reader | None:
        """As `Objects.find`. One request."""
        try:
            made = _StoreReader(self._store, name)
        except (FileNotFoundError, PermissionError) as error:
            if _may_be_there(name, error):
                raise
            return None
        self.opened.append((name, made))
        return made

    def list(self, folder: str) -> list[str]:
        """As `Objects.list`."""
        import obstore

        try:
            found = obstore.list_with_delimiter(self._store, folder or None)
        except Exception as error:
            raise _failed(folder, error) from None
        names = [one["path"] for one in found["objects"]]
        folders = [one.rstrip("/") + "/" for one in found["common_prefixes"]]
        return [one.removeprefix(folder) for one in names + folders]


class _StoreReader:
    def __init__(self, store: Any, path: str) -> None:
        import obstore

        self._name = path
        self._store = store
        self._get = obstore.get
        try:
            head = obstore.head(store, path)
        except Exception as error:
            raise _failed(path, error) from None
        self._tag = head["e_tag"]
        if self._tag is None:
            raise UnsupportedError(
                f"{path}: the store gives the object no tag, so that nobody could see that it is "
                "replaced; download it first"
            )
        self.size: int = head["size"]
        self.version: Version = (self.size, self._tag)
        place = _place_of(store)
        self.lasting_name = f"{place} {path} {self.version}" if place else ""

    def read(self, ranges: Sequence[Range]) -> list[Any]:
        """As `Reader.read`: several requests at once."""
        return _in_pieces(self._one, ranges, self._name)

    def _one(self, piece: Range) -> Any:
        first, size = piece
        options = {"range": (first, first + size), "if_match": self._tag}
        return self._get(self._store, self._name, options=options).bytes()


class FileSystemObjects:
    """The files of a file system of fsspec."""

    def __init__(self, fs: Any) -> None:
        self._fs = fs
        self.opened: list[tuple[str, Reader]] = []

    def find(self, name: str) -> Reader | None:
        """As `Objects.find`."""
        try:
            made = _FileReader(self._fs, name)
        except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
            if _may_be_there(name, error):
                raise
            return None
        self.opened.append((name, made))
        return made

    def list(self, folder: str) -> list[str]:
        """As `Objects.list`."""
        try:
            self._fs.invalidate_cache(folder.rstrip("/"))
            found = self._fs.ls(folder.rstrip("/"), detail=True)
        except FileNotFoundError:
            return []
        except Exception as error:
            raise _failed(folder, error) from None
        return [
            one["name"].rstrip("/").rpartition("/")[2] + "/" * (one["type"] == "directory")
            for one in found
        ]


class _FileReader:
    def __init__(self, fs: Any, path: str) -> None:
        self._name = path
        self._fs = fs
        self.version, is_tagged = self._now()
        self.size = self.version[0]
        options = {**fs.storage_options, **(fs.storage_options.get("client_kwargs") or {})}
        place = shown(fs.unstrip_protocol(path)), [options.get(key) for key in _PLACES]
        self.lasting_name = f"{place} {self.version}" if is_tagged else ""

    def read(self, ranges: Sequence[Range]) -> list[Any]:
        """As `Reader.read`: one call of the file system, and one for the state."""
        try:
            starts = [first for first, _ in ranges]
            ends = [first + size for first, size in ranges]
            got = self._fs.cat_ranges([self._name] * len(starts), starts, ends, on_error="raise")
        except Exception as error:
            raise _failed(self._name, error) from None
        if self._now()[0] != self.version:
            detail = "the object was replaced while it was read; open it again"
            raise from_code("io", detail, self._name, None, 0)
        return list(got)

    def _now(self) -> tuple[Version, bool]:
        """The state that the object has, and whether it is one that never comes again."""
        try:
            self._fs.invalidate_cache(self._fs._parent(self._name))
            about = self._fs.info(self._name)
        except Exception as error:
            raise _failed(self._name, error) from None
        if about.get("type") == "directory":
            raise IsADirectoryError(self._name)
        if about.get("size") is None:
            raise UnsupportedError(f"{self._name}: this is no file of a known size")
        state = repr([about.get(key) for key in (*_TAGS, *_DATES)])
        return (int(about["size"]), state), any(about.get(key) for key in _TAGS)


def _place_of(store: Any) -> str:
    """Tells a store of obstore from others, without secrets; "" for one of this machine."""
    if isinstance(url := getattr(store, "url", None), str):
        return shown(url)
    if not (config := getattr(store, "config", None)):
        return ""
    return repr([type(store).__name__, store.prefix, *map(config.get, _PLACES)])


def _in_pieces(get: Callable[[Range], Any], ranges: Sequence[Range], name: str) -> list[Any]:
    """The bytes of each range, read in pieces, several at once."""
    pieces = [
        (first + done, min(_PIECE, size - done))
        for first, size in ranges
        for done in range(0, size, _PIECE)
    ]
    try:
        if len(pieces) == 1:
            return [get(pieces[0])]
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(min(_AT_ONCE, len(pieces))) as pool:
            return list(pool.map(get, pieces))
    except Exception as error:
        raise _failed(name, error) from None


def _file_system(path: str, scheme: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError:
        raise UnsupportedError(
            f"{shown(path)}: addresses of {scheme}:// need fsspec and its part for {scheme}, "
            "or a file system or store of yours: dp.open(path, fs=...), dp.open(path, store=...)"
        ) from None
    try:
        fs, inside = fsspec.core.url_to_fs(path)
    except (ImportError, ValueError) as error:
        raise UnsupportedError(f"{shown(path)}: {error}") from None
    except OSError as error:  # of a file system that connects at once
        raise _failed(shown(path), error) from None
    return fs, str(inside)


def _is_local(fs: Any) -> bool:
    protocol = getattr(fs, "protocol", ())
    return "file" in ((protocol,) if isinstance(protocol, str) else protocol)


def _failed(name: str, error: Exception) -> Exception:
    is_none = isinstance(error, FileNotFoundError) or getattr(error, "code", 0) == 404
    number = errno.ENOENT if is_none else 0
    if isinstance(error, PermissionError):
        number = errno.EACCES
    first = str(error).strip().splitlines()
    return from_code("io", first[0] if first else type(error).__name__, name, None, number)
