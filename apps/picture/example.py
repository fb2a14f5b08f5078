#!/usr/bin/env python3
"""Draws example.png, the picture of the README: which package of Debian depends on which, as the
package lists of this machine say it. Packages are sorted by section and name, so that those that
belong together are neighbours.

usage: example.py DAPPLE OUT.png"""

import pathlib
import re
import subprocess
import sys
import tempfile


def packages():
    """Section, name and the names it depends on, of each package."""
    listed = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True)
    for stanza in listed.stdout.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Section|Depends): (.*)$", stanza, re.MULTILINE))
        if "Package" in fields:
            wanted = re.findall(r"(?:^|[,|]) *([a-z0-9.+-]+)", fields.get("Depends", ""))
            yield fields.get("Section", ""), fields["Package"], wanted


def main(dapple, out):
    dapple = pathlib.Path(dapple).resolve()
    known = {name: (section, wanted) for section, name, wanted in packages()}
    order = sorted(known, key=lambda name: (known[name][0], name))
    number = {name: i for i, name in enumerate(order)}
    entries = sorted({(number[name], number[other]) for name in order for other in known[name][1]
                      if other in number})
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/debian.mtx", "w", encoding="ascii") as file:
            file.write("%%MatrixMarket matrix coordinate pattern general\n"
                       f"{len(order)} {len(order)} {len(entries)}\n")
            file.writelines(f"{row + 1} {col + 1}\n" for row, col in entries)
        for command in (["convert", "debian.mtx", "debian.dbdf", "-q"],
                        ["show", "debian.dbdf", "-o", "debian.png", "--size", "520x470"]):
            subprocess.run([dapple, *command], cwd=folder, check=True)
        with open(f"{folder}/debian.png", "rb") as picture, open(out, "wb") as file:
            file.write(picture.read())


if __name__ == "__main__":
    main(*sys.argv[1:])
