"""Data sets: parts that many write, opened as one."""

import errno
import pickle
import re
import tempfile

import numpy as np
import pandas as pd
import pytest
from opened import opened_in

import pydapple as dp
from pydapple import dataset, streams

CELLS = np.arange(120 * 70, dtype="f8").reshape(120, 70) % 251


def parts_of(folder, cells, rows, cols, **options):
    return [
        dataset.write_part(folder, cells[r : r + rows, c : c + cols], at=(r, c), **options)
        for r in range(0, cells.shape[0], rows)
        for c in range(0, cells.shape[1], cols)
    ]


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


def test_a_frame_of_parts(tmp_path):
    tables = [
        pd.DataFrame(
            {
                "who": pd.Categorical([f"w{(i * k) % 300}" for i in range(400)]),
                "when": pd.date_range(f"2026-0{k}-01", periods=400, freq="min"),
                "x": np.arange(400) / k,
            }
        )
        for k in (1, 2, 3)
    ]
    for table in tables:
        dataset.append(tmp_path, table, sync=False)
    got = dp.open(tmp_path).to_pandas()
    want = pd.concat([t.astype({"who": str}) for t in tables], ignore_index=True)
    assert got["who"].astype(str).tolist() == want["who"].tolist()
    assert got["when"].tolist() == want["when"].tolist()
    assert got["x"].tolist() == want["x"].tolist()


def test_words_of_many_parts_in_one_commit(tmp_path):
    """Parts that know the same words, fewer, others, those of before and more, in any order."""
    rng = np.random.default_rng(5)
    folder, all_words, rows = tmp_path / "set", [], 0
    for commit in range(4):
        parts = []
        for part in range(12):
            known = list(dict.fromkeys(word for word in all_words if word))
            words = {
                0: [*known[:7], f"after {commit} {part}"],
                1: known[::-1][:9] or ["first"],
                2: [f"word {k}" for k in rng.integers(0, 60, 20)],
                3: [*known, f"next {part}", None],
            }[part % 4]
            one = pd.DataFrame({"w": pd.array(words, "string")})
            parts.append(dp.dataset.write_part(folder, one, at=(rows, 0)))
            all_words += words
            rows += len(words)
        dp.dataset.commit(folder, parts)
        assert dp.open(folder)["w"].tolist() == all_words


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


def test_a_stream_is_one_part_written_in_pieces(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    (tmp_path / "t").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "t"))
    monkeypatch.setattr(streams, "_PIECE", 1000)
    files = []

    def batches(fails=False):
        for k in range(6):
            if fails and k == 4:
                raise ValueError("the connection is closed")
            files.append(len(list((tmp_path / "t").rglob("*.dbdf"))))
            rows = range(500 * k, 500 * k + 500)
            late = pa.array([None if row > 2900 else row for row in rows], "i4")
            yield pa.record_batch({"i": list(rows), "late": late, "w": [f"w{row % 700}" for row in rows]})

    def stream(**options):
        return pa.RecordBatchReader.from_batches(next(batches()).schema, batches(**options))

    wanted = pa.Table.from_batches(list(batches())).to_pydict()
    files.clear()
    for times in (1, 2):
        state = dataset.append(tmp_path / "d", stream(), sync=False)
        assert state.shape == (3000 * times, 3) and state.parts == times
        with dp.open(tmp_path / "d") as whole:
            assert {label: whole[label].tolist() for label in whole.columns} == {k: times * v for k, v in wanted.items()}
    assert files == 2 * [0, 0, 0, 2, 3, 4, 5]  # one batch for the schema, and two before there are several
    with pytest.raises(dp.Error, match="the connection is closed"):
        dataset.append(tmp_path / "d", stream(fails=True), sync=False)
    assert len(list((tmp_path / "d").glob("part-*"))) == 2 and not list((tmp_path / "t").iterdir())


def test_a_part_that_is_gone_is_a_file_that_is_not_found(tmp_path):
    dp.dataset.append(tmp_path / "d", np.ones((4, 4)), sync=False)
    next((tmp_path / "d").glob("part-*")).unlink()
    with pytest.raises(FileNotFoundError, match=r"part-.*; it is a part of the data set") as failed:
        dp.open(tmp_path / "d")[:]
    assert isinstance(failed.value, dp.Error) and failed.value.errno == errno.ENOENT


