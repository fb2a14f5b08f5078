"""Running a program whose standard output is a terminal."""

import fcntl
import os
import pty
import struct
import subprocess
import tempfile
import termios


class Missing(Exception):
    """Raised where the system lacks what a check needs, as a bare one without /dev/pts does, or the build."""


def run(command, columns, timeout, **options):
    """Standard output (as it reached a terminal of that many columns), standard error, status."""
    try:
        ours, theirs = pty.openpty()
    except OSError as error:
        raise Missing(f"this system has no pseudo-terminals: {error}") from None
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    modes = termios.tcgetattr(theirs)
    modes[1] &= ~termios.OPOST  # lines end as they were written
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen(command, stdout=theirs, stderr=errors, **options) as process:
            os.close(theirs)
            output = read_all(ours)
            status = process.wait(timeout=timeout)
        errors.seek(0)
        return output, errors.read(), status


def read_all(fd):
    parts = []
    while True:
        try:
            part = os.read(fd, 1 << 16)
        except OSError:  # EIO: the other side is closed
            part = b""
        if not part:
            os.close(fd)
            return b"".join(parts)
        parts.append(part)
