"""Random annotated data through every way there is: what comes back is what anndata itself gives."""

import os

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import pydapple as dp

anndata = pytest.importorskip("anndata")
pytest.importorskip("h5py")
pytest.importorskip("dask.array")

from annotated_same import require_same  # noqa: E402

SEEDS = range(int(os.environ.get("DAPPLE_SEEDS", "12")))
NUMBERS = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]


class Maker:
    """Annotated data with anything in any place that anndata can write."""

    def __init__(self, seed, only_ours=False):
        self.rng, self.only_ours = np.random.default_rng(seed), only_ours
        self.n, self.m = (int(x) for x in self.rng.choice([0, 1, 2, 7, 40, 90], 2, p=[0.08, 0.1, 0.1, 0.22, 0.3, 0.2]))

    def chance(self, p=0.5):
        return self.rng.random() < p

    def one(self, *some):
        return some[int(self.rng.integers(len(some)))]

    def array(self, shape, dtype=None):
        dtype = np.dtype(dtype or self.one(*NUMBERS))
        if dtype.kind == "f":
            cells = self.rng.normal(size=shape) * 10
            cells[self.rng.random(shape) < 0.1] = self.one(np.nan, np.inf, -0.0, 0)
            return cells.astype(dtype)
        low, high = (0, 2) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        kind = "i8" if dtype.kind == "b" else dtype
        return self.rng.integers(low, high, shape, kind, endpoint=dtype.kind != "b").astype(dtype)

    def sparse(self, rows, cols, forms=("csr_matrix", "csc_matrix", "csr_array", "csc_array")):
        cells = self.array((rows, cols), self.one("f4", "f8", "i4", "i8", "u1", "?"))
        cells[self.rng.random((rows, cols)) > self.one(0, 0.1, 0.5)] = 0
        return getattr(sp, self.one(*forms))(cells)

    def matrix(self, rows, cols):
        return self.sparse(rows, cols) if self.chance() else self.array((rows, cols))

    def words(self, count):
        known = ["", "a", "B cell", "\u00e9\u4e2d", "x/y", "nan", "NA", "1", "True", "w" * 300]
        return np.array([self.one(*known) for _ in range(count)], object)

    def mask(self, count):
        return self.rng.random(count) < self.one(0, 0.3, 1)

    def column(self, n):
        kind = self.one("number", "number", "words", "category", "category", "numbers", "truths", "masked", "truth", "string")
        if kind == "number":
            return self.array(n)
        if kind == "words":
            return self.words(n)
        if kind == "masked":
            dtype = self.one("Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64")
            cells = self.array(n, dtype.lower())
            if dtype.endswith("64"):
                cells //= 2  # so that none is the mark of a frame
            return pd.array(cells, dtype=dtype) if n == 0 else pd.arrays.IntegerArray(cells, self.mask(n))
        if kind == "truth":
            return pd.arrays.BooleanArray(self.array(n, "?"), self.mask(n))
        if kind == "string":
            made = pd.array(self.words(n), dtype="string")
            made[self.mask(n)] = pd.NA
            return made
        known = {"category": ["b", "", "a", "\u00e9", "unused"], "numbers": [3, -1, 20, 7, 0], "truths": [True, False]}[kind]
        if kind == "numbers" and self.chance():
            known = [x / 7 for x in known]
        codes = self.rng.integers(-1 if self.chance() else 0, len(known), n)
        return pd.Categorical.from_codes(codes, known, ordered=self.chance())

    def table(self, n, index=None):
        names = ["a", "b c", "\u00e9", "0", "x.dbdf", "n_genes", "%", "_y"]
        picked = self.rng.permutation(names)[: int(self.rng.integers(0, 7))]
        made = pd.DataFrame({name: self.column(n) for name in picked}, index=self.index(n) if index is None else index)
        return made

    def index(self, n):
        words = [f"cell{k}" for k in range(n)]
        if self.chance(0.2):
            words = [f"cell{k // 2}" for k in range(n)]  # twice
        if self.chance(0.1):
            words = [str(k) for k in range(n)]
        name = self.one(None, None, "barcode", "index", "_index")
        return pd.Index(words, dtype=object, name=None if name == "_index" else name)

    def unstructured(self, depth=0):
        one = self.one("int", "float", "text", "truth", "numpy", "array", "words", "sparse", "table", "dict", "records", "category", "empty", "masked", "scalar")
        size = int(self.rng.integers(0, 5))
        if one == "dict" and depth < 3:
            return {f"{k}": self.unstructured(depth + 1) for k in self.rng.permutation(["k", "\u00e9", "a b", "$x", "0"])[: size]}
        return {
            "int": lambda: int(self.rng.integers(-(2**60), 2**60)), "float": lambda: float(self.array(1, "f8")[0]), "text": lambda: str(self.words(1)[0]),
            "truth": lambda: bool(self.chance()), "numpy": lambda: self.array(1)[0], "array": lambda: self.array(tuple(self.rng.integers(0, 4, int(self.rng.integers(1, 4))))),
            "words": lambda: self.words(size), "sparse": lambda: self.sparse(size, 3), "table": lambda: self.table(size), "dict": dict, "empty": dict,
            "records": lambda: np.rec.fromarrays([self.words(size).astype("U400").astype(object), self.array(size, "f4"), self.array(size, "i8")], dtype=[("names", "O"), ("scores", "f4"), ("n", "i8")]),
            "category": lambda: pd.Categorical(["a", None, "b"][:size]), "masked": lambda: pd.array([1, None, 3][:size], dtype="Int64"),
            "scalar": lambda: self.one(np.float32(0.1), np.int8(-3), np.bool_(True), np.array(3.5)),
        }[one]()  # fmt: skip

    def beside(self, size, index):
        wide = int(self.rng.integers(0, 5))
        some = [lambda: self.array((size, wide)), lambda: self.sparse(size, wide), lambda: self.table(size, index), lambda: self.array((size, 2, 2))]
        return self.one(*some)()

    def adata(self):
        n, m = self.n, self.m
        obs, var = self.table(n), self.table(m)
        made = anndata.AnnData(self.matrix(n, m) if self.chance(0.85) else None, obs=obs, var=var)
        for name in ("counts", "\u00e9", "a b", "x.json")[: int(self.rng.integers(0, 4))]:
            made.layers[name] = self.matrix(n, m)
        for part, size, index in (("obsm", n, obs.index), ("varm", m, var.index)):
            for name in ("X_pca", "other", "%")[: int(self.rng.integers(0, 4))]:
                getattr(made, part)[name] = self.beside(size, index)
            if self.chance(0.6):
                getattr(made, part[:3] + "p")["near"] = self.matrix(size, size)
        made.uns.update({f"u{k}": self.unstructured() for k in range(int(self.rng.integers(0, 7)))})
        if self.chance(0.3) and made.X is not None:
            wide = int(self.rng.integers(0, 9))
            raw = anndata.AnnData(self.matrix(n, wide), obs=obs[[]], var=self.table(wide))
            if self.chance():
                raw.varm["pcs"] = self.array((wide, 2))
            made.raw = raw
        return made


