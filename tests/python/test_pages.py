"""Pages for users are true: every line of Python in them is run."""

import pathlib

import pages
import pytest

HERE = pathlib.Path(__file__).parent
PAGES = [HERE / "acceptance.md", HERE.parents[1] / "apps/python/README.md",
         HERE.parents[1] / "README.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.parent.name)
def test_a_page_prints_what_it_says(page, tmp_path, monkeypatch):
    for needed in ("pandas", "polars", "pyarrow", "dask.array", "xarray", "sklearn"):
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    code = pages.blocks(page.read_text())
    assert code
    for part in code:
        expected, printed = pages.run(part, page.name)
        assert printed == expected
