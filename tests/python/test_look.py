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
    assert "<svg" in html and "<script" not in html and html.count("<rect") == 1
    for shape in ((0, 0), (0, 5), (1, 100_000)):
        xml.dom.minidom.parseString(make(np.zeros(shape, "u1"))._repr_html_())
    m.close()
    assert "closed" in m._repr_html_()
    dp.write(tmp_path / "f.dbdf", {"<b>": np.arange(3)}, sync=False)
    html = dp.open(tmp_path / "f.dbdf")._repr_html_()
    xml.dom.minidom.parseString(html)
    assert "&lt;b&gt;" in html


def test_spy_draws_where_values_are(make):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    a = np.zeros((40, 40))
    a[:10, :10] = 1
    ax = make(a, tile=(10, 10)).spy()
    field = ax.images[0].get_array()
    assert field[0, 0] == pytest.approx(1) and field.sum() == pytest.approx(100)


@pytest.mark.parametrize("sparse", [False, True])
def test_spy_draws_cells_and_not_how_much_tiles_hold(make, sparse):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    a = np.zeros((700, 1300))
    a[::9, ::9] = 2 if sparse else 0
    a[:, :300] += 0 if sparse else 1
    a[350, 640] = np.nan
    field = make(a, tile=(100, 90)).spy(figure.subplots()).images[0].get_array().filled(0)
    rows, cols = (np.arange(513) * extent // 512 for extent in a.shape)
    counts = np.add.reduceat(
        np.add.reduceat(a != 0, rows[:-1], axis=0, dtype=int), cols[:-1], axis=1
    )
    assert np.array_equal(field, counts / np.outer(np.diff(rows), np.diff(cols)))


def test_spy_draws_single_cells_and_nothing_where_there_are_none(make):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    axes = figure.subplots(1, 2)
    field = make(np.eye(3), tile=(3, 3)).spy(axes[0]).images[0].get_array()
    assert np.array_equal(field.filled(0), np.eye(3))
    assert make(np.zeros((0, 3))).spy(axes[1]).images[0].get_array().count() == 0


def test_spy_shares_out_what_tiles_hold_that_do_not_fit_its_fields(make, monkeypatch):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    monkeypatch.setattr("pydapple.picture._READ", 0)  # as if the file were larger
    a = np.zeros((1300, 700))
    a[:100, :90] = 1  # the densest tile; those beside it hold less
    a[100:, ::7] = 1
    ax = make(a, tile=(100, 90)).spy(figure.subplots())
    field = ax.images[0].get_array().filled(0)
    assert field.shape == (512, 512)
    assert field[0, 0] == field.max() == pytest.approx(1)
    assert field.mean() * a.size == pytest.approx(np.count_nonzero(a))
    assert field[300, 300] == pytest.approx(1 / 7, rel=0.1)
    assert "from the index" in ax.get_title()
    assert ax.images[0].norm.vmin > 0  # densities that differ a lot: logarithmic


def test_html_of_labels_that_are_not_utf8_can_be_sent(tmp_path):
    header = b"\x01\x03" + (1).to_bytes(8, "little") + (1).to_bytes(8, "little") + b"\x01"
    block = bytes(16) + (1).to_bytes(4, "little") * 2 + b"\x01\x01\x07"
    (tmp_path / "f.dbdf").write_bytes(header + b"\x03\x00a\xff<" + block)
    assert b"a?&lt;" in dp.open(tmp_path / "f.dbdf")._repr_html_().encode()
