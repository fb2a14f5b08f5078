"""The command `dapple`, which a wheel installs."""

import signal
import sys

from ._core import run_command


def main() -> None:
    """Does what the command line says, and ends the process."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(run_command(sys.argv))
