#!/usr/bin/env python3
"""Adds up the test cases in Meson's test logs (testlog.json), and in the output of other suites (NAME.log).

Programs that hold many test cases, and those suites, end with a line "N passed, N failed[, N skipped]";
any other test counts as one. Prints what was skipped and what failed, then the sum as the last line.
Exits 1 if anything failed."""

import json
import re
import sys

LINES_OF_A_FAILURE = 40  # what it said last: many read no more than the end of the whole log
SUM = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)


def count(test):
    """(passed, failed, skipped) of one test of the log."""
    sums = SUM.findall(test.get("stdout", ""))
    good = test["result"] in ("OK", "EXPECTEDFAIL")
    if not sums:
        return (0, 0, 1) if test["result"] == "SKIP" else (int(good), int(not good), 0)
    passed, failed, skipped = (int(n or 0) for n in sums[-1])
    crashed = test["result"] not in ("OK", "EXPECTEDFAIL", "SKIP") and failed == 0
    ran_nothing = passed + failed + skipped == 0
    return passed, failed + int(crashed or ran_nothing), skipped


def run_of(log):
    """What a log is called in the report: its build folder, and its name if there are several."""
    folder, *_, file = log.split("/")
    if file.endswith(".log"):
        return file.removesuffix(".log")
    return folder if file == "testlog.json" else f"{folder} ({file.removesuffix('.json')})"


def tests_of(log, text):
    """The tests of a log, each as Meson describes it."""
    if log.endswith(".json"):
        return [json.loads(line) for line in text.splitlines()]
    ended_well = bool(SUM.search(text))  # a suite that did not reach its last line has failed
    return [{"name": run_of(log), "stdout": text, "result": "OK" if ended_well else "FAIL"}]


def report(log, test, counts):
    passed, failed, skipped = counts
    name = f"{run_of(log)}: {test['name'].split(' / ')[-1]}"
    lines = [line for line in test.get("stdout", "").splitlines() if line.strip()]
    if failed:
        print(f"failed: {name}: {failed} of {passed + failed + skipped} ({test['result']})")
        for line in (lines + test.get("stderr", "").splitlines())[-LINES_OF_A_FAILURE:]:
            print(f"  {line}")
    for line in lines:
        if line.startswith("skipped: "):
            print(f"skipped: {name}: {line[len('skipped: '):]}")
    if skipped and test["result"] == "SKIP":
        print(f"skipped: {name}: {lines[-1] if lines else 'no reason given'}")


def main(logs):
    total = [0, 0, 0]
    for log in logs:
        try:
            with open(log, encoding="utf-8") as file:
                tests = tests_of(log, file.read())
        except OSError as error:
            print(f"failed: {run_of(log)}: did not build, or ran no test ({error.strerror})")
            total[1] += 1
            continue
        for test in tests:
            counts = count(test)
            report(log, test, counts)
            total = [a + b for a, b in zip(total, counts)]
    print(f"{total[0]} passed, {total[1]} failed" + (f", {total[2]} skipped" if total[2] else ""))
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
