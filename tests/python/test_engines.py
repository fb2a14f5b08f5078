"""Dask, xarray, SciPy's solvers, scikit-learn and torch's protocol, on the file itself."""

import pickle
import time
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import cells

import pydapple as dp
from pydapple import dask_arrays, dask_frames, xarray_backend

da = pytest.importorskip("dask.array")


@pytest.fixture
def pair(make):
    a = cells((200, 120), "f8", density=0.1)
    return a, make(a, tile=(32, 16))


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_dask_arrays_compute_what_numpy_computes(pair, scheduler):
    a, m = pair
    for x in (da.from_array(m, chunks=m.chunks), m.to_dask(), m.to_dask((50, 60))):
        assert x.dtype == a.dtype and x.shape == a.shape
        assert np.array_equal(x.compute(scheduler=scheduler), a)
        assert np.allclose((x.T @ x).compute(scheduler=scheduler), a.T @ a)
        assert np.array_equal(x[5:90:3, ::-1].compute(scheduler=scheduler), a[5:90:3, ::-1])
        assert np.array_equal(x[[4, 1]].compute(scheduler=scheduler), a[[4, 1]])


def test_sparse_chunks_stay_sparse(pair):
    a, m = pair
    x = m.to_dask(m.chunks, sparse=True)
    assert x.chunks[0][0] == 32 and x.chunks[1][0] == 16
    part = x.blocks[1, 2].compute()
    assert type(part) is sp.csr_array and np.array_equal(part.toarray(), a[32:64, 32:48])
    sums = x.map_blocks(lambda c: np.atleast_2d(c.sum(axis=0)), chunks=((1,) * 7, x.chunks[1]))
    assert np.allclose(sums.sum(axis=0).compute(scheduler="threads"), a.sum(axis=0))


def test_dask_knows_what_sparse_chunks_take(pair):
    from dask.sizeof import sizeof

    a, m = pair
    m.to_dask(sparse=True)
    s = m.to_scipy()
    wanted = s.data.nbytes + s.indices.nbytes + s.indptr.nbytes
    for form in (s, s.tocsc()):
        assert abs(sizeof(form) - wanted) < 0.1 * wanted + 500
    assert abs(sizeof(s.tocoo()) - 16 * s.nnz) < 0.1 * 16 * s.nnz + 500


def test_the_graph_of_a_huge_matrix_is_small(tmp_path):
    path = tmp_path / "huge.dbdf"
    with dp.writer(path, (1_600_000, 8192), "f8", tile=(4096, 1024), sync=False) as w:
        w[:4096, :1024] = 1  # 100 GB of cells
    m = dp.open(path)
    tracemalloc.start()
    begin = time.perf_counter()
    x = m.to_dask(m.chunks)
    graph = x.sum(axis=0).__dask_graph__()
    seconds = time.perf_counter() - begin
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert x.npartitions == 391 * 8
    assert seconds < 3 and peak < 50 << 20  # 1 s on a quiet machine
    assert len(pickle.dumps(m)) < 1024
    assert len(graph.layers) < 20


def test_single_rows_and_columns_of_sparse_chunks_keep_their_shape(pair):
    a, m = pair
    x = m.to_dask((64, 30), sparse=True)
    for key in (np.s_[5], np.s_[-1], np.s_[:, 7], np.s_[5:90, 7], np.s_[6, 3:99], np.s_[5:6]):
        got = x[key].compute()
        assert got.shape == x[key].shape == a[key].shape and np.array_equal(got.toarray(), a[key])
    assert x[5, 7].compute() == a[5, 7]


