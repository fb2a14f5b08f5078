#!/usr/bin/env python3
"""Lets writers die, and the system refuse, at every single system call of a write.

    run.py DAPPLE SHIM

Each scenario is a command that writes one file. It is run once to count its calls (fault_shim.cpp
says of which functions), and then once for every call and everything that can befall it there: an
error, an interruption, half of the bytes, the end of the process. Afterwards the destination must
be what it was before or what the command writes, to the byte, with the old permissions; the exit
status and the error line must say which; and nothing else may be left in the folder, or in the
temporary one, at the latest when the same command was run again. The standard library only."""

import errno
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

import inputs  # noqa: E402

MOVES = {"read", "pread", "pread64", "write", "pwrite", "pwrite64", "pwritev64"}
WRITES = {"write", "pwrite", "pwrite64", "pwritev64"}
HINTS = {"fallocate64"}  # the write that follows is what counts
INTERRUPTIBLE = MOVES | HINTS | {"open", "open64", "fsync", "flock", "ftruncate64"}
CLEARS = {"unlink", "fstat64", "lstat64"}  # what tells whose a hidden file is: left to the next run
# In memory where that can be: these writers sync every file.
FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
OLD = b"what stood here before\n"
OLD_MODE = 0o640
SIDECAR = b"DPL-SIDE" + bytes(56)


class Scenario:
    def __init__(self, name, arguments, out, stdin=None, replaces=True, without="", also=(),
                 sidecar=False):
        self.name = name
        self.arguments = arguments
        self.out = out
        self.stdin = stdin
        self.replaces = replaces
        self.without = without
        self.also = set(also)  # files written beside `out`
        self.sidecar = f"{out}.dpx" if sidecar else None  # goes with the file that is replaced


def scenarios():
    plain = [
        Scenario("new dbdf", ["convert", "mixed.dbdf", "out.dbdf"], "out.dbdf", replaces=False),
        Scenario("dbdf", ["convert", "mixed.dbdf", "out.dbdf", "--force"], "out.dbdf"),
        Scenario("csv", ["convert", "mixed.dbdf", "out.csv", "--force"], "out.csv"),
        Scenario("csv beside .meta", ["convert", "mixed.dbdf", "out.csv", "--force"], "out.csv",
                 also=["out.csv.meta"]),
        Scenario("from stdin", ["convert", "-", "out.dbdf", "--from", "csv", "--force"],
                 "out.dbdf", stdin=b"1,2\n3,4\n"),
        Scenario("large", ["convert", "large.csv", "out.dbdf", "--force"], "out.dbdf"),
        Scenario("index", ["index", "irregular.dbdf"], "irregular.dbdf.dpx"),
        Scenario("new index", ["index", "irregular.dbdf"], "irregular.dbdf.dpx", replaces=False),
        Scenario("dbdf with a sidecar", ["convert", "mixed.dbdf", "out.dbdf", "--force", "--plain"],
                 "out.dbdf", sidecar=True),
        Scenario("csv with a sidecar", ["convert", "mixed.dbdf", "out.csv", "--force"], "out.csv",
                 sidecar=True),
        Scenario("repair with a sidecar", ["repair", "cut.dbdf", "-o", "out.dbdf", "--force"],
                 "out.dbdf", sidecar=True),
        Scenario("repair", ["repair", "cut.dbdf", "-o", "out.dbdf", "--force"], "out.dbdf"),
        Scenario("get", ["get", "mixed.dbdf", "-o", "out.npy", "--force"], "out.npy"),
        Scenario("daphne", ["convert", "mixed.dbdf", "out.dbdf", "--to", "daphne", "--force"],
                 "out.dbdf", also=["out.dbdf.meta"]),
        Scenario("new daphne", ["convert", "mixed.dbdf", "out.dbdf", "--to", "daphne"],
                 "out.dbdf", replaces=False, also=["out.dbdf.meta"]),
    ]
    # Where the file system has no files without a name, or cannot rename without replacing.
    bare = [Scenario(f"{s.name}, hidden", s.arguments, s.out, s.stdin, s.replaces,
                     "tmpfile,renameat2", s.also, s.sidecar is not None)
            for s in plain
            if s.name in ("new dbdf", "csv", "from stdin", "index", "dbdf with a sidecar")]
    return plain + bare


