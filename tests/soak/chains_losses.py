"""What each format does not keep: what the documentation says, or `convert` tells at the time."""

TEXT = ("csv", "tsv")
PLAIN = ("btable", "mtx", "futhark", "futhark-text", "daphne")  # nothing but numbers

# What differs, and the words of the note that tells of it.
TOLD = {
    "row names": "keeps no names of rows",
    "attributes": "keeps no attributes",
    "zone": "names of zones",
    "ordered": "have an order",
    "missing": "no missing floats",
}


def is_known(format, what, example, before, after, notes, options):
    """Whether the loss is one that a user has been told of, or has asked for."""
    if what in TOLD and TOLD[what] in notes:
        return True
    if what == "labels":
        dull = all(column.label in ("", str(k)) for k, column in enumerate(before.numbers()))
        return dull or options.get("drop_labels") or "names of the columns" in notes
    stored = options.get("stored_numbers") and before.is_frame and format in (*PLAIN, "npy", "idv")
    if stored and what in ("kind", "cells", "missing", "type"):
        return True
    if what == "type":
        return format in (*TEXT, "mtx", "btable") or "dtype" in options
    if what == "frame":
        return format in ("btable", "mtx", "futhark", "futhark-text", *TEXT)
    if format in TEXT:
        return in_text(what, example, before, after, notes)
    if format in ("parquet", "arrow"):  # names are a column, as pandas has them; there are no seconds
        return what in ("attributes", "unit") or (what == "shape" and before.row_names is not None)
    if format == "npy":
        return what == "kind" and (example[0].kind, example[1].kind) == ("category", "text")
    if format == "idv":  # a time with a zone is two columns; a category without words is a number
        zones = any(column.zone for column in before.columns)
        empty = what == "kind" and all(cell is None for cell in example[0].cells)
        return what == "unit" or empty or (what == "shape" and zones)
    return False


def in_text(what, example, before, after, notes):
    """Types are those that the fields tell."""
    if "such labels" in notes:
        return True
    if what == "kind":
        x, y = example
        words = {"category", "text"}
        blank = all(cell is None for cell in x.cells)
        told = "durations from words" if x.kind == "duration" else "such words"
        return blank or {x.kind, y.kind} == words or told in notes
    if what == "cells":
        return "durations from words" in notes or "such words" in notes
    return what in ("unit", "ordered") and (what == "unit" or all(cell is None for cell in example[0].cells))
