"""Runs the Python blocks of a Markdown page, and compares what each line prints with its comment.

A line's output is after `#>`, as in ``print(1 + 1)  #> 2``."""

import io
import re
from contextlib import redirect_stdout


def blocks(text):
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def expected(code):
    return [line.split("#>", 1)[1].strip() for line in code.splitlines() if "#>" in line]


def run(code, name="page"):
    """(what the comments say, what was printed), as lists of lines."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, name, "exec"), {"__name__": name})
    return expected(code), printed.getvalue().splitlines()
