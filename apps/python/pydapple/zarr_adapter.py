"""Files that dapple opens as a read-only store of Zarr: `pydapple.zarr_store`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any

from zarr.abc.store import (
    OffsetByteRequest,
    RangeByteRequest,
    Store,
    SuffixByteRequest,
)
from zarr.core.buffer import default_buffer_prototype

from .zarr_nodes import Tree, chunk_bytes

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.core.buffer import Buffer, BufferPrototype

_LONG = 1 << 20  # bytes whose reading is worth another thread


class DappleStore(Store):  # type: ignore[misc]
    """A store whose keys are answered by decoding what a file holds, see `pydapple.zarr_store`.

    It pickles as the matrices and frames do, by their paths.
    """

    supports_writes = False
    supports_deletes = False
    supports_listing = True
    supports_partial_writes = False  # asked of stores before zarr 3.1

    def __init__(self, opened: Any, chunks: Any, absent: Any) -> None:
        super().__init__(read_only=True)
        self._is_open = True
        self._given = opened, chunks, absent
        self._tree = Tree(opened, chunks, absent)
        self._json = {
            path: json.dumps(known).encode() for path, known in self._tree.metadata.items()
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return DappleStore, self._given

    def __dask_tokenize__(self) -> Any:
        opened, chunks, absent = self._given
        files = opened.values() if isinstance(opened, dict) else [opened]
        names = list(opened) if isinstance(opened, dict) else []
        return "pydapple.zarr", [f.__dask_tokenize__() for f in files], names, chunks, absent

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DappleStore) and self.__dask_tokenize__() == other.__dask_tokenize__()
        )

    def __str__(self) -> str:
        opened = self._given[0]
        return "pydapple://" + (opened.path if hasattr(opened, "path") else ",".join(opened))

    def __repr__(self) -> str:
        return f"<pydapple.zarr_store {str(self)!r}>"

    def with_read_only(self, read_only: bool = True) -> DappleStore:
        """The same store; it cannot be written."""
        if not read_only:
            raise ValueError("a pydapple.zarr_store is read-only")
        return self

    def get_sync(
        self,
        key: str,
        *,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """The value of a key, or a part of it; None where there is none."""
        buffer = (prototype or default_buffer_prototype()).buffer
        first, last = _slice_of(byte_range)
        name, _, tail = key.rpartition("/")
        if tail == "zarr.json":
            known = self._json.get(name)
            return None if known is None else buffer.from_bytes(known[first:last])
        found = self._tree.find(key)
        return None if found is None else buffer.from_array_like(chunk_bytes(*found, first, last))

    async def get(
        self,
        key: str,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """The same; large chunks are decoded in other threads, many at once."""
        found = self._tree.find(key)
        if found is not None and _size_of(found[0]) >= _LONG:
            return await asyncio.to_thread(
                self.get_sync, key, prototype=prototype, byte_range=byte_range
            )
        return self.get_sync(key, prototype=prototype, byte_range=byte_range)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """Parts of several values."""
        wanted = [self.get(key, prototype, byte_range) for key, byte_range in key_ranges]
        return list(await asyncio.gather(*wanted))

    async def exists(self, key: str) -> bool:
        """Whether the key has a value."""
        name, _, tail = key.rpartition("/")
        return name in self._json if tail == "zarr.json" else self._tree.find(key) is not None

    async def getsize(self, key: str) -> int:
        """Bytes of a value; of words it is found by encoding them."""
        found = self._tree.find(key)
        if found is not None and not found[0].dtype.hasobject:
            return _size_of(found[0])
        value = await self.get(key)
        if value is None:
            raise FileNotFoundError(key)
        return len(value)

    async def set(self, key: str, value: Buffer) -> None:
        """Raises: the store is read-only."""
        self._check_writable()

    async def set_partial_values(self, key_start_values: Iterable[tuple[str, int, bytes]]) -> None:
        """Raises: the store is read-only."""
        self._check_writable()

    async def delete(self, key: str) -> None:
        """Raises: the store is read-only."""
        self._check_writable()

    async def list(self) -> AsyncIterator[str]:
        """Every key."""
        for key in self._tree.every_key():
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """The keys that begin so."""
        for key in self._tree.every_key():
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """The next parts of the keys under a prefix."""
        for name in self._tree.children(prefix.strip("/")):
            yield name


def _size_of(array: Any) -> int:
    cells = 1
    for extent in array.chunks:
        cells *= extent
    return cells * int(array.dtype.itemsize)


def _slice_of(request: ByteRequest | None) -> tuple[int | None, int | None]:
    if request is None:
        return None, None
    if isinstance(request, RangeByteRequest):
        return request.start, request.end
    if isinstance(request, OffsetByteRequest):
        return request.offset, None
    if isinstance(request, SuffixByteRequest):
        return (-request.suffix or 1 << 62), None
    raise TypeError(f"{request!r} is no part of a value")
