"""Handles travel as path and options; a file that changed is noticed."""

import copy
import json
import os
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest
from conftest import cells

import pydapple as dp


def test_a_pickle_is_small_whatever_the_size(make):
    a = cells((500, 400), "f8")
    m = make(a, tile=(16, 16))
    data = pickle.dumps(m)
    assert len(data) < 1000
    assert np.array_equal(pickle.loads(data)[:], a)


def test_a_pickle_finds_its_file_when_the_process_has_moved(tmp_path, monkeypatch):
    a = cells((5, 4), "f8")
    dp.write(tmp_path / "here.dbdf", a, sync=False)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path)
    m = dp.open("here.dbdf")
    monkeypatch.chdir(tmp_path / "below")
    assert m.path == "here.dbdf" and np.array_equal(pickle.loads(pickle.dumps(m))[:], a)


def test_options_travel_too(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1;2\n3;4\n")
    m = dp.open(path, csv={"delimiter": ";", "header": False}, guard=True, check="first_touch",
                threads=2)  # fmt: skip
    again = pickle.loads(pickle.dumps(m))
    assert again.shape == m.shape and again._options == m._options


def test_a_changed_file_is_stale(make):
    m = make(cells((50, 40), "f8"))
    data = pickle.dumps(m)
    dp.write(m.path, np.ones((2, 2)), overwrite=True, sync=False)
    assert m.shape == (50, 40)  # what is open stays
    with pytest.raises(dp.StaleError):
        pickle.loads(data)
    with pytest.raises(dp.StaleError):
        pickle.dumps(m)
    os.unlink(m.path)
    with pytest.raises(FileNotFoundError):
        pickle.loads(data)


def test_a_file_of_the_same_size_and_time_is_another_one(make):
    m = make(np.full((30, 30), 2.5), "m.dbdf", narrow=False)
    other = make(np.full((30, 30), 3.5), "o.dbdf", narrow=False)
    size, times = os.stat(m.path).st_size, (os.stat(m.path).st_atime_ns, os.stat(m.path).st_mtime_ns)
    assert os.stat(other.path).st_size == size
    os.utime(other.path, ns=times)
    data = pickle.dumps(m)
    os.replace(other.path, m.path)
    with pytest.raises(dp.StaleError):
        pickle.loads(data)
    with pytest.raises(dp.StaleError):
        pickle.dumps(m)


def test_a_copy_elsewhere_is_the_same_file(make, tmp_path):
    m = make(cells((50, 40), "f8"))
    data = pickle.dumps(m)
    shutil.copy2(m.path, tmp_path / "copy.dbdf")
    os.replace(tmp_path / "copy.dbdf", m.path)  # as on another machine: another inode
    assert np.array_equal(pickle.loads(data)[:], m[:])


def test_a_pickle_of_a_file_that_is_gone_is_an_error_of_dapple(make):
    m = make(np.eye(3))
    os.unlink(m.path)
    with pytest.raises(FileNotFoundError) as caught:
        pickle.dumps(m)
    assert isinstance(caught.value, dp.Error) and caught.value.file == os.path.abspath(m.path)


def test_another_process_opens_the_same_file(make, tmp_path):
    a = cells((50, 40), "f8")
    m = make(a)
    (tmp_path / "p").write_bytes(pickle.dumps((m, m.path)))
    code = "import pickle; m, _ = pickle.load(open('p', 'rb')); print(m[:].sum())"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert float(run.stdout) == a.sum()


def test_frames_travel(tmp_path):
    dp.write(tmp_path / "f.dbdf", {"a": np.arange(9.0)}, sync=False)
    f = pickle.loads(pickle.dumps(dp.open(tmp_path / "f.dbdf")))
    assert f.columns == ("a",) and f["a", 8] == 8


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_names_and_attributes_travel(make, again):
    m = make(np.eye(3), row_names=["a", "", "c"], attrs={"unit": "K", "more": [1, {"x": None}]})
    names = again(m.row_names)
    assert list(names) == ["a", "", "c"] and names.find("c") == 2 and repr(names) == repr(m.row_names)
    attrs = again(m.attrs)
    assert attrs == m.attrs and json.loads(json.dumps(attrs)) == {"unit": "K", "more": [1, {"x": None}]}
    with pytest.raises(dp.TypeMismatchError, match="dict"):
        attrs["unit"] = "C"
    with pytest.raises(dp.TypeMismatchError, match="dict"):
        attrs.update(unit="C")
    assert dict(attrs) == m.attrs
