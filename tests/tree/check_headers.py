#!/usr/bin/env python3
"""Public headers must compile in both orders, with every warning an error, by g++ and clang; those for C as C99,
too. With --alone each is compiled alone, which parses the standard library forty times.

usage: check_headers.py [--alone] INCLUDE-FOLDER HEADER..."""

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


def main(*arguments):
    alone = arguments[0] == "--alone"
    include, *headers = arguments[alone:]
    cases = [[header] for header in headers] if alone else [headers, headers[::-1]]
    results = [compiles(compiler, include, case) for case in cases for compiler in ("g++", "clang++")
               if shutil.which(compiler)]
    results += [compiles("gcc", include, [header], "c99", "c") for header in headers
                if os.path.basename(header) in FOR_C]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
