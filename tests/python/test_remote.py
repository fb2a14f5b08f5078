"""Objects that fsspec and obstore read: every answer is that of the same file here, or an error."""

import http.server
import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import META, cells

import pydapple as dp

fsspec = pytest.importorskip("fsspec")
obstore = pytest.importorskip("obstore")


@pytest.fixture
def far(make):
    """The bytes of a file of 12 tiles, and its cells."""
    a = cells((600, 400), "f8", density=1)
    m = make(a, tile=(150, 134), kind="dense", narrow=False)
    with open(m.path, "rb") as file:
        return file.read(), a


def in_store(data):
    store = obstore.store.MemoryStore()
    obstore.put(store, "m.dbdf", data)
    return store


def in_memory(data, name="/bucket/m.dbdf"):
    fs = fsspec.filesystem("memory", skip_instance_cache=True)
    fs.pipe(name, data)
    return fs


@pytest.mark.parametrize("how", ["fs", "store"])
def test_a_file_in_a_store_is_read_as_the_file_itself(far, how):
    data, a = far
    if how == "fs":
        m = dp.open("/bucket/m.dbdf", fs=in_memory(data))
    else:
        m = dp.open("m.dbdf", store=in_store(data))
    assert m.shape == a.shape and m.dtype == a.dtype
    assert np.array_equal(m[:], a)
    assert m[599, 399] == a[599, 399] and np.array_equal(m[7, 3:9], a[7, 3:9])
    assert np.array_equal(m.take([5, 599, 0]), a[[5, 599, 0]])
    assert np.allclose(m.stats(axis=0).mean, a.mean(axis=0))
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(lambda i: m[i], range(0, 600, 7)))
    assert np.array_equal(rows, a[::7])


def test_only_what_is_needed_is_asked_for(far):
    data, a = far
    asked = []

    class Watched(type(in_memory(data))):
        def cat_ranges(self, paths, starts, ends, **options):
            asked.extend(zip(starts, ends, strict=True))
            return super().cat_ranges(paths, starts, ends, **options)

    fs = Watched(skip_instance_cache=True)
    fs.pipe("/b/m.dbdf", data)
    m = dp.open("/b/m.dbdf", fs=fs)
    assert sum(end - start for start, end in asked) <= 2 * 65536
    asked.clear()
    assert np.array_equal(m[300:302, 140:150], a[300:302, 140:150])
    assert sum(end - start for start, end in asked) < len(data) / 2


def test_a_region_of_zarr_asks_for_its_own_chunks_once(tmp_path):
    zarr = pytest.importorskip("zarr")
    a = cells((90, 70), "f4", density=1)
    zarr.create_array(tmp_path / "z.zarr", shape=a.shape, chunks=(10, 10), dtype="f4")[:] = a
    asked = []

    class Watched(type(in_memory(b""))):
        def cat_ranges(self, paths, starts, ends, **options):
            asked.extend(paths)
            return super().cat_ranges(paths, starts, ends, **options)

    fs = Watched(skip_instance_cache=True)
    fs.pipe({f"/b/{p.relative_to(tmp_path)}": p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()})
    m = dp.open("/b/z.zarr", fs=fs)
    asked.clear()
    assert np.array_equal(m[25:41, 5:30], a[25:41, 5:30])
    assert sorted(asked) == sorted(f"/b/z.zarr/c/{i}/{j}" for i in (2, 3, 4) for j in (0, 1, 2))


def test_an_address_goes_to_fsspec_by_its_scheme(far):
    data, a = far
    in_memory(data, "/elsewhere/m.dbdf")
    assert np.array_equal(dp.open("memory://elsewhere/m.dbdf")[:], a)
    with pytest.raises(dp.UnsupportedError, match="nowhere"):
        dp.open("nowhere://x/m.dbdf")


def test_the_local_file_system_opens_the_file_itself(make):
    a = cells((30, 20), "f8")
    path = make(a).path
    m = dp.open(path, fs=fsspec.filesystem("file"))
    assert np.array_equal(m[:], a) and m.path == path


@pytest.mark.parametrize("how", ["fs", "store"])
def test_a_replaced_object_is_an_error_and_never_a_mixture(far, how):
    data, _ = far
    if how == "fs":
        fs = in_memory(data)
        m = dp.open("/bucket/m.dbdf", fs=fs)
        fs.pipe("/bucket/m.dbdf", data)
    else:
        store = in_store(data)
        m = dp.open("m.dbdf", store=store)
        obstore.put(store, "m.dbdf", data)
    with pytest.raises(OSError, match=r"replaced|precondition"):
        m[:]


