#!/usr/bin/env python3
"""Random operations on what files and folders hold, one after the other, held against NumPy and pandas.

    model.py SECONDS [SEED]

Every object is a file and what it must hold. Each step makes a new file of one or two others: written,
converted, cut, transposed, put together, appended to, sent through another format. Then anything is asked
of it. The seed is the day's unless it is given; a step that goes wrong is told with its history."""

import datetime
import pathlib
import random
import sys
import tempfile
import time
import traceback

import model_folders
import model_frames
import model_matrices

KINDS = (model_matrices.Matrices, model_frames.Frames, model_folders.Datasets,
         model_folders.FrameDatasets, model_folders.Collections)


def play(kind, seed, folder):
    """One chain of steps; raises where an answer differs."""
    r = random.Random(seed)
    chain = kind(r, folder)
    try:
        for _ in range(r.randrange(4, 14)):
            chain.step()
    except Exception:
        print("\n".join(chain.history))
        raise
    return len(chain.history)


def main():
    seconds = float(sys.argv[1])
    day = sys.argv[2] if len(sys.argv) > 2 else datetime.date.today().isoformat()
    end, games, steps = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        kind = KINDS[games % len(KINDS)]
        with tempfile.TemporaryDirectory() as folder:
            try:
                steps += play(kind, f"{day} {games}", pathlib.Path(folder))
            except Exception:
                traceback.print_exc(file=sys.stdout)
                print(f"seed {day!r}, game {games}")
                print(f"{games} passed, 1 failed")
                return 1
        games += 1
    print(f"{steps} steps, seed {day!r}")
    print(f"{games} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
