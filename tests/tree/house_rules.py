"""Rules about where things are and how they are said, which the tree does not keep everywhere yet. What
remains is counted in allowances.json, and may only become less; lower the counts with what you mend:

    house_rules.py SOURCE-ROOT [RULE]     what breaks the rules, or one of them
"""

import collections
import json
import pathlib
import re
import sys

# Words that comments do without: "behind" for after, "stands" and "lies" for is.
WORDS = re.compile(r"\b(behind|stands|lies|such an?|so many|is told)\b", re.IGNORECASE)
COMMENT = {".cpp": r"//.*", ".h": r"//.*", ".js": r"//.*", ".mjs": r"//.*", ".py": r"#.*",
           ".sh": r"#.*", ".build": r"#.*"}
FOLDERS = ("include", "lib", "apps", "tests")

FORMATS = ("dbdf", "daphne", "btable", "npy", "npz", "hdf5", "futhark", "futhark-text", "idv", "mtx", "csv", "tsv", "zarr")


def lines(root, folders, endings):
    """(name, number, line) of the sources in some folders."""
    for path in sorted(p for f in folders for p in (root / f).rglob("*")):
        if path.suffix in endings and path.is_file():
            text, name = path.read_text(encoding="utf-8", errors="replace"), path.relative_to(root).as_posix()
            for number, line in enumerate(text.splitlines(), 1):
                yield name, number, line


def library(root):
    return lines(root, ("lib",), (".h", ".cpp"))


def words(root):
    """Comments say it in plain English."""
    for name, number, line in lines(root, FOLDERS, COMMENT):
        comment = re.search(COMMENT["." + name.rpartition(".")[2]], line)
        if comment and "house_rules" not in name:
            for word in WORDS.findall(comment.group()):
                yield f"{name}:{number}: '{word}'"


def room(name):
    return "api" if name.startswith("include/") else "/".join(name.split("/")[:2])


def members(root):
    """The functions of a class are defined in its room; those of a public class in one room."""
    declared = collections.defaultdict(set)
    for name, _, line in lines(root, ("include", "lib"), (".h",)):
        if found := re.match(r"(?:class|struct) (\w+)(?: final)?(?: : [^;]*)? \{", line):
            declared[found.group(1)].add(room(name))
    defined = collections.defaultdict(list)
    for name, number, line in library(root):
        if name.endswith(".cpp") and (found := re.match(r"(?!return)(?:\w[\w:<>*&, ]* )?(\w+)::~?\w+\(", line)):
            defined[found.group(1)].append((room(name), f"{name}:{number}: {found.group().strip()}"))
    for owner, places in sorted(defined.items()):
        rooms = declared[owner]
        if len(rooms) != 1:
            continue  # declared in a source file, or several classes of one name
        home = next(iter(rooms))
        if home == "api":
            home = collections.Counter(where for where, _ in places).most_common(1)[0][0]
        yield from (f"{place} belongs in {home}" for where, place in places if where != home)


def format_names(root):
    """A format's name is in its folder, and in the catalog's table."""
    for name, number, line in library(root):
        for found in re.findall(r'"([\w-]+)"', re.sub(r"//.*", "", line)):
            at_home = name.startswith((f"lib/{found.split('-')[0]}/", f"lib/foreign/{found.split('-')[0]}/"))
            if found in FORMATS and not at_home and name != "lib/catalog/formats.cpp":
                yield f'{name}:{number}: "{found}"'


def mapped_bytes(root):
    """Only lib/io knows that a file is mapped."""
    for name, number, line in library(root):
        if not name.startswith("lib/io/") and re.search(r"[fF]ile\w*(?:\(\))?(?:->|\.)(?:map|base)\(\)", line):
            yield f"{name}:{number}: {line.strip()}"


def payloads(root):
    """A block's payload is what Store::payload gives."""
    taken = re.compile(r"(?:->|\.)hold\(|(?:->|\.)at\((?:e|entry)\.offset|base\(\) \+ \w+\.offset")
    for name, number, line in library(root):
        if not name.startswith(("lib/io/", "lib/object/payload.cpp")) and taken.search(line):
            yield f"{name}:{number}: {line.strip()}"


def includes(root):
    """What a header of lib/base declares is called where that is included, which sources compiled as one hide."""
    texts = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
             for folder in ("include", "lib") for path in (root / folder).rglob("*") if path.suffix in (".h", ".cpp")}

    def reach(name, reached):
        for header in re.findall(r'^#include ["<]([^">]+)', texts[name], re.MULTILINE):
            for path in {header, f"include/{header}"} & texts.keys() - reached:
                reached.add(path)
                reach(path, reached)
        return reached

    declared = collections.defaultdict(list)
    for name, text in texts.items():
        for function in re.findall(r"(?m)^(?!return|else)(?:[\w\[\]:<>,&*]+ )+[&*]*(\w+)\(", text) if name.endswith(".h") else ():
            declared[function].append(name)
    helpers = {function: names[0] for function, names in declared.items()
               if len(names) == 1 and re.fullmatch(r"lib/base/\w+\.h", names[0])}
    for name, text in sorted(texts.items()):
        if name.endswith(".cpp"):
            reached = reach(name, {name})
            called = set(re.findall(r"(?<![\w.>:~])(\w+)\(", re.sub(r"//.*", "", text))) & helpers.keys()
            yield from (f"{name}: {function} of {helpers[function]}" for function in sorted(called)
                        if helpers[function] not in reached)


RULES = {"words": words, "members": members, "format names": format_names,
         "mapped bytes": mapped_bytes, "payloads": payloads, "includes": includes}


def check(root):
    """For each rule, what to print because more breaks it than is allowed: nothing where all is well."""
    allowed = json.loads((root / "tests/tree/allowances.json").read_text())
    for rule, find in RULES.items():
        found = list(find(root))
        if len(found) < allowed[rule]:
            print(f"{rule}: lower its count in allowances.json from {allowed[rule]} to {len(found)}")
        broken = (f"{rule}: {find.__doc__} {len(found)} places do not, {allowed[rule]} are allowed; "
                  f"tests/tree/house_rules.py . '{rule}' lists them")
        yield [broken] if len(found) > allowed[rule] else []


def main(root, *rules):
    for rule in rules or RULES:
        found = list(RULES[rule](pathlib.Path(root)))
        print(*found, f"{rule}: {len(found)}", sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
