"""Collections: members by name, shared axes, and one file of them. NumPy and pandas are the oracle."""

import json
import pickle
import threading
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import pydapple as dp
from pydapple import collection
from pydapple.member_names import escaped, unescaped

CELLS = ["c0", "c1", "c2", "c3"]
X = sp.csr_array(np.array([[1.0, 0, 0], [0, 2, 0], [0, 0, 0], [4, 0, 5]]))
OBS = pd.DataFrame(
    {"cell_type": pd.Categorical(["B", "T", "B", "B"]), "n_genes": [600, 700, 400, 501]}, index=CELLS
)
VAR = pd.DataFrame({"mt": [True, False, False]}, index=["g0", "g1", "g2"])


def members():
    return {
        "X": X, "obs": OBS, "var": VAR, "layers/counts": X * 2,
        "obsm/X_pca": np.arange(8.0).reshape(4, 2) / 7, "uns": {"run": 12, "who": ["Ann"]},
    }  # fmt: skip


@pytest.fixture
def pbmc(tmp_path):
    return dp.write_collection(tmp_path / "pbmc.dds", members())


def test_members_come_back(pbmc):
    with dp.open(pbmc.path) as c:
        assert isinstance(c, dp.Collection)
        assert list(c) == sorted(members()) and len(c) == 6
        assert "obs" in c and "obsp/x" not in c and 3 not in c
        np.testing.assert_array_equal(c["X"][:], X.toarray())
        np.testing.assert_array_equal(c["layers/counts"].to_scipy().toarray(), 2 * X.toarray())
        pd.testing.assert_frame_equal(c["obs"].to_pandas(), OBS, check_index_type=False)
        assert c["uns"] == members()["uns"]
        assert c["X"] is c["X"]
        assert c.axes["layers/counts"] == ("obs", "var") and c.axes["obsm/X_pca"] == ("obs", None)
        assert "obsm/X_pca     4 x 2, float64" in repr(c)
        with pytest.raises(KeyError, match=r"no member 'Y'; there are X, layers/counts"):
            c["Y"]


def test_a_folder_is_not_listed_for_each_member(tmp_path, monkeypatch):
    listed, find = [], collection.Place.find
    monkeypatch.setattr(collection.Place, "find", lambda at: listed.append(at) or find(at))
    names = [f"tables/{k}" for k in range(20)]
    c = dp.write_collection(tmp_path / "many.dds", {name: X for name in names})
    assert len(listed) < 8
    assert all(name in c and c[name].shape == X.shape for name in names) and "collection" not in c
    assert len(listed) < 10
    c.declare({"tables/3": ("obs", None)})
    assert c._axes_of("tables/3") == ("obs", None) and c._axes_of("tables/4") == (None, None)
    (tmp_path / "many.dds/collection.json").unlink()  # as folders that others made have none
    (tmp_path / "many.dds/uns").mkdir()
    for k in range(20):
        (tmp_path / f"many.dds/uns/{k}.json").write_text(f'{{"k": {k}}}')
    c = dp.open(c.path)
    assert all(c[name].shape == X.shape for name in names)
    assert [c[f"uns/{k}"] for k in range(20)] == [{"k": k} for k in range(20)]
    assert len(listed) < 15
    (tmp_path / "many.dds/uns/20.json").write_text('{"k": 20}')
    assert c["uns/20"] == {"k": 20}


def test_members_that_fit_are_not_opened_for_each_that_is_put(tmp_path, monkeypatch):
    looks, files = [], collection.Collection._files
    monkeypatch.setattr(collection.Collection, "_files", lambda c: looks.append(c) or files(c))
    tables = {f"layers/{k}": X for k in range(20)}
    tables |= {f"obsm/{k}": np.ones((4, 2)) for k in range(20)}
    c = dp.write_collection(tmp_path / "many.dds", tables)
    assert len(looks) < 8
    for _ in range(3):
        for name, data in tables.items():
            c.put(name, data)
    assert len(looks) < 12
    with pytest.raises(dp.InvalidArgumentError, match="has 3 rows, and the axis 'obs' has 4"):
        c["obsp/a"] = np.ones((3, 3))
    for name in tables:  # another one takes them away
        (tmp_path / "many.dds" / f"{name}.dbdf").unlink()
    c["obsp/a"] = np.ones((3, 3))
    with pytest.raises(dp.InvalidArgumentError, match="as obsp/a says"):
        c["layers/0"] = X


