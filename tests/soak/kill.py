#!/usr/bin/env python3
"""Kills writers at random moments.

    kill.py DAPPLE SECONDS [KILLS]

Runs every verb that writes, on files of some megabytes, again and again, over old ones, with all
threads, for so many seconds and until so many were killed; kills the process (SIGKILL) at a random time of its life. The destination must
be the old file or the new one, to the byte; what is read must be one of the two, although a sidecar
of the old one may still be there; whatever else is left must be gone after the next run. The
standard library only."""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

import inputs  # noqa: E402

# In memory where that can be: these writers sync every file.
FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
OLD = b"what was there before\n"
SIDE = 700
ROWS = 60000


@dataclass
class Job:
    """A command that writes `out`, and the commands that make the old state (none: OLD)."""

    arguments: list
    out: str
    prepare: tuple = ()
    reads: tuple = ()  # shows what is in the files


def jobs():
    """All that are killed."""
    for out in ("out.dbdf", "out.csv", "out.npy", "out.idv", "out.mtx", "out.btable"):
        yield Job(["convert", "in.dbdf", out, "--force"], out)
    yield Job(["convert", "in.dbdf", "out.dbdf", "--pack=fast", "--force"], "out.dbdf",
              reads=("stats", "out.dbdf"))
    yield Job(["get", "in.dbdf", "--rows", "9:600", "-o", "out.npy", "--force"], "out.npy")
    yield Job(["repair", "in.dbdf", "-o", "out.dbdf", "--force"], "out.dbdf")
    yield Job(["show", "in.dbdf", "-o", "out.png", "--force"], "out.png")
    yield Job(["view", "in.dbdf", "-o", "out.html", "--force"], "out.html")
    people = ["convert", "people.csv", "out.dbdf", "--force"]
    yield Job(["concat", "people.csv", "more.csv", "-o", "out.dbdf", "--force"], "out.dbdf",
              reads=("get", "out.dbdf", "--rows", ":9"))
    yield Job(["convert", "more.csv", "out.dbdf", "--append"], "out.dbdf", (people,),
              ("get", "out.dbdf", "--rows", f"{ROWS - 3}:"))
    yield Job(["convert", "in.dbdf", "out.dbdf", "--append"], "out.dbdf",
              (["convert", "in.dbdf", "out.dbdf", "--force", "--plain"],
               ["index", "out.dbdf", "--stats"]), ("stats", "out.dbdf"))
    yield Job(["index", "in.dbdf", "--stats"], "in.dbdf.dpx", (["index", "in.dbdf"],),
              ("stats", "in.dbdf"))
    yield Job(["index", "in.dbdf", "--columns"], "in.dbdf.dpc",
              reads=("get", "in.dbdf", "--cols", "3:5"))
    yield Job(["convert", "in.dbdf", "out.dbdf", "--transpose", "--force"], "out.dbdf")
    yield Job(["index", "people.csv"], "people.csv.dpx",
              reads=("get", "people.csv", "--rows", f"{ROWS - 3}:", "--to", "csv"))


def make_inputs(folder):
    folder.mkdir()
    (folder / "in.dbdf").write_bytes(
        inputs.matrix_header(SIDE, SIDE, "f64")
        + inputs.dense(0, 0, SIDE, SIDE, "f64", [i / 7 for i in range(SIDE * SIDE)]))

    def table(rows, words):
        return "city,n\n" + "".join(f"place {r * r % words},{r * 37 % 1000}.5\n" for r in rows)

    (folder / "people.csv").write_text(table(range(ROWS), 997))
    (folder / "more.csv").write_text(table(range(ROWS // 4), 1511))


class Bench:
    """One job in a folder of its own."""

    def __init__(self, program, folder, job):
        self.program, self.folder, self.job = program, folder, job
        shutil.copytree(folder.parent / "inputs", folder)
        self.reset()
        self.before = set(os.listdir(folder)) | {f"{job.out}.dpx"}
        old, shows = self.content(), {}
        shows[old] = self.shown()
        start = time.monotonic()
        subprocess.run(self.command(job.arguments), cwd=folder, check=True)
        self.lasts = time.monotonic() - start
        assert self.content() not in shows
        shows[self.content()] = self.shown()
        self.shows = shows

    def command(self, arguments):
        return [self.program, *arguments, "-q"]

    def content(self):
        return (self.folder / self.job.out).read_bytes()

    def shown(self):
        if not self.job.reads:
            return None
        return subprocess.run(self.command(self.job.reads), cwd=self.folder,
                              capture_output=True).stdout

    def reset(self):
        if not self.job.prepare:
            (self.folder / self.job.out).write_bytes(OLD)
        for arguments in self.job.prepare:
            subprocess.run(self.command(arguments), cwd=self.folder, check=True)

    def strays(self):
        return set(os.listdir(self.folder)) - self.before

    def kill(self, after):
        """Whether the writer was killed, whether the old file stayed, and what is wrong."""
        self.reset()
        process = subprocess.Popen(self.command(self.job.arguments), cwd=self.folder)
        time.sleep(after * self.lasts)
        process.send_signal(signal.SIGKILL)
        killed = process.wait() == -signal.SIGKILL
        content = self.content()
        wrong = ""
        if content not in self.shows:
            wrong = f"neither the old file nor the new one: {len(content)} bytes"
        elif self.shown() != self.shows[content]:
            wrong = f"what is read is {self.shown()!r}"
        elif self.strays():
            self.reset()
            subprocess.run(self.command(self.job.arguments), cwd=self.folder, check=True)
            if self.strays():
                wrong = f"left behind: {self.strays()}"
        return killed, content == next(iter(self.shows)), wrong


def main(program, seconds, kills):
    program = str(pathlib.Path(program).resolve())
    rng = random.Random(1)
    killed = done = kept = 0
    with tempfile.TemporaryDirectory(prefix="dapple-kill-", dir=FOLDER) as name:
        make_inputs(pathlib.Path(name) / "inputs")
        benches = [Bench(program, pathlib.Path(name) / str(n), job)
                   for n, job in enumerate(jobs())]
        end = time.monotonic() + seconds
        while time.monotonic() < end or killed < kills:
            bench = rng.choice(benches)
            was_killed, is_old, wrong = bench.kill(rng.random() * 1.2)
            if wrong:
                print(f"{' '.join(bench.job.arguments)}: {wrong}")
                print("0 passed, 1 failed")
                return 1
            done, killed, kept = done + 1, killed + was_killed, kept + is_old
    print(f"{done} writers, {killed} of them killed; {kept} left the old file")
    print("1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    sys.exit(main(sys.argv[1], float(sys.argv[2]), int((sys.argv + ["0"])[3])))
