#!/usr/bin/env python3
"""Random objects from one format to the next, each held against what the file before it held.

    chains.py DAPPLE SECONDS [SEED]

Matrices and frames of every type, with missing cells, names and words that look like something else, go
through chains of formats by the command, its pipes and pydapple. A cell, type, name or attribute that is
another one afterwards must be a loss that is documented or that `convert` told of. The seed is the day's
unless it is given; a chain that goes wrong is printed with its history."""

import functools
import random
import subprocess
import sys
import warnings

import numpy as np
import pydapple as dp
from chains_losses import is_known
from chains_objects import NUMBERS, differences, held_by, random_object
from games import play_all

# Endings of names, and the formats of those that do not tell it.
ENDINGS = {"dbdf": "dbdf", "npy": "npy", "npy.gz": "npy", "csv": "csv", "csv.zst": "csv", "tsv": "tsv", "mtx": "mtx",
           "mtx.gz": "mtx", "btable": "btable", "futhark.in": "futhark", "text.in": "futhark-text", "idv": "idv",
           "runtime": "daphne", "parquet": "parquet", "arrow": "arrow", "dds": "dbdf", "zip": "dbdf"}
GUESTS, MEMBERS = ("parquet", "arrow"), ("dds", "zip")
STREAMS = ("npy", "csv", "tsv", "mtx", "btable", "futhark", "futhark-text")


class RefusedError(Exception):
    """The conversion is an error, which says why."""


def marks_are_cells(held):
    """Whether integers of 64 bits leave no mark for the missing cells among them; CSV refuses these."""
    both = ({-(2**63), 2**63 - 1}, {2**63, 2**64 - 1})
    return held.is_frame and any(
        None in column.cells and any(marks <= set(column.cells) for marks in both) for column in held.columns)