def test_one_file_is_listed_once(tmp_path, pbmc, monkeypatch):
    packed = dp.pack_collection(pbmc.path, tmp_path / "pbmc.zip")
    c = dp.open(packed)
    monkeypatch.setattr(collection.files, "open", None)  # which would list it
    assert c["X"].path == packed and c["X"][3, 2] == 5 and "obs" in c and "uns" in c
    monkeypatch.undo()
    assert pickle.loads(pickle.dumps(c["X"]))[3, 2] == 5
    dp.pack_collection(pbmc.path, tmp_path / "new.zip")
    (tmp_path / "new.zip").replace(packed)
    assert c["X"][3, 2] == 5 and c["layers/counts"][3, 2] == 10  # as it was when it was opened
    with pytest.raises(dp.StaleError):
        pickle.dumps(c["layers/counts"])


def test_rows_by_a_condition_on_obs(pbmc):
    rows = pbmc.rows_where("cell_type == 'B' and n_genes > 500")
    assert rows.tolist() == np.flatnonzero((OBS.cell_type == "B") & (OBS.n_genes > 500)).tolist()
    np.testing.assert_array_equal(pbmc["X"].sparse[rows].toarray(), X.toarray()[rows])


def test_rows_of_frames_name_the_rows_and_columns_of_matrices(pbmc):
    assert pbmc["X"].row_names == CELLS and pbmc["X"].col_names == list(VAR.index)
    assert pbmc["X"]["c3", "g2"] == 5 and pbmc["X"].cols["g0"].tolist() == [1, 0, 0, 4]
    assert pbmc["obsm/X_pca"].rows["c1"].tolist() == [2 / 7, 3 / 7] and pbmc["obsm/X_pca"].col_names is None
    pbmc["other"] = np.eye(2)
    assert pbmc["other"].row_names is None
    pbmc["layers/named"] = dp.open(f"{pbmc.path}/X.dbdf")
    assert pbmc["layers/named"].row_names == CELLS


def test_a_matrix_that_is_opened_by_its_path_has_the_names_of_its_axes(pbmc, tmp_path):
    packed, made = dp.pack_collection(pbmc.path, tmp_path / "pbmc.zip"), tmp_path / "m.dbdf"
    for path in (pbmc.path, packed):
        for m in (dp.open(f"{path}/layers/counts"), dp.open(path, array="layers/counts")):
            assert m.row_names == CELLS and m["c3", "g2"] == 10
            assert pickle.loads(pickle.dumps(m)).col_names == list(VAR.index)
        dp.convert(f"{path}/X", made, overwrite=True)
        assert dp.open(made).row_names == CELLS
    assert dp.open(f"{packed}/obs").row_names == CELLS
    with pytest.raises(ValueError, match="no member 'Y'"):
        dp.open(packed, array="Y")


def test_names_are_those_that_the_axis_has_now(pbmc):
    assert pbmc["X"].row_names == CELLS
    pbmc["obs"] = OBS.set_index(pd.Index(["d0", "d1", "d2", "d3"]))
    assert pbmc["X"].row_names == ["d0", "d1", "d2", "d3"] and pbmc["X"]["d3", "g2"] == 5
    del pbmc["obs"]
    assert pbmc["X"].row_names is None


def test_any_text_can_be_a_part_of_a_name(tmp_path):
    texts = ["", "..", ".x", "a/b", "a\\b", "a:b", "%", "%2F", "x.dbdf", "x.json", "\u00e9", "a b", "\0"]
    made = [escaped(text) for text in texts]
    assert [unescaped(part) for part in made] == texts and len(set(made)) == len(texts)
    c = dp.write_collection(tmp_path / "a.dds", {f"m/{part}": np.full((1, 1), k) for k, part in enumerate(made)})
    assert sorted(c) == sorted(f"m/{part}" for part in made)
    assert [c[f"m/{part}"][0, 0] for part in made] == list(range(len(texts)))


def test_names_that_other_names_start_with_are_found(tmp_path):
    names = ["a", "a b", "a!", "a-b", "a.b", "a/b", "ab", "uns", "uns/a", "uns/a b", "uns/a-"]
    parts = {name: {"is": name} if name[:3] == "uns" else np.full((1, 1), k) for k, name in enumerate(names)}
    c = dp.write_collection(tmp_path / "c.dds", parts, sync=False)
    dp.pack_collection(tmp_path / "c.dds", tmp_path / "c.zip")
    for found in (c, dp.open(tmp_path / "c.zip")):
        assert sorted(found) == names
        for k, name in enumerate(names):
            assert name in found and name + " " not in found
            assert found[name] == {"is": name} if name[:3] == "uns" else found[name][0, 0] == k


