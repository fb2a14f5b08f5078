"""Tables that are put together, and what a target does not keep."""

import numpy as np
import pytest

import pydapple as dp

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")
pytest.importorskip("pyarrow.feather")


def test_integers_are_rounded_beside_floats_only_when_asked(tmp_path):
    big, path, out = 2**53 + 1, tmp_path / "a.dbdf", tmp_path / "b.dbdf"
    dp.write(path, {"n": [big]})
    with pytest.raises(dp.TypeMismatchError, match="allow_loss=True"):
        dp.concat([path, path], out, dtype="f8")
    floats = {"n": [0.5]}
    with pytest.raises(dp.TypeMismatchError, match="allow_loss=True"):
        dp.append(path, floats)
    dp.write(tmp_path / "c.dbdf", floats)
    dp.concat([path, tmp_path / "c.dbdf"], out, allow_loss=True)
    dp.append(path, floats, allow_loss=True)
    for made in (path, out):
        assert dp.open(made)["n"].tolist() == [float(2**53), 0.5]


def test_orders_of_categories_are_merged_or_a_warning_tells(tmp_path):
    def level(name, words, ordered=True):
        column = pd.Series(pd.Categorical(words, words, ordered=ordered))
        dp.write(tmp_path / name, pd.DataFrame({"size": column}))
        return tmp_path / name

    two, three = level("two.dbdf", ["lo", "hi"]), level("three.dbdf", ["lo", "mid", "hi"])
    for k, parts in enumerate([(two, three), (three, two)]):
        dp.concat(parts, tmp_path / f"{k}.dbdf")
        whole = dp.open(tmp_path / f"{k}.dbdf").to_pandas()["size"]
        assert whole.cat.ordered and list(whole.cat.categories) == ["lo", "mid", "hi"]
    other = level("other.dbdf", ["hi", "lo"])
    with pytest.raises(dp.InvalidArgumentError, match=r"column 'size'.*concat"):
        dp.append(two, other)
    assert dp.open(two).to_pandas()["size"].cat.ordered
    with pytest.warns(UserWarning, match="column 'size'") as told:
        dp.concat([two, other], tmp_path / "x.dbdf")
    assert told[0].filename.endswith("test_join.py")
    assert not dp.open(tmp_path / "x.dbdf").to_pandas()["size"].cat.ordered
    dp.append(two, three)
    assert dp.open(two).to_pandas()["size"].tolist() == ["lo", "hi", "lo", "mid", "hi"]


def test_a_conversion_warns_of_what_it_does_not_keep(tmp_path):
    times = pd.date_range("2024-01-01", periods=2, tz="Europe/Berlin")
    dp.write(tmp_path / "a.dbdf", pd.DataFrame({"when": times}))
    with pytest.warns(UserWarning, match="column 'when': csv keeps no names of zones") as told:
        dp.convert(tmp_path / "a.dbdf", tmp_path / "a.csv")
    assert told[0].filename.endswith("test_join.py")
    with pytest.raises(dp.UnsupportedError, match="stored_numbers=True"):
        dp.convert(tmp_path / "a.dbdf", tmp_path / "plain.dbdf", plain=True)
    for wrong in (["x"], pd.array([1, None], "Int64"), times):
        with pytest.raises(dp.UnsupportedError, match="column 'bad'"):
            dp.write(tmp_path / "plain.dbdf", {"bad": wrong}, plain=True)
    assert not (tmp_path / "plain.dbdf").exists()


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_columns_that_are_not_asked_for_do_no_harm(tmp_path, ending):
    path, out = tmp_path / f"c.{ending}", tmp_path / "c.dbdf"
    table = pa.table({"t": ["x", "y"], "bad": [[1], [2]], "a.b": [1, 2]})
    if ending == "parquet":
        pa.parquet.write_table(table, path)
    else:
        pa.feather.write_feather(table, path)
    dp.convert(path, out, columns=["a.b", "t"])
    assert dp.open(out).columns == ("a.b", "t") and dp.open(out)["t"].tolist() == ["x", "y"]
    with pytest.raises(dp.Error, match="column 'bad'"):
        dp.convert(path, out, overwrite=True)
    with pytest.raises(dp.Error) as missed:
        dp.convert(path, out, columns=["none"], overwrite=True)
    assert "guest" not in str(missed.value)


