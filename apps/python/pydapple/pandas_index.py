"""The index of a pandas DataFrame in a file: names of rows, or columns that attributes tell of."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from . import _core
from .attributes import Attributes
from .names import Names, to_core

NAME = "index_name"  # of the index that became names of rows
COLUMNS = "index_columns"  # pairs of the label of a column and the name of the level that it was


class Index(NamedTuple):
    """An index as it is written."""

    names: _core.Names | None
    columns: list[tuple[str, Any]]  # labels and values
    attrs: dict[str, Any]


def of_frame(index: Any, known: Collection[str], as_names: bool = True) -> Index:
    """What keeps the index of a table with columns of these labels; str as names of rows, if asked.

    One of integers without a name, which tells no more than which rows of another table were kept,
    is not stored.
    """
    named = any(name is not None for name in index.names)
    if not named and (len(index) == 0 or getattr(index.dtype, "kind", "O") in "iu"):
        return Index(None, [], {})
    if as_names and index.nlevels == 1 and index.inferred_type == "string" and not index.hasnans:
        attrs = {} if index.name is None else {NAME: str(index.name)}
        return Index(to_core(index, "the index"), [], attrs)
    columns: list[tuple[str, Any]] = []
    pairs = []
    for k, given in enumerate(index.names):
        name = None if given is None else str(given)
        label = _label(name, k, {*known, *(label for label, _ in columns)})
        columns.append((label, index.get_level_values(k)))
        pairs.append([label, name])
    return Index(None, columns, {COLUMNS: pairs})


def _label(name: str | None, level: int, taken: Collection[str]) -> str:
    """What the column of a level of an index is called."""
    label = f"__index_level_{level}__" if name is None or name in taken else name
    while label in taken:
        label += "_"
    return label


def of_names(attrs: Attributes, known: Collection[str]) -> tuple[str, dict[str, Any]]:
    """The label of a column that has the names of rows, and attributes that tell so."""
    name = attrs.get(NAME)
    label = _label(name if isinstance(name, str) else None, 0, known)
    kept = {key: value for key, value in attrs.items() if key != NAME}
    return label, {**kept, COLUMNS: [[label, name]]}


def to_metadata(attrs: Attributes, known: Sequence[str]) -> dict[bytes, bytes]:
    """What makes pandas find the index in a file of Parquet or Arrow with columns of these labels.

    Nothing where pandas noted it itself.
    """
    found = [] if "pandas" in attrs else labels(attrs, known)
    if not found:
        return {}
    columns = [
        {"name": name, "field_name": label, "pandas_type": "empty", "numpy_type": "object",
         "metadata": None}
        for label, name in _columns(attrs)
    ]  # fmt: skip
    note = {"index_columns": found, "column_indexes": [], "columns": columns}
    return {b"pandas": json.dumps(note).encode()}


def _columns(attrs: Attributes) -> list[tuple[str, Any]]:
    """Labels of columns that are the index, and names of its levels; pandas' own metadata, too."""
    pairs = attrs.get(COLUMNS)
    if not isinstance(pairs, list):
        known = attrs.get("pandas")
        known = known if isinstance(known, dict) else {}
        of_columns = {one.get("field_name"): one.get("name") for one in known.get("columns", [])}
        labels = known.get("index_columns", [])
        pairs = [[one, of_columns.get(one)] for one in labels if isinstance(one, str)]
    return [(label, name) for label, name in pairs]


def labels(attrs: Attributes, known: Sequence[str]) -> list[str]:
    """The columns, of those of these labels, that are the index."""
    try:
        found = [label for label, _ in _columns(attrs)]
    except (AttributeError, TypeError, ValueError):  # attributes of the user's own
        return []
    return found if all(known.count(label) == 1 for label in found) else []


def restored(made: Any, attrs: Attributes, names: Names | None, rows: Any) -> Any:
    """A DataFrame with the index that it was written with; `rows` are those picked."""
    import pandas as pd

    if names is not None:
        made.index = pd.Index(names[rows], name=attrs.get(NAME))
        return made
    found = labels(attrs, made.columns.tolist())
    if found:
        made = made.set_index(found)
        made.index.names = [name for _, name in _columns(attrs)]
    return made
