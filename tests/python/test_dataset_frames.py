"""Data sets of frames: columns, words and missing cells of parts that differ."""

import re
import tempfile

import numpy as np
import pandas as pd
import pytest

import pydapple as dp
from pydapple import dataset, streams

CELLS = np.arange(120 * 70, dtype="f8").reshape(120, 70) % 251


def test_a_frame_of_parts(tmp_path):
    tables = [
        pd.DataFrame(
            {
                "who": pd.Categorical([f"w{(i * k) % 300}" for i in range(400)]),
                "when": pd.date_range(f"2026-0{k}-01", periods=400, freq="min"),
                "x": np.arange(400) / k,
            }
        )
        for k in (1, 2, 3)
    ]
    for table in tables:
        dataset.append(tmp_path, table, sync=False)
    got = dp.open(tmp_path).to_pandas()
    want = pd.concat([t.astype({"who": str}) for t in tables], ignore_index=True)
    assert got["who"].astype(str).tolist() == want["who"].tolist()
    assert got["when"].tolist() == want["when"].tolist()
    assert got["x"].tolist() == want["x"].tolist()


def test_words_of_many_parts_in_one_commit(tmp_path):
    """Parts that know the same words, fewer, others, those of before and more, in any order."""
    rng = np.random.default_rng(5)
    folder, all_words, rows = tmp_path / "set", [], 0
    for commit in range(4):
        parts = []
        for part in range(12):
            known = list(dict.fromkeys(word for word in all_words if word))
            words = {
                0: [*known[:7], f"after {commit} {part}"],
                1: known[::-1][:9] or ["first"],
                2: [f"word {k}" for k in rng.integers(0, 60, 20)],
                3: [*known, f"next {part}", None],
            }[part % 4]
            one = pd.DataFrame({"w": pd.array(words, "string")})
            parts.append(dp.dataset.write_part(folder, one, at=(rows, 0)))
            all_words += words
            rows += len(words)
        dp.dataset.commit(folder, parts)
        assert dp.open(folder)["w"].tolist() == all_words


def test_a_stream_is_one_part_written_in_pieces(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    (tmp_path / "t").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "t"))
    monkeypatch.setattr(streams, "_PIECE", 1000)
    files = []

    def batches(fails=False):
        for k in range(6):
            if fails and k == 4:
                raise ValueError("the connection is closed")
            files.append(len(list((tmp_path / "t").rglob("*.dbdf"))))
            rows = range(500 * k, 500 * k + 500)
            late = pa.array([None if row > 2900 else row for row in rows], "i4")
            yield pa.record_batch({"i": list(rows), "late": late, "w": [f"w{row % 700}" for row in rows]})

    def stream(**options):
        return pa.RecordBatchReader.from_batches(next(batches()).schema, batches(**options))

    wanted = pa.Table.from_batches(list(batches())).to_pydict()
    files.clear()
    for times in (1, 2):
        state = dataset.append(tmp_path / "d", stream(), sync=False)
        assert state.shape == (3000 * times, 3) and state.parts == times
        with dp.open(tmp_path / "d") as whole:
            assert {label: whole[label].tolist() for label in whole.columns} == {k: times * v for k, v in wanted.items()}
    assert files == 2 * [0, 0, 0, 2, 3, 4, 5]  # one batch for the schema, and two before there are several
    with pytest.raises(dp.Error, match="the connection is closed"):
        dataset.append(tmp_path / "d", stream(fails=True), sync=False)
    assert len(list((tmp_path / "d").glob("part-*"))) == 2 and not list((tmp_path / "t").iterdir())


