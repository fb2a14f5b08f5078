#!/usr/bin/env python3
"""Every public header must compile alone, with every warning an error, with each compiler here.

usage: check_headers.py INCLUDE-FOLDER HEADER..."""

import os
import shutil
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


def compiles(compiler, include, header):
    """Whether a source of one line, the include, is translated without a word."""
    name = os.path.relpath(header, include)
    command = [compiler, "-std=c++20", *WARNINGS, "-I", include, "-fsyntax-only", "-x", "c++", "-"]
    run = subprocess.run(command, input=f'#include "{name}"\n', text=True, capture_output=True)
    print(run.stderr, end="")
    return run.returncode == 0


def main(include, *headers):
    compilers = [name for name in ("g++", "clang++") if shutil.which(name)]
    results = [compiles(c, include, header) for c in compilers for header in headers]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
