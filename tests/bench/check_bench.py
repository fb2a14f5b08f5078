#!/usr/bin/env python3
"""dapple-bench runs: every workload gives the right answers on small data, and what it writes makes
a results page and plots. The figures themselves are not checked.

usage: check_bench.py DAPPLE-BENCH SOURCE-ROOT"""

import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree


def run(*command):
    return subprocess.run([str(part) for part in command], text=True, capture_output=True)


def check_run(bench, folder):
    """Findings of a whole quick run; leaves run.json in the folder."""
    quick = run(bench, "--quick", "--data", folder / "data", "--json", folder / "run.json")
    if quick.returncode != 0:
        return [f"--quick: expected exit status 0, got {quick.returncode}: "
                f"{quick.stdout[-2000:]}{quick.stderr[-500:]}"]
    result = json.loads((folder / "run.json").read_text())
    ids = [w["id"] for w in result["workloads"]]
    found = [] if ids == [f"W{k}" for k in range(1, 19)] else [f"expected W1 to W18, got {ids}"]
    for workload in result["workloads"]:
        if not workload["series"]:
            found.append(f"{workload['id']}: expected figures, got none")
        for series in workload["series"]:
            roles = [c["role"] for c in series["contenders"]]
            where = f"{workload['id']} {series['name']}"
            if "dapple" not in roles:
                found.append(f"{where}: expected dapple to take part")
            found += [f"{where}: {c['name']}: expected a figure above 0, got {c['median']}"
                      for c in series["contenders"]
                      if c["median"] <= 0 and series["unit"] != "KiB"]
    return found


def check_again(bench, folder):
    """The data of the first run is used again, and --only runs what it names."""
    data = folder / "data"
    before = {p: p.stat().st_mtime_ns for p in data.rglob("v*")}
    again = run(bench, "--quick", "--data", data, "--only", "W2,W12", "--json", "-")
    ids = [w["id"] for w in json.loads(again.stdout or "{}").get("workloads", [])]
    found = [] if ids == ["W2", "W12"] else [f"--only W2,W12: expected those, got {ids}"]
    after = {p: p.stat().st_mtime_ns for p in data.rglob("v*")}
    if before != after:
        found.append("expected the data of the first run to be kept, got other files")
    return found


def check_damage(bench, folder):
    """A wrong answer ends a workload, and shows in the exit status."""
    victim = next((folder / "data").glob("v*-quick-cold-*.dbdf"))
    cells = bytearray(victim.read_bytes())
    cells[4096:len(cells) // 2] = bytes(len(cells) // 2 - 4096)
    victim.write_bytes(cells)
    damaged = run(bench, "--quick", "--data", folder / "data", "--only", "W9")
    if damaged.returncode != 1 or "FAILED" not in damaged.stdout:
        return [f"damaged data: expected exit status 1 and FAILED, got {damaged.returncode}"]
    return []


def check_usage(bench):
    unknown = run(bench, "--only", "W99")
    listed = run(bench, "--list").stdout.splitlines()
    found = []
    if unknown.returncode != 2 or "W99" not in unknown.stderr:
        found.append(f"--only W99: expected exit status 2, got {unknown.returncode}")
    if len(listed) != 18:
        found.append(f"--list: expected 18 lines, got {len(listed)}")
    return found


def check_publish(root, folder):
    results = folder / "RESULTS.md"
    results.write_text((root / "apps/bench/RESULTS.md").read_text())
    publish = run(sys.executable, root / "apps/bench/publish.py", folder / "run.json",
                  "--plots", folder / "plots", "--results", results)
    if publish.returncode != 0:
        return [f"publish.py: expected exit status 0, got {publish.stderr[-1000:]}"]
    found = []
    for name in ("ratios.svg", "open_time.svg", "open_memory.svg"):
        drawing = xml.etree.ElementTree.fromstring((folder / "plots" / name).read_text())
        if len(drawing) < 10:
            found.append(f"{name}: expected a drawing, got {len(drawing)} shapes")
    if "| W14 " not in results.read_text():
        found.append("RESULTS.md: expected a row for W14, got none")
    return found


def main(bench, root):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        findings = [check_run(bench, folder)]
        if not findings[0]:
            findings += [check_again(bench, folder), check_publish(pathlib.Path(root), folder),
                         check_damage(bench, folder)]
        findings.append(check_usage(bench))
    for finding in (line for part in findings for line in part):
        print(finding)
    failed = sum(1 for part in findings if part)
    print(f"{len(findings) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
