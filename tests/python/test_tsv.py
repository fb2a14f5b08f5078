"""Text with tabs between fields: what is written is read back as CSV is, by others, too."""

import gzip

import numpy as np
import pandas as pd
import pytest
from conftest import cells

import pydapple as dp

WORDS = ["plain", "a\tb", "a,b", 'a "quote"', "two\nlines", " blank ", "12", "true", "", "ä;ö"]


def random_frame(rng):
    n = int(rng.integers(1, 9))
    made = {}
    for k in range(rng.integers(1, 6)):
        gone = rng.random(n) < 0.3
        columns = [
            rng.integers(-9, 9, n),
            rng.normal(size=n),
            pd.array(np.where(gone, None, rng.integers(0, 9, n)), "Int64"),
            np.where(gone, None, rng.choice(WORDS, n)),
            pd.to_datetime(np.where(gone, "NaT", "2024-05-06T07:08:09")),
            pd.array(np.where(gone, None, rng.random(n) < 0.5), "boolean"),
        ]
        label = str(rng.choice(["c", "a,b", "a\tb", "ü"])) + str(k)
        made[label] = columns[rng.integers(len(columns))]
    return pd.DataFrame(made)


@pytest.mark.parametrize("seed", range(60))
def test_a_frame_comes_back_as_from_csv(tmp_path, seed):
    table = random_frame(np.random.default_rng([6, seed]))
    for name in ("t.csv", "t.tsv"):
        dp.write(tmp_path / name, table)
    header = {"header": True}
    with dp.open(tmp_path / "t.csv", csv=header) as a, dp.open(tmp_path / "t.tsv", csv=header) as b:
        assert b.format == "csv" and b.columns == a.columns
        assert b.to_pandas().equals(a.to_pandas())


def test_others_read_it(tmp_path):
    words = [w for w in WORDS if w]
    table = pd.DataFrame({"word": words, "n": range(len(words)), "x": np.arange(len(words)) / 4})
    dp.write(tmp_path / "t.tsv", table)
    assert pd.read_csv(tmp_path / "t.tsv", sep="\t").equals(table)
    dp.write(tmp_path / "t.dbdf", table)
    dp.convert(tmp_path / "t.dbdf", tmp_path / "u.tsv.gz")
    with gzip.open(tmp_path / "u.tsv.gz") as file:
        assert file.read() == (tmp_path / "t.tsv").read_bytes()
    with dp.open(tmp_path / "u.tsv.gz") as f:
        assert f.to_pandas().equals(table)


def test_a_matrix_has_no_labels(tmp_path):
    for shape in ((5, 3), (1, 4), (4, 1), (1, 1)):
        a = cells(shape, "i4", 0.7)
        dp.write(tmp_path / "m.tsv", a, overwrite=True)
        assert np.array_equal(np.loadtxt(tmp_path / "m.tsv", "i4", delimiter="\t", ndmin=2), a)
        with dp.open(tmp_path / "m.tsv") as m:
            assert np.array_equal(m[:], a)


def test_rows_of_missing_cells_are_rows(tmp_path):
    table = pd.DataFrame({"a": pd.array([1, None, None], "Int64"), "b": [None, "x", None]})
    dp.write(tmp_path / "t.tsv", table)
    assert (tmp_path / "t.tsv").read_text() == "a\tb\n1\t\n\tx\n\t\n"
    with dp.open(tmp_path / "t.tsv") as f:
        assert f.to_pandas().isna().to_numpy().tolist() == [[False, True], [True, False], [True, True]]