def test_errors_name_the_file_that_is_appended(tmp_path):
    dp.write(tmp_path / "x.dbdf", {"n": [1]})
    pa.parquet.write_table(pa.table({"m": [1]}), tmp_path / "y.parquet")
    with pytest.raises(dp.Error, match=r"y\.parquet: column 'm'"):
        dp.append(tmp_path / "x.dbdf", tmp_path / "y.parquet")


def test_a_time_that_would_become_missing_is_refused(tmp_path):
    for kind in (pa.timestamp("us"), pa.duration("ns")):
        with pytest.raises(dp.TypeMismatchError, match="column 't'"):
            dp.write(tmp_path / "t.dbdf", pa.table({"t": pa.array([-(2**63), None, 1], kind)}))
    dp.write(tmp_path / "t.dbdf", pa.table({"t": pa.array([-(2**63), 1], pa.timestamp("us"))}))
    assert dp.open(tmp_path / "t.dbdf").meanings["t"].missing is None


def test_a_csv_of_labels_alone_is_appended(tmp_path):
    dp.write(tmp_path / "a.dbdf", {"w": ["x"], "n": np.array([2**53 + 1])})
    (tmp_path / "none.csv").write_text("w,n\n")
    dp.append(tmp_path / "a.dbdf", tmp_path / "none.csv")
    f = dp.open(tmp_path / "a.dbdf")
    assert f["w"].tolist() == ["x"] and f["n"].tolist() == [2**53 + 1]


def test_quoted_csv_of_pandas_keeps_missing_dates_and_booleans(tmp_path):
    import csv

    table = pd.DataFrame({
        "day": pd.to_datetime(["2024-01-02", None, "2024-01-03"]),
        "ok": pd.array([True, None, False], "boolean"), "w": ["a", "b", "c"],
    })  # fmt: skip
    for quoting in (csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC):
        table.to_csv(tmp_path / "q.csv", index=False, quoting=quoting)
        f = dp.open(tmp_path / "q.csv")
        assert f.meanings["day"].kind == "timestamp" and f.meanings["ok"].kind == "boolean"
        assert f["ok"].tolist() == [True, None, False] and f["day"].tolist()[1] is None


@pytest.mark.parametrize("missing", [None, np.nan])
def test_a_column_that_is_all_missing_is_appended_to_any_other(tmp_path, missing):
    path = tmp_path / "t.dbdf"
    columns = {
        "n": np.array([1, -128], "i1"), "big": pd.array([2**63, None], "UInt64"), "x": [1.5, 2.5],
        "t": pd.to_datetime(["2024-01-02", None]), "z": pd.to_datetime(["2024-01-02"] * 2).tz_localize("Asia/Tokyo"),
        "d": pd.to_timedelta([1, 2], "s"), "b": [True, False], "w": ["a", "b"],
        "c": pd.Categorical(["p", "q"], ["q", "p"], ordered=True), "u": pd.Categorical(["p", "q"]),
    }  # fmt: skip
    dp.write(path, columns)
    before = dp.open(path)
    dp.append(path, pd.DataFrame({label: [missing] * 3 for label in columns}))
    dp.append(path, pd.DataFrame({label: [] for label in columns}))
    dp.append(path, {label: np.array([missing], object) for label in columns})
    f = dp.open(path)
    assert f.dtypes == before.dtypes and not dp.verify(path, payload=True).findings
    for label, meaning in before.meanings.items():
        assert f.meanings[label][:4] == meaning[:4] and str(f[label, :2].tolist()) == str(before[label].tolist())
        # NaN among floats is a value, and stays one.
        gone = [missing is None or label != "x"] * 3 + [True]
        assert f.to_arrow()[label].is_null().to_pylist()[2:] == gone, label
    with pytest.raises(dp.Error, match="column 'n'"):
        dp.append(path, pd.DataFrame({label: ["a"] for label in columns}))
    with pytest.raises(FileNotFoundError):
        dp.append(tmp_path / "none.dbdf", {"n": [None]})
    dp.write(tmp_path / "m.dbdf", np.eye(2))
    with pytest.raises(dp.Error):
        dp.append(tmp_path / "m.dbdf", {"n": [None]})


