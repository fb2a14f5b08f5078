"""Tables of other libraries, lists and objects: stored exactly as they are, or refused by name."""

import datetime as dt
import decimal

import numpy as np
import pytest

import pydapple as dp

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


def test_objects_of_one_kind_are_stored_and_others_refused(there):
    zone = dt.timezone(dt.timedelta(hours=2))
    columns = {
        "text": ["a", None], "bytes": np.array([b"a", b"b"]), "fixed": np.array(["x", ""]),
        "flags": np.array([True, None], object), "ints": np.array([1, None], object),
        "dates": np.array([dt.date(2024, 1, 1), None], object),
        "times": [dt.datetime(2024, 1, 1, 1), None], "zoned": [dt.datetime(2024, 1, 1, 1, tzinfo=zone), None],
        "spans": [dt.timedelta(1), None], "none": [None, None], "floats": np.array([1.5, np.nan], object),
        "masked": np.ma.array([1, 2], mask=[False, True]), "strings": np.array(["p", "q"], "T"),
    }  # fmt: skip
    f = there({label: np.array(v, object) if isinstance(v, list) else v for label, v in columns.items()})
    assert f["text"].tolist() == ["a", None] and f["bytes"].tolist() == ["a", "b"]
    assert f["flags"].tolist() == [True, None] and f["ints"].tolist() == [1, None]
    assert f["dates"].tolist() == [dt.date(2024, 1, 1), None]
    assert f["times"].tolist()[0] == dt.datetime(2024, 1, 1, 1)
    assert f["zoned"].tolist()[0] == dt.datetime(2023, 12, 31, 23) and f.meanings["zoned"].zone == "+02:00"
    assert f["none"].tolist() == [None, None] and f["masked"].tolist() == [1, None]
    assert f["fixed"].tolist() == ["x", ""] and f["strings"].tolist() == ["p", "q"]
    assert f.to_pandas()["zoned"].dt.hour.tolist()[0] == 1
    for wrong in ([1, "a"], [{}], [b"x", 1], [1 + 2j], [2**70],
                  [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, tzinfo=zone)]):  # fmt: skip
        with pytest.raises(TypeError, match="column 'bad'"):
            there({"bad": np.array([*wrong, None], object)})


def test_numbers_among_objects_are_exact_or_refused(there):
    for given, dtype in (([2**64 - 1, 0], "u8"), ([2**53 + 1, -1], "i8"), ([1, 0.5], "f8")):
        for column in (given, np.array(given, object)):
            f = there({"a": column})
            assert f["a"].dtype == dtype and f["a"].tolist() == given
    assert there({"a": np.array([2**64 - 1, None], object)})["a"].tolist() == [2**64 - 1, None]
    assert there({"a": [1, np.nan]})["a"].tolist()[0] == 1 and there({"a": [1, np.nan]}).meanings["a"].missing is None
    for wrong in ([2**53 + 1, 0.5], [2**63, -1], [1, 2**70], [0.5, 2**64 + 1], [np.int64(2**53 + 1), 0.5]):
        for column in (wrong, np.array(wrong, object)):
            with pytest.raises(dp.Error, match=r"column 'a'.*holds"):
                there({"a": column})


def test_integers_of_more_than_64_bits_are_told(there):
    for wrong, told in (([2**64], 2**64), ([-(2**63) - 1], -(2**63) - 1), ([-(2**70), 5], -(2**70)),
                        ([-1, 2**63], f"both -1 and {2**63}"), ([-1, 2**64], 2**64)):  # fmt: skip
        with pytest.raises(TypeError, match=f"no integer of 64 bits holds {told};"):
            there({"a": wrong})


def test_types_of_arrow_that_no_column_holds_are_named(there):
    times = pa.array([dt.time(1)])
    for wrong, told in ((times, "times of day"), (pa.array([b"a"]), "bytes"),
                        (pa.array([[1]]), "lists"), (pa.array([{"a": 1}]), "structs"), (pl.Series([b"a"]), "bytes"), (pl.Series([[1]]), "lists")):  # fmt: skip
        with pytest.raises(TypeError, match=rf"column 'a' holds {told} \(Arrow format '.*'\), which no column"):
            there({"a": wrong})


