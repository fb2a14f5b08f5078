"""The command `dapple` of a wheel: files of Parquet and Arrow, which it hands to pydapple."""

import subprocess
import sys

import pandas as pd
import pytest

import pydapple as dp

MAIN = "from pydapple.command import main; main()"


def dapple(*arguments):
    command = [sys.executable, "-c", MAIN, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_convert_from_and_to_files_of_others(tmp_path, ending):
    table = pd.DataFrame({"n": [3, 1, 2], "kind": pd.Categorical(["a", "b", "a"]), "at": pd.to_datetime(["2026-01-01"] * 3)})
    given, ours, back = (tmp_path / name for name in (f"t.{ending}", "t.dbdf", f"back.{ending}"))
    (table.to_parquet if ending == "parquet" else table.to_feather)(given)
    assert dapple("convert", given, ours).returncode == 0
    pd.testing.assert_frame_equal(dp.open(ours).to_pandas(), table, check_dtype=False)
    done = dapple("convert", ours, back, "--column", "kind", "--column", "n")
    assert done.returncode == 0, done.stderr
    assert f"{back}: 3 x 2, frame" in done.stderr
    got = pd.read_parquet(back) if ending == "parquet" else pd.read_feather(back)
    pd.testing.assert_frame_equal(got, table[["kind", "n"]], check_dtype=False)


def test_what_cannot_be_converted_is_said_in_a_sentence(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no more")
    done = dapple("convert", tmp_path / "bad.parquet", tmp_path / "t.dbdf")
    assert done.returncode == 1 and "pydapple says: " in done.stderr and "Traceback" not in done.stderr
    dp.write(tmp_path / "m.dbdf", [[1.0, 2.0]])
    done = dapple("convert", tmp_path / "m.dbdf", tmp_path / "m.parquet")
    assert "Parquet and Arrow need a frame, and this is a matrix" in done.stderr
    assert not (tmp_path / "t.dbdf").exists() and not (tmp_path / "m.parquet").exists()
