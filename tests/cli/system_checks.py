"""What the system does to a program: pipes that close, disks that are full, signals, little memory."""

import os
import resource
import shutil
import signal
import struct
import subprocess
import time

import inputs


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
    """A file that may not grow is an error of the system, and leaves no file."""
    before = set(os.listdir(dapple.folder))
    for size, file, *verb in ((4096, "a.csv", "convert", "many.dbdf", "a.csv"),
                              (64, "a/dataset-1", "dataset", "create", "a", "many.dbdf")):
        def limit(size=size):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        done = dapple.run(*verb, preexec_fn=limit)
        assert done.returncode == 3, done
        assert done.stderr.startswith(f"dapple: {file}: cannot write: ".encode())
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


ENDINGS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP


def hear_endings():
    """In a new process: what this one ignores, perhaps by nohup, ends it."""
    for ending in ENDINGS:
        signal.signal(ending, signal.SIG_DFL)


def check_interrupt_leaves_no_temporary_folder(dapple):
    """Killed while another program converts for it: nothing is left, and that program ends as well."""
    temporary, waits = dapple.folder / "temporary", dapple.folder / "waits"
    temporary.mkdir()
    waits.write_text("#!/bin/sh\nexec sleep 60\n")
    waits.chmod(0o755)
    dapple.run("convert", "mixed.dbdf", "m.csv", "-q")
    (dapple.folder / "t.parquet").touch()
    env = dict(dapple.env, TMPDIR=str(temporary), DAPPLE_PYTHON=str(waits))
    for ending in ENDINGS:
        for arguments in (("t.parquet", "u.dbdf"), ("m.csv", "u.parquet")):
            process = subprocess.Popen([dapple.path, "convert", *arguments], cwd=dapple.folder, env=env,
                                       start_new_session=True, preexec_fn=hear_endings,
                                       stderr=subprocess.PIPE)
            deadline = time.monotonic() + 30
            while b"sleep" not in commands_of(process.pid) and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(ending)
            assert process.wait(timeout=60) == -ending
            assert process.stderr.read() == b""  # until the other program has ended, too
            process.stderr.close()
            assert os.listdir(temporary) == [], arguments


def check_interrupt_leaves_no_folder(dapple):
    """Killed while a collection is unpacked: the folder that nobody has seen is gone as well."""
    rows = 8_000_000
    (dapple.folder / "c.dds").mkdir()
    with open(dapple.folder / "c.dds" / "X.dbdf", "wb") as file:
        file.write(inputs.matrix_header(rows, 1, "f64"))
        file.write(struct.pack("<QQIIBB", 0, 0, rows, 1, 1, 8))
        file.truncate(file.tell() + rows * 8)
    assert dapple.run("collection", "pack", "c.dds", "c.zip", "-q").returncode == 0
    before = set(os.listdir(dapple.folder))
    for ending in ENDINGS:
        process = dapple.start("collection", "unpack", "c.zip", "d.dds", "-q", preexec_fn=hear_endings)
        while set(os.listdir(dapple.folder)) == before and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(ending)
        assert process.wait(timeout=60) in (-ending, 0)
        assert set(os.listdir(dapple.folder)) <= before | {"d.dds"}
        shutil.rmtree(dapple.folder / "d.dds", ignore_errors=True)