@pytest.mark.parametrize("bits", [32, 64, 128, 256])
def test_decimals_are_the_numbers_that_have_their_digits(there, bits):
    make = getattr(pa, f"decimal{bits}")

    def column(texts, precision, scale):
        return pa.array([None if one is None else decimal.Decimal(one) for one in texts], make(precision, scale))

    whole = column(["-7", None, "999999999"], 9, 0)
    price = column(["-12.34", "0.05", None, "9999999.99"], 9, 2)
    f = there({"a": whole[1:], "b": price[:2]})
    assert f.dtypes["a"] == np.int64 and f["a"].tolist() == [None, 999999999]
    assert f.dtypes["b"] == np.float64 and f["b"].tolist() == [-12.34, 0.05]
    np.testing.assert_equal(there({"b": price})["b"], [-12.34, 0.05, np.nan, 9999999.99])


def test_decimals_that_no_number_keeps_are_refused(there):
    wide = {"a": pa.array([decimal.Decimal(2**63 - 1), decimal.Decimal(-(2**63))], pa.decimal128(38, 0))}
    assert there(wide)["a"].tolist() == [2**63 - 1, -(2**63)]
    for one, kind in ((2**63, pa.decimal128(38, 0)), (-(2**63) - 1, pa.decimal128(38, 0)), (2**200, pa.decimal256(76, 0)),
                      (2**128, pa.decimal256(76, 0)), (2**127, pa.decimal256(76, 0)), (10**19, pa.decimal128(2, -18))):  # fmt: skip
        with pytest.raises(TypeError, match="column 'a' holds a decimal beyond 64 bits"):
            there({"a": pa.array([decimal.Decimal(one)], kind)})
    assert there({"a": pa.array([decimal.Decimal(3 * 10**17)], pa.decimal128(2, -17))})["a"].tolist() == [3 * 10**17]
    digits = pa.decimal128(38, 10)
    kept = ["123456.1234567890", "9007199254740993.5", "0.1234567890", "90071992547409.9", "0"]
    for one in kept:
        texts = [decimal.Decimal(one)]
        if decimal.Decimal(repr(float(one))) == texts[0]:
            assert there({"a": pa.array(texts, digits)})["a"].tolist() == [float(one)]
            assert there({"a": texts})["a"].tolist() == [float(one)]
            continue
        for given in (pa.array(texts, digits), texts):
            with pytest.raises(TypeError, match=r"column 'a'.* does not keep every digit"):
                there({"a": given})
    assert sum(decimal.Decimal(repr(float(one))) == decimal.Decimal(one) for one in kept) == 4


def test_python_decimals_are_taken_as_those_of_arrow(there):
    whole = [decimal.Decimal(5), None, decimal.Decimal("1E+3")]
    assert there({"a": whole})["a"].tolist() == [5, None, 1000]
    price = pd.Series([decimal.Decimal("1.10"), None, decimal.Decimal("NaN"), decimal.Decimal("Infinity")])
    np.testing.assert_equal(there(pd.DataFrame({"a": price}))["a"], [1.1, np.nan, np.nan, np.inf])
    assert there({"a": [decimal.Decimal(2**64 - 1)]})["a"].tolist() == [2**64 - 1]
    for wrong in (decimal.Decimal(2**64), decimal.Decimal("1E+400"), decimal.Decimal("1E+999999"), decimal.Decimal("sNaN")):
        with pytest.raises(TypeError, match="column 'a'"):
            there({"a": [wrong]})


def test_lists_do_not_become_text_beside_text(there):
    f = there({"a": ["x", float("nan"), None], "b": ["x", "y", ""]})
    assert f["a"].tolist() == ["x", None, None] and f["b"].tolist() == ["x", "y", ""]
    for wrong in (["x", 1], [True, "x"], ["x", 1.5], [True, 2], [2.5, False], [np.True_, 3, None]):
        with pytest.raises(TypeError, match="column 'a'"):
            there({"a": wrong})


