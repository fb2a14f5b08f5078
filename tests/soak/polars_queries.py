#!/usr/bin/env python3
"""Random queries of polars over frames in files, held against polars over the same rows in memory.

    polars_queries.py SECONDS [SEED]

What a query asks for decides which rows and columns are read at all, so that a condition which is understood
wrongly loses rows. The seed is the day's unless it is given."""

import datetime as dt
import operator
import random
import sys

import polars as pl
from games import play_all
from polars.exceptions import PolarsError

import pydapple as dp

INTEGERS = ["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"]
FLOATS = ["Float32", "Float64"]
ORDER = ["b", "a", "", "B", "aa"]
WORDS = [*ORDER, "ab", "\u00e9", "zoo", "NA", "true", "1", "a b", "\ufffd"]
START = dt.datetime(2020, 1, 1)
OTHERS = {
    "text": pl.String, "category": pl.Categorical, "enum": pl.Enum(ORDER), "boolean": pl.Boolean, "date": pl.Date,
    **{f"time {unit}": pl.Datetime(unit) for unit in ("ms", "us", "ns")}, "time zone": pl.Datetime("us", "Europe/Berlin"),
    **{f"span {unit}": pl.Duration(unit) for unit in ("ms", "us", "ns")},
}  # fmt: skip
KINDS = [*INTEGERS, *FLOATS, *FLOATS, "text", *OTHERS]
STEPS = [1, 1000, 10**6, 86_400 * 10**6]  # microseconds


def cell(r, kind):
    if kind in INTEGERS:
        bits, signed = int(kind.lstrip("UInt")), kind[0] == "I"
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
        ends = [low, low + 1, high - 1, high, 0, 1, 2, min(high, 2**24 + 1), min(high, 2**53 + 1)]
        return r.choice(ends) if r.random() < 0.5 else r.randint(max(low, -50), 50)
    if kind in FLOATS:
        large = 1e300 if kind == "Float64" else 1e30
        ends = [0.0, -0.0, 1.5, 0.1, -1.0, 2.0**24 + 1, 1e-45, large, float("nan"), float("inf"), float("-inf")]
        return r.choice(ends) if r.random() < 0.6 else r.uniform(-3, 3)
    if kind in ("category", "enum"):
        return r.choice(ORDER)
    if kind == "text":
        return r.choice(WORDS)
    if kind == "boolean":
        return r.random() < 0.5
    if kind == "date":
        return START.date() + dt.timedelta(r.randint(-5, 5)) if r.random() < 0.9 else r.choice((dt.date.min, dt.date.max))
    span = dt.timedelta(microseconds=r.randint(-9, 9) * r.choice(STEPS))
    return span if kind.startswith("span") else START + span


def column(r, kind, rows):
    missing = r.choice((0, 0.2))
    cells = [None if r.random() < missing else cell(r, kind) for _ in range(rows)]
    wanted = OTHERS.get(kind) or getattr(pl, kind)
    if kind == "time zone":
        return pl.Series(cells, dtype=pl.Datetime("us", "UTC")).cast(wanted)
    if kind.startswith(("time", "span")):
        base = pl.Datetime("us") if kind.startswith("time") else pl.Duration("us")
        return pl.Series(cells, dtype=base).cast(wanted)
    return pl.Series(cells, dtype=wanted)


def literal(r, kind):
    if kind in INTEGERS and r.random() < 0.5:
        near = [127, 128, 255, 256, 300, -300, 2**31, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), -1]
        return r.choice([*near, 1.5, -0.5, 2.0**53, 1e20])
    if kind in FLOATS and r.random() < 0.5:
        return r.choice([0, 1, 2**24, 2**24 + 1, 2**63, 1e40, float("nan"), float("inf")])
    if kind == "date" and r.random() < 0.3:
        return START + dt.timedelta(hours=12)
    value = cell(r, kind)
    return value.replace(tzinfo=dt.timezone.utc) if kind == "time zone" else value


def test_of(r, name, kind):
    e, k = pl.col(name), r.random()
    if kind == "boolean" and k < 0.5:
        return e
    if k < 0.12:
        return r.choice((e.is_null(), e.is_not_null()))
    if k < 0.24:
        values = [literal(r, kind) for _ in range(r.choice((0, 1, 2, 3, 60)))] + [None] * (r.random() < 0.3)
        return e.is_in(values, nulls_equal=r.random() < 0.3)
    if k < 0.34:
        return e.is_between(literal(r, kind), literal(r, kind), closed=r.choice(("both", "left", "right", "none")))
    if kind == "text" and k < 0.42:
        return e.str.starts_with(r.choice(("", "a", "aa", "\u00e9", "z")))
    if kind in FLOATS and k < 0.42:
        return r.choice((e.is_nan(), e.is_not_nan(), e.is_infinite(), e.is_finite()))
    if k < 0.5:
        return r.choice((e.eq_missing, e.ne_missing))(literal(r, kind))
    if k < 0.56 and kind in INTEGERS + FLOATS:
        e = e + 1
    test = r.choice((operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne))
    return test(e, literal(r, kind)) if r.random() < 0.8 else test(literal(r, kind), e)


def predicate(r, kinds, depth=0):
    k = r.random()
    if depth < 3 and k < 0.45:
        return r.choice((operator.and_, operator.or_, operator.xor))(
            predicate(r, kinds, depth + 1), predicate(r, kinds, depth + 1)
        )
    if depth < 3 and k < 0.55:
        return ~predicate(r, kinds, depth + 1)
    return test_of(r, *r.choice(list(kinds.items())))


def play(seed, _, folder):
    """Queries of one random file; raises at the first that differs. Gives how many polars answers."""
    r, path = random.Random(seed), folder / "f.dbdf"
    kinds = {f"c{k}": kind for k, kind in enumerate(r.choices(KINDS, k=r.randint(1, 5)))}
    rows = r.choice((0, 1, 5, 40, 300))
    dp.write(path, pl.DataFrame({name: column(r, kind, rows) for name, kind in kinds.items()}), overwrite=True,
             sync=False, tile=r.choice((None, (7, 2), (64, 1))), pack=r.choice((None, "fast", "small")))  # fmt: skip
    with dp.open(path) as f:
        whole = f.to_polars()
    asked = 0
    for _ in range(30):
        cols, head = r.sample(list(kinds), r.randint(1, len(kinds))), r.choice((rows, rows, 3))
        try:
            test = predicate(r, kinds)
            wanted = whole.filter(test).select(cols).head(head)
        except (PolarsError, TypeError, OverflowError):  # it compares no such things
            continue
        asked += 1
        got = dp.scan(path).filter(test).select(cols).head(head).collect()
        assert got.schema == wanted.schema and got.equals(wanted, null_equal=True), f"{kinds}: {test}"
    return asked


if __name__ == "__main__":
    sys.exit(play_all(play, *sys.argv[1:]))
