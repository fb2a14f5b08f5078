#!/usr/bin/env python3
"""Compares two builds: fails when a workload of the new one takes more than a tenth longer.

    apps/bench/compare.py OLD NEW [--only NAME]... [--rounds N] [--data FOLDER]

OLD and NEW are build folders (`meson setup FOLDER -Dbench=true`) or dapple-bench programs. Each workload
runs as OLD, NEW, NEW, OLD and so on, so that whatever else the machine does disturbs both alike. A build is
slower if it is by the median of the rounds' ratios, and by the best round of each as well, which a busy
machine disturbs least. Both are of processor time, or of the time on the clock for workloads that wait for
storage. What seems slower is measured again, with twice as many rounds, before it counts. Build folders with pydapple are compared through Python, too.

Exit status: 0 no workload is slower; 1 one is; 2 a program is missing, or gave a wrong answer."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

MOST = 1.10  # times the old build's time
PYTHON_BENCH = pathlib.Path(__file__).resolve().parents[1] / "python" / "bench" / "bench.py"


class Failed(Exception):
    """A program that did not give figures; the text says which."""


class Build:
    """One build: its programs by name, each a command and its environment."""

    def __init__(self, path, data):
        path = pathlib.Path(path)
        program = path if path.is_file() else path / "apps" / "bench" / "dapple-bench"
        if not program.is_file():
            raise Failed(f"{program}: no such program; build it with -Dbench=true")
        self.commands = {"C++": ([str(program.resolve()), "--data", str(data)], {})}
        package = path / "apps" / "python" / "pydapple"
        if any(package.glob("_core*.so")):
            python = path / "python-venv" / "bin" / "python"
            python = str(python) if python.exists() else sys.executable
            self.commands["Python"] = ([python, str(PYTHON_BENCH), "--data", str(data)],
                                       {"PYTHONPATH": str(package.parent.resolve())})

    def run(self, way, *arguments):
        command, environment = self.commands[way]
        done = subprocess.run([*command, *arguments], env={**os.environ, **environment}, text=True,
                              stdout=subprocess.PIPE)
        if done.returncode != 0:
            raise Failed(f"{' '.join(command)}: exit status {done.returncode}")
        return done.stdout

    def names(self, way):
        return [line[:30].strip() for line in self.run(way, "--list").splitlines()]

    def figures(self, way, name, *arguments):
        return json.loads(self.run(way, "--only", name, "--json", *arguments))[0]


def time_of(result, clock):
    """Something that is proportional to the time of a run."""
    figure = result["dapple"][clock]
    return 1 / figure if result["rate"] else figure


def ratio(pairs, clock):
    """The new time over the old one: the median over pairs of results."""
    return statistics.median(time_of(new, clock) / time_of(old, clock) for old, new in pairs)


def best_ratio(pairs, clock):
    """The same of the best round of each."""
    old, new = (min(time_of(result, clock) for result in side) for side in zip(*pairs))
    return new / old


def is_slower(pairs):
    clock = "wall" if pairs[0][0]["waits"] else "processor"
    return min(ratio(pairs, clock), best_ratio(pairs, clock)) > MOST


def measure(old, new, rounds):
    """Pairs of results; `old` and `new` give one each time, and take the first turn in turns."""
    pairs = []
    for k in range(rounds):
        if k % 2 == 0:
            first = old()
            pairs.append((first, new()))
        else:
            first = new()
            pairs.append((old(), first))
    return pairs


def compare(old, new, rounds):
    """Pairs of results, of more rounds if the first ones say that the new build is slower."""
    pairs = measure(old, new, rounds)
    return pairs + measure(old, new, 2 * rounds) if is_slower(pairs) else pairs


def line(name, pairs):
    old, new = pairs[0]
    figures = [statistics.median(r["dapple"]["wall"] for r in side) for side in zip(*pairs)]
    verdict = "SLOWER" if is_slower(pairs) else ""
    return (f"{name:<30} {figures[0]:>10.4g} {figures[1]:>10.4g} {new['unit']:<5}"
            f" {ratio(pairs, 'wall'):>6.2f} {ratio(pairs, 'processor'):>9.2f}  {verdict}").rstrip()


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("old", metavar="OLD", help="a build folder or a dapple-bench program")
    parse.add_argument("new", metavar="NEW", help="likewise")
    parse.add_argument("--only", metavar="NAME", action="append", help="this workload; repeatable")
    parse.add_argument("--rounds", type=int, default=5)
    parse.add_argument("--samples", default="3", help="samples of a round")
    parse.add_argument("--quick", action="store_true", help="tiny data: shows that it runs")
    parse.add_argument("--data", help="keep the data here, in a folder for each build")
    given = parse.parse_args()
    with tempfile.TemporaryDirectory(prefix="dapple-compare-") as folder:
        data = pathlib.Path(given.data or folder)
        old, new = (Build(path, data / side) for path, side in ((given.old, "old"), (given.new, "new")))
        arguments = ["--samples", given.samples] + ["--quick"] * given.quick
        slower = compared = 0
        print(f"{'':<30} {'old':>10} {'new':>10}       {'clock':>6} {'processor':>9}")
        for way in old.commands.keys() & new.commands.keys():
            known = new.names(way)
            for name in [n for n in old.names(way) if n in known and n in (given.only or known)]:
                pairs = compare(lambda: old.figures(way, name, *arguments),
                                lambda: new.figures(way, name, *arguments), given.rounds)
                print(line(name, pairs), flush=True)
                slower += is_slower(pairs)
                compared += 1
    if compared == 0:
        raise Failed("no workload of that name")
    print(f"{compared} compared, {slower} slower")
    return 1 if slower else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        print(f"compare.py: {failure}", file=sys.stderr)
        sys.exit(2)
