#!/usr/bin/env python3
"""Every public header must compile alone, with every warning an error, and with clang all together; those for C
as C99, too.

usage: check_headers.py INCLUDE-FOLDER HEADER..."""

import os
import shutil
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


FOR_C = ("dapple_c.h", "arrow_abi.h")


def compiles(compiler, include, headers, standard="c++20", language="c++"):
    """Whether a source that includes these is translated without a word."""
    lines = [f'#include "{os.path.relpath(header, include)}"\n' for header in headers]
    command = [compiler, f"-std={standard}", *WARNINGS, "-I", include, "-fsyntax-only", "-x", language, "-"]
    run = subprocess.run(command, input="".join(lines), text=True, capture_output=True)
    print(run.stderr, end="")
    return run.returncode == 0


def main(include, *headers):
    results = [compiles("g++", include, [header]) for header in headers]
    results += [compiles("gcc", include, [header], "c99", "c") for header in headers
                if os.path.basename(header) in FOR_C]
    if shutil.which("clang++"):
        results.append(compiles("clang++", include, headers))
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
