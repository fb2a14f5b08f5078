"""Web addresses, which the library reads itself, and what names of other schemes are."""

import http.server
import json
import pickle
import threading

import numpy as np
import pytest
from conftest import META, cells

import pydapple as dp


class Files(http.server.BaseHTTPRequestHandler):
    """Serves `server.files`; whatever else is asked for has `server.missing` as its status."""

    def log_message(self, *_):
        """Nothing."""

    def do_GET(self):
        name, _, query = self.path.partition("?")
        self.server.asked.append(self.path)
        data = self.server.files.get(name)
        if data is None:
            self.send_response(self.server.missing)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206)
        self.send_header("Content-Range", f"bytes 0-{len(data) - 1}/{len(data)}")
        self.send_header("ETag", '"one"')
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def test_text_of_a_server_is_what_the_meta_file_beside_it_says():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files) as server:
        server.files, server.asked, server.missing = {}, [], 404
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"http://127.0.0.1:{server.server_port}"
        server.files["/d/a%20b.csv"] = server.files["/d/n.txt"] = b"1,2.5\n3,4\n"
        for missing in (404, 410, 401, 403):
            server.missing = missing
            server.asked.clear()
            m = dp.open(f"{host}/d/a%20b.csv?key=1")
            assert m[:].tolist() == [[1, 2.5], [3, 4]]
            assert server.asked == ["/d/a%20b.csv?key=1", "/d/a%20b.csv.meta?key=1"]
        server.missing = 500
        with pytest.raises(OSError, match=r"a%20b.csv.meta.*500"):
            dp.open(f"{host}/d/a%20b.csv")
        server.asked.clear()
        assert dp.open(f"{host}/d/n.txt", format="csv").shape == (2, 2)
        assert server.asked == ["/d/n.txt"]
        server.files["/d/a%20b.csv.meta"] = META.encode()
        f = dp.open(f"{host}/d/a%20b.csv?key=1")
        assert list(f.columns) == ["left", "right"] and f["right"].tolist() == [2.5, 4]
        server.shutdown()


def test_members_of_a_collection_on_a_web_server(tmp_path, monkeypatch):
    a = cells((40, 30), "i4", density=0.5)
    dp.write_collection(tmp_path / "c.dds", {"X": a, "layers/b": 2 * a})
    monkeypatch.chdir(tmp_path)

    class Members(Files):
        def do_HEAD(self):
            self.do_GET()

        def do_GET(self):
            file = tmp_path / self.path.lstrip("/")
            if not file.is_file():
                self.send_error(404)
                return
            data, wanted = file.read_bytes(), self.headers.get("Range")
            first, last = 0, len(data) - 1
            if wanted:
                one, two = wanted.removeprefix("bytes=").split("-")
                first = max(0, len(data) - int(two)) if not one else int(one)
                last = min(last, int(two)) if one and two else last
            self.send_response(206 if wanted else 200)
            self.send_header("ETag", '"1"')
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
            self.send_header("Content-Length", str(last + 1 - first))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data[first : last + 1])

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Members) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"http://127.0.0.1:{server.server_port}"
        for m in (dp.open(f"{host}/c.dds/layers/b"), dp.open(f"{host}/c.dds", array="layers/b")):
            assert np.array_equal(m[:], 2 * a)
        again = pickle.loads(pickle.dumps(dp.open(f"{host}/c.dds/X")))
        assert np.array_equal(again[:], a)
        with pytest.raises(FileNotFoundError, match="status 404"):
            dp.open(f"{host}/c.dds/none")
        with pytest.raises(FileNotFoundError, match="status 404"):
            dp.open(f"{host}/none.dbdf")
        server.shutdown()


