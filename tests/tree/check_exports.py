#!/usr/bin/env python3
"""The library exports its public API and nothing else: no symbol of another namespace, and of
dapple::detail only classes that a public header names.

usage: check_exports.py LIBRARY INCLUDE-FOLDER"""

import pathlib
import re
import subprocess
import sys

# What the tool chain puts into every library.
OWN = re.compile(r"^(_init|_fini|__bss_start|_edata|_end)$")


def exported(library):
    """Demangled names of the symbols that the library defines."""
    listed = subprocess.run(["nm", "-DC", "--defined-only", library], text=True, capture_output=True,
                            check=True).stdout
    return [line.split(" ", 2)[2] for line in listed.splitlines()]


def main(library, include):
    headers = "\n".join(p.read_text() for p in pathlib.Path(include).rglob("*.h"))
    symbols = exported(library)
    found = []
    for symbol in symbols:
        inside = re.search(r"dapple::(detail::)?(\w+)", symbol)
        if OWN.match(symbol):
            continue
        if inside is None:
            found.append(f"exported, but not of dapple: {symbol}")
        elif inside.group(1) and not re.search(rf"\b{inside.group(2)}\b", headers):
            found.append(f"exported, but in no public header: {symbol}")
    if not any(symbol.startswith("dapple::Matrix::open(") for symbol in symbols):
        found.append("dapple::Matrix::open is not exported")
    for line in found[:20]:
        print(line)
    print(f"{len(symbols) - len(found)} passed, {len(found)} failed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
