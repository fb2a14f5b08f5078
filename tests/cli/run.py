#!/usr/bin/env python3
"""Runs the command line against recorded cases and a few checks written in Python.

    run.py DAPPLE [--accept] [NAME ...]

A case is cases/NAME.cmd, a shell script, with what it must print in NAME.out and NAME.err (missing:
nothing) and its exit status in NAME.exit (missing: 0). Each runs in a fresh folder that holds the
files of inputs.py, with the program as `dapple`. Lines at a script's top that start with "#!" say
how it runs:

    #! tty N        standard output is a terminal of N columns
    #! user nobody  without the rights of the superuser

The checks are the functions check_* of *_checks.py: what needs more than a command and its output.
Each is run with a Program whose folder holds the files of inputs.py; an AssertionError is a failure.
With names, only those cases and checks run; --accept records what the cases print instead of
comparing it. Python's standard library only.
"""

import difflib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import cell_checks  # noqa: E402
import inputs  # noqa: E402
import json_checks  # noqa: E402
import picture_checks  # noqa: E402
import system_checks  # noqa: E402
import terminal  # noqa: E402

CHECKS = (cell_checks, json_checks, picture_checks, system_checks)
TIMEOUT_S = 60
NOBODY = 65534


class Skip(Exception):
    """Raised by what cannot run here; its text says why."""


class Case:
    def __init__(self, script):
        self.name = script.stem
        self.script = script
        self.columns = None
        self.user = None
        for line in script.read_text().splitlines():
            if line.startswith("#! tty "):
                self.columns = int(line.split()[2])
            elif line == "#! user nobody":
                self.user = NOBODY
            elif line.startswith("#!"):
                raise SystemExit(f"{script}: unknown line {line!r}")

    def expected(self):
        def read(suffix, default):
            file = self.script.with_suffix(suffix)
            return file.read_bytes() if file.exists() else default
        return (read(".out", b""), read(".err", b""), int(read(".exit", b"0")))

    def run(self, program, folder):
        """Returns what it printed on both outputs, and its exit status."""
        command = ["sh", str(self.script)]
        options = {"cwd": folder, "env": environment(program), "stdin": subprocess.DEVNULL}
        if self.user is not None and os.getuid() == 0:
            if not readable_by_all(program):
                raise Skip("the program lies in a folder that nobody else may read")
            give_away(folder, self.user)
            options.update(user=self.user, group=self.user, extra_groups=[])
        if self.columns is not None:
            return terminal.run(command, self.columns, TIMEOUT_S, **options)
        done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, **options)
        return done.stdout, done.stderr, done.returncode

    def accept(self, got):
        for suffix, data, default in ((".out", got[0], b""), (".err", got[1], b""),
                                      (".exit", b"%d\n" % got[2], b"0\n")):
            file = self.script.with_suffix(suffix)
            if data == default:
                file.unlink(missing_ok=True)
            else:
                file.write_bytes(data)


class Program:
    def __init__(self, path, folder, env):
        self.path, self.folder, self.env = path, folder, env

    def start(self, *arguments, **options):
        return subprocess.Popen([self.path, *arguments], cwd=self.folder, env=self.env, **options)

    def run(self, *arguments, **options):
        options = {"stdin": subprocess.DEVNULL, "capture_output": True, **options}
        return subprocess.run([self.path, *arguments], cwd=self.folder, env=self.env, timeout=60,
                              **options)


def environment(program):
    env = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
    env["PATH"] = str(program.parent) + os.pathsep + env.get("PATH", "")
    env["LC_ALL"] = "C"
    return env


def give_away(folder, user):
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, user, user)


def readable_by_all(path):
    return all(os.stat(p).st_mode & 0o005 == 0o005 for p in [path, *path.parents])


def difference(what, expected, got):
    def lines(data):
        return data.decode("utf-8", "backslashreplace").splitlines(keepends=True)
    text = "".join(difflib.unified_diff(lines(expected), lines(got), f"{what} expected",
                                        f"{what} got"))
    return text if text.endswith("\n") else text + "\n"


def compare(expected, got):
    """The differences as text; empty when there are none."""
    text = ""
    for what, e, g in zip(("stdout", "stderr"), expected, got):
        if e != g:
            text += difference(what, e, g)
    if expected[2] != got[2]:
        text += f"exit status: expected {expected[2]}, got {got[2]}\n"
    return text


def run_case(case, program, master, accept):
    with tempfile.TemporaryDirectory(prefix="dapple-cli-") as folder:
        work = pathlib.Path(folder, "work")
        shutil.copytree(master, work)
        os.chmod(folder, 0o755)
        got = case.run(program, work)
    if accept:
        case.accept(got)
        return ""
    return compare(case.expected(), got)


def run_check(check, program, master):
    with tempfile.TemporaryDirectory(prefix="dapple-cli-") as folder:
        work = pathlib.Path(folder, "work")
        shutil.copytree(master, work)
        try:
            check(Program(program, work, environment(program)))
        except AssertionError:
            return traceback.format_exc()
    return ""


def main(arguments):
    accept = "--accept" in arguments
    program, *names = [a for a in arguments if a != "--accept"]
    program = pathlib.Path(program).resolve()
    jobs = []
    for script in sorted(HERE.glob("cases/*.cmd")):
        case = Case(script)
        jobs.append((case.name, lambda m, c=case: run_case(c, program, m, accept)))
    if not accept:
        checks = {name: check for module in CHECKS for name, check in vars(module).items()
                  if name.startswith("check_")}
        for name, check in sorted(checks.items()):
            jobs.append((name, lambda m, c=check: run_check(c, program, m)))
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory(prefix="dapple-cli-") as folder:
        master = pathlib.Path(folder, "inputs")
        inputs.make(master)
        for name, job in jobs:
            if names and name not in names:
                continue
            try:
                failure = job(master)
            except Skip as reason:
                print(f"skipped: {name}: {reason}")
                skipped += 1
                continue
            except subprocess.TimeoutExpired:
                failure = f"did not end within {TIMEOUT_S} s\n"
            if failure:
                print(f"{name}: failed\n{failure}")
                failed += 1
            else:
                passed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    sys.exit(main(sys.argv[1:]))
