"""Arguments of the wrong kind, told by name wherever a call takes them."""

from __future__ import annotations

import inspect
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from .advice import require_options
from .errors import Error, TypeMismatchError, shown

Told = TypeVar("Told", bound=Callable[..., Any])  # a function, or a class with all its methods

_INNER = re.compile(r"\[[^\[\]]*\]")


def _is_flag(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _is_text(value: Any) -> bool:
    try:
        return isinstance(value, str) and value.encode("utf-8", "surrogateescape") is not None
    except UnicodeEncodeError:
        return False


def _is_integer(value: Any) -> bool:
    try:
        return 0 <= operator.index(value) < 2**64
    except Exception:  # whatever it raises, it is none
        return False


def _is_number(value: Any) -> bool:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, np.timedelta64)
    return whole or (isinstance(value, (float, np.floating)) and math.isfinite(value))


def _is_pair(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) == 2 and all(map(_is_integer, value))


def is_list(value: Any) -> bool:
    """Whether it is several things, and neither text nor a mapping."""
    if isinstance(value, (str, bytes, Mapping)) or getattr(value, "shape", None) == ():
        return False
    return isinstance(value, Iterable)


def _is_opened(value: Any) -> bool:
    return hasattr(value, "file_bytes") and hasattr(value, "shape")


# What an annotation, or the first word of one, asks for, and how to say that.
_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "bool": (_is_flag, "True or False"),
    "int": (_is_integer, "an integer from 0 on"),
    "Align": (lambda value: _is_integer(value) and value < 2**32, "a power of two up to 2097152"),
    "float": (_is_number, "a number"),
    "str": (_is_text, "a str"),
    "tuple": (_is_pair, "a pair of integers from 0 on"),
    "Mapping": (lambda value: isinstance(value, Mapping), "a mapping, such as a dict"),
    "Sequence": (is_list, "a list"),
    **dict.fromkeys(("Iterable", "Part"), (is_list, "a list")),
    "Absent": (_is_text, "'error', 'zero' or 'nan'"),
    "Check": (_is_text, "'never', 'first_touch' or 'always'"),
    "What": (_is_text, "a str"),
    **dict.fromkeys(("Matrix", "Frame"), (_is_opened, "what pydapple.open gives")),
    "Progress": (lambda value: _is_flag(value) or callable(value), "True, or a function"),
}
# Those of `write` that other calls take as **options.
_OPTIONS = {
    **dict.fromkeys(("overwrite", "sync", "plain", "narrow"), "bool"),
    **{"tile": "tuple[int, int] | None", "kind": "str", "align": "Align", "pack": "str | None"},
    "attrs": "Mapping[str, Any] | None",
    **dict.fromkeys(("row_names", "col_names"), "Sequence[str] | None"),
}


def _wrong_one(call: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> str:
    """What is wrong with the first argument that is not of its kind; "" where all are."""
    signature = inspect.signature(call)
    bound = signature.bind(*given, **named).arguments
    asked = {name: str(one.annotation) for name, one in signature.parameters.items()}
    for name, one in signature.parameters.items():
        if one.kind is one.VAR_KEYWORD:
            bound |= bound.pop(name, {})
            asked = _OPTIONS | asked
    if "align" in asked:
        asked["align"] = _OPTIONS["align"]
    for name, value in bound.items():
        kinds = _INNER.sub("", _INNER.sub("", asked.get(name, ""))).split(" | ")
        found = [_KINDS.get(kind) for kind in kinds if kind != "None"]
        if (value is None and "None" in kinds) or None in found:
            continue
        if not any(fits(value) for fits, _ in filter(None, found)):
            wanted = " or ".join(dict.fromkeys(said for _, said in filter(None, found)))
            return f"{name} is {wanted}, not {shown(value)}"
    return ""


def _require_known(call: Callable[..., Any], named: dict[str, Any]) -> None:
    """Raise for a keyword that a function has not, nor hands on."""
    known = inspect.signature(call).parameters
    if not any(one.kind is one.VAR_KEYWORD for one in known.values()):
        names = [name for name, one in known.items() if one.kind is not one.VAR_POSITIONAL]
        require_options(call.__name__, named, [name for name in names if name != "self"])


def _usage(call: Callable[..., Any]) -> str:
    """How a function is called, in short: ``tile_stats(axis, *, absent, threads)``."""
    said: list[str] = []
    for name, one in inspect.signature(call).parameters.items():
        if one.kind is one.KEYWORD_ONLY and "*" not in said:
            said.append("*")
        stars = "**" if one.kind is one.VAR_KEYWORD else ""
        said += [] if name == "self" else ["above=x" if name == "condition" else stars + name]
    return f"{call.__name__}({', '.join(said)})"


def told(one: Told) -> Told:
    """A function, or the methods of a class, that names an argument of the wrong kind.

    Nothing is asked before: only where a call fails with an exception that is none of dapple's are
    the arguments compared with what it is annotated to take. What callbacks raise passes.
    """
    if isinstance(one, type):
        for name, method in list(vars(one).items()):
            if inspect.isfunction(method) and not name.startswith("_"):
                setattr(one, name, told(method))
        return one
    call: Callable[..., Any] = one

    @wraps(call)
    def checked(*given: Any, **named: Any) -> Any:
        try:
            return call(*given, **named)
        except Exception as error:  # the argument's own, too
            if isinstance(error, Error):
                raise
            _require_known(call, named)
            try:
                wrong = _wrong_one(call, given, named)
            except TypeError as fault:  # of too many arguments, or too few
                raise TypeMismatchError(f"{fault}; it is called as {_usage(call)}") from error
            if not wrong:
                raise
            raise TypeMismatchError(wrong) from error

    return checked  # type: ignore[return-value]
