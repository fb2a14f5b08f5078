#!/usr/bin/env python3
"""Makes page_parts.cpp of the page's HTML, style and scripts.

usage: embed.py OUT HTML CSS JS..."""

import pathlib
import re
import sys


def literal(name, text):
    # Raw strings have a length that compilers must accept, so they are given in pieces.
    pieces = [text[i:i + 8000] for i in range(0, len(text), 8000)]
    body = "\n".join(f'R"PART({piece})PART"' for piece in pieces)
    return f"const std::string_view {name} = {body};\n"


def without_comments(text):
    """A script or style without lines of comment and blanks at the front, a third of what browsers load."""
    text = re.sub(r"^ */\*\*.*?\*/\n", "", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(line.lstrip(" ") + "\n" for line in text.splitlines() if not re.match(" *(//|$)", line))


def main(out, html, css, *scripts):
    read = lambda name: pathlib.Path(name).read_text(encoding="ascii")
    script = '"use strict";\n(() => {\n' + without_comments("\n".join(map(read, scripts))) + "})();\n"
    pathlib.Path(out).write_text('#include "page_parts.h"\n\nnamespace dapple::viewer {\n\n'
                                 + literal("kPageHtml", read(html))
                                 + literal("kPageStyle", without_comments(read(css)))
                                 + literal("kPageScript", script)
                                 + "\n}  // namespace dapple::viewer\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