def test_a_column_that_is_all_missing_joins_any_other(tmp_path):
    gone = [None, None]
    nulls = {
        "none": gone, "nan": np.full(2, np.nan), "nat": pd.to_datetime(gone), "zone": pd.to_datetime(gone).tz_localize("UTC"),
        "boolean": pd.array(gone, "boolean"), "integer": pd.array(gone, "Int8"), "text": pd.array(gone, "string"),
        "duration": pd.to_timedelta(gone), "f4": np.full(2, np.nan, "f4"),
    }  # fmt: skip
    typed = {
        "b": pd.array([True, False], "boolean"), "t": pd.to_datetime(["2024-01-02", None]), "w": ["a", "b"],
        "n": np.array([2**53 + 1, -(2**63)]), "d": pd.to_timedelta([1, 2], "s"), "c": pd.Categorical(["p", "q"], ordered=True),
        "z": pd.to_datetime(["2024-01-02"] * 2).tz_localize("Asia/Tokyo"),
    }  # fmt: skip
    dp.write(tmp_path / "typed.dbdf", typed)
    told = dp.open(tmp_path / "typed.dbdf")
    for name, cells in nulls.items():
        dp.write(tmp_path / "gone.dbdf", {label: cells for label in typed}, overwrite=True)
        for parts in (["typed", "gone"], ["gone", "typed"], ["gone", "typed", "gone"]):
            dp.concat([tmp_path / f"{part}.dbdf" for part in parts], tmp_path / "all.dbdf", overwrite=True)
            f, at = dp.open(tmp_path / "all.dbdf"), 2 * parts.index("typed")
            assert not dp.verify(tmp_path / "all.dbdf", payload=True).findings
            for label in typed:
                assert f.meanings[label][:4] == told.meanings[label][:4] and f.dtypes == told.dtypes, (name, label)
                whole = [None] * (2 * len(parts))
                whole[at : at + 2] = told.to_arrow()[label].to_pylist()
                assert f.to_arrow()[label].to_pylist() == whole, (name, parts, label)
    # Where no part tells anything, the first does; words that are kept tell something.
    dp.concat([tmp_path / "gone.dbdf"] * 2, tmp_path / "all.dbdf", overwrite=True)
    dp.write(tmp_path / "t.dbdf", {"a": pd.to_datetime(gone)})
    dp.write(tmp_path / "n.dbdf", {"a": np.full(2, np.nan)})
    dp.write(tmp_path / "c.dbdf", {"a": pd.Categorical(gone, ["p"])})
    dp.concat([tmp_path / "t.dbdf", tmp_path / "n.dbdf"], tmp_path / "all.dbdf", overwrite=True)
    assert dp.open(tmp_path / "all.dbdf").meanings["a"].kind == "timestamp"
    dp.concat([tmp_path / "t.dbdf", tmp_path / "c.dbdf"], tmp_path / "all.dbdf", overwrite=True)
    assert dp.open(tmp_path / "all.dbdf").meanings["a"].words.tolist() == ["p"]
    dp.write(tmp_path / "b.dbdf", {"a": [True]})
    with pytest.raises(dp.Error, match="column 'a' is a category here and a boolean before"):
        dp.concat([tmp_path / "b.dbdf", tmp_path / "c.dbdf"], tmp_path / "all.dbdf", overwrite=True)


def test_names_of_rows_that_are_appended_are_kept(tmp_path):
    path = tmp_path / "t.dbdf"
    for column in (np.array([1.5, 2.5, 3.5]), [None, None, None]):
        t = pd.DataFrame({"a": [1, 2, 3], "b": column}, index=["r", "s", "t"])
        dp.write(path, t[:2], overwrite=True)
        dp.append(path, t[2:])
        dp.append(path, {"a": [4], "b": [None]})
        assert list(dp.open(path).row_names) == ["r", "s", "t", ""]
        dp.write(path, t[:0], overwrite=True)
        dp.append(path, t)
        assert list(dp.open(path).row_names) == ["r", "s", "t"]