def test_nanoseconds_of_pandas_objects_are_kept(there):
    stamp, span = pd.Timestamp("2020-01-01T00:00:00.123456789"), pd.Timedelta(1, "ns")
    objects = {"t": [stamp, None], "z": [stamp.tz_localize("Europe/Berlin"), None], "d": [span, None]}
    f = there({label: np.array(column, object) for label, column in objects.items()})
    assert f["t"].tolist() == [stamp.value, None] and f["d"].tolist() == [1, None]
    assert f.meanings["z"].zone == "Europe/Berlin" and f.to_pandas()["z"][0] == objects["z"][0]


def test_arrays_of_other_libraries_keep_what_they_are(there):
    berlin = pd.DatetimeIndex(["2024-01-01", "2024-07-01"], tz="Europe/Berlin")
    f = there({
        "arrow": pa.array([2**53 + 1, None]), "chunks": pa.chunked_array([[2**53 + 1], [None]]),
        "grade": pd.Categorical(["low", None], ["low", "high"], ordered=True), "times": berlin,
        "pandas": pd.array([2**53 + 1, None], "Int64"), "polars": pl.Series([2**53 + 1, None]),
    })  # fmt: skip
    for label in ("arrow", "chunks", "pandas", "polars"):
        assert f[label].dtype == np.int64 and f[label].tolist() == [2**53 + 1, None]
    assert f.meanings["grade"].ordered and f.words("grade") == ["low", "high"]
    assert f.meanings["times"].zone == "Europe/Berlin"


def test_time_zones_are_stored_by_a_name_that_others_know(there):
    tz = pytest.importorskip("dateutil.tz")
    stamps = pd.Series(pd.to_datetime(["2024-07-01"]))
    known = {
        "UTC": tz.tzutc(), "+01:00": tz.tzoffset(None, 3600), "-03:30": dt.timezone(-dt.timedelta(hours=3.5), "NST"),
        "Europe/Berlin": tz.gettz("Europe/Berlin"),
    }  # fmt: skip
    for name, zone in known.items():
        f = there(pd.DataFrame({"t": stamps.dt.tz_localize(zone)}))
        assert f.meanings["t"].zone == name and f.to_pandas()["t"][0] == stamps.dt.tz_localize(zone)[0]

    class Nowhere(dt.tzinfo):
        def utcoffset(self, time):
            return None if time is None else dt.timedelta(hours=1)

    with pytest.raises(TypeError, match=r"column 't'.*IANA"):
        there({"t": np.array([dt.datetime(2024, 1, 1, tzinfo=Nowhere())], object)})


def test_an_index_that_only_tells_which_rows_were_kept_is_left_out(there):
    t = pd.DataFrame({"a": [1, 2, 3]})
    f = there(t[t.a > 1])
    assert f["a"].tolist() == [2, 3] and f.columns == ("a",) and f.row_names is None


def test_an_index_named_as_a_column_is_is_kept_beside_it(there):
    columns = {"a": [1, 2], "__index_level_0__": [3, 4]}
    one = pd.DataFrame(columns, index=pd.Index([5.0, 6.0], name="a"))
    two = pd.DataFrame(columns, index=pd.MultiIndex.from_arrays([[7, 8], ["x", "y"]], names=["b", "b"]))
    for t in (one, two):
        f = there(t)
        assert f["a"].tolist() == [1, 2] and f.labels == f.columns
        pd.testing.assert_frame_equal(f.to_pandas(), t)


def test_labels_that_are_integers_are_kept(there, tmp_path):
    cells = np.arange(12).reshape(2, 6)
    for labels in (range(6), [5, 3, -2, 0, 10, 2**40], ["a", 0, "b", 1, "00", "1.5"], [0, 0, 1, 1, 2, 2]):
        t = pd.DataFrame(cells, columns=labels)
        f = there(t, attrs={"unit": "mm"})
        assert f.labels == tuple(map(str, labels)) and f.attrs["unit"] == "mm"
        pd.testing.assert_frame_equal(f.to_pandas(), t)
        dp.convert(f, tmp_path / "t.parquet", overwrite=True)
        dp.convert(tmp_path / "t.parquet", tmp_path / "back.dbdf", overwrite=True)
        pd.testing.assert_frame_equal(dp.open(tmp_path / "back.dbdf").to_pandas(), t)
    t = pd.DataFrame(cells, columns=[5, 3, -2, 0, 10, 7])
    f = there(t)
    pd.testing.assert_frame_equal(f.to_pandas(columns=["0", "5"]), t[[0, 5]])
    pd.testing.assert_frame_equal(f.to_dask()[[0, 5]].compute(), t[[0, 5]])
    # They are those of this table, not of the one that it was made of.
    texts = f.to_pandas().rename(columns=str)
    pd.testing.assert_frame_equal(there(texts).to_pandas(), texts)
    dp.convert(there(t), tmp_path / "t.parquet", overwrite=True)
    assert pd.read_parquet(tmp_path / "t.parquet").columns.tolist() == [5, 3, -2, 0, 10, 7]
    t.to_parquet(tmp_path / "pandas.parquet")
    dp.convert(tmp_path / "pandas.parquet", tmp_path / "pandas.dbdf")
    pd.testing.assert_frame_equal(dp.open(tmp_path / "pandas.dbdf").to_pandas(), t)