def test_what_is_at_an_address_is_only_read_and_nothing_is_left(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dp.write("m.dbdf", np.eye(3))
    calls = [
        lambda name: dp.write(name + ".dbdf", np.eye(3)),
        lambda name: dp.write(name + ".parquet", {"a": [1]}),
        lambda name: dp.writer(name + ".dbdf", (3, 3), "f4"),
        lambda name: dp.convert("m.dbdf", name + ".npz"),
        lambda name: dp.write_collection(name + ".dds", {"X": np.eye(3)}),
        lambda name: dp.dataset.append(name, np.eye(3)),
        lambda name: dp.dataset.write_part(name, np.eye(3)),
    ]
    for call in calls:
        for name in ("http://host/x", "s3://bucket/x", "memory://x"):
            with pytest.raises(dp.InvalidArgumentError, match="only read; name a place on this"):
                call(name)
    assert [one.name for one in tmp_path.iterdir()] == ["m.dbdf"]


def test_what_is_no_file_system_and_what_is_at_an_address_of_this_machine(make, tmp_path):
    pytest.importorskip("fsspec")
    m = make(np.eye(3))
    with pytest.raises(dp.TypeMismatchError, match=r"fs is a file system of fsspec, .* not 'memory'"):
        dp.open(m.path, fs="memory")
    assert np.array_equal(dp.open(f"file://{m.path}")[:], np.eye(3))
    with pytest.raises(dp.UnsupportedError, match="Parquet and Arrow far away are not read here"):
        dp.convert("https://host/x.parquet", tmp_path / "x.dbdf")


class Ranges(http.server.BaseHTTPRequestHandler):
    """Serves ranges of the files in `server.folder`, and refuses HEAD, as signed addresses do."""

    def log_message(self, *_):
        """Nothing."""

    def do_GET(self):
        file = self.server.folder / self.path.lstrip("/")
        if not file.is_file():
            self.send_error(404)
            return
        data, wanted = file.read_bytes(), self.headers.get("Range", "bytes=0-")
        one, two = wanted.removeprefix("bytes=").split("-")
        first = int(one) if one else max(0, len(data) - int(two))
        last = min(len(data) - 1, int(two)) if one and two else len(data) - 1
        self.send_response(206)
        self.send_header("ETag", f'"{hash(data)}"')
        self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        self.wfile.write(data[first : last + 1])


def write_zarr(folder, a):
    folder.mkdir(exist_ok=True)
    rows, cols = a.shape
    told = {"zarr_format": 2, "shape": [rows, cols], "chunks": [rows, cols], "dtype": a.dtype.str}
    told |= {"compressor": None, "fill_value": 0, "order": "C", "filters": None}
    (folder / ".zarray").write_text(json.dumps(told))
    (folder / "0.0").write_bytes(a.tobytes())


def test_pickles_of_what_a_web_server_has_in_folders(tmp_path):
    a = cells((4, 3), "<i4", density=0.5)
    dp.write_collection(tmp_path / "c.dds", {"X": a, "a b/c": a})
    dp.write(tmp_path / "m.dbdf", a)
    write_zarr(tmp_path / "a.zarr", a)
    dp.convert(tmp_path / "m.dbdf", tmp_path / "m.csv")
    dp.convert(tmp_path / "m.dbdf", tmp_path / "m.csv.gz")
    dp.pack_collection(tmp_path / "c.dds", tmp_path / "c.zip")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ranges) as server:
        server.folder = tmp_path
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"http://127.0.0.1:{server.server_port}"
        opened = [dp.open(f"{host}/{name}") for name in ("m.dbdf", "c.dds/X", "a.zarr", "a.zarr/")]
        opened += [dp.open(f"{host}/c.dds{end}", array="X") for end in ("", "/")]
        opened += [dp.open(f"{host}/{name}") for name in ("m.csv", "m.csv.gz", "c.zip/X")]
        pickles = [pickle.dumps(m) for m in opened]
        for text in pickles:
            assert np.array_equal(pickle.loads(text)[:], a)
        opened.append(dp.open(f"{host}/c.dds/X"))  # nothing has been asked of it
        dp.write_collection(tmp_path / "c.dds", {"X": a[:3]}, overwrite=True)
        dp.write(tmp_path / "m.dbdf", a[:3], overwrite=True)
        write_zarr(tmp_path / "a.zarr", a[:3])
        for ending in ("csv", "csv.gz"):
            dp.convert(tmp_path / "m.dbdf", tmp_path / f"m.{ending}", overwrite=True)
        dp.pack_collection(tmp_path / "c.dds", tmp_path / "c.zip", overwrite=True)
        for text in [*pickles, *map(pickle.dumps, opened)]:  # also those made only now
            with pytest.raises(dp.StaleError):
                pickle.loads(text)
        server.shutdown()
