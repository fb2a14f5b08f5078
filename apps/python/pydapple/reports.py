"""What calls about whole files take and tell."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple

from .errors import Error

Path = str | os.PathLike[str]
Progress = bool | Callable[[int, int], object] | None
Check = Literal["never", "first_touch", "always"]


class FormatInfo(NamedTuple):
    """A file format that dapple knows."""

    name: str
    title: str
    extensions: tuple[str, ...]
    reads: bool
    writes: bool
    streams: bool


class WriteSummary(NamedTuple):
    """What a written file came to."""

    blocks: dict[str, int]  # total, empty, dense, csr, coo, and the values they store
    bytes: int


class VerifyReport(NamedTuple):
    """What `verify` found: `findings` is empty where the file is sound."""

    findings: list[Error]
    blocks: int  # examined


class RepairReport(NamedTuple):
    """What `repair` could keep."""

    lost: list[Error]
    blocks_kept: int
    blocks_lost: int
    meanings_lost: int  # how many of `lost` are about what columns mean
    written: WriteSummary


@contextmanager
def reporting(progress: Progress, what: str) -> Iterator[Callable[[int, int], object] | None]:
    """The function that long work calls: the caller's, a tqdm bar for True, or none."""
    if not progress or callable(progress):
        yield progress or None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    with tqdm(desc=what, unit_scale=True) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield show
