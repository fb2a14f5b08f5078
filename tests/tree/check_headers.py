#!/usr/bin/env python3
"""Every public header must compile alone, with every warning an error, and with clang all together.

usage: check_headers.py INCLUDE-FOLDER HEADER..."""

import os
import shutil
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


def compiles(compiler, include, headers):
    """Whether a source that includes these is translated without a word."""
    lines = [f'#include "{os.path.relpath(header, include)}"\n' for header in headers]
    command = [compiler, "-std=c++20", *WARNINGS, "-I", include, "-fsyntax-only", "-x", "c++", "-"]
    run = subprocess.run(command, input="".join(lines), text=True, capture_output=True)
    print(run.stderr, end="")
    return run.returncode == 0


def main(include, *headers):
    results = [compiles("g++", include, [header]) for header in headers]
    if shutil.which("clang++"):
        results.append(compiles("clang++", include, headers))
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