def test_members_that_are_damaged_hide_no_others(tmp_path):
    c = dp.write_collection(tmp_path / "c.dds", {"a": np.eye(2), "b": np.eye(3), "uns": {"k": 1}}, sync=False)
    (tmp_path / "c.dds/a.dbdf").write_bytes(b"none")
    (tmp_path / "c.dds/uns.json").write_bytes(b"[1]")
    shown = repr(c).splitlines()
    assert shown[1].startswith("a    cannot be opened: ") and "a.dbdf" in shown[1]
    assert shown[2].startswith("b    3 x 3, float64, ")
    assert shown[3].startswith("uns  cannot be opened: ") and "uns.json" in shown[3]


def test_a_member_is_replaced_whole(pbmc):
    old = pbmc["X"]
    pbmc["X"] = X * 3
    np.testing.assert_array_equal(pbmc["X"][:], 3 * X.toarray())
    np.testing.assert_array_equal(old[:], X.toarray())
    with pytest.raises(ValueError, match="X has 5 rows, and the axis 'obs' has 4"):
        pbmc["X"] = np.zeros((5, 3))
    with pytest.raises(ValueError, match="varm/a has 2 rows, and the axis 'var' has 3"):
        pbmc["varm/a"] = np.zeros((2, 9))
    np.testing.assert_array_equal(pbmc["X"][:], 3 * X.toarray())
    pbmc["other"] = np.zeros((9, 9))
    pbmc["uns/more"] = {"a": 1}
    assert pbmc["other"].shape == (9, 9) and pbmc["uns/more"] == {"a": 1}
    del pbmc["other"]
    assert "other" not in pbmc
    assert not [name for name in pbmc if "new" in name]


def test_a_member_of_another_kind_takes_the_place_of_the_old_one(tmp_path):
    c = dp.write_collection(tmp_path / "c.dds", {"uns/x": {"a": 1}, "uns/y": np.eye(2)})
    c["uns/x"], c["uns/y"] = np.eye(3), {"b": 2}
    assert list(c) == ["uns/x", "uns/y"]
    assert c["uns/x"].shape == (3, 3) and c["uns/y"] == {"b": 2}
    del c["uns/x"], c["uns/y"]
    assert list(c) == []
    c.declare({"Z": ("cells", None)})
    with pytest.raises(KeyError):
        del c["collection"]  # whose name would be that of the declaration
    assert (tmp_path / "c.dds" / "collection.json").exists()


def test_a_data_set_is_not_replaced(pbmc):
    dp.dataset.create(f"{pbmc.path}/uns/scan.dbdf", pbmc["X"], shape=(4, 3))
    for change in (lambda: pbmc.put("uns/scan", np.eye(2)), lambda: pbmc.put("uns/scan", {"a": 1}),
                   lambda: pbmc.__delitem__("uns/scan")):  # fmt: skip
        with pytest.raises(dp.UnsupportedError, match="is a data set, which others may be writing; remove"):
            change()
    assert pbmc["uns/scan"].shape == (4, 3)


def test_a_collection_that_is_replaced_is_there_at_every_moment(tmp_path):
    path, missing, done = tmp_path / "c.dds", [], threading.Event()
    dp.write_collection(path, {"X": X})

    def look():
        while not done.is_set():
            missing.append(not path.exists())

    looking = threading.Thread(target=look)
    looking.start()
    for k in range(1, 101):
        dp.write_collection(path, {"X": X * k}, overwrite=True)
    done.set()
    looking.join()
    assert missing and not any(missing)
    np.testing.assert_array_equal(dp.Collection(path)["X"][:], 100 * X.toarray())


def test_axes_of_ones_own(tmp_path):
    c = dp.write_collection(
        tmp_path / "a.dds",
        {"rain": np.zeros((3, 2)), "stations": {"name": ["a", "b", "c"]}},
        axes={"rain": ("station", "day"), "stations": ("station", None)},
    )
    assert json.loads((tmp_path / "a.dds/collection.json").read_text())["axes"]["rain"] == ["station", "day"]
    with pytest.raises(ValueError, match="axis 'station' has 3, as rain says"):
        c["stations"] = {"name": ["a"]}
    c.put("wind", np.zeros((3, 4)), axes=("station", None))
    assert dp.open(c.path).axes["wind"] == ("station", None)


