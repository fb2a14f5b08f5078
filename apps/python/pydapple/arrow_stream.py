"""A frame's Arrow stream under other labels."""

from __future__ import annotations

from collections.abc import Sequence

from . import _core


class LabelledStream:
    """What reads Arrow streams sees these labels, with U+FFFD for bytes that are not UTF-8."""

    def __init__(self, frame: _core.Frame, labels: Sequence[str]) -> None:
        self.frame = frame
        self.labels = [
            label.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for label in labels
        ]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _core.arrow_stream(self.frame, self.labels)


__all__ = ["LabelledStream"]
