"""The stored blocks of a matrix or frame, as a sequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from . import _core
from .errors import InvalidIndexError, shown
from .keys import Pick, pick


class Blocks(Sequence[_core.Block]):
    """Blocks in file order; each is looked up when it is asked for."""

    def __init__(self, owner: _core.Object) -> None:
        self._owner = owner

    def __len__(self) -> int:
        return self._owner._block_count()

    @overload
    def __getitem__(self, key: int) -> _core.Block: ...
    @overload
    def __getitem__(self, key: slice) -> list[_core.Block]: ...
    def __getitem__(self, key: int | slice) -> _core.Block | list[_core.Block]:
        picked = Pick([]) if isinstance(key, tuple) else pick(key, len(self), "block")
        if isinstance(key, slice):
            return [self._owner._stored_block(k) for k in picked.of]
        if not picked.drop:
            raise InvalidIndexError(f"blocks are picked by an integer or a slice, not {shown(key)}")
        return self._owner._stored_block(picked.of[0])

    def __iter__(self) -> Iterator[_core.Block]:
        for k in range(len(self)):
            yield self._owner._stored_block(k)

    def __repr__(self) -> str:
        return f"<{len(self)} blocks>"