def test_members_that_do_not_fit_are_found_when_it_is_opened(pbmc):
    dp.write(f"{pbmc.path}/obsm/X_pca.dbdf", np.zeros((7, 2)), overwrite=True)
    with pytest.raises(ValueError, match="7 rows, and the axis 'obs' has 4"):
        dp.open(pbmc.path)


def test_names_of_members_stay_where_they_are_put_together_or_sent(pbmc, tmp_path):
    new = {**members(), "obs": OBS.rename(index="d{}".format)}
    c, other = pbmc["X"], dp.write_collection(tmp_path / "new.dds", new)["X"]
    both, genes = [*CELLS, *new["obs"].index], list(VAR.index)
    dp.concat([c, other], tmp_path / "both.dbdf")
    dp.convert(c, tmp_path / "grown.dbdf")
    dp.append(tmp_path / "grown.dbdf", other)
    for name in ("both", "grown"):
        with dp.open(tmp_path / f"{name}.dbdf") as m:
            assert m.row_names == both and m.col_names == genes
            assert (m[:] == np.tile(X.toarray(), (2, 1))).all()
    dp.write(tmp_path / "plain.dbdf", X)
    dp.concat([tmp_path / "plain.dbdf", c], tmp_path / "wide.dbdf", axis=1)
    with dp.open(tmp_path / "wide.dbdf") as m:
        assert m.row_names == CELLS and m.col_names == ["", "", "", *genes]
    with pytest.raises(ValueError, match="the rows of these objects have different names"):
        dp.concat([c, other], tmp_path / "x.dbdf", axis=1)
    sent = pickle.loads(pickle.dumps(c))
    assert sent.row_names == CELLS and sent["c3", "g2"] == 5


@pytest.mark.parametrize("name", ["", "../x", "/x", "a//b", "a/../b", ".x", "a/", "a\\b", "C:x", 3])
def test_names_that_lead_elsewhere_are_refused(pbmc, name):
    for use in (lambda: pbmc[name], lambda: pbmc.__setitem__(name, X), lambda: pbmc.__delitem__(name)):
        with pytest.raises(ValueError, match="no name of a member"):
            use()


@pytest.mark.parametrize("text", ["[]", "{", '{"axes": []}', '{"axes": {"X": ["obs"]}}', '{"axes": {"../x": ["a", "b"]}}'])
def test_a_damaged_declaration_is_told(pbmc, tmp_path, text):
    (tmp_path / "pbmc.dds/collection.json").write_text(text)
    with pytest.raises(ValueError, match=r"pbmc\.dds|no name"):
        dp.open(pbmc.path)


def test_one_file_to_send(pbmc, tmp_path):
    packed = dp.pack_collection(pbmc.path, tmp_path / "pbmc.zip")
    with zipfile.ZipFile(packed) as archive:
        assert archive.testzip() is None
        assert archive.namelist()[0] == "collection.json"
        for info in archive.infolist():
            if info.filename.endswith(".dbdf"):
                with open(packed, "rb") as raw:
                    raw.seek(info.header_offset + 26)
                    lengths = np.frombuffer(raw.read(4), "<u2").astype(int)
                assert (info.header_offset + 30 + lengths.sum()) % 64 == 0
    with dp.open(packed) as c:
        assert list(c) == list(pbmc)
        np.testing.assert_array_equal(c["X"][:], X.toarray())
        np.testing.assert_array_equal(c["obsm/X_pca"].tile(0, 0).numpy(copy=False), np.arange(8.0).reshape(4, 2) / 7)
        assert c.rows_where("n_genes > 500").tolist() == [0, 1, 3]
        assert c["uns"]["run"] == 12
        assert c["obs"].row_names == CELLS
        with pytest.raises(ValueError, match="only read"):
            c["X"] = X
    assert list(dp.write_collection(tmp_path / "at_once.zip", members())) == list(pbmc)
    assert dp.open(tmp_path / "at_once.zip").rows_where("n_genes > 500").tolist() == [0, 1, 3]
    back = dp.unpack_collection(packed, tmp_path / "back.dds")
    assert list(back) == list(pbmc)
    np.testing.assert_array_equal(back["X"][:], X.toarray())
    np.testing.assert_array_equal(dp.open(packed, array="X")[:], X.toarray())
    np.testing.assert_array_equal(dp.open(pbmc.path, array="layers/counts")[:], 2 * X.toarray())
    with pytest.raises(ValueError, match="no member 'Y', only"):
        dp.open(packed, array="Y")
    report = dp.verify(packed, payload=True)
    assert not report.findings and report.blocks == dp.verify(pbmc.path).blocks >= len(members()) - 1
    (tmp_path / "pbmc.dds" / "notes.txt").write_text("mine")
    seen = []
    with pytest.warns(UserWarning, match="notes.txt is no member"):
        dp.pack_collection(pbmc.path, packed, overwrite=True, progress=lambda *told: seen.append(told))
    assert seen and seen[-1][0] == seen[-1][1]


