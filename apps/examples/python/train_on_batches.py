"""Logistic regression on random batches of rows, straight from the file.

    python train_on_batches.py [--rows 1000000] [--cols 200] [--epochs 3]

Every epoch reads all rows once, in another random order. With torch installed,
`DataLoader(RowDataset(m, labels), batch_size=256, num_workers=2)` reads the same way."""

import argparse
import os
import tempfile

import numpy as np

import pydapple as dp
from pydapple.batches import RowDataset, batches


def make(path, rows, cols, seed=0):
    """Random rows, labelled by the side of a plane on which they are."""
    random = np.random.default_rng(seed)
    plane = random.standard_normal(cols)
    labels = np.empty(rows)
    with dp.writer(path, (rows, cols), "f4", tile=(256, cols), sync=False) as w:
        for top in range(0, rows, 25_600):
            cells = random.standard_normal((min(25_600, rows - top), cols), np.float32)
            w[top : top + len(cells)] = cells
            labels[top : top + len(cells)] = cells @ plane > 0
    return labels


def train(data, epochs, size=256, rate=0.5):
    """Weights of the plane, by gradient descent."""
    weights = np.zeros(data.matrix.shape[1])
    cells = np.empty((size, len(weights)), np.float32)  # used again for every batch
    for epoch in range(epochs):
        right = seen = 0
        for rows in batches(len(data), size, seed=epoch, drop_last=True):
            data.matrix.take(rows, out=cells)
            guess = 1 / (1 + np.exp(-(cells @ weights)))
            right += int(((guess > 0.5) == data.labels[rows]).sum())
            seen += len(rows)
            weights -= rate * (guess - data.labels[rows]) @ cells / size
        print(f"epoch {epoch}: {right / max(seen, 1):.1%} right")
    return weights


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--rows", type=int, default=1_000_000)
    parse.add_argument("--cols", type=int, default=200)
    parse.add_argument("--epochs", type=int, default=3)
    given = parse.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.dbdf")
        labels = make(path, given.rows, given.cols)
        train(RowDataset(dp.open(path), labels), given.epochs)


if __name__ == "__main__":
    main()
