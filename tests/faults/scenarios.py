"""The commands that run.py interrupts, and the folders that they run in."""

import os
import pathlib
import shutil
import subprocess
import sys
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

import inputs  # noqa: E402

INPUTS = ("mixed.dbdf", "cut.dbdf", "irregular.dbdf", "large.csv", "people.csv", "more.csv")
OLD = b"what was there before\n"
OLD_META = b'{"numRows": 1, "numCols": 1, "valueType": "si64", "numNonZeros": -1}'  # beside it
OLD_MODE = 0o640  # is kept; a new file has another
SIDECAR = b"DPL-SIDE" + bytes(56)


@dataclass
class Tools:
    program: pathlib.Path
    shim: pathlib.Path
    inputs: pathlib.Path


@dataclass
class Scenario:
    """A command that writes one file. Before it runs, `prepare` makes the old state: commands of
    dapple, or the bytes OLD, or, if None, no file at all."""

    name: str
    arguments: list
    out: str
    prepare: list | bytes | None = OLD
    stdin: bytes | None = None
    without: str = ""  # what the system lacks (fault_shim.cpp)
    also: tuple = ()  # files written beside `out`
    sidecar: bytes | None = None  # a sidecar of the old file, which goes with it
    reads: tuple = ()  # commands whose output must not depend on a sidecar
    holds: tuple = ()  # the new file contains these bytes, or the scenario would show nothing
    repeats: bool = True  # a second run gives the same file as the first

    def indexed(self):
        """True when the old file has a real sidecar."""
        return (isinstance(self.prepare, list) and not self.out.endswith(".dpx")
                and any(command[0] == "index" for command in self.prepare))


def scenarios():
    """All of them."""
    people = ["convert", "people.csv", "out.dbdf"]
    append = ["convert", "more.csv", "out.dbdf", "--append"]
    cells = (["get", "out.dbdf"],)
    text = (["get", "people.csv", "--to", "csv"],)
    hints = (b"DPL-COLS", b"DPL-STAT")
    plain = [
        Scenario("new dbdf", ["convert", "mixed.dbdf", "out.dbdf"], "out.dbdf", None),
        Scenario("dbdf", ["convert", "mixed.dbdf", "out.dbdf", "--force"], "out.dbdf"),
        Scenario("csv", ["convert", "mixed.dbdf", "out.csv", "--force"], "out.csv"),
        Scenario("csv beside .meta", ["convert", "mixed.dbdf", "out.csv", "--force"], "out.csv",
                 also=("out.csv.meta",)),
        Scenario("from stdin", ["convert", "-", "out.dbdf", "--from", "csv", "--force"],
                 "out.dbdf", stdin=b"1,2\n3,4\n"),
        Scenario("large", ["convert", "large.csv", "out.dbdf", "--force"], "out.dbdf"),
        Scenario("index", ["index", "irregular.dbdf"], "irregular.dbdf.dpx"),
        Scenario("new index", ["index", "irregular.dbdf"], "irregular.dbdf.dpx", None),
        Scenario("index with statistics", ["index", "irregular.dbdf", "--stats"],
                 "irregular.dbdf.dpx", [["index", "irregular.dbdf"]], holds=(b"DPL-STAT",),
                 reads=(["stats", "irregular.dbdf"], ["verify", "irregular.dbdf", "--payload"])),
        Scenario("index of text", ["index", "people.csv"], "people.csv.dpx", reads=text),
        Scenario("copy by column", ["index", "mixed.dbdf", "--columns"], "mixed.dbdf.dpc",
                 holds=(b"DPL-COPY",), reads=(["get", "mixed.dbdf", "--cols", "1:2"],)),
        Scenario("new copy by column", ["index", "mixed.dbdf", "--columns"], "mixed.dbdf.dpc",
                 None),
        Scenario("transpose", ["convert", "mixed.dbdf", "out.dbdf", "--transpose", "--force"],
                 "out.dbdf"),
        Scenario("dbdf with a sidecar", ["convert", "mixed.dbdf", "out.dbdf", "--force", "--plain"],
                 "out.dbdf", sidecar=SIDECAR),
        Scenario("csv with a sidecar", ["convert", "mixed.dbdf", "out.csv", "--force"], "out.csv",
                 sidecar=SIDECAR),
        Scenario("csv with its index", ["convert", "more.csv", "out.csv", "--force"], "out.csv",
                 [["convert", "people.csv", "out.csv"], ["index", "out.csv"]],
                 reads=(["get", "out.csv", "--to", "csv"],)),
        Scenario("dbdf with statistics beside it",
                 ["convert", "mixed.dbdf", "out.dbdf", "--force", "--plain"], "out.dbdf",
                 [["convert", "irregular.dbdf", "out.dbdf", "--plain"],
                  ["index", "out.dbdf", "--stats"]], reads=(["stats", "out.dbdf"],)),
        Scenario("repair with a sidecar", ["repair", "cut.dbdf", "-o", "out.dbdf", "--force"],
                 "out.dbdf", sidecar=SIDECAR),
        Scenario("repair", ["repair", "cut.dbdf", "-o", "out.dbdf", "--force"], "out.dbdf"),
        Scenario("get", ["get", "mixed.dbdf", "-o", "out.npy", "--force"], "out.npy"),
        Scenario("daphne", ["convert", "mixed.dbdf", "out.dbdf", "--to", "daphne", "--force"],
                 "out.dbdf", also=("out.dbdf.meta",)),
        Scenario("new daphne", ["convert", "mixed.dbdf", "out.dbdf", "--to", "daphne"],
                 "out.dbdf", None, also=("out.dbdf.meta",)),
        Scenario("concat", ["concat", "people.csv", "more.csv", "-o", "out.dbdf", "--force"],
                 "out.dbdf", holds=hints),
        Scenario("append", append, "out.dbdf", [people], holds=(*hints, b"Quito"), repeats=False),
        Scenario("append beside an index", ["convert", "mixed.dbdf", "out.dbdf", "--append"],
                 "out.dbdf",
                 [["convert", "mixed.dbdf", "out.dbdf", "--plain"], ["index", "out.dbdf"]],
                 reads=cells, repeats=False),
        Scenario("append to nothing", append, "out.dbdf", None, repeats=False),
    ]
    # Where the file system has no files without a name, or cannot rename without replacing.
    bare = [Scenario(**{**vars(s), "name": f"{s.name}, hidden", "without": "tmpfile,renameat2"})
            for s in plain
            if s.name in ("new dbdf", "csv", "from stdin", "index", "dbdf with a sidecar", "append")]
    # The same without hard links, as mounted object stores are.
    linkless = [Scenario(**{**vars(s), "name": f"{s.name}, no links",
                            "without": "tmpfile,renameat2,links"})
                for s in plain if s.name in ("new dbdf", "append to nothing")]
    return plain + bare + linkless