def test_columns_are_converted_to_what_the_set_holds_where_that_loses_nothing(tmp_path):
    first = pd.DataFrame({
        "t": np.array(["2020-01-01", "2262-01-01"], "M8[us]"), "d": np.array([1, 2], "m8[s]"),
        "i": np.array([1, 2], "i4"), "f": np.array([0.5, 1.5]), "n": pd.array([1, None], "Int64"),
        "s": ["a", "b"], "b": pd.array([True, None], "boolean"),
    })  # fmt: skip
    fits = {
        "t": [np.array(["1969-12-31T23:59:59", "NaT"], f"M8[{unit}]") for unit in ("s", "ms", "ns")]
        + [[None, None]],
        "d": [np.array([3000, "NaT"], "m8[ms]"), np.array([-5, 7], "m8[D]").astype("m8[ns]")],
        "i": [np.array([-5, 2**31 - 1]), np.array([7, 8], "u8"), pd.array([3, 4], "Int64"), [np.nan, np.nan], np.array([1.0, 2.0])],
        "f": [np.array([3, -(2**53)]), np.array([0.25, np.nan], "f4")],
        "n": [pd.array([-(2**63) + 1, None], "Int64"), np.array([5, 6], "u1"), [None, None], pd.array([9, None], "UInt8")],
        "b": [np.array([False, True]), [None, None]],
    }  # fmt: skip
    for label, columns in fits.items():
        for k, column in enumerate(columns):
            folder = tmp_path / f"{label}{k}"
            second = first.assign(**{label: column})
            dataset.append(folder, first, sync=False)
            dataset.append(folder, second, sync=False)
            made = dp.open(folder).to_pandas()[label]
            nullable = {"int32": "Int32"} if made.isna().any() else {}
            assert made.dtype == nullable.get(str(first[label].dtype), first[label].dtype), (label, k)
            wanted = pd.concat([first[label].astype(object), second[label].astype(object)])
            assert made.isna().tolist() == wanted.isna().tolist()
            assert made.dropna().tolist() == wanted.dropna().tolist()
    refused = {
        "t": [np.array([1, 2], "M8[ns]"), np.array([2**62, 2], "M8[s]")], "d": [np.array([1, 2], "m8[ms]")],
        "i": [np.array([1, 2**31]), np.array([1.0, 2.5]), pd.array([1, 2**31, None][1:], "Int64")],
        "f": [np.array([1, 2**53 + 1])], "n": [pd.array([-(2**63), None], "Int64"), np.array([2**63], "u8").repeat(2)],
    }  # fmt: skip
    dataset.append(tmp_path / "set", first, sync=False)
    for label, columns in refused.items():
        for column in columns:
            with pytest.raises(dp.Error, match=f"column '{label}'"):
                dataset.append(tmp_path / "set", {**dict(first), label: column}, sync=False)
    assert dp.open(tmp_path / "set").shape == (2, 7)


def test_reals_become_integers_where_each_is_one(tmp_path):
    for dtype, least, most in (("int64", -(2.0**63), 2.0**63 - 1024), ("uint16", 0.0, 65534.0)):
        path = tmp_path / dtype
        dataset.append(path, pd.DataFrame({"n": np.array([1, 2], dtype)}))
        dataset.append(path, pd.DataFrame({"n": [3.0, most]}))
        for bad in (0.5, -0.0, np.nan, np.inf, least - 2048, most + 2048):
            with pytest.raises(dp.InvalidArgumentError, match="column 'n' is a number of float64 here"):
                dataset.append(path, pd.DataFrame({"n": [4.0, bad]}))
        dataset.append(path, pd.DataFrame({"n": pd.array([5.0, None, least + 2048], "Float64")}))
        got = dp.open(path).to_pandas()["n"]
        assert [None if pd.isna(n) else int(n) for n in got] == [1, 2, 3, int(most), 5, None, int(least + 2048)]


def test_an_index_of_words_is_kept_and_other_names_are_told(tmp_path):
    t = pd.DataFrame({"a": [1, 2, 3, 4]}, index=pd.Index(["p", "q", "r", "p"], name="who"))
    for part in (t[:1], t[1:3], t[3:]):
        dataset.append(tmp_path / "words", part, sync=False)
    pd.testing.assert_frame_equal(
        dp.open(tmp_path / "words").to_pandas(), t, check_index_type=False
    )
    dataset.append(tmp_path / "plain", t.reset_index(drop=True), sync=False)
    with pytest.warns(UserWarning, match="no names of rows"):
        dataset.append(tmp_path / "plain", t, sync=False)
    assert dp.open(tmp_path / "plain")["a"].tolist() == [1, 2, 3, 4] * 2
    dp.write(tmp_path / "m.dbdf", CELLS[:2], row_names=["p", "q"])
    with (
        dp.open(tmp_path / "m.dbdf") as m,
        pytest.warns(UserWarning, match="no names of rows"),
    ):
        dataset.append(tmp_path / "cells", m, sync=False)
    with pytest.warns(UserWarning, match="no names of rows"):
        dataset.append(tmp_path / "cells", CELLS[:2], row_names=["p", "q"], sync=False)


def test_cells_that_are_the_mark_of_missing_ones_are_refused(tmp_path):
    for dtype, mark, wider in (
        ("UInt8", 255, "UInt16"),
        ("Int64", -(2**63), "Float64"),
    ):
        folder = tmp_path / dtype
        dp.dataset.append(folder, pd.DataFrame({"x": pd.array([1, None], dtype)}))
        for cells in (np.array([mark, 7], dtype.lower()), pd.array([mark, 7], dtype)):
            with pytest.raises(dp.InvalidArgumentError, match=f"holds {mark}, .*'{wider}'"):
                dp.dataset.append(folder, pd.DataFrame({"x": cells}))
        dp.dataset.append(folder, pd.DataFrame({"x": np.array([3], dtype.lower())}))
        assert dp.open(folder)["x"].tolist() == [1, None, 3]


