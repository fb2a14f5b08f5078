"""Conditions on the columns of a frame, held against pandas, polars and DuckDB's rules."""

import copy
import datetime as dt
import functools
import operator
import pickle
import sys

import numpy as np
import pytest

import pydapple as dp

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

COUNT = 150_000


def table():
    random = np.random.default_rng(5)
    city = np.array(["Oslo", "Bergen", "Rome", "Bern", None], object)
    return pd.DataFrame(
        {
            "age": pd.array(
                np.where(random.random(COUNT) < 0.1, None, random.integers(0, 90, COUNT)), "Int64"
            ),
            "city": pd.Categorical(city[random.integers(0, 5, COUNT)]),
            "name": np.array(["Ann", "Bo", "Al", 'Q"x', "it's", None], object)[
                random.integers(0, 6, COUNT)
            ],
            "born": np.datetime64("1990-01-01", "s") + np.arange(COUNT).astype("m8[h]"),
            "ok": random.integers(0, 2, COUNT).astype(bool),
            "x": random.standard_normal(COUNT),
            "a b": np.arange(COUNT),
        }
    )


@pytest.fixture(scope="module")
def data():
    return table()


@pytest.fixture(scope="module")
def f(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("where") / "f.dbdf"
    dp.write(path, data, sync=False)
    return dp.open(path)


def cases(f):
    """Conditions as ours, as polars' and as text."""
    c, col = f.c, pl.col
    day = dt.datetime(1999, 5, 17)
    return [
        (c.age > 30, col("age") > 30, "age > 30"),
        (~(c.age > 30), ~(col("age") > 30), "not age > 30"),
        ((c.age > 30) & c.city.isin(["Oslo", "Bergen"]),
         (col("age") > 30) & col("city").cast(str).is_in(["Oslo", "Bergen"]),
         'age > 30 and city in ("Oslo", "Bergen")'),
        (c.name.startswith("A") | c.age.is_missing(),
         col("name").str.starts_with("A") | col("age").is_null(), "name prefix 'A' or age missing"),
        (~c.name.startswith("A"), ~col("name").str.starts_with("A"), "name not prefix 'A'"),
        (c.born >= day, col("born") >= day, "born >= '1999-05-17'"),
        (c.born.between(day, day + dt.timedelta(days=3)),
         col("born").is_between(day, day + dt.timedelta(days=3)),
         "'1999-05-17' <= born <= '1999-05-20'"),
        (c.ok == True, col("ok"), "ok = true"),  # noqa: E712
        (c.ok != True, ~col("ok"), "ok != true"),  # noqa: E712
        ((c.x > 2) | (c.x < -2.5), (col("x") > 2) | (col("x") < -2.5), "x > 2 or x < -2.5"),
        (c["a b"].isin([3, 70_000, -1]), col("a b").is_in([3, 70_000, -1]), "`a b` in (3, 70000, -1)"),
        (c["a b"] == 5, col("a b") == 5, "#6 == 5"),
        ((c.name == 'Q"x') | (c.name == "it's"), col("name").is_in(['Q"x', "it's"]),
         "name in ('Q\"x', \"it's\")"),
        (c.age > 10**30, col("age") > 10**18, "age > 1e30"),
        (~((c.age < 5) | (c.city == "Rome")) & (c.x > 0),
         ~((col("age") < 5) | (col("city").cast(str) == "Rome")) & (col("x") > 0),
         "not (age < 5 or city = 'Rome') and x > 0"),
        (c.age.isin([]), pl.lit(False), "age in ()"),
        ((c.age != 7) & (c.city != "Oslo"), (col("age") != 7) & (col("city").cast(str) != "Oslo"),
         "age != 7 and city != 'Oslo'"),
    ]  # fmt: skip


@pytest.mark.parametrize("k", range(17))
def test_conditions_find_what_polars_finds(f, data, k):
    ours, theirs, text = cases(f)[k]
    frame = pl.from_pandas(data).with_row_index("row")
    want = frame.filter(theirs)["row"].to_list()
    for condition in (ours, text, str(ours)):
        assert f.where(condition).tolist() == want
        assert f.count_where(condition, threads=2) == len(want)
        assert np.flatnonzero(f.rows_where(condition)).tolist() == want
        assert f.to_pandas(condition, "a b")["a b"].tolist() == want
    assert f["a b", ours].tolist() == want and f[ours]["a b"].tolist() == want
    read = {pos for pos, skipped in f.explain_where(ours) if skipped is None}
    assert want == [] or read or len(want) == COUNT or k == 11


def test_blocks_are_skipped_by_statistics_for_all_of_it(f):
    last = COUNT - 1
    verdicts = f.explain_where((f.c["a b"] >= last) & (f.c.x > -100))
    assert sum(skipped is None for _, skipped in verdicts) <= 4
    assert any(skipped == "statistics" for _, skipped in verdicts)
    assert all(skipped for _, skipped in f.explain_where(~(f.c["a b"] < 10**9)))
    assert all(skipped for _, skipped in f.explain_where(f.c["a b"] < 10**9))
    assert f.count_where(f.c["a b"] < 10**9) == COUNT


def test_parts_by_condition(f, data):
    want = data[(data.age > 80).fillna(False) & (data.city == "Oslo")]
    got = f.to_pandas((f.c.age > 80) & (f.c.city == "Oslo"), ["name", "x"])
    assert got.index.tolist() == want.index.tolist() and got.x.tolist() == want.x.tolist()
    assert f.to_arrow("age > 80 and city = 'Oslo'").num_rows == len(want)
    assert f.to_polars("age > 80 and city = 'Oslo'", "x")["x"].to_list() == want.x.tolist()


def test_conditions_that_are_none(f):
    with pytest.raises(dp.Error, match="neither true nor false"):
        bool(f.c.age > 3)
    with pytest.raises(dp.Error, match="neither true nor false"):
        assert 1 < f.c.age < 3
    with pytest.raises(dp.Error, match="parentheses"):
        assert f.c.age > 3 & (f.c.x > 2)
    with pytest.raises(dp.Error, match="is_missing"):
        assert f.c.age == None  # noqa: E711
    with pytest.raises(dp.Error, match="not with"):
        assert f.c.age == object()
    with pytest.raises(dp.Error, match="list of values"):
        f.c.city.isin("Oslo")
    with pytest.raises(AttributeError, match="did you mean 'age'"):
        assert f.c.agee
    with pytest.raises(KeyError):
        assert f.c["agee"]
    with pytest.raises(dp.Error, match="at character 6"):
        f.where("age >")
    with pytest.raises(KeyError):
        f.where("agee > 3")
    with pytest.raises(dp.Error, match="one condition is needed"):
        f.where("age")
    with pytest.raises(dp.Error, match="holds numbers"):
        f.where(f.c.age == "x")
    with pytest.raises(dp.Error, match="no words"):
        f.where("age prefix 'x'")


def test_many_conditions_put_together(f):
    wanted = f.c["a b"] == 0
    for k in range(1, 2000):
        wanted = wanted | (f.c["a b"] == k * 7)
    assert f.count_where(wanted) == 2000
    assert f.count_where(f.c["a b"].isin(range(0, 14_000, 7))) == 2000


def test_what_no_cell_holds_is_not_found(there):
    inf = float("inf")
    f = there({"x": [1.0, inf, -inf, float("nan"), 2.0**53], "i": [1, 2, 3, 4, 2**60]})
    beyond = 10**400
    for found, wanted in {
        f.c.x.isin([float("nan")]): [],
        f.c.x.isin([beyond, -beyond, 2**53 + 1, 2**53]): [4],
        f.c.x.isin([beyond, inf]): [1],
        f.c.i.isin([beyond, 2**60, 2**64]): [4],
        f.c.x < beyond: [0, 2, 4],
        f.c.x > -(10**5000): [0, 1, 4],
        f.c.x == float("nan"): [],
        f.c.x != float("nan"): [0, 1, 2, 3, 4],
        f.c.x != 1: [1, 2, 3, 4],
    }.items():
        assert f.where(found).tolist() == wanted, found
        assert f.where(str(found)).tolist() == wanted, found


def test_values_that_are_no_cells_are_refused(f):
    for made in (
        lambda: f.c.born == pd.NaT,
        lambda: f.c.born.isin([np.datetime64("NaT")]),
        lambda: f.c.age > pd.NA,
        lambda: f.c.name == None,  # noqa: E711
    ):
        with pytest.raises(dp.TypeMismatchError, match="is_missing"):
            made()
    with pytest.raises(dp.TypeMismatchError, match="a list of values"):
        f.c.age.isin(3)
    with pytest.raises(dp.InvalidArgumentError, match="no Unicode text"):
        f.where(f.c.name == "\ud800")
    for wanted in (f.c.age, None, 1.5, [True]):
        with pytest.raises(dp.TypeMismatchError, match="a condition such as"):
            f.where(wanted)


def test_conditions_that_are_nested_deeply(f):
    many = f.c["a b"] < 9
    for _ in range(1001):
        many = ~many
    assert f.count_where(many) == COUNT - 9
    deep = f.c["a b"] < 9
    for k in range(98):
        deep = (deep & (f.c.age >= 0)) if k % 2 else (deep | (f.c.age == k))
    f.count_where(deep)
    with pytest.raises(dp.InvalidArgumentError, match="levels deep"):
        for k in range(9):
            deep = (deep & (f.c.age >= 0)) if k % 2 else (deep | (f.c.age == k))


def test_columns_of_conditions_say_what_they_have(f):
    for name, wanted in (("isna", "is_missing"), ("notnull", "~column"), ("str", "scan"), ("is_in", "isin")):
        with pytest.raises(AttributeError, match=wanted):
            getattr(f.c.age, name)
    assert not hasattr(f.c.age, "__len__")


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "i8", "u8", "f4", "f8"])
@pytest.mark.parametrize("count", [1, 2, 3, 200, 5000])
def test_lists_of_any_length(there, dtype, count):
    rng = np.random.default_rng(count)
    if dtype[0] == "f":
        cells = rng.integers(-5000, 5000, 20_000).astype(dtype) / 8
        cells[::7] = rng.choice([0.0, -0.0, np.nan, np.inf], len(cells[::7]))
    else:
        info = np.iinfo(dtype)
        cells = rng.integers(info.min, info.max, 20_000, dtype=dtype, endpoint=True)
    wanted = np.concatenate([rng.choice(cells, count), rng.choice(cells, count // 3)])
    f = there({"x": cells})
    assert f.where(f.c.x.isin(wanted)).tolist() == np.flatnonzero(np.isin(cells, wanted)).tolist()
    outside = f.c.x.isin([*wanted, 10**30, 0.3])
    assert f.count_where(~outside) == np.count_nonzero(~np.isin(cells, wanted))


def test_polars_that_is_too_old_for_scans_is_told(f, monkeypatch):
    monkeypatch.setattr(pl, "__version__", "1.32.3")
    with pytest.raises(dp.UnsupportedError, match=r"1\.33 or later, and 1\.32\.3 is installed"):
        dp.scan(f)


def test_polars_scans(f, data):
    whole = f.to_polars()
    lazy = dp.scan(f)
    for query in (
        lambda t: t.filter((pl.col("age") > 30) & (pl.col("x") < 1.5)).select("name", "a b"),
        lambda t: t.filter(pl.col("a b") >= COUNT - 10),
        lambda t: t.select("x").head(7),
        lambda t: t.filter((pl.col("x") > 3) | (pl.col("age") == 3)).select(pl.len()),
        lambda t: t.filter(~(pl.col("age") > 5)).select(pl.col("a b").sum()),
        lambda t: t.filter(pl.col("name").str.starts_with("A")).group_by("ok").len().sort("ok"),
        lambda t: t.filter(pl.col("a b").is_in([1, 2, 99])).select("born"),
        lambda t: t.head(100).filter(pl.col("age") > 30),  # not the first 100 that are older
        lambda t: t.head(100).filter(pl.col("name").str.starts_with("A")),
        lambda t: t.filter(pl.col("age") > 30).head(100),
        lambda t: t.slice(7, 50).filter(pl.col("x") > 0),
    ):
        assert query(lazy).collect().equals(query(whole.lazy()).collect())
    assert dp.scan(f.path).select(pl.len()).collect().item() == COUNT
    with pytest.raises(dp.Error, match="matrix"):
        dp.write(f.path + ".m.dbdf", np.eye(2), sync=False, overwrite=True)
        dp.scan(f.path + ".m.dbdf")


def test_dask_frames_with_an_index_claim_no_divisions(there):
    pytest.importorskip("dask.dataframe")
    columns = {"a": np.arange(10), "b": np.arange(10) * 2}
    for index in (pd.Index(np.arange(10)[::-1] * 3, name="i"), pd.date_range("2020", periods=10), pd.Index(list("qwertyuiop"))):
        t = pd.DataFrame(columns, index=index)
        d = there(t).to_dask(rows=4)
        assert d.npartitions == 3 and not d.known_divisions
        for made, want in ((d, t), (d[["b"]], t[["b"]]), (d.map_partitions(pd.DataFrame.sort_index).partitions[1], t[4:8].sort_index()), (d[d.a > 5].b, t[t.a > 5].b)):
            assert made.compute(scheduler="sync").to_dict() == want.to_dict()
    for rows in (0, -4):
        with pytest.raises(ValueError, match="one row or more"):
            there({"a": [1]}).to_dask(rows=rows)


def test_thousands_of_conditions_are_joined_one_after_the_other(f):
    calls = []
    sys.setprofile(lambda frame, event, _: calls.append(event) if event == "call" else None)
    try:
        one = f.c.age
        many = functools.reduce(operator.or_, [one == k for k in range(2000)])
        back = functools.reduce(lambda made, k: (one == k) | made, range(2000), one == 2000)
    finally:
        sys.setprofile(None)
    assert len(calls) < 100 * 4000  # parts that were joined before are not gone through again
    assert str(many) == " or ".join(f"`age` == {k}" for k in range(2000))
    assert str(back) == " or ".join(f"`age` == {k}" for k in (*range(1999, -1, -1), 2000))
    assert str(many & back) == f"({many}) and ({back})" and str(~many & ~back) == f"not ({many}) and not ({back})"
    for sent in (pickle.loads(pickle.dumps(many)), copy.deepcopy(many)):
        assert str(sent) == str(many) and str(sent | one.is_missing()) == f"{many} or `age` missing"
    assert f.count_where(many) == f.count_where(one <= 1999)
    deep = one == 0
    for k in range(99):
        deep = (deep & (one == k)) if k % 2 else (deep | (one == k))
    assert str(deep | (one == 99)).endswith("or `age` == 99")  # side by side
    with pytest.raises(ValueError, match="nested more than 100 levels"):
        deep & (one == 99)


def test_a_column_is_named_without_a_look_at_all_labels(there):
    class Labels(list):
        def index(self, *_):
            raise AssertionError

    f = there(pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]))
    f._labels = Labels(f._labels)
    assert [str(column > 0) for column in f.c] == ["`a` > 0", "`b` > 0", "#2 > 0"]


def test_dask_frames_have_every_column_of_a_label(there):
    pytest.importorskip("dask.dataframe")
    t = pd.DataFrame([[1, 2.5, "x"], [3, 4.5, "y"], [5, 6.5, "x"]], columns=["a", "a", "b"])
    f = there(t)
    for made, want in (
        (f.to_dask(rows=2)[["a"]], t[["a"]]), (f.to_dask(rows=2)[["b"]], t[["b"]]),
        (f.to_dask(columns=["a.1", "b"])[["a"]], t.iloc[:, [1]]), (f.to_dask(columns=[1])["a"], t.iloc[:, 1]),
    ):  # fmt: skip
        got = made.compute(scheduler="sync")
        assert got.to_numpy().tolist() == want.to_numpy().tolist(), want
    numbers = t.set_axis([1, 0, 7], axis=1)
    assert there(numbers).to_dask(rows=2)[[0]].compute(scheduler="sync").equals(numbers[[0]])


def test_dask_frames(f, data):
    dd = pytest.importorskip("dask.dataframe")
    d = f.to_dask(rows=40_000)
    assert isinstance(d, dd.DataFrame) and d.npartitions == 4
    assert d.divisions == (0, 40_000, 80_000, 120_000, COUNT - 1)
    assert float(d.x.sum().compute(scheduler="threads")) == pytest.approx(data.x.sum())
    got = d[d.age > 80][["a b", "name"]].compute(scheduler="threads")
    want = data[(data.age > 80).fillna(False)]
    assert got["a b"].tolist() == want["a b"].tolist()
    assert len(f.to_dask(columns=["x"]).columns) == 1
    assert f.to_dask().compute(scheduler="threads").x.tolist() == data.x.tolist()
