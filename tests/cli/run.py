#!/usr/bin/env python3
"""Runs the command line against recorded cases and a few checks written in Python.

    run.py DAPPLE [--accept] [NAME ...]

cases/*.cases hold many cases each, apart by an empty line:

    # NAME             unique among all
    #! tty N           standard output is a terminal of N columns
    #! user nobody     without the rights of the superuser
    $ dapple info F    a shell script
    > dapple get F     its next lines
    | 1,2              what it must print
    ! dapple: ...      and on standard error
    = 2                exit status; 0 if there is no such line

"|-" and "!-" start a last line that does not end. Each case runs in a fresh folder that holds the files
of inputs.py, with the program as `dapple`.

The checks are the functions check_* of *_checks.py: what needs more than a command and its output.
Each is run with a Program whose folder holds the files of inputs.py; an AssertionError is a failure.
With names, only those cases and checks run; --accept records what they print instead of comparing it. Python's standard library only.
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
import manual_checks  # noqa: E402
import picture_checks  # noqa: E402
import serve_checks  # noqa: E402
import system_checks  # noqa: E402
import terminal  # noqa: E402

CHECKS = (cell_checks, json_checks, manual_checks, picture_checks, serve_checks, system_checks)
TIMEOUT_S = 60
NOBODY = 65534


class Skip(Exception):
    """Raised by what cannot run here; its text says why."""


def marked(data, mark):
    """Lines of a case file for what was printed."""
    lines = data.split(b"\n")
    end = lines.pop()
    text = b"".join(mark + (b" " + line if line else b"") + b"\n" for line in lines)
    return text + mark + b"-" + end + b"\n" if end else text


class Case:
    def __init__(self, lines):
        self.head = []  # the lines above what it prints
        self.columns = None
        self.user = None
        script, printed, status = [], {b"|": b"", b"!": b""}, 0
        self.name = lines[0].removeprefix(b"# ").decode()
        for line in lines:
            mark, text = line[:1], line[2:]
            if mark in printed:
                printed[mark] += text + (b"" if line[1:2] == b"-" else b"\n")
            elif mark == b"=":
                status = int(text)
            elif line.startswith(b"#! tty "):
                self.columns = int(line.split()[2])
            elif line == b"#! user nobody":
                self.user = NOBODY
            elif mark in (b"$", b">"):
                script.append(text)
            elif line != b"# " + self.name.encode():
                raise SystemExit(f"{self.name}: unknown line {line!r}")
            if mark in b"#$>":
                self.head.append(line)
        if not script:
            raise SystemExit(f"{self.name}: nothing to run")
        self.script = b"\n".join(script) + b"\n"
        self.expected = (printed[b"|"], printed[b"!"], status)

    def text(self):
        out, err, status = self.expected
        return (b"".join(line + b"\n" for line in self.head) + marked(out, b"|") + marked(err, b"!") +
                (b"= %d\n" % status if status else b""))

    def run(self, program, folder):
        """Returns what it printed on both outputs, and its exit status."""
        command = ["sh", "-c", self.script]
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


def read_cases(file):
    return [Case(text.split(b"\n")) for text in file.read_bytes().rstrip(b"\n").split(b"\n\n")]


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
        case.expected = got
        return ""
    return compare(case.expected, got)


def run_check(check, program, master):
    with tempfile.TemporaryDirectory(prefix="dapple-cli-") as folder:
        work = pathlib.Path(folder, "work")
        shutil.copytree(master, work)
        try:
            check(Program(program, work, environment(program)))
        except AssertionError:
            return traceback.format_exc()
    return ""


def read_cases():
    """Of each case file, its cases."""
    files = {}
    for file in sorted(HERE.glob("cases/*.cases")):
        texts = file.read_bytes().rstrip(b"\n").split(b"\n\n")
        files[file] = [Case(text.split(b"\n")) for text in texts]
    names = [case.name for cases in files.values() for case in cases]
    if len(set(names)) < len(names):
        raise SystemExit(f"cases of one name: {sorted(n for n in set(names) if names.count(n) > 1)}")
    return files


def run_all(jobs):
    """Numbers of jobs that passed, failed and were skipped."""
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory(prefix="dapple-cli-") as folder:
        master = pathlib.Path(folder, "inputs")
        inputs.make(master)
        for name, job in jobs:
            try:
                failure = job(master)
            except (Skip, terminal.Missing) as reason:
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
    return passed, failed, skipped


def main(arguments):
    accept = "--accept" in arguments
    program, *names = [a for a in arguments if a != "--accept"]
    program = pathlib.Path(program).resolve()
    files = read_cases()
    jobs = [(case.name, lambda m, c=case: run_case(c, program, m, accept))
            for cases in files.values() for case in cases]
    if not accept:
        checks = {name: check for module in CHECKS for name, check in vars(module).items()
                  if name.startswith("check_")}
        for name, check in sorted(checks.items()):
            jobs.append((name, lambda m, c=check: run_check(c, program, m)))
    passed, failed, skipped = run_all([job for job in jobs if not names or job[0] in names])
    if accept:
        for file, cases in files.items():
            file.write_bytes(b"\n".join(case.text() for case in cases))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    sys.exit(main(sys.argv[1:]))
