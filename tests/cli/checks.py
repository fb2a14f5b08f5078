"""Checks that need more than a command and its output. Each check_* is run with a Program whose
folder holds the files of inputs.py; an AssertionError is a failure."""

import json
import os
import resource
import signal
import struct
import subprocess
import time
import urllib.request
import zipfile
import zlib

import inputs
import terminal

KINDS = {"empty", "dense", "csr", "coo"}
TYPES = set(inputs.CODES)
FORMATS = {"dbdf", "daphne", "futhark", "btable", "idv", "npy", "mtx", "csv"}
CODES = {"io", "not_recognised", "unsupported", "corrupt", "out_of_range", "absent",
         "type_mismatch", "invalid_argument", "stale_index"}
BLOCK_KEYS = ["rx", "cx", "rows", "cols", "kind", "value_type", "stored", "offset", "bytes"]
SOUND = ["mixed", "frame", "gap", "irregular", "padded", "wide", "csr", "none", "no_columns",
         "many", "columns", "labels", "numbers"]


class Program:
    def __init__(self, path, folder, env):
        self.path, self.folder, self.env = path, folder, env

    def start(self, *arguments, **options):
        return subprocess.Popen([self.path, *arguments], cwd=self.folder, env=self.env, **options)

    def run(self, *arguments, **options):
        options = {"stdin": subprocess.DEVNULL, "capture_output": True, **options}
        return subprocess.run([self.path, *arguments], cwd=self.folder, env=self.env, timeout=60,
                              **options)


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
        (3, "io", ["blocks", "folder"]),
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


def check_json_of_repair(dapple):
    done = dapple.run("repair", "cut.dbdf", "-o", "a.dbdf", "--json")
    *lost, summary = [json.loads(line) for line in done.stdout.splitlines()]
    for loss in lost:
        require_finding(loss)
    assert summary == {"lost": len(lost), "kept": 3, "bytes": (dapple.folder / "a.dbdf")
                       .stat().st_size}
    assert done.returncode == 1 and lost and not done.stderr


def check_closed_pipe_is_quiet(dapple):
    for arguments in (["blocks", "many.dbdf"], ["blocks", "many.dbdf", "--json"],
                      ["blocks", "many.dbdf", "--all"], ["get", "many.dbdf"],
                      ["get", "many.dbdf", "--to", "npy"],
                      ["convert", "many.dbdf", "-", "--to", "csv"], ["info", "mixed.dbdf"],
                      ["verify", "mixed.dbdf"], ["info", "--help"], ["--version"]):
        ours, theirs = os.pipe()
        os.close(ours)
        process = dapple.start(*arguments, stdout=theirs, stderr=subprocess.PIPE)
        os.close(theirs)
        errors = process.communicate(timeout=60)[1]
        assert errors == b"" and process.returncode == 0, (arguments, errors, process.returncode)


