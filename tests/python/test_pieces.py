"""Pieces that a writer takes, wherever they begin and end in the tiles."""

import numpy as np
import pytest
from conftest import cells

import pydapple as dp
from pydapple import arrays

ROWS, COLS = 13, 5
LAYOUTS = {
    "contiguous": np.ascontiguousarray,
    "by column": np.asfortranarray,
    "with gaps": lambda a: np.repeat(np.repeat(a, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda a: np.ascontiguousarray(a[::-1])[::-1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("given", ["f8", "f4", ">f8", "i2"])
@pytest.mark.parametrize("tile", [(1, 1), (4, 2), (5, 5), (100, 3)])
def test_pieces_of_any_start_and_length_are_put_where_they_belong(
    tmp_path, monkeypatch, tile, given, layout
):
    monkeypatch.setattr(arrays, "BAND", 200)  # so that many bands are needed
    a = cells((ROWS, COLS), given, density=1)
    for start in range(ROWS):
        length = 1 + (start * 7 + tile[0]) % (ROWS - start)
        for rows in (range(start, start + 1), range(start, start + length), range(start, ROWS)):
            col = start % COLS
            path = tmp_path / "w.dbdf"
            options = {"tile": tile, "overwrite": True, "sync": False}
            with dp.writer(path, a.shape, "f8", **options) as w:
                for part in (range(rows.start), rows, range(rows.stop, ROWS)):
                    here = slice(part.start, part.stop)
                    w[here, :col] = LAYOUTS[layout](a[here, :col])
                    w[here, col:] = LAYOUTS[layout](a[here, col:])
            assert np.array_equal(dp.open(path)[:], a), (rows, col)


def test_rows_are_put_one_by_one(tmp_path):
    with dp.writer(tmp_path / "w.dbdf", (10, 3), "f8", sync=False) as w:
        for i in range(10):
            w[i] = np.full(3, i + 1.0)
    assert np.array_equal(dp.open(tmp_path / "w.dbdf")[:, 1], np.arange(1.0, 11))


def test_bands_end_where_tiles_do():
    for start in range(9):
        for stop in range(start, 30):
            for tile in (0, 1, 4, 7, 50):
                for row_bytes in (0, 1, arrays.BAND // 8, arrays.BAND, 10 * arrays.BAND):
                    bands = list(arrays.bands_of(range(start, stop), tile, row_bytes))
                    assert [row for band in bands for row in band] == list(range(start, stop))
                    assert all(band.stop % max(1, tile) == 0 for band in bands[:-1])


def test_a_frame_writer_takes_rows_of_any_start(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "BAND", 64)
    table = {"a": np.arange(23.0), "b": np.arange(23.0) * 2, "c": np.arange(23, dtype="i4")}
    types = {label: column.dtype for label, column in table.items()}
    for start in range(23):
        path = tmp_path / "w.dbdf"
        options = {"tile": (5, 2), "overwrite": True, "sync": False}
        with dp.frame_writer(path, 23, types, **options) as w:
            for part in (slice(start), slice(start, 23)):
                w[part] = {label: column[part] for label, column in table.items()}
        read = dp.open(path).read()
        assert all(np.array_equal(read[label], table[label]) for label in table)
