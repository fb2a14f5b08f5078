"""Batches for training: every row once, in orders that repeat, with what is known of it."""

import pickle
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import cells

import pydapple as dp

ROWS = 500


@pytest.fixture
def data(make, tmp_path):
    """A sparse matrix, what is known of its rows, and both as arrays."""
    a = cells((ROWS, 30), "f8", density=0.2)
    kinds = np.array(["B", "T", "NK"])[np.arange(ROWS) % 5 % 3]
    genes = np.arange(ROWS) * 3
    dp.write(tmp_path / "obs.dbdf", {"kind": kinds, "genes": genes})
    return make(a), dp.open(tmp_path / "obs.dbdf"), a, kinds, genes


def all_rows(loader):
    return np.concatenate([rows for _, _, rows in loader])


@pytest.mark.parametrize("ahead", [0, 1, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_each_epoch_has_every_row_once_with_what_is_known_of_it(data, ahead, sparse):
    m, obs, a, kinds, genes = data
    loader = dp.loader(m.sparse if sparse else m, obs, batch=64, ahead=ahead, seed=3)
    assert len(loader) == 8
    orders = []
    for _ in range(2):
        seen = []
        for x, known, rows in loader:
            dense = x.toarray() if sparse else x
            assert np.array_equal(dense, a[rows])
            assert list(known["kind"]) == list(kinds[rows])
            assert np.array_equal(known["genes"], genes[rows])
            seen.append(rows)
        orders.append(np.concatenate(seen))
        assert np.array_equal(np.sort(orders[-1]), np.arange(ROWS))
    assert not np.array_equal(*orders)


def test_a_batch_follows_from_seed_epoch_and_number(data):
    m, obs, *_ = data
    one, other = (dp.loader(m, obs, batch=32, seed=5) for _ in range(2))
    sent = pickle.loads(pickle.dumps(other))  # as a worker gets it
    for epoch in (0, 7):
        one.set_epoch(epoch)
        sent.set_epoch(epoch)
        for k in (3, 0, 15):
            assert np.array_equal(one[k].rows, sent[k].rows)
            assert np.array_equal(one[k].x, sent[k].x)
    other.set_epoch(7)
    assert np.array_equal(all_rows(other), np.concatenate([one[k].rows for k in range(16)]))
    assert not np.array_equal(all_rows(dp.loader(m, batch=32, seed=6)), all_rows(dp.loader(m, batch=32, seed=5)))
    with pytest.raises(IndexError):
        one[16]


def test_rows_are_picked_by_condition_mask_numbers_and_slice(data):
    m, obs, _, kinds, genes = data
    wanted = np.flatnonzero((kinds == "B") & (genes > 300))
    by_text = dp.loader(m, obs, rows="kind == 'B' and genes > 300", shuffle=False)
    assert np.array_equal(all_rows(by_text), wanted)
    by_condition = dp.loader(m, obs, rows=(obs.c.kind == "B") & (obs.c.genes > 300))
    assert np.array_equal(np.sort(all_rows(by_condition)), wanted)
    mask = np.isin(np.arange(ROWS), wanted)
    assert np.array_equal(all_rows(dp.loader(m, rows=mask, shuffle=False)), wanted)
    assert np.array_equal(all_rows(dp.loader(m, rows=[9, 2, 9], shuffle=False)), [9, 2, 9])
    assert np.array_equal(all_rows(dp.loader(m, rows=slice(10, 90, 7), shuffle=False)), range(10, 90, 7))
    short = dp.loader(m, rows=slice(0, 70), batch=32, drop_last=True)
    assert len(short) == 2 and [len(rows) for _, _, rows in short] == [32, 32]


def test_strata_have_their_share_of_each_batch(data):
    m, obs, _, kinds, _ = data
    shares = {kind: count / ROWS for kind, count in Counter(kinds.tolist()).items()}
    loader = dp.loader(m, obs, columns=["genes"], stratify="kind", batch=50)
    for _, known, rows in loader:
        assert list(known) == ["genes"]
        counts = Counter(kinds[rows].tolist())
        for kind, share in shares.items():
            assert abs(counts[kind] - share * len(rows)) <= 2
    assert np.array_equal(np.sort(all_rows(loader)), np.arange(ROWS))


def test_weights_draw_rows_in_proportion(data):
    m, *_ = data
    weights = np.zeros(ROWS)
    weights[[3, 400, 499]] = 1, 2, 1
    loader = dp.loader(m, weights=weights, batch=100)
    counts = Counter(np.concatenate([all_rows(loader) for _ in range(20)]).tolist())
    assert set(counts) == {3, 400, 499} and sum(counts.values()) == 20 * ROWS
    assert abs(counts[400] / (20 * ROWS) - 0.5) < 0.03
    assert abs(counts[499] / (20 * ROWS) - 0.25) < 0.03


def test_buffers_are_used_again_and_rounded_to(data):
    m, _, a, *_ = data
    seen = set()
    for x, _, rows in dp.loader(m, batch=16, reuse=True, dtype="f4", ahead=2):
        assert x.dtype == np.float32 and np.array_equal(x, a[rows].astype("f4"))
        seen.add(x.__array_interface__["data"][0])
    assert len(seen) <= 6
    last = None
    for x, _, rows in dp.loader(m, batch=16, dtype="f4", ahead=0):
        last = x, rows
    assert np.array_equal(last[0], a[last[1]].astype("f4"))


def test_what_does_not_fit_is_refused(data):
    m, obs, _, kinds, _ = data
    for wrong in (
        {"obs": {"kind": kinds[1:]}},
        {"columns": ["kind"]},
        {"stratify": "kind"},
        {"weights": np.ones(ROWS - 1)},
        {"weights": -np.ones(ROWS)},
        {"weights": np.zeros(ROWS)},
        {"weights": np.ones(ROWS), "shuffle": False},
        {"batch": 0},
        {"ahead": -1},
    ):
        with pytest.raises(dp.InvalidArgumentError):
            dp.loader(m, **wrong)
    with pytest.raises(dp.TypeMismatchError):
        dp.loader(m, {"kind": kinds}, rows="kind == 'B'")
    with pytest.raises(KeyError):
        dp.loader(m, obs, columns=["none"])
    with pytest.raises(dp.OutOfRangeError):
        dp.loader(m, rows=[ROWS])


def test_memory_of_sparse_batches_is_used_again_once_nobody_has_them(data):
    m, _, a, *_ = data
    loader = dp.loader(m.sparse, batch=50, ahead=0, seed=1)
    places, kept = set(), []
    for k, (x, _, rows) in enumerate(loader):
        places.add(x.data.__array_interface__["data"][0])
        if k == 4:
            kept += [(x.data, x.indices, x.indptr, rows)]
        del x
    assert len(places) < len(loader)
    for values, columns, ends, rows in kept:  # which nobody has filled again
        assert np.array_equal(sp.csr_array((values, columns, ends), shape=(50, a.shape[1])).toarray(), a[rows])
    assert np.array_equal(pickle.loads(pickle.dumps(loader))[3].x.toarray(), loader[3].x.toarray())


def test_missing_cells_stay_missing_in_batches(data, tmp_path):
    m, _, a, *_ = data
    given = np.ma.MaskedArray(np.arange(ROWS), np.arange(ROWS) % 4 == 0)
    dp.write(tmp_path / "m.dbdf", {"n": given, "ok": np.ma.MaskedArray(given.data % 3 == 0, given.mask)})
    f = dp.open(tmp_path / "m.dbdf")
    for obs in (f, {"n": f["n"], "ok": f["ok"]}):
        for stratify in (None, "ok"):
            for x, known, rows in dp.loader(m, obs, batch=40, stratify=stratify):
                assert np.array_equal(x, a[rows])
                assert np.array_equal(np.ma.getmaskarray(known["n"]), rows % 4 == 0)
                assert np.array_equal(known["n"].compressed(), rows[rows % 4 > 0])
                if stratify:  # missing ones are a quarter of all, and so of each batch
                    assert abs(np.ma.count_masked(known["ok"]) - len(rows) / 4) <= 2


@pytest.mark.parametrize("scale", [5e-324, 1.0, 1e308])
def test_weights_of_any_size_draw_in_proportion(data, scale):
    weights = np.zeros(ROWS)
    weights[:4] = 1
    drawn = Counter(all_rows(dp.loader(data[0], weights=weights * scale)).tolist())
    assert set(drawn) == {0, 1, 2, 3} and min(drawn.values()) > ROWS / 8


def test_loaders_refuse_what_gives_no_order(data):
    for wrong in ({"seed": -1}, {"weights": "n"}, {"weights": [1, 2]}, {"weights": np.full(ROWS, np.inf)},
                  {"weights": np.ma.masked_all(ROWS)}, {"weights": np.zeros(ROWS)}):  # fmt: skip
        with pytest.raises(dp.Error, match=next(iter(wrong))):
            dp.loader(data[0], **wrong)


def test_batches_are_of_matrices_alone(data):
    # NumPy's take without an axis gives cells, not rows.
    for wrong in (np.arange(12.0).reshape(4, 3), np.arange(5.0), [[1, 2]], data[1], "m.dbdf"):
        with pytest.raises(dp.TypeMismatchError, match=r"of a Matrix, or of its \.sparse, not of a"):
            dp.loader(wrong)


def test_rows_are_picked_by_their_names(make):
    m = make(np.arange(12.0).reshape(4, 3), row_names=list("abcd"))
    for x in (m, m.sparse):
        assert sorted(all_rows(dp.loader(x, rows=["d", "b"])).tolist()) == [1, 3]
    with pytest.raises(IndexError, match="no row is called 'e'"):
        dp.loader(m, rows=["a", "e"])


def test_mistakes_are_told_as_such(data):
    m, frame, _, kinds, _ = data
    for wrong, told in (
        ({"obs": {"kind": kinds}, "columns": ["kin"]}, r"obs= has no column 'kin'; there are 'kind'"),
        ({"obs": {"kind": kinds}, "columns": "kin"}, "no column 'kin'"),
        ({"obs": {"kind": kinds}, "stratify": "none"}, "no column 'none'"),
        ({"obs": frame, "columns": ["none"]}, "no column 'none'"),
        ({"obs": np.arange(ROWS)}, "obs= is a Frame, a DataFrame, or a mapping"),
        ({"obs": 3}, "obs= is a Frame, a DataFrame, or a mapping"),
        ({"obs": {"kind": 5}}, "1 values of 'kind' do not fit"),
        ({"batch": "x"}, "str"), ({"batch": 2.5}, "float"), ({"ahead": 1.5}, "float"),
        ({"dtype": "x"}, "'x'"), ({"dtype": "c8"}, "complex64"), ({"dtype": "U3"}, "<U3"),
    ):  # fmt: skip
        with pytest.raises(dp.Error, match=told):
            dp.loader(m, **wrong)
    loader = dp.loader(m, {"kind": kinds}, columns="kind")
    assert list(next(iter(loader)).obs) == ["kind"]
    with pytest.raises(dp.Error, match="zero or more, not -1"):
        loader.set_epoch(-1)
    pd = pytest.importorskip("pandas")
    with pytest.raises(dp.TypeMismatchError, match="a condition picks rows of a frame"):
        dp.loader(m, pd.DataFrame({"kind": kinds}), rows="kind == 'B'")
