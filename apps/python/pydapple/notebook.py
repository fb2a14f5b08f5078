"""What a notebook shows of a matrix or frame: facts, and the picture that is drawn in a moment."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from . import _core, summary
from .errors import Error
from .picture import origin, sound

if TYPE_CHECKING:
    from .frame import Frame
    from .matrix import Matrix

_SIZE = 420, 340  # pixels of the figure
_LABEL = 60  # letters


def matrix_html(matrix: Matrix) -> str:
    """A table of facts beside a picture of the cells: SVG without scripts."""
    if matrix.closed:
        return f"<pre>{escape(repr(matrix))}</pre>"
    counts = matrix._counts()
    rows, cols = matrix.shape
    share = counts["stored"] / matrix.size if matrix.size else 0.0
    kinds = ", ".join(f"{counts[k]} {k}" for k in ("empty", "dense", "csr", "coo") if counts[k])
    facts = {
        "file": f"{matrix.path} ({_bytes(matrix.file_bytes)}, {matrix.format})",
        "shape": f"{rows} x {cols}, {matrix.dtype}, {_bytes(matrix.nbytes)}",
        "tiles": f"{matrix.chunks[0]} x {matrix.chunks[1]}" if matrix.grid else "irregular",
        "blocks": f"{counts['total']}: {kinds}" if counts["total"] else "0",
        "stored": f"{counts['stored']} values ({share:.3%})",
    }
    return _page("pydapple.Matrix", facts, matrix)


def frame_html(frame: Frame) -> str:
    """A table of facts, and of each column its type, missing cells, values and first cells."""
    if frame.closed:
        return f"<pre>{escape(repr(frame))}</pre>"
    columns, sampled = summary.columns_of(frame)
    facts = {
        "file": f"{frame.path} ({_bytes(frame.file_bytes)}, {frame.format})",
        "rows": str(frame.shape[0]),
        "columns": str(len(frame.columns)),
    }
    if sampled < len(frame):
        facts["sample"] = f"shares and bars are of {sampled} rows"
    return f"<div>{_page('pydapple.Frame', facts, frame)}{_columns_table(frame, columns)}</div>"


def _columns_table(frame: Frame, columns: list[summary.ColumnSummary]) -> str:
    if not columns:
        return ""
    more = len(frame.columns) - len(columns)
    lines = [
        ["", *(_short(column.name) for column in columns)],
        ["type", *(column.kind for column in columns)],
        ["missing", *(f"{column.missing:.1%}" if column.missing else "" for column in columns)],
    ]
    rows = "".join(_table_row(line, "th") for line in lines)
    rows += "<tr><th></th>" + "".join(f"<td>{_bars(column.bars)}</td>" for column in columns)
    rows += "</tr>"
    for row in range(len(columns[0].first)):
        rows += _table_row([str(row), *(column.first[row] for column in columns)], "td")
    note = f"<p>... and {more} more columns</p>" if more else ""
    return f"<table>{rows}</table>{note}"


def _table_row(cells: list[str], kind: str) -> str:
    shown = [escape(sound(cell), quote=True) for cell in cells]
    body = "".join(f"<{kind} style='text-align:right'>{cell}</{kind}>" for cell in shown[1:])
    return f"<tr><th style='text-align:left'>{shown[0]}</th>{body}</tr>"


def _bars(counts: list[int]) -> str:
    """A small histogram."""
    height, width = 24, 6
    most = max(counts, default=0)
    if most == 0:
        return ""
    bars = "".join(
        f"<rect x='{k * width}' y='{height - max(1, count * height // most)}' "
        f"width='{width - 1}' height='{max(1, count * height // most)}'/>"
        for k, count in enumerate(counts)
        if count
    )
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width * len(counts)}' height='{height}' "
        f"fill='#4477aa'>{bars}</svg>"
    )


def _page(title: str, facts: dict[str, str], owner: Matrix | Frame) -> str:
    picture, why_not = _picture(owner)
    if why_not:
        facts |= {"picture": f"none: {why_not}"}
    lines = "".join(
        f"<tr><th style='text-align:left'>{key}</th>"
        f"<td style='text-align:left'>{escape(sound(text), quote=True)}</td></tr>"
        for key, text in facts.items()
    )
    return (
        f"<div style='display:flex;gap:1em;align-items:center'><div><b>{title}</b>"
        f"<table>{lines}</table></div>{picture}</div>"
    )


def _picture(owner: Matrix | Frame) -> tuple[str, str]:
    """A figure, or why there is none."""
    try:
        seen = _core.glance(owner, sound(owner.path), *_SIZE)
    except Error as error:
        return "", str(error)
    if isinstance(seen, str):
        return "", seen
    known = seen.scale(None)
    title = "cells" if known is None else known[3]
    return seen.svg(*_SIZE, title, origin(seen.source) or "of all cells"), ""


def _short(label: str) -> str:
    return label if len(label) <= _LABEL else label[:_LABEL] + "..."


def _bytes(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024 or unit == "TiB":
            break
        count /= 1024
    return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
