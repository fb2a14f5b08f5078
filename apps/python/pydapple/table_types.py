"""What a frame does not tell of a pandas DataFrame: its dtypes, beside what its columns mean."""

from __future__ import annotations

from typing import Any

from .errors import TypeMismatchError
from .given import without_attrs

_INDEX = "__index__"  # what an index without a name is called where it must be a column


def described(table: Any, where: str) -> tuple[Any, dict[str, Any]]:
    """A DataFrame that `write` takes, and the types that `restored` needs."""
    import pandas as pd

    made = pd.DataFrame(without_attrs(table), copy=False).copy(deep=False)
    note: dict[str, Any] = {"columns": [], "index": str(made.index.dtype)}
    if made.index.name is None and made.index.nlevels == 1 and _is_told_by_numbers(made.index):
        made.index = made.index.rename(_INDEX)
    changed: dict[int, Any] = {}
    for k, label in enumerate(made.columns):
        column = made.iloc[:, k]
        note["columns"].append(_named(column.dtype))
        if isinstance(column.dtype, pd.CategoricalDtype):
            words = column.cat.categories
            note.setdefault("categories", {})[str(k)] = _named(words.dtype)
            changed[k] = column.cat.rename_categories(_as_words(words, f"{where}[{label!r}]"))
    made = _with(made, changed)
    made.attrs = dict(table.attrs)
    return made, note


def _with(table: Any, changed: dict[int, Any]) -> Any:
    """A table with other columns in some places, all at once: pandas goes over all for each."""
    import pandas as pd

    if not changed:
        return table
    columns = {k: changed.get(k, table.iloc[:, k]) for k in range(table.shape[1])}
    made = pd.DataFrame(columns, index=table.index, copy=False)
    made.columns = table.columns
    return made


def _is_told_by_numbers(index: Any) -> bool:
    """Whether an index of numbers is another than the numbers of rows, which is not stored."""
    import pandas as pd

    return index.dtype.kind in "iu" and not index.equals(pd.RangeIndex(len(index)))


def _named(dtype: Any) -> str:
    """A dtype as text that pandas understands, strings with where they are kept."""
    import pandas as pd

    if isinstance(dtype, pd.StringDtype) and dtype.na_value is pd.NA:
        return f"string[{dtype.storage}]"
    return str(dtype)


def _as_words(words: Any, where: str) -> Any:
    if words.dtype.kind in "iuf":
        return [repr(one) for one in words.tolist()]
    if words.dtype.kind in "bM":
        return [str(one) for one in words]
    if all(isinstance(one, str) for one in words):
        return words
    raise TypeMismatchError(
        f"{where} is a category of {words.dtype}, and categories are words, numbers, Booleans or "
        "times: rename them to str"
    )


def restored(table: Any, note: dict[str, Any]) -> Any:
    """The DataFrame with the dtypes that it had."""
    attrs = table.attrs
    table = without_attrs(table)
    if table.index.name == _INDEX:
        table.index = table.index.rename(None)
    if note.get("index") not in (None, str(table.index.dtype)) and table.index.nlevels == 1:
        table.index = table.index.astype(note["index"])
    changed: dict[int, Any] = {}
    for k, wanted in enumerate(note.get("columns", ())):
        if k >= table.shape[1]:
            break
        column = table.iloc[:, k]
        kept = note.get("categories", {}).get(str(k))
        if kept is not None:
            if _named(column.cat.categories.dtype) != kept:
                changed[k] = column.cat.rename_categories(_of_words(column, kept))
        elif _named(column.dtype) != wanted:
            changed[k] = _as_dtype(column, wanted)
    table = _with(table, changed)
    table.attrs = attrs
    return table


def _of_words(column: Any, wanted: str) -> Any:
    words = column.cat.categories
    return words == "True" if wanted == "bool" else words.astype(wanted)


def _as_dtype(column: Any, wanted: str) -> Any:
    if wanted != "object":
        return column.astype(wanted)
    return column.astype(object).where(column.notna(), None)
