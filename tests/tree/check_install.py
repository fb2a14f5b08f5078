#!/usr/bin/env python3
"""Installs dapple into an empty folder, then builds and runs a small program against it, knowing
nothing but pkg-config.

usage: check_install.py BUILD-FOLDER PROGRAM.cpp"""

import os
import pathlib
import subprocess
import sys
import tempfile


def run(command, **options):
    result = subprocess.run(command, text=True, capture_output=True, **options)
    if result.returncode != 0:
        print(" ".join(map(str, command)), result.stdout, result.stderr, sep="\n")
        raise SystemExit(1)
    return result.stdout


def main(build, program):
    with tempfile.TemporaryDirectory() as folder:
        destination = pathlib.Path(folder) / "root"
        run(["meson", "install", "-C", build, "--no-rebuild", "--destdir", destination])
        package = next(destination.rglob("dapple.pc"))
        environment = dict(os.environ, PKG_CONFIG_PATH=str(package.parent),
                           PKG_CONFIG_SYSROOT_DIR=str(destination))
        flags = run(["pkg-config", "--cflags", "--libs", "dapple"], env=environment).split()
        binary = pathlib.Path(folder) / "program"
        run(["c++", "-std=c++20", "-O2", program, "-o", binary, *flags])
        libraries = next(destination.rglob("libdapple.so")).parent
        printed = run([binary, pathlib.Path(folder) / "m.dbdf"],
                      env=dict(os.environ, LD_LIBRARY_PATH=str(libraries)))
        expected = ("3 x 2, cell (1, 1) is 4\n"
                    "block (0, 0) is stored as dense of u8 and cannot be viewed as dense of f32; "
                    "decode it\n")
        if printed != expected:
            print(f"expected the program to print {expected!r}, got {printed!r}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
