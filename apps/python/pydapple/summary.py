"""A frame at a glance: its first rows, and of each column its type, missing cells and values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .meanings import Meaning

if TYPE_CHECKING:
    from .frame import Frame

_ROWS = 5  # that are shown
_SAMPLE = 2048  # rows that tell of missing cells and of values
_RUNS = 8  # of rows next to each other, of which the sample is made
_BARS = 10
_COLUMNS = 20
_CELL = 24  # letters


class ColumnSummary(NamedTuple):
    """A column, as far as a sample of its rows tells."""

    name: str
    kind: str
    missing: float  # share of the sample
    bars: list[int]  # a histogram of the numbers, times or words in it
    first: list[str]  # cells


def kind_of(meaning: Meaning, dtype: np.dtype[Any]) -> str:
    """What a column holds, in people's words."""
    if meaning.kind == "category" and meaning.words is not None:
        return f"{'ordered ' if meaning.ordered else ''}category of {len(meaning.words)}"
    if meaning.kind == "timestamp":
        if meaning.unit == "D":
            return "date"
        return f"time, {meaning.zone}" if meaning.zone else "time"
    return str(dtype) if meaning.kind == "number" else meaning.kind


def columns_of(frame: Frame) -> tuple[list[ColumnSummary], int]:
    """The first columns, and from how many rows their shares and bars are."""
    named = frame._named()[:_COLUMNS]
    rows = _sampled(len(frame))
    head = range(min(_ROWS, len(frame)))
    made = []
    for name, where in named:
        if where < 0:
            first = [str(cell) for cell in frame._shown_cells(where, head)]
            made.append(ColumnSummary(name, "text", 0.0, [], list(map(_short, first))))
            continue
        meaning, dtype = frame._meanings[where], frame._dtypes[where]
        parts = [frame._stored_cells(where, part) for part in rows]
        stored = np.concatenate(parts) if parts else np.empty(0, dtype)
        gone = meaning.missing_cells(stored)
        first = _cells(meaning, frame._stored_cells(where, head))
        share = float(gone.mean()) if len(stored) else 0.0
        bars = _histogram(meaning, stored[~gone])
        made.append(ColumnSummary(name, kind_of(meaning, dtype), share, bars, first))
    return made, sum(map(len, rows))


def _sampled(rows: int) -> list[range]:
    """All rows of a short frame; else some runs of them, evenly apart."""
    if rows <= _SAMPLE:
        return [range(rows)] if rows else []
    length = _SAMPLE // _RUNS
    starts = [k * (rows - length) // (_RUNS - 1) for k in range(_RUNS)]
    return [range(start, start + length) for start in starts]


def _cells(meaning: Meaning, stored: NDArray[Any]) -> list[str]:
    gone = meaning.missing_cells(stored)
    cells = np.ma.getdata(meaning.to_numpy(stored.copy()))
    return [
        "missing" if missing else _short(str(cell))
        for cell, missing in zip(cells, gone, strict=True)
    ]


def _short(text: str) -> str:
    return text if len(text) <= _CELL else text[: _CELL - 3] + "..."


def _histogram(meaning: Meaning, stored: NDArray[Any]) -> list[int]:
    """Counts of equal parts of the range of values; of words, of the most frequent ones."""
    if meaning.words is not None:
        counts = np.sort(np.unique(stored, return_counts=True)[1])[::-1]
        return [int(count) for count in counts[:_BARS]]
    values = stored.astype(np.float64)
    values = values[np.isfinite(values)]
    if not len(values):
        return []
    low, high = float(values.min()), float(values.max())
    if low == high or not np.isfinite(high - low):
        return [len(values)]
    return [int(count) for count in np.histogram(values, _BARS, (low, high))[0]]


def as_text(frame: Frame) -> str:
    """What a terminal shows of a frame."""
    columns, sampled = columns_of(frame)
    count = len(frame.columns)
    title = f"<pydapple.Frame {frame.path!r}: {_counted(len(frame), 'row')}, "
    title += f"{_counted(count, 'column')}>"
    if not columns:
        return title
    lines = [["", *(_short(column.name) for column in columns)]]
    lines.append(["type", *(column.kind for column in columns)])
    if any(column.missing for column in columns):
        lines.append(["missing", *(_percent(column.missing) for column in columns)])
    for row in range(len(columns[0].first)):
        lines.append([str(row), *(column.first[row] for column in columns)])
    text = _aligned(lines)
    more = []
    if len(frame) > _ROWS:
        more.append(f"rows {_ROWS} to {len(frame) - 1}")
    if count > len(columns):
        more.append(_counted(count - len(columns), "more column"))
    if more:
        text += f"\n... {' and '.join(more)}"
    if sampled < len(frame) and any(column.missing for column in columns):
        text += f"\nmissing: of a sample of {sampled} rows"
    return f"{title}\n{text}"


def _aligned(lines: Sequence[Sequence[str]]) -> str:
    """Columns of text, as many as fit a line of a terminal."""
    clean = [[_printable(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*clean, strict=True)]
    fit, total = 0, 0
    while fit < len(widths) and (fit < 2 or total + widths[fit] + 2 <= 100):
        total += widths[fit] + 2
        fit += 1
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line[:fit], widths, strict=False))
        + ("  ..." if fit < len(widths) else "")
        for line in clean
    )


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)


def _percent(share: float) -> str:
    return "" if share == 0 else f"{share:.1%}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")