def test_columns_are_converted_to_what_the_set_holds_where_that_loses_nothing(tmp_path):
    first = pd.DataFrame({
        "t": np.array(["2020-01-01", "2262-01-01"], "M8[us]"), "d": np.array([1, 2], "m8[s]"),
        "i": np.array([1, 2], "i4"), "f": np.array([0.5, 1.5]), "n": pd.array([1, None], "Int64"),
        "s": ["a", "b"], "b": pd.array([True, None], "boolean"),
    })  # fmt: skip
    fits = {
        "t": [np.array(["1969-12-31T23:59:59", "NaT"], f"M8[{unit}]") for unit in ("s", "ms", "ns")]
        + [[None, None]],
        "d": [np.array([3000, "NaT"], "m8[ms]"), np.array([-5, 7], "m8[D]").astype("m8[ns]")],
        "i": [np.array([-5, 2**31 - 1]), np.array([7, 8], "u8"), pd.array([3, 4], "Int64"), [np.nan, np.nan]],
        "f": [np.array([3, -(2**53)]), np.array([0.25, np.nan], "f4")],
        "n": [pd.array([-(2**63) + 1, None], "Int64"), np.array([5, 6], "u1"), [None, None], pd.array([9, None], "UInt8")],
        "b": [np.array([False, True]), [None, None]],
    }  # fmt: skip
    for label, columns in fits.items():
        for k, column in enumerate(columns):
            folder = tmp_path / f"{label}{k}"
            second = first.assign(**{label: column})
            dataset.append(folder, first, sync=False)
            dataset.append(folder, second, sync=False)
            made = dp.open(folder).to_pandas()[label]
            nullable = {"int32": "Int32"} if made.isna().any() else {}
            assert made.dtype == nullable.get(str(first[label].dtype), first[label].dtype), (label, k)
            wanted = pd.concat([first[label].astype(object), second[label].astype(object)])
            assert made.isna().tolist() == wanted.isna().tolist()
            assert made.dropna().tolist() == wanted.dropna().tolist()
    refused = {
        "t": [np.array([1, 2], "M8[ns]"), np.array([2**62, 2], "M8[s]")], "d": [np.array([1, 2], "m8[ms]")],
        "i": [np.array([1, 2**31]), np.array([1.0, 2.0]), pd.array([1, 2**31, None][1:], "Int64")],
        "f": [np.array([1, 2**53 + 1])], "n": [pd.array([-(2**63), None], "Int64"), np.array([2**63], "u8").repeat(2)],
    }  # fmt: skip
    dataset.append(tmp_path / "set", first, sync=False)
    for label, columns in refused.items():
        for column in columns:
            with pytest.raises(dp.Error, match=f"column '{label}'"):
                dataset.append(tmp_path / "set", {**dict(first), label: column}, sync=False)
    assert dp.open(tmp_path / "set").shape == (2, 7)


def test_an_index_of_words_is_kept_and_other_names_are_told(tmp_path):
    t = pd.DataFrame({"a": [1, 2, 3, 4]}, index=pd.Index(["p", "q", "r", "p"], name="who"))
    for part in (t[:1], t[1:3], t[3:]):
        dataset.append(tmp_path / "words", part, sync=False)
    pd.testing.assert_frame_equal(
        dp.open(tmp_path / "words").to_pandas(), t, check_index_type=False
    )
    dataset.append(tmp_path / "plain", t.reset_index(drop=True), sync=False)
    with pytest.warns(UserWarning, match="no names of rows"):
        dataset.append(tmp_path / "plain", t, sync=False)
    assert dp.open(tmp_path / "plain")["a"].tolist() == [1, 2, 3, 4] * 2
    dp.write(tmp_path / "m.dbdf", CELLS[:2], row_names=["p", "q"])
    with (
        dp.open(tmp_path / "m.dbdf") as m,
        pytest.warns(UserWarning, match="no names of rows"),
    ):
        dataset.append(tmp_path / "cells", m, sync=False)
    with pytest.warns(UserWarning, match="no names of rows"):
        dataset.append(tmp_path / "cells", CELLS[:2], row_names=["p", "q"], sync=False)


