"""Python code in a process of its own."""

import subprocess
import sys
import textwrap


def run(code, cwd, **options):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=cwd, capture_output=True, text=True,
        timeout=120, **options,
    )  # fmt: skip
