"""Names of members of collections, and of the files that hold them."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from .errors import InvalidArgumentError, shown

OBJECT, JSON = ".dbdf", ".json"  # endings of the files of members
DECLARED = "collection.json"  # which axes members have


def checked_name(name: Any) -> str:
    """The name of a member. Raises InvalidArgumentError for what is none."""
    parts = name.split("/") if isinstance(name, str) else []
    if not parts or any(part in ("", ".", "..") or part[0] == "." for part in parts):
        raise InvalidArgumentError(
            f"{shown(name)} is no name of a member: names are str such as 'X' or 'layers/counts', "
            "whose parts are not empty and do not start with a dot"
        )
    if any(character in name for character in "\\\0:"):
        raise InvalidArgumentError(f"{name!r} is no name of a member: it has a character of paths")
    if any("\ud800" <= character <= "\udfff" for character in name):
        raise InvalidArgumentError(f"{name!r} is no name of a member: it is no Unicode text")
    return str(name)


def escaped(part: str) -> str:
    """Any text as a part of a name: what names of members cannot have becomes %2F and so on."""
    if not part:
        return "%"
    made = "".join(f"%{ord(one):02X}" if one in "%/\\:\0" else one for one in part)
    if made[0] == ".":
        made = "%2E" + made[1:]
    for ending in (OBJECT, JSON):
        if made.endswith(ending):  # a folder of that name is a data set
            made = f"{made[: -len(ending)]}%2E{ending[1:]}"
    return made


def unescaped(part: str) -> str:
    """The text that `escaped` made a part of a name."""
    return "" if part == "%" else unquote(part)
