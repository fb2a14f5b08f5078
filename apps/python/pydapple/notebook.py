"""What a notebook shows of a matrix or frame: facts, and the picture that is drawn in a moment."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from . import _core
from .errors import Error
from .picture import origin, sound

if TYPE_CHECKING:
    from .frame import Frame
    from .matrix import Matrix

_SIZE = 420, 340  # pixels of the figure
_LABEL = 60  # letters
_COLUMNS = 20  # that are named


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
    """A table of facts and the first columns, beside a picture of the cells."""
    if frame.closed:
        return f"<pre>{escape(repr(frame))}</pre>"
    dtypes = list(frame.dtypes.items())
    shown = ", ".join(f"{_short(label)}: {kind}" for label, kind in dtypes[:_COLUMNS])
    facts = {
        "file": f"{frame.path} ({_bytes(frame.file_bytes)}, {frame.format})",
        "rows": str(frame.shape[0]),
        "columns": f"{len(dtypes)}: {shown}{', ...' if len(dtypes) > _COLUMNS else ''}",
    }
    return _page("pydapple.Frame", facts, frame)


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
