"""What an object is comes before which protocols it speaks."""

import multiprocessing
import os
import tempfile

import numpy as np
import pytest

import pydapple as dp
from pydapple import streams

A = np.arange(6.0).reshape(2, 3)


def test_masks_of_dask_arrays_are_never_dropped(tmp_path):
    da = pytest.importorskip("dask.array")
    a = np.array([[1.0, -999.0], [3.0, 4.0]])

    def masked(x):
        return da.ma.masked_equal(da.from_array(x, chunks=1), -999.0)

    path = tmp_path / "m.dbdf"
    with pytest.raises(dp.Error, match="masked cells"):
        dp.write(path, masked(a), sync=False)
    dp.write(path, a[1:], sync=False)
    with pytest.raises(dp.Error, match="masked cells"):
        dp.append(path, masked(a), sync=False)
    with (
        pytest.raises(dp.Error, match="masked cells"),
        dp.writer(tmp_path / "w.dbdf", (2, 2), "f8") as w,
    ):
        da.store(masked(a), w, lock=False)
    assert not os.path.exists(tmp_path / "w.dbdf")
    dp.write(path, masked(a[1:]), sync=False, overwrite=True)  # none of these is
    assert dp.open(path)[:].tolist() == [[3, 4]]
    dp.write(path, {"x": masked(a[0]), "y": da.from_array(a[1])}, sync=False, overwrite=True)
    f = dp.open(path)
    assert f["x"][0] == 1 and np.isnan(f["x"][1]) and f["y"].tolist() == [3, 4]


def test_dask_arrays_are_written_along_the_tiles(tmp_path):
    da = pytest.importorskip("dask.array")
    sp = pytest.importorskip("scipy.sparse")
    a = np.random.default_rng(0).standard_normal((1000, 900))
    dp.write(tmp_path / "a.dbdf", da.from_array(a, chunks=(170, 350)) * 2, sync=False)
    m = dp.open(tmp_path / "a.dbdf")
    assert m.grid is not None and np.array_equal(m[:], a * 2)
    s = sp.random_array((1000, 90), density=0.02, format="csr", rng=0)
    x = da.from_array(s, chunks=(300, 90), asarray=False)
    dp.write(tmp_path / "s.dbdf", x, tile=(250, 90), sync=False)
    m = dp.open(tmp_path / "s.dbdf")
    assert abs(m.to_scipy() - s).nnz == 0 and m.nnz == s.nnz
    unknown = da.from_array(a)[da.from_array(a[:, 0]) > 0]
    with pytest.raises(dp.Error, match="compute_chunk_sizes"):
        dp.write(tmp_path / "u.dbdf", unknown)


@pytest.mark.parametrize("chunks", [None, 1])
def test_a_data_array_is_a_matrix(tmp_path, chunks):
    xr = pytest.importorskip("xarray")
    d = xr.DataArray(A, dims=("t", "g"), coords={"t": [5, 6], "g": [1, 2, 3]})
    d = d if chunks is None else d.chunk(chunks)
    dp.write(tmp_path / "m.dbdf", d, sync=False)
    with dp.writer(tmp_path / "w.dbdf", (2, 3), "f8", sync=False) as w:
        w[:] = d
    dp.write(tmp_path / "a.dbdf", A[:1], sync=False)
    dp.append(tmp_path / "a.dbdf", d[1:], sync=False)
    for name in "mwa":
        m = dp.open(tmp_path / f"{name}.dbdf")
        assert isinstance(m, dp.Matrix) and np.array_equal(m[:], A)
    dp.write(tmp_path / "c.dbdf", {"x": d[0], "y": d[1]}, sync=False)
    assert dp.open(tmp_path / "c.dbdf")["y"].tolist() == [3, 4, 5]


def dask_delayed():
    return pytest.importorskip("dask").delayed(A)


def tree():
    xr = pytest.importorskip("xarray")
    return xr.DataTree(xr.Dataset({"a": ("x", [1.0, 2.0])}))


def zarr_group():
    return pytest.importorskip("zarr").group(store={})


class BrokenStream:
    def __arrow_c_stream__(self, requested_schema=None):
        raise RuntimeError("the source is gone")


def annotated():
    return pytest.importorskip("anndata").AnnData(np.eye(3))


def data_set():
    return pytest.importorskip("xarray").Dataset({"a": ("x", [1.0, 2.0])})


def series():
    return pytest.importorskip("pandas").Series([1, 2])


def polars_series():
    return pytest.importorskip("polars").Series([1, 2])


