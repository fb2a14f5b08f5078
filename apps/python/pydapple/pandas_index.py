"""The index of a pandas DataFrame in a file: names of rows, or columns that attributes tell of.

Also that labels of columns were integers or tuples, which files keep as text, and what they are
called.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _core
from .attributes import Attributes, tell
from .names import Names, to_core

NAME = "index_name"  # of the index that became names of rows
COLUMNS = "index_columns"  # pairs of the label of a column and the name of the level that it was
INTEGERS = "integer_labels"  # labels of columns that look like integers were some
LABELS = "labels_name"  # what the labels of columns are called together
LEVELS = "labels_levels"  # what each level is called of labels that were tuples


class Index(NamedTuple):
    """An index as it is written."""

    names: _core.Names | None
    columns: list[tuple[str, Any]]  # labels and values
    attrs: dict[str, Any]


def notes_in(attrs: Attributes) -> dict[str, Any]:
    """What attributes tell of the index and the labels."""
    return {key: attrs[key] for key in (NAME, COLUMNS, INTEGERS, LABELS, LEVELS) if key in attrs}


def text_of(label: Any) -> str:
    """A label of a column of a DataFrame as files keep it."""
    if isinstance(label, tuple):
        label = tuple(one.item() if isinstance(one, np.generic) else one for one in label)
    return str(label)


def of_labels(columns: Any) -> dict[str, Any]:
    """What keeps that labels of columns are integers or tuples, and what they are called together.

    A warning tells of others that are no str.
    """
    labels = list(columns)
    if getattr(columns, "nlevels", 1) > 1 and labels == _tuples(map(text_of, labels)):
        return {LEVELS: [_name(name, "a level of the labels") for name in columns.names]}
    others = [one for one in labels if not _is_integer(one)]
    kept = len(others) < len(labels)
    if kept and any(isinstance(_read(str(one)), int) for one in others):
        kept, others = False, list(labels)
    lost = [one for one in others if not isinstance(one, str)]  # None is one, too
    if lost:
        tell(f"labels of columns become str, such as {lost[0]!r}")
    made: dict[str, Any] = {INTEGERS: True} if kept else {}
    name = getattr(columns, "name", None)
    return made if name is None else {**made, LABELS: _name(name, "the labels of columns")}


def _is_integer(label: Any) -> bool:
    return isinstance(label, (int, np.integer)) and _read(str(label)) == label


def _tuples(labels: Iterable[str]) -> list[Any] | None:
    """The tuples of which these are the texts, or nothing."""
    try:
        return [ast.literal_eval(label) for label in labels]
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _read(label: str) -> str | int:
    """The integer of which this is the text, or the text."""
    digits = label.removeprefix("-")
    whole = digits.isascii() and digits.isdigit() and len(digits) < 19
    return int(label) if whole and str(int(label)) == label else label


def _name(given: Any, what: str = "the index") -> Any:
    """The name of an index as attributes keep it; a warning tells of one that becomes a str."""
    name = given.item() if isinstance(given, np.generic) else given
    if name is None or isinstance(name, (str, bool, int)):
        return name
    tell(f"the name of {what} becomes a str: {name!r}")
    return str(name)


def of_frame(index: Any, known: Collection[str], as_names: bool = True) -> Index:
    """What keeps the index of a table with columns of these labels; str as names of rows, if asked.

    One of integers without a name, which tells no more than which rows of another table were kept,
    is not stored.
    """
    named = any(name is not None for name in index.names)
    if not named and (len(index) == 0 or getattr(index.dtype, "kind", "O") in "iu"):
        return Index(None, [], {})
    if as_names and index.nlevels == 1 and index.inferred_type == "string" and not index.hasnans:
        attrs = {} if index.name is None else {NAME: _name(index.name)}
        return Index(to_core(index, "the index"), [], attrs)
    columns: list[tuple[str, Any]] = []
    pairs = []
    for k, given in enumerate(index.names):
        name = _name(given)
        label = _label(name, k, {*known, *(label for label, _ in columns)})
        columns.append((label, index.get_level_values(k)))
        pairs.append([label, name])
    return Index(None, columns, {COLUMNS: pairs})


def _label(name: Any, level: int, taken: Collection[str]) -> str:
    """What the column of a level of an index is called."""
    label = f"__index_level_{level}__" if name is None or str(name) in taken else str(name)
    while label in taken:
        label += "_"
    return label


def of_names(attrs: Attributes, known: Collection[str]) -> tuple[str, dict[str, Any]]:
    """The label of a column that has the names of rows, and attributes that tell so."""
    name = attrs.get(NAME)
    label = _label(name, 0, known)
    kept = {key: value for key, value in attrs.items() if key != NAME}
    return label, {**kept, COLUMNS: [[label, name]]}


def to_metadata(attrs: Attributes, known: Sequence[str]) -> dict[bytes, bytes]:
    """What makes pandas find the index in a file of Parquet or Arrow with columns of these labels.

    Nothing where pandas noted it itself.
    """
    found = [] if "pandas" in attrs else labels(attrs, known)
    whole = "pandas" not in attrs and all(
        isinstance(_read(label), int) for label in known if label not in found
    )
    integers = whole and attrs.get(INTEGERS) is True
    name = None if "pandas" in attrs else attrs.get(LABELS)
    names = [] if "pandas" in attrs else _level_names(attrs)
    tuples = _tuples(label for label in known if label not in found) if names else None
    if not (found or integers or name is not None or tuples):
        return {}
    columns = [
        {"name": name if name is None else str(name), "field_name": label,
         "pandas_type": "empty", "numpy_type": "object", "metadata": None}
        for label, name in _columns(attrs)
    ]  # fmt: skip
    levels = []
    if tuples:
        parts = zip(names, zip(*tuples, strict=False), strict=False)
        levels = [_level(one, all(isinstance(part, int) for part in of)) for one, of in parts]
    elif integers or name is not None:
        levels = [_level(name, integers)]
    note = {"index_columns": found, "column_indexes": levels, "columns": columns}
    return {b"pandas": json.dumps(note).encode()}


def _level(name: Any, integers: bool) -> dict[str, Any]:
    kinds = ("int64", "int64") if integers else ("unicode", "object")
    return {"name": name, "field_name": name, "pandas_type": kinds[0], "numpy_type": kinds[1],
            "metadata": None}  # fmt: skip


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
    """A DataFrame with the index and labels that it was written with; `rows` are those picked."""
    import pandas as pd

    found = labels(attrs, made.columns.tolist())
    if names is not None or (NAME in attrs and not found and len(made) == 0):  # which has none
        index = pd.Index([] if names is None else names[rows], name=attrs.get(NAME))
        made.index = index if len(index) else index.astype(str)
    elif found:
        made = made.set_index(found)
        made.index.names = [name for _, name in _columns(attrs)]
    levels = _of_pandas(attrs)
    level = levels[0] if len(levels) == 1 else {}
    tuples = _tuples(made.columns) if (names_of := _level_names(attrs)) else None
    if tuples and all(isinstance(one, tuple) and len(one) == len(names_of) for one in tuples):
        made.columns = pd.MultiIndex.from_tuples(tuples, names=names_of)
        return made
    if attrs.get(INTEGERS) is True or level.get("pandas_type") == "int64":
        made.columns = pd.Index([_read(label) for label in made.columns])
    name = attrs.get(LABELS, level.get("name"))
    made.columns.name = name if isinstance(name, (str, int)) else None
    return made


def _level_names(attrs: Attributes) -> list[Any]:
    """What the levels of labels that were tuples are called; nothing where they were none."""
    of_pandas = _of_pandas(attrs)
    names = attrs.get(LEVELS, [one.get("name") for one in of_pandas if len(of_pandas) > 1])
    plain = isinstance(names, list) and all(
        name is None or isinstance(name, (str, int)) for name in names
    )
    return list(names) if plain else []


def _of_pandas(attrs: Attributes) -> list[dict[str, Any]]:
    """What pandas' own metadata tell of each level of the labels of columns."""
    known = attrs.get("pandas")
    levels = known.get("column_indexes") if isinstance(known, dict) else None
    if not isinstance(levels, list) or not all(isinstance(one, dict) for one in levels):
        return []
    return levels
