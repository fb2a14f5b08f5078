#!/usr/bin/env python3
"""Files at http addresses, from a server of our own (range_server.py), which counts requests and can lie.

    addresses.py DAPPLE

What dapple prints of an address must be what it prints of the same file on disk; whatever the server
does, dapple prints that or fails with a sentence."""

import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import threading
import time

from checks import Skip, run_checks
from range_server import FOLDER, Server, Threads, address, requests

DAPPLE = pathlib.Path(sys.argv[1]).resolve()
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
ROWS, COLS = 3000, 400


def dapple(*arguments, timeout=60):
    return subprocess.run([DAPPLE, *map(str, arguments)], capture_output=True, text=True, env=ENVIRONMENT,
                          timeout=timeout)


def counted(verb, fault, who, *flags, name="m.dbdf"):
    """What a verb prints of an address, which has to be what it prints of the file; and the requests."""
    path = f"/{fault}/{who}/{name}"
    got = dapple(verb, address(fault, who, name), *flags)
    assert got.returncode == 0, got.stderr
    wanted = dapple(verb, pathlib.Path(FOLDER.name) / name, *flags)
    assert wanted.returncode == 0 and got.stdout == wanted.stdout, (verb, flags)
    return requests[path]


def refused(fault, words, *, verb="stats", flags=(), status=3):
    got = dapple(verb, address(fault, "refused"), *flags)
    assert got.returncode == status and words in got.stderr, (fault, got)
    assert not got.stdout, (fault, got.stdout)


def make_files():
    folder = pathlib.Path(FOLDER.name)
    lines = (f"{r + 1} {(r * 7 + k * 13) % COLS + 1} {(r * 31 + k) % 1000 / 8}\n"
             for r in range(ROWS) for k in range(20))
    cells = dict((tuple(line.split()[:2]), line) for line in lines)
    (folder / "m.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n{ROWS} {COLS} {len(cells)}\n"
                                  + "".join(cells.values()))
    made = dapple("convert", "-q", "--tile", "100x400", folder / "m.mtx", folder / "m.dbdf")
    assert made.returncode == 0, made.stderr
    (folder / "f.csv").write_text("a,b\n" + "".join(f"{i},{i * i}\n" for i in range(500)))
    (folder / "words.csv").write_text("word,number,more\n" + "".join(
        f"word {i * 7 % 9973},{i / 8},{i * i % 1000003}\n" for i in range(60_000)))
    (folder / "empty.dbdf").write_bytes(b"")
    assert (folder / "m.dbdf").stat().st_size > 300_000  # so that the ends are not all of it


def check_verbs(_):
    assert counted("get", "plain", "region", "--rows", "1500:1520", "--cols", "10:90") <= 4
    assert counted("get", "plain", "rows", "--rows", "1700:1701") <= 3
    assert counted("stats", "plain", "stats") <= 4
    assert counted("where", "plain", "where", "> 1e9") <= 4
    many = counted("where", "plain", "search", "> 124")
    assert many <= 20, many  # of 30 blocks
    counted("blocks", "plain", "blocks")
    counted("get", "plain", "csv", name="f.csv")


def check_opening(_):
    got = dapple("info", "--json", address("plain", "info"))
    assert got.returncode == 0, got.stderr
    assert json.loads(got.stdout)["rows"] == ROWS
    assert requests["/plain/info/m.dbdf"] == 1  # for its end
    small = dapple("info", address("plain", "info", "f.csv"))
    assert small.returncode == 0 and requests["/plain/info/f.csv"] == 1, small.stderr
    # Frames with words and statistics, and an index of 480 KiB: what is needed is copied near the end.
    for name, flags in (("words.dbdf", ()), ("packed.dbdf", ("--pack=small",)), ("tiles.dbdf", ("--tile", "10x16"))):
        source = "m.mtx" if name == "tiles.dbdf" else "words.csv"
        folder = pathlib.Path(FOLDER.name)
        made = dapple("convert", "-q", *flags, folder / source, folder / name)
        assert made.returncode == 0 and (folder / name).stat().st_size > 1 << 17, made
        got, here = (dapple("info", "--json", where) for where in (address("plain", "info", name), folder / name))
        assert got.returncode == 0 and requests["/plain/info/" + name] == 1, requests
        told, known = json.loads(got.stdout), json.loads(here.stdout)
        assert {k: v for k, v in told.items() if k != "file"} == {k: v for k, v in known.items() if k != "file"}
        assert counted("get", "plain", "few", "--rows", "1500:1504", name=name) <= 6


