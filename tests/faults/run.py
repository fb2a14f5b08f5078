#!/usr/bin/env python3
"""Lets writers die, and the system refuse, at every single system call of a write.

    run.py DAPPLE SHIM [EVERY]      one of EVERY faults is tried, of all kinds and calls in turn; default 1

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
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from scenarios import OLD, OLD_MODE, Place, Scenario, Tools, make_inputs, scenarios

MOVES = {"read", "pread", "pread64", "write", "pwrite", "pwrite64", "pwritev64", "copy_file_range"}
WRITES = {"write", "pwrite", "pwrite64", "pwritev64", "copy_file_range"}
HINTS = {"fallocate64", "copy_file_range"}  # the write that follows is what counts
INTERRUPTIBLE = MOVES | HINTS | {"open", "open64", "fsync", "flock", "ftruncate64"}
CLEARS = {"unlink", "fstat64", "lstat64"}  # what tells whose a hidden file is: left to the next run
# In memory where that can be: these writers sync every file.
FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


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


def complaint(place, seen, done, call, harmless):
    """What is wrong after a run, in words; nothing when all is well. `seen`: what the files show, by
    the old and the new content of the destination."""
    scenario, content = place.scenario, place.content()
    old, new = seen
    killed = done.returncode == -signal.SIGKILL
    if content not in seen:
        return f"the destination holds {content!r}"
    if content == OLD and call in WRITES | {"fsync"} and place.lacks_labels():
        return "what was beside the old file is gone"
    if (scenario.sidecar or scenario.indexed()) and content == old and not place.has_sidecar():
        return "the sidecar of the old file is gone"
    if place.is_mixed():
        return "files of different age are side by side"
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
    if content == new and place.has_sidecar() and place.shown() != seen[new]:
        return f"the sidecar of the old file is believed: {place.shown()!r}"
    if not killed and call not in CLEARS and place.strays():
        return f"left: {place.strays()}"
    if place.strays():
        if content == new and old is None:
            place.out.unlink()
        elif content == new and not scenario.repeats:
            place.out.write_bytes(old)
        again = place.run()
        if again.returncode not in (0, 1) or place.content() != new:
            return f"the next run fails: {again.stderr!r}"
        if place.strays():
            return f"the next run leaves {place.strays()}"
    return ""


def try_scenario(tools, scenario, every, folder):
    """Lines that say what went wrong, and how many runs there were."""
    place = Place(tools, scenario, folder)
    place.reset()
    seen = {place.content(): place.shown()}
    log = folder / "calls"
    first = place.run(log=log)
    new = place.content()
    if (first.returncode not in (0, 1) or new in (*seen, None) or place.strays()
            or place.has_sidecar() or not all(part in new for part in scenario.holds)):
        return [f"{scenario.name}: {first}, left: {place.strays()}"], 1
    seen[new] = place.shown()
    if scenario.out.endswith(".dpx") and len(set(map(str, seen.values()))) > 1:
        return [f"{scenario.name}: with and without it the file reads {seen}"], 1
    wrong, runs = [], 1
    for fault, call, harmless in islice(faults(log.read_text().split()), 0, None, every):
        place.reset()
        done = place.run(fault)
        runs += 1
        found = complaint(place, seen, done, call, harmless)
        if found:
            wrong.append(f"{scenario.name}: {fault} ({call}): {found}")
    return wrong, runs


def check_file_size_limit(tools, folder):
    """A file that may grow by some bytes only; the signal that comes with it kills nobody."""
    wrong = []
    limited = [s for s in scenarios() if s.name in ("dbdf", "append", "concat", "index of text")]
    for number, scenario in enumerate(limited):
        place = Place(tools, scenario, folder / f"{number}")
        place.reset()
        old = place.content()
        place.run()
        size = len(place.content())
        for limit in (0, 1, size - 1, size):
            place.reset()
            done = place.run(preexec_fn=lambda limit=limit: resource.setrlimit(
                resource.RLIMIT_FSIZE, (limit, limit)))
            good = done.returncode == (0 if limit == size else 3) and not place.strays()
            if not good or (limit < size and place.content() != old):
                wrong.append(f"{scenario.name}, limit of {limit} bytes: {done}, "
                             f"left: {place.strays()}")
    return wrong, 5 * len(limited)


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


def check_planted_links(tools, folder):
    """Links at the destination and at its hidden names lead nobody to write elsewhere."""
    wrong, planted = [], 0
    for number, scenario in enumerate(s for s in scenarios() if s.out.startswith("out.")):
        place = Place(tools, scenario, folder / f"{number}")
        place.reset()
        links = hidden_files(place)
        planted += len(links)
        place.reset()
        victim = place.temporary / "victim"
        victim.write_bytes(OLD)
        if scenario.prepare is not None and scenario.repeats:
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


def check_live_writer(tools, folder):
    """The temporary of a writer that lives is not taken for abandoned."""
    scenario = Scenario("live", ["convert", "mixed.dbdf", "out.csv", "--force"], "out.csv")
    place = Place(tools, scenario, folder)
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


def check_replaced_collection(tools, folder):
    """Where names cannot be exchanged, a collection that cannot be replaced stays."""
    (folder / "a.dds").mkdir(parents=True)
    kept = folder / "b.dds" / "kept"

    def dapple(*arguments, **env):
        return subprocess.run([tools.program, *arguments, "-q"], cwd=folder, timeout=60,
                              env=dict(os.environ, LC_ALL="C", **env), capture_output=True)

    dapple("convert", tools.inputs / "people.csv", "a.dds/X.dbdf")
    dapple("collection", "pack", "a.dds", "a.zip")
    unpack = ("collection", "unpack", "a.zip", "b.dds", "--force")
    shim = {"LD_PRELOAD": str(tools.shim), "DAPPLE_FAULT_WITHOUT": "renameat2"}
    log = folder / "calls"
    kept.parent.mkdir()
    wrong = [] if dapple(*unpack, **shim, DAPPLE_FAULT_LOG=str(log)).returncode == 0 else ["unpack"]
    calls = [n for n, call in enumerate(log.read_text().split(), 1) if call == "rename"][-2:]
    for call in calls:
        kept.write_bytes(OLD)
        done = dapple(*unpack, **shim, DAPPLE_FAULT=f"{call}:{errno.EIO}")
        hidden = list(folder.glob(".*"))
        if done.returncode != 3 or not kept.exists() or hidden:
            wrong.append(f"replaced collection: {done}, {hidden}, there: {os.listdir(folder)}")
    return wrong, 1 + len(calls)


def check_no_links(tools, folder):
    """Where nothing can be renamed without replacing: files are made, and none that is there is
    replaced; a state of a data set could be lost, and is not made."""
    place = Place(tools, Scenario("no links", [], "out.dbdf", without="tmpfile,renameat2,links"), folder)
    env = {"LD_PRELOAD": str(tools.shim), "DAPPLE_FAULT_WITHOUT": place.scenario.without}
    place.reset()
    before = sorted(os.listdir(place.work))
    wrong = []
    for arguments, status, said in (
            (["convert", "mixed.dbdf", "out.dbdf"], 2, b"the file exists already"),
            (["dataset", "append", "d", "people.csv"], 2, b"can neither rename without replacing")):
        done = place.dapple(arguments, env)
        if done.returncode != status or said not in done.stderr or place.content() != OLD:
            wrong.append(f"no links: {done}")
    if sorted(os.listdir(place.work)) != before:
        wrong.append(f"no links: left: {sorted(os.listdir(place.work))}")
    return wrong, 2


def check_interrupted(tools, folder):
    """Where the file system has no files without a name, a signal leaves no hidden one."""
    place = Place(tools, Scenario("interrupted", [], "none", None), folder)
    text = b"".join(b"%d.5,%d.125,%d\n" % (i, i * i, i % 7) for i in range(1 << 18))
    (place.work / "long.csv").write_bytes(text * 4)
    place.dapple(["convert", "long.csv", "long.dbdf"])
    before = set(os.listdir(place.work))
    env = dict(os.environ, LC_ALL="C", LD_PRELOAD=str(tools.shim), DAPPLE_FAULT_WITHOUT="tmpfile")
    wrong = []
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process = subprocess.Popen([tools.program, "convert", "long.dbdf", "out.csv", "-q"],
                                   cwd=place.work, env=env)
        while set(os.listdir(place.work)) == before and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(ending)
        status = process.wait(timeout=60)
        left = set(os.listdir(place.work)) - before
        if status not in (0, -ending) or left - {"out.csv"}:
            wrong.append(f"interrupted: {status}, left: {left}")
        (place.work / "out.csv").unlink(missing_ok=True)
    return wrong, 3


def check_no_shared_maps(tools, folder):
    """File systems in user space may map nothing that is shared."""
    place = Place(tools, Scenario("no shared maps", [], "none", None), folder)
    env = {"LD_PRELOAD": str(tools.shim), "DAPPLE_FAULT_WITHOUT": "shared maps"}
    place.dapple(["convert", "large.csv", "large.npy"])
    wrong = []
    for name in ("large.csv", "large.npy"):
        plain, done = (place.dapple(["stats", name], given) for given in ({}, env))
        if plain.returncode != 0 or done.stdout != plain.stdout or done.stderr:
            wrong.append(f"no shared maps: {done}")
    return wrong, 4


def check_append_to_dataset(tools, folder):
    """A part is left only with the state that has it, or where that may be there."""
    place = Place(tools, Scenario("data set", ["dataset", "append", "d", "people.csv"], "none", None),
                  folder)
    data = place.work / "d"

    def states():
        return sorted(name for name in os.listdir(data) if name.startswith("dataset-"))

    place.dapple(place.scenario.arguments)
    old = {file.name: file.read_bytes() for file in data.iterdir()}
    log = folder / "calls"
    place.run(log=log)
    wrong, runs = [], 1
    for number, call in enumerate(log.read_text().split(), 1):
        if call not in WRITES | {"fsync", "linkat"}:
            continue
        for name in set(os.listdir(data)) - set(old):
            (data / name).unlink()
        done = place.run(f"{number}:{errno.ENOSPC}")
        runs += 1
        made = set(os.listdir(data)) - set(old)
        if made and call != "linkat" and len(states()) == 1:
            wrong.append(f"data set: {number} ({call}): {done}, left: {made}")
    return wrong, runs


def check_no_threads(tools, folder):
    """Where the system starts no threads, the work is done in the one that there is."""
    folder.mkdir()
    (folder / "in.csv").write_bytes(b"".join(b"%d,%d.5\n" % (i, i) for i in range(150000)))
    wrong = []
    commands = (["convert", "in.csv", "a.npy"], ["show", "in.csv", "-o", "a.png"],
                ["view", "in.csv", "-o", "a.html"])
    for command in commands:
        made = []
        for lacks in ("", "threads"):
            done = subprocess.run(
                [tools.program, *command, "-q", "--threads", "2"], cwd=folder, timeout=60,
                env=dict(os.environ, LC_ALL="C", LD_PRELOAD=str(tools.shim),
                         DAPPLE_FAULT_WITHOUT=lacks), capture_output=True)
            if done.returncode != 0 or done.stderr:
                wrong.append(f"without threads: {done}")
                break
            made.append((folder / command[-1]).read_bytes())
            (folder / command[-1]).unlink()
        if len(set(made)) > 1:
            wrong.append(f"without threads: another {command[-1]}")
    return wrong, 2 * len(commands)


def main(program, shim, every="1"):
    with tempfile.TemporaryDirectory(prefix="dapple-faults-", dir=FOLDER) as name:
        folder = pathlib.Path(name)
        tools = Tools(pathlib.Path(program).resolve(), pathlib.Path(shim).resolve(),
                      folder / "inputs")
        make_inputs(tools.inputs)
        jobs = [lambda tools, folder, scenario=scenario: try_scenario(tools, scenario, int(every), folder)
                for scenario in scenarios()]
        jobs += [check_file_size_limit, check_planted_links, check_live_writer,
                 check_replaced_collection, check_no_links, check_no_shared_maps, check_interrupted,
                 check_append_to_dataset, check_no_threads]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda job: job[1](tools, folder / f"{job[0]}"),
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
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    sys.exit(main(*sys.argv[1:]))
