#!/usr/bin/env python3
"""Wrote the hierarchies in zarr/, with zarr-python 3.1 and anndata 0.12.

usage: make_zarr.py FOLDER      writes v3.zarr, v2.zarr and cells.zarr

Cell (i, j) of an array is 100 i + j, of `partial` only in its first five rows; the cells of cells.zarr are
in the test that reads it."""

import pathlib
import sys

import anndata
import numcodecs
import numpy as np
import pandas as pd
import scipy.sparse as sp
import zarr
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, TransposeCodec, ZstdCodec

out = pathlib.Path(sys.argv[1])
cells = np.add.outer(100 * np.arange(13), np.arange(9))
chunks = {"shape": cells.shape, "chunks": (5, 4)}

group = zarr.create_group(out / "v3.zarr")
arrays = {
    "big": {"dtype": "i4", "serializer": BytesCodec(endian="big"), "compressors": None},
    "turned": {"dtype": "u2", "filters": [TransposeCodec(order=(1, 0))], "compressors": ZstdCodec(level=3)},
    "half": {"dtype": "f2", "compressors": BloscCodec(cname="zstd", shuffle="bitshuffle")},
    "gzip": {"dtype": "i8", "compressors": [GzipCodec(level=9), Crc32cCodec()]},
    "sharded": {"dtype": "f8", "shards": (10, 8), "compressors": ZstdCodec(level=1)},
}
for name, options in arrays.items():
    group.create_array(name, **chunks, **options, dimension_names=("y", "x"), attributes={"of": name})[:] = cells
group.create_array("partial", **chunks, dtype="i2", fill_value=-1)[:5] = cells[:5]
zarr.consolidate_metadata(out / "v3.zarr")

group = zarr.create_group(out / "v2.zarr", zarr_format=2)
for name, dtype, order, codec in (("blosc", "<f4", "C", numcodecs.Blosc(cname="lz4")),
                                  ("zlib", ">i4", "F", numcodecs.Zlib(level=5)), ("plain", "|u1", "C", None)):
    wanted = (cells % 256 if dtype == "|u1" else cells).astype(dtype)
    group.create_array(name, **chunks, dtype=wanted.dtype, compressors=codec, order=order)[:] = wanted

anndata.settings.zarr_write_format = 3
x = sp.csr_matrix(np.array([[0, 7, 0, 1], [0, 0, 0, 0], [5, 0, 0, 2]], "f4"))
obs = pd.DataFrame({"kind": pd.Categorical(["b", None, "a"]), "size": [3, 1, 2], "odd": [True, False, True],
                    "name": ["x", "y", "x"]}, index=["c0", "c1", "c2"])
anndata.AnnData(x, obs=obs).write_zarr(out / "cells.zarr")