def commands_of(session):
    """What the processes of a session run."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getsid(int(entry)) == session:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    found += file.read().split(b"\0")
        except OSError:  # it has ended
            pass
    return found


def check_many_files(dapple):
    """More files than a process may open by default; where no more are allowed, it says so."""
    names = [f"{i}.csv" for i in range(100)]
    for i, name in enumerate(names):
        (dapple.folder / name).write_text(f"{i},2\n")

    def limit(hard):
        return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, hard))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    done = dapple.run("concat", *names, "-o", "all.dbdf", "-q", preexec_fn=limit(hard))
    assert done.returncode == 0, done
    done = dapple.run("concat", *names, "-o", "more.dbdf", "-q", preexec_fn=limit(40))
    assert done.returncode == 3 and b": Too many open files; ulimit -n " in done.stderr, done

    def exactly(files):
        return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    for files in range(4, 12):
        with open(dapple.folder / "0.csv") as text:
            done = dapple.run("convert", "-", f"{files}.dbdf", "--from", "csv", stdin=text, preexec_fn=exactly(files))
        assert done.returncode == 0 or b": Too many open files; ulimit -n " in done.stderr, done
    assert done.returncode == 0, done


def check_little_address_space(dapple):
    """A file that cannot be mapped: the error says which limit that is."""
    rows = 1 << 20
    with open(dapple.folder / "huge.dbdf", "wb") as file:
        file.write(inputs.matrix_header(rows, 512, "f64"))
        file.write(struct.pack("<QQIIBB", 0, 0, rows, 512, 1, 8))
        file.truncate(file.tell() + rows * 512 * 8)

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    if dapple.run("--version", preexec_fn=limit).returncode != 0:
        return  # a sanitizer, which takes more by itself
    done = dapple.run("stats", "huge.dbdf", preexec_fn=limit)
    assert done.returncode == 3, done
    assert done.stderr.startswith(b"dapple: huge.dbdf: cannot map 4294967"), done
    assert b" bytes into the address space, which ulimit -v may limit: " in done.stderr, done


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


def check_verify_and_repair_take_little_memory_for_many_blocks(dapple):
    """A million small blocks in no order: 72 bytes for each to verify them, 144 to repair them."""
    def limit(mebibytes):
        return lambda: resource.setrlimit(resource.RLIMIT_DATA, (mebibytes << 20, mebibytes << 20))
    if dapple.run("--version", preexec_fn=limit(80)).returncode != 0:
        return  # a sanitizer, which takes more by itself
    count, factor = 1_000_000, 7919
    header = struct.pack("<BBQQB", 1, 1, count, 2, 1)
    blocks = b"".join(struct.pack("<QQIIB", k * factor % count, 0, 1, 2, 0) for k in range(count))
    (dapple.folder / "many_blocks.dbdf").write_bytes(header + blocks)
    done = dapple.run("verify", "many_blocks.dbdf", "--payload", preexec_fn=limit(110))
    assert done.returncode == 0 and b"0 findings in 1000000 blocks" in done.stdout, done
    done = dapple.run("repair", "many_blocks.dbdf", "-o", "saved.dbdf", preexec_fn=limit(200))
    assert done.returncode == 0, done


def check_json_takes_little_memory(dapple):
    """Texts of millions of values, of which no one asks: of the file and in pieces, no tree of all."""
    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (128 << 20, 128 << 20))
    if dapple.run("--version", preexec_fn=limit).returncode != 0:
        return  # a sanitizer, which takes more by itself
    def numbers(mebibytes):
        return "[" + "0," * (mebibytes << 19) + "0]"
    columns = ",".join(['{"label":"a","of no use":[1,2,3,4,5,6]}'] * 20_000)
    for name, members in (("a", '"other":' + numbers(60)), ("b", '"a":0,' * (10 << 20) + '"b":0'),
                          ("c", f'"schema":[{columns}]')):
        cols = 20_000 if name == "c" else 1
        (dapple.folder / f"{name}.csv").write_text(",".join(["1"] * cols) + "\n")
        (dapple.folder / f"{name}.csv.meta").write_text(
            f'{{"numRows":1,"numCols":{cols},"valueType":"f64",{members}}}')
        done = dapple.run("info", f"{name}.csv", preexec_fn=limit)
        assert done.returncode == 0, done
    grid = '{"name":"regular","configuration":{"chunk_shape":[2,2]}}'
    (dapple.folder / "z.zarr").mkdir()
    (dapple.folder / "z.zarr" / "zarr.json").write_text(
        '{"zarr_format":3,"node_type":"array","shape":[2,2],"data_type":"uint8","fill_value":0,'
        f'"chunk_grid":{grid},"chunk_key_encoding":{{"name":"default"}},'
        f'"codecs":[{{"name":"bytes"}}],"attributes":{{"a":1,"b":{numbers(15)}}}}}')
    done = dapple.run("info", "z.zarr", preexec_fn=limit)
    assert done.returncode == 0, done
    (dapple.folder / "c.dds").mkdir()
    (dapple.folder / "c.dds" / "uns.json").write_text(f'{{"a":{numbers(15)}}}')
    done = dapple.run("verify", "c.dds", preexec_fn=limit)
    assert done.returncode == 0, done
    too_many = numbers(60)
    (dapple.folder / "a.csv.meta").write_text(f'{{"numRows":1,"numCols":1,"valueType":{too_many}}}')
    done = dapple.run("info", "a.csv", preexec_fn=limit)
    assert done.returncode == 1 and b"bytes of JSON are more than" in done.stderr, done


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


def check_transposing_takes_a_share_of_the_memory(dapple):
    """96 MB of dense cells, with 80 MiB of private memory."""
    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (80 << 20, 80 << 20))
    if dapple.run("--version", preexec_fn=limit).returncode != 0:
        return  # a sanitizer, which takes more by itself
    rows, cols = 3000, 4000
    row = struct.pack(f"<{cols}d", *(k + 0.1 for k in range(cols)))
    with open(dapple.folder / "large.dbdf", "wb") as out:
        out.write(inputs.matrix_header(rows, cols, "f64"))
        out.write(struct.pack("<QQIIBB", 0, 0, rows, cols, 1, inputs.CODES["f64"]))
        for _ in range(rows):
            out.write(row)
    for command in (("convert", "--transpose", "large.dbdf", "turned.dbdf"),
                    ("index", "--columns", "--no-sync", "large.dbdf")):
        done = dapple.run(*command, "--threads", "1", preexec_fn=limit)
        assert done.returncode == 0, done
    for name in ("turned.dbdf", "large.dbdf.dpc"):
        done = dapple.run("get", name, "--rows", "3999:", "--cols", "2998:")
        assert done.stdout == b"3999.1,3999.1\n", done


def check_a_copy_by_column_takes_little_memory(dapple):
    """12.5 million entries in one block of rows, with 128 MiB of private memory."""
    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (128 << 20, 128 << 20))
    if dapple.run("--version", preexec_fn=limit).returncode != 0:
        return  # a sanitizer, which takes more by itself
    rows, cols, entries = 500_000, 64, 25
    header = struct.pack("<BBQQB", 1, 2, rows, cols, 1)
    header += struct.pack("<QQIIBBQ", 0, 0, rows, cols, 2, 1, rows * entries)
    some = b"".join(struct.pack("<I", entries) +
                    b"".join(struct.pack("<IB", 2 * k + row % 2, k + row % 7 + 1)
                             for k in range(entries)) for row in range(1000))
    with open(dapple.folder / "large.dbdf", "wb") as out:
        out.write(header)
        for _ in range(rows // 1000):
            out.write(some)
    done = dapple.run("index", "--columns", "--no-sync", "large.dbdf", preexec_fn=limit)
    assert done.returncode == 0, done
    done = dapple.run("get", "large.dbdf.dpc", "--rows", "3:4", "--cols", "499991:")
    assert done.stdout == b"6,0,8,0,3,0,5,0,7\n", done
