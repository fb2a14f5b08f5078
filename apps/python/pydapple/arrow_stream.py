"""A frame's Arrow stream under other labels, and with dapple's own errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from . import _core


class LabelledStream:
    """What reads Arrow streams sees these labels, with U+FFFD for bytes that are not UTF-8.

    Without labels, it sees the frame's own.
    """

    def __init__(
        self, frame: _core.Frame, labels: Sequence[str] | None = None,
        columns: list[int] | None = None, rows: Any = None, named_zones: bool = False,
        metadata: tuple[bytes, list[bytes]] = (b"", []), absent: int = 0,
    ) -> None:  # fmt: skip
        self.frame = frame
        self.columns = columns  # places in their order; None: all
        self.rows = rows  # a pair (begin, end), or positions; None: all
        self.named_zones = named_zones  # UTC for those that are an offset
        self.metadata = metadata  # of the schema, and of its fields or of none
        self.absent = absent  # as `absent_code` has it
        self.labels: list[str] | None = None
        if labels is not None:
            self.labels = [
                label.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                for label in labels
            ]
        self.fault = _core.StreamFault()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _core.arrow_stream(
            self.frame,
            self.labels,
            self.fault,
            self.columns,
            self.rows,
            self.named_zones,
            *self.metadata,
            self.absent,
        )

    @contextmanager
    def raising(self) -> Iterator[LabelledStream]:
        """Raises what dapple reported, where the reader makes an error of its own of it."""
        try:
            yield self
        except Exception as error:
            if (fault := self.fault.error()) is not None:
                raise fault from error
            raise


__all__ = ["LabelledStream"]
