"""Data sets: parts that many write, opened as one."""

import errno
import os
import pickle

import numpy as np
import pandas as pd
import pytest
from opened import opened_in

import pydapple as dp
from pydapple import dataset

CELLS = np.arange(120 * 70, dtype="f8").reshape(120, 70) % 251


def parts_of(folder, cells, rows, cols, **options):
    return [
        dataset.write_part(folder, cells[r : r + rows, c : c + cols], at=(r, c), **options)
        for r in range(0, cells.shape[0], rows)
        for c in range(0, cells.shape[1], cols)
    ]


def test_no_folder_of_a_collection_becomes_a_data_set(tmp_path):
    collection = dp.write_collection(tmp_path / "c.dds", {"X": np.eye(2)})
    for folder in ("c.dds", "c.dds/", "c.dds/Y", "d.dds"):
        for put in (dp.dataset.append, dp.dataset.write_part, dp.dataset.create):
            with pytest.raises(dp.InvalidArgumentError, match=r"\.dds are coll|\.dbdf: .*c\.dds/Y\.dbdf"):
                put(tmp_path / folder, collection["X"])
    assert os.listdir(tmp_path) == ["c.dds"] and list(dp.open(tmp_path / "c.dds")) == ["X"]
    dp.dataset.append(tmp_path / "c.dds/Y.dbdf", np.eye(2))
    assert dp.index(tmp_path / "c.dds/Y", columns=True).endswith("c.dds/Y.dbdf/dataset-1.dpc")
    assert dp.open(tmp_path / "c.dds/Y").column_copy == "fresh"


def test_parts_are_one_matrix(tmp_path):
    folder = tmp_path / "set"
    parts = parts_of(folder, CELLS, 40, 35, sync=False)
    sent = [pickle.loads(pickle.dumps(part)) for part in parts]
    state = dataset.commit(folder, sent, whole=True)
    assert (state.number, state.shape, state.parts) == (1, (120, 70), 6)
    m = dp.open(folder)
    assert np.array_equal(m[:], CELLS)
    assert np.array_equal(m[39:81:7, ::-1], CELLS[39:81:7, ::-1])
    assert m.chunks == (40, 35)
    assert m.stats().sum == CELLS.sum()
    assert np.array_equal(m.tile(1, 1), CELLS[40:80, 35:])


def test_more_parts_than_stay_open_are_opened_once_for_all_columns(tmp_path):
    folder, rows = tmp_path / "set", 700
    parts = [
        dataset.write_part(
            folder, {"n": [k], "x": [k / 2], "w": [f"w{k % 9}"], "v": [f"v{k % 7}"], "b": [k % 2 == 0]},
            at=(k, 0), sync=False,
        )
        for k in range(rows)
    ]  # fmt: skip
    dataset.commit(folder, parts, sync=False)
    got = []
    for read in (
        lambda f: f.to_pandas(), lambda f: f.to_arrow().to_pandas(), lambda f: f.to_pandas(np.arange(rows)[::-3]),
        lambda f: f.read((3, rows - 2), ["n", "w", "x"]),
        lambda f: f.where('w == "w4" and v == "v4" and n < 600 and b == true'),
    ):  # fmt: skip
        f = dp.open(folder)
        assert opened_in(folder, lambda read=read, f=f: got.append(read(f)), "part-") <= rows
    table = got[0]
    assert table.x.tolist() == [k / 2 for k in range(rows)] and table.w.tolist() == [f"w{k % 9}" for k in range(rows)]
    assert got[1].v.tolist() == table.v.tolist() == [f"v{k % 7}" for k in range(rows)]
    assert got[2].w.tolist() == table.w.tolist()[::-3] and got[3]["w"].tolist() == table.w.tolist()[3:-2]
    assert got[4].tolist() == table.index[(table.w == "w4") & (table.v == "v4") & (table.n < 600) & table.b].tolist()
    assert 4 in got[4]


