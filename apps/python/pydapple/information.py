"""What a file is, as ``dapple info --json`` tells it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arguments import told
from .files import open
from .frame import Frame
from .matrix import Matrix
from .meanings import Meaning
from .reports import Path


@told
def info(path: Path, **options: Any) -> dict[str, Any]:
    """What ``dapple info --json`` tells of a file, under the same keys; options as of `open`.

    No cells are read.
    """
    with open(path, **options) as opened:
        grid = opened._grid()
        counts = opened._counts()
        rows, cols = opened.shape
        known: dict[str, Any] = {
            "format": opened.format,
            "kind": "matrix" if isinstance(opened, Matrix) else "frame",
            "rows": rows,
            "cols": cols,
        }
        if isinstance(opened, Matrix):
            known["storage"] = opened._storage
            known["value_type"] = _value_type(opened.dtype)
            if opened.group is not None:
                known |= {"group": opened.group.name, "slots": list(opened.group.slots)}
        else:
            slots = {
                k: {"group": group.name, "slot": slot} if slot else {"group": group.name}
                for group in opened._all_groups
                for k, slot in zip(group.columns, group.slots, strict=True)
            }
            known["columns"] = [
                {"label": label, "value_type": _value_type(dtype)}
                | _meaning(Meaning(*described))
                | slots.get(k, {})
                for k, (label, dtype, described) in enumerate(opened._columns())
            ]
        known["blocks"] = {kind: counts[kind] for kind in counts if kind != "stored"}
        known["grid"] = grid and {
            "rows": grid[0][0],
            "cols": grid[0][1],
            "tile_rows": grid[1][0],
            "tile_cols": grid[1][1],
        }
        known["stored"] = counts["stored"]
        known["bytes"] = opened.file_bytes
        known["index"] = opened.index_origin
        if isinstance(opened, Matrix) and opened.column_copy != "none":
            known["column_copy"] = opened.column_copy
        return known | _more(opened)


def _more(opened: Matrix | Frame) -> dict[str, Any]:
    """What only some files have."""
    known: dict[str, Any] = {}
    own = isinstance(opened, Matrix) and opened.group is None
    lists = {"row_names": opened.row_names, "col_names": opened.col_names if own else None}
    known |= {
        key: {"count": len(names), "unique": names.unique}
        for key, names in lists.items()
        if names is not None
    }
    if opened.attrs:
        known["attributes"] = dict(opened.attrs)
    if len(opened.contents()) > 1:
        known["values"] = opened.contents()
    texts = opened._texts() if isinstance(opened, Frame) else []
    if texts:
        known["text_columns"] = [{"label": label, "type": kind} for label, kind, *_ in texts]
    if opened.note:
        known["note"] = opened.note
    details = opened.details()
    if details:
        known["details"] = [
            {"title": title, "text": text.decode("utf-8", "replace")} for title, text in details
        ]
    return known


def _meaning(meaning: Meaning) -> dict[str, Any]:
    known: dict[str, Any] = {} if meaning.kind == "number" else {"meaning": meaning.kind}
    if meaning.kind == "category" and meaning.words is not None:
        known["words"] = len(meaning.words)
    if meaning.is_time:
        known |= {"unit": meaning.unit, "zone": meaning.zone}
    if meaning.missing is not None:
        known["missing"] = True
    return known


def _value_type(dtype: np.dtype[Any]) -> str:
    return f"{dtype.kind}{dtype.itemsize * 8}"
