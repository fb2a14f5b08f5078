"""Pictures: fields against NumPy, figures against `dapple show`."""

import pathlib
import re
import subprocess
import time
import warnings

import numpy as np
import pytest
from conftest import cells

import pydapple as dp

NUMBER, NAN, ABSENT, UNKNOWN = range(4)
NAIVE = {
    "density": lambda part: np.count_nonzero(part) / part.size,
    "mean": np.nanmean,
    "min": np.nanmin,
    "max": np.nanmax,
}


def naive(a, what, picture):
    """What each field shows, of all cells of an array."""
    made = np.full(picture.shape, np.nan)
    rows, cols = picture.row_edges, picture.col_edges
    for i, j in np.ndindex(picture.shape):
        part = a[rows[i] : rows[i + 1], cols[j] : cols[j + 1]]
        if what == "density" or not np.isnan(part).all():
            made[i, j] = NAIVE[what](part)
    return made


def figure():
    return pytest.importorskip("matplotlib.figure").Figure()


@pytest.mark.parametrize("kind", ["auto", "dense", "csr", "coo"])
@pytest.mark.parametrize("dtype", ["u1", "i8", "f4", "f8"])
def test_fields_sum_up_their_cells(make, kind, dtype):
    a = cells((59, 47), dtype)
    a[:14, :18] = 0
    a[35:42, 21:32] = 7
    if dtype[0] == "f":
        a[5, 5] = np.nan
        a[52:, 36:] = np.nan
    m = make(a, kind=kind, tile=(11, 17))
    wide = a.astype("f8")
    for what in NAIVE:
        for size in ((17, 23), 1, 70):
            p = m.picture(what, size=size)
            assert np.allclose(p.values, naive(wide, what, p), rtol=1e-6, equal_nan=True), what
            assert np.array_equal(p.states == NAN, np.isnan(p.values))
        assert p.shape == a.shape and (p.what, p.source) == (what, "cells")
    for edges, extent in ((p.row_edges, 59), (p.col_edges, 47)):
        assert np.array_equal(edges, np.arange(extent + 1))


def test_mixed_kinds_and_types_are_drawn_like_one(make):
    a = np.zeros((60, 60))
    a[:20, :20] = 200.5
    a[20:40, :20] = 3
    a[40:, 40:] = np.eye(20)
    a[:20, 40:][::3, ::3] = 70_000
    m = make(a, tile=(20, 20))
    assert len({block.kind for block in m.blocks}) > 2
    p = m.picture("max", size=7, threads=2)
    assert np.array_equal(p, naive(a, "max", p))


def test_a_window_is_drawn_alone(make):
    a = cells((90, 80), "f8")
    p = make(a, tile=(16, 16)).picture("mean", (10, 55), slice(3, None), size=9)
    assert p.row_edges[[0, -1]].tolist() == [10, 55] and p.col_edges[[0, -1]].tolist() == [3, 80]
    assert np.allclose(p.values, naive(a, "mean", p))


def test_what_suits_is_chosen(make):
    assert make(cells((90, 80), "f8", 0.1), kind="csr").picture().what == "density"
    assert make(np.ones((9, 9))).picture().what == "mean"
    kinds = make(np.kron(np.eye(2), np.ones((8, 8))), tile=(8, 8)).picture("kind")
    assert kinds.values[[0, 0, 15, 15], [0, 15, 0, 15]].tolist() == [1, 0, 0, 1]
    assert kinds.source == "index"


def test_cells_that_no_block_covers_have_no_number(make, tmp_path):
    m = make(np.ones((20, 20)), kind="dense", tile=(10, 10))
    data = bytearray(pathlib.Path(m.path).read_bytes())
    at = m.blocks[3].offset
    data[at : at + 64] = b"\xff" * 64
    (tmp_path / "bad.dbdf").write_bytes(data)
    report = dp.repair(tmp_path / "bad.dbdf", tmp_path / "good.dbdf")
    assert (report.blocks_lost, report.meanings_lost) == (1, 0)
    states = dp.open(tmp_path / "good.dbdf").picture(size=2).states
    assert states.tolist() == [[NUMBER, NUMBER], [NUMBER, ABSENT]]


