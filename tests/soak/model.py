#!/usr/bin/env python3
"""Random operations on what files and folders hold, one after the other, held against NumPy and pandas.

    model.py SECONDS [SEED]

Every object is a file and what it must hold. Each step makes a new file of one or two others: written,
converted, cut, transposed, put together, appended to, sent through another format. Then anything is asked
of it. The seed is the day's unless it is given; a step that goes wrong is printed with its history."""

import random
import sys

import model_folders
import model_frames
import model_matrices
from games import play_all

KINDS = (model_matrices.Matrices, model_frames.Frames, model_folders.Datasets,
         model_folders.FrameDatasets, model_folders.Collections)


def play(seed, number, folder):
    """One chain of steps; raises where an answer differs."""
    r = random.Random(seed)
    chain = KINDS[number % len(KINDS)](r, folder)
    try:
        for _ in range(r.randrange(4, 14)):
            chain.step()
    except Exception:
        print("\n".join(chain.history))
        raise
    return len(chain.history)


if __name__ == "__main__":
    sys.exit(play_all(play, *sys.argv[1:]))