def make_inputs(folder):
    """The files that the commands read."""
    inputs.make(folder)
    (folder / "large.csv").write_text("".join(f"{i}.1\n" for i in range(40000)))
    cities = ["Graz", "Linz", "Wien", "Salzburg, Stadt", "Bludenz"]

    def table(rows):
        return "city,n,day\n" + "".join(
            f'"{cities[r % 5]}",{r * 37 % 1000},2026-01-{1 + r % 28:02}\n' for r in rows)

    (folder / "people.csv").write_text(table(range(2000)))
    (folder / "more.csv").write_text(table(range(300)) + "Quito,70000,2026-02-01\n")


class Place:
    """A folder to work in, made as it was before each run, and one for temporaries."""

    def __init__(self, tools, scenario, folder):
        self.tools, self.scenario = tools, scenario
        self.work, self.temporary = folder / "work", folder / "temporary"
        self.temporary.mkdir(parents=True)
        self.work.mkdir()
        for name in INPUTS:
            shutil.copy(tools.inputs / name, self.work)
        self.before = set(os.listdir(self.work))
        self.out = self.work / scenario.out
        self.dpx = self.work / f"{scenario.out}.dpx"
        self.made = {}  # the files that were prepared, and their contents
        self.ready = None  # the state after the last reset

    def state(self):
        """Changes whenever a file does."""
        files = sorted([*self.work.iterdir(), *self.temporary.iterdir()])
        stats = [os.lstat(file) for file in files]
        return [(str(f), s.st_ino, s.st_size, s.st_ctime_ns) for f, s in zip(files, stats)]

    def reset(self):
        """Makes the old state, unless nothing happened to it."""
        if self.ready is not None and self.state() == self.ready:
            return
        for name in set(os.listdir(self.work)) - self.before:
            os.unlink(self.work / name)
        for name in os.listdir(self.temporary):
            os.unlink(self.temporary / name)
        prepare = self.scenario.prepare
        if isinstance(prepare, bytes):
            self.out.write_bytes(prepare)
            for name in self.scenario.also:
                (self.work / name).write_bytes(OLD_META)
            self.out.chmod(OLD_MODE)
        elif prepare is not None:
            for command in prepare:
                self.redo(command)
        if self.scenario.sidecar:
            self.dpx.write_bytes(self.scenario.sidecar)
        self.ready = self.state()

    def redo(self, command):
        """Runs a command of the preparation, whose file is always the same unless it is a sidecar."""
        key = tuple(command)
        if key in self.made:
            self.out.write_bytes(self.made[key])
            self.out.chmod(OLD_MODE)
            return
        done = self.dapple(command, umask=0o777 & ~OLD_MODE)
        assert done.returncode == 0, done
        if command[0] != "index":
            self.made[key] = self.out.read_bytes()

    def dapple(self, arguments, env=None, stdin=None, **options):
        given = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
        return subprocess.run([self.tools.program, *arguments, "-q", "--threads", "1"], cwd=self.work,
                              env=dict(os.environ, LC_ALL="C", TMPDIR=str(self.temporary),
                                       **(env or {})),
                              capture_output=True, timeout=60, **given, **options)

    def run(self, fault=None, log=None, **options):
        """The command, which one of its system calls fails."""
        env = {"LD_PRELOAD": str(self.tools.shim), "DAPPLE_FAULT_WITHOUT": self.scenario.without}
        env |= {"DAPPLE_FAULT": fault} if fault else {}
        env |= {"DAPPLE_FAULT_LOG": str(log)} if log else {}
        return self.dapple(self.scenario.arguments, env, self.scenario.stdin, **options)

    def content(self):
        return self.out.read_bytes() if self.out.exists() else None

    def shown(self):
        """What the files hold, as the program reads them."""
        return [(done.returncode, done.stdout)
                for done in (self.dapple(command) for command in self.scenario.reads)]

    def has_sidecar(self):
        return bool(self.scenario.sidecar or self.scenario.indexed()) and self.dpx.exists()

    def is_mixed(self):
        """True when a file is beside one that was written with another, or before it."""
        beside = [self.work / name for name in self.scenario.also]
        return any(file.exists() and (file.read_bytes() == OLD_META) != (self.content() == OLD)
                   for file in beside if self.out.exists())

    def lacks_labels(self):
        """True when a file that was beside the old one is gone."""
        return not all((self.work / name).exists() for name in self.scenario.also)

    def strays(self):
        known = self.before | {self.scenario.out, *self.scenario.also}
        if self.scenario.sidecar or self.scenario.indexed():
            known.add(self.dpx.name)
        return (set(os.listdir(self.work)) - known) | set(os.listdir(self.temporary))