def test_a_member_is_opened_by_its_path_and_goes_to_other_processes(pbmc, tmp_path):
    packed = dp.pack_collection(pbmc.path, tmp_path / "pbmc.zip")
    for whole in (pbmc.path, packed):
        for m in (dp.open(f"{whole}/layers/counts"), dp.open(whole, array="layers/counts")):
            np.testing.assert_array_equal(pickle.loads(pickle.dumps(m))[:], 2 * X.toarray())
        for name in ("Y", "../pbmc", "layers"):
            with pytest.raises(ValueError):
                dp.open(f"{whole}/{name}")
    (tmp_path / "other.dds").mkdir()
    back = dp.unpack_collection(packed, tmp_path / "other.dds", overwrite=True)
    np.testing.assert_array_equal(back["X"][:], X.toarray())
    with pytest.raises(FileExistsError):
        dp.unpack_collection(packed, tmp_path / "other.dds")


def test_what_is_no_collection(tmp_path):
    with pytest.raises(ValueError, match="is no Unicode text"):
        dp.write_collection(tmp_path / "a.dds", {"\udc80": X})
    with pytest.raises(ValueError, match=r"ends in \.dds"):
        dp.write_collection(tmp_path / "a", {})
    dp.write_collection(tmp_path / "a.dds", {"X": X})
    with pytest.raises(FileExistsError, match=r"a\.dds: it exists already; overwrite=True replaces"):
        dp.write_collection(tmp_path / "a.dds", {})
    dp.write_collection(tmp_path / "a.dds", {"Y": X}, overwrite=True)
    assert list(dp.open(tmp_path / "a.dds")) == ["Y"]
    with pytest.raises(ValueError, match="the axes of 'Y' are a pair of names or None, not 'obs'"):
        dp.open(tmp_path / "a.dds").put("Y", X, axes="obs")
    with pytest.raises(ValueError, match=r"^layers/b: a matrix has 2 dimensions, and this array has 1"):
        dp.write_collection(tmp_path / "b.dds", {"X": np.eye(2), "layers/b": np.ones(3)})
    with pytest.raises(ValueError, match=r"a column|holds|cannot"):
        dp.write_collection(tmp_path / "b.dds", {"Y": {"a": [object()]}})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.dds"]


def test_a_member_gets_its_index_and_copy_beside_its_own_file(tmp_path):
    c, file = tmp_path / "c.dds", tmp_path / "c.dds" / "X.dbdf"
    dp.write_collection(c, {"X": np.eye(30)})
    assert dp.index(f"{c}/X", columns=True) == f"{file}.dpc"
    assert dp.open(f"{c}/X").column_copy == "fresh"
    assert dp.open(f"{c}/X").take_columns([7]).toarray()[7] == 1
    file.unlink()
    dp.write(file, np.eye(30), plain=True)
    assert dp.index(f"{c}/X") == f"{file}.dpx" and dp.open(f"{c}/X").index_origin == "sidecar"
    dp.pack_collection(c, tmp_path / "c.zip")
    with pytest.raises(dp.UnsupportedError, match="unpack it first"):
        dp.index(tmp_path / "c.zip" / "X", columns=True)


def test_a_collection_stays_where_it_was_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    c = dp.write_collection("a.dds", {"X": np.ones((2, 3))})
    sent = pickle.dumps(dp.open("a.dds"))
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    dp.write_collection("a.dds", {"X": np.zeros((2, 3))})
    c["Y"] = np.full((2, 3), 5)
    for one in (c, pickle.loads(sent)):
        assert (one["X"][0, 0], one["Y"][0, 0]) == (1, 5)
    assert list(dp.open("a.dds")) == ["X"]
