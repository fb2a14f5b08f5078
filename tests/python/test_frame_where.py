"""Searches of a frame's columns, held against what NumPy finds in the same columns."""

import datetime as dt

import numpy as np
import pytest

import pydapple as dp

pd = pytest.importorskip("pandas")


def people(count=500):
    random = np.random.default_rng(7)
    picks = random.integers(0, 4, count)
    born = np.array("1990-01-01", "M8[D]") + random.integers(0, 9000, count)
    return pd.DataFrame({
        "name": np.array(["Ann", "Bo", "Zoë", "Kim"], object)[random.integers(0, 4, count)],
        "size": pd.Categorical.from_codes(picks, ["small", "medium", "large", "huge"], ordered=True),
        "city": pd.Categorical.from_codes(picks - 1, ["Oslo", "Bern", "Rome"]),
        "born": pd.Series(born.astype("M8[s]")),
        "seen": pd.Series(born.astype("M8[s]")).dt.tz_localize("UTC"),
        "took": pd.Series(random.integers(-90, 90, count).astype("m8[s]")),
        "ok": random.integers(0, 2, count).astype(bool),
        "age": pd.array(np.where(picks == 0, None, random.integers(0, 99, count)), "Int64"),
        "x": np.where(picks == 1, np.nan, random.normal(size=count)),
    })  # fmt: skip


@pytest.fixture
def frame(tmp_path):
    dp.write(tmp_path / "people.dbdf", people(), tile=(64, 3))
    return dp.open(tmp_path / "people.dbdf")


def conditions():
    p = people()
    day, moment = dt.date(2001, 5, 17), dt.datetime(2001, 5, 17, 12, 30)
    rank = p["size"].cat.codes
    return [
        ("name", {"equal": "Ann"}, p.name == "Ann"),
        ("name", {"below": "C"}, p.name < "C"),
        ("name", {"between": ("Bo", "Kim")}, (p.name >= "Bo") & (p.name <= "Kim")),
        ("name", {"equal": "nobody"}, p.name == ""),
        ("size", {"at_least": "medium"}, rank >= 1),
        ("size", {"between": ("medium", "large")}, (rank >= 1) & (rank <= 2)),
        ("city", {"equal": "Rome"}, p.city == "Rome"),
        ("city", {"missing": True}, p.city.isna()),
        ("born", {"above": "2001-05-17"}, p.born > "2001-05-17"),
        ("born", {"above": day}, p.born > "2001-05-17"),
        ("born", {"at_most": moment}, p.born <= moment),
        ("born", {"below": np.datetime64("2001-05")}, p.born < "2001-05-01"),
        ("born", {"below": np.datetime64("2001-05-17T12", "h")}, p.born < "2001-05-17T12:00"),
        ("born", {"at_least": pd.Timestamp(moment)}, p.born >= moment),
        ("seen", {"at_least": pd.Timestamp(moment, tz="Asia/Tokyo")},
         p.seen >= pd.Timestamp(moment, tz="Asia/Tokyo")),
        ("seen", {"at_least": day}, p.born >= "2001-05-17"),
        ("took", {"below": dt.timedelta(seconds=-1.5)}, p.took < dt.timedelta(seconds=-1.5)),
        ("took", {"at_least": pd.Timedelta(1, "min")}, p.took >= pd.Timedelta(1, "min")),
        ("took", {"equal": np.timedelta64(7, "s")}, p.took == pd.Timedelta(7, "s")),
        ("took", {"above": "-00:00:01"}, p.took > pd.Timedelta(-1, "s")),
        ("ok", {"equal": True}, p.ok),
        ("ok", {"equal": np.False_}, ~p.ok),
        ("age", {"above": 30}, (p.age > 30).fillna(False)),
        ("age", {"between": (10.5, np.int8(20))}, ((p.age > 10) & (p.age <= 20)).fillna(False)),
        ("age", {"missing": True}, p.age.isna()),
        ("x", {"below": 0.5}, p.x < 0.5),
        ("x", {"nan": True}, p.x.isna()),
        ("x", {"missing": True}, p.x > 1e9),
    ]  # fmt: skip


@pytest.mark.parametrize(("label", "condition", "truth"), conditions())
def test_a_column_is_searched_in_its_own_terms(frame, label, condition, truth):
    truth = np.asarray(truth, bool)
    rows = frame.where(label, **condition)
    assert rows.dtype == np.int64 and np.array_equal(rows, np.flatnonzero(truth))
    assert frame.count_where(label, **condition, threads=2) == truth.sum()
    mask = frame.rows_where(label, **condition, threads=2)
    assert mask.dtype == bool and np.array_equal(mask, truth)


def test_rows_that_are_found_can_be_read(frame):
    rows = frame[frame.rows_where("name", equal="Zoë")]
    assert set(rows["name"]) == {"Zoë"} and len(rows) == frame.count_where("name", equal="Zoë")
    assert frame.where("ok", equal=True)[0] == np.flatnonzero(people().ok)[0]
    assert frame.count_where(7, at_least=0, nonzero=True) == frame.count_where("age", above=0)


@pytest.mark.parametrize(("label", "condition", "kind", "words"), [
    ("age", {}, TypeError, "one condition"),
    ("age", {"above": 1, "below": 2}, TypeError, "one condition"),
    ("age", {"over": 1}, TypeError, "missing"),
    ("age", {"above": None}, TypeError, "above takes"),
    ("age", {"between": (1, "b")}, TypeError, "between takes"),
    ("age", {"missing": False}, ValueError, "missing=True"),
    ("age", {"above": "Ann"}, ValueError, "numbers"),
    ("name", {"above": 3}, ValueError, "words"),
    ("city", {"above": "Bern"}, ValueError, "no order"),
    ("size", {"above": "larg"}, ValueError, "did you mean 'large'"),
    ("born", {"above": "soon"}, ValueError, "times"),
    ("born", {"above": np.datetime64("NaT")}, ValueError, "NaT"),
    ("took", {"above": np.timedelta64("NaT")}, TypeError, "above takes"),
    ("ok", {"equal": 1}, ValueError, "true and false"),
    ("name", {"equal": "Ann", "nonzero": True}, ValueError, "zero"),
    ("nobody", {"above": 1}, LookupError, "nobody"),
])  # fmt: skip
def test_a_condition_that_is_none_for_the_column_is_refused(frame, label, condition, kind, words):
    with pytest.raises(kind, match=words):
        frame.where(label, **condition)
