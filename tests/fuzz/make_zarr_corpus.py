#!/usr/bin/env python3
"""Writes the corpus of the fuzz target for Zarr: metadata and a chunk or shard of the arrays in
tests/golden/zarr.

usage: make_zarr_corpus.py  (writes beside itself)"""

import pathlib

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parent / "golden/zarr"

corpus = HERE / "corpus/zarr"
corpus.mkdir(parents=True, exist_ok=True)
for name in ("v3.zarr", "v2.zarr"):
    for array in sorted(path for path in (GOLDEN / name).iterdir() if path.is_dir()):
        version2 = (array / ".zarray").exists()
        metadata = (array / (".zarray" if version2 else "zarr.json")).read_bytes()
        chunk = (array / ("0.0" if version2 else "c/0/0")).read_bytes()
        (corpus / f"{name[:2]}_{array.name}").write_bytes(metadata + b"\0" + chunk)
words = GOLDEN / "cells.zarr/obs/_index"
(corpus / "words").write_bytes((words / "zarr.json").read_bytes() + b"\0" + (words / "c/0").read_bytes())
