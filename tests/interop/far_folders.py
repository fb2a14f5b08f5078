#!/usr/bin/env python3
"""Objects of many files at http addresses: data sets, collections, Zarr hierarchies in folders and in ZIP archives.

    far_folders.py DAPPLE

What dapple prints of an address must be what it prints of the same folder or file on disk."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import zipfile

from checks import run_checks
from range_server import FOLDER, address, most_waiting, requests

DAPPLE = pathlib.Path(sys.argv[1]).resolve()
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
HERE = pathlib.Path(FOLDER.name)
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "zarr"
ROWS, COLS, PARTS = 1200, 40, 4


def dapple(*arguments):
    return subprocess.run([DAPPLE, *map(str, arguments)], capture_output=True, text=True, env=ENVIRONMENT, timeout=60)


def printed(*arguments):
    got = dapple(*arguments)
    assert got.returncode == 0, (arguments, got.stderr)
    return got.stdout


def same(verb, where, path, *flags):
    """What a verb prints of an address is what it prints of a file or folder here."""
    assert printed(verb, where, *flags) == printed(verb, path, *flags), (verb, where, flags)


def refused(words, *arguments):
    got = dapple(*arguments)
    assert got.returncode != 0 and not got.stdout, got
    for word in words:
        assert word in got.stderr, (word, got.stderr)


def asked(who):
    return sum(n for path, n in requests.items() if path.split("/")[2] == who)


def make_files():
    for part in range(PARTS):
        lines = "".join(",".join(str((part * ROWS + r) * 7 % 1000 + c / 8) for c in range(COLS)) + "\n"
                        for r in range(ROWS))
        (HERE / "part.csv").write_text(lines)
        printed("convert", "-q", "--force", "--tile", "400x20", HERE / "part.csv", HERE / f"{part}.dbdf")
    for verb, files in (("create", [0]), ("append", [0, 1]), ("append", [2, 3])):
        printed("dataset", verb, HERE / "d", *(HERE / f"{file}.dbdf" for file in files))
    (HERE / "c.dds" / "layers").mkdir(parents=True)
    shutil.copy(HERE / "0.dbdf", HERE / "c.dds" / "X.dbdf")
    shutil.copy(HERE / "1.dbdf", HERE / "c.dds" / "layers" / "a b.dbdf")
    (HERE / "c.dds" / "collection.json").write_text("{}")
    with zipfile.ZipFile(HERE / "packed.dds", "w") as archive:
        for name in ("collection.json", "X.dbdf", "layers/a b.dbdf"):
            archive.write(HERE / "c.dds" / name, name)
    for name in ("v2", "v3", "cells"):
        shutil.copytree(GOLDEN / f"{name}.zarr", HERE / f"{name}.zarr")
        for suffix, method, root in (("", zipfile.ZIP_STORED, ""), ("-small", zipfile.ZIP_DEFLATED, "a/")):
            with zipfile.ZipFile(HERE / f"{name}{suffix}.zarr.zip", "w", method) as archive:
                for path in sorted((GOLDEN / f"{name}.zarr").rglob("*")):
                    if path.is_file():
                        archive.write(path, root + str(path.relative_to(GOLDEN / f"{name}.zarr")))


def last_state():
    return max(int(path.name[8:]) for path in (HERE / "d").glob("dataset-*"))


def check_a_state_is_opened_by_its_address(_):
    state = f"d/dataset-{last_state()}"
    for verb, *flags in (["get"], ["stats"], ["where", "> 999"], ["get", "--rows", "1150:1300", "--cols", "3:30"]):
        same(verb, address("plain", "state", state), HERE / "d", *flags)
    info = printed("info", address("plain", "state", state))
    assert f"{PARTS * ROWS} x {COLS}" in info, info


def check_parts_are_opened_when_they_are_touched(_):
    state = f"d/dataset-{last_state()}"
    printed("info", address("plain", "info", state))
    assert asked("info") <= 2, requests
    printed("get", address("plain", "few", state), "--rows", "1200:1210")
    touched = {path for path in requests if path.startswith("/plain/few/d/part-")}
    assert len(touched) == 1, touched


def check_a_folder_of_states_is_refused_with_its_remedy(_):
    for where in (address("plain", "dir", "d/"), address("plain", "dir", "nothing/")):
        refused(["cannot be listed", "dataset-7"], "info", where)


def check_parts_that_are_gone_or_changed(_):
    state = f"dataset-{last_state()}"
    for what in ("gone", "longer", "header", "index"):
        shutil.copytree(HERE / "d", HERE / what)
        part = max((HERE / what).glob("part-*"))
        data = part.read_bytes()
        if what == "gone":
            part.unlink()
        else:
            part.write_bytes({"longer": data + b"x", "header": b"\1\1" + bytes(8) + data[10:],
                              "index": data[:-30] + b"xx" + data[-28:]}[what])
        refused([f"{what}/{part.name}", f"{what}/{state}"], "get", address("plain", "changed", f"{what}/{state}"))
    refused(["status 404", "dataset-9"], "info", address("plain", "stale", "d/dataset-9"))


def check_a_part_that_is_replaced_by_the_same_bytes(_):
    """Its tag changes after the first request: it is opened anew, and compared again."""
    same("get", address("replaced", "again", f"d/dataset-{last_state()}"), HERE / "d", "--rows", "0:9")
    assert asked("again") > 3, requests


def write_sparse_zarr(folder):
    """A CSR matrix of version 2 whose entries are in ten chunks, not compressed."""
    arrays = {"data": ("<f8", "d", [r + c / 8 for r in range(100) for c in range(10)], 100),
              "indices": ("<i4", "i", [c * 3 for _ in range(100) for c in range(10)], 100),
              "indptr": ("<i4", "i", list(range(0, 1001, 10)), 101)}
    folder.mkdir()
    (folder / ".zgroup").write_text('{"zarr_format": 2}')
    (folder / ".zattrs").write_text(
        '{"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": [100, 30]}')
    for name, (dtype, code, values, chunk) in arrays.items():
        (folder / name).mkdir()
        (folder / name / ".zarray").write_text(json.dumps({
            "zarr_format": 2, "shape": [len(values)], "chunks": [chunk], "dtype": dtype, "order": "C",
            "compressor": None, "filters": None, "fill_value": 0}))
        for k in range(0, len(values), chunk):
            (folder / name / str(k // chunk)).write_bytes(struct.pack(f"<{chunk}{code}", *values[k:k + chunk]))


def check_parts_and_chunks_are_fetched_at_once(_):
    same("get", address("slow", "parts", f"d/dataset-{last_state()}"), HERE / "d")
    assert most_waiting["parts"] >= PARTS, most_waiting
    for array, chunks in (("big", 6), ("sharded", 2)):
        same("get", address("slow", array, "v3.zarr"), GOLDEN / "v3.zarr", "--array", array)
        assert most_waiting[array] >= chunks, most_waiting
    write_sparse_zarr(HERE / "sparse.zarr")
    same("get", address("slow", "sparse", "sparse.zarr"), HERE / "sparse.zarr")
    assert most_waiting["sparse"] >= 10, most_waiting


def check_consolidated_metadata_of_version_2(_):
    """What .zmetadata tells is not asked for again."""
    keys = {}
    for path in sorted((GOLDEN / "v2.zarr").rglob(".z*")):
        keys[str(path.relative_to(GOLDEN / "v2.zarr"))] = json.loads(path.read_text())
    shutil.copytree(GOLDEN / "v2.zarr", HERE / "known.zarr")
    (HERE / "known.zarr" / ".zmetadata").write_text(
        json.dumps({"zarr_consolidated_format": 1, "metadata": keys}))
    for array in ("blosc", "zlib", "plain"):
        same("get", address("plain", "known", "known.zarr"), GOLDEN / "v2.zarr", "--array", array)
    assert not [path for path in requests if "/known/" in path and path.endswith((".zarray", ".zattrs"))], requests
    refused(["blosc", "zlib", "plain"], "info", address("plain", "listed", "known.zarr"))


def check_redirected_and_cached_parts(folder):
    state = f"d/dataset-{last_state()}"
    wanted = printed("get", HERE / "d")
    assert printed("get", address("moved", "redirected", state)) == wanted
    where = address("plain", "kept", state)
    assert printed("get", where, "--cache", folder / "c") == wanted
    before = asked("kept")
    assert before > 0 and printed("get", where, "--cache", folder / "c") == wanted
    assert asked("kept") == before


def check_servers_that_do_not_count_from_the_end(_):
    same("get", address("no-end", "front", f"d/dataset-{last_state()}"), HERE / "d")


def check_collections(_):
    for member in ("X", "layers/a b"):
        for where in ("packed.dds", "c.dds/", "c.dds"):
            same("get", address("plain", "dds", where), HERE / "c.dds", "--array", member)
        inside = member.replace(" ", "%20")
        for where in (f"c.dds/{inside}", f"c.dds/{inside}.dbdf"):
            same("get", address("plain", "dds", where), HERE / "c.dds" / f"{member}.dbdf")
    refused(["status 404", "c.dds/nope.dbdf"], "get", address("plain", "dds", "c.dds/nope"))
    assert printed("info", address("plain", "dds", "packed.dds")) == printed("info", HERE / "packed.dds")
    refused(["no name of a member"], "get", address("plain", "dds", "c.dds/"), "--array", "../0")
    refused(["name the member"], "get", address("plain", "dds", "c.dds/"))
    refused(["X, layers/a b"], "get", address("plain", "dds", "packed.dds"))


def check_zarr_in_archives(_):
    for name, arrays in (("v3", ["big", "turned", "half", "gzip", "sharded", "partial"]),
                         ("v2", ["blosc", "zlib", "plain"]), ("cells", ["X", "obs"])):
        for packed in (f"{name}.zarr.zip", f"{name}-small.zarr.zip"):
            for where in (HERE / packed, address("plain", "zip", packed)):
                for array in arrays:
                    same("get", where, GOLDEN / f"{name}.zarr", "--array", array)


def check_zarr_in_folders_of_a_server(_):
    for name, array in (("v3", "big"), ("v3", "sharded"), ("v3", "partial"), ("v2", "zlib"), ("cells", "X"),
                        ("cells", "obs")):
        for where in (f"{name}.zarr", f"{name}.zarr/"):
            same("get", address("plain", "zarr", where), GOLDEN / f"{name}.zarr", "--array", array)
    refused(["big", "sharded"], "info", address("plain", "zarr", "v3.zarr"))  # listed from its metadata
    refused(["sized", "cannot be listed"], "info", address("plain", "zarr", "sized.zarr"))


def check_a_bad_chunk_is_named_by_its_key(_):
    shutil.copytree(GOLDEN / "v3.zarr", HERE / "bad.zarr")
    for chunk, damage in (("gzip/c/1/2", lambda data: data[:-1]), ("big/c/0/1", lambda data: data + b"x")):
        path = HERE / "bad.zarr" / chunk
        path.write_bytes(damage(path.read_bytes()))
    with zipfile.ZipFile(HERE / "bad.zip", "w") as archive:
        for path in (HERE / "bad.zarr").rglob("*"):
            archive.write(path, path.relative_to(HERE / "bad.zarr"))
    for chunk in ("gzip/c/1/2", "big/c/0/1"):
        for where in (HERE / "bad.zip", address("plain", "bad", "bad.zip"), address("plain", "bad", "bad.zarr")):
            refused([f"{str(where).rpartition('/')[2]}/{chunk}"], "get", where, "--array", chunk.split("/")[0])


if __name__ == "__main__":
    make_files()
    if "built without libcurl" in dapple("info", address("plain", "first")).stderr:
        print("libcurl is missing")
        sys.exit(77)
    sys.exit(run_checks(globals()))
