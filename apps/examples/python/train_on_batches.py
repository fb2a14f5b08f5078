"""Logistic regression on random batches of rows, straight from the file.

    python train_on_batches.py [--rows 1000000] [--cols 200] [--epochs 3]

Every epoch reads all rows once, in another random order; the next batches are read while one is used.
With torch installed, `DataLoader(loader, batch_size=None, num_workers=2)` reads them in processes."""

import argparse
import os
import tempfile

import numpy as np

import pydapple as dp


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


def train(loader, cols, epochs, rate=0.5):
    """Weights of the plane, by gradient descent."""
    weights = np.zeros(cols)
    for epoch in range(epochs):
        right = seen = 0
        for cells, known, rows in loader:
            side = known["side"]
            guess = 1 / (1 + np.exp(-(cells @ weights)))
            right += int(((guess > 0.5) == side).sum())
            seen += len(rows)
            weights -= rate * (guess - side) @ cells / len(rows)
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
        loader = dp.loader(dp.open(path), {"side": labels}, batch=256, reuse=True)
        train(loader, given.cols, given.epochs)


if __name__ == "__main__":
    main()
