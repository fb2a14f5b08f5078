"""Whether two objects of anndata, or what is in them, are the same: in values, types, labels and order."""

import anndata
import numpy as np
import pandas as pd
import scipy.sparse as sp


def require_same(got, wanted, where="adata"):
    if isinstance(wanted, anndata.AnnData):
        for part in ("obs", "var", "X", "layers", "obsm", "varm", "obsp", "varp", "uns"):
            require_same(getattr(got, part), getattr(wanted, part), part)
        assert (got.raw is None) == (wanted.raw is None)
        if wanted.raw is not None:
            for part in ("X", "var", "varm"):
                require_same(getattr(got.raw, part), getattr(wanted.raw, part), f"raw.{part}")
        return
    if hasattr(wanted, "keys") and not isinstance(wanted, (pd.DataFrame, pd.Series)):
        assert set(got) == set(wanted), where
        for key in wanted:
            require_same(got[key], wanted[key], f"{where}[{key!r}]")
        return
    # Or a view of one; a text of NumPy comes back as one of Python.
    assert isinstance(got, type(wanted)) or isinstance(wanted, np.str_), (where, type(got), type(wanted))
    if isinstance(wanted, pd.DataFrame):
        assert got.index.dtype == wanted.index.dtype, (where, got.index.dtype, wanted.index.dtype)
        pd.testing.assert_frame_equal(got, wanted, obj=where, check_exact=True, check_column_type=len(wanted.columns) > 0)
    elif isinstance(wanted, pd.api.extensions.ExtensionArray):
        pd.testing.assert_extension_array_equal(got, wanted, obj=where)
    elif sp.issparse(wanted):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape), where
        np.testing.assert_array_equal(got.toarray(), wanted.toarray(), where)
    elif isinstance(wanted, (np.ndarray, np.generic, float)):
        assert np.asarray(got).dtype == np.asarray(wanted).dtype and np.shape(got) == np.shape(wanted), where
        for field in np.asarray(wanted).dtype.names or [...]:
            np.testing.assert_array_equal(np.asarray(got)[field], np.asarray(wanted)[field], where)
    else:
        assert got == wanted, where
