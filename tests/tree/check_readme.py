#!/usr/bin/env python3
"""The README keeps its word: its programs in C++ and C compile as pasted and print what the README says, its
links lead somewhere, and it names every verb of the command line.

usage: check_readme.py SOURCE-ROOT BUILD-ROOT DAPPLE"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def run(*command, **options):
    return subprocess.run([str(part) for part in command], text=True, capture_output=True, **options)


def check_program(root, build, text, language, compiler, folder):
    """Builds and runs the README's program in a language, and compares what it prints."""
    program = re.search(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    if program is None:
        return [f"has no program in {language}"]
    library = build / "lib"
    (folder / f"program.{language}").write_text(program.group(1))
    built = run(*compiler, "-Wall", "-Wextra", "-Werror", f"program.{language}", "-o", "program",
                f"-I{root / 'include'}", f"-L{library}", "-ldapple", cwd=folder)
    if built.returncode != 0:
        return [f"its program does not compile:\n{built.stderr}"]
    ran = run("./program", cwd=folder, env=dict(os.environ, LD_LIBRARY_PATH=str(library)))
    promised = re.findall(r"//> (.*)", program.group(1))
    if not promised:
        promised = re.findall(r"`(.*?)`", re.search(r"^It prints (.*)\.$", text, re.MULTILINE).group(1))
    expected = "".join(line + "\n" for line in promised)
    if ran.returncode != 0 or ran.stdout != expected:
        return [f"its program prints {ran.stdout!r} {ran.stderr!r}, status {ran.returncode}, "
                f"where the README says {expected!r}"]
    return []


def check_programs(root, build, text):
    """Those in C++ and in C, which reads the file that the first one writes."""
    with tempfile.TemporaryDirectory() as name:
        return [finding
                for language, compiler in (("cpp", ["c++", "-std=c++20"]), ("c", ["cc", "-std=c99", "-pedantic"]))
                for finding in check_program(root, build, text, language, compiler, pathlib.Path(name))]


def check_links(folder, text):
    targets = [t for t in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in t]
    return [f"links to {target}, which is not there" for target in targets
            if not (folder / target).exists()]


def check_verbs(dapple, text):
    usage = run(dapple, "--help").stdout
    verbs = re.findall(r"^  (\w+) +[A-Z]", usage, re.MULTILINE)
    return [] if verbs and all(f"`{verb} " in text for verb in verbs) else [
        f"has no line for each of the verbs {', '.join(verbs)}"]


def main(root, build, dapple):
    root, build = pathlib.Path(root).resolve(), pathlib.Path(build).resolve()
    text = (root / "README.md").read_text()
    findings = [(f"{page.relative_to(root)}: ", check_links(page.parent, page.read_text()))
                for page in [root / "README.md", root / "apps/bench/RESULTS.md",
                             root / "lib/GUARANTEES.md", root / "lib/HACKING.md"]]
    findings += [("README.md: ", check_programs(root, build, text)),
                 ("README.md: ", check_verbs(dapple, text))]
    for name, found in findings:
        for finding in found:
            print(name + finding)
    failed = sum(1 for _, found in findings if found)
    print(f"{len(findings) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
