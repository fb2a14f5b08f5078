"""What `import pydapple` does not import: libraries that are slow to load, and wait until they are used."""

import subprocess
import sys

import numpy as np

import pydapple as dp

WAIT = {
    *("scipy", "pandas", "polars", "pyarrow", "dask", "distributed", "xarray", "zarr", "matplotlib", "anndata", "h5py"),
    *("torch", "fsspec", "obstore", "ray", "pyspark", "IPython", "tqdm"),
    *("asyncio", "bz2", "concurrent.futures", "difflib", "gzip", "hashlib", "lzma", "shutil", "ssl", "tempfile"),
    *("urllib.request", "zipfile"),
}


def imported_by(program):
    shown = f"import sys, numpy; before = set(sys.modules)\n{program}\nprint(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", shown], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def test_importing_pydapple_imports_little_besides_numpy(tmp_path):
    dp.write(tmp_path / "m.dbdf", np.eye(3))
    use = f"import pydapple\nwith pydapple.open({str(tmp_path / 'm.dbdf')!r}) as m: m[1:, :2]"
    for program in ("import pydapple", use):
        made = imported_by(program)
        assert "pydapple.matrix" in made
        assert not made & WAIT


def test_what_waits_is_seen_when_it_is_used(tmp_path):
    dp.write(tmp_path / "m.dbdf", np.eye(3))
    use = f"import pydapple\nwith pydapple.open({str(tmp_path / 'm.dbdf')!r}) as m: m.to_scipy()"
    assert "scipy" in imported_by(use) & WAIT
