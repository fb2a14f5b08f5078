#!/usr/bin/env python3
"""HDF5 files as h5py and anndata write them, read by dapple.

    hdf5.py DAPPLE

Each file is converted to .npy, and the cells compared; a part that lacks its module is skipped."""

import json
import pathlib
import random
import subprocess
import sys
import tempfile

from archives import (DAPPLE, TYPES, cells, copy_by_column, dapple, matrices, np, refusal,
                      run, sparse)
from checks import Skip, run_checks

try:
    import h5py
except ImportError:
    h5py = None


def info(path, *flags):
    return json.loads(dapple("info", "--json", path, *flags))


def detail(path, title, *flags):
    return next(d["text"] for d in info(path, *flags)["details"] if d["title"] == title)


def hdf5():
    if h5py is None:
        raise Skip("h5py")
    with tempfile.TemporaryDirectory() as folder:
        probe = pathlib.Path(folder) / "probe.h5"
        with h5py.File(probe, "w") as f:
            f["X"] = [1]
        stderr = run("info", probe).stderr
        if "built without" in stderr or "cannot be loaded" in stderr:
            raise Skip("HDF5")


def write_group(parent, name, matrix, old=False, **options):
    """A sparse matrix as anndata writes it, or as its first versions did."""
    group = parent.create_group(name)
    kind = matrix.format
    if old:
        group.attrs["h5sparse_format"] = kind
        group.attrs["h5sparse_shape"] = matrix.shape
    else:
        group.attrs["encoding-type"] = kind + "_matrix"
        group.attrs["encoding-version"] = "0.1.0"
        group.attrs["shape"] = matrix.shape
    for part in ("data", "indices", "indptr"):
        group.create_dataset(part, data=getattr(matrix, part), **options)


def check_hdf5_data_sets(folder):
    hdf5()
    path = folder / "d.h5"
    layouts = [{}, {"chunks": (7, 4)}, {"chunks": True, "compression": "gzip"},
               {"chunks": (50, 10), "compression": "gzip", "shuffle": True, "fletcher32": True},
               {"chunks": (1, 1)}]
    for number, kind in enumerate(TYPES):
        for order in "<>":
            array = (np.arange(101 * 37).reshape(101, 37) % 120).astype(order + kind)
            options = layouts[number % len(layouts)] if order == "<" else layouts[-number % 5]
            with h5py.File(path, "w", libver="latest" if number % 2 else "earliest") as f:
                f.create_dataset("values", data=array, **options)
            out = cells(path)
            assert out.dtype == np.dtype(kind) and (out == array).all(), (kind, order, options)
            part = dapple("get", path, "--rows", "90:93", "--cols", "5:7")
            assert part.split() == [f"{a:g},{b:g}" for a, b in array[90:93, 5:7]], part


def check_hdf5_chunks_in_parts(folder):
    """Reads that begin and end inside of compressed chunks, by several threads."""
    hdf5()
    path = folder / "g.h5"
    array = np.arange(3000 * 40, dtype="f8").reshape(3000, 40)
    with h5py.File(path, "w") as f:
        f.create_dataset("X", data=array, chunks=(700, 16), compression="gzip", shuffle=True)
    for threads in 1, 4:
        dapple("convert", path, folder / "g.npy", "--force", "--threads", threads)
        assert (np.load(folder / "g.npy") == array).all()
    part = dapple("get", path, "--rows", "690:710", "--cols", "15:17").split()
    assert part == [f"{a:g},{b:g}" for a, b in array[690:710, 15:17]], part


def check_hdf5_of_other_shapes(folder):
    hdf5()
    path = folder / "d.hdf5"
    half = np.arange(12).reshape(3, 4).astype("f2") / 2
    cases = [(half, half.astype("f4")), (np.arange(5.0), np.arange(5.0)[:, None]),
             (np.zeros((0, 4)), np.zeros((0, 4))),
             (np.array([[True, False]]), np.array([[1, 0]], "u1"))]
    for array, wanted in cases:
        with h5py.File(path, "w", userblock_size=512) as f:
            f["a/b/values"] = array
            f["text"] = "not a number"
        out = cells(path)
        assert out.dtype == wanted.dtype and out.shape == wanted.shape and (out == wanted).all()
    with h5py.File(path, "w") as f:
        f.create_dataset("never written", (30, 20), "f4", chunks=(10, 10), fillvalue=2.5)
    assert (cells(path) == 2.5).all()
    with h5py.File(path, "w") as f:
        f["cube"] = np.zeros((2, 2, 2))
    assert "no matrices" in refusal(path)
    assert "3 dimensions" in refusal(path, "--array", "cube")


