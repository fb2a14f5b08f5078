"""Guarded files that are cut while they are read."""

import faulthandler
import os
import threading

import numpy as np
import pytest
from python_process import run

import pydapple as dp

GUARD = """
    import faulthandler, os, numpy as np
    import pydapple as dp
    dp.write("a.dbdf", np.random.default_rng(0).random((600, 600)), sync=False, overwrite=True)
    if {first}: faulthandler.enable()
    m = dp.open("a.dbdf", guard=True)
    if not {first}: faulthandler.enable()
    view = m.blocks[0].numpy(copy=False)
    m[0, 0]
    os.truncate("a.dbdf", 4096)
    try:
        m[:]
    except OSError as error:
        print("caught", isinstance(error, dp.Error))
    try:
        m.require_intact()
    except OSError:
        print("changed")
"""


@pytest.mark.parametrize("first", [True, False])
def test_a_guarded_file_that_is_cut_raises_beside_faulthandler(tmp_path, first):
    done = run(GUARD.format(first=first), tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["caught", "True", "changed"]
    # Installed last, faulthandler reports the fault before dapple sees it.
    assert ("Bus error" in done.stderr) == (not first)


def test_a_sidecar_of_words_that_is_cut_is_named(tmp_path):
    path, sidecar = tmp_path / "w.csv", tmp_path / "w.csv.dpx"
    path.write_text("w\n" + "".join(f"word{i}\n" for i in range(100000)))
    dp.index(path)
    f = dp.open(path, guard=True)
    os.truncate(sidecar, 4096)
    with pytest.raises(OSError, match=r"w\.csv\.dpx") as caught:
        f["w"]
    assert isinstance(caught.value, dp.SystemRefusedError)
    os.remove(sidecar)
    assert dp.open(path, guard=True)["w"][99999] == "word99999"


TWO_READERS = """
    import faulthandler, os, threading, numpy as np
    import pydapple as dp
    dp.write("a.dbdf", np.random.default_rng(0).random((2000, 2000)), sync=False, overwrite=True)
    faulthandler.enable()
    m = dp.open("a.dbdf", guard=True)
    reading, caught = threading.Barrier(3), []
    def read():
        out = np.empty(m.shape)
        m.read(out=out)
        reading.wait()
        try:
            while True: m.read(out=out, threads=2)
        except OSError as error:
            caught.append(isinstance(error, dp.Error))
    both = [threading.Thread(target=read) for _ in range(2)]
    for thread in both: thread.start()
    reading.wait()
    os.truncate("a.dbdf", 8192)
    for thread in both: thread.join()
    print(*caught)
"""


def test_two_readers_of_a_guarded_file_that_is_cut_both_raise(tmp_path):
    done = run(TWO_READERS, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "True"]


def test_two_readers_beside_the_faulthandler_of_pytest(tmp_path):
    if not faulthandler.is_enabled():
        pytest.skip("pytest runs without its faulthandler")
    dp.write(tmp_path / "a.dbdf", np.random.default_rng(0).random((1500, 1500)), sync=False)
    m = dp.open(tmp_path / "a.dbdf", guard=True)
    reading, caught = threading.Barrier(3), []

    def read(work):
        work()
        reading.wait()
        try:
            while True:
                work()
        except OSError as error:
            caught.append(isinstance(error, dp.Error))

    rows = np.arange(0, 1500, 7)
    readers = [threading.Thread(target=read, args=(w,)) for w in (m.read, lambda: m.take(rows))]
    for thread in readers:
        thread.start()
    reading.wait()
    os.truncate(m.path, 8192)
    for thread in readers:
        thread.join()
    assert caught == [True, True] and faulthandler.is_enabled()
