#!/usr/bin/env python3
"""Every example runs, and prints what its first comment says.

usage: check_examples.py PROGRAM..."""

import pathlib
import subprocess
import sys
import tempfile

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "apps/examples/cpp"
INPUTS = {"IN": ("in.csv", "a,b\n1,0.5\n2,1.5\n3,2.5\n")}


def usage_and_output(source):
    """The words of the usage line, and the lines after the one that ends with "prints"."""
    comment = [line[2:] for line in source.read_text().split("#include")[0].splitlines()]
    usage = next(line for line in comment if line.startswith(f"   {source.stem}"))
    after = next(k for k, line in enumerate(comment) if line.endswith("prints"))
    return usage.split()[1:], "".join(line[3:] + "\n" for line in comment[after + 1:])


def check(program):
    words, expected = usage_and_output(SOURCES / (pathlib.Path(program).name + ".cpp"))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for word, (file, text) in INPUTS.items():
            if word in words:
                (folder / file).write_text(text)
        arguments = [folder / INPUTS[w][0] if w in INPUTS else folder / w.lower() for w in words]
        ran = subprocess.run([program, *arguments], text=True, capture_output=True)
    if ran.returncode != 0 or ran.stdout != expected:
        return f"prints {ran.stdout!r} {ran.stderr!r}, status {ran.returncode}, not {expected!r}"
    return None


def main(*programs):
    built = {pathlib.Path(program).name for program in programs}
    findings = [(source.stem, None if source.stem in built else "is not built")
                for source in sorted(SOURCES.glob("*.cpp"))]
    findings += [(pathlib.Path(program).name, check(program)) for program in programs]
    for name, finding in findings:
        if finding:
            print(f"{name}: {finding}")
    failed = sum(1 for _, finding in findings if finding)
    print(f"{len(findings) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
