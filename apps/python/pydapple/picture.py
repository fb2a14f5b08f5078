"""How matrices and frames look in a notebook, and pictures of what their tiles hold."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ._core import Block
    from .frame import Frame
    from .matrix import Matrix

_SIDE = 160  # pixels of the longer side
_MOST = 48  # fields of the picture on that side
_LABEL = 60  # letters
_SPY = 512  # fields of spy()
_SPREAD = 8  # densities that differ by this factor are shown on a logarithmic scale
_BLOCKS = 20_000  # more are not looked at for a picture that appears by itself
_READ = 256 << 20  # bytes of blocks that spy() reads; of more, their counts are shown
_AT_ONCE = 1 << 22  # cells of a dense block


def density(matrix: Matrix, down: int, across: int) -> NDArray[np.float64]:
    """The share of cells that are stored, over `down` x `across` fields of equal size.

    What a block stores is shared out evenly over its cells.
    """
    rows, cols = (max(1, extent) for extent in matrix.shape)
    stored = np.zeros((down, across))
    for block in matrix.blocks:
        if block.nnz:
            (row, col), (height, width) = block.pos, block.shape
            top, high = _parts(row, height, down / rows)
            left, wide = _parts(col, width, across / cols)
            field = stored[top : top + high.size, left : left + wide.size]
            field += block.nnz * np.outer(high, wide)[: field.shape[0], : field.shape[1]]
    stored /= rows / down * (cols / across)
    return stored


def cell_density(matrix: Matrix, down: int, across: int) -> NDArray[np.float64]:
    """The share of cells that are not zero, NaN is not, over `down` x `across` fields.

    Reads every block once. REQUIRES at most as many fields as cells each way.
    """
    row_edges, col_edges = _edges(matrix.shape[0], down), _edges(matrix.shape[1], across)
    counts = np.zeros((down, across))
    for block in matrix.blocks:
        if block.kind == "dense":
            _count_dense(block, row_edges, col_edges, counts)
        elif block.nnz:
            values, cols, starts = block._csr()
            row, col = block.pos
            lengths = (starts[1:] - starts[:-1]).astype(np.int64)
            rows = np.repeat(np.arange(row, row + block.shape[0]), lengths)
            r = np.searchsorted(row_edges, rows, side="right") - 1
            c = np.searchsorted(col_edges, cols.astype(np.int64) + col, side="right") - 1
            fields = (r * across + c)[np.not_equal(values, 0)]
            counts += np.bincount(fields, minlength=counts.size).reshape(counts.shape)
    counts /= np.outer(np.diff(row_edges), np.diff(col_edges))
    return counts


def _edges(extent: int, fields: int) -> NDArray[np.int64]:
    """The first cell of each of so many fields, and the end of the last."""
    return np.arange(fields + 1, dtype=np.int64) * extent // fields


def _count_dense(
    block: Block,
    row_edges: NDArray[np.int64],
    col_edges: NDArray[np.int64],
    counts: NDArray[np.float64],
) -> None:
    """Add the cells of a dense block that are not zero, some rows of it at once."""
    (row, col), (height, width) = block.pos, block.shape
    cells = block.numpy(aligned=False)
    left, col_starts = _starts(col_edges, col, width)
    step = max(1, _AT_ONCE // width)
    for first in range(0, height, step):
        band = cells[first : first + step] != 0
        top, row_starts = _starts(row_edges, row + first, band.shape[0])
        sums = np.add.reduceat(band, col_starts, axis=1, dtype=np.int64)
        sums = np.add.reduceat(sums, row_starts, axis=0)
        counts[top : top + sums.shape[0], left : left + sums.shape[1]] += sums


def _starts(edges: NDArray[np.int64], first: int, count: int) -> tuple[int, NDArray[np.int64]]:
    """The field of cell `first`, and where each field begins in `count` cells from there."""
    field = int(np.searchsorted(edges, first, side="right")) - 1
    end = int(np.searchsorted(edges, first + count, side="left"))
    return field, np.maximum(edges[field:end] - first, 0)


def _parts(first: int, count: int, scale: float) -> tuple[int, NDArray[np.float64]]:
    """The first field that shows some of `count` rows, and which part of them is in each."""
    begin, end = first * scale, (first + count) * scale
    last = max(int(begin) + 1, int(np.ceil(end)))
    edges = np.clip(np.arange(int(begin), last + 1, dtype=np.float64), begin, end)
    return int(begin), (edges[1:] - edges[:-1]) / (end - begin)


def _shades(fields: NDArray[np.float64]) -> NDArray[np.float64]:
    """How dark each field is, 0 to 1: on a logarithmic scale where densities differ a lot."""
    seen = fields[fields > 0]
    if seen.size == 0:
        return fields
    low, high = seen.min(), seen.max()
    shades: NDArray[np.float64] = fields / high
    if high / low >= _SPREAD:
        np.log(fields / low, out=shades, where=fields > 0)
        shades /= np.log(high / low)
    return shades


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
    shown = ", ".join(f"{_short(label)}: {kind}" for label, kind in dtypes[:20])
    facts = {
        "file": f"{frame.path} ({_bytes(frame.file_bytes)}, {frame.format})",
        "rows": str(frame.shape[0]),
        "columns": f"{len(dtypes)}: {shown}{', ...' if len(dtypes) > 20 else ''}",
    }
    return _page("pydapple.Frame", facts, "")


def _page(title: str, facts: dict[str, str], picture: str) -> str:
    lines = "".join(
        f"<tr><th style='text-align:left'>{key}</th>"
        f"<td style='text-align:left'>{escape(_sound(text), quote=True)}</td></tr>"
        for key, text in facts.items()
    )
    return (
        f"<div style='display:flex;gap:1em;align-items:center'><div><b>{title}</b>"
        f"<table>{lines}</table></div>{picture}</div>"
    )


def _short(label: str) -> str:
    return label if len(label) <= _LABEL else label[:_LABEL] + "..."


def _sound(text: str) -> str:
    """The text without what no UTF-8 has: labels and paths may be any bytes."""
    return text.encode("utf-8", "replace").decode()


def _svg(matrix: Matrix) -> str:
    rows, cols = (max(1, extent) for extent in matrix.shape)
    tile_rows, tile_cols = (max(1, extent) for extent in matrix.chunks)
    down = min(_MOST, -(-rows // tile_rows))
    across = min(_MOST, -(-cols // tile_cols))
    fields = density(matrix, down, across)
    shades = _shades(fields)
    scale = _SIDE / max(rows, cols)
    width, height = max(8.0, cols * scale), max(8.0, rows * scale)
    shapes = "".join(
        f"<rect x='{j}' y='{i}' width='1' height='1' fill='#1f77b4' "
        f"fill-opacity='{0.15 + 0.85 * shades[i, j]:.2f}'/>"
        for i, j in zip(*np.nonzero(fields), strict=True)
    )
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0f}' height='{height:.0f}' "
        f"viewBox='0 0 {across} {down}' preserveAspectRatio='none' "
        f"style='border:1px solid #888'>{shapes}</svg>"
    )


def spy(matrix: Matrix, ax: Any) -> Any:
    """Draw where cells are not zero: darker where more are.

    Reads the cells of matrices whose blocks take at most 256 MiB. Of larger ones it shows how much
    each block stores, as the index tells, and says so.
    """
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.gca()
    rows, cols = matrix.shape
    down, across = max(1, min(rows, _SPY)), max(1, min(cols, _SPY))
    if matrix.size and sum(block.nbytes for block in matrix.blocks) <= _READ:
        fields = cell_density(matrix, down, across)
    else:
        fields = density(matrix, down, across)
        if matrix.size:
            ax.set_title("stored values per block, from the index")
    seen = fields[fields > 0]
    spread = seen.size > 0 and seen.max() / seen.min() >= _SPREAD
    ax.imshow(
        np.ma.masked_equal(fields, 0),
        extent=(0, cols, rows, 0),
        norm="log" if spread else "linear",
        vmin=None if spread else 0,
        cmap="viridis_r",
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
