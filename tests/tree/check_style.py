#!/usr/bin/env python3
"""House rules that a machine can see: formatting by clang-format 14, ASCII sources, who may include which
dependency, one version everywhere, and the rules of house_rules.py.

usage: check_style.py SOURCE-ROOT"""

import pathlib
import re
import shutil
import subprocess
import sys

import house_rules

# Dependency -> the only files of the library that may include it.
OWNERS = {
    "boost/": {"lib/io/local/local_file.cpp"},
    "xxh": {"lib/io/hash.cpp"},
    "tbb/": {"lib/base/parallel.h"},
    "oneapi/": {"lib/base/parallel.h"},
    "nlohmann/": {"lib/base/json.cpp"},
    "curl/": {"lib/io/http/curl.h"},
    "hdf5.h": {"lib/foreign/hdf5/h5_api.h"},
}
APPS_ONLY = ("fmt/", "CLI/", "doctest/")

# The rooms of the library, from the ground up. A file includes from its own room and from those
# below it; lib/HACKING.md says what belongs in each.
FLOORS = ("base", "io", "cells", "codec", "cache", "index", "layout", "object", "rows", "compute", "dbdf", "dataset", "foreign", "catalog", "api", "c")
# Rooms of one format, which know nothing of each other. What several share is a room of its own;
# npy is also what a member of an npz archive is.
FORMATS = "lib/foreign/"
SHARED = {"arrays", "meta", "npy", "text", "zip"}


def sources(root):
    folders = ("include", "lib", "apps", "tests")
    return sorted(p for f in folders for p in (root / f).rglob("*") if p.suffix in (".h", ".cpp"))


def formatter():
    """A command that checks formatting, or why there is none."""
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path is None:
            continue
        version = subprocess.run([path, "--version"], text=True, capture_output=True).stdout
        if re.search(r"version 14\.", version):
            return path, None
    return None, "no clang-format 14"


def check_format(command, root, files):
    run = subprocess.run([command, "--dry-run", "-Werror", *files], cwd=root, text=True,
                         capture_output=True)
    wrong = sorted(set(re.findall(r"^(.+?):\d+:\d+: error", run.stderr, re.MULTILINE)))
    return [f"{name}: expected the layout that clang-format 14 gives" for name in wrong]


def check_ascii(root, files):
    return [f"{f}: expected ASCII" for f in files if not (root / f).read_bytes().isascii()]


def check_includes(root, files):
    found = []
    for name in map(str, files):
        text = (root / name).read_text(encoding="utf-8", errors="replace")
        for header in re.findall(r'^#include [<"]([^>"]+)[>"]', text, re.MULTILINE):
            if not name.startswith(("lib/", "include/")):
                continue
            if header.startswith(APPS_ONLY):
                found.append(f"{name}: expected {header} in apps or tests only")
            for prefix, owners in OWNERS.items():
                if header.startswith(prefix) and name not in owners:
                    found.append(f"{name}: expected {header} in {', '.join(sorted(owners))} only")
            if name.startswith("include/") and header.startswith("lib/"):
                found.append(f"{name}: expected no internal header, got {header}")
    return found


def room(name):
    """The floor of a file of the library, counted from the ground."""
    return FLOORS.index(name.split("/")[1])


def check_floors(root, files):
    found = []
    for name in map(str, files):
        if not name.startswith("lib/") or name.startswith("lib/precompiled/"):
            continue
        if name.split("/")[1] not in FLOORS:
            found.append(f"{name}: a file belongs in a room: lib/{{{','.join(FLOORS)}}}")
            continue
        text = (root / name).read_text(encoding="utf-8", errors="replace")
        for header in re.findall(r'^#include "(lib/[^"]+)"', text, re.MULTILINE):
            if room(header) > room(name):
                found.append(f"{name}: includes {header}, which is a floor above it")
            if name.startswith(FORMATS) and header.startswith(FORMATS):
                ours, theirs = name.split("/")[2], header.split("/")[2]
                if theirs != ours and theirs not in SHARED:
                    found.append(f"{name}: a format includes {header}, another format's header")
    return found


def check_versions(root):
    """meson.build says which version this is."""
    version = re.search(r"version: '([\d.]+)'", (root / "meson.build").read_text()).group(1)
    places = {
        "include/dapple/version.h": f'#define DAPPLE_VERSION "{version}"',
        "lib/meson.build": f"soversion: '{version.rpartition('.')[0]}'",
        "apps/python/meson.build": f"version: '{version}'",
        "apps/python/pyproject.toml": f'version = "{version}"',
        "apps/python/pydapple/__init__.py": f'__version__ = "{version}"',
        "apps/python/conda/recipe.yaml": f'version: "{version}"',
        "CHANGELOG.md": f"## {version}",
    }
    for part, number in zip(("MAJOR", "MINOR", "PATCH"), version.split(".")):
        wanted = f"#define DAPPLE_VERSION_{part} {number}\n"
        if wanted not in (root / "include/dapple/version.h").read_text():
            yield f"include/dapple/version.h: expected {wanted.strip()}"
    for name, wanted in places.items():
        if wanted not in (root / name).read_text():
            yield f"{name}: expected {wanted}"


def main(root):
    root = pathlib.Path(root)
    files = [path.relative_to(root) for path in sources(root)]
    findings = [check_ascii(root, files), check_includes(root, files),
                check_floors(root, files), list(check_versions(root)), *house_rules.check(root)]
    command, why_not = formatter()
    if command:
        findings.append(check_format(command, root, files))
    else:
        print(f"skipped: formatting: {why_not}")
    for finding in (line for part in findings for line in part):
        print(finding)
    failed = sum(1 for part in findings if part)
    print(f"{len(findings) - failed} passed, {failed} failed, {0 if command else 1} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
