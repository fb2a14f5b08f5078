"""How things look in a notebook."""

import xml.dom.minidom

import numpy as np
import pytest
from conftest import cells

import pydapple as dp


def test_repr_is_one_line(make, tmp_path):
    m = make(cells((50, 40), "f8"), tile=(16, 16))
    assert repr(m) == f"<pydapple.Matrix '{m.path}': 50 x 40 float64, 4 x 3 tiles of 16 x 16>"
    assert repr(m.blocks[0]).startswith("<pydapple.Block (0, 0): 16 x 16 float64, ")
    assert repr(m.blocks) == "<12 blocks>"
    dp.write(tmp_path / "f.dbdf", {c: np.arange(3) for c in "abcdefgh"}, sync=False)
    assert "3 rows, 8 columns>" in repr(dp.open(tmp_path / "f.dbdf")).splitlines()[0]


def test_a_frame_shows_its_first_rows_and_what_columns_are(there):
    words = np.array(["x", "yy", None], object)[np.arange(9000) % 3]
    f = there(
        {
            "n": np.ma.masked_array(np.arange(9000), np.arange(9000) % 4 == 1),
            "word": words,
            "t": np.arange(9000).astype("M8[D]"),
            "ok": np.arange(9000) % 2 == 0,
        }
    )
    lines = repr(f).splitlines()
    assert lines[0].endswith("9000 rows, 4 columns>")
    assert lines[1].split() == ["n", "word", "t", "ok"]
    assert lines[2].split() == ["type", "int64", "text", "date", "boolean"]
    assert lines[3].split()[:2] == ["missing", "25.0%"]
    assert lines[4].split() == ["0", "0", "x", "1970-01-01", "True"]
    assert lines[5].split() == ["1", "missing", "yy", "1970-01-02", "False"]
    assert "rows 5 to 8999" in lines[9] and "sample of 2048 rows" in lines[10]
    html = f._repr_html_()
    xml.dom.minidom.parseString(html)
    assert "25.0%" in html and html.count("<rect") >= 10 and "<script" not in html
    assert repr(there({"a": []})).count("\n") == 2
    assert (
        repr(f.meanings["t"])
        == "Meaning('timestamp', unit='D', stored='int64')"
    )
    assert repr(dp.Meaning()) == "Meaning('number')"
    assert repr(f.meanings["word"]).startswith("Meaning('text', 2 words, missing=0")


def test_what_is_not_there_says_what_to_use(there, make):
    f = there({"age": [1], "first name": ["x"]})
    for label, meant in (("agee", "age"), ("AGE", "age"), ("first_name", "first name")):
        with pytest.raises(KeyError, match=f"did you mean '{meant}'") as caught:
            f[label]
        assert isinstance(caught.value, dp.Error)
    with pytest.raises(KeyError, match=r"no column is called 'zzz'$"):
        f["zzz"]
    assert f._ipython_key_completions_() == ["age", "first name"]
    assert "age" in dir(f.c) and "first name" not in dir(f.c)
    m = make(np.eye(3))
    for thing, name, use in (
        (m, "mean", "stats"), (m, "sum", "stats"), (m, "T", "transpose=True"),
        (f, "groupby", "to_polars"), (f, "loc", "to_pandas"), (f, "query", "rows="),
    ):  # fmt: skip
        assert not hasattr(thing, name)
        with pytest.raises(AttributeError, match=use):
            getattr(thing, name)
    with pytest.raises(AttributeError, match=r"has no 'nonsense'$"):
        m.nonsense


def test_html_is_well_formed_and_without_scripts(make, tmp_path):
    a = np.zeros((50, 40))
    a[:10, :10] = 1
    name = "<script>&'\".dbdf"
    m = make(a, name=name, tile=(10, 10))
    html = m._repr_html_()
    xml.dom.minidom.parseString(html)
    assert "<svg" in html and "<script" not in html
    for shape in ((0, 0), (0, 5), (1, 100_000)):
        xml.dom.minidom.parseString(make(np.zeros(shape, "u1"))._repr_html_())
    m.close()
    assert "closed" in m._repr_html_()
    dp.write(tmp_path / "f.dbdf", {"<b>": np.arange(3)}, sync=False)
    html = dp.open(tmp_path / "f.dbdf")._repr_html_()
    xml.dom.minidom.parseString(html)
    assert "&lt;b&gt;" in html


def test_spy_draws_where_values_are(make):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    a = np.zeros((40, 40))
    a[:10, :10] = 1
    field = make(a, tile=(10, 10)).spy(figure.subplots()).images[0].get_array()
    assert field[0, 0] == pytest.approx(1) and field.sum() == pytest.approx(100)
    assert field[20, 20] is np.ma.masked  # which is white


def test_html_of_labels_that_are_not_utf8_can_be_sent(tmp_path):
    header = b"\x01\x03" + (1).to_bytes(8, "little") + (1).to_bytes(8, "little") + b"\x01"
    block = bytes(16) + (1).to_bytes(4, "little") * 2 + b"\x01\x01\x07"
    (tmp_path / "f.dbdf").write_bytes(header + b"\x03\x00a\xff<" + block)
    assert b"a?&lt;" in dp.open(tmp_path / "f.dbdf")._repr_html_().encode()
