"""What --json prints, and errors, which are JSON with it."""

import errno
import gzip
import json
import pathlib
import time

import inputs
import terminal

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
KINDS = {"empty", "dense", "csr", "coo"}
TYPES = set(inputs.CODES)
FORMATS = {"dbdf", "daphne", "futhark", "btable", "idv", "npy", "mtx", "csv"}
CODES = {"io", "not_recognised", "unsupported", "corrupt", "out_of_range", "absent",
         "type_mismatch", "invalid_argument", "stale_index"}
BLOCK_KEYS = ["rx", "cx", "rows", "cols", "kind", "value_type", "stored", "offset", "bytes"]
SOUND = ["mixed", "frame", "gap", "irregular", "padded", "wide", "csr", "none", "no_columns",
         "many", "columns", "labels", "numbers"]


def is_count(value):
    return type(value) is int and 0 <= value < 2**64


def require_info(info):
    matrix = info["kind"] == "matrix"
    shape = ["storage", "rows", "cols", "value_type"] if matrix else ["rows", "cols", "columns"]
    assert list(info) == ["format", "kind", *shape, "blocks", "grid", "stored", "bytes", "index"]
    assert info["format"] in FORMATS
    assert info["kind"] in {"matrix", "frame"}
    assert all(is_count(info[key]) for key in ("rows", "cols", "stored", "bytes"))
    if matrix:
        assert info["storage"] in {"dense", "csr"} and info["value_type"] in TYPES
    else:
        assert len(info["columns"]) == info["cols"]
        for column in info["columns"]:
            assert list(column) == ["label", "value_type"]
            assert type(column["label"]) is str and column["value_type"] in TYPES
    blocks = info["blocks"]
    assert list(blocks) == ["total", "empty", "dense", "csr", "coo"]
    assert all(is_count(n) for n in blocks.values())
    assert blocks["total"] == sum(blocks[kind] for kind in KINDS)
    if info["grid"] is not None:
        assert list(info["grid"]) == ["rows", "cols", "tile_rows", "tile_cols"]
        assert all(is_count(n) and n > 0 for n in info["grid"].values())
    assert info["index"] in {"embedded", "sidecar", "scanned"}


def require_block(block):
    assert list(block) == BLOCK_KEYS
    assert block["kind"] in KINDS
    if block["kind"] == "empty":
        assert block["value_type"] is None
    else:
        assert block["value_type"] in TYPES
    assert all(is_count(block[k]) for k in BLOCK_KEYS if k not in ("kind", "value_type"))


def require_error(text, code=None):
    """One line of JSON that tells an error."""
    assert text.endswith(b"\n") and text.count(b"\n") == 1, text
    error = json.loads(text)
    assert list(error) == ["error"]
    number = error["error"].pop("errno", None)  # of the system alone
    assert number is None or (type(number) is int and number > 0), text
    require_finding(error["error"])
    assert code is None or error["error"]["code"] == code, text
    return error["error"]


def require_finding(finding):
    assert list(finding) == ["code", "file", "offset", "message"]
    assert finding["code"] in CODES
    assert finding["file"] is None or type(finding["file"]) is str
    assert finding["offset"] is None or is_count(finding["offset"])
    assert type(finding["message"]) is str and finding["message"]


def check_json_of_info_and_blocks(dapple):
    """Both on every sound file: keys, types, and that they tell the same story."""
    for name in SOUND:
        done = dapple.run("info", "--json", f"{name}.dbdf")
        assert done.returncode == 0 and not done.stderr, name
        assert done.stdout.count(b"\n") == 1
        info = json.loads(done.stdout)
        require_info(info)
        done = dapple.run("blocks", "--json", f"{name}.dbdf")
        assert done.returncode == 0 and not done.stderr
        blocks = [json.loads(line) for line in done.stdout.splitlines()]
        for block in blocks:
            require_block(block)
            assert block["offset"] + block["bytes"] <= info["bytes"]
        assert len(blocks) == info["blocks"]["total"]
        for kind in KINDS:
            assert sum(b["kind"] == kind for b in blocks) == info["blocks"][kind]
        assert sum(b["stored"] for b in blocks) == info["stored"]
        assert info["bytes"] == (dapple.folder / f"{name}.dbdf").stat().st_size


def check_json_of_blocks_equals_text(dapple):
    for name in SOUND:
        text = dapple.run("blocks", f"{name}.dbdf").stdout.decode().splitlines()
        assert text[0].split() == ["rx", "cx", "rows", "cols", "kind", "type", "stored", "offset",
                                   "bytes"]
        lines = dapple.run("blocks", "--json", f"{name}.dbdf").stdout.splitlines()
        blocks = [json.loads(line) for line in lines]
        assert [line.split() for line in text[1:]] == [
            ["-" if b[k] is None else str(b[k]) for k in BLOCK_KEYS] for b in blocks]
        assert len({len(line) for line in text}) == 1, "columns are not aligned"