class Place:
    """A folder to work in, made as it was before each run, and one for temporaries."""

    def __init__(self, program, shim, scenario, folder):
        self.program, self.shim, self.scenario = program, shim, scenario
        self.work, self.temporary = folder / "work", folder / "temporary"
        self.temporary.mkdir()
        self.work.mkdir()
        for name in ("mixed.dbdf", "cut.dbdf", "irregular.dbdf", "large.csv"):
            shutil.copy(folder.parent / "inputs" / name, self.work)
        self.before = set(os.listdir(self.work))
        self.out = self.work / scenario.out

    def reset(self):
        for name in set(os.listdir(self.work)) - self.before:
            os.unlink(self.work / name)
        for name in os.listdir(self.temporary):
            os.unlink(self.temporary / name)
        if self.scenario.replaces:
            self.out.write_bytes(OLD)
            self.out.chmod(OLD_MODE)
            for name in self.scenario.also:
                (self.work / name).write_bytes(OLD)
        if self.scenario.sidecar:
            (self.work / self.scenario.sidecar).write_bytes(SIDECAR)

    def has_sidecar(self):
        return self.scenario.sidecar and (self.work / self.scenario.sidecar).exists()

    def run(self, fault=None, log=None, **options):
        env = dict(os.environ, LC_ALL="C", TMPDIR=str(self.temporary), LD_PRELOAD=str(self.shim),
                   DAPPLE_FAULT_WITHOUT=self.scenario.without)
        env |= {"DAPPLE_FAULT": fault} if fault else {}
        env |= {"DAPPLE_FAULT_LOG": str(log)} if log else {}
        stdin = {"stdin": subprocess.DEVNULL} if self.scenario.stdin is None else {
            "input": self.scenario.stdin}
        return subprocess.run([self.program, *self.scenario.arguments, "-q", "--threads", "1"],
                              cwd=self.work, env=env, capture_output=True, timeout=60, **stdin,
                              **options)

    def content(self):
        return self.out.read_bytes() if self.out.exists() else None

    def is_mixed(self):
        """True when a file stands beside one that was written with another, or before it."""
        beside = [self.work / name for name in self.scenario.also]
        return any(file.exists() and (file.read_bytes() == OLD) != (self.content() == OLD)
                   for file in beside if self.out.exists())

    def lacks_labels(self):
        """True when a file that stood beside the old one is gone."""
        return not all((self.work / name).exists() for name in self.scenario.also)

    def strays(self):
        known = self.before | {self.scenario.out, self.scenario.sidecar} | self.scenario.also
        return (set(os.listdir(self.work)) - known) | set(os.listdir(self.temporary))


def faults(calls):
    """Everything that can befall each call, as (fault, call, whether it must not matter)."""
    for number, call in enumerate(calls, 1):
        refusal = errno.ENOSPC if call in WRITES | HINTS else errno.EIO
        yield f"{number}:kill", call, False
        yield f"{number}:{refusal}", call, call in HINTS
        if call in INTERRUPTIBLE:
            yield f"{number}:{errno.EINTR}", call, True
        if call in MOVES:
            yield f"{number}:short", call, True
        if call in WRITES:
            yield f"{number}:tear", call, False


def complaint(place, old, new, done, call, harmless):
    """What is wrong after a run, in words; nothing when all is well."""
    content = place.content()
    killed = done.returncode == -signal.SIGKILL
    if content not in (old, new):
        return f"the destination holds {content!r}"
    if content == OLD and call in WRITES | {"fsync"} and place.lacks_labels():
        return "what stood beside the old file is gone"
    if place.scenario.sidecar and content == OLD and not place.has_sidecar():
        return "the sidecar of the old file is gone"
    if place.is_mixed():
        return "files of different age stand side by side"
    if harmless and done.returncode not in (0, 1):
        return f"it failed: {done.stderr!r}"
    if done.returncode in (0, 1):
        if content != new:
            return "it says that it is done, and is not"
    elif not killed:
        lines = done.stderr.splitlines()
        if done.returncode != 3 or len(lines) != 1 or not lines[0].startswith(b"dapple: "):
            return f"status {done.returncode}, {done.stderr!r}"
    if content is not None and old is not None and place.out.stat().st_mode & 0o7777 != OLD_MODE:
        return f"permissions {place.out.stat().st_mode:o}"
    if not killed and call not in CLEARS and place.strays():
        return f"left behind: {place.strays()}"
    if place.strays():
        if place.scenario.replaces is False and content == new:
            place.out.unlink()
        again = place.run()
        if again.returncode not in (0, 1) or place.content() != new:
            return f"the next run fails: {again.stderr!r}"
        if place.strays():
            return f"the next run leaves {place.strays()}"
    return ""


def try_scenario(program, shim, scenario, folder):
    """Lines that say what went wrong, and how many runs there were."""
    folder.mkdir()
    place = Place(program, shim, scenario, folder)
    place.reset()
    old = place.content()
    log = folder / "calls"
    first = place.run(log=log)
    new = place.content()
    if (first.returncode not in (0, 1) or new in (old, None) or place.strays()
            or place.has_sidecar()):
        return [f"{scenario.name}: {first}, left behind: {place.strays()}"], 1
    wrong, runs = [], 1
    for fault, call, harmless in faults(log.read_text().split()):
        place.reset()
        done = place.run(fault)
        runs += 1
        found = complaint(place, old, new, done, call, harmless)
        if found:
            wrong.append(f"{scenario.name}: {fault} ({call}): {found}")
    return wrong, runs


