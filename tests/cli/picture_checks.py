"""What show and view draw and serve."""

import http.client
import json
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import time
import urllib.parse
import urllib.request
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


def served(program, *arguments):
    """A server that shows a file, and its address."""
    server = program.start("view", *arguments, "-q", stdout=subprocess.PIPE)
    return server, urllib.parse.urlsplit(server.stdout.readline().decode().strip())


def stop(server):
    server.kill()
    server.wait()
    server.stdout.close()


def check_view_answers_whole_and_as_asked(program):
    """Ranges are not cut, bytes are packed for those who unpack them, and a tunnel has another port."""
    server, address = served(program, "mixed.dbdf")

    def ask(method="GET", host=None, **headers):
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
        connection.putrequest(method, address.path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", host or address.netloc)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    try:
        status, headers, whole = ask()
        assert status == 200 and headers["Content-Encoding"] is None and b"<title>mixed.dbdf" in whole
        for wanted in ("bytes=0-9", "bytes=999999999-", "bytes=-5", "bytes=0-1,4-5"):
            status, headers, body = ask(Range=wanted)
            assert status == 200 and headers["Content-Range"] is None, (wanted, status)
            assert len(body) == int(headers["Content-Length"]) == len(whole), wanted
        status, headers, body = ask("HEAD")
        assert (status, body, int(headers["Content-Length"])) == (200, b"", len(whole))
        assert headers.get_all("Accept-Ranges") == ["none"]
        assert ask(Accept_Encoding="identity")[1]["Content-Encoding"] is None
        status, headers, body = ask(Accept_Encoding="gzip, deflate")
        assert headers["Content-Encoding"] == "deflate" and len(zlib.decompress(body)) == len(whole)
        assert ask(host="localhost:8080")[0] == 200
        assert ask(host="evil.example")[0] == 403
        assert ask("POST")[0] == 405
    finally:
        stop(server)


def check_view_shows_what_is_in_a_collection(program):
    """A table of contents, whose links are the pages of members; names are text, whatever is in them."""
    folder = pathlib.Path(program.folder)
    sound = folder / "mixed.dbdf"
    for name in ("X", "layers/<b>&", "broken"):
        place = folder / f"c.dds/{name}.dbdf"
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(sound, place)
    (folder / "c.dds/uns.json").write_text("{}")
    server, address = served(program, "c.dds")

    def get(path):
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
        connection.request("GET", address.path + path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    try:
        (folder / "c.dds/broken.dbdf").write_bytes(b"nothing")
        status, page = get("")
        assert status == 200 and "<h1>c.dds</h1>" in page and "members: 4" in page
        assert '<a href="of/0/">X</a></th><td>matrix</td>' in page, page
        assert "layers/&lt;b>&amp;</a>" in page and "<b>" not in page
        assert "uns</th><td colspan" in page and "broken</th><td colspan" in page
        for k, (name, wanted) in enumerate([("X", 200), ("broken", 500), ("layers/&lt;b>&amp;", 200), ("uns", 404)]):
            status, page = get(f"of/{k}/")
            assert status == wanted, (name, status)
            if wanted == 200:
                assert f'<h1><a href="../../">c.dds</a> / {name}</h1>' in page
                assert get(f"of/{k}/0/meta")[0] == 200 and get(f"of/{k}/1/meta")[0] == 410
        shutil.copy(sound, folder / "c.dds/broken.dbdf")
        assert get("of/1/")[0] == 200
        shutil.copy(sound, folder / "new.dbdf")
        (folder / "new.dbdf").replace(folder / "c.dds/X.dbdf")
        assert '"base":"1/"' in get("of/0/")[1] and get("of/0/0/meta")[0] == 410 and get("of/0/1/meta")[0] == 200
        for path in ("of/9/", "of/00/", "of/-1/", "of/", "of/0", "0/meta", "meta", "of/18446744073709551616/"):
            assert get(path)[0] == 404, path
    finally:
        stop(server)
    server, address = served(program, "c.dds/X")  # one member is what it was
    try:
        assert "<title>c.dds/X" in get("")[1] and get("of/0/")[0] == 404
    finally:
        stop(server)


def check_view_waits_for_no_slow_request(program):
    """Requests that come byte by byte end after two seconds, however many there are."""
    server, address = served(program, "mixed.dbdf")
    place = (address.hostname, address.port)
    slow = []
    try:
        for _ in range(550):  # more than there are threads
            slow.append(socket.create_connection(place))
            slow[-1].sendall(b"GET /")
        begin = time.monotonic()
        ended = []
        while len(ended) < len(slow):
            for connection in slow:
                if connection in ended:
                    continue
                try:
                    connection.sendall(b"a")
                    connection.setblocking(False)
                    if connection.recv(1) == b"":
                        ended.append(connection)
                except BlockingIOError:
                    connection.setblocking(True)
                except OSError:
                    ended.append(connection)
            assert time.monotonic() - begin < 30, len(ended)
            time.sleep(0.1)
        with socket.create_connection(place, timeout=30) as connection:
            connection.sendall(f"GET {address.path}0/meta HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
            assert connection.recv(15) == b"HTTP/1.1 200 OK"
    finally:
        for connection in slow:
            connection.close()
        stop(server)


def check_view_serves_until_it_is_interrupted(program):
    server = program.start("view", "mixed.dbdf", "-q", stdout=subprocess.PIPE)
    try:
        address = server.stdout.readline().decode().strip()
        assert address.startswith("http://127.0.0.1:")

        def get(name):
            wanted = urllib.request.Request(address + name, headers={"Accept-Encoding": "deflate"})
            with urllib.request.urlopen(wanted, timeout=30) as answer:
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
