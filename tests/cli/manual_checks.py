"""The manual page tells of all that --help tells of."""

import pathlib
import re

MANUAL = pathlib.Path(__file__).resolve().parents[2] / "apps/dapple/dapple.1"


def check_the_manual_has_every_verb_and_flag(dapple):
    manual = MANUAL.read_text().replace("\\-", "-")
    verbs = dapple.run("--complete").stdout.decode().split()
    assert len(verbs) > 15
    for verb in verbs:
        assert re.search(rf"^\.TP\n\.BI? {verb}\b", manual, re.MULTILINE), verb
        if verb == "help":
            continue
        flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", dapple.run(verb, "--help").stdout.decode()))
        assert "--help" in flags, verb
        missing = sorted(flag for flag in flags if not re.search(rf"{flag}\b(?!-)", manual))
        assert not missing, (verb, missing)