def test_what_is_not_there_and_both_ways_at_once(far):
    data, _ = far
    with pytest.raises(FileNotFoundError):
        dp.open("/bucket/none.dbdf", fs=in_memory(data))
    with pytest.raises(FileNotFoundError):
        dp.open("none.dbdf", store=in_store(data))
    with pytest.raises(dp.InvalidArgumentError, match="not both"):
        dp.open("m.dbdf", store=in_store(data), fs=in_memory(data))


def test_short_answers_and_foreign_exceptions(far):
    data, _ = far

    class Short(type(in_memory(data))):
        fault = "none"

        def cat_ranges(self, paths, starts, ends, **options):
            if self.fault == "raise":
                raise RuntimeError("the line is down")
            found = super().cat_ranges(paths, starts, ends, **options)
            return [one[:-1] for one in found] if self.fault == "short" else found

    fs = Short(skip_instance_cache=True)
    fs.pipe("/s/m.dbdf", data)
    m = dp.open("/s/m.dbdf", fs=fs)
    fs.fault = "short"
    with pytest.raises(OSError, match="bytes"):
        m[:]
    fs.fault = "raise"
    with pytest.raises(OSError, match="the line is down"):
        m[:]


class Tagged(type(fsspec.filesystem("memory"))):
    """Files with tags, as those of object stores, and a count of what is read."""

    cachable = False
    tag = "1"
    reads = 0

    def info(self, path, **options):
        return {**super().info(path, **options), "ETag": self.tag, "created": None}

    def cat_ranges(self, paths, *arguments, **options):
        Tagged.reads += len(paths)
        return super().cat_ranges(paths, *arguments, **options)


def test_a_cache_keeps_what_a_file_system_has_a_tag_for(far, tmp_path):
    data, a = far
    in_memory(data)

    def read(fs):
        Tagged.reads = 0
        assert np.array_equal(dp.open("/bucket/m.dbdf", fs=fs, cache=tmp_path)[:], a)
        return Tagged.reads

    assert read(Tagged()) > 1
    assert read(Tagged()) == 0
    changed, Tagged.tag = a + 1, "2"
    dp.write(tmp_path / "n.dbdf", changed, tile=(150, 134), kind="dense", narrow=False)
    in_memory((tmp_path / "n.dbdf").read_bytes())
    a = changed
    assert read(Tagged()) > 1
    assert read(Tagged()) == 0


def test_a_cache_keeps_nothing_whose_state_could_come_again(far, tmp_path):
    data, a = far
    for options in ({"fs": in_memory(data)}, {"store": in_store(data)}):
        name = "/bucket/m.dbdf" if "fs" in options else "m.dbdf"
        assert np.array_equal(dp.open(name, cache=tmp_path, **options)[:], a)
    assert not list(tmp_path.glob("*.pieces"))


class Answers(http.server.BaseHTTPRequestHandler):
    """Serves ranges of what `server.data` is."""

    def log_message(self, *_):
        """Nothing."""

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        data = self.server.data
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"] or "")
        first, last = map(int, asked.groups()) if asked else (0, len(data) - 1)
        self.send_response(206 if asked else 200)
        self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        self.send_header("ETag", '"one"')
        self.send_header("Last-Modified", "Mon, 01 Jan 2024 00:00:00 GMT")
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        if self.command == "GET":
            self.server.reads += 1
            self.wfile.write(data[first : last + 1])


def test_a_cache_keeps_what_a_store_has_a_tag_for(far, tmp_path):
    data, a = far
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        server.data = data
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for expected in (True, False):
            server.reads = 0
            store = obstore.store.HTTPStore.from_url(
                f"http://me:secret@127.0.0.1:{server.server_port}/", client_options={"allow_http": True}
            )
            m = dp.open("m.dbdf", store=store, cache=tmp_path)
            assert np.array_equal(m[:], a)
            assert (server.reads > 0) == expected
        server.shutdown()


def test_pickles_open_it_through_the_same_store(far, tmp_path):
    data, a = far
    (tmp_path / "m.dbdf").write_bytes(data)
    store = obstore.store.LocalStore(tmp_path)
    m = dp.open("m.dbdf", store=store)
    again = pickle.loads(pickle.dumps(m))
    assert np.array_equal(again[:], a)
    sent = pickle.dumps(m)
    (tmp_path / "m.dbdf").write_bytes(data[:-8] + bytes(8))
    with pytest.raises((dp.StaleError, OSError)):
        pickle.loads(sent)


@pytest.fixture(params=["fs", "store"])
def folder(request, tmp_path):
    """A folder of this machine, and a store that has its files, as an option of `open`."""
    root = tmp_path / "far"
    root.mkdir()

    def stored():
        files = {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}
        if request.param == "fs":
            fs = fsspec.filesystem("memory", skip_instance_cache=True)
            fs.store.clear()
            fs.pipe({f"/bucket/{name}": data for name, data in files.items()})
            return {"fs": fs}, "/bucket/"
        store = obstore.store.MemoryStore()
        for name, data in files.items():
            obstore.put(store, name, data)
        return {"store": store}, ""

    return root, stored


