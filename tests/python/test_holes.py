"""Data sets with holes: what is between the rows and columns that are wanted is of no account."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from conftest import KINDS

import pydapple as dp
from pydapple import dataset


def pieces(rng, rows, cols, gaps):
    """Rectangles that share no cell, of which `gaps` percent are left out."""
    todo, kept = [(0, rows, 0, cols)], []
    while todo:
        r0, r1, c0, c1 = todo.pop()
        tall, wide = r1 - r0, c1 - c0
        if tall * wide < 30 or rng.random() < 0.15:
            if rng.random() * 100 >= gaps:
                kept.append((r0, r1, c0, c1))
        elif tall > 1 and (wide == 1 or rng.random() < 0.5):
            cut = rng.integers(r0 + 1, r1)
            todo += [(r0, cut, c0, c1), (cut, r1, c0, c1)]
        else:
            cut = rng.integers(c0 + 1, c1)
            todo += [(r0, r1, c0, cut), (r0, r1, cut, c1)]
    return kept


def holed_matrix(rng, folder, dtype):
    """A data set of dense, sparse and packed parts; its cells, and which there are."""
    rows, cols = rng.integers(2, 40, 2)
    a = rng.integers(-3, 4, (rows, cols)) * (rng.random((rows, cols)) < 0.4) * 100
    a = a.astype(dtype)
    there = np.zeros(a.shape, bool)
    like = folder.with_suffix(".dbdf")
    dp.write(like, a[:1, :1], sync=False)
    with dp.open(like) as one:
        dataset.create(folder, one, shape=a.shape, sync=False)
    for r0, r1, c0, c1 in pieces(rng, rows, cols, rng.choice([10, 40])):
        part = a[r0:r1, c0:c1]
        options = {"pack": [None, "fast"][rng.integers(2)], "kind": str(rng.choice(KINDS))}
        data = sp.csr_array(part) if rng.integers(2) else part
        dataset.append(folder, data, at=(r0, c0), sync=False, **options)
        there[r0:r1, c0:c1] = True
    return a, there


def lists(rng, n):
    """Some of the ways to pick of n."""
    few = rng.integers(0, n, rng.integers(1, 4))
    return [few, few - n, slice(None), slice(*sorted(rng.integers(0, n + 1, 2)), 3),
            slice(None, None, -1), slice(None, None, rng.integers(2, 5))][rng.integers(6)]  # fmt: skip


def same_or_absent(a, there, rows, cols, read, *args, **options):
    """`read` gives these cells, or says which of them is absent. Returns whether it gave them."""
    wanted, known = a[rows][:, cols], there[rows][:, cols]
    if known.all():
        made = read(*args, **options)
        made = made.toarray() if sp.issparse(made) else np.asarray(made)
        assert made.shape == wanted.shape and np.array_equal(made, wanted)
        return True
    with pytest.raises(dp.AbsentError) as error:
        read(*args, **options)
    numbers = np.arange(a.size).reshape(a.shape)[rows][:, cols][~known]
    cells = {f"cell ({k // a.shape[1]}, {k % a.shape[1]})" for k in numbers.tolist()}
    assert any(cell in str(error.value) for cell in cells), str(error.value)
    return False


@pytest.mark.parametrize("seed", range(12))
def test_cells_of_a_matrix_are_read_where_they_are(tmp_path, seed):
    rng = np.random.default_rng([28, seed])
    a, there = holed_matrix(rng, tmp_path / "d", rng.choice(["i4", "f4", "i2"]))
    every = slice(None)
    answers = 0
    with dp.open(tmp_path / "d") as m:
        for _ in range(40):
            rows, cols = lists(rng, a.shape[0]), lists(rng, a.shape[1])
            one = rows if isinstance(cols, np.ndarray) and isinstance(rows, np.ndarray) else None
            both = (every, cols) if one is not None else (rows, cols)
            answers += same_or_absent(a, there, *both, m.__getitem__, both)
            answers += same_or_absent(a, there, *both, m.sparse.__getitem__, both)
            answers += same_or_absent(a, there, rows, cols, m.take, rows, cols)
            answers += same_or_absent(a, there, every, cols, m.take_columns, cols)
            wide = np.empty(a[rows][:, cols].shape, "f8")
            answers += same_or_absent(a, there, rows, cols, m.take, rows, cols, out=wide)
            if not there[rows][:, cols].all():
                zeros = np.where(there, a, 0)
                assert np.array_equal(m.take(rows, cols, absent="zero"), zeros[rows][:, cols])
                nans = np.where(there, a, np.nan)
                made = m.take(rows, cols, out=wide, absent="nan")
                assert np.array_equal(made, nans[rows][:, cols], equal_nan=True)
    assert answers > 5


@pytest.mark.parametrize("seed", range(12))
def test_values_that_nobody_wants_need_not_fit(tmp_path, seed):
    rng = np.random.default_rng([29, seed])
    a, there = holed_matrix(rng, tmp_path / "d", "i4")
    bad = (rng.random(a.shape) < 0.05) & there
    a = np.where(bad, 70_000, np.abs(a))
    dp.write(tmp_path / "m.dbdf", a, pack=[None, "fast"][seed % 2], kind=KINDS[seed % 4], tile=(7, 40))
    with dp.open(tmp_path / "m.dbdf") as m:
        for _ in range(40):
            rows, cols = lists(rng, a.shape[0]), lists(rng, a.shape[1])
            wanted = a[rows][:, cols]
            out = np.empty(wanted.shape, "u2")
            if (wanted <= 65535).all():
                assert np.array_equal(m.take(rows, cols, out=out), wanted)
                continue
            with pytest.raises(dp.TypeMismatchError) as error:
                m.take(rows, cols, out=out)
            numbers = np.arange(a.size).reshape(a.shape)[rows][:, cols][wanted > 65535]
            cells = {f"cell ({k // a.shape[1]}, {k % a.shape[1]})" for k in numbers.tolist()}
            assert any(cell in str(error.value) for cell in cells), str(error.value)


def test_rows_of_a_frame_are_read_where_they_are(tmp_path):
    rng = np.random.default_rng(30)
    n = 30
    words = [f"w{k % 3}" for k in range(n)]
    table = pd.DataFrame({"a": np.arange(n), "b": rng.random(n), "c": words})
    d = tmp_path / "d"
    dataset.append(d, table[:8], sync=False)
    dataset.append(d, table[20:], at=(20, 0), sync=False)
    dp.write(tmp_path / "f.dbdf", table, sync=False)
    with dp.open(d) as f, dp.open(tmp_path / "f.dbdf") as g:
        for rows in ([7, 0], [0, 25, 3, 3], [29, 20, 7], [-1, 0], np.arange(n) % 20 == 1):
            assert f["a", rows].tolist() == g["a", rows].tolist()
            assert f["c", rows].tolist() == g["c", rows].tolist()
            assert f.to_pandas(rows=rows).equals(g.to_pandas(rows=rows))
        for rows in ([7, 8], [19, 20], [0, 12, 25]):
            row = next(k for k in rows if 8 <= k < 20)
            with pytest.raises(dp.AbsentError, match=rf"cell \({row}, 0\)"):
                f["a", rows]
            with pytest.raises(dp.AbsentError, match=rf"cell \({row}, 0\)"):
                f.to_pandas(rows=rows)
