#!/usr/bin/env python3
"""dapple says when it is configured for a machine that it is not made for, before anything is compiled.

usage: check_machines.py SOURCE-ROOT"""

import pathlib
import subprocess
import sys
import tempfile

# The compiler is this machine's own; what it would make for is only said.
MACHINE = """[binaries]
cpp = 'c++'
[host_machine]
system = '{system}'
cpu_family = '{family}'
cpu = '{family}'
endian = '{endian}'
"""
NOT_FOR = [("linux", "s390x", "big"), ("darwin", "aarch64", "little")]


def main(root):
    failed = 0
    for system, family, endian in NOT_FOR:
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name) / "machine.txt"
            file.write_text(MACHINE.format(system=system, family=family, endian=endian))
            result = subprocess.run(["meson", "setup", pathlib.Path(name) / "build", root, "--cross-file", file],
                                    text=True, capture_output=True)
        if result.returncode == 0 or f"dapple needs 64-bit little-endian Linux, not {system} on {family}" not in result.stdout:
            print(result.stdout, result.stderr)
            failed += 1
    print(f"{len(NOT_FOR) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
