"""How matrices and frames look in a notebook, and pictures of what their tiles hold."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .frame import Frame
    from .matrix import Matrix

_SIDE = 160  # pixels of the longer side
_MOST = 48  # cells of the picture on that side
_BLOCKS = 20_000  # more are not looked at for a picture that appears by itself


def density(matrix: Matrix, most: int) -> NDArray[np.float64]:
    """The share of cells that are stored, over a grid of at most `most` x `most` fields."""
    rows, cols = (max(1, extent) for extent in matrix.shape)
    tile_rows, tile_cols = (max(1, extent) for extent in matrix.chunks)
    down = min(most, -(-rows // tile_rows))
    across = min(most, -(-cols // tile_cols))
    stored = np.zeros((down, across))
    for block in matrix.blocks:
        (row, col), (height, width) = block.pos, block.shape
        top, bottom = row * down // rows, -(-(row + height) * down // rows)
        left, right = col * across // cols, -(-(col + width) * across // cols)
        field = stored[top:bottom, left:right]
        field += block.nnz / field.size
    return stored / (rows / down * (cols / across))


def matrix_html(matrix: Matrix) -> str:
    """A table of facts beside a picture of the tiles: SVG without scripts."""
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
    picture = _svg(matrix) if counts["total"] <= _BLOCKS else ""
    return _page("pydapple.Matrix", facts, picture)


def frame_html(frame: Frame) -> str:
    """A table of facts and the first columns."""
    if frame.closed:
        return f"<pre>{escape(repr(frame))}</pre>"
    dtypes = list(frame.dtypes.items())
    shown = ", ".join(f"{label}: {kind}" for label, kind in dtypes[:20])
    facts = {
        "file": f"{frame.path} ({_bytes(frame.file_bytes)}, {frame.format})",
        "rows": str(frame.shape[0]),
        "columns": f"{len(dtypes)}: {shown}{', ...' if len(dtypes) > 20 else ''}",
    }
    return _page("pydapple.Frame", facts, "")


def _page(title: str, facts: dict[str, str], picture: str) -> str:
    lines = "".join(
        f"<tr><th style='text-align:left'>{key}</th>"
        f"<td style='text-align:left'>{escape(text, quote=True)}</td></tr>"
        for key, text in facts.items()
    )
    return (
        f"<div style='display:flex;gap:1em;align-items:center'><div><b>{title}</b>"
        f"<table>{lines}</table></div>{picture}</div>"
    )


def _svg(matrix: Matrix) -> str:
    fields = density(matrix, _MOST)
    down, across = fields.shape
    rows, cols = (max(1, extent) for extent in matrix.shape)
    scale = _SIDE / max(rows, cols)
    width, height = max(8.0, cols * scale), max(8.0, rows * scale)
    shapes = "".join(
        f"<rect x='{j}' y='{i}' width='1' height='1' fill='#1f77b4' "
        f"fill-opacity='{0.15 + 0.85 * min(1.0, fields[i, j]):.2f}'/>"
        for i, j in zip(*np.nonzero(fields), strict=True)
    )
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0f}' height='{height:.0f}' "
        f"viewBox='0 0 {across} {down}' preserveAspectRatio='none' "
        f"style='border:1px solid #888'>{shapes}</svg>"
    )


def spy(matrix: Matrix, ax: Any) -> Any:
    """Draw the share of stored cells, tile by tile."""
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.gca()
    rows, cols = matrix.shape
    ax.imshow(
        density(matrix, 512),
        extent=(0, cols, rows, 0),
        vmin=0,
        cmap="Blues",
        interpolation="nearest",
        aspect="equal" if max(rows, cols) < 20 * max(1, min(rows, cols)) else "auto",
    )
    ax.set_xlabel("column")
    ax.set_ylabel("row")
    return ax


def _bytes(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024 or unit == "TiB":
            break
        count /= 1024
    return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
