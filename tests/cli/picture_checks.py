"""What show and view draw, keep and serve."""

import json
import re
import signal
import struct
import subprocess
import urllib.request
import zipfile
import zlib


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


def check_show_prints_no_more_than_its_size(program):
    """Neither more lines nor longer ones, with colours and without, and always a picture."""
    for file in ("mixed.dbdf", "wide.dbdf", "big.dbdf", "none.dbdf"):
        for color in ("never", "always"):
            for width in (1, 4, 9, 15, 16, 20, 33, 80):
                for height in (1, 2, 5, 6, 8, 9, 11, 12, 30):
                    done = program.run("show", file, "--from-stats", "--what", "kind", "--color", color,
                                       "--size", f"{width}x{height}", check=True)
                    lines = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout.decode()).splitlines()
                    assert 1 <= len(lines) <= height, (file, width, height)
                    assert max(map(len, lines)) <= width, (file, width, height)


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
        assert archive.namelist() == ["meta", *names, "pyramid.json"]
        assert tile_values(archive.read("tile/max/0.0.0")) == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
        assert json.loads(archive.read("meta"))["rows"] == 3


def check_view_believes_no_damaged_byte(program):
    """Whatever byte of the kept pictures is changed: what is damaged is not used, and found."""
    command = ["show", "csr.dbdf", "--from-stats", "--what", "density", "--size", "60x16"]
    drawn = program.run(*command).stdout
    program.run("view", "csr.dbdf", "-o", "csr.dbdf.dpp", check=True)
    file = program.folder / "csr.dbdf.dpp"
    data, right = file.read_bytes(), program.run(*command).stdout
    assert b"max" in right and b"max" not in drawn
    advice = "dapple view csr.dbdf -o csr.dbdf.dpp --force makes it anew"
    unused = f"csr.dbdf.dpp is damaged, so it is not used; {advice}\n".encode()
    fallen_back = 0
    for at in range(0, len(data), 41):
        file.write_bytes(data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1:])
        done = program.run(*command)
        told = done.stderr == unused
        assert done.returncode == 0 and done.stdout == (drawn if told else right), at
        assert told or not done.stderr, at
        fallen_back += told
        found = program.run("verify", "csr.dbdf", "--payload", "--json")
        finding, _ = map(json.loads, found.stdout.splitlines())
        assert found.returncode == 1 and finding["code"] == "corrupt", at
        assert finding["file"] == "csr.dbdf.dpp" and finding["offset"] <= at + 64, at
        assert finding["message"].endswith(advice), at
    assert fallen_back
    assert not program.run(*command, "--quiet").stderr


def check_view_keeps_pictures_of_one_array(program):
    """Of several arrays in a file, those of one are not taken for those of another."""
    with zipfile.ZipFile(program.folder / "two.npz", "w") as archive:
        for name, rows, value in (("a", 300, 1.0), ("b", 300, 7.0), ("c", 20, 3.0)):
            about = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, 200), }}"
            head = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + about.ljust(117).encode() + b"\n"
            archive.writestr(f"{name}.npy", head + struct.pack("<d", value) * (rows * 200))
    program.run("view", "two.npz", "--array", "a", "-o", "two.npz.dpp", check=True)
    command = ["show", "two.npz", "--from-stats", "--what", "mean", "--array"]
    assert b"mean 1" in program.run(*command, "a", check=True).stdout
    for name in "bc":
        done = program.run(*command, name)
        assert done.returncode == 1 and b"made of another state of the file, or with other" in done.stderr
    assert program.run("verify", "two.npz", "--array", "b", "--payload").returncode == 0


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