@pytest.mark.parametrize(
    "made, words",
    [
        (dask_delayed, "compute"),
        (tree, "a DataArray of two"),
        (zarr_group, "write one of them"),
        (BrokenStream, "the source is gone"),
        (lambda: np.zeros((2, 2), [("a", "f8")]), "2 dimensions, not 1"),
        (lambda: {"a": "text"}, r"'a' has 0 dimensions \(this str\)"),
        (lambda: [np.ma.masked_equal([1, 2], 2)], "masked cells"),
        (lambda: [[2**63 + 1, -1]], "9223372036854775809 in a list is not exact"),
        (annotated, "write_anndata"),
        (data_set, "to_dataframe"),
        (series, "to_frame"),
        (polars_series, "to_frame"),
        (lambda: [[1, 2], [3]], "rows of one length"),
        (lambda: "hello", "neither a matrix nor a table"),
        (object, "neither a matrix nor a table"),
        (lambda: None, "neither a matrix nor a table"),
        (lambda: iter([1]), "neither a matrix nor a table"),
    ],
)
def test_what_is_neither_says_what_to_pass(tmp_path, made, words):
    given = made()
    calls = [lambda: dp.write(tmp_path / "w.dbdf", given)]
    if not isinstance(given, str):  # which is a path
        calls.append(lambda: dp.append(tmp_path / "a.dbdf", given))
    for call in calls:
        dp.write(tmp_path / "a.dbdf", A, overwrite=True, sync=False)
        with pytest.raises(dp.Error, match=words):
            call()
    assert not os.path.exists(tmp_path / "w.dbdf")


def test_every_table_is_a_table(there):
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": [1, 2], "b": ["x", None]})
    for given in (
        table, table.to_batches()[0], table.to_pandas(), pl.from_arrow(table),
        {"a": [1, 2], "b": ["x", None]}, pd.DataFrame({"a": [1, 2], "b": ["x", None]}),
        pa.RecordBatchReader.from_batches(table.schema, table.to_batches()),
    ):  # fmt: skip
        f = there(given)
        assert f["a"].tolist() == [1, 2] and f["b"].tolist() == ["x", None]


class Query:
    """Gives batches as they are asked for, and notes how many of them were in files by then."""

    def __init__(self, schema, count, make, folder):
        self.schema, self.count, self.make, self.folder = schema, count, make, folder
        self.files = []

    def batches(self):
        for k in range(self.count):
            self.files.append(len(list(self.folder.glob("*/*.dbdf"))))
            yield self.make(k)

    def __arrow_c_stream__(self, requested_schema=None):
        pa = pytest.importorskip("pyarrow")
        reader = pa.RecordBatchReader.from_batches(self.schema, self.batches())
        return reader.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("name", ["w.dbdf", "w.csv.gz", "w.parquet"])
def test_a_query_larger_than_memory_is_written_in_pieces(tmp_path, monkeypatch, name):
    pa = pytest.importorskip("pyarrow")
    (tmp_path / "t").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "t"))
    monkeypatch.setattr(streams, "_PIECE", 10_000)

    def batch(k):
        rows = range(500 * k, 500 * k + 500)
        late = [None if row < 2900 else row for row in rows]
        words = [f"w{row % 700}" for row in rows]
        return pa.record_batch({"i": list(rows), "late": pa.array(late, "i4"), "text": words})

    schema = batch(0).schema.with_metadata({"who": "me"})
    query = Query(schema, 6, lambda k: batch(k).replace_schema_metadata(schema.metadata), tmp_path / "t")
    dp.write(tmp_path / name, query, sync=False)
    if name == "w.parquet":
        dp.convert(tmp_path / name, tmp_path / "p.dbdf", sync=False)
    wanted = pa.Table.from_batches([batch(k) for k in range(6)])
    f = dp.open(tmp_path / name.replace("w.parquet", "p.dbdf"))
    assert f["i"].tolist() == list(range(3000))
    gone = np.nan if name == "w.csv.gz" else None
    late = [gone if row is None else row for row in wanted["late"].to_pylist()]
    np.testing.assert_equal(f["late"].tolist(), late)
    assert f["text"].tolist() == wanted["text"].to_pylist()
    assert f.attrs == ({} if name == "w.csv.gz" else {"who": "me"})
    assert query.files == [0, 0, 2, 3, 4, 5]  # none is written before it is known to be one of many
    assert not list((tmp_path / "t").iterdir())


@pytest.mark.parametrize("name", ["w.dbdf", "w.npy"])
def test_a_query_that_fails_leaves_nothing(tmp_path, monkeypatch, name):
    pa = pytest.importorskip("pyarrow")
    (tmp_path / "t").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "t"))
    monkeypatch.setattr(streams, "_PIECE", 1000)
    one = pa.record_batch({"a": list(range(500))})

    def make(k):
        if k == 3:
            raise ValueError("the connection is closed")
        return one

    with pytest.raises(dp.Error, match="the connection is closed"):
        dp.write(tmp_path / name, Query(one.schema, 5, make, tmp_path / "t"))
    assert [path.name for path in tmp_path.iterdir()] == ["t"]
    assert not list((tmp_path / "t").iterdir())


@pytest.mark.parametrize("name", ["w.dbdf", "w.csv"])
def test_a_query_is_not_asked_where_its_file_may_not_be_written(tmp_path, name):
    pa = pytest.importorskip("pyarrow")
    one = pa.record_batch({"a": [1, 2]})
    query = Query(one.schema, 3, lambda _: one, tmp_path)
    (tmp_path / name).write_bytes(b"old")
    with pytest.raises(dp.ExistsError, match="overwrite=True"):
        dp.write(tmp_path / name, query)
    assert query.files == []
    dp.write(tmp_path / name, query, overwrite=True)
    assert len(query.files) == 3 and dp.open(tmp_path / name).shape == (6, 1)