def check_hdf5_in_place(folder):
    hdf5()
    path = folder / "p.h5"
    array = np.arange(5000.0).reshape(100, 50)
    with h5py.File(path, "w", userblock_size=1024) as f:
        offset = f.create_dataset("X", data=array)
        offset = f["X"].id.get_offset()
    blocks = dapple("blocks", path).split()
    assert str(offset) in blocks or str(offset + 1024) in blocks, (blocks, offset)
    at = path.read_bytes().index(array.tobytes())
    assert str(at) in blocks, (at, blocks)


def check_hdf5_info(folder):
    hdf5()
    path = folder / "i.h5"
    with h5py.File(path, "w") as f:
        f.create_dataset("layers/counts", data=np.zeros((100, 50)), chunks=(10, 50),
                         compression="gzip", compression_opts=3, shuffle=True)
    assert detail(path, "data set") == "layers/counts"
    assert detail(path, "chunks") == "10 x 50"
    assert detail(path, "compression") == "shuffle, gzip 3"


def check_hdf5_choice(folder):
    hdf5()
    path = folder / "c.h5"
    with h5py.File(path, "w") as f:
        f["a"], f["b/c"], f["d"] = np.ones((2, 2)), np.zeros((3, 1)), np.arange(3)
    text = refusal(path)
    assert "3 arrays: a, b/c, d" in text and "--array" in text, text
    assert "no array 'e'" in refusal(path, "--array", "e")
    assert "neither" in refusal(path, "--array", "b")
    assert cells(path, "--array", "/b/c").shape == (3, 1)
    with h5py.File(path, "a") as f:
        f["X"] = f["d"]
    assert (cells(path)[:, 0] == [0, 1, 2]).all()
    (folder / "t.csv").write_text("1,2\n")
    assert "--array is for collections, npz, hdf5 and zarr files, not csv" in dapple(
        "info", "--array", "a", folder / "t.csv", status=2)


def check_hdf5_copy_by_column(folder):
    hdf5()
    x = np.random.default_rng(8).integers(0, 9, (700, 30)).astype("f8")
    with h5py.File(folder / "c.h5", "w") as f:
        f.create_dataset("x", data=x, chunks=(64, 7))
        f.create_dataset("y", data=x + 1)
    copy_by_column(folder / "c.h5", x, x + 1)


def check_hdf5_of_cell_ranger(folder):
    """10x Genomics: features in rows, barcodes in columns, column after column."""
    hdf5()
    if sparse is None:
        raise Skip("SciPy")
    path = folder / "filtered_feature_bc_matrix.h5"
    matrix = sparse.random(50, 7, 0.2, "csc", random_state=1, dtype="f8")
    matrix.data = np.arange(1, len(matrix.data) + 1, dtype="i4")
    barcodes = [f"AAACCCA{k}-1" for k in range(7)]
    with h5py.File(path, "w") as f:
        group = f.create_group("matrix")
        group["barcodes"] = np.array(barcodes, "S18")
        for part, kind in ("data", "i4"), ("indices", "i8"), ("indptr", "i8"):
            group.create_dataset(part, data=getattr(matrix, part).astype(kind), compression="gzip")
        group["shape"] = np.array(matrix.shape, "i4")
        features = group.create_group("features")
        features["id"] = np.array([f"ENSG{k:011}" for k in range(50)], "S15")
        features["name"] = np.array([f"gene{k}" for k in range(50)], "S16")
    assert (cells(path) == matrix.toarray()).all()
    assert detail(path, "group") == "matrix"
    assert dapple("get", path, "--rows", "0:1").split()[0] == ",".join(barcodes)
    with h5py.File(path, "a") as f:
        del f["matrix/shape"]
        f["matrix/shape"] = np.array([50, 8], "i4")
    assert "do not fit" in refusal(path)


def check_hdf5_of_anndata(folder):
    hdf5()
    if sparse is None:
        raise Skip("SciPy")
    path = folder / "a.h5ad"
    for number, matrix in enumerate(matrices()):
        dense = matrix.toarray()
        if dense.dtype == bool:
            dense = dense.astype("u1")
        for kind in ("csr", "csc"):
            for options in ({}, {"compression": "gzip"}, {"chunks": (13,)}):
                if matrix.nnz < 13 and options:
                    continue
                with h5py.File(path, "w") as f:
                    write_group(f, "X", matrix.asformat(kind), number % 2 == 1, **options)
                    write_group(f, "layers/other", matrix.asformat(kind)[:1])
                    f["obs/n"] = np.arange(200)
                out = cells(path)
                assert out.shape == dense.shape and (out == dense).all(), (kind, options)
                assert (cells(path, "--array", "layers/other") == dense[:1]).all()
                assert detail(path, "encoding") == kind + "_matrix"
    with h5py.File(path, "w") as f:
        f.create_dataset("X", data=dense).attrs["encoding-type"] = "array"
    assert (cells(path) == dense).all()


