#!/usr/bin/env python3
"""Makes page_parts.cpp, or a page by itself, of the page's HTML, style and scripts.

usage: embed.py parts|page OUT HTML CSS JS...     scripts in a folder "reader" are modules
"""

import pathlib
import re
import sys


USED = "open, TYPES, ARRAYS, reading, numberText"  # of the reader, by the page
POLICY = """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src *">"""


def read(name):
    return pathlib.Path(name).read_text(encoding="ascii")


def literal(name, text):
    # Raw strings have a length that compilers must accept, so they are given in pieces.
    pieces = [text[i:i + 8000] for i in range(0, len(text), 8000)]
    body = "\n".join(f'R"PART({piece})PART"' for piece in pieces)
    return f"const std::string_view {name} = {body};\n"


def without_comments(text):
    """A script or style without comments (after code: two blanks and //) and blanks at the front."""
    text = re.sub(r"^ */\*\*.*?\*/\n", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = (re.sub("  // .*", "", line.lstrip(" ")) for line in text.splitlines() if not re.match(" *(//|$)", line))
    return "".join(line + "\n" for line in lines)


def joined(names):
    return without_comments("\n".join(map(read, names)))


def reader_of(names):
    """Modules of the reader as one object: what they import and export is in one scope."""
    text = re.sub(r"^import .*?;\n|^export \{.*?;\n", "", "\n".join(map(read, names)), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^export ", "", text, flags=re.MULTILINE)
    return "const reader = (() => {\n" + text + "return {" + USED + "};\n})();\n"


def sorted_by_kind(names):
    """(template, styles, other HTML, scripts of tables and of sums, modules of the reader, other scripts)"""
    html, *more = [name for name in names if name.endswith(".html")]
    styles = [name for name in names if name.endswith(".css")]
    scripts = [name for name in names if name.endswith(".js")]
    apart = [[name for name in scripts if name.endswith(end)] for end in ("/table.js", "/sums.js")]
    modules = [name for name in scripts if "/reader/" in name]
    return html, styles, more, apart, modules, [name for name in scripts if [name] not in apart and name not in modules]


def write_parts(out, *names):
    """The page of `dapple view`, as C++, in parts that not all of its pages need."""
    html, (style, table_style), (sheet, contents), (table, sums), _, scripts = sorted_by_kind(names)
    parts = {"kPageHtml": read(html).replace("@OPEN@", ""), "kContentsHtml": read(contents), "kPageStyle": joined([style]), "kPageScript": joined(scripts),
             "kTableHtml": read(sheet), "kTableStyle": joined([table_style]), "kTableScript": joined(table),
             "kSumScript": joined(sums)}
    pathlib.Path(out).write_text('#include "page_parts.h"\n\nnamespace dapple::viewer {\n\n'
                                 + "".join(literal(name, text) for name, text in parts.items())
                                 + "\n}  // namespace dapple::viewer\n")


def write_page(out, *names):
    """The page for files at any address, which needs no server of ours."""
    html, styles, (sheet, form), (table, sums), modules, scripts = sorted_by_kind(names)
    marks = {"TITLE": "dapple", "HOME": "", "POLICY": POLICY, "NONCE": "", "DATA": "{}", "OPEN": read(form), "SHEET": read(sheet),
             "STYLE": joined(styles[:1]), "TABLESTYLE": joined(styles[1:]), "TABLESCRIPT": joined(table), "SUMSCRIPT": joined(sums),
             "SCRIPT": without_comments(reader_of(modules)) + joined(scripts)}
    page = re.sub("@(" + "|".join(marks) + ")@", lambda mark: marks[mark.group(1)], read(html))
    pathlib.Path(out).write_text(page, encoding="ascii")


if __name__ == "__main__":
    {"parts": write_parts, "page": write_page}[sys.argv[1]](*sys.argv[2:])
