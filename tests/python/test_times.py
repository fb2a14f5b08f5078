"""Times and durations are stored exactly, or refused: none of them wraps around 64 bits."""

import datetime as dt
import zoneinfo

import numpy as np
import pytest

import pydapple as dp
from pydapple import times

pd = pytest.importorskip("pandas")

UTC = dt.timezone.utc
FINE = pd.Timestamp("2020-01-01T00:00:00.000000001")


def ticks(array):
    """The ticks of times as Python's integers."""
    return array.view("i8").tolist()


def objects(values):
    return pd.DataFrame({"t": pd.Series(values, dtype=object)})


@pytest.mark.parametrize(
    "values",
    [
        [dt.datetime(9999, 12, 31), FINE],
        [dt.datetime(1, 1, 1), FINE],
        [dt.datetime(1, 1, 1, tzinfo=UTC), FINE.tz_localize("UTC")],
        [dt.timedelta.max],
        [dt.timedelta(days=200_000), pd.Timedelta(1, "ns")],
        [np.datetime64("9999-12-31", "D"), np.datetime64("2020-01-01T00:00:00.000000001")],
        [np.timedelta64(200_000, "D"), np.timedelta64(1, "ns")],
        [np.datetime64(10**16, "Y")],
        [np.datetime64(10**18, "h")],
    ],
)
def test_what_no_unit_holds_is_refused(tmp_path, values):
    for table in (objects(values), {"t": values}):
        with pytest.raises(dp.Error, match=r"column 't'.*(too far|too long)"):
            dp.write(tmp_path / "t.dbdf", table)


def test_arrays_of_other_units_are_stored_exactly_or_refused(there, tmp_path):
    far = 10**15
    f = there(
        {
            "weeks": np.array([far], "M8[W]"),
            "hours": np.array([-far, "NaT"][:1], "m8[h]"),
            "months": np.array([-14], "M8[M]"),
            "minutes": np.array([5], ">M8[15m]"),
        }
    )
    assert f["weeks"].dtype == "M8[D]" and ticks(f["weeks"]) == [7 * far]
    assert f["hours"].dtype == "m8[s]" and ticks(f["hours"]) == [-3600 * far]
    assert str(f["months"][0]) == "1968-11-01" and str(f["minutes"][0]) == "1970-01-01T01:15:00"
    for wrong in (np.array([2**62], "M8[W]"), np.array([2**62], "m8[h]")):
        with pytest.raises(dp.Error, match="too far off to be counted in"):
            dp.write(tmp_path / "w.dbdf", {"t": wrong})


def test_python_pandas_and_numpy_mix(there):
    f = there(
        {
            "t": [
                dt.datetime(1, 1, 1),
                None,
                pd.Timestamp("2020-05-05"),
                np.datetime64("9999-01-01"),
            ],
            "d": [dt.timedelta(days=10**6), pd.Timedelta("1us"), None, np.timedelta64(2, "h")],
            "n": [np.datetime64("2020-01-01", "ns"), np.datetime64("NaT"), FINE, None],
        }
    )
    assert f["t"].dtype == "M8[us]" and f["d"].dtype == "m8[us]" and f["n"].dtype == "M8[ns]"
    assert f["t"].tolist() == [
        dt.datetime(1, 1, 1), None, dt.datetime(2020, 5, 5), dt.datetime(9999, 1, 1)
    ]  # fmt: skip
    assert f["d"].tolist() == [
        dt.timedelta(days=10**6), dt.timedelta(microseconds=1), None, dt.timedelta(hours=2)
    ]  # fmt: skip
    assert ticks(f["n"])[2] == ticks(f["n"])[0] + 1 == FINE.value


def test_writers_refuse_what_wraps(tmp_path):
    with dp.frame_writer(tmp_path / "w.dbdf", 2, {"d": "m8[us]", "t": "M8[ns]"}, sync=False) as w:
        for label, wrong, match in (
            ("d", [dt.timedelta.max, None], "too long"),
            ("t", np.array(["9999-12-31", "NaT"], "M8[D]"), "too far"),
        ):
            with pytest.raises(dp.Error, match=match):
                w[label] = wrong
        with pytest.raises(dp.Error, match="not exact in units of us"):
            w["d"] = np.array([1, 2], "m8[ns]")
        w["d"] = np.array([3, "NaT"], "m8[D]")
        w["t"] = np.array([7, 8], "M8[s]")
    f = dp.open(tmp_path / "w.dbdf")
    assert f["d"].tolist() == [dt.timedelta(days=3), None]
    assert ticks(f["t"]) == [7 * 10**9, 8 * 10**9]


def test_appends_refuse_what_wraps(tmp_path):
    path = tmp_path / "a.dbdf"
    dp.write(path, {"t": np.array([5], "M8[ns]")}, sync=False)
    with pytest.raises(dp.Error):
        dp.append(path, {"t": np.array(["9999-12-31"], "M8[D]")}, sync=False)
    dp.append(path, {"t": np.array(["2000-01-01"], "M8[D]")}, sync=False)
    assert ticks(dp.open(path)["t"]) == [5, 946684800 * 10**9]