def test_dask_fills_absent_cells(make, tmp_path):
    whole = make(np.ones((4, 4)), tile=(2, 2), plain=True, kind="dense")
    cut = tmp_path / "cut.dbdf"
    with open(whole.path, "rb") as file:
        cut.write_bytes(file.read(whole.blocks[-1].offset - 16))
    m = dp.open(cut)
    for sparse in (False, True):
        with pytest.raises(dp.AbsentError):
            m.to_dask(sparse=sparse).compute()
    for chunks in (None, (3, 1)):
        for absent in ("zero", "nan"):
            x = pickle.loads(pickle.dumps(m.to_dask(chunks, absent=absent)))
            assert np.array_equal(x.compute(), m.read(absent=absent), equal_nan=True)
        sparse = m.to_dask(chunks, sparse=True, absent="zero").compute()
        assert np.array_equal(sparse.toarray(), m.read(absent="zero"))
    assert m.to_dask(absent="zero").name != m.to_dask(absent="nan").name


def mapped_bytes(path):
    """Of a file, that count as this process's memory."""
    found, here = 0, False
    with open("/proc/self/smaps") as file:
        for line in file:
            if "-" in line.split(" ")[0]:
                here = line.rstrip().endswith(str(path))
            elif here and line.startswith("Rss:"):
                found += int(line.split()[1]) << 10
    return found


def test_a_matrix_that_was_sent_gives_pages_back(make):
    """So that da.from_array(m) stays within the memory of a worker."""
    a = np.random.default_rng(1).random((1000, 1000))
    m = make(a, tile=(100, 100))
    with dp.open(m.path) as plain:
        assert np.array_equal(plain[:], a)
        assert mapped_bytes(m.path) > 6 << 20
    sent = pickle.dumps(m)
    m.close()
    with pickle.loads(sent) as there:
        assert np.array_equal(there[:500], a[:500]) and np.array_equal(there[500:, 1:], a[500:, 1:])
        assert mapped_bytes(there.path) < 1 << 20


def test_dask_writes_through_store(pair, tmp_path):
    a, m = pair
    x = m.to_dask(m.chunks) * 2
    with dp.writer(tmp_path / "s.dbdf", x.shape, x.dtype, tile=m.chunks, sync=False) as w:
        da.store(x, w, lock=False, scheduler="threads")
    assert np.array_equal(dp.open(tmp_path / "s.dbdf")[:], 2 * a)


def test_dask_stores_chunks_that_do_not_follow_the_tiles(tmp_path):
    a = cells((12, 5), "f8")
    for chunks in ((5, 5), (1, 2), (7, 3)):
        path = tmp_path / "s.dbdf"
        x = da.from_array(a, chunks=chunks)
        with dp.writer(path, a.shape, a.dtype, tile=(4, 2), overwrite=True, sync=False) as w:
            da.store(x, w, lock=False, scheduler="threads")
        assert np.array_equal(dp.open(path)[:], a)


def test_a_changed_file_has_another_token(pair):
    from dask.base import tokenize

    a, m = pair
    same = dp.open(m.path)
    assert tokenize(m) == tokenize(same) and tokenize(m.sparse) == tokenize(same.sparse)
    assert tokenize(m) != tokenize(m.sparse)
    dp.write(m.path, a + 1, overwrite=True, sync=False)
    assert tokenize(dp.open(m.path)) != tokenize(m)


