"""Pictures of matrices and frames: as arrays, and with matplotlib."""

from __future__ import annotations

import operator
import os
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _core, keys
from .arguments import told
from .errors import InvalidArgumentError, TypeMismatchError, shown
from .reports import Progress, reporting

What = Literal["density", "mean", "min", "max", "kind"]

_WHATS = ["density", "mean", "min", "max", "kind"]
_MOST = 20_000  # fields each way
_FIGURE = 900, 800  # pixels


@told
class Picture:
    """A matrix or frame, or a window of it, as fields that each sum up the cells below them.

    `Matrix.picture` and `Frame.picture` make one; it is what `dapple show` draws. `np.asarray`
    gives `values`. Notebooks show it as a figure with axes and a colour bar.

    Attributes:
        path: the file.
        what: ``"density"`` (the share of cells that are not zero; NaN is not), ``"mean"``,
            ``"min"``, ``"max"`` of the cells that are numbers, or ``"kind"`` (of the blocks).
        source: where the numbers are from: ``"cells"``; ``"statistics"`` that the file has of its
            blocks, each shared out evenly over its block; or the ``"index"``, which tells how much
            each block stores and of what kind it is.
        values: float64 of two dimensions; NaN for fields without a number. Of kinds 0 is empty,
            1 dense, 2 CSR and 3 COO.
        states: why there is no number, as uint8 of the same shape: 0 there is one, 1 all cells are
            NaN or missing, 2 no block covers them, 3 they are words or times.
        row_edges: the first row of each row of fields, and the end of the last.
        col_edges: the same of columns.
    """

    def __init__(self, drawing: _core.Drawing, path: str) -> None:
        self._drawing = drawing
        self.path = path
        self.what = _WHATS[drawing.what]
        self.source = drawing.source
        self.values = drawing.values()
        self.states = drawing.states()
        self.row_edges = drawing.row_edges()
        self.col_edges = drawing.col_edges()

    @property
    def shape(self) -> tuple[int, int]:
        """Fields down and across."""
        down, across = self.values.shape
        return down, across

    @property
    def title(self) -> str:
        """What it shows of which file, and where that is from."""
        name = f"{os.path.basename(self.path)}: {self.what}"
        return ", ".join(filter(None, (name, origin(self.source))))

    def scale(self, log: bool | None = None) -> tuple[float, float, bool] | None:
        """The scale for its colours: the least value, the largest, and whether it is logarithmic.

        None where no field has a finite number.

        Args:
            log: if not given, densities and counts that differ a lot are shown that way.
        """
        known = self._drawing.scale(None if log is None else bool(log))
        return None if known is None else known[:3]

    def to_svg(self, width: int = _FIGURE[0], height: int = _FIGURE[1]) -> str:
        """A figure of at most that many pixels, as `dapple show -o FILE.svg` writes."""
        height, width = _fields((height, width))
        return self._drawing.svg(width, height, sound(self.title), "")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False and dtype not in (None, self.values.dtype):
            raise InvalidArgumentError("an array of another dtype is always a copy")
        return self.values.astype(dtype or self.values.dtype, copy=bool(copy))

    def __repr__(self) -> str:
        down, across = self.shape
        return f"<pydapple.Picture of {self.path!r}: {self.what}, {down} x {across} fields>"

    def _repr_svg_(self) -> str:
        return self.to_svg()


@told
class Pictured:
    """The pictures of a `Matrix` or `Frame`."""

    def picture(
        self,
        what: What | None = None,
        rows: Any = None,
        cols: Any = None,
        *,
        size: int | tuple[int, int] = 512,
        from_stats: bool = False,
        threads: int | None = 1,
        progress: Progress = None,
    ) -> Picture:
        """Sum up the cells in fields of equal size, as `dapple show` draws them.

        Reads each block of the window once, unless the file has statistics of what one field
        shows. Of frames, cells that are words or times are no numbers, and missing ones count as
        NaN. Cells that no block covers are left out.

        Args:
            what: ``"density"`` (the share of cells that are not zero), ``"mean"``, ``"min"``,
                ``"max"`` or ``"kind"`` (of the blocks); if not given, the density of what is mostly
                zeros, and the mean of anything else.
            rows: a slice, whose ends may count from the end, a range or a pair (begin, end); not
                clipped; all of them if not given.
            cols: the same of columns.
            size: how many fields there are at most, each way or as a pair (down, across).
            from_stats: read no cell: take what the file's statistics tell of each block, or for
                densities how much it stores.
            threads: that read cells; 0: one for each processor.
            progress: True shows a bar where tqdm is installed; a function gets (done, total).

        Raises:
            UnsupportedError: with `from_stats`, where the file has no statistics that tell it.
        """
        return draw(self, what, rows, cols, size, from_stats, threads, progress)

    def spy(
        self,
        ax: Any = None,
        what: What | None = None,
        rows: Any = None,
        cols: Any = None,
        *,
        log: bool | None = None,
        colorbar: bool = True,
        size: int | tuple[int, int] = 512,
        from_stats: bool = False,
        threads: int | None = 1,
        progress: Progress = None,
    ) -> Any:
        """Draw a picture with matplotlib, in the colours of `dapple show`; gives the axes.

        The axes count cells. Fields of NaN, and those that no block covers, have colours of their
        own.

        Args:
            ax: the axes to draw in; the current ones if not given.
            what: as of `picture`, and so are arguments that are not named here.
            rows: as of `picture`.
            cols: the same of columns.
            log: a logarithmic scale; if not given, for densities and counts that differ a lot.
            colorbar: whether one is drawn beside the axes.
            size: as of `picture`.
            from_stats: as of `picture`.
            threads: as of `picture`.
            progress: as of `picture`.
        """
        made = draw(self, what, rows, cols, size, from_stats, threads, progress)
        return spy(made, ax, log, colorbar)


