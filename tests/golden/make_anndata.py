#!/usr/bin/env python3
"""Wrote the files in anndata/, each with the version of anndata that it is called after; gzip -9 then.

usage: make_anndata.py FILE"""

import sys

import anndata
import numpy as np
import pandas as pd
import scipy.sparse as sp

version = tuple(int(part) for part in anndata.__version__.split(".")[:2])
rng = np.random.RandomState(1)
x = sp.random(20, 6, density=0.3, format="csr", random_state=1, dtype=np.float32)
obs = pd.DataFrame(
    {
        "cell_type": pd.Categorical(["B", "T", None, "NK"] * 5),
        "ordered": pd.Categorical(["lo", "hi"] * 10, categories=["lo", "hi", "none"], ordered=True),
        "n": np.arange(20),
        "score": rng.rand(20).astype("f4"),
        "flag": np.arange(20) % 3 == 0,
        "note": ["n%d" % (i % 5) for i in range(20)],
    },
    index=["cell%d" % i for i in range(20)],
)
if version >= (0, 9):
    obs["some"] = pd.array([None if i % 7 == 0 else i for i in range(20)], dtype="Int64")
    obs["maybe"] = pd.array([None if i % 3 == 0 else True for i in range(20)], dtype="boolean")
var = pd.DataFrame({"long": rng.rand(6)}, index=["gene%d" % i for i in range(6)])
a = anndata.AnnData(x, obs=obs, var=var)
a.layers["counts"] = sp.csc_matrix(x)
a.layers["dense"] = x.toarray()
a.obsm["X_pca"] = rng.rand(20, 3).astype("f4")
a.obsm["table"] = pd.DataFrame({"q": np.arange(20)}, index=obs.index)
a.varm["PCs"] = rng.rand(6, 3)
a.obsp["near"] = sp.random(20, 20, density=0.1, format="csr", random_state=2)
a.uns["how"] = {"k": 3, "names": np.array(["a", "b"]), "nested": {"x": np.arange(3.0)}, "text": "t"}
a.raw = a
a = a[:, :5].copy()
if version >= (0, 12):
    anndata.settings.allow_write_nullable_strings = True
    a.obs["string"] = pd.array([None if i % 5 == 0 else "s%d" % i for i in range(20)], dtype="string")
a.write_h5ad(sys.argv[1], compression="gzip")
