"""Arguments of the wrong kind: each call tells which it is, and no exception of another library passes."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import pydapple as dp

# What no parameter of these kinds takes, but for those of which a kind is a part.
ODD = {
    "bool": [np.zeros(3), pd.NA, slice(2)],
    "int": ["x", 1.5, np.zeros(3), object(), -(2**70)],
    "float": ["x", object(), np.zeros(3)],
    "str": [np.array(["a", "b"]), pd.Series([1, 2]), object(), {1, 2}],
    "tuple[int, int]": [3, "x", (1,), (1, 2, 3), (-1, 0), slice(2), float("nan")],
    "Absent": [np.array(["zero", "nan"]), pd.DataFrame({"a": [1]}), object()],
    "Mapping": [3, "x", [1], object()],
    "Iterable": [3, "x", object()],
    "Sequence": [3, object()],
    "Matrix": ["m.dbdf", np.eye(3), object()],
}


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """Each function and method, and arguments with which it works."""
    folder = tmp_path_factory.mktemp("arguments")
    m_path, f_path, ds, c_path = (str(folder / name) for name in ("m.dbdf", "f.dbdf", "ds", "c.dds"))
    dp.write(m_path, sp.csr_array(np.arange(12.0).reshape(4, 3)))
    table = pd.DataFrame({"age": [30, 41, 25], "city": ["Oslo", "Rome", "Oslo"]})
    dp.write(f_path, table)
    dp.dataset.append(ds, np.eye(3))
    c = dp.write_collection(c_path, {"X": np.eye(3), "obs": table})
    m, f = dp.open(m_path), dp.open(f_path)
    out = str(folder / "out.dbdf")
    made = [
        (dp.open, (m_path,)), (dp.info, (m_path,)), (dp.verify, (m_path,)), (dp.scan, (f_path,)),
        (dp.index, (m_path,)), (dp.estimate_packing, (m_path,)), (dp.zarr_store, (m,)),
        (dp.convert, (m_path, out)), (dp.concat, ([m_path, m_path], out)), (dp.repair, (m_path, out)),
        (dp.append, (m_path, np.ones((1, 3)))), (dp.write, (out, np.eye(3))),
        (dp.writer, (out, (2, 2), "f4")), (dp.frame_writer, (out, 2, {"a": "i4"})),
        (dp.loader, (m,)), (dp.singlecell.survey, (m,)),
        (dp.write_collection, (str(folder / "new.dds"), {"X": np.eye(3)})),
        (dp.pack_collection, (c_path, str(folder / "c.zip"))),
        (dp.dataset.create, (str(folder / "fresh"), m)), (dp.dataset.log, (ds,)),
        (dp.dataset.append, (ds, np.ones((1, 3)))), (dp.dataset.compact, (ds,)),
        (dp.dataset.write_part, (ds, np.ones((1, 3)))), (dp.dataset.collect, (ds,)),
        (dp.dataset.commit, (ds, [])),
        (c.put, ("X", np.eye(3))), (c.declare, ({},)), (c.rows_where, ("age > 30",)),
        (f.where, ("age > 30",)), (f.count_where, ("age > 30",)), (f.rows_where, ("age > 30",)),
        (f.explain_where, ("age > 30",)), (f.read, ()), (f.stats, ()), (f.to_pandas, ()),
        (f.to_polars, ()), (f.to_arrow, ()), (f.sample, ()), (f.picture, ()),
        (m.read, ()), (m.take, ([0],)), (m.take_columns, ([0],)), (m.cells, ([0], [0])),
        (m.stats, ()), (m.tile_stats, (0,)), (m.strips, ()), (m.to_scipy, ()), (m.to_dask, ()),
        (m.read_sparse, ()), (m.linear_operator, ()), (m.picture, ()), (m.tile, (0, 0)),
    ]  # fmt: skip
    return made


def odd_arguments(call):
    """Each parameter, and what it does not take."""
    for name, one in inspect.signature(call).parameters.items():
        asked = str(one.annotation).removesuffix(" | None").removesuffix(" | Frame")
        for kind, values in ODD.items():
            if asked == kind or asked.startswith(kind + "["):
                yield from ((name, value) for value in values)


def test_no_argument_of_another_kind_lets_a_foreign_exception_pass(calls):
    tried = refused = 0
    for call, given in calls:
        names = list(inspect.signature(call).parameters)
        for name, value in odd_arguments(call):
            named = {**dict(zip(names, given, strict=False)), name: value}
            tried += 1
            try:
                made = call(**named)
            except dp.Error as error:
                refused += 1
                assert "incompatible function" not in str(error), (call, name, value)
            except Exception as error:
                raise AssertionError((call, name, value)) from error
            else:
                if hasattr(made, "abort"):
                    made.abort()
    assert refused > 300
    assert tried > refused


# What hardly any parameter takes, whatever its kind.
class Plain:
    """An object that nothing knows."""


class Contrary:
    """One that cannot be compared, as a DataFrame of polars with text."""

    __hash__ = None

    def __eq__(self, other):
        raise LookupError("this is compared with nothing")


ANYWHERE = [
    b"x", "\0", "\ud800", 2**70, float("nan"), [[1, 2], [3]], np.array(["a", 1, None], object), np.array([True] * 7), np.array(5),
    np.timedelta64(1, "ns"), Plain, Plain(), slice("a", "b"), {"a": 1}, sp.csr_array(np.eye(2)), pd.DataFrame({"a": [1]}), pd.NA, np.ma.masked,
    sp.coo_array(np.ones(3)), Contrary(),
]  # fmt: skip


def refusal(call):
    """What a call raises: an exception of dapple on one line; None where it raises none."""
    try:
        made = call()
        if hasattr(made, "__next__"):
            next(made)
    except dp.Error as error:
        assert "\n" not in str(error) and "incompatible function" not in str(error), error
        return error
    if hasattr(made, "abort"):
        made.abort()
    return None


def test_no_object_lets_a_foreign_exception_pass(calls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some of them are names of files
    for call, given in calls:
        known = inspect.signature(call).parameters
        plain = dict(zip(known, given, strict=False))
        for name, one in known.items():
            if name in ("progress", "chunks", "seed") or one.kind is one.VAR_KEYWORD:
                continue  # called; of Dask and NumPy, which take much
            for value in ANYWHERE:
                refusal(lambda: call(**plain | {name: value}))  # noqa: B023
        wrong = refusal(lambda: call(**plain, nonsense=1))  # noqa: B023
        hands_on = any(one.kind is one.VAR_KEYWORD for one in known.values())
        assert wrong is not None and (hands_on or "no option 'nonsense'" in str(wrong))
        assert "it is called as" in str(refusal(lambda: call(*given, *range(20))))  # noqa: B023


KEYS = [
    ("m[key]", ANYWHERE), ("m[0, key]", ANYWHERE), ("m[key, 0]", ANYWHERE), ("m.sparse[key]", ANYWHERE), ("m.blocks[key]", [*ANYWHERE, None, 1.5, ()]),
    ("m.rows[key]", ANYWHERE), ("m.row_names[key]", ANYWHERE), ("m.row_names.positions(key)", [1, None, "a", *ANYWHERE]), ("key in m", ANYWHERE),
    ("key in m.sparse", ANYWHERE), ("m.where(above=key)", ANYWHERE), ("m.blocks[0].numpy(key)", ANYWHERE), ("m.strips(sparse=key)", ANYWHERE[-3:]),
    ("m.prefetch(0, key, 0, 1)", ANYWHERE), ("m.contents(key)", ANYWHERE), ("m.details(key)", ANYWHERE), ("m.require_intact(key)", ANYWHERE),
    ("dp.open('x', store=key)", ["x", 3]), ("dp.open('x', fs=key)", ["x", 3]), ("dp.loader(m, rows=key)", ANYWHERE), ("m @ key", [[[1, 2], [3]]]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "values"), KEYS, ids=[text for text, _ in KEYS])
def test_odd_keys_are_told(make, text, values):
    m = make(np.arange(12.0).reshape(4, 3), row_names=list("abcd"))
    refused = [refusal(lambda: eval(text, {"m": m, "dp": dp, "key": value})) for value in values]  # noqa: B023
    assert sum(error is not None for error in refused) >= len(values) - 3  # np.array(5) is an integer to some


def test_what_is_no_text_is_no_name(make):
    m = make(np.eye(2), row_names=["a", "b"])
    assert "\ud800" not in m.row_names and m.row_names.find("\ud800") is None and "b" in m.row_names
    with pytest.raises(IndexError, match="no row is called"):
        m["\ud800"]


def test_durations_are_no_numbers(make):
    m = make(np.eye(3))
    for one in (np.timedelta64(1, "ns"), np.timedelta64(1, "s")):
        with pytest.raises(dp.TypeMismatchError, match="above takes a number"):
            m.where(above=one)
        with pytest.raises(IndexError, match="rows are picked by integers"):
            m[one]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m, ds: dp.open(m.path, formt="csv"), "open has no option 'formt'; did you mean 'format'?"),
        (lambda m, ds: dp.info(m.path, formt="csv"), "open has no option 'formt'; did you mean 'format'?"),
        (lambda m, ds: dp.open(m.path, csv={"delimeter": ";"}), "csv has no option 'delimeter'; did you mean 'delimiter'?"),
        (lambda m, ds: dp.write(ds, m, overwrit=True), "write has no option 'overwrit'; did you mean 'overwrite'?"),
        (lambda m, ds: dp.writer(ds, (2, 2), "f4", tiles=(1, 1)), "has no option 'tiles'; did you mean 'tile'?"),
        (lambda m, ds: dp.convert(m, ds, naro=False), "writing has no option 'naro'; did you mean 'narrow'?"),
        (lambda m, ds: dp.dataset.compact(ds, tyle=(1, 1)), "compacting has no option 'tyle'; did you mean 'tile'?"),
        (lambda m, ds: dp.loader(m, batchsize=3), "loader has no option 'batchsize'"),
        (lambda m, ds: m.read(collumns=(0, 1)), "read has no option 'collumns'"),
        (lambda m, ds: m.where("x > 3"), "too many positional arguments; it is called as where(*, nonzero, absent, above=x)"),
        (lambda m, ds: dp.open(), "missing a required argument: 'path'; it is called as open(path, *, format"),
        (lambda m, ds: 3 in m, "m.count_where(equal=value)"),
        (lambda m, ds: m.prefetch(0, 1, 0, -1), "col_end is an integer from 0 on, not -1"),
        (lambda m, ds: m.row_names.positions(1), "names are a list of str, not 1"),
        (lambda m, ds: dp.write(ds, m, align=2**40), "align is a power of two up to 2097152, not 1099511627776"),
        (lambda m, ds: m.read(dtype=pd.DataFrame({"a": [1]})), "NumPy has no dtype a DataFrame"),
    ],
)  # fmt: skip
def test_a_misspelled_argument_is_told_with_what_was_meant(make, tmp_path, call, words):
    m = make(np.eye(3), row_names=list("abc"))
    with pytest.raises(dp.TypeMismatchError, match=re.escape(words)):
        call(m, str(tmp_path / "ds"))
    assert [one.name for one in tmp_path.iterdir()] == ["m0.dbdf"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m, ds: dp.dataset.append(ds, m, at=3), "at is a pair of integers from 0 on, not 3"),
        (lambda m, ds: dp.dataset.create(ds + "2", m.path), "like is what pydapple.open gives, not '"),
        (lambda m, ds: dp.dataset.collect(ds, keep="all"), "keep is an integer from 0 on, not 'all'"),
        (lambda m, ds: dp.dataset.collect(ds, grace="1d"), "grace is a number, not '1d'"),
        (lambda m, ds: dp.dataset.compact(ds, small="1MB"), "small is an integer from 0 on, not '1MB'"),
        (lambda m, ds: dp.write(ds + ".dbdf", m, pack=True), "pack is a str, not True"),
        (lambda m, ds: dp.repair(m.path, ds + ".dbdf", pack=[None]), r"pack is a str, not \[None\]"),
        (lambda m, ds: dp.frame_writer(ds + ".dbdf", 3, ["a"]), "columns is a mapping, such as a dict"),
        (lambda m, ds: dp.singlecell.survey(m, percent_top=50), "percent_top is a list, not 50"),
        (lambda m, ds: m.read(absent=np.array(["a", "b"])), "absent is 'error', 'zero' or 'nan', not "),
    ],
)
def test_a_wrong_argument_is_named(make, tmp_path, call, words):
    m = make(np.eye(3))
    with pytest.raises(dp.TypeMismatchError, match=words):
        call(m, str(tmp_path / "ds"))
    assert issubclass(dp.TypeMismatchError, TypeError)


def test_what_callbacks_raise_passes(make, tmp_path):
    def broken(done, total):
        raise RuntimeError("the caller's own")

    with pytest.raises(RuntimeError, match="the caller's own"):
        dp.write(tmp_path / "x.dbdf", np.eye(3), progress=broken)
    with pytest.raises(TypeError, match="write has no option 'compression'"):
        dp.write(tmp_path / "x.dbdf", np.eye(3), compression="gzip")
    assert not (tmp_path / "x.dbdf").exists()