def test_cells_that_are_the_mark_of_missing_ones_are_refused(tmp_path):
    for dtype, mark, wider in (
        ("UInt8", 255, "UInt16"),
        ("Int64", -(2**63), "Float64"),
    ):
        folder = tmp_path / dtype
        dp.dataset.append(folder, pd.DataFrame({"x": pd.array([1, None], dtype)}))
        for cells in (np.array([mark, 7], dtype.lower()), pd.array([mark, 7], dtype)):
            with pytest.raises(dp.InvalidArgumentError, match=f"holds {mark}, .*'{wider}'"):
                dp.dataset.append(folder, pd.DataFrame({"x": cells}))
        dp.dataset.append(folder, pd.DataFrame({"x": np.array([3], dtype.lower())}))
        assert dp.open(folder)["x"].tolist() == [1, None, 3]


def test_errors_about_marks_say_what_helps(tmp_path):
    """Int8 that holds both of its ends, and missing cells, is one part's own way to mark them."""
    first = pd.DataFrame({"x": pd.array([-128, None, 1], "Int8")})
    second = pd.DataFrame({"x": pd.array([127, None, -127], "Int8")})
    dataset.append(tmp_path / "a", first, sync=False)
    with pytest.raises(dp.InvalidArgumentError, match=r"holds 127, .*as Int16") as error:
        dataset.append(tmp_path / "a", second, sync=False)
    advice = re.search(r"df(\.astype\(.*\))", str(error.value))[1]
    dataset.append(tmp_path / "b", eval(f"dp.open(tmp_path / 'a').to_pandas(){advice}"), sync=False)
    dataset.append(tmp_path / "b", eval(f"second{advice}"), sync=False)
    assert dp.open(tmp_path / "b")["x"].tolist() == [-128, None, 1, 127, None, -127]
    dataset.append(tmp_path / "c", {"x": np.array([-128, 127], "i1")}, sync=False)
    with pytest.raises(dp.InvalidArgumentError, match=r"holds -128, which marks missing cells in .*part-.*; make") as error:
        dataset.append(tmp_path / "c", second, sync=False)
    assert len(list((tmp_path / "c").glob("part-*"))) == 1 and error.value.file in map(str, (tmp_path / "c").glob("part-*"))


def test_integers_may_be_missing_from_a_later_part_on(tmp_path):
    pa = pytest.importorskip("pyarrow")
    low = np.iinfo("i8").min
    for k, gone in enumerate(([None, None], [np.nan, np.nan], pd.array([None, 3], "Int8"), pa.array([7, None]))):
        folder = tmp_path / str(k)
        for cells in ([1, 2], [3, 4], [low + 1, 5]):
            dataset.append(folder, {"x": np.array(cells), "y": np.ones(2)}, sync=False)
        before = dp.open(folder)
        dataset.append(folder, {"x": gone, "y": np.ones(2)}, sync=False)
        dataset.append(folder, {"x": np.array([6, 7]), "y": np.ones(2)}, sync=False)
        later = pd.array(gone.to_pylist() if k == 3 else gone, "Int64").tolist()
        wanted = [1, 2, 3, 4, low + 1, 5, *[None if pd.isna(one) else one for one in later], 6, 7]
        with dp.open(folder) as f:
            assert f["x"].tolist() == wanted
            assert f.where("x missing").tolist() == [r for r, one in enumerate(wanted) if one is None]
            assert f.stats()["x"].nans == wanted.count(None)
        assert before["x"].dtype == np.int64 and before["x"].tolist() == wanted[:6]
        with pytest.raises(dp.InvalidArgumentError, match=f"holds {low}, which marks missing cells in the data set"):
            dataset.append(folder, {"x": np.array([low, 1]), "y": np.ones(2)}, sync=False)


def test_no_cell_of_a_part_before_becomes_missing(tmp_path):
    pa = pytest.importorskip("pyarrow")
    low = np.iinfo("i8").min
    parts = [dataset.write_part(tmp_path, {"x": cells}, at=(2 * k, 0), sync=False)
             for k, cells in enumerate(([1, low], [3, 4], pa.array([5, None])))]  # fmt: skip
    for given in (parts, parts[:1], parts[1:]):  # of one commit, and of one after the other
        words = f"{parts[0].name}: column 'x' holds {low}, which marks missing cells in .*{parts[2].name}"
        if parts[0] in given and parts[2] not in given:
            dataset.commit(tmp_path, given, sync=False)
            continue
        with pytest.raises(dp.InvalidArgumentError, match=words):
            dataset.commit(tmp_path, given, sync=False)
    assert dp.open(tmp_path)["x"].tolist() == [1, low]


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
