"""A web server on 127.0.0.1 for tests, which counts requests and can lie."""

import collections
import gzip
import http.server
import pathlib
import re
import socket
import tempfile
import threading
import time
import urllib.parse

FOLDER = tempfile.TemporaryDirectory()
requests = collections.Counter()  # by path: each check has paths of its own
waiting, most_waiting = collections.Counter(), collections.Counter()  # at one time, by ID
lock = threading.Lock()


class Server(http.server.BaseHTTPRequestHandler):
    """/FAULT/ID/NAME is the file NAME, which may have slashes; FAULT says what is wrong with the answers."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer is one packet
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def plain(self, status, headers=(), body=b""):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        _, fault, _, name = urllib.parse.unquote(self.path.partition("?")[0]).split("/", 3)
        with lock:
            requests[self.path] += 1
            count = requests[self.path]
        path = pathlib.Path(FOLDER.name) / name
        if not path.is_file():
            return self.plain(404, [], b"no such object")
        data = path.read_bytes()
        asked = re.fullmatch(r"bytes=(\d*)-(\d+)", self.headers["Range"] or "")
        first, last = (int(asked[1]), min(int(asked[2]), len(data) - 1)) if asked[1] else (
            max(0, len(data) - int(asked[2])), len(data) - 1)
        tag = '"one"'
        if fault in ("replaced", "ignores") and count > 1:
            tag = '"two"'
        if fault == "loop":
            return self.plain(302, [("Location", self.path)])
        if fault == "elsewhere":
            return self.plain(302, [("Location", "file:///etc/passwd")])
        if fault == "moved":
            return self.plain(307, [("Location", self.path.replace("moved", "plain"))])
        if fault == "whole":
            return self.plain(200, [("ETag", tag)], data)
        if fault == "no-end" and not asked[1]:
            return self.plain(416)
        if fault == "missing":
            return self.plain(404, [], b"<p>no such page" * 20000)
        if fault in ("busy", "always-busy") and (count <= 2 or fault == "always-busy"):
            return self.plain(503, [("Retry-After", "0")], b"later")
        if fault == "drop" and count <= 2:
            self.close_connection = True
            return self.connection.shutdown(socket.SHUT_RDWR)
        if fault == "slow":
            who = self.path.split("/")[2]
            with lock:
                waiting[who] += 1
                most_waiting[who] = max(most_waiting[who], waiting[who])
            time.sleep(0.3)
            with lock:
                waiting[who] -= 1
        if fault == "stall":
            time.sleep(40)
            return None
        if self.headers["If-Match"] not in (None, tag) and fault != "ignores":
            return self.plain(412)
        if not data:
            return self.plain(416, [("Content-Range", "bytes */0")])
        body = data[first:last + 1]
        shown = f"bytes {first}-{last}/{len(data)}"
        if fault == "shifted":
            shown = f"bytes {first + 1}-{last + 1}/{len(data) + 1}"
        if fault == "no-range":
            shown = "bytes */*"
        if fault == "huge":
            shown = f"bytes {first}-{last}/{2 ** 63}"
        if fault == "grows":
            shown = f"bytes {first}-{last}/{len(data) + count - 1}"
        if fault == "longer":
            body += bytes(1000)
        if fault == "shorter":
            body = body[:-1]
        headers = [("Content-Range", shown)]
        if fault != "untagged":
            headers.append(("ETag", tag))
        if fault == "encoded":  # as servers do that compress on the fly
            body = gzip.compress(body)
            headers.append(("Content-Encoding", "gzip"))
        if fault == "multipart":
            headers[0] = ("Content-Type", "multipart/byteranges; boundary=x")
            body = (f"--x\r\nContent-Range: {shown}\r\n\r\n".encode() + body + b"\r\n--x--\r\n")
        if fault == "two-ranges":
            headers.append(("Content-Range", f"bytes {first + 1}-{last + 1}/{len(data) + 1}"))
        if fault == "told-before":  # an answer before the last one has its headers
            self.wfile.write(f"HTTP/1.1 103 Early Hints\r\nContent-Range: {shown}\r\n\r\n".encode())
            headers = headers[1:]
        if fault == "headers":
            headers += [(f"X-{i}", "x" * 1000) for i in range(100)]
        if fault == "cut" and count <= 2:
            self.send_response(206)
            self.send_header("Content-Length", str(len(body)))
            for header in headers:
                self.send_header(*header)
            self.end_headers()
            self.wfile.write(body[:len(body) // 2])
            self.close_connection = True
            return None
        return self.plain(206, headers, body)


class Threads(http.server.ThreadingHTTPServer):
    request_queue_size = 64

    def handle_error(self, *_):
        """Clients that go away are what this is about."""


server = Threads(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()


def address(fault, who, name="m.dbdf", user=""):
    return f"http://{user}127.0.0.1:{server.server_port}/{fault}/{who}/{name}"
