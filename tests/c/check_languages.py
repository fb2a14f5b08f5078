#!/usr/bin/env python3
"""The examples of the C functions are built and run as users do it, and print the same in each language. A
language without its tools is skipped, but C and Python.

usage: check_languages.py SOURCE-ROOT BUILD-ROOT LANGUAGE..."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

EXPECTED = "4 x 3\n0 0 0 7 0 9\n0:7 2:9 1:5 in 2 rows\nsum 21, maximum 9\nout of range\n"


def run(command, **options):
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def run_c(examples, root, library, folder):
    # -pedantic keeps to the letter of C99, in the header too.
    run(["cc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{root / 'include'}",
         examples / "c/sparse.c", "-o", folder / "sparse", f"-L{library}", "-ldapple"])
    return run([folder / "sparse", folder])


def run_python(examples, _root, _library, folder):
    return run([sys.executable, examples / "ctypes/sparse.py", folder])


def run_rust(examples, _root, library, folder):
    run(["rustc", "--edition", "2021", "-O", "-D", "warnings", "-L", library, "-o", folder / "sparse",
         examples / "rust/sparse.rs"])
    return run([folder / "sparse", folder])


def run_go(examples, root, library, folder):
    environment = dict(os.environ, CGO_ENABLED="1", CGO_CFLAGS=f"-I{root / 'include'}",
                       CGO_LDFLAGS=f"-L{library} -ldapple", GOFLAGS="-mod=mod", GO111MODULE="off")
    run(["go", "vet", examples / "go/sparse.go"], env=environment)
    return run(["go", "run", examples / "go/sparse.go", folder], env=environment)


LANGUAGES = {"c": (run_c, "cc"), "python": (run_python, sys.executable), "rust": (run_rust, "rustc"),
             "go": (run_go, "go")}


def main(root, build, *languages):
    root, library = pathlib.Path(root).resolve(), pathlib.Path(build).resolve() / "lib"
    os.environ["LD_LIBRARY_PATH"] = str(library)
    passed = failed = skipped = 0
    for language in languages:
        build_and_run, tool = LANGUAGES[language]
        if language in ("rust", "go") and shutil.which(tool) is None:
            print(f"skipped: {language}: no {tool}")
            skipped += 1
            continue
        with tempfile.TemporaryDirectory() as name:
            try:
                printed = build_and_run(root / "apps/examples", root, library, pathlib.Path(name))
                if printed != EXPECTED:
                    raise RuntimeError(f"prints {printed!r}, not {EXPECTED!r}")
                passed += 1
            except RuntimeError as failure:
                print(f"{language}: {failure}")
                failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