def test_pandas_gets_exact_times_or_an_error(there):
    f = there({"d": np.array([10**15], "m8[D]"), "t": np.array([10**6], "M8[D]")})
    with pytest.raises(dp.Error, match="too far"):
        f.to_pandas()
    assert f.to_pandas(columns="t")["t"].to_numpy().astype("M8[D]").astype("i8").tolist() == [10**6]


def test_bounds_of_searches_do_not_wrap(there):
    f = there({"d": pd.to_timedelta([1, 5], unit="s")})
    assert f.where("d", below=dt.timedelta.max).tolist() == [0, 1]
    assert f.where("d", above=dt.timedelta.min).tolist() == [0, 1]
    assert f.where("d", above=dt.timedelta.max).tolist() == []
    assert f.where("d", equal=np.timedelta64(5000, "ms")).tolist() == [1]
    assert f.where("d", at_most=pd.Timedelta("1s")).tolist() == [0]
    t = there({"t": np.array(["1970-01-02", "2262-04-11"], "M8[ns]")})
    assert t.where("t", below=np.datetime64("9999-12-31")).tolist() == [0, 1]
    assert t.where("t", below=np.datetime64(10**4, "Y")).tolist() == [0, 1]
    with pytest.raises(dp.Error):
        f.where("d", below=np.timedelta64(3, "M"))


FAR = [
    ("s", -(2**63) + 1, "-292277022657-01-27T08:29:53"), ("s", 2**63 - 1, "+292277026596-12-04T15:30:07"),
    ("ms", -(2**62), "-146136543-09-08T08:23:32.096"), ("us", 2**62, "+148108-07-06T14:00:27.387904"),
    ("us", -62167219200 * 10**6 - 1, "-0001-12-31T23:59:59.999999"),
]  # fmt: skip


@pytest.mark.parametrize("year", [1850, 1894, 1895, 1970, 2020])
def test_bounds_may_be_in_zones_of_local_mean_time(there, year):
    first = dt.datetime(year, 1, 1, tzinfo=UTC)
    times = [first + dt.timedelta(seconds=1) * k for k in range(3)]
    f = there(pd.DataFrame({"t": pd.Series(times)}))
    for zone in ("Europe/Oslo", "Asia/Tokyo", "America/New_York"):
        for bound in (
            times[1].astimezone(zoneinfo.ZoneInfo(zone)),
            pd.Timestamp(times[1]).tz_convert(zone),
        ):
            assert f.where(f.c.t == bound).tolist() == [1]
            assert f.where("t", above=bound).tolist() == [2]


@pytest.mark.parametrize(("unit", "tick", "text"), FAR)
def test_far_times_are_found_by_a_condition(there, unit, tick, text):
    time = np.array([tick], f"M8[{unit}]")[0]
    f = there({"t": np.array([tick, 5, "NaT"], f"M8[{unit}]")})
    for bound in (time, pd.Timestamp(time), text):
        assert f.where(f.c.t == bound).tolist() == [0]
        assert f.where(f.c.t > bound).tolist() == ([1] if tick < 5 else [])
    assert f.where(f't <= "{text}"').tolist() == ([0] if tick < 5 else [0, 1])


def test_seconds_that_other_libraries_would_wrap_are_refused(there, tmp_path):
    pl = pytest.importorskip("polars")
    for dtype, tick in (("M8[s]", 2**60), ("m8[s]", -(2**60)), ("m8[D]", 2**45)):
        f = there({"t": np.array([1, tick, "NaT"], dtype)})
        for read in (f.to_polars, dp.scan(f).collect):
            with pytest.raises(
                (dp.Error, pl.exceptions.PolarsError), match=r"too far off.*in ms"
            ):
                read()
        assert f.to_polars(slice(0, 1))["t"].to_physical()[0] in (1000, 86_400_000)
    f = there({"t": np.array([2**60], "M8[s]")})
    with pytest.raises(dp.Error, match=r"pyarrow cannot write this frame.*overflow"):
        dp.convert(f, tmp_path / "t.parquet")
    assert not list(tmp_path.glob("*.parquet"))


def test_objects_of_one_type_are_not_converted_one_by_one(monkeypatch):
    def never(value):
        raise AssertionError(value)

    ends = {
        "M8[D]": [dt.date(1, 1, 1), dt.date(9999, 12, 31)],
        "M8[us]": [dt.datetime(1, 1, 1, 0, 0, 0, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)],
        "m8[us]": [dt.timedelta(microseconds=-1), dt.timedelta(days=99999999, microseconds=3)],
    }
    one_by_one = {
        unit: times.of_objects([*some, np.zeros(1, unit)[0]], unit[0])[:-1] for unit, some in ends.items()
    }
    with monkeypatch.context() as patched:
        patched.setattr(times, "of_object", never)
        for unit, some in ends.items():
            made = times.of_objects(some, unit[0])
            assert made.dtype == unit and (made == one_by_one[unit]).all()
    with pytest.raises(dp.TypeMismatchError, match="too long to be counted in us"):
        times.of_objects([dt.timedelta.min], "m")