def test_words_and_times_are_no_numbers_and_missing_cells_are_none(there):
    pd = pytest.importorskip("pandas")
    f = there(pd.DataFrame({
        "number": [1.5, np.nan, 3.0, 4.0],
        "count": pd.array([7, None, None, 1], "Int64"),
        "word": ["a", None, "b", "c"],
        "time": pd.to_datetime(["2020-01-01", None, "2021-01-01", "2022-01-01"]),
        "truth": [True, False, True, True],
    }))  # fmt: skip
    p = f.picture("max")
    assert p.states.T.tolist() == [
        [NUMBER, NAN, NUMBER, NUMBER], [NUMBER, NAN, NAN, NUMBER], [UNKNOWN] * 4, [UNKNOWN] * 4,
        [NUMBER] * 4,
    ]  # fmt: skip
    assert p.values[:, 1].tolist()[0] == 7 and p.values[:, 4].tolist() == [1, 0, 1, 1]
    with pytest.raises(dp.UnsupportedError, match="words, times or missing cells"):
        f.picture("mean", from_stats=True)
    assert f.picture("density", from_stats=True).source == "index"
    assert f.picture("max", cols=(0, 2), size=1).values.tolist() == [[7]]


def test_statistics_suffice_where_the_file_has_them(make, tmp_path):
    a = np.random.default_rng(5).normal(size=(512, 512))
    a[:64, 64:128] = np.nan
    m = make(a, tile=(64, 64))
    for what in NAIVE:
        p = m.picture(what, size=8, from_stats=True)
        assert p.source == "statistics" and np.allclose(p, naive(a, what, p), equal_nan=True)
    np.save(tmp_path / "a.npy", a)
    bare = dp.open(tmp_path / "a.npy")
    with pytest.raises(dp.UnsupportedError, match="no statistics that tell the mean"):
        bare.picture("mean", from_stats=True)
    assert bare.picture("density", from_stats=True).source == "index"
    small = make(a[128:136, 128:136], tile=(2, 2))
    with pytest.raises(dp.UnsupportedError, match=r"pydapple\.index"):
        small.picture("mean", from_stats=True)
    assert dp.index(small.path, statistics=True)
    p = dp.open(small.path).picture("mean", size=1, from_stats=True)
    assert p.source == "statistics" and p.values[0, 0] == pytest.approx(a[128:136, 128:136].mean())


def test_what_no_picture_can_be_is_refused(make):
    m = make(np.eye(5))
    for words, options in (
        ("what is one of", {"what": "sum"}),
        ("what is one of", {"what": ["mean"]}),
        ("size is", {"size": 0}),
        ("size is", {"size": (3, 30_000)}),
        ("size is", {"size": (3, 4, 5)}),
        ("size is", {"size": 2.5}),
        ("threads is", {"threads": -1}),
    ):
        with pytest.raises(dp.InvalidArgumentError, match=words):
            m.picture(**options)
    with pytest.raises(dp.OutOfRangeError):
        m.picture(rows=(0, 6))
    with pytest.raises(dp.InvalidArgumentError, match="size is"):
        m.picture().to_svg(0, 400)
    m.close()
    with pytest.raises(dp.Error, match="closed"):
        m.picture()


def test_arrays_of_a_picture_are_those_of_numpy(make):
    p = make(np.eye(4)).picture("density")
    assert np.asarray(p) is p.values and np.array(p) is not p.values
    assert np.asarray(p, "f4").dtype == np.float32
    assert repr(p).endswith("density, 4 x 4 fields>")
    assert p._repr_svg_().startswith("<svg") and p.scale() == (0, 1, False)
    assert p.scale(log=True)[2]


def test_progress_is_told(make):
    seen = []
    make(cells((300, 300), "f8"), tile=(64, 64)).picture(
        progress=lambda done, total: seen.append((done, total))
    )
    assert seen and seen[-1][0] == seen[-1][1]