def check_hdf5_tables_of_anndata(folder):
    hdf5()
    path = folder / "t.h5ad"
    with h5py.File(path, "w") as f:
        f["X"] = np.eye(3)
        table = f.create_group("obs")
        table.attrs.update({"encoding-type": "dataframe", "_index": "id"})
        table.attrs["column-order"] = np.array(["fixed", "kind", "n"], object)
        table["id"] = ["a", "b", "c"]
        table["fixed"] = np.array([b"xy", b"", b"xyz"], "S3")
        table["kind/codes"] = np.array([1, -1, 0], "i1")
        table["kind/categories"] = np.array([10, 20], "i2")
        table["kind"].attrs["encoding-type"] = "categorical"
        table["n/values"] = np.array([7, 8, 9], "u8")
        table["n/mask"] = np.array([False, True, False])
        table["n"].attrs["encoding-type"] = "nullable-integer"
    assert set(info(path)["arrays"]) == {"X", "obs"}
    first, last = 'id,fixed,kind,n\n', 'c,xyz,"10",9\n'
    assert dapple("get", path, "--array", "obs") == first + 'a,xy,"20",7\nb,"",,\n' + last
    assert dapple("get", path, "--array", "obs", "--where", "kind == '10'") == first + last
    with h5py.File(path, "a") as f:
        del f["obs/n/mask"]
    assert "obs/n/mask cannot be opened" in refusal(path, "--array", "obs")
    with h5py.File(path, "a") as f:
        f["obs/n/mask"] = h5py.ExternalLink("secret.h5", "/X")
    assert "obs/n/mask cannot be opened" in refusal(path, "--array", "obs")


def check_hdf5_from_a_pipe_and_compressed(folder):
    hdf5()
    path = folder / "p.h5"
    with h5py.File(path, "w") as f:
        f["X"] = np.arange(6).reshape(2, 3)
    subprocess.run(["gzip", "-k", path], check=True)
    assert (cells(folder / "p.h5.gz") == np.arange(6).reshape(2, 3)).all()
    piped = subprocess.run([DAPPLE, "get", "-"], stdin=open(path, "rb"), capture_output=True,
                           text=True)
    assert piped.stdout == "0,1,2\n3,4,5\n", piped


def check_hdf5_stays_in_its_file(folder):
    hdf5()
    secret = folder / "secret.h5"
    with h5py.File(secret, "w") as f:
        f["X"] = np.full((2, 2), 42.0)
    raw = folder / "raw.bin"
    raw.write_bytes(np.full((2, 2), 42.0).tobytes())
    path = folder / "l.h5"
    with h5py.File(path, "w") as f:
        f["X"] = h5py.ExternalLink("secret.h5", "/X")
    assert "no matrices" in refusal(path)
    assert "42" not in refusal(path, "--array", "X").replace(str(folder), "")
    with h5py.File(path, "a") as f:
        f["soft"] = h5py.SoftLink("/X")
        f["own"] = np.ones((1, 1))
    assert "no array" in refusal(path, "--array", "soft")
    assert cells(path)[0, 0] == 1
    with h5py.File(path, "w") as f:
        f.create_dataset("X", (2, 2), "f8", external=[(str(raw), 0, 32)])
    assert "other files" in refusal(path)
    with h5py.File(path, "w") as f:
        layout = h5py.VirtualLayout((2, 2), "f8")
        layout[:] = h5py.VirtualSource(str(secret), "X", (2, 2))
        f.create_virtual_dataset("X", layout)
    assert "other files" in refusal(path, "--array", "X")


def check_hdf5_filter_that_is_missing(folder):
    hdf5()
    path = folder / "z.h5"
    with h5py.File(path, "w") as f:
        f.create_dataset("X", data=np.zeros((100, 100)), compression="lzf")
    assert "lzf, which the HDF5 library lacks" in refusal(path)


def check_hdf5_damage(folder):
    hdf5()
    if sparse is None:
        raise Skip("SciPy")
    path, bad = folder / "g.h5ad", folder / "bad.h5ad"
    with h5py.File(path, "w") as f:
        write_group(f, "X", sparse.random(30, 20, 0.3, "csr", random_state=1), compression="gzip")
        f.create_dataset("dense", data=np.arange(600.0).reshape(30, 20), chunks=(9, 9),
                         compression="gzip")
    whole = path.read_bytes()
    for size in [*range(8, 200, 37), *range(200, len(whole), 977)]:
        bad.write_bytes(whole[:size])
        done = run("verify", "--payload", bad, "--from", "hdf5")
        assert done.returncode == 1 and "HDF5-DIAG" not in done.stderr, (size, done)
    rng = random.Random(5)
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(3):
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        bad.write_bytes(damaged)
        for name in ("X", "dense"):
            done = run("verify", "--payload", bad, "--array", name)
            assert done.returncode in (0, 1, 2) and "HDF5-DIAG" not in done.stderr, done


if __name__ == "__main__":
    sys.exit(run_checks(globals()))