class Chain:
    def __init__(self, r, folder, dapple):
        self.r, self.folder, self.dapple, self.history = r, folder, dapple, []
        held = random_object(r)
        self.path, self.opening = folder / "0.dbdf", {}
        self.tell("write", held)
        names = {"row_names": held.row_names, "attrs": held.attrs or None, "sync": False, **self.tiles()}
        if held.is_frame:
            dp.write(self.path, held.to_arrow(), **names)
        else:
            dp.write(self.path, held.cells, col_names=held.col_names, **names)
        self.held = self.read(self.path, {})
        for what, example in differences(held, self.held):
            assert what == "type" and held.is_frame, (what, example)  # a mark of missing cells may need room

    def tell(self, *what):
        self.history.append(f"{len(self.history)}: {' '.join(map(str, what))}")

    def tiles(self):
        r, options = self.r, {}
        if r.random() < 0.4:
            options["tile"] = (r.randrange(1, 30), r.randrange(1, 12))
        if r.random() < 0.3:
            options["pack"] = r.choice(("fast", "small"))
        return options

    def options(self, ending):
        """Of `convert`; a member is put as it is."""
        r, options = self.r, {}
        if ending in MEMBERS:
            return options
        options |= {name: True for name in ("drop_labels", "stored_numbers") if r.random() < 0.3}
        if r.random() < 0.2 and ending not in GUESTS:
            options["dtype"] = r.choice(tuple(NUMBERS))
        if r.random() < 0.2:
            begin = r.randrange(self.held.rows + 1)
            options["rows"] = (begin, r.randrange(begin, self.held.rows + 1))
        return options

    @staticmethod
    def read(path, opening):
        with dp.open(path, **opening) as opened:
            return held_by(opened)

    def run(self, *arguments, stdin=None):
        done = subprocess.run([self.dapple, *map(str, arguments)], input=stdin, capture_output=True, timeout=300)
        told = done.stderr.decode(errors="replace")
        assert done.returncode in (0, 1, 2) and "Traceback" not in told, (done.returncode, told)
        return done, told

    def step(self):
        r, ending = self.r, self.r.choice(tuple(ENDINGS))
        format, path = ENDINGS[ending], self.folder / f"{len(self.history)}.{ending}"
        options = self.options(ending)
        ways = [self.by_pydapple, self.by_object]
        if "rows" not in options and ending not in GUESTS:
            ways += [self.by_command, self.by_command, self.by_pipes]
        way = self.as_member if ending in MEMBERS else r.choice(ways)
        before = self.held.part(slice(*options["rows"])) if "rows" in options else self.held
        self.tell(way.__name__, path.name, options)
        try:
            notes = way(path, format, options)
        except RefusedError as refusal:
            self.history[-1] += f" refused: {refusal}"
            assert str(refusal).strip()
            return
        self.history[-1] += f" told: {notes}"
        if not before.is_frame and before.rows == 0 and format in ("csv", "tsv"):
            return  # an empty file
        self.compare(path, format, before, notes, options)

    def compare(self, path, format, before, notes, options):
        opening = {"format": format} if format in ("btable", "daphne") else {}
        if format.startswith("futhark"):
            opening = {"format": "futhark"}
            if before.is_frame and len(before.columns) > 1:
                opening["futhark"] = {"frame": True}
        if format in GUESTS:
            path, guest = path.with_suffix(".dbdf"), path
            notes += self.converted(guest, path, {})
        elif path.suffix[1:] in MEMBERS:
            path /= "X"
        try:
            after = self.read(path, opening)
        except dp.Error:
            if "such labels" not in notes and not marks_are_cells(before):  # such labels are among the cells then
                raise
            return
        for what, example in differences(before, after):
            assert is_known(format, what, example, before, after, notes, options), (format, what, example)
        self.path, self.opening, self.held = path, opening, after
        assert not dp.verify(path, payload=True, **opening).findings
        self.search(path, opening, after)

    def search(self, path, opening, held):
        """The command finds the cells that are equal to one."""
        r, flags = self.r, ["--from", opening["format"]] if "format" in opening else []
        if "futhark" in opening:
            flags.append("--frame")
        if held.rows == 0 or not held.numbers():
            return
        k = r.randrange(len(held.numbers()))
        column = held.numbers()[k]
        cell = r.choice(column.cells)
        if column.kind != "number" or cell is None or cell != cell:
            return
        if held.is_frame:
            test, wanted = f"#{k} = {cell!r}", sum(one == cell for one in column.cells)
        else:
            test, wanted = f"== {cell!r}", int((held.cells.astype(object) == cell).sum())
        done, told = self.run("where", "--count", *flags, path, test)
        assert done.returncode == 0 and int(done.stdout) == wanted, (test, done.stdout, wanted, told)

    def told_by(self, call, *arguments, **options):
        """The notes of a conversion, as warnings tell them."""
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                call(*arguments, **options)
            except dp.Error as refusal:
                raise RefusedError(refusal) from None
        return " ".join(str(one.message) for one in told)

    def converted(self, source, path, options):
        return self.told_by(dp.convert, source, path, sync=False, **options)

    def by_pydapple(self, path, format, options):
        to = None if format in GUESTS else format
        return self.converted(self.path, path, {**options, "to": to, "open_with": self.opening or None})

    def by_object(self, path, format, options):
        to = None if format in GUESTS else format
        with dp.open(self.path, **self.opening) as opened:
            own = self.tiles() if format == "dbdf" else {}
            return self.converted(opened, path, {**options, **own, "to": to})

    def as_member(self, path, format, options):
        """A collection of one, as a folder or as an archive."""
        folder = path.with_suffix(".dds")
        with dp.open(self.path, **self.opening) as opened:
            notes = self.told_by(dp.write_collection, folder, {"X": opened})
        if path.suffix == ".zip":
            dp.pack_collection(folder, path)
        return notes

    def flags(self, format, options):
        flags = ["--no-sync", "--to", format]
        flags += ["--" + name.replace("_", "-") for name in options if options[name] is True]
        if "dtype" in options:
            dtype = np.dtype(options["dtype"])
            flags += ["--value-type", f"{dtype.kind}{8 * dtype.itemsize}"]
        if "format" in self.opening:
            flags += ["--from", self.opening["format"]]
        return flags + (["--frame"] if "futhark" in self.opening else [])

    def by_command(self, path, format, options):
        done, told = self.run("convert", *self.flags(format, options), self.path, path)
        if done.returncode:
            raise RefusedError(told)
        return told

    def by_pipes(self, path, format, options):
        """From standard input, to standard output where the format can be written to it."""
        flags, stdin, source = self.flags(format, options), None, self.path
        told_by_name = self.path.suffix in (".csv", ".mtx", ".npy", ".idv", ".dbdf")
        if self.path.is_file() and told_by_name and format != "daphne":
            stdin, source = self.path.read_bytes(), "-"
            flags += [] if "--from" in flags else ["--from", self.path.suffix[1:]]
        to_pipe = format in STREAMS and path.suffix not in (".gz", ".zst")
        done, told = self.run("convert", *flags, source, "-" if to_pipe else path, stdin=stdin)
        if done.returncode:
            raise RefusedError(told)
        if to_pipe:
            path.write_bytes(done.stdout)
        return told


def play(dapple, seed, _, folder):
    """One chain; raises where it goes wrong."""
    r, chain = random.Random(seed), None
    try:
        chain = Chain(r, folder, dapple)
        for _ in range(r.randrange(2, 8)):
            chain.step()
    except Exception:
        print("\n".join(chain.history if chain else ()))
        raise
    return len(chain.history)


if __name__ == "__main__":
    sys.exit(play_all(functools.partial(play, sys.argv[1]), *sys.argv[2:]))