@pytest.mark.parametrize("index", [None, "name"])
def test_dask_frames_are_written_partition_by_partition(tmp_path, index):
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    t = pd.DataFrame({"a": range(9), "b": list("abcabcabd"), "name": [f"n{k}" for k in range(9)]})
    t = t if index is None else t.set_index(index)
    dp.write(tmp_path / "w.dbdf", dd.from_pandas(t, npartitions=3), sync=False)
    pd.testing.assert_frame_equal(dp.open(tmp_path / "w.dbdf").to_pandas(), t, check_dtype=False)
    dp.append(tmp_path / "w.dbdf", dd.from_pandas(t, npartitions=2), sync=False)
    assert len(dp.open(tmp_path / "w.dbdf")) == 18
    dp.dataset.append(tmp_path / "s", dd.from_pandas(t, npartitions=2), sync=False)
    assert dp.open(tmp_path / "s")["a"].tolist() == list(range(9))


@pytest.mark.parametrize("dtype", ["<f2", ">f2", ">i4", ">u8", ">f8"])
def test_cells_of_either_byte_order(tmp_path, dtype):
    dp.write(tmp_path / "m.dbdf", A.astype(dtype), sync=False)
    assert np.array_equal(dp.open(tmp_path / "m.dbdf")[:], A)


@pytest.mark.parametrize("form", ["COO", "GCXS", "DOK"])
@pytest.mark.parametrize("fill", [0, 1])
def test_arrays_of_sparse_are_matrices(tmp_path, form, fill):
    sparse = pytest.importorskip("sparse")
    x = sparse.COO.from_numpy(A, fill_value=fill).asformat(form.lower())
    dp.write(tmp_path / "m.dbdf", x, sync=False)
    da = pytest.importorskip("dask.array")
    chunks = da.from_array(A, chunks=1).map_blocks(lambda b: sparse.COO(b, fill_value=fill))
    dp.write(tmp_path / "d.dbdf", chunks, sync=False)
    for name in "md":
        m = dp.open(tmp_path / f"{name}.dbdf")
        assert m.dtype == A.dtype and np.array_equal(m[:], A)


def test_positions_outside_of_sparse_arrays_are_refused(tmp_path):
    sp = pytest.importorskip("scipy.sparse")
    cells = np.zeros((6, 4))
    cells[1, 2], cells[3, 0], cells[5, 3] = 1, 2, 3

    def broken(form, part, at, value):
        x = sp.csr_array(cells).asformat(form)
        getattr(x, part)[at] = value
        return x

    coo = sp.coo_array(cells)
    coo.coords[1][0] = 4
    low = sp.coo_array(cells)
    low.coords[0][0] = -1
    for x in (
        broken("csr", "indices", 0, 4), broken("csr", "indices", 0, -1),
        broken("csr", "indptr", 1, 3), broken("csr", "indptr", -1, 2**30),
        broken("csc", "indices", 0, 6), broken("csc", "indices", 0, -(2**20)),
        broken("csc", "indptr", 1, 2**30), broken("bsr", "indices", 0, 2**20), coo, low,
    ):  # fmt: skip
        with pytest.raises(dp.Error, match=r"positions|outside"):
            dp.write(tmp_path / "x.dbdf", x, sync=False)
        assert not (tmp_path / "x.dbdf").exists()
    for form in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok"):
        name = tmp_path / f"{form}.dbdf"
        dp.write(name, sp.csr_array(cells).asformat(form), sync=False)
        assert np.array_equal(dp.open(name)[:], cells)


def test_sparse_booleans_are_cells_as_dense_ones_are(tmp_path):
    sp = pytest.importorskip("scipy.sparse")
    for name, x in {"d": A > 2, "s": sp.csr_array(A > 2)}.items():
        dp.write(tmp_path / f"{name}.dbdf", x, sync=False)
        m = dp.open(tmp_path / f"{name}.dbdf")
        assert m.dtype == "u1" and np.array_equal(m[:], A > 2)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork")
def test_a_writer_refuses_in_a_forked_child(tmp_path):
    x = np.random.default_rng(0).standard_normal((4000, 512)).astype("f4")
    path = tmp_path / "c.dbdf"
    w = dp.writer(path, x.shape, "f4", sync=False)
    for tries in ("put", "finish", "abort"):
        pid = os.fork()
        if pid == 0:
            try:
                if tries == "put":
                    w[0:2000, :] = x[:2000]
                elif tries == "finish":
                    w.finish()
                else:
                    w.abort()
                    os._exit(3)
            except dp.Error as error:
                os._exit(3 if "concat" in str(error) else 4)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3, tries
    w[:] = x
    w.finish()
    assert np.array_equal(dp.open(path)[:], x) and not dp.verify(path, payload=True).findings
    import pickle

    with dp.writer(tmp_path / "p.dbdf", (1, 1), "f4") as w, pytest.raises(dp.Error, match="concat"):
        pickle.dumps(w)
