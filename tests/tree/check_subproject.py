#!/usr/bin/env python3
"""dapple is usable as a Meson subproject: a project with a link to it configures, and with --build also
builds and runs.

usage: check_subproject.py SOURCE-ROOT PROGRAM.cpp [--build]"""

import pathlib
import subprocess
import sys
import tempfile

PROJECT = """project('consumer', 'cpp', default_options: ['cpp_std=c++20'])
dapple = dependency('dapple', fallback: 'dapple', default_options: ['tests=false'])
executable('program', 'program.cpp', dependencies: dapple)
"""


def run(*command):
    result = subprocess.run([str(part) for part in command], text=True, capture_output=True)
    if result.returncode != 0:
        print(" ".join(map(str, command)), result.stdout, result.stderr, sep="\n")
        sys.exit(1)
    return result.stdout


def main(root, program, *flags):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "meson.build").write_text(PROJECT)
        (folder / "program.cpp").write_text(pathlib.Path(program).read_text())
        (folder / "subprojects").mkdir()
        (folder / "subprojects" / "dapple").symlink_to(pathlib.Path(root).resolve())
        together = ["-Ddapple:unity=on", "-Doptimization=0"]
        run("meson", "setup", folder / "build", folder, "--force-fallback-for=dapple", *together)
        if "--build" not in flags:
            return 0
        run("ninja", "-C", folder / "build", "program")
        printed = run(folder / "build" / "program", folder / "m.dbdf")
        return 0 if printed.startswith("3 x 2, cell (1, 1) is 4\n") else print(printed) or 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
