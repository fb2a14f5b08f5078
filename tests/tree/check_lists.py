#!/usr/bin/env python3
"""Every tests/**/test_*.cpp on disk must be one that Meson builds.

usage: check_lists.py TESTS-FOLDER LISTED-FILE..."""

import pathlib
import sys


def main(folder, *listed):
    listed = {pathlib.Path(name).resolve() for name in listed}
    on_disk = sorted(pathlib.Path(folder).resolve().rglob("test_*.cpp"))
    forgotten = [path for path in on_disk if path not in listed]
    for path in forgotten:
        print(f"{path}: expected in a list of tests/meson.build")
    print(f"{len(on_disk) - len(forgotten)} passed, {len(forgotten)} failed")
    return 1 if forgotten or not on_disk else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
