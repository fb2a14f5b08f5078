"""What to use in place of what other libraries have, and files of dapple have not."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NoReturn

import numpy as np

from .errors import TypeMismatchError

_STATS = "m.stats() has count, min, max, sum, mean and var, m.stats(axis=0) those of each column"
_FRAME_STATS = 'f.stats()["NAME"] has count, min, max, sum, mean and var'
_TABLES = "f.to_pandas(rows, columns) or f.to_polars(rows, columns) has it"
_WHOLE = "m[:] has it in memory, m.to_dask() chunk by chunk"

MATRIX = {
    **dict.fromkeys(("mean", "sum", "std", "var", "min", "max"), _STATS),
    **dict.fromkeys(
        ("T", "transpose"),
        "use m[:].T in memory; pydapple.convert(m, path, transpose=True) writes a turned file",
    ),
    "astype": "use m.read(dtype=...)",
    **dict.fromkeys(
        ("values", "to_numpy", "toarray", "todense", "A", "copy", "tolist", "load", "compute"),
        "use m[:], or m.read(rows, cols)",
    ),
    **dict.fromkeys(
        ("tocsr", "tocsc", "tocoo", "data", "indices", "indptr"),
        "use m.to_scipy(format), or m.sparse[rows]",
    ),
    **dict.fromkeys(("dot", "matmul"), "use m @ x"),
    **dict.fromkeys(("head", "iloc", "loc", "getrow", "getcol"), "use m[rows, cols], or m.sel"),
    **dict.fromkeys(("nonzero", "argwhere", "query", "filter"), "use m.where(above=..., ...)"),
    **dict.fromkeys(("columns", "var_names"), "use m.col_names"),
    **dict.fromkeys(("index", "obs_names"), "use m.row_names"),
    "dtypes": "use m.dtype",
    **dict.fromkeys(
        ("reshape", "flatten", "ravel", "flat", "argmax", "argmin", "any", "all", "cumsum", "round",
         "clip", "sort", "argsort", "diagonal", "squeeze", "abs", "power", "multiply"),
        _WHOLE,
    ),
}  # fmt: skip
FRAME = {
    **dict.fromkeys(("mean", "sum", "std", "var", "min", "max", "describe"), _FRAME_STATS),
    **dict.fromkeys(
        ("groupby", "group_by", "agg", "pivot", "sort_values", "sort", "value_counts", "unique",
         "nunique", "apply", "map", "corr", "plot", "isna", "isnull", "notna", "dropna", "fillna",
         "drop_nulls", "fill_null", "rename", "drop", "astype", "cast", "assign", "with_columns",
         "copy", "set_index", "reset_index", "index", "T", "duplicated", "drop_duplicates"),
        _TABLES,
    ),
    **dict.fromkeys(("merge", "join"), "pydapple.scan(f).join(...) of polars, or DuckDB's SQL"),
    **dict.fromkeys(("query", "filter"), "use f.to_pandas(rows='age > 30'), or f.where(...)"),
    **dict.fromkeys(("loc", "iloc", "at", "iat"), "use f.to_pandas(rows, columns)"),
    **dict.fromkeys(("values", "to_numpy"), 'use f["NAME"], or f[rows]'),
    **dict.fromkeys(("iterrows", "itertuples", "iter_rows"), "use f.to_pandas(rows), part by part"),
    "col": 'use f.columns; f["NAME"] is a column, f.c.NAME a condition',
    **dict.fromkeys(("get", "items", "to_dict"), "use f.read(rows, columns), which is a dict"),
    **dict.fromkeys(("info", "schema"), "use f.dtypes and f.meanings, or pydapple.info(path)"),
    **dict.fromkeys(("size", "empty", "height", "width"), "use f.shape"),
    "to_csv": 'use pydapple.convert(f, "x.csv")',
    "to_parquet": 'use pydapple.convert(f, "x.parquet")',
    "select": "use f.to_polars(columns=[...])",
}  # fmt: skip
SPARSE = {
    **MATRIX,
    **dict.fromkeys(("toarray", "todense", "A"), "use m[rows, cols], which is dense"),
    **dict.fromkeys(("tocsr", "tocsc", "tocoo"), "use m.to_scipy(format), or m.sparse[rows]"),
}
_SCAN = "conditions compare, and have isin, startswith and between; pydapple.scan(f) has all else"
CONDITION = {
    **dict.fromkeys(("isna", "isnull", "is_null"), "use is_missing()"),
    **dict.fromkeys(("notna", "notnull", "is_not_null"), "use ~column.is_missing()"),
    **dict.fromkeys(("is_in", "in_"), "use isin([...])"),
    **dict.fromkeys(("starts_with", "prefix"), "use startswith(...)"),
    "is_between": "use between(low, high)",
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), "use ==, !=, <, <=, > or >="),
    **dict.fromkeys(("str", "dt", "contains", "endswith", "match", "lower", "upper", "abs", "year",
                     "date", "cast", "astype", "sum", "mean", "map", "apply"), _SCAN),
}  # fmt: skip
PACKAGE = {
    **dict.fromkeys(
        ("read", "load", "read_csv", "read_npy", "scan_csv", "File", "DataFrame"),
        "use pydapple.open(path), and of a frame .to_pandas()",
    ),
    **dict.fromkeys(
        ("read_parquet", "read_feather"), 'use pydapple.convert("x.parquet", "x.dbdf"), and open'
    ),
    **dict.fromkeys(("save", "dump", "to_dbdf"), "use pydapple.write(path, data)"),
    "read_h5ad": "use pydapple.read_anndata(path)",
    "update_attrs": "use pydapple.write or pydapple.convert, with attrs=",
}


def meant(name: str, names: Collection[str]) -> str:
    """Which of the names a misspelled one was probably meant for, as a question, or ""."""
    import difflib

    close = difflib.get_close_matches(name, names, 1)
    lower = [one for one in names if one.lower() == name.lower()]
    return "".join(f"; did you mean {one!r}?" for one in (lower or close)[:1])


def require_options(whose: str, given: Collection[str], known: Collection[str]) -> None:
    """Raises TypeMismatchError for the first that is none of the known ones."""
    for name in given:
        if name not in known:
            raise TypeMismatchError(f"{whose} has no option {name!r}{meant(name, known)}")


def no_attribute(
    what: str, name: str, known: dict[str, str], columns: Collection[str] = (), of: object = None
) -> AttributeError:
    """The exception for an attribute that is not there, which says what to use.

    Python itself adds a similar name that there is, where it shows the exception.
    """
    hint = known.get(name, "")
    if name in columns:
        hint = f'f["{name}"] is the column'
    return AttributeError(f"{what} has no {name!r}{hint and '; ' + hint}", name=name, obj=of)


def require_handle(handle: object, kind: type) -> None:
    """Raises TypeMismatchError for what `open` does not make a Matrix or Frame of."""
    if not isinstance(handle, kind):
        raise TypeMismatchError("pydapple.open(path) opens a file, pydapple.write makes one")


def _refusing(sign: str) -> Callable[..., NoReturn]:
    def refuse(self: Any, *_: Any) -> NoReturn:
        raise TypeMismatchError(
            f"a matrix in a file has no {sign!r}: m[:] has it in memory, m.to_dask() chunk by "
            "chunk; m.where(above=...) finds cells, m @ x multiplies"
        )

    return refuse


class NotCalculatedWith:
    """What a `Matrix` refuses, and says what to use."""

    __add__ = __radd__ = _refusing("+")
    __sub__ = __rsub__ = _refusing("-")
    __mul__ = __rmul__ = _refusing("*")
    __truediv__ = __rtruediv__ = _refusing("/")
    __pow__ = _refusing("**")
    __neg__ = _refusing("-")
    __lt__, __le__, __gt__, __ge__ = (_refusing(sign) for sign in ("<", "<=", ">", ">="))
    __float__ = __int__ = _refusing("float")

    def __eq__(self, other: object) -> bool:
        """Whether it is the same object; cells are not compared."""
        if isinstance(other, (int, float, np.generic, np.ndarray)):
            _refusing("==")(self)
        return self is other

    __hash__ = object.__hash__
