#!/usr/bin/env python3
"""Installs dapple into an empty folder, then builds and runs a small program against it, once knowing
nothing but pkg-config and once nothing but CMake. The installed command line, which nothing helps to find
its library, describes and serves what that wrote.

usage: check_install.py BUILD-FOLDER PROGRAM.cpp"""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
EXPECTED = "3 x 2, cell (1, 1) is 4\n"  # and then an error in any words

CMAKE_PROJECT = """cmake_minimum_required(VERSION 3.18)
project(consumer CXX)
find_package(dapple 0.3 REQUIRED)
add_executable(program "{program}")
target_link_libraries(program PRIVATE dapple::dapple)
"""


class Failed(Exception):
    pass


def run(command, **options):
    result = subprocess.run([str(part) for part in command], text=True, capture_output=True, **options)
    if result.returncode != 0:
        raise Failed("\n".join([" ".join(map(str, command)), result.stdout, result.stderr]))
    return result.stdout


def build_with_pkg_config(destination, program, folder):
    package = next(destination.rglob("dapple.pc"))
    environment = dict(os.environ, PKG_CONFIG_PATH=str(package.parent),
                       PKG_CONFIG_SYSROOT_DIR=str(destination))
    flags = shlex.split(run(["pkg-config", "--cflags", "--libs", "dapple"], env=environment))
    place = f"-Wl,-rpath,{package.parent.parent}"
    run(["c++", "-std=c++20", "-O2", program, "-o", folder / "program", *flags, place])
    return folder / "program"


def build_with_cmake(destination, program, folder):
    (folder / "CMakeLists.txt").write_text(CMAKE_PROJECT.format(program=program))
    package = next(destination.rglob("dappleConfig.cmake")).parent
    run(["cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build", f"-Ddapple_DIR={package}"])
    run(["cmake", "--build", folder / "build"])
    return folder / "build" / "program"


def use(destination, file):
    """The program must find the library, and the module that the server is in."""
    program = next(destination.rglob("bin/dapple"))
    if "matrix      3 x 2" not in run([program, "info", file], env=ENVIRONMENT):
        raise Failed("dapple info: expected a matrix of 3 x 2")
    with subprocess.Popen([program, "view", "-q", file], env=ENVIRONMENT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        address = server.stdout.readline()
        server.terminate()
        if not address.startswith("http://127.0.0.1:"):
            raise Failed(f"dapple view: {address!r} {server.stderr.read()!r}")


def main(build, program):
    program = pathlib.Path(program).resolve()
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        destination = folder / "root"
        run(["meson", "install", "-C", build, "--no-rebuild", "--destdir", destination])
        for way in (build_with_pkg_config, build_with_cmake):
            if way is build_with_cmake and shutil.which("cmake") is None:
                print("skipped: the CMake package: no cmake")
                skipped += 1
                continue
            place = folder / way.__name__
            place.mkdir()
            try:
                printed = run([way(destination, program, place), place / "m.dbdf"], env=ENVIRONMENT)
                if not printed.startswith(EXPECTED) or printed == EXPECTED:
                    raise Failed(f"the program should print {EXPECTED!r}, and printed {printed!r}")
                passed += 1
            except Failed as failure:
                print(f"{way.__name__}: {failure}")
                failed += 1
        try:
            use(destination, place / "m.dbdf")
            passed += 1
        except Failed as failure:
            print(failure)
            failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
