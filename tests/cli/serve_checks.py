"""What `dapple serve` answers, asked over HTTP."""

import contextlib
import json
import signal
import struct
import subprocess
import urllib.error
import urllib.request


@contextlib.contextmanager
def serving(dapple, *arguments):
    """The address at which a program serves."""
    process = dapple.start("serve", "-q", *arguments, stdout=subprocess.PIPE)
    try:
        yield process.stdout.readline().decode().strip()
    finally:
        process.send_signal(signal.SIGTERM)
        process.stdout.close()
        assert process.wait(timeout=60) == 0


def ask(address, method="GET", **headers):
    """(status, headers, body)."""
    request = urllib.request.Request(address, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read()


def check_serve_matrix(dapple):
    with serving(dapple, "plain.csv") as address:
        status, headers, body = ask(address + "/zarr.json")
        assert status == 200 and headers["Content-Type"] == "application/json"
        root = json.loads(body)
        array = json.loads(ask(address + "/data/zarr.json")[2])
        assert root["consolidated_metadata"]["metadata"] == {"data": array}
        assert array["shape"] == [2, 3] and array["dimension_names"] == ["row", "col"]
        letter = {"float64": "d", "int64": "q", "uint8": "B"}[array["data_type"]]
        wanted = struct.pack(f"<6{letter}", 1, 2, 3, 4, 5, 6)
        status, headers, body = ask(address + "/data/c/0/0")
        assert status == 200 and body == wanted, (array, body)
        assert headers["Access-Control-Allow-Origin"] == "*" and headers["Accept-Ranges"] == "bytes"


def check_serve_collection(dapple):
    for name in ("X", "layers/counts"):
        (dapple.folder / f"served.dds/{name}").parent.mkdir(parents=True, exist_ok=True)
        assert dapple.run("convert", "plain.csv", f"served.dds/{name}.dbdf").returncode == 0
    assert dapple.run("collection", "pack", "served.dds", "served.zip").returncode == 0
    for paths in (["served.dds"], ["served.dds/"], ["served.zip"], ["served.zip", "plain.csv"]):
        with serving(dapple, *paths) as address:
            nodes = json.loads(ask(address + "/zarr.json")[2])["consolidated_metadata"]["metadata"]
            group = "" if len(paths) == 1 else "served/"
            wanted = [group + name for name in ("X", "layers", "layers/counts")]
            assert sorted(nodes) == (wanted if not group else ["plain", "served", *wanted]), nodes
            assert nodes[group + "layers"]["node_type"] == "group"
            assert json.loads(ask(f"{address}/{group}layers/zarr.json")[2]) == nodes[group + "layers"]
            counts = nodes[group + "layers/counts"]
            assert len(ask(f"{address}/{group}layers/counts/c/0/0")[2]) == 6 * {"uint8": 1, "int64": 8}[counts["data_type"]]
    (dapple.folder / "none.dds").mkdir()
    assert dapple.run("serve", "none.dds").stderr == b"dapple: none.dds: there is nothing to serve\n"
    with serving(dapple, "served.dds/X") as address:
        assert ask(address + "/data/zarr.json")[0] == 200


def check_serve_attributes(dapple):
    """Dimensions are called what two names say, and what is noted of a column is its array's."""
    def attributes_of(key, source, *noted):
        flags = [flag for one in noted for flag in ("--attribute", one)]
        if source == "noted.csv":
            flags += ["--type", "took=duration"]
        assert dapple.run("convert", source, "noted.dbdf", "--force", *flags).returncode == 0
        with serving(dapple, "noted.dbdf") as address:
            return json.loads(ask(f"{address}/{key}")[2])

    for names, wanted in (('["y","x"]', ["y", "x"]), ('["y"]', ["row", "col"]), ('["y","y"]', ["row", "col"]),
                          ("5", ["row", "col"])):
        array = attributes_of("data/zarr.json", "plain.csv", f"dimension_names={names}", "run=1")
        assert array["dimension_names"] == wanted and array["attributes"] == {"run": 1}, (names, array)
    (dapple.folder / "noted.csv").write_text("took,n\n36:00:00,1\n00:00:05,2\n")
    columns = 'column_attributes={"n":{"unit":"mm"}}'
    root = attributes_of("zarr.json", "noted.csv", columns, "run=1")
    assert root["attributes"] == {"run": 1, "column-order": ["took", "n"]}
    nodes = root["consolidated_metadata"]["metadata"]
    assert nodes["n"]["attributes"] == {"unit": "mm"}
    assert nodes["took"]["attributes"] == {"units": "seconds", "dtype": "timedelta64[s]"}
    assert attributes_of("n/zarr.json", "noted.csv", "column_attributes=5")["attributes"] == {}


def check_serve_names(dapple):
    """Names are arrays called as their dimensions, as vlen-utf8 has words, and columns go before them."""
    def words(chunk):
        count, found = struct.unpack_from("<I", chunk)[0], []
        for _ in range(count):
            size = struct.unpack_from("<I", chunk, 4 if not found else at)[0]
            begin = (4 if not found else at) + 4
            found.append(chunk[begin : begin + size].decode())
            at = begin + size
        return found

    (dapple.folder / "rows.txt").write_text("a/b\nü\n")
    (dapple.folder / "cols.txt").write_text("x\n7\nrow\n")
    for dims in (["row", "col"], ["cell", "gene"]):
        assert dapple.run("convert", "plain.csv", "named.dbdf", "--force", "--row-names-file", "rows.txt",
                          "--col-names-file", "cols.txt", "--attribute",
                          f"dimension_names={json.dumps(dims)}").returncode == 0
        with serving(dapple, "named.dbdf") as address:
            for name, wanted in zip(dims, (["a/b", "ü"], ["x", "7", "row"]), strict=True):
                array = json.loads(ask(f"{address}/{name}/zarr.json")[2])
                assert (array["shape"], array["dimension_names"]) == ([len(wanted)], [name]), array
                assert array["data_type"] == "string" and words(ask(f"{address}/{name}/c/0")[2]) == wanted
    for label in ("id", "row"):
        (dapple.folder / "table.csv").write_text(f"{label},name\n5,a\n6,b\n")
        assert dapple.run("convert", "table.csv", "table.dbdf", "--force", "--row-names", "name").returncode == 0
        with serving(dapple, "table.dbdf") as address:
            array = json.loads(ask(f"{address}/row/zarr.json")[2])
            assert (array["data_type"] == "string") is (label == "id"), array
            assert label == "row" or words(ask(f"{address}/row/c/0")[2]) == ["a", "b"]


def check_serve_ranges(dapple):
    with serving(dapple, "plain.csv") as address:
        key = address + "/data/c/0/0"
        whole = ask(key)[2]
        for text, begin, end in (("0-7", 0, 8), ("8-", 8, len(whole)), ("-3", len(whole) - 3, len(whole)),
                                 (f"5-{len(whole) + 9}", 5, len(whole))):
            status, headers, body = ask(key, Range=f"bytes={text}")
            assert status == 206 and body == whole[begin:end], text
            assert headers["Content-Range"] == f"bytes {begin}-{end - 1}/{len(whole)}"
        status, headers, body = ask(key, Range=f"bytes={len(whole)}-")
        assert status == 416 and headers["Content-Range"] == f"bytes */{len(whole)}"
        status, _, body = ask(key, Range="bytes=0-1,3-4")  # several ranges: all of it
        assert status == 200 and body == whole
        status, headers, body = ask(key, "HEAD")
        assert status == 200 and body == b"" and headers["Content-Length"] == str(len(whole))


def check_serve_refuses(dapple):
    with serving(dapple, "plain.csv") as address:
        server, token = address.rsplit("/", 1)
        wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
        for path in (f"{server}/{wrong}/zarr.json", f"{server}/zarr.json", address, f"{address}/data",
                     f"{address}/data/c/1/0", f"{address}/data/c/0", f"{address}/data/c/00/0",
                     f"{address}/%2e%2e/zarr.json", f"{address}/.zgroup"):
            assert ask(path)[0] == 404, path
        for path in (address, address + "/"):
            assert ask(path)[0] == 404 and b"zarr.json tells of it" in ask(path)[2]
        assert ask(address + "/zarr.json?signed=1")[0] == 200 and ask(address + "/zar.json?signed=1")[0] == 404
        assert ask(address + "/zarr.json", Host="example.org")[0] == 403
        assert ask(address + "/zarr.json", "POST")[0] == 405
        status, headers, _ = ask(address + "/zarr.json", "OPTIONS")
        assert status == 200 and "GET" in headers["Access-Control-Allow-Methods"]


def check_serve_two_of_one_name(dapple):
    done = dapple.run("serve", "plain.csv", "./plain.csv")
    assert done.returncode == 2 and b"two files are called 'plain', as which both would be served" in done.stderr


def check_serve_never_shares_a_port(dapple):
    with serving(dapple, "plain.csv") as address:
        port = address.split("/")[2].split(":")[1]
        for verb in ("serve", "view"):
            refused = dapple.run(verb, "plain.csv", "--port", port)
            assert refused.returncode == 3, refused
            assert b"cannot listen on port " + port.encode() in refused.stderr, refused


def check_serve_several(dapple):
    with serving(dapple, "plain.csv", "mixed.dbdf", "table.csv") as address:
        root = json.loads(ask(address + "/zarr.json")[2])
        nodes = root["consolidated_metadata"]["metadata"]
        assert {"plain", "mixed", "table", "table/id", "table/weight", "table/note"} == set(nodes)
        assert nodes["table"]["attributes"]["column-order"] == ["id", "weight", "note"]
        assert nodes["table/weight"]["data_type"] == "float64"
        assert struct.unpack("<2d", ask(address + "/table/weight/c/0")[2]) == (2.5, -1)


def check_serve_labels_as_they_are(dapple):
    # Clients do not escape names: no name may hold what an address has a meaning for.
    labels = ["a/b", "p%q", "p%41", "x?y", "h#i", "t~2F", "s\\t", "two\nlines", "..", "__x", "zarr.json"]
    rows = [",".join(f'"{label}"' for label in labels), ",".join(map(str, range(len(labels))))]
    (dapple.folder / "labels.csv").write_text("\n".join(rows) + "\n")
    with serving(dapple, "labels.csv") as address:
        root = json.loads(ask(address + "/zarr.json")[2])
        names = root["attributes"]["column-order"]
        assert names == ["a~2Fb", "p~25q", "p~2541", "x~3Fy", "h~23i", "t~7E2F", "s~5Ct", "two~0Alines", "~2E~2E",
                         "~5F_x", "~7Aarr.json"]
        for k, name in enumerate(names):
            assert root["consolidated_metadata"]["metadata"][name]["attributes"]["label"] == labels[k]
            status, _, body = ask(f"{address}/{name}/c/0")
            assert status == 200 and struct.unpack("<q", body) == (k,), name


def check_serve_many_columns(dapple):
    """In the order of the frame, each once."""
    labels = [f"c{k:05}" for k in range(20_000)]
    (dapple.folder / "wide.csv").write_text(f"{','.join(labels)}\n{','.join(map(str, range(20_000)))}\n")
    with serving(dapple, "wide.csv") as address:
        nodes = json.loads(ask(address + "/zarr.json")[2])["consolidated_metadata"]["metadata"]
        assert sorted(nodes) == labels
        assert struct.unpack("<q", ask(address + "/c19999/c/0")[2]) == (19_999,)


def check_serve_words(dapple):
    (dapple.folder / "words.csv").write_text("name,age\nAda,36\nGrace,85\n")
    with serving(dapple, "words.csv") as address:
        array = json.loads(ask(address + "/name/zarr.json")[2])
        assert array["data_type"] == "string" and array["codecs"] == [{"name": "vlen-utf8"}]
        body = ask(address + "/name/c/0")[2]
        assert body == struct.pack("<I", 2) + struct.pack("<I", 3) + b"Ada" + struct.pack("<I", 5) + b"Grace"