def draw(
    owner: Any,
    what: What | None,
    rows: Any,
    cols: Any,
    size: Any,
    from_stats: bool,
    threads: int | None,
    progress: Progress,
) -> Picture:
    """What `Matrix.picture` gives."""
    if what is not None and what not in _WHATS:
        raise InvalidArgumentError(
            f"what is one of {', '.join(map(repr, _WHATS))}, not {shown(what)}"
        )
    down, across = _fields(size)
    tall, wide = keys.span(rows, owner.shape[0], "row"), keys.span(cols, owner.shape[1], "column")
    with reporting(progress, "picture") as report:
        drawing = _core.draw(
            owner, sound(owner.path), None if what is None else _WHATS.index(what),
            (tall.start, tall.stop), (wide.start, wide.stop), down, across, bool(from_stats),
            threads, report,
        )  # fmt: skip
    return Picture(drawing, owner.path)


def spy(picture: Picture, ax: Any, log: bool | None, colorbar: bool) -> Any:
    """Draw a picture as `dapple show` does, with matplotlib."""
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.gca()
    if not hasattr(ax, "imshow"):
        raise TypeMismatchError(
            f"ax is an Axes of matplotlib, as plt.subplots makes, not {shown(ax)}"
        )
    ax.set_title(picture.title)
    ax.set_xlabel("column")
    ax.set_ylabel("row")
    (top, bottom), (left, right) = picture.row_edges[[0, -1]], picture.col_edges[[0, -1]]
    height, width = int(bottom - top), int(right - left)
    if not height or not width:
        ax.set(xlim=(left, left + max(width, 1)), ylim=(top + max(height, 1), top))
        ax.text(0.5, 0.5, "no cells", transform=ax.transAxes, ha="center", va="center")
        return ax
    shape = {
        "extent": (left, right, bottom, top),
        "interpolation": "nearest",
        "aspect": "equal" if max(height, width) < 20 * min(height, width) else "auto",
    }
    scale = picture._drawing.scale(None if log is None else bool(log))
    if scale is not None:
        image = ax.imshow(_coloured(picture), **_colours(picture.what, scale), **shape)
        if colorbar:
            ax.figure.colorbar(image, ax=ax, label=scale[3])
    _mark(ax, picture, shape)
    return ax


def _coloured(picture: Picture) -> NDArray[Any]:
    """The numbers that a scale shows, others masked."""
    values = np.ma.masked_invalid(picture.values)
    return np.ma.masked_equal(values, 0) if picture.what == "density" else values


def _colours(what: str, scale: tuple[float, float, bool, str]) -> dict[str, Any]:
    from matplotlib import colormaps, colors

    low, high, log, _ = scale
    colours = colormaps["viridis_r" if what == "density" else "viridis"]
    norm = colors.LogNorm(low, high) if log else colors.Normalize(low, high)
    return {"cmap": colours.with_extremes(bad="white"), "norm": norm}


def _mark(ax: Any, picture: Picture, shape: dict[str, Any]) -> None:
    """Show what has a colour of its own, such as fields of NaN, and tell which."""
    from matplotlib.patches import Patch

    marks = np.zeros((*picture.shape, 4), np.uint8)
    patches = []
    for name, colour, state, value in picture._drawing.legend():
        here = picture.states == state
        if state == 0:
            here &= picture.values == value
        marks[here] = (*colour, 255)
        patches.append(Patch(color=[part / 255 for part in colour], label=name))
    if patches:
        ax.imshow(marks, **shape)
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "borderaxespad": 4}
        ax.legend(handles=patches, ncol=4, **below)


def origin(source: str) -> str:
    """Where numbers are from; nothing for those of all cells."""
    return {
        "statistics": "from the statistics of its blocks",
        "index": "from the index",
        "samples": "from some cells of each field",
    }.get(source, "")


def sound(text: str) -> str:
    """The text without what no UTF-8 has: labels and paths may be any bytes."""
    return text.encode("utf-8", "replace").decode()


def _fields(size: Any) -> tuple[int, int]:
    pair = size if isinstance(size, tuple) else (size, size)
    try:
        down, across = map(operator.index, pair)
    except (TypeError, ValueError):
        raise InvalidArgumentError(
            f"size is a number of fields or a pair (down, across), not {shown(size)}"
        ) from None
    if not 1 <= min(down, across) <= max(down, across) <= _MOST:
        raise InvalidArgumentError(f"size is 1 to {_MOST} each way, not {shown(size)}")
    return down, across