def check_a_header_that_is_not_the_index_s(_):
    """Only the end of the file is fetched at first; its header is compared before any cell is believed."""
    data = (pathlib.Path(FOLDER.name) / "m.dbdf").read_bytes()
    for at, new in ((2, data[2] ^ 1), (18, 1 + data[18] % 10)):  # rows, value type
        (pathlib.Path(FOLDER.name) / "h.dbdf").write_bytes(data[:at] + bytes([new]) + data[at + 1:])
        got = dapple("get", address("plain", f"header{at}", "h.dbdf"), "--rows", "2000:2002")
        assert got.returncode != 0 and not got.stdout and "header of the file" in got.stderr, got


def check_passwords_are_not_printed(_):
    for verb in ("info", "get"):
        for fault in ("plain", "missing"):
            got = dapple(verb, address(fault, "user", user="me:secret@") + "?signature=secret")
            assert (got.returncode == 0) == (fault == "plain"), got.stderr
            assert "secret" not in got.stdout + got.stderr, got


def check_what_passes(_):
    for fault in ("busy", "drop", "cut", "moved"):
        counted("get", fault, "passes", "--rows", "1500:1520")


def check_lies(_):
    refused("shifted", "other bytes than it was asked for")
    refused("no-range", "size cannot be told")
    refused("huge", "size cannot be told")
    refused("longer", "more bytes than it was asked for")
    refused("shorter", "fewer bytes than it was asked for")
    refused("whole", "ranges", status=1)
    refused("untagged", "neither an ETag nor a date", status=1)
    refused("missing", "status 404")
    refused("always-busy", "status 503")
    refused("headers", "64 KiB of headers")
    refused("loop", "redirects more than 5 times")
    refused("elsewhere", "redirects to file:")
    refused("encoded", "bytes than it was asked for")
    refused("multipart", "size cannot be told")
    refused("two-ranges", "other bytes than it was asked for")
    refused("told-before", "size cannot be told")
    assert requests["/always-busy/refused/m.dbdf"] == 3


def check_replaced_objects(_):
    cells = ("--rows", "1500:1520")
    for fault in ("replaced", "ignores", "grows"):
        refused(fault, "replaced", verb="get", flags=cells)


def check_empty_objects(_):
    got = dapple("info", address("plain", "empty", "empty.dbdf"))
    assert got.returncode == 1 and "empty" in got.stderr, got


def seconds_of_a_stall():
    begin = time.monotonic()
    refused("stall", "imeout")
    return time.monotonic() - begin


def check_stalls(_):
    assert 15 < stall.result() < 35


def cached(folder, verb, fault, who, *flags, status=0):
    """As `counted`, with pieces kept in `folder`: what was printed, and the requests that it took."""
    path = f"/{fault}/{who}/m.dbdf"
    before = requests[path]
    got = dapple(verb, address(fault, who), "--cache", folder, *flags)
    assert got.returncode == status, got
    return got.stdout, requests[path] - before


def check_a_cache_serves_other_processes(folder):
    wanted = dapple("get", pathlib.Path(FOLDER.name) / "m.dbdf").stdout
    first, requested = cached(folder / "c", "get", "plain", "kept")
    assert first == wanted and requested > 1
    assert cached(folder / "c", "get", "plain", "kept") == (wanted, 0)
    for kept in (folder / "c").iterdir():
        assert kept.stat().st_mode & 0o077 == 0, kept