def test_labels_and_names_of_an_index_that_become_str_are_told(there):
    for labels in ([0, "0"], [1.5, "a"], [True, "a"], [("a", 1), ("a", 2)], [2**70, 1], [None, "a"]):
        t = pd.DataFrame([[1, 2]], columns=pd.Index(labels, dtype=object, tupleize_cols=False))
        with pytest.warns(UserWarning, match="labels of columns become str"):
            assert there(t).labels == tuple(map(str, labels))
    with pytest.warns(UserWarning, match=r"name of the index becomes a str: 1\.5"):
        there(pd.DataFrame({"a": [1]}, index=pd.Index([7.5], name=1.5)))


def test_what_the_labels_of_columns_are_called_is_kept(there, tmp_path):
    df = pd.DataFrame({"a": [1], "b": [2]}, index=pd.Index(["x"], name="row"))
    df.columns.name = "gene"
    plain = df.reset_index(drop=True)
    numbers = plain.set_axis(pd.Index([3, 5], name=7), axis=1)
    for table in (df, plain, numbers):
        f = there(table)
        assert f.to_pandas().columns.names == table.columns.names
        for name in ("t.parquet", "t.feather"):
            dp.convert(f, tmp_path / name, overwrite=True)
            read = pd.read_parquet if name == "t.parquet" else pd.read_feather
            assert read(tmp_path / name).columns.name in (table.columns.name, "7")
            dp.convert(tmp_path / name, tmp_path / "t.dbdf", overwrite=True)
            pd.testing.assert_frame_equal(
                dp.open(tmp_path / "t.dbdf").to_pandas(), table
            )
    plain.columns.name = ("a", 1)
    with pytest.warns(UserWarning, match="name of the labels of columns becomes a str"):
        f = there(plain)
    assert f.to_pandas().columns.name == "('a', 1)"
    assert (
        there(f.to_pandas().rename_axis(columns=None)).to_pandas().columns.name is None
    )


def test_an_index_of_str_stays_one_without_rows(there):
    t = pd.DataFrame({"a": [1, 2]}, index=pd.Index(["x", "y"], name="who"))
    pd.testing.assert_frame_equal(there(t).to_pandas(slice(0, 0)), t[:0])
    pd.testing.assert_frame_equal(there(t[:0]).to_pandas(), t[:0])


def test_labels_of_several_levels_are_kept(there, tmp_path):
    cells = np.arange(8).reshape(2, 4)
    pairs = pd.MultiIndex.from_product([["a", "b'\"(,"], [1, 22]], names=["gene", None])
    words = pd.MultiIndex.from_product([["x"], ["", "ü"], [" s", "1"]], names=[0, "b", "c"])
    for labels in (pairs, words):
        for index in (None, pd.Index(["r", "s"], name="row"), pd.Index([1.5, 2.5])):
            table = pd.DataFrame(cells, columns=labels, index=index)
            f = there(table)
            pd.testing.assert_frame_equal(f.to_pandas(), table)
            some = f.to_pandas(columns=[2, 0]) if index is None else None
            assert some is None or some.columns.tolist() == [labels[2], labels[0]]
            dp.convert(f, tmp_path / "t.parquet", overwrite=True)
            dp.convert(tmp_path / "t.parquet", tmp_path / "t.dbdf", overwrite=True)
            pd.testing.assert_frame_equal(dp.open(tmp_path / "t.dbdf").to_pandas(), table)
            if index is None:
                read = pd.read_parquet(tmp_path / "t.parquet")
                assert read.columns.tolist() == labels.tolist() and read.shape == table.shape
                assert f.to_pandas().stack(level=1, future_stack=True).shape[0] > 2
    times = pd.MultiIndex.from_arrays([["a"], [pd.Timestamp("2024-01-01")]])
    with pytest.warns(UserWarning, match="labels of columns become str"):
        there(pd.DataFrame([[1]], columns=times))
    for levels in ("x", [["a"]], [1, 2, 3], {}):  # attributes of the user's own
        df = pd.DataFrame({"(1, 2)": [1]})
        df.attrs["pandas"] = {"column_indexes": levels}
        assert there(df).to_pandas().columns.tolist() == ["(1, 2)"]


