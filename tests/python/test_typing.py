"""Types, stubs and style, as mypy and ruff see them."""

import ast
import importlib.util
import pathlib
import subprocess
import sys

import pytest

from pydapple import _core

ROOT = pathlib.Path(__file__).parents[2]


def run(*command):
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT / "apps/python", capture_output=True, text=True
    )


def needs(name):
    return pytest.mark.skipif(importlib.util.find_spec(name) is None, reason=f"no {name}")


@needs("ruff")
@pytest.mark.parametrize("folder", ["pydapple", "../../tests/python", "../examples/python"])
def test_ruff_has_nothing_to_say(folder):
    config = ["--config", str(ROOT / "apps/python/pyproject.toml")]
    extra = [] if folder == "pydapple" else ["--ignore", "D1,N,B018,RUF012,RUF059,PLW,SIM105,SIM115,E501,E721"]
    done = run("ruff", "check", "--no-cache", *config, *extra, folder)
    assert done.returncode == 0, done.stdout


@needs("mypy")
def test_mypy_is_strict_and_content(tmp_path):
    done = run("mypy", "--cache-dir", str(tmp_path), "pydapple")
    assert done.returncode == 0, done.stdout


def names_of(body):
    """Names that a stub defines: functions, classes and annotated or assigned names."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id, node


def test_the_stub_names_what_the_extension_has():
    # stubtest takes nanobind's functions for none, so names are compared, of the module and of its
    # classes.
    stub = dict(names_of(ast.parse((ROOT / "apps/python/pydapple/_core.pyi").read_text()).body))
    public = {name for name in vars(_core) if not name.startswith("_")}
    assert {name for name in stub if not name.startswith("_")} == public
    for name, node in stub.items():
        if isinstance(node, ast.ClassDef):
            for member, _ in names_of(node.body):
                if member == "__buffer__":  # has that name from Python 3.12 on
                    continue
                assert hasattr(getattr(_core, name), member), f"{name}.{member}"