@pytest.mark.parametrize("shape", [(0, 0), (0, 7), (7, 0), (1, 1), (1, 300)])
@pytest.mark.parametrize("fill", [0, 1, np.nan])
def test_nothing_is_too_small_to_be_drawn(make, shape, fill):
    ax = figure().subplots()
    m = make(np.full(shape, fill))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for what in ("density", "mean", "min", "max", "kind"):
            assert m.picture(what).shape == shape
            m.spy(ax, what)
        ax.figure.canvas.draw()
        m._repr_html_()


def test_spy_tells_what_it_shows(make):
    a = cells((40, 60), "f8")
    a[:10] = np.nan
    a[12, 12] = np.inf
    m = make(a, tile=(10, 10))
    ax = m.spy(figure().subplots(), "max", (0, 30), log=False)
    image, marks = ax.images
    assert image.get_extent() == marks.get_extent() == [0, 60, 30, 0]
    assert image.get_array().mask[:10].all() and image.get_array().mask[12, 12]
    assert marks.get_array()[0, 0].tolist() == [213, 94, 0, 255]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["inf", "NaN"]
    assert ax.get_title() == f"{pathlib.Path(m.path).name}: max"
    assert [other.get_ylabel() for other in ax.figure.axes] == ["row", "maximum"]
    assert len(m.spy(figure().subplots(), "kind").get_legend().get_texts()) >= 1
    large = make(np.random.default_rng(5).random((512, 512)), tile=(64, 64))
    ax = large.spy(figure().subplots(), "min", from_stats=True, colorbar=False)
    assert "from the statistics" in ax.get_title() and len(ax.figure.axes) == 1


def image_in(text):
    return re.search(r'href="data:image/png;base64,([^"]+)"', text)[1]


@pytest.mark.parametrize("name", ["dense", "sparse", "counts", "frame"])
def test_a_notebook_shows_what_the_command_line_draws(make, there, tmp_path, name):
    dapple = pathlib.Path(dp.__file__).parents[2] / "dapple" / "dapple"
    if not dapple.exists():
        pytest.skip("the command line is not built")
    random = np.random.default_rng(3)
    opened = {
        "dense": lambda: make(random.normal(size=(400, 300)), tile=(64, 64)),
        "sparse": lambda: make(cells((900, 700), "f4", density=0.01), tile=(100, 100)),
        "counts": lambda: make(random.geometric(0.01, (300, 300)).astype("u4")),
        "frame": lambda: there({"a": random.normal(size=50), "b": ["x", None] * 25}),
    }[name]()
    out = tmp_path / "show.svg"
    subprocess.run([dapple, "show", opened.path, "-o", out, "--size", "420x340"], check=True)
    assert image_in(opened._repr_html_()) == image_in(out.read_text())


def test_a_notebook_says_why_there_is_no_picture(make):
    assert "picture</th>" not in make(np.eye(4))._repr_html_()
    assert "there are no cells" in make(np.zeros((0, 3)))._repr_html_()
    m = make(np.ones((30, 30)), kind="csr")
    with open(m.path, "r+b") as file:
        file.seek(m.blocks[0].offset)
        file.write(b"\xff" * 400)
    html = m._repr_html_()
    assert "<svg" not in html and "none: " in html and "corrupt" in html


def test_a_large_matrix_is_glanced_at_through_its_statistics(tmp_path):
    with dp.writer(tmp_path / "a.dbdf", (40_000, 400), "f8", tile=(100, 100), sync=False) as w:
        w[:, :] = np.random.default_rng(1).random((40_000, 400))
    m = dp.open(tmp_path / "a.dbdf")
    assert m.file_bytes > 100 << 20
    start = time.perf_counter()
    html = m._repr_html_()
    assert "from the statistics of its blocks" in html
    assert time.perf_counter() - start < 2  # 10 ms on a quiet machine


def test_a_large_file_without_statistics_is_sampled(tmp_path):
    a = np.lib.format.open_memmap(tmp_path / "a.npy", "w+", "f8", (10_000, 1000))
    a[:] = np.linspace(1, 2, 10_000)[:, None]
    a.flush()
    assert "from some cells of each field" in dp.open(tmp_path / "a.npy")._repr_html_()