def test_names_of_an_index_that_are_integers_are_kept(there, tmp_path):
    words, levels = pd.Index(["x", "y"]), pd.MultiIndex.from_arrays([[7, 8], ["x", "y"]])
    for index in (words.rename(0), pd.Index([7.5, 8.5], name=np.int64(3)), levels.rename([0, "a"])):
        t = pd.DataFrame([[1, 2], [3, 4]], index=index)
        f = there(t)
        made = f.to_pandas()
        assert made.index.names == index.names and made.columns.tolist() == [0, 1]
        pd.testing.assert_frame_equal(made, t, check_index_type=False)
        dp.convert(f, tmp_path / "t.parquet", overwrite=True)
        assert pd.read_parquet(tmp_path / "t.parquet").index.tolist() == index.tolist()


def test_some_columns_keep_the_index(there):
    columns = {"a": [1, 2, 3], "b": ["x", "y", "z"]}
    for index in (
        pd.date_range("2020", periods=3, name="when"), pd.Index([7.5, 1.5, 3.5]), pd.Index(["r", "s", "t"], name="n"),
        pd.MultiIndex.from_arrays([[3, 1, 2], ["u", "v", "w"]], names=["i", "j"]), pd.Index([9, 8, 7], name="a"),
    ):  # fmt: skip
        t = pd.DataFrame(columns, index=index)
        f = there(t)
        for rows in (slice(None), [2, 0], slice(0, 0)):
            for wanted in (["a"], ["b", "a"], "b"):
                got, want = f.to_pandas(rows, wanted), t.iloc[rows][[wanted] if wanted == "b" else wanted]
                pd.testing.assert_frame_equal(got, want, check_freq=False, check_index_type=False)


def test_series_with_different_indexes_are_not_put_side_by_side(there):
    a, b = pd.Series([1, 2], index=[5, 6]), pd.Series([3, 4], index=[6, 5])
    with pytest.raises(ValueError, match="'a' and 'b' have different indexes"):
        there({"a": a, "b": b})
    f = there(pd.DataFrame({"a": a, "b": b}))
    assert (f["a"].tolist(), f["b"].tolist()) == ([1, 2], [4, 3])
    f = there({"a": a, "b": a.copy(), "c": [7, 8], "d": b.to_numpy()})
    assert [f[name].tolist() for name in f.columns] == [[1, 2], [1, 2], [7, 8], [3, 4]]


def test_what_is_no_arrow_stream_is_told(there):
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return 5

    with pytest.raises(dp.TypeMismatchError, match="gives no Arrow stream"):
        there(Stream())


def test_cells_of_a_row_that_is_missing_are_missing(there):
    rows = pa.StructArray.from_arrays(
        [pa.array([9, 1, 2, 3]), pa.array(["z", "a", "b", None])], ["n", "w"],
        mask=pa.array([False, False, True, False]),
    )  # fmt: skip
    f = there(pa.chunked_array([rows[1:], rows[:1]]))
    assert f["n"].tolist() == [1, None, 3, 9]
    assert f["w"].tolist() == ["a", None, None, "z"]