def check_a_cache_believes_no_damaged_piece(folder):
    wanted = dapple("get", pathlib.Path(FOLDER.name) / "m.dbdf").stdout
    cached(folder, "get", "plain", "damaged")
    for kept in folder.glob("*.pieces"):
        bytes_ = bytearray(kept.read_bytes())
        for at in range(0, len(bytes_), 50_000):
            bytes_[at] ^= 1
        kept.write_bytes(bytes_)
    again, requested = cached(folder, "get", "plain", "damaged")
    assert again == wanted and requested > 0
    for kept in folder.iterdir():  # cut to nothing, or nonsense
        kept.write_bytes(b"x" * (5 if kept.suffix == ".seen" else 0))
    assert cached(folder, "get", "plain", "damaged")[0] == wanted


def check_a_replaced_object_is_not_mixed_with_its_pieces(folder):
    """The second of these servers gives another tag from the second request on."""
    cached(folder, "get", "plain", "other", "--rows", "0:2")
    stored = dapple("get", pathlib.Path(FOLDER.name) / "m.dbdf", "--rows", "1500:1520").stdout
    path = "/replaced/mixed/m.dbdf"
    refused_ = dapple("get", address("replaced", "mixed"), "--cache", folder, "--rows", "1500:1520")
    assert refused_.returncode == 3 and "replaced" in refused_.stderr, refused_
    assert requests[path] > 1
    got = dapple("get", address("replaced", "mixed"), "--cache", folder, "--rows", "1500:1520")
    assert got.returncode == 0 and got.stdout == stored, got  # opened anew: no old version is remembered


def check_a_cache_is_bounded_and_optional(folder):
    folder.chmod(0o500)
    try:
        if os.geteuid() != 0:
            got = dapple("get", address("plain", "denied"), "--cache", folder / "new")
            assert got.returncode == 0 and "cache folder is not used" in got.stderr, got.stderr
    finally:
        folder.chmod(0o700)
    (folder / "file").write_text("")
    got = dapple("get", address("plain", "file"), "--cache", folder / "file")
    assert got.returncode == 0 and "cache folder is not used" in got.stderr, got.stderr


def check_killed_fillers(folder):
    """Processes that fill the cache are killed at any moment; what others read of it is right."""
    wanted = dapple("get", pathlib.Path(FOLDER.name) / "m.dbdf").stdout
    rng = random.Random(7)
    kills = int(os.environ.get("DAPPLE_KILLS", "60"))
    for turn in range(kills):
        if turn % 5 == 0:
            shutil.rmtree(folder / "c", ignore_errors=True)
        pair = [subprocess.Popen([DAPPLE, "get", address("plain", "killed"), "--cache", folder / "c"], env=ENVIRONMENT,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)]
        time.sleep(rng.random() * 0.06)
        for process in pair:
            process.kill()
            process.wait()
        if turn % 3 == 0:
            assert cached(folder / "c", "get", "plain", "killed")[0] == wanted, turn


def check_certificates(folder):
    import ssl

    if shutil.which("openssl") is None:
        raise Skip("openssl")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1",
                    "-keyout", folder / "key", "-out", folder / "certificate"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate", folder / "key")
    secure = Threads(("127.0.0.1", 0), Server)
    secure.socket = context.wrap_socket(secure.socket, server_side=True)
    threading.Thread(target=secure.serve_forever, daemon=True).start()
    got = dapple("info", f"https://127.0.0.1:{secure.server_port}/plain/tls/m.dbdf")
    assert got.returncode == 3 and "certificate" in got.stderr, got
    assert requests["/plain/tls/m.dbdf"] == 0


if __name__ == "__main__":
    make_files()
    if "built without libcurl" in dapple("info", address("plain", "first")).stderr:
        print("libcurl is missing")
        sys.exit(77)
    with concurrent.futures.ThreadPoolExecutor(1) as waiting:
        stall = waiting.submit(seconds_of_a_stall)  # while the others work
        status = run_checks(globals())
    sys.exit(status)
