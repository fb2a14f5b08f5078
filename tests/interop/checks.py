"""What the scripts of this folder share: running their checks."""

import pathlib
import sys
import tempfile
import traceback


class Skip(Exception):
    """Raised by a check that lacks a module, which its text names."""


def run_checks(names):
    """Calls each check_* among `names` with a new folder; the exit status of the script."""
    passed = failed = skipped = 0
    for name, check in list(names.items()):
        if not name.startswith("check_"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(pathlib.Path(folder))
                passed += 1
            except Skip as missing:
                print(f"skipped {name}: {missing} is missing")
                skipped += 1
            except Exception:
                print(f"FAILED {name}")
                traceback.print_exc(file=sys.stdout)
                failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0
