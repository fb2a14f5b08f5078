"""Collections far away as a whole: a folder in a store, and one file in a store or on a web server."""

import functools
import http.server
import pickle
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import pydapple as dp

fsspec = pytest.importorskip("fsspec")

X = sp.random_array((30, 8), density=0.3, rng=np.random.default_rng(4), format="csr")
OBS = pd.DataFrame({"kind": pd.Categorical(["B", "T", "B"] * 10)}, index=[f"c{k}" for k in range(30)])
VAR = pd.DataFrame({"mt": [False] * 8}, index=[f"g{k}" for k in range(8)])
MEMBERS = {"X": X, "obs": OBS, "var": VAR, "layers/counts": X * 2, "uns": {"run": 12}, "uns/more": {"a": [1]}}


class Ranges(http.server.SimpleHTTPRequestHandler):
    """The files of a folder, in ranges."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        try:
            with open(self.translate_path(self.path), "rb") as file:
                data = file.read()
        except OSError:
            return self.send_error(404)
        first, last = 0, len(data) - 1
        if (wanted := self.headers["Range"]) is not None:
            one, two = wanted.removeprefix("bytes=").split("-")
            first = int(one) if one else max(0, len(data) - int(two))
            last = min(last, int(two)) if one and two else last
        self.send_response(206 if wanted else 200)
        self.send_header("ETag", '"1"')
        self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        return self.wfile.write(data[first : last + 1]) if self.command == "GET" else None

    do_HEAD = do_GET


@pytest.fixture
def files(tmp_path):
    dp.write_collection(tmp_path / "c.dds", MEMBERS)
    dp.pack_collection(tmp_path / "c.dds", tmp_path / "c.zip")
    return tmp_path


@pytest.fixture(params=["fs folder", "fs file", "store folder", "store file", "address"])
def far(request, files):
    """Arguments of `open`, of the same collection in different places."""
    place, _, what = request.param.partition(" ")
    name = "c.zip" if what == "file" or place == "address" else "c.dds"
    if place == "fs":
        fs = fsspec.filesystem("memory")
        bucket = f"/bucket-{files.name}"
        for file in files.rglob("*"):
            if file.is_file():
                fs.pipe(f"{bucket}/{file.relative_to(files)}", file.read_bytes())
        yield f"{bucket}/{name}", {"fs": fs}
    elif place == "store":
        obstore = pytest.importorskip("obstore")
        yield name, {"store": obstore.store.LocalStore(str(files))}
    else:
        handler = functools.partial(Ranges, directory=str(files))
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}/{name}?key=secret", {}
            server.shutdown()


def test_all_members_come_back(far):
    path, where = far
    with dp.open(path, **where) as c:
        assert isinstance(c, dp.Collection) and list(c) == sorted(MEMBERS) and len(c) == 6
        np.testing.assert_array_equal(c["X"][:], X.toarray())
        np.testing.assert_array_equal(c["layers/counts"].to_scipy().toarray(), 2 * X.toarray())
        pd.testing.assert_frame_equal(c["obs"].to_pandas(), OBS, check_index_type=False)
        assert c["uns"] == {"run": 12} and c["uns/more"] == {"a": [1]}
        assert c["X"] is c["X"] and c.axes["layers/counts"] == ("obs", "var")
        assert c["X"].row_names == list(OBS.index)
        rows = c.rows_where("kind == 'T'")
        np.testing.assert_array_equal(c["X"].sparse[rows].toarray(), X.toarray()[1::3])
        with pytest.raises(KeyError, match="no member 'Y'; there are X, layers/counts"):
            c["Y"]
        assert "secret" not in repr(c)


def test_members_go_to_other_threads_and_processes_by_themselves(far):
    path, where = far
    c = dp.open(path, **where)
    members = {name: c[name] for name in ("X", "layers/counts")}
    members |= {name: pickle.loads(pickle.dumps(m)) for name, m in members.items()}
    np.testing.assert_array_equal(members["X"][:], X.toarray())
    np.testing.assert_array_equal(members["layers/counts"].to_dask().sum(0).compute(), 2 * X.toarray().sum(0))


def test_a_member_that_is_a_data_set(files):
    fs = fsspec.filesystem("memory")
    (files / "c.dds/layers/set.dbdf").mkdir()
    for k in range(3):
        dp.dataset.append(str(files / "c.dds/layers/set.dbdf"), np.full((10, 8), k), sync=False)
    for file in files.rglob("*"):
        if file.is_file():
            fs.pipe(f"/sets-{files.name}/{file.relative_to(files)}", file.read_bytes())
    c = dp.open(f"/sets-{files.name}/c.dds", fs=fs)
    np.testing.assert_array_equal(c["layers/set"][:], np.repeat([[0], [1], [2]], 10, 0) * np.ones(8))
    assert c["layers/set"].path.endswith("/layers/set.dbdf/dataset-3")


def test_it_is_only_read(far):
    path, where = far
    c = dp.open(path, **where)
    for change in (lambda: c.put("X", X), lambda: c.__delitem__("X"), lambda: c.declare({})):
        with pytest.raises(dp.UnsupportedError, match="far away, and is only read") as caught:
            change()
        assert "secret" not in str(caught.value)


def test_annotated_data(far):
    pytest.importorskip("anndata")
    path, where = far
    got = dp.read_anndata(path, **where)
    np.testing.assert_array_equal(got[got.obs["kind"] == "B"].to_memory().X.toarray(), np.delete(X.toarray(), range(1, 30, 3), 0))
    assert list(got.var_names) == list(VAR.index) and got.uns["run"] == 12


def test_it_goes_to_other_processes(files):
    obstore = pytest.importorskip("obstore")
    c = dp.open("c.dds", store=obstore.store.LocalStore(str(files)))
    again = pickle.loads(pickle.dumps(c))
    np.testing.assert_array_equal(again["layers/counts"][:], 2 * X.toarray())
    assert c["X"].path == "c.dds/X.dbdf"
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(dp.open(files / "c.dds")))["X"][:], X.toarray())


def test_what_is_no_collection_there(files):
    fs = fsspec.filesystem("memory")
    fs.pipe("/other/none.zip", b"PK nothing")
    fs.pipe("/other/m.dbdf", (files / "c.dds/X.dbdf").read_bytes())
    assert isinstance(dp.open("/other/m.dbdf", fs=fs), dp.Matrix)
    for name in ("/other/none.zip", "/other/none.dds", "/other/none.dds/"):
        with pytest.raises((dp.NotRecognisedError, FileNotFoundError)):
            dp.open(name, fs=fs)
        with pytest.raises(ValueError, match="it is no collection"):
            dp.Collection(name, fs=fs)


@pytest.mark.parametrize("far", ["fs file", "address"], indirect=True)
def test_members_of_an_archive_have_names_as_on_this_machine(far):
    path, where = far
    archive, _, query = path.partition("?")
    for member, expected in (("X", X), ("layers/counts", 2 * X)):
        m = dp.open(f"{archive}/{member}?{query}".rstrip("?"), **where)
        np.testing.assert_array_equal(m[:], expected.toarray())
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(m))[:], expected.toarray())
        np.testing.assert_array_equal(m.to_dask().compute(), expected.toarray())
    with pytest.raises(ValueError, match="no member 'Y', only X, layers/counts"):
        dp.open(f"{archive}/Y?{query}".rstrip("?"), **where)
    with pytest.raises(FileNotFoundError, match=r"none\.zip/Y"):
        dp.open(path.replace("c.zip", "none.zip/Y"), **where)