def test_what_no_column_holds_is_refused_by_name(tmp_path):
    tables = [
        pd.DataFrame({"bad": pd.Categorical([1, 2])}), pd.DataFrame({"bad": pd.period_range("2024", periods=1)}),
        pd.DataFrame({"bad": pd.interval_range(0, 1)}), pa.table({"bad": [[1]]}), pa.table({"bad": [b"x"]}),
        pa.table({"bad": [dt.time(1)]}), {"bad": np.zeros(2, "c16")}, pl.DataFrame({"bad": [{"a": 1}]}),
        pd.DataFrame({"bad": [np.arange(2), np.arange(2)]}), pd.DataFrame({"bad": [decimal.Decimal("sNaN")]}),
        {"bad": np.array(["\ud800"], object)}, {"bad": np.array([2**62], "M8[h]")},
        pa.Table.from_pandas(pd.DataFrame({"bad": pd.period_range("2024", periods=1)})),
    ]  # fmt: skip
    for table in tables:
        with pytest.raises(TypeError, match="column 'bad'") as raised:
            dp.write(tmp_path / "t.dbdf", table)
        assert isinstance(raised.value, dp.Error)
    assert list(tmp_path.iterdir()) == []


def test_each_word_becomes_a_string_of_pandas_once(there, monkeypatch):
    words = ["x", None, "", "Zoë"] * 50
    f, of_pandas, made = there({"w": words}), pd.array, []
    monkeypatch.setattr(pd, "array", lambda values, **k: made.append(len(values)) or of_pandas(values, **k))
    got = f.to_pandas()["w"]
    assert made == [3] and got.astype(object).where(got.notna(), None).tolist() == words
    assert f.to_pandas(slice(0, 2))["w"].isna().tolist() == [False, True] and made[-1] == 2


def test_a_dictionary_that_batches_share_is_taken_once(there):
    words = pa.array([f"w{k}" for k in range(250_000)])
    one = pa.DictionaryArray.from_arrays(pa.array([249_999], "i4"), words)
    f = there(pa.table({"w": pa.chunked_array([one] * 6000)}))  # not in a minute
    assert len(f) == 6000 and f["w", 5999] == "w249999" and f.words("w")[:2] == ["w0", "w1"]


def test_dictionaries_of_batches_are_told_apart(there):
    words, others = pa.array(["a", "b", None, "c"]), pa.array(["c", "d", "a", "b"])
    parts = [words, words, words[1:], words[1:], words[:2], others, words, others[2:], others]
    codes = pa.array([0, 1], "i1")
    chunks = [pa.DictionaryArray.from_arrays(codes, part) for part in parts]
    chunks[2:2] = [chunks[0][:0]]  # a batch without rows
    f = there(pa.RecordBatchReader.from_batches(
        pa.schema({"w": chunks[0].type}), (pa.record_batch({"w": chunk}) for chunk in chunks)
    ))  # fmt: skip
    assert f["w"].tolist() == [word for part in parts for word in part[:2].to_pylist()]
    assert f.words("w") == ["a", "b", "c", "d"]


class Noted(dict):
    """A note in the attributes of a DataFrame that tells how often it was copied."""

    copies = 0

    def __deepcopy__(self, _):
        Noted.copies += 1
        return self


def test_attributes_are_not_copied_for_each_column(tmp_path, monkeypatch):
    monkeypatch.setattr(Noted, "copies", 0)
    wide = pd.DataFrame({f"c{k}": [k, k + 1] for k in range(200)})
    wide.attrs["note"] = Noted(of="all")
    dp.write(tmp_path / "w.dbdf", wide)
    f = dp.open(tmp_path / "w.dbdf")
    assert f.attrs["note"] == {"of": "all"} and f["c199"].tolist() == [199, 200]
    with dp.frame_writer(tmp_path / "p.dbdf", 2, wide.dtypes.to_dict()) as w:
        w[:] = wide
    assert dp.open(tmp_path / "p.dbdf")["c7"].tolist() == [7, 8]
    assert Noted.copies < 20 and wide.attrs["note"] == {"of": "all"}


def test_names_are_taken_from_an_index_at_once(tmp_path):
    class Index(pd.Series):
        def __iter__(self):
            raise AssertionError

    dp.write(tmp_path / "n.dbdf", np.eye(2), row_names=Index(["a", "b"]))
    assert dp.open(tmp_path / "n.dbdf").row_names == ["a", "b"]