@pytest.fixture(scope="module")
def cluster():
    """Two processes that Dask's computations go to; starting them takes longer than the tests."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as one,
        distributed.Client(one, set_as_default=False) as client,
    ):
        yield client


def test_a_cluster_of_processes_shares_the_file(pair, cluster):
    a, m = pair
    with cluster.as_current():
        assert np.allclose(m.to_dask(m.chunks).sum(axis=0).compute(), a.sum(axis=0))
        part = m.to_dask(m.chunks, sparse=True).blocks[0, 0].compute()
    assert np.array_equal(part.toarray(), a[:32, :16])


def test_workers_of_a_cluster_write_one_data_set(tmp_path, cluster):
    da = pytest.importorskip("dask.array")
    x = da.arange(8000, chunks=8000).reshape(80, 100).rechunk((20, 25))
    with cluster.as_current():
        dp.dataset.store(x, tmp_path, sync=False)
    assert np.array_equal(dp.open(tmp_path)[:], np.arange(8000).reshape(80, 100))


def test_xarray_opens_matrices_and_frames(pair, tmp_path):
    xr = pytest.importorskip("xarray")
    a, m = pair
    with xr.open_dataset(m.path, engine="pydapple") as ds:
        data = ds["data"]
        assert data.dims == ("row", "col") and data.dtype == a.dtype
        assert np.array_equal(data.isel(row=slice(3, 90, 7), col=-1), a[3:90:7, -1])
        assert np.array_equal(data.isel(row=[5, 1], col=[2, 9]), a[np.ix_([5, 1], [2, 9])])
    with xr.open_dataset(m.path, chunks={}) as ds:  # by its extension
        assert ds["data"].chunks[0][0] == 32
        assert float(ds["data"].sum()) == a.sum()
    dp.write(tmp_path / "f.dbdf", {"x": np.arange(5.0), "y": np.arange(5)}, sync=False)
    with xr.open_dataset(tmp_path / "f.dbdf", engine="pydapple", drop_variables="y") as ds:
        assert list(ds) == ["x"] and ds["x"][1:3].values.tolist() == [1, 2]


def test_xarray_has_the_chunks_of_dask(make, tmp_path, monkeypatch):
    xr = pytest.importorskip("xarray")
    m = make(cells((90, 40), "f8"), tile=(10, 8))
    dp.write(tmp_path / "f.dbdf", {"x": np.arange(5e5), "y": np.arange(500_000)}, sync=False)
    f = dp.open(tmp_path / "f.dbdf")
    with xr.open_dataset(m.path, chunks={}, engine="pydapple") as ds:
        assert ds["data"].chunks == ((10,) * 9, (8,) * 5)  # few tiles
    monkeypatch.setattr(xarray_backend, "_FEW", 44)
    monkeypatch.setattr(dask_arrays, "_CHUNK", 3000)
    monkeypatch.setattr(dask_frames, "_BYTES", 1 << 20)
    with xr.open_dataset(m.path, chunks={}, engine="pydapple") as ds:
        assert ds["data"].chunks == m.to_dask().chunks and len(ds["data"].chunks[0]) > 1
    with xr.open_dataset(f.path, chunks={}, engine="pydapple") as ds:
        assert len(ds["x"].chunks[0]) == f.to_dask().npartitions > 1
        assert np.array_equal(ds["y"][400_000:], np.arange(400_000, 500_000))


def test_large_reads_of_xarray_give_the_pages_of_the_file_back(make):
    xr = pytest.importorskip("xarray")
    m = make(cells((2000, 1000), "f8"), tile=(200, 1000))
    with xr.open_dataset(m.path, engine="pydapple") as ds:
        for k in range(0, 2000, 200):
            ds["data"][k : k + 200].load()
        with open("/proc/self/smaps") as maps:
            parts = [part for part in maps.read().split("VmFlags") if m.path in part]
    resident = [line.split()[1] for part in parts for line in part.splitlines() if line.startswith("Rss:")]
    assert resident and sum(map(int, resident)) < 2000  # kB of 16,000


def test_xarray_keeps_columns_whose_labels_repeat(tmp_path):
    pd, xr = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    table = pd.DataFrame([[1, 2.5, "x"], [3, 4.5, "y"]], columns=["a", "a", "b"])
    dp.write(tmp_path / "f.dbdf", table, sync=False)
    with xr.open_dataset(tmp_path / "f.dbdf", engine="pydapple") as ds:
        assert list(ds) == list(dp.open(tmp_path / "f.dbdf").read()) == ["a", "a.1", "b"]
        assert ds["a"].values.tolist() == [1, 3] and ds["a.1"][::-1].values.tolist() == [4.5, 2.5]
        assert ds["a.1"][1] == 4.5 and ds["b"][[1, 0]].values.tolist() == ["y", "x"]


def test_xarray_reads_names_of_rows_and_single_words(tmp_path):
    pd, xr = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    dp.write(tmp_path / "f.dbdf", pd.DataFrame({"w": ["a", None], "n": [1, 2]}, index=["p", "q"]))
    with xr.open_dataset(tmp_path / "f.dbdf", engine="pydapple") as ds:
        assert ds["w"][0].item() == "a" and ds["w"][-1].item() is None
        assert ds["n"].sel(row="q").item() == 2


def test_xarray_never_rounds_and_is_told_what_dtypes_do_not_tell(tmp_path):
    pd, xr = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    path = tmp_path / "f.dbdf"
    inexact = {"i": [2**53 + 1, None], "j": [-(2**53) - 1, None], "k": [2**63 - 1, None], "u": [2**64 - 1, None],
               "v": [None, 2**63 - 1]}  # fmt: skip
    exact = {"a": [2**60, -(2**63), None], "b": [2**53 - 1, None, 0], "c": [None, None, 2**63]}
    table = {
        label: pd.array([*values, 0], "UInt64" if label in "uv" else "Int64")
        for label, values in inexact.items()
    }
    table |= {
        label: pd.array(values, "UInt64" if label == "c" else "Int64")
        for label, values in exact.items()
    }
    table["small"] = pd.array([2**31 - 1, None, -(2**31)], "Int32")
    table["f"] = pd.array([0.5, None, 1], "Float32")
    table["t"] = pd.to_datetime(["2024-01-02"] * 3).tz_localize("Asia/Tokyo")
    table["g"] = pd.Categorical(["low", None, "high"], ["low", "high"], ordered=True)
    dp.write(path, table, sync=False)
    with xr.open_dataset(path, engine="pydapple") as ds:
        for label in inexact:
            with pytest.raises(dp.TypeMismatchError, match=f"column '{label}'.*is not exact"):
                ds[label].load()
        for label in [*exact, "small"]:
            assert ds[label].dtype == "f8"
            read = [pd.NA if np.isnan(x) else int(x) for x in ds[label].values]
            assert all(x is y or x == y for x, y in zip(read, table[label], strict=True))
        assert (
            ds["i"][2] == 0
            and np.isnan(ds["i"][1])
            and ds["f"].dtype == "f4"
            and np.isnan(ds["f"][1])
        )
        assert ds["t"].attrs == {"time_zone": "Asia/Tokyo"} and ds["t"].values[0] == np.datetime64(
            "2024-01-01T15"
        )
        assert ds["g"].attrs == {"ordered_categories": ["low", "high"]} and ds["f"].attrs == {}
    with xr.open_dataset(path, engine="pydapple", drop_variables=list(inexact)) as ds:
        ds.load()


def test_solvers_run_on_the_file(make):
    from scipy.sparse.linalg import aslinearoperator, lsqr, svds

    for density, dtype in ((0.1, "f8"), (1, "f4"), (0.1, "i4")):
        a = cells((300, 80), dtype, density)
        m = make(a, tile=(64, 32))
        op = m.linear_operator()
        x, y = np.linspace(0, 1, 80), np.linspace(1, 2, 300)
        assert np.allclose(op @ x, a @ x) and np.allclose(op.T @ y, a.T @ y)
        assert np.allclose(op @ np.eye(80)[:, :3], a[:, :3])
        assert np.allclose(op.rmatmat(np.eye(300)[:, :3]), a[:3].T)
        exact = np.linalg.svd(a.astype("f8"), compute_uv=False)[:4]
        assert np.allclose(np.sort(svds(op, k=4)[1])[::-1], exact, rtol=1e-4)
        b = a.astype("f8") @ x
        if density < 1:
            assert np.allclose(lsqr(op, b, atol=1e-12, btol=1e-12)[0], x, atol=1e-4)
        assert aslinearoperator(op) is op


def test_scikit_learn_learns_strip_by_strip(make):
    linear = pytest.importorskip("sklearn.linear_model")
    random = np.random.default_rng(0)
    a = cells((4000, 50), "f8", density=0.2)
    y = (a @ random.standard_normal(50) > 0).astype(int)
    m = make(a, tile=(500, 50))
    by_strips, at_once = (linear.SGDClassifier(random_state=0, shuffle=False) for _ in range(2))
    for rows, part in m.strips(sparse=True):
        by_strips.partial_fit(part, y[rows], classes=[0, 1])
    at_once.partial_fit(sp.csr_array(a), y, classes=[0, 1])
    assert by_strips.score(m.to_scipy(), y) > 0.7
    if len(list(m.strips(sparse=True))) == 1:
        assert np.allclose(by_strips.coef_, at_once.coef_)



def test_sparse_chunks_may_be_matrices(make):
    sp = pytest.importorskip("scipy.sparse")
    pytest.importorskip("dask.array")
    s = sp.random_array((300, 80), density=0.1, format="csr", rng=0)
    m = make(s)
    x = m.to_dask((100, 80), sparse="matrix")
    part = x.blocks[1, 0].compute(scheduler="threads")
    assert isinstance(part, sp.csr_matrix) and abs(part - s[100:200]).nnz == 0
    assert isinstance(
        m.to_dask(sparse=True).blocks[0, 0].compute(scheduler="threads"), sp.csr_array
    )
    with pytest.raises(dp.Error, match="'csc_array' or 'csc_matrix'"):
        m.to_dask(sparse="coo")


def test_a_centred_operator_gives_principal_components(make):
    sp = pytest.importorskip("scipy.sparse")
    linalg = pytest.importorskip("scipy.sparse.linalg")
    s = sp.random_array((300, 40), density=0.2, format="csr", rng=0)
    operator = make(s).linear_operator(center=True)
    centred = s.toarray() - s.toarray().mean(axis=0)
    x = np.random.default_rng(0).standard_normal((40, 3))
    assert np.allclose(operator @ x, centred @ x) and np.allclose(
        operator @ x[:, 0], centred @ x[:, 0]
    )
    y = np.random.default_rng(1).standard_normal((300, 2))
    assert np.allclose(operator.T @ y, centred.T @ y)
    assert np.allclose(operator.T @ y[:, 0], centred.T @ y[:, 0])
    values = np.sort(linalg.svds(operator, k=3)[1])[::-1]
    assert np.allclose(values, np.linalg.svd(centred, compute_uv=False)[:3])


def test_a_writer_that_is_never_finished_warns(tmp_path):
    w = dp.writer(tmp_path / "w.dbdf", (2, 2), "f8")
    with pytest.warns(ResourceWarning, match="never finished"):
        del w


def test_a_writer_whose_half_was_never_put_warns(tmp_path):
    with pytest.warns(ResourceWarning, match=r"8 of the 16 cells of .* were never put, and are zero"), dp.writer(
        tmp_path / "w.dbdf", (4, 4), "f8", sync=False
    ) as w:
        w[2:] = 1
    assert dp.open(tmp_path / "w.dbdf")[:].sum() == 8
    with pytest.warns(ResourceWarning, match="2 of the 6 cells"), dp.frame_writer(
        tmp_path / "f.dbdf", 3, {"a": "i4", "b": "f8"}, sync=False
    ) as w:
        w["a"] = [1, 2, 3]
        w["b", 1:2] = [0.5]
    with pytest.warns(ResourceWarning, match="8 of the 16 cells"), dp.writer(
        tmp_path / "g.dbdf", (4, 4), "u1", sync=False
    ) as w:
        for wrong in (np.ones((3, 4)), np.full((2, 4), 0.5)):
            with pytest.raises((ValueError, TypeError)):
                w[:2] = wrong  # which puts nothing
        w[2:] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with dp.writer(tmp_path / "whole.dbdf", (4, 4), "f8", sync=False) as w:
            w[2:], w[:2] = 1, sp.csr_array((2, 4))
        with dp.writer(tmp_path / "sparse.dbdf", (4, 4), "f8", sparse=True, sync=False) as w:
            w[2:] = 1