def test_errors_about_marks_say_what_helps(tmp_path):
    """Int8 that holds both of its ends, and missing cells, is one part's own way to mark them."""
    first = pd.DataFrame({"x": pd.array([-128, None, 1], "Int8")})
    second = pd.DataFrame({"x": pd.array([127, None, -127], "Int8")})
    dataset.append(tmp_path / "a", first, sync=False)
    with pytest.raises(dp.InvalidArgumentError, match=r"holds 127, .*as Int16") as error:
        dataset.append(tmp_path / "a", second, sync=False)
    advice = re.search(r"df(\.astype\(.*\))", str(error.value))[1]
    dataset.append(tmp_path / "b", eval(f"dp.open(tmp_path / 'a').to_pandas(){advice}"), sync=False)
    dataset.append(tmp_path / "b", eval(f"second{advice}"), sync=False)
    assert dp.open(tmp_path / "b")["x"].tolist() == [-128, None, 1, 127, None, -127]
    dataset.append(tmp_path / "c", {"x": np.array([-128, 127], "i1")}, sync=False)
    with pytest.raises(dp.InvalidArgumentError, match=r"holds -128, which marks missing cells in .*part-.*; make") as error:
        dataset.append(tmp_path / "c", second, sync=False)
    assert len(list((tmp_path / "c").glob("part-*"))) == 1 and error.value.file in map(str, (tmp_path / "c").glob("part-*"))


def test_integers_may_be_missing_from_a_later_part_on(tmp_path):
    pa = pytest.importorskip("pyarrow")
    low = np.iinfo("i8").min
    for k, gone in enumerate(([None, None], [np.nan, np.nan], pd.array([None, 3], "Int8"), pa.array([7, None]))):
        folder = tmp_path / str(k)
        for cells in ([1, 2], [3, 4], [low + 1, 5]):
            dataset.append(folder, {"x": np.array(cells), "y": np.ones(2)}, sync=False)
        before = dp.open(folder)
        dataset.append(folder, {"x": gone, "y": np.ones(2)}, sync=False)
        dataset.append(folder, {"x": np.array([6, 7]), "y": np.ones(2)}, sync=False)
        later = pd.array(gone.to_pylist() if k == 3 else gone, "Int64").tolist()
        wanted = [1, 2, 3, 4, low + 1, 5, *[None if pd.isna(one) else one for one in later], 6, 7]
        with dp.open(folder) as f:
            assert f["x"].tolist() == wanted
            assert f.where("x missing").tolist() == [r for r, one in enumerate(wanted) if one is None]
            assert f.stats()["x"].nans == wanted.count(None)
        assert before["x"].dtype == np.int64 and before["x"].tolist() == wanted[:6]
        with pytest.raises(dp.InvalidArgumentError, match=f"holds {low}, which marks missing cells in the data set"):
            dataset.append(folder, {"x": np.array([low, 1]), "y": np.ones(2)}, sync=False)


def test_no_cell_of_a_part_before_becomes_missing(tmp_path):
    pa = pytest.importorskip("pyarrow")
    low = np.iinfo("i8").min
    parts = [dataset.write_part(tmp_path, {"x": cells}, at=(2 * k, 0), sync=False)
             for k, cells in enumerate(([1, low], [3, 4], pa.array([5, None])))]  # fmt: skip
    for given in (parts, parts[:1], parts[1:]):  # of one commit, and of one after the other
        words = f"{parts[0].name}: column 'x' holds {low}, which marks missing cells in .*{parts[2].name}"
        if parts[0] in given and parts[2] not in given:
            dataset.commit(tmp_path, given, sync=False)
            continue
        with pytest.raises(dp.InvalidArgumentError, match=words):
            dataset.commit(tmp_path, given, sync=False)
    assert dp.open(tmp_path)["x"].tolist() == [1, low]


def test_frames_become_what_the_data_set_holds(tmp_path):
    first = {"n": np.array([1.5, 2]), "t": np.array(["2024-01-01T10:00:00.5", "NaT"], "M8[ms]")}
    dataset.append(tmp_path / "set", first, sync=False)
    later = {"n": np.array([3, 4]), "t": np.array(["2024-01-02", "NaT"], "M8[D]")}
    dp.write(tmp_path / "later.dbdf", later, attrs={"day": 2}, sync=False)
    with dp.open(tmp_path / "later.dbdf") as frame:
        dataset.append(tmp_path / "set", frame, sync=False)
    with dp.open(tmp_path / "set") as f:
        assert f["n"].tolist() == [1.5, 2, 3, 4]
        assert f["t"].astype("M8[ms]").astype(str).tolist() == ["2024-01-01T10:00:00.500", "NaT", "2024-01-02T00:00:00.000", "NaT"]
    dp.write(tmp_path / "large.dbdf", later | {"n": np.array([2**53 + 1, 4])}, sync=False)
    with pytest.raises(dp.InvalidArgumentError, match="a number of int64 here and a number of float64"):
        dataset.append(tmp_path / "set", dp.open(tmp_path / "large.dbdf"), sync=False)
