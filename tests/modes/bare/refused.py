"""A library without HDF5 and libcurl refuses what needs them, and reads everything else.

refused.py DAPPLE: the program, which finds such a library.
"""

import pathlib
import subprocess
import sys
import tempfile

dapple = sys.argv[1]


def run(*arguments):
    return subprocess.run([dapple, *map(str, arguments)], capture_output=True, text=True)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "a.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(1000))
    (folder / "a.csv").write_text("1,2\n3,4\n")
    for verb in ("get", "info", "verify"):
        refused = run(verb, folder / "a.h5")
        assert refused.returncode != 0, verb
        assert "built without HDF5; install" in refused.stdout + refused.stderr, refused
    refused = run("get", "http://127.0.0.1:9/a.dbdf")
    assert refused.returncode != 0 and "built without libcurl; install" in refused.stderr, refused
    read = run("get", folder / "a.csv")
    assert (read.returncode, read.stdout) == (0, "1,2\n3,4\n"), read