def test_a_data_set_in_a_store_is_opened_in_its_latest_state(folder):
    root, stored = folder
    a = cells((90, 7), "f8", density=1)
    for begin in (0, 30, 60):
        dp.dataset.append(str(root / "set"), a[begin : begin + 30], sync=False)
    through, bucket = stored()
    m = dp.open(bucket + "set", **through)
    assert m.format == "dataset" and np.array_equal(m[:], a)
    assert m.path == bucket + "set/dataset-3"
    assert np.array_equal(dp.open(m.path, **through)[5:70], a[5:70])
    assert dp.open(bucket + "set/dataset-1", **through).shape == (30, 7)


def test_parts_that_are_gone_or_replaced_are_named(folder):
    root, stored = folder
    dp.dataset.append(str(root / "set"), np.ones((400, 300)), kind="dense", narrow=False, sync=False)
    part = max((root / "set").glob("part-*"))
    data = part.read_bytes()
    part.unlink()
    through, bucket = stored()
    with pytest.raises(OSError, match=rf"{part.name}.*dataset-1"):
        dp.open(bucket + "set", **through)[:]
    part.write_bytes(data[:-20] + bytes(20))
    through, bucket = stored()
    with pytest.raises(dp.CorruptError, match=rf"{part.name}.*dataset-1"):
        dp.open(bucket + "set", **through)[:]


def test_zarr_and_collections_in_a_store(folder):
    zarr = pytest.importorskip("zarr")
    root, stored = folder
    a = cells((40, 30), "i4", density=0.5)
    group = zarr.open_group(root / "g.zarr", mode="w")
    group.create_array("deep/x", shape=a.shape, chunks=(7, 11), dtype="i4")[:] = a
    dp.write_collection(root / "c.dds", {"X": a, "layers/b": 2 * a})
    through, bucket = stored()
    assert np.array_equal(dp.open(bucket + "g.zarr", **through)[:], a)
    assert np.array_equal(dp.open(bucket + "c.dds", array="layers/b", **through)[:], 2 * a)
    assert np.array_equal(dp.open(bucket + "c.dds/X", **through)[:], a)
    member = dp.open(bucket + "c.dds/layers/b", **through)
    assert np.array_equal(member[3:9], 2 * a[3:9]) and member.path == bucket + "c.dds/layers/b.dbdf"
    with pytest.raises(FileNotFoundError):
        dp.open(bucket + "c.dds/layers/c", **through)
    with pytest.raises(dp.InvalidArgumentError, match="no member 'layers/c', only X, layers/b"):
        dp.open(bucket + "c.dds", array="layers/c", **through)


def test_text_in_a_store_is_what_the_meta_file_beside_it_says(folder):
    root, stored = folder
    for name in ("a.csv", "b.csv", "c.tsv", "d.txt"):
        (root / name).write_text("1\t2.5\n3\t4\n")
        if name != "b.csv":
            (root / f"{name}.meta").write_text(META)
    through, bucket = stored()
    for name in ("a.csv", "c.tsv"):
        f = dp.open(bucket + name, **through)
        assert list(f.columns) == ["left", "right"] and f.dtypes["right"] == np.float32
        assert f["right"].tolist() == [2.5, 4]
    assert dp.open(bucket + "b.csv", **through)[:].tolist() == [[1, 2.5], [3, 4]]
    assert dp.open(bucket + "d.txt", **through)[:].tolist() == [[1, 2.5], [3, 4]]  # nobody asks
    (root / "a.csv.meta").write_text(META.replace('"numRows":2', '"numRows":3'))
    through, bucket = stored()
    with pytest.raises(dp.CorruptError, match=r"2 rows, but the \.meta file says"):
        dp.open(bucket + "a.csv", **through)


def test_a_meta_file_that_nobody_may_see_is_none():
    class Hiding(type(in_memory(b""))):
        def info(self, path, **options):
            if not self.exists(path):
                raise PermissionError(path)
            return super().info(path, **options)

        def exists(self, path, **options):
            return path in self.store

    fs = Hiding(skip_instance_cache=True)
    fs.store.clear()
    fs.pipe("/bucket/a.csv", b"1,2\n3,4\n")
    assert dp.open("/bucket/a.csv", fs=fs)[:].tolist() == [[1, 2], [3, 4]]
    with pytest.raises(OSError, match=r"other\.csv"):
        dp.open("/bucket/other.csv", fs=fs)
