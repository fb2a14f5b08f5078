"""What to use in place of methods that other libraries have, and a Matrix or Frame has not."""

from __future__ import annotations

_STATS = "m.stats() has count, min, max, sum, mean and var; m.stats(axis=0) of each column"
_FRAME_STATS = 'f.stats()["NAME"] has count, min, max, sum, mean and var'
_POLARS = "f.to_polars(columns=[...]) or f.to_pandas(columns=[...]) has it"

MATRIX = {
    **dict.fromkeys(("mean", "sum", "std", "var", "min", "max"), _STATS),
    **dict.fromkeys(
        ("T", "transpose"),
        "m[:].T in memory; pydapple.convert(m, path, transpose=True) writes a turned file",
    ),
    "astype": "m.read(dtype=...)",
    **dict.fromkeys(("values", "to_numpy", "toarray", "todense"), "m[:], or m.read(rows, cols)"),
    "tocsr": "m.to_scipy(), or m.sparse[rows]",
    **dict.fromkeys(("dot", "matmul"), "m.linear_operator() @ x"),
    **dict.fromkeys(("head", "iloc", "loc"), "m[rows, cols]"),
    "reshape": "m[:].reshape(...)",
}
FRAME = {
    **dict.fromkeys(("mean", "sum", "std", "var", "min", "max", "describe"), _FRAME_STATS),
    **dict.fromkeys(
        ("groupby", "group_by", "agg", "pivot", "sort_values", "value_counts"), _POLARS
    ),
    **dict.fromkeys(("merge", "join"), "pydapple.scan(f).join(...) of polars, or DuckDB's SQL"),
    **dict.fromkeys(("query", "filter"), "f.to_pandas(rows='age > 30'), or f.where(...)"),
    **dict.fromkeys(("loc", "iloc"), "f.to_pandas(rows, columns)"),
    **dict.fromkeys(("values", "to_numpy"), 'f["NAME"], or f[rows]'),
    "to_csv": 'pydapple.convert(f, "x.csv")',
    "to_parquet": 'pydapple.convert(f, "x.parquet")',
    "select": "f.to_polars(columns=[...])",
}


def no_attribute(kind: str, name: str, known: dict[str, str]) -> AttributeError:
    """The exception for an attribute that is not there, which says what to use."""
    hint = f"; use {known[name]}" if name in known else ""
    return AttributeError(f"a pydapple.{kind} has no {name!r}{hint}")