def check_pipe_closed_half_way(dapple):
    process = dapple.start("blocks", "many.dbdf", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout.readline().split()[0] == b"rx"
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


def check_full_disk(dapple):
    """Bytes that standard output does not take are an error, however few they are."""
    for arguments in (["blocks", "many.dbdf"], ["get", "many.dbdf"], ["info", "mixed.dbdf"],
                      ["get", "irregular.dbdf", "--to", "npy"], ["--help"],
                      ["verify", "mixed.dbdf"]):
        with open("/dev/full", "wb") as full:
            done = dapple.run(*arguments, stdout=full, stderr=subprocess.PIPE,
                              capture_output=False)
        assert done.returncode == 3, (arguments, done)
        assert done.stderr == (b"dapple: stdout: cannot write: "
                               b"No space left on device\n"), done.stderr


def check_closed_descriptors(dapple):
    """A file of ours must not become standard output or standard error."""
    for fd in (0, 1, 2):
        process = dapple.start("convert", "-q", "irregular.dbdf", f"{fd}.csv",
                               preexec_fn=lambda fd=fd: os.close(fd))
        assert process.wait(timeout=60) == 0
        assert (dapple.folder / f"{fd}.csv").read_bytes() == b"1,2,3\n4,5,6\n7,8,9\n"
    process = dapple.start("info", "irregular.dbdf", stderr=subprocess.PIPE,
                           preexec_fn=lambda: os.close(1))
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == 3 and b"Bad file descriptor" in errors


def check_file_size_limit(dapple):
    """A file that may not grow is an error of the system, and leaves nothing behind."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    before = set(os.listdir(dapple.folder))
    done = dapple.run("convert", "many.dbdf", "a.csv", preexec_fn=limit)
    assert done.returncode == 3, done
    assert done.stderr.startswith(b"dapple: a.csv: cannot write: ")
    assert set(os.listdir(dapple.folder)) == before


def interrupted(dapple, delay, *arguments, **options):
    """The status of a program that gets SIGINT after `delay` seconds."""
    process = dapple.start(*arguments, stderr=subprocess.PIPE, **options)
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    status = process.wait(timeout=60)
    process.stderr.close()
    return status


def check_interrupt_leaves_nothing(dapple):
    """Killed while reading a pipe, or while writing: the output is whole or not there."""
    side = 1200
    (dapple.folder / "large.dbdf").write_bytes(
        inputs.matrix_header(side, side, "f64")
        + inputs.dense(0, 0, side, side, "f64", [i / 7 for i in range(side * side)]))
    before = set(os.listdir(dapple.folder))
    ours, theirs = os.pipe()
    assert interrupted(dapple, 0.1, "convert", "-", "a.dbdf", "--from", "csv",
                       stdin=ours) == -signal.SIGINT
    os.close(ours)
    os.close(theirs)
    assert set(os.listdir(dapple.folder)) == before
    assert dapple.run("convert", "large.dbdf", "a.csv", "-q").returncode == 0
    whole = (dapple.folder / "a.csv").read_bytes()
    for step in range(12):
        (dapple.folder / "a.csv").unlink(missing_ok=True)
        status = interrupted(dapple, 0.02 * step, "convert", "large.dbdf", "a.csv", "-q")
        assert status in (0, -signal.SIGINT)
        left = set(os.listdir(dapple.folder)) - before
        assert left <= {"a.csv"} and (status != 0 or left == {"a.csv"}), left
        assert not left or (dapple.folder / "a.csv").read_bytes() == whole


def check_input_cut_while_it_is_read(dapple):
    """Somebody cuts the file short while its cells are printed: an error that names the block."""
    rows, cols = 20000, 60
    data = inputs.matrix_header(rows, cols, "f64")
    for row in range(0, rows, 100):
        data += inputs.dense(row, 0, 100, cols, "f64", [row + 0.5] * (100 * cols))
    (dapple.folder / "large.dbdf").write_bytes(data)
    process = dapple.start("get", "large.dbdf", "--threads", "1", stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
    assert process.stdout.readline().startswith(b"0.5,0.5")
    os.truncate(dapple.folder / "large.dbdf", 5000)
    printed, errors = process.stdout.read(), process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    assert process.wait(timeout=60) == 3, errors
    expected = b"dapple: large.dbdf: at byte 5000: the file was truncated to 5000 "
    assert errors.startswith(expected), errors
    assert b" while block (" in errors and errors.count(b"\n") == 1, errors
    for number, line in enumerate(printed.splitlines()[:-1], 1):
        assert line == b",".join([b"%g" % (number // 100 * 100 + 0.5)] * cols), (number, line)


def check_bad_end_of_input_gives_no_output(dapple):
    """Input that is closed early, or bad in its last line: no file appears, none is replaced."""
    good = {"csv": b"1,2\n3,4\n", "mtx": b"%%MatrixMarket matrix array real general\n1 2\n1\n2\n",
            "futhark": b"[[1, 2], [3, 4]]"}
    bad = {"csv": [b"1,2\n3,4,5\n", b"1,2\n3\n", b"1,2\n3,\"4"],
           "mtx": [good["mtx"][:-2], good["mtx"] + b"3\n", good["mtx"][:-2] + b"x\n"],
           "futhark": [good["futhark"][:-1], good["futhark"][:-2] + b"x]]", b"[[1, 2], [3]]"]}
    for name, text in good.items():
        assert dapple.run("convert", "-", "a.dbdf", "--from", name, "--force", "-q",
                          stdin=None, input=text).returncode == 0
    whole = (dapple.folder / "a.dbdf").read_bytes()
    before = set(os.listdir(dapple.folder))
    for name, texts in bad.items():
        for text in texts:
            for out in ("a.dbdf", "b.dbdf", "b.csv", "b.npy"):
                done = dapple.run("convert", "-", out, "--from", name, "--force",
                                  stdin=None, input=text)
                assert done.returncode == 1, (name, text, done)
                assert done.stderr.count(b"\n") == 1, done
                assert set(os.listdir(dapple.folder)) == before, (name, text)
    assert (dapple.folder / "a.dbdf").read_bytes() == whole


def check_slow_reader_gets_everything(dapple):
    """Standard output that must not block: the program waits instead of failing."""
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    process = dapple.start("blocks", "many.dbdf", stdout=theirs)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        time.sleep(0.2)
        lines = pipe.read().splitlines()
    assert process.wait(timeout=60) == 0 and len(lines) == 20001


def check_errors_are_one_line(dapple):
    """Whatever a file or its name holds, an error takes one line, without control characters."""
    names = ["\n", "a\nb", "\x1b[31m", "x\x7f", "\udcff"]  # the last: a byte that is no UTF-8
    for name in names:
        done = dapple.run("info", f"missing{name}")
        assert done.returncode == 3
        assert done.stderr.count(b"\n") == 1 and done.stderr.endswith(b"\n")
        assert all(b >= 0x20 and b != 0x7f for b in done.stderr[:-1]), done.stderr
        done.stderr.decode()  # is UTF-8
        require_error(dapple.run("info", f"missing{name}", "--json").stderr, "io")


def check_npy_of_every_type(dapple):
    """`get --to npy` against a reader of that format in a few lines."""
    for value_type, letter in inputs.LETTERS.items():
        numbers = [0, 1, 2, 3, 100, 127]
        data = inputs.matrix_header(2, 3, value_type)
        data += inputs.dense(0, 0, 2, 3, value_type, numbers)
        (dapple.folder / "typed.dbdf").write_bytes(data)
        npy = dapple.run("get", "typed.dbdf", "--to", "npy").stdout
        assert npy[:6] == b"\x93NUMPY"
        length = struct.unpack_from("<H", npy, 8)[0]
        header = npy[10:10 + length].decode()
        assert "'shape': (2, 3)" in header and "'fortran_order': False" in header
        assert npy[10 + length:] == struct.pack(f"<6{letter}", *numbers)


def check_bytes_are_the_same_with_every_number_of_threads(dapple):
    outputs = {n: dapple.run("get", "many.dbdf", "--threads", str(n)).stdout for n in (1, 2, 7)}
    assert outputs[1] and len(set(outputs.values())) == 1


def check_many_columns(dapple):
    """A frame of 200,000 columns is no burden."""
    (dapple.folder / "wide_frame.dbdf").write_bytes(inputs.many_columns(200_000))
    start = time.monotonic()
    info = json.loads(dapple.run("info", "--json", "wide_frame.dbdf").stdout)
    assert time.monotonic() - start < 5
    require_info(info)
    assert info["columns"][-1] == {"label": "column 199999", "value_type": "u8"}


def check_verify_and_repair_take_little_memory_for_many_blocks(dapple):
    """A million small blocks in no order: 140 MiB to verify them, not 370 bytes for each."""
    def limit(mebibytes):
        return lambda: resource.setrlimit(resource.RLIMIT_DATA, (mebibytes << 20, mebibytes << 20))
    if dapple.run("--version", preexec_fn=limit(80)).returncode != 0:
        return  # a sanitizer, which takes more by itself
    count, factor = 1_000_000, 7919
    header = struct.pack("<BBQQB", 1, 1, count, 2, 1)
    blocks = b"".join(struct.pack("<QQIIB", k * factor % count, 0, 1, 2, 0) for k in range(count))
    (dapple.folder / "many_blocks.dbdf").write_bytes(header + blocks)
    done = dapple.run("verify", "many_blocks.dbdf", "--payload", preexec_fn=limit(140))
    assert done.returncode == 0 and b"0 findings in 1000000 blocks" in done.stdout, done
    done = dapple.run("repair", "many_blocks.dbdf", "-o", "saved.dbdf", preexec_fn=limit(300))
    assert done.returncode == 0, done


def check_conversions_take_less_memory_than_the_file(dapple):
    """100 MB of text, to other formats and back, with 80 MiB of private memory."""
    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (80 << 20, 80 << 20))
    if dapple.run("--version", preexec_fn=limit).returncode != 0:
        return  # a sanitizer, which takes more by itself
    rows = b"".join(b"%d.5,%d.125,%d.75,%d.0625\n" % (i, i * i, i // 7, i % 11)
                    for i in range(1 << 14))
    text = rows * (100_000_000 // len(rows))
    (dapple.folder / "large.csv").write_bytes(text)
    for source, out in (("large.csv", "large.dbdf"), ("large.dbdf", "large.npy"),
                        ("large.dbdf", "again.csv")):
        done = dapple.run("convert", source, out, "--threads", "1", preexec_fn=limit)
        assert done.returncode == 0, done
    assert (dapple.folder / "again.csv").read_bytes() == text


def check_many_zeros_on_a_terminal_are_remarked(dapple):
    """A screen of nothing but zeros says what would print less."""
    banner = "%%MatrixMarket matrix coordinate integer general\n1000 1000 1\n"
    (dapple.folder / "zeros.mtx").write_text(banner + "500 500 7\n")

    def printed(*arguments):
        return terminal.run([dapple.path, *arguments], 80, 60, cwd=dapple.folder, env=dapple.env)
    remark = (b"dapple: zeros.mtx: about 99 % of these 100000 cells are zero; "
              b"--sparse prints only the others\n")
    assert printed("get", "zeros.mtx", "--rows", ":100")[1] == remark
    assert printed("get", "zeros.mtx", "--rows", ":100", "-q")[1] == b""
    assert printed("get", "zeros.mtx", "--rows", ":99")[1] == b""
    assert printed("get", "zeros.mtx", "--sparse") == (b"499,499,7\n", b"", 0)


def png_pixels(data):
    """Rows of (red, green, blue) of a PNG file."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, palette = 8, b"", None
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + size]
        assert zlib.crc32(name + body) == struct.unpack_from(">I", data, at + 8 + size)[0]
        if name == b"IHDR":
            width, height, depth, kind, *rest = struct.unpack(">IIBBBBB", body)
            assert (depth, kind) in ((8, 2), (8, 3), (4, 3), (2, 3), (1, 3)) and rest == [0, 0, 0]
        elif name == b"PLTE":
            palette = [tuple(body[k:k + 3]) for k in range(0, size, 3)]
        elif name == b"IDAT":
            packed += body
        at += 12 + size
    step = 3 if kind == 2 else 1
    size = step * width if kind == 2 else (width * depth + 7) // 8
    bytes_left, above, rows = iter(zlib.decompress(packed)), bytes(size), []
    for _ in range(height):
        line, rule = bytearray(), next(bytes_left)
        for i in range(size):
            left, up, corner = (line[i - step], above[i], above[i - step]) if i >= step else (0, above[i], 0)
            nearest = min((left, up, corner), key=lambda n: abs(left + up - corner - n))
            guess = (0, left, up, (left + up) // 2, nearest)[rule]
            line.append((next(bytes_left) + guess) % 256)
        if kind == 2:
            rows.append([tuple(line[k:k + 3]) for k in range(0, size, 3)])
        else:
            bits = int.from_bytes(line, "big")
            rows.append([palette[bits >> 8 * size - depth * (x + 1) & 2**depth - 1] for x in range(width)])
        above = line
    return rows


def check_show_png_holds_a_colour_for_each_kind(program):
    """The four tiles of mixed.dbdf, from the upper left to the lower right corner of the frame."""
    program.run("show", "mixed.dbdf", "--what", "kind", "-o", "a.png", "--size", "300x250", check=True)
    rows = png_pixels((program.folder / "a.png").read_bytes())
    assert (len(rows[0]), len(rows)) == (300, 246)
    left, right, top, bottom = 32 + 31, 32 + 93, 75 + 40, 75 + 140
    assert rows[top][left] == (0, 114, 178) and rows[top][right] == (240, 240, 240)
    assert rows[bottom][left] == (86, 180, 233) and rows[bottom][right] == (230, 159, 0)


def tile_values(data):
    """Rows of numbers of a tile, None where there is none."""
    width, height = struct.unpack_from("<HH", data)
    n = width * height
    codes = [data[5 + i] << 8 | data[5 + n + i] for i in range(n)]
    values = [None if 0x7fc0 <= code <= 0x7fc2 else struct.unpack("<f", struct.pack("<I", code << 16))[0]
              for code in codes]
    return [values[r * width:(r + 1) * width] for r in range(height)]


def check_view_keeps_tiles_that_any_zip_program_reads(program):
    program.run("view", "irregular.dbdf", "-o", "irregular.dbdf.dpp", check=True)
    with zipfile.ZipFile(program.folder / "irregular.dbdf.dpp") as archive:
        assert archive.testzip() is None
        names = [f"tile/{what}/0.0.0" for what in ("density", "mean", "min", "max")]
        assert archive.namelist() == ["pyramid.json", "meta", *names]
        assert tile_values(archive.read("tile/max/0.0.0")) == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
        assert json.loads(archive.read("meta"))["rows"] == 3


def check_view_believes_no_damaged_byte(program):
    """Whatever byte of the kept pictures is changed, the picture is right, refused, or drawn anew."""
    command = ["show", "csr.dbdf", "--from-stats", "--what", "max", "--size", "20x8"]
    program.run("view", "csr.dbdf", "-o", "csr.dbdf.dpp", check=True)
    file = program.folder / "csr.dbdf.dpp"
    data, right = file.read_bytes(), program.run(*command).stdout
    assert b"maximum" in right
    for at in range(0, len(data), 41):
        file.write_bytes(data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1:])
        done = program.run(*command)
        assert done.returncode in (0, 1) and (done.returncode == 1 or done.stdout == right), at


def check_view_serves_until_it_is_interrupted(program):
    server = program.start("view", "mixed.dbdf", "-q", stdout=subprocess.PIPE)
    try:
        address = server.stdout.readline().decode().strip()
        assert address.startswith("http://127.0.0.1:")

        def get(name):
            with urllib.request.urlopen(address + name, timeout=30) as answer:
                assert answer.headers["Content-Encoding"] == "deflate"
                return zlib.decompress(answer.read())
        assert b"<title>mixed.dbdf - dapple</title>" in get("")
        assert tile_values(get("0/tile/max/0.0.0"))[4] == [200, 0, 0, -300]
        cells = json.loads(get("0/cells/0.0"))
        assert cells == {"cells": {"0": "1.5", "1": "2", "64": "-0", "65": "nan", "128": "0.1",
                                   "129": "-inf", "193": "7", "256": "200", "259": "-300"}}
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=30) == 0
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
