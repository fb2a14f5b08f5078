#!/usr/bin/env python3
"""Every tests/**/test_*.cpp on disk must be one that Meson builds, and every guarantee of
lib/GUARANTEES.md must name tests that exist.

usage: check_lists.py TESTS-FOLDER LISTED-FILE..."""

import pathlib
import re
import sys


def check_guarantees(folder):
    """What is wrong with the last table of GUARANTEES.md, which has a row for each of its promises."""
    text = (folder.parent / "lib/GUARANTEES.md").read_text()
    promises = re.findall(r"^- \*\*(.+?)\*\*", text.split("\n## ")[0], re.MULTILINE | re.DOTALL)
    rows = dict(re.findall(r"^\| (.+?) \| (.+?) \|$", text.split("## Where each is tested")[-1], re.MULTILINE))
    for promise in promises:
        if not re.findall("`[^`]+`", rows.get(promise, "")):
            yield f"GUARANTEES.md: expected tests of: {promise}"
    for test in re.findall("`([^`]+)`", " ".join(rows[p] for p in promises if p in rows)):
        if not (folder / test).exists():
            yield f"GUARANTEES.md: tests/{test} does not exist"
    if not promises:
        yield "GUARANTEES.md: expected promises"


def main(folder, *listed):
    guarantees = list(check_guarantees(pathlib.Path(folder).resolve()))
    for line in guarantees:
        print(line)
    listed = {pathlib.Path(name).resolve() for name in listed}
    on_disk = sorted(pathlib.Path(folder).resolve().rglob("test_*.cpp"))
    forgotten = [path for path in on_disk if path not in listed]
    for path in forgotten:
        print(f"{path}: expected in a list of tests/meson.build")
    failed = len(forgotten) + bool(guarantees)
    print(f"{len(on_disk) + 1 - failed} passed, {failed} failed")
    return 1 if failed or not on_disk else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
