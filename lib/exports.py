#!/usr/bin/env python3
"""Writes the linker's list of what libdapple.so exports: all of namespace dapple but dapple::detail, and of
that only what a public header declares (a function, or a class with its body), since inline code in
those headers calls it; and the functions of dapple_c.h, with a version of their own.

usage: exports.py OUT HEADER..."""

import pathlib
import re
import sys

C_VERSION, CPP_VERSION = "DAPPLE_1", "DAPPLE_CPP"
PREFIXES = ("_ZN", "_ZN[KRO]", "_ZNK[RO]", "_ZT[IVS]N")
BLOCK = re.compile(r"^namespace detail \{(.*?)^\}  // namespace detail", re.DOTALL | re.MULTILINE)
DECLARED = re.compile(r"\b(\w+)\(|\b(?:class|struct) (\w+)[^;@()]*@")


def details(headers):
    """Names in dapple::detail that the headers declare."""
    for header in headers:
        for block in BLOCK.findall(pathlib.Path(header).read_text()):
            code, replaced = re.sub(r"//.*|^#.*|template <[^>]*>", "", block, flags=re.MULTILINE), 1
            while replaced:  # bodies, from the inside out
                code, replaced = re.subn(r"\{[^{}]*\}", "@", code)
            yield from (function or kind for function, kind in DECLARED.findall(code))


def c_functions(headers):
    """What dapple_c.h declares."""
    header = next(header for header in headers if header.endswith("dapple_c.h"))
    return re.findall(r"^\w[\w* ]*\b(dapple_\w+)\(", pathlib.Path(header).read_text(), re.MULTILINE)


def main(out, *headers):
    # A linker exports a name that matches both lists, so that the patterns have to leave out
    # 6detail, a mangled name's way to say detail, by themselves.
    patterns = ["[!6]*", "6[!d]*"]
    patterns += [f"6detail{len(name)}{name}*" for name in sorted(set(details(headers)))]
    lines = [f"    {prefix}6dapple{pattern};" for prefix in PREFIXES for pattern in patterns]
    versions = [f"{C_VERSION} {{", "  global:", *(f"    {name};" for name in c_functions(headers)), "};",
                f"{CPP_VERSION} {{", "  global:", *lines, "  local:", "    *;", "};"]
    text = "\n".join(versions) + "\n"
    pathlib.Path(out).write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