def test_sparse_rows_at_random(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    whole = sparse.random_array((500, 300), density=0.05, format="csr", rng=7)
    for row in range(0, 500, 100):
        dataset.append(tmp_path, whole[row : row + 100], sync=False)
    m = dp.open(tmp_path)
    picks = [499, 0, 100, 99, 250, 250]
    assert abs(m.sparse[picks] - whole[picks]).nnz == 0
    assert abs(m.to_scipy() - whole).nnz == 0


def test_a_pickle_is_of_one_state(tmp_path):
    dataset.append(tmp_path, CELLS[:50], sync=False)
    m = dp.open(tmp_path)
    sent = pickle.dumps(m)
    dataset.append(tmp_path, CELLS[50:], sync=False)
    assert pickle.loads(sent).shape == (50, 70)
    assert m.shape == (50, 70)
    assert np.array_equal(dp.open(tmp_path)[:], CELLS)
    assert np.array_equal(dp.open(tmp_path / "dataset-1")[:], CELLS[:50])


def test_overlaps_and_other_types_are_refused(tmp_path):
    dataset.commit(tmp_path, parts_of(tmp_path, CELLS, 60, 70, sync=False))
    late = dataset.write_part(tmp_path, CELLS[:2, :2], at=(59, 69), sync=False)
    with pytest.raises(dp.InvalidArgumentError, match="R3"):
        dataset.commit(tmp_path, [late])
    with pytest.raises(dp.InvalidArgumentError, match="value type"):
        dataset.append(tmp_path, np.ones((2, 70), dtype="i8"), sync=False)
    with pytest.raises(dp.InvalidArgumentError, match="part-"):
        dataset.commit(tmp_path, [late._replace(name="../../etc/passwd")])
    assert np.array_equal(dp.open(tmp_path)[:], CELLS)


def test_append_takes_a_place_and_removes_what_is_refused(tmp_path):
    dataset.append(tmp_path, CELLS[:, :35], sync=False)
    parts = sorted(tmp_path.glob("part-*"))
    with pytest.raises(dp.InvalidArgumentError, match="R3") as told:
        dataset.append(tmp_path, CELLS[:, 35:], at=(0, 34), sync=False)
    assert told.value.file == str(tmp_path)  # not that of the part, which is gone
    with pytest.raises(dp.InvalidArgumentError, match="value type"):
        dataset.append(tmp_path, np.ones((2, 35), dtype="i8"), sync=False)
    assert sorted(tmp_path.glob("part-*")) == parts
    state = dataset.append(tmp_path, CELLS[:, 35:], at=(0, 35), sync=False)
    assert (state.number, state.shape, state.parts) == (2, (120, 70), 2)
    assert np.array_equal(dp.open(tmp_path)[:], CELLS)


def test_compact_collect_log(tmp_path):
    for row in range(0, 120, 10):
        dataset.append(tmp_path, CELLS[row : row + 10], sync=False)
    seen = []
    state = dataset.compact(tmp_path, sync=False, progress=lambda *told: seen.append(told))
    assert seen[-1] == (120, 120)
    assert (state.parts, state.action) == (1, "compact")
    assert [one.number for one in dataset.log(tmp_path)] == list(range(1, 14))
    assert dataset.collect(tmp_path) == (0, 0, 0)
    removed = dataset.collect(tmp_path, grace=0)
    assert (removed.states, removed.parts) == (12, 12)
    assert np.array_equal(dp.open(tmp_path)[:], CELLS)
    dataset.append(tmp_path, CELLS[:10], sync=False)
    (tmp_path / "dataset-13").write_bytes(b"DPL-DSET")
    with pytest.warns(UserWarning, match="dataset-13: corrupt"):
        assert [one.number for one in dataset.log(tmp_path)] == [14, 15]


def test_dask_arrays_are_stored_by_chunks(tmp_path):
    da = pytest.importorskip("dask.array")
    x = da.from_array(CELLS, chunks=((50, 50, 20), (30, 40)))
    state = dataset.store(x + 1, tmp_path, sync=False)
    assert state.parts == 6
    m = dp.open(tmp_path)
    assert np.array_equal(m[:], CELLS + 1)
    assert float(m.to_dask().sum().compute()) == (CELLS + 1).sum()
    # Chunks that are not aligned with what is there are refused, and change nothing.
    with pytest.raises(dp.InvalidArgumentError, match="R3"):
        dataset.store(x, tmp_path, at=(25, 0), sync=False)
    assert len(dataset.log(tmp_path)) == 1
    dataset.store(x, tmp_path, at=(120, 0), sync=False)
    assert np.array_equal(dp.open(tmp_path)[120:], CELLS)
    with pytest.raises(dp.InvalidArgumentError, match="known sizes"):
        dataset.store(x[x[:, 0] > 3], tmp_path)


def test_chunks_that_are_aligned_with_nothing_are_right(tmp_path):
    # The program of dask/dask#12583, whose to_zarr() with chunks or shards gives other cells.
    da = pytest.importorskip("dask.array")
    a = da.arange(100).reshape((10, 10)).rechunk((2, 2))
    dataset.store(a, tmp_path / "1", sync=False)
    dataset.store(a, tmp_path / "2", tile=(4, 4), sync=False)
    dataset.store(a, tmp_path / "3", tile=(3, 1), sync=False)
    for name in "123":
        assert bool((a == dp.open(tmp_path / name).to_dask(chunks=(3, 7))).all().compute())
    # Chunks of another size, below and beside what is there.
    dataset.store(a.rechunk((3, 7)), tmp_path / "2", at=(10, 0), sync=False)
    dataset.store(a.rechunk((7, 4)), tmp_path / "2", at=(0, 10), sync=False)
    m = dp.open(tmp_path / "2")
    assert np.array_equal(m[10:, :10], a.compute())
    assert np.array_equal(m[:10, 10:], a.compute())
    with pytest.raises(dp.InvalidArgumentError, match=r"shares cells with part .*\(R3\)"):
        dataset.store(a, tmp_path / "2", at=(9, 9), sync=False)


def test_dask_frames_are_stored_by_partitions(tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    table = pd.DataFrame({"a": np.arange(100), "b": [f"t{i % 7}" for i in range(100)]})
    dataset.store(dd.from_pandas(table, npartitions=4), tmp_path, sync=False)
    got = dp.open(tmp_path).to_pandas()
    assert got["a"].tolist() == table["a"].tolist()
    assert got["b"].astype(str).tolist() == table["b"].tolist()


def test_a_part_that_is_gone_is_a_file_that_is_not_found(tmp_path):
    dp.dataset.append(tmp_path / "d", np.ones((4, 4)), sync=False)
    next((tmp_path / "d").glob("part-*")).unlink()
    with pytest.raises(FileNotFoundError, match=r"part-.*; it is a part of the data set") as failed:
        dp.open(tmp_path / "d")[:]
    assert isinstance(failed.value, dp.Error) and failed.value.errno == errno.ENOENT


def test_a_part_that_fails_leaves_nothing(tmp_path):
    wrong = [
        lambda folder: dataset.append(folder, np.eye(3) * 1j),
        lambda folder: dataset.append(folder, {"a": [1, "x"]}),
        lambda folder: dataset.write_part(folder, np.eye(3), at=(2**64 - 1, 0)),
        lambda folder: dataset.create(folder, "m.dbdf"),
        lambda folder: dataset.store(np.eye(3), folder),
    ]
    for call in wrong:
        with pytest.raises(dp.Error):
            call(tmp_path / "set")
        assert not (tmp_path / "set").exists()
    dataset.append(tmp_path / "set", np.eye(3))
    before = sorted(tmp_path.rglob("*"))
    for call in wrong[:3]:
        with pytest.raises(dp.Error):
            call(tmp_path / "set")
    assert sorted(tmp_path.rglob("*")) == before


def test_what_is_no_folder_and_what_is_no_part(tmp_path):
    dp.write(tmp_path / "m.dbdf", np.eye(3))
    with pytest.raises(dp.InvalidArgumentError, match="is a file, and a data set is a folder"):
        dataset.append(tmp_path / "m.dbdf", np.eye(3))
    dataset.append(tmp_path / "rows", np.eye(3))
    with pytest.raises(dp.UnsupportedError, match=r"pydapple\.dataset\.append"):
        dp.append(tmp_path / "rows", np.eye(3))
    with pytest.raises(dp.InvalidArgumentError, match="of format dataset, holds a single object"):
        dp.open(tmp_path / "rows", array="X")
    with pytest.raises(dp.Error, match="cannot make the folder"):
        dataset.append("/proc/none", np.eye(3))
    with pytest.raises(dp.TypeMismatchError, match="parts are what write_part gave"):
        dataset.commit(tmp_path / "set", ["part-1"])
    part = dataset.write_part(tmp_path / "set", np.eye(3))
    assert dataset.commit(tmp_path / "set", part).shape == (3, 3)


def test_spark_reads_frames_without_rows_and_labels_that_repeat(tmp_path):
    pytest.importorskip("pyspark.sql.datasource")  # whose tasks alone need Java
    pa = pytest.importorskip("pyarrow")
    from pydapple.spark import Dapple

    def read(table):
        dp.write(tmp_path / "f.dbdf", table, overwrite=True)
        source = Dapple({"path": str(tmp_path / "f.dbdf")})
        reader = source.reader(source.schema())
        assert reader.partitions()  # without any, Spark asks for rows of None
        return [row for part in reader.partitions() for b in reader.read(part) for row in b.to_pylist()]

    assert read(pa.table({"a": pa.array([], "i4")})) == []
    twice = pa.table([pa.array([1, None]), pa.array(["x", "y"])], ["a", "a"])
    assert read(twice) == [{"a": 1, "a.1": "x"}, {"a": None, "a.1": "y"}]
    with pytest.raises(dp.TypeMismatchError, match=r"does not fit Spark: .*lose data"):
        read(pa.table({"t": pa.array([1], pa.timestamp("ns"))}))
    with pytest.raises(ValueError, match="no path"):
        Dapple({}).schema()


def test_ray_reads_labels_that_repeat_and_writes_a_column_called_data(tmp_path):
    pytest.importorskip("ray.data")
    pa = pytest.importorskip("pyarrow")
    from pydapple.ray_data import DappleDatasink, DappleDatasource

    dp.write(tmp_path / "f.dbdf", pa.table([pa.array([1]), pa.array(["x"])], ["a", "a"]))
    (task,) = DappleDatasource(tmp_path / "f.dbdf").get_read_tasks(1)
    assert [block.to_pylist() for block in task()] == [[{"a": 1, "a.1": "x"}]]

    class Task:
        task_idx = 0

    table = pa.table({"data": [1.5, None]})
    sink = DappleDatasink(tmp_path / "set")
    _, parts = sink.write([table], Task())
    dp.dataset.commit(tmp_path / "set", parts)
    assert dp.open(tmp_path / "set").to_arrow().equals(table)