def lazily(adata):
    """Whether each matrix is a Dask array."""
    return [x for x in (adata.X, *(v for k, v in adata.layers.items() if k)) if x is not None and not hasattr(x, "dask")]


@pytest.fixture(scope="module", params=["h5ad", "h5ad gzip", "zarr 2", "zarr 3", "zarr 3 sharded"])
def write(request):
    kind, version, *shards = (request.param + " 0").split()
    if kind == "h5ad":
        return lambda adata, path: adata.write_h5ad(path, compression="gzip" if version == "gzip" else None)
    pytest.importorskip("zarr", minversion="3.0")

    def write_zarr(adata, path):
        with anndata.settings.override(zarr_write_format=int(version), auto_shard_zarr_v3="sharded" in shards):
            adata.write_zarr(path)

    return write_zarr


@pytest.mark.parametrize("seed", SEEDS)
def test_files_of_anndata_come_back(tmp_path, write, seed):
    with anndata.settings.override(allow_write_nullable_strings=True):
        write(Maker(seed).adata(), tmp_path / "a")
    path = tmp_path / "a"
    wanted = anndata.read_zarr(path) if path.is_dir() else anndata.read_h5ad(path)
    got = dp.read_anndata(path)
    assert lazily(got) == []
    require_same(got.to_memory(), wanted)
    dp.write_anndata(tmp_path / "b.dds", got)  # what is lazy
    require_same(dp.read_anndata(tmp_path / "b.dds").to_memory(), wanted)
    if wanted.n_obs:
        rows = np.random.default_rng(seed).integers(0, wanted.n_obs, 5)
        require_same(dp.read_anndata(path)[rows].to_memory(), wanted[rows].copy())
    for name in ("obs", "var"):
        require_table(path, name, getattr(wanted, name))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_in_memory_comes_back(tmp_path, seed):
    wanted = Maker(1000 + seed).adata()
    ending = (".dds", ".zip")[seed % 2]
    dp.write_anndata(tmp_path / f"a{ending}", wanted, **({"pack": "fast"} if seed % 3 == 0 else {}))
    require_same(dp.read_anndata(tmp_path / f"a{ending}").to_memory(), wanted)


def require_table(path, name, wanted):
    """What `dapple.open` makes of a table is what anndata makes of it; categories are words there."""
    frame = dp.open(path, array=name)
    assert frame.note == "" and len(frame) == len(wanted)
    assert frame.columns[1:] == tuple(wanted.columns)
    assert list(frame[frame.columns[0]]) == list(wanted.index)
    for label in wanted.columns:
        column, cells = wanted[label], frame[label]
        missing = column.isna().to_numpy() if not isinstance(column.dtype, np.dtype) else np.zeros(len(column), bool)
        if isinstance(column.dtype, pd.CategoricalDtype):
            assert frame.meanings[label].kind == "category" and frame.meanings[label].ordered == column.cat.ordered
            kind = column.cat.categories.dtype.kind
            known = [one.lower() if kind == "b" else one for one in frame.meanings[label].words.tolist()]
            theirs = column.cat.categories
            assert [one == "true" if kind == "b" else float(one) if kind in "if" else one for one in known] == list(theirs)
            codes = [None if code < 0 else known[code] for code in column.cat.codes]
            assert list(cells) == codes
            continue
        assert np.array_equal(np.ma.getmaskarray(cells) if cells.dtype != object else [one is None for one in cells], missing)
        for ours, theirs, gone in zip(cells, column, missing, strict=True):
            assert gone or ours == theirs or (ours != ours and theirs != theirs), (label, ours, theirs)
