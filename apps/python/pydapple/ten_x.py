"""Folders of 10x Genomics: a Matrix Market file of counts, and names in files beside it."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

from . import _core, files
from .errors import InvalidArgumentError
from .identity import file_name
from .matrix import Matrix
from .names import Names
from .reports import Path


def _there(folder: str, *stems: str) -> str | None:
    for stem in stems:
        for ending in ("", ".gz"):
            path = os.path.join(folder, stem + ending)
            if os.path.isfile(path):
                return path
    return None


def is_folder(path: Path) -> bool:
    """Whether it is a folder with a matrix, its barcodes and its features."""
    name = file_name(path)
    parts = (("matrix.mtx",), ("barcodes.tsv",), ("features.tsv", "genes.tsv"))
    return os.path.isdir(name) and all(_there(name, *stems) for stems in parts)


def _lines(path: str) -> list[list[str]]:
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    import gzip

    opened = gzip.open if packed else open
    with opened(path, "rt", encoding="utf-8") as text:
        return [line.rstrip("\r\n").split("\t") for line in text]


def open_folder(path: Path, **options: Any) -> Matrix:
    """The counts of a folder of 10x as it has them: a row for each gene, a column for each barcode.

    Rows have the names of the genes, or their ids where several genes have one name; columns have
    the barcodes.
    """
    folder = file_name(path)
    opened = files.open(str(_there(folder, "matrix.mtx")), **options)
    assert isinstance(opened, Matrix)
    genes = _lines(str(_there(folder, "features.tsv", "genes.tsv")))
    often = Counter(fields[min(1, len(fields) - 1)] for fields in genes)
    symbols = [
        fields[1] if len(fields) > 1 and often[fields[1]] == 1 else fields[0] for fields in genes
    ]
    barcodes = [fields[0] for fields in _lines(str(_there(folder, "barcodes.tsv")))]
    if opened.shape != (len(symbols), len(barcodes)):
        raise InvalidArgumentError(
            f"{folder}: the matrix has {opened.shape[0]} rows and {opened.shape[1]} columns, but "
            f"there are {len(symbols)} features and {len(barcodes)} barcodes"
        )
    opened._given_names = {
        "row": Names(_core.Names(symbols), "row"),
        "column": Names(_core.Names(barcodes), "column"),
    }
    return opened