def check_file_size_limit(program, shim, folder):
    """A file that may grow by some bytes only; the signal that comes with it kills nobody."""
    scenario = scenarios()[1]
    folder.mkdir()
    place = Place(program, shim, scenario, folder)
    place.reset()
    place.run()
    size = len(place.content())
    wrong = []
    for limit in (0, 1, size - 1, size):
        place.reset()
        done = place.run(preexec_fn=lambda limit=limit: resource.setrlimit(
            resource.RLIMIT_FSIZE, (limit, limit)))
        good = done.returncode == (0 if limit == size else 3) and not place.strays()
        if not good or (limit < size and place.content() != OLD):
            wrong.append(f"limit of {limit} bytes: {done}, left behind: {place.strays()}")
    return wrong, 5


def hidden_files(place):
    """The hidden files that a command makes, as it leaves them when it dies before it renames or
    removes them."""
    log = place.work.parent / "names"
    place.run(log=log)
    calls = log.read_text().split()
    log.unlink()
    found = set()
    for number, call in enumerate(calls, 1):
        if call.startswith(("rename", "unlink")):
            place.reset()
            place.run(f"{number}:kill")
            found |= {*place.work.glob(".*.dapple-*"), *place.temporary.glob(".*.dapple-*")}
    return sorted(found)


def check_planted_links(program, shim, folder):
    """Links at the destination and at its hidden names lead nobody to write elsewhere."""
    wrong, planted = [], 0
    folder.mkdir()
    for number, scenario in enumerate(s for s in scenarios() if s.out.startswith("out.")):
        (folder / f"{number}").mkdir()
        shutil.copytree(folder.parent / "inputs", folder / f"{number}" / "inputs")
        (folder / f"{number}" / "place").mkdir()
        place = Place(program, shim, scenario, folder / f"{number}" / "place")
        place.reset()
        links = hidden_files(place)
        planted += len(links)
        place.reset()
        victim = place.temporary / "victim"
        victim.write_bytes(OLD)
        if scenario.replaces:
            place.out.unlink()
            links.append(place.out)
        for link in links:
            os.symlink(victim, link)
        done = place.run()
        if done.returncode not in (0, 1) or victim.read_bytes() != OLD or place.out.is_symlink():
            wrong.append(f"links: {scenario.name}: {done}, {victim.read_bytes()!r}")
    if planted == 0:
        wrong.append("links: no command used a hidden name")
    return wrong, number + 1


def check_live_writer(program, shim, folder):
    """The temporary of a writer that lives is not taken for abandoned."""
    folder.mkdir()
    scenario = Scenario("live", ["convert", "mixed.dbdf", "out.csv", "--force"], "out.csv")
    place = Place(program, shim, scenario, folder)
    place.reset()
    (hidden,) = hidden_files(place)
    place.reset()
    wrong = []
    with open(hidden, "wb") as held:
        import fcntl
        fcntl.flock(held, fcntl.LOCK_EX)
        done = place.run()
        if done.returncode != 0 or not hidden.exists():
            wrong.append(f"live writer: {done}, hidden file there: {hidden.exists()}")
    done = place.run()
    if done.returncode != 0 or hidden.exists():
        wrong.append(f"dead writer: {done}, hidden file there: {hidden.exists()}")
    return wrong, 2


def check_no_threads(program, shim, folder):
    """Where the system starts no threads, the work is done in the one that there is."""
    folder.mkdir()
    (folder / "in.csv").write_bytes(b"".join(b"%d,%d.5\n" % (i, i) for i in range(150000)))
    wrong = []
    made = []
    for out, lacks in (("one.npy", ""), ("other.npy", "threads")):
        done = subprocess.run(
            [program, "convert", "in.csv", out, "-q", "--threads", "2"], cwd=folder, timeout=60,
            env=dict(os.environ, LC_ALL="C", LD_PRELOAD=str(shim), DAPPLE_FAULT_WITHOUT=lacks),
            capture_output=True)
        if done.returncode != 0 or done.stderr:
            wrong.append(f"without threads: {done}")
        else:
            made.append((folder / out).read_bytes())
    if not wrong and made[0] != made[1]:
        wrong.append("without threads: another file")
    return wrong, 2


def main(program, shim):
    program, shim = pathlib.Path(program).resolve(), pathlib.Path(shim).resolve()
    with tempfile.TemporaryDirectory(prefix="dapple-faults-", dir=FOLDER) as name:
        folder = pathlib.Path(name)
        inputs.make(folder / "inputs")
        (folder / "inputs" / "large.csv").write_text("".join(f"{i}.1\n" for i in range(40000)))
        jobs = [lambda p, s, f, scenario=scenario: try_scenario(p, s, scenario, f)
                for scenario in scenarios()]
        jobs += [check_file_size_limit, check_planted_links, check_live_writer,
                 check_no_threads]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda job: job[1](program, shim, folder / f"{job[0]}"),
                                    enumerate(jobs)))
    failed = 0
    for wrong, _ in results:
        failed += bool(wrong)
        for line in wrong:
            print(line)
    print(f"{sum(runs for _, runs in results)} runs")
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    sys.exit(main(*sys.argv[1:]))
