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
    assert "3 rows, 8 columns (a, b, c, d, e, f, ...)" in repr(dp.open(tmp_path / "f.dbdf"))


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
