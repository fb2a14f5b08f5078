#!/usr/bin/env python3
"""Prints the name by which programs load the HDF5 library of a pkg-config package: that of the file
which its libhdf5.so or libhdf5_serial.so leads to, with the first number of its version.

usage: library_name.py PACKAGE"""

import pathlib
import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def main(package):
    folders = [pathlib.Path(word[2:]) for word in output("pkg-config", "--libs-only-L", package)]
    for name in ("libhdf5.so", "libhdf5_serial.so"):
        for path in [*(folder / name for folder in folders),
                     *map(pathlib.Path, output("cc", f"-print-file-name={name}"))]:
            found = re.match(r".*\.so\.\d+", path.resolve().name)
            if path.exists() and found:
                print(found.group())
                return 0
    print(f"{package} has no shared library", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
