"""Types, stubs and style, as mypy and ruff see them."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

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


@needs("mypy")
def test_the_stub_tells_what_the_extension_has(tmp_path):
    allowed = tmp_path / "allowed"
    # nanobind gives every class a constructor, and functions no signatures that could be compared.
    allowed.write_text("pydapple\\._core\\..*\\.__init__\npydapple\\._core\\..*\\.__new__\n")
    done = run(
        "mypy.stubtest", "pydapple._core", "--allowlist", str(allowed), "--ignore-unused-allowlist",
        "--mypy-config-file", "pyproject.toml",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
