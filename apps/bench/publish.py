#!/usr/bin/env python3
"""Makes the plots and the table of RESULTS.md from what dapple-bench measured.

Writes SVG files, and replaces the part of RESULTS.md between the two comments that name
dapple-bench."""

import argparse
import json
import pathlib
import re
import sys

import svg

HERE = pathlib.Path(__file__).resolve().parent

COLOURS = {"limit": "#777777", "dapple": "#1668c7", "LMDB": "#d1701a", "HDF5": "#2c8a3d",
           "Python": "#8d4bb5"}
PYTHON = ("numpy", "h5py", "zarr", "scipy", "pandas")


def colour_key(contender):
    if contender["role"] in ("limit", "dapple"):
        return contender["role"]
    name = contender["name"]
    if name.startswith(PYTHON):
        return "Python"
    return next((key for key in COLOURS if name.startswith(key)), None)


def digits(value):
    """As the program prints figures."""
    if value == 0:
        return "0"
    return f"{value:.{3 if value < 1 else 2 if value < 10 else 1 if value < 100 else 0}f}"


def of_role(series, role):
    return [c for c in series["contenders"] if c["role"] == role]


def ratio_rows(run):
    rows = []
    for workload in run["workloads"]:
        heading = f"{workload['id']}  {workload['question']}"
        for series in workload["series"]:
            dots = [(c["name"], colour_key(c), c["to_limit"]) for c in series["contenders"]
                    if c["to_limit"] and colour_key(c) and c["role"] != "aside"
                    and (c["role"] != "limit" or c["to_limit"] == 1)]
            if not of_role(series, "limit") or not dots:
                continue
            dots.sort(key=lambda dot: dot[1] == "dapple")  # on top
            rows.append((heading, series["name"], dots))
            heading = None
    return rows


def open_lines(run, beginning):
    """{name: (colour, [(blocks, figure)])} of W5's series whose names begin so."""
    lines = {}
    for workload in run["workloads"]:
        for series in workload["series"]:
            if workload["id"] != "W5" or not series["name"].startswith(beginning):
                continue
            for c in series["contenders"]:
                if c["median"] > 0:
                    colour = COLOURS[colour_key(c) or "limit"]
                    lines.setdefault(c["name"], (colour, []))[1].append((series["at"], c["median"]))
    return lines


def plots(run):
    yield "ratios.svg", svg.dot_chart(
        "Time over the limit's time", "1 is as fast as the machine allows",
        ratio_rows(run), COLOURS)
    for name, beginning, title, up in (
            ("open_time.svg", "open and fetch, back to back", "Open a file, fetch one block", "us"),
            ("open_memory.svg", "private memory", "Private memory of an open file", "KiB")):
        lines = open_lines(run, beginning)
        if lines:
            yield name, svg.line_chart(f"{title}, {up}", "blocks in the file", lines)


def missed_text(goal, unit):
    wanted = f"wanted {digits(goal['goal'])}"
    if goal["against"]:
        return f"{digits(goal['got'])} x {goal['against']}, {wanted}"
    if goal["note"]:
        return f"{digits(goal['got'])} {goal['note']}, {wanted}"
    return f"{wanted} {unit}"


def goal_text(series):
    goals = series["goals"]
    if not goals:
        return ""
    missed = [g for g in goals if not g["reached"]]
    return "; ".join(missed_text(g, series["unit"]) for g in missed) or "reached"


def table_row(workload, series):
    ours = of_role(series, "dapple")
    if not ours:
        return None
    limits, peers = of_role(series, "limit"), of_role(series, "peer")
    best = min(limits, key=lambda c: c["to_limit"]) if limits else None
    peer = next((c for c in peers if c["name"] == series["best_peer"]), None)
    cells = [f"{workload['id']} {series['name']}", series["unit"],
             digits(best["median"]) if best else "", digits(ours[0]["median"]),
             digits(ours[0]["to_limit"]) if best else "",
             f"{peer['name']} {digits(peer['median'])}" if peer else "",
             digits(1 / ours[0]["to_best_peer"]) if peer else "", goal_text(series)]
    return "| " + " | ".join(cells) + " |"


def section(run, runs):
    machine, versions = run["machine"], run["versions"]
    goals = [g for w in run["workloads"] for s in w["series"] for g in s["goals"]]
    disturbed = [c for w in run["workloads"] for s in w["series"] for c in s["contenders"]
                 if c["disturbed"]]
    lines = [
        f"Measured on {machine['date']} with `dapple-bench`"
        + (f", in {runs} runs" if runs > 1 else "") + f": {machine['processor']}, "
        f"{machine['memory']}, {machine['system']}; "
        + ", ".join(f"{name} {version}" for name, version in sorted(versions.items()) if
                    name != "dapple") + ".",
        f"{sum(g['reached'] for g in goals)} of {len(goals)} goals are reached.",
    ]
    if disturbed:
        lines.append("Other programs were at work during some of it: the ratios, which are taken "
                     "side by side, say more than the figures.")
    lines += ["", "| workload | unit | limit | dapple | time / limit | best peer | x better | goal |",
              "| --- | --- | --: | --: | --: | --- | --: | --- |"]
    lines += [row for w in run["workloads"] for s in w["series"] if (row := table_row(w, s))]
    lines += ["", "![time over the limit's time](plots/ratios.svg)", "",
              "![time to open](plots/open_time.svg)", "",
              "![private memory](plots/open_memory.svg)"]
    return "\n".join(lines) + "\n"


def update_results(path, text):
    begin, end = "<!-- dapple-bench: begin -->\n", "<!-- dapple-bench: end -->\n"
    old = path.read_text()
    if old.count(begin) != 1 or old.count(end) != 1:
        sys.exit(f"{path}: expected the lines {begin.strip()} and {end.strip()} once each")
    path.write_text(re.sub(f"{begin}.*{end}", lambda _: begin + text + end, old, flags=re.DOTALL))


def merged(runs):
    workloads = {w["id"]: w for run in runs for w in run["workloads"]}
    in_order = sorted(workloads.values(), key=lambda w: int(w["id"][1:]))
    return {**runs[-1], "workloads": in_order}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=pathlib.Path, nargs="+", metavar="RUN.json",
                        help="what dapple-bench --json wrote; workloads of later ones replace those "
                             "of earlier ones")
    parser.add_argument("--plots", type=pathlib.Path, default=HERE / "plots", metavar="FOLDER")
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "RESULTS.md")
    arguments = parser.parse_args()
    run = merged([json.loads(path.read_text()) for path in arguments.runs])
    arguments.plots.mkdir(parents=True, exist_ok=True)
    for name, drawing in plots(run):
        (arguments.plots / name).write_text(drawing)
    update_results(arguments.results, section(run, len(arguments.runs)))


if __name__ == "__main__":
    main()
