#!/usr/bin/env python3
"""dapple-bench gives right answers on small data, and compare.py decides as its page says.

usage: check_bench.py [DAPPLE-BENCH] SOURCE-ROOT      without a program, only compare.py"""

import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile


def run(*command):
    return subprocess.run([str(part) for part in command], text=True, capture_output=True)


def check_program(bench):
    with tempfile.TemporaryDirectory() as data:
        names = [line[:30].strip() for line in run(bench, "--list").stdout.splitlines()]
        assert 20 <= len(names) == len(set(names)) <= 40, names
        quick = run(bench, "--quick", "--json", "--data", data)
        assert quick.returncode == 0, quick.stderr
        results = json.loads(quick.stdout)
        assert [r["name"] for r in results] == names, results
        for result in results:
            for who in {"dapple", "limit"} & result.keys():
                assert result[who]["wall"] > 0 and result[who]["processor"] > 0, result
        unknown = run(bench, "--only", "no such thing")
        assert unknown.returncode == 2 and "--list" in unknown.stderr, unknown


def check_wrong_answer(bench):
    """Other cells in the data are noticed, and the other workloads still run."""
    with tempfile.TemporaryDirectory() as data:
        two = ("--quick", "--data", data, "--only", "where, few tiles match", "--only", "write dense")
        assert run(bench, *two).returncode == 0
        victim = next(pathlib.Path(data).glob("*dense-f32.dbdf"))
        cells = bytearray(victim.read_bytes())
        victim.write_bytes(cells.replace(bytes([0, 0, 0x7A, 0x44]), bytes(4)))  # 1000.0
        wrong = run(bench, *two, "--json")
        assert wrong.returncode == 1 and "expected" in wrong.stderr, wrong
        assert [r["name"] for r in json.loads(wrong.stdout)] == ["write dense"], wrong


def result(wall, processor, rate=False, waits=False):
    return {"name": "x", "unit": "us", "rate": rate, "waits": waits,
            "dapple": {"wall": wall, "processor": processor}}


def check_decisions(compare):
    old = [result(100, 100)] * 3
    assert not compare.is_slower(list(zip(old, [result(100, 109)] * 3)))
    assert compare.is_slower(list(zip(old, [result(100, 111)] * 3)))
    # The clock alone does not count, unless the workload waits for storage.
    assert not compare.is_slower(list(zip(old, [result(300, 100)] * 3)))
    waiting = [result(100, 100, waits=True)] * 3
    assert compare.is_slower(list(zip(waiting, [result(111, 50, waits=True)] * 3)))
    # Of rates, less is slower.
    rates = [result(10, 10, rate=True)] * 3
    assert compare.is_slower(list(zip(rates, [result(9, 9, rate=True)] * 3)))
    assert not compare.is_slower(list(zip(rates, [result(20, 20, rate=True)] * 3)))
    # Neither two disturbed rounds of three nor a lucky one of the old build decide.
    assert not compare.is_slower(list(zip(old, [result(200, 200), result(99, 99), result(150, 150)])))
    lucky = [result(100, 100), result(80, 80), result(100, 100)]
    assert not compare.is_slower(list(zip(lucky, [result(100, 100)] * 3)))
    # One disturbed round of three does not decide.
    assert not compare.is_slower(list(zip(old, [result(900, 900), result(99, 99), result(101, 101)])))


def check_turns(compare):
    """Both take turns, the first one alternately; what seems slower is measured again."""
    calls = []

    def build(name, time):
        def measure():
            calls.append(name)
            return result(time, time)
        return measure

    pairs = compare.compare(build("old", 10), build("new", 10), 3)
    assert "".join(c[0] for c in calls) == "onnoon" and len(pairs) == 3, calls
    calls.clear()
    times = iter([20, 20, 20, 10, 10, 10, 10, 10, 10])
    pairs = compare.compare(build("old", 10), lambda: result(10, next(times)), 3)
    assert len(pairs) == 9 and not compare.is_slower(pairs), pairs


def check_usage(script):
    missing = run(sys.executable, script, "/nowhere/old", "/nowhere/new")
    assert missing.returncode == 2 and "-Dbench=true" in missing.stderr, missing


def check_whole(script, bench):
    same = run(sys.executable, script, bench, bench, "--quick", "--rounds", "1", "--only", "A x, dense")
    assert same.returncode in (0, 1) and "1 compared" in same.stdout, same


def main(*arguments):
    *bench, root = arguments
    script = pathlib.Path(root, "apps/bench/compare.py")
    spec = importlib.util.spec_from_file_location("compare", script)
    compare = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(compare)
    checks = [(check_decisions, compare), (check_turns, compare), (check_usage, script)]
    if bench:
        checks += [(check_program, bench[0]), (check_wrong_answer, bench[0]),
                   (check_whole, script, bench[0])]
    failed = 0
    for check, *given in checks:
        try:
            check(*given)
        except AssertionError as failure:
            print(f"{check.__name__}: {failure!r}")
            failed += 1
    print(f"{len(checks) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main(*sys.argv[1:]))
