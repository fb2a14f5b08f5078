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


def says_what_it_needs(include):
    """Whether the first word to a user whose compiler takes C++17, unless told otherwise, is which it should be."""
    run = subprocess.run(["g++", "-std=c++17", "-I", include, "-fsyntax-only", "-x", "c++", "-"],
                         input="#include <dapple/dapple.h>\n", text=True, capture_output=True)
    errors = [line for line in run.stderr.splitlines() if "error: " in line]
    return bool(errors) and "dapple needs C++20" in errors[0] or bool(print(run.stderr))


def main(*arguments):
    alone = arguments[0] == "--alone"
    include, *headers = arguments[alone:]
    cases = [[header] for header in headers] if alone else [headers, headers[::-1]]
    results = [compiles(compiler, include, case) for case in cases for compiler in ("g++", "clang++")
               if shutil.which(compiler)]
    results += [compiles("gcc", include, [header], "c99", "c") for header in headers
                if os.path.basename(header) in FOR_C]
    results += [] if alone else [says_what_it_needs(include)]
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
