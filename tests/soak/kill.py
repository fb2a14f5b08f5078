#!/usr/bin/env python3
"""Kills writers at random moments.

    kill.py DAPPLE SECONDS

Converts a matrix of some megabytes again and again, over an old file, with all threads, and kills
the process (SIGKILL) at a random time of its life. The destination must be the old file or the new
one, to the byte; whatever else is left must be gone after the next run. The standard library only."""

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

import inputs  # noqa: E402

# In memory where that can be: these writers sync every file.
FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
OLD = b"what stood here before\n"
SIDE = 700


def main(program, seconds):
    program = str(pathlib.Path(program).resolve())
    rng = random.Random(1)
    killed = done = kept = 0
    with tempfile.TemporaryDirectory(prefix="dapple-kill-", dir=FOLDER) as name:
        folder = pathlib.Path(name)
        (folder / "in.dbdf").write_bytes(
            inputs.matrix_header(SIDE, SIDE, "f64")
            + inputs.dense(0, 0, SIDE, SIDE, "f64", [i / 7 for i in range(SIDE * SIDE)]))
        wanted = {}
        lasts = {}
        for out in ("out.dbdf", "out.csv", "out.npy", "out.idv"):
            command = [program, "convert", "in.dbdf", out, "--force", "-q"]
            start = time.monotonic()
            subprocess.run(command, cwd=folder, check=True)
            lasts[out] = time.monotonic() - start
            wanted[out] = (folder / out).read_bytes()
        before = set(os.listdir(folder))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            out = rng.choice(sorted(wanted))
            command = [program, "convert", "in.dbdf", out, "--force", "-q"]
            (folder / out).write_bytes(OLD)
            process = subprocess.Popen(command, cwd=folder)
            time.sleep(rng.random() * 1.2 * lasts[out])
            process.send_signal(signal.SIGKILL)
            killed += process.wait() == -signal.SIGKILL
            content = (folder / out).read_bytes()
            if content not in (OLD, wanted[out]):
                print(f"{out}: neither the old file nor the new one: {len(content)} bytes")
                print("0 passed, 1 failed")
                return 1
            kept += content == OLD
            done += 1
            if set(os.listdir(folder)) != before:
                subprocess.run(command, cwd=folder, check=True)
                if set(os.listdir(folder)) != before:
                    print(f"left behind: {set(os.listdir(folder)) - before}")
                    print("0 passed, 1 failed")
                    return 1
    print(f"{done} writers, {killed} of them killed; {kept} left the old file")
    print("1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    sys.exit(main(sys.argv[1], float(sys.argv[2])))
