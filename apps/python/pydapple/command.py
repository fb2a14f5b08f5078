"""The command `dapple`, which a wheel installs."""

import os
import signal
import sys

from ._core import run_command


def main() -> None:
    """Does what the command line says, and ends the process."""
    os.environ.setdefault("DAPPLE_PYTHON", sys.executable)  # which has this package
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(run_command(sys.argv))