def check_json_of_errors(dapple):
    wrong = [
        (3, "io", ["info", "missing.dbdf"]),
        (1, "not_recognised", ["blocks", "folder"]),
        (1, "corrupt", ["info", "cut.dbdf"]),
        (1, "corrupt", ["get", "column.dbdf"]),
        (1, "corrupt", ["index", "cut.dbdf"]),
        (1, "corrupt", ["convert", "cut.dbdf", "a.npy"]),
        (1, "not_recognised", ["info", "noise"]),
        (2, "out_of_range", ["get", "mixed.dbdf", "--rows", "0:6"]),
        (2, "absent", ["get", "mixed.dbdf", "--block", "1,1"]),
        (2, "absent", ["get", "frame.dbdf", "--column", "x"]),
        (2, "invalid_argument", ["get", "mixed.dbdf", "--tile", "x"]),
        (2, "invalid_argument", ["convert", "mixed.dbdf", "gap.dbdf"]),
        (2, "invalid_argument", ["info"]),
        (2, "invalid_argument", ["fly"]),
        (2, "type_mismatch", ["convert", "numbers.dbdf", "a.dbdf", "--value-type", "f32"]),
    ]
    (dapple.folder / "noise.dbdf").rename(dapple.folder / "noise")
    for status, code, arguments in wrong:
        done = dapple.run(*arguments, "--json")
        assert done.returncode == status, (arguments, done)
        assert done.stdout == b"" or arguments[0] == "get", (arguments, done)
        error = require_error(done.stderr, code)
        line = dapple.run(*arguments).stderr.decode().splitlines()[0]
        assert line.startswith("dapple: ") and line.endswith(error["message"]), (arguments, line)
        if error["offset"] is not None:
            assert f"at byte {error['offset']}: " in line


def check_json_of_verify(dapple):
    for name in ("mixed", "cut", "twice"):
        done = dapple.run("verify", "--payload", "--json", f"{name}.dbdf")
        *findings, summary = [json.loads(line) for line in done.stdout.splitlines()]
        for finding in findings:
            require_finding(finding)
        assert list(summary) == ["findings", "blocks", "level"]
        assert summary["findings"] == len(findings) and is_count(summary["blocks"])
        assert summary["level"] == "payload"
        assert done.returncode == (1 if findings else 0) and not done.stderr
        assert bool(findings) == (name != "mixed")


def check_info_of_damaged_words(dapple):
    """Of a category whose words cannot be read, everything else is shown."""
    with gzip.open(GOLDEN / "anndata" / "0.12.19.h5ad.gz") as file:
        data = file.read()
    assert data.count(b"NK\0") == 1  # a word of cell_type
    (dapple.folder / "a.h5ad").write_bytes(data.replace(b"NK\0", b"\xff\xff\0"))
    done = dapple.run("info", "a.h5ad", "--array", "obs")
    if b"dapple was built without HDF5" in done.stderr:
        raise terminal.Missing("this dapple was built without HDF5")
    assert done.returncode == 0 and not done.stderr
    assert b"cell_type  category, whose words are damaged, some missing\n" in done.stdout
    info = json.loads(dapple.run("info", "a.h5ad", "--array", "obs", "--json").stdout)
    words = {column["label"]: column.get("words") for column in info["columns"]}
    assert words["cell_type"] is None and words["ordered"] == 2
    require_error(dapple.run("get", "a.h5ad", "--array", "obs", "--json").stderr, "corrupt")


def check_json_of_repair(dapple):
    done = dapple.run("repair", "cut.dbdf", "-o", "a.dbdf", "--json")
    *lost, summary = [json.loads(line) for line in done.stdout.splitlines()]
    for loss in lost:
        require_finding(loss)
    assert summary == {"lost": len(lost), "kept": 3, "meanings_lost": 0, "bytes": (dapple.folder / "a.dbdf")
                       .stat().st_size}
    assert done.returncode == 1 and lost and not done.stderr


def check_errors_are_one_line(dapple):
    """Whatever a file or its name holds, an error takes one line, without control characters."""
    names = ["\n", "a\nb", "\x1b[31m", "x\x7f", "\udcff"]  # the last: a byte that is no UTF-8
    for name in names:
        done = dapple.run("info", f"missing{name}")
        assert done.returncode == 3
        assert done.stderr.count(b"\n") == 1 and done.stderr.endswith(b"\n")
        assert all(b >= 0x20 and b != 0x7f for b in done.stderr[:-1]), done.stderr
        done.stderr.decode()  # is UTF-8
        told = dapple.run("info", f"missing{name}", "--json").stderr
        assert json.loads(told)["error"]["errno"] == errno.ENOENT
        require_error(told, "io")


def check_many_columns(dapple):
    """A frame of 200,000 columns is no burden."""
    (dapple.folder / "wide_frame.dbdf").write_bytes(inputs.many_columns(200_000))
    start = time.monotonic()
    info = json.loads(dapple.run("info", "--json", "wide_frame.dbdf").stdout)
    assert time.monotonic() - start < 5
    require_info(info)
    assert info["columns"][-1] == {"label": "column 199999", "value_type": "u8"}
