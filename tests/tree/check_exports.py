#!/usr/bin/env python3
"""The library exports its public API and nothing else: no symbol of another namespace, and of
dapple::detail only classes that a public header names. Of C it exports the functions of a list, with the
version that they have there, which no function leaves.

usage: check_exports.py LIBRARY INCLUDE-FOLDER C-SYMBOLS"""

import pathlib
import re
import subprocess
import sys

# What the tool chain puts into every library.
OWN = re.compile(r"^(_init|_fini|__bss_start|_edata|_end|DAPPLE_1|DAPPLE_CPP)$")


def exported(library):
    """Demangled names of the symbols that the library defines."""
    listed = subprocess.run(["nm", "-DC", "--defined-only", library], text=True, capture_output=True,
                            check=True).stdout
    return [line.split(" ", 2)[2] for line in listed.splitlines()]


def check_c(symbols, listed):
    """Differences between the C functions that are exported, with their versions, and a list."""
    found = {symbol for symbol in symbols if symbol.startswith("dapple_")}
    wanted = set(pathlib.Path(listed).read_text().split())
    yield from (f"exported, but not in {listed}: {symbol}" for symbol in sorted(found - wanted))
    yield from (f"in {listed}, but not exported: {symbol}" for symbol in sorted(wanted - found))


def main(library, include, c_symbols):
    headers = "\n".join(p.read_text() for p in pathlib.Path(include).rglob("*.h"))
    symbols = exported(library)
    found = list(check_c(symbols, c_symbols))
    for symbol in (symbol.partition("@")[0] for symbol in symbols):
        inside = re.search(r"dapple::(detail::)?(\w+)", symbol)
        if OWN.match(symbol) or symbol.startswith("dapple_"):
            continue
        if inside is None:
            found.append(f"exported, but not of dapple: {symbol}")
        elif inside.group(1) and not re.search(rf"\b{inside.group(2)}\b", headers):
            found.append(f"exported, but in no public header: {symbol}")
    if not any(symbol.startswith("dapple::open(") for symbol in symbols):
        found.append("dapple::open is not exported")
    for line in found[:20]:
        print(line)
    print(f"{len(symbols) - len(found)} passed, {len(found)} failed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
