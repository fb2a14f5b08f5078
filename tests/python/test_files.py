"""Whole files: described, converted, checked, repaired, indexed; and what goes wrong with them."""

import os
import pathlib
import pickle

import numpy as np
import pytest
from conftest import cells

import pydapple as dp


def test_info_tells_what_the_command_line_tells(make):
    a = cells((50, 40), "f8")
    path = make(a, tile=(16, 16)).path
    assert dp.info(path) | {"blocks": 0, "stored": 0, "bytes": 0} == {
        "format": "dbdf", "kind": "matrix", "storage": "dense", "rows": 50, "cols": 40,
        "value_type": "f64", "blocks": 0, "stored": 0, "bytes": 0, "index": "embedded",
        "grid": {"rows": 4, "cols": 3, "tile_rows": 16, "tile_cols": 16},
    }  # fmt: skip
    assert dp.info(path)["blocks"]["total"] == 12
    assert dp.info(path)["bytes"] == os.path.getsize(path)


def test_info_tells_what_only_some_files_have(there):
    corpus = pathlib.Path(__file__).parents[1] / "fuzz/corpus"
    path = corpus / "idv/others_v6_c0.idv"
    known = dp.info(path, idv={"drop_unsupported": True})
    with dp.open(path, idv={"drop_unsupported": True}) as f:
        assert known["note"] == f.note != "" and len(known["details"]) == len(f.details()) > 0
    assert known["details"][0] == {"title": "version", "text": "1.1.1.6, for readers of 1.1.1.6"}
    texts = dp.info(path)["text_columns"]
    assert texts and all(set(column) == {"label", "type"} for column in texts)
    columns = dp.info(there({"w": ["a", "b"], "n": [1, 2]}).path)
    assert columns["columns"][0] == {"label": "w", "value_type": "u8", "meaning": "text"}
    assert not {"note", "details", "text_columns", "values"} & columns.keys()


def test_formats_lists_what_can_be_opened():
    known = {one.name: one for one in dp.formats()}
    assert known["dbdf"].reads and known["dbdf"].writes and ".dbdf" in known["dbdf"].extensions
    assert {"npy", "csv", "mtx", "futhark", "idv", "btable", "daphne"} <= known.keys()


def test_every_format_goes_there_and_back(make, tmp_path):
    a = cells((60, 30), "f8")
    m = make(a, tile=(16, 16))
    for one in dp.formats():
        if not one.writes or not one.reads:
            continue
        path = tmp_path / f"out{one.extensions[0] if one.extensions else '.' + one.name}"
        dp.convert(m, path, to=one.name, sync=False)
        options = {"csv": {"header": False}} if one.name == "csv" else {}
        back = dp.open(path, format=one.name, **options)
        if isinstance(back, dp.Frame):
            got = np.stack(list(back.read().values()), axis=1)
        else:
            got = back[:]
            assert back.format == one.name
        assert np.array_equal(got, a), one.name


def test_short_floats_are_those_of_float32(make, tmp_path):
    m = make(np.array([[0.1, 2.5]], "f4"))
    for options, wanted in (({}, "0.10000000149011612,2.5\n"), ({"short_floats": True}, "0.1,2.5\n")):
        dp.convert(m, tmp_path / "a.csv", overwrite=True, sync=False, **options)
        assert (tmp_path / "a.csv").read_text() == wanted
    with pytest.raises(dp.InvalidArgumentError, match="short_floats"):
        dp.convert(m, tmp_path / "a.npz", short_floats=True)


def test_convert_takes_a_part(make, tmp_path):
    a = cells((60, 30), "f8", density=1)
    m = make(a)
    dp.convert(m.path, tmp_path / "p.npy", rows=(10, 20), cols=slice(3, 9), dtype="f4")
    got = np.load(tmp_path / "p.npy")
    assert got.dtype == np.float32 and np.array_equal(got, a[10:20, 3:9])
    dp.write(tmp_path / "f.dbdf", {"a": np.arange(5.0), "b": np.arange(5)}, sync=False)
    dp.convert(tmp_path / "f.dbdf", tmp_path / "g.dbdf", columns=["b", "a"], sync=False)
    assert dp.open(tmp_path / "g.dbdf").columns == ("b", "a")
    half = make(np.full((3, 3), 0.5))
    with pytest.raises(dp.TypeMismatchError):
        dp.convert(half, tmp_path / "i.npy", dtype="i4")
    with pytest.raises(ValueError):
        dp.convert(half, tmp_path / "p.npy")
    with pytest.raises(LookupError):
        dp.convert(tmp_path / "f.dbdf", tmp_path / "h.dbdf", columns=["z"])


def test_text_is_parsed_beside_the_file_that_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    text = tmp_path / "t.csv"
    text.write_text("n,x\n" + "".join(f"{i},{i % 97}.25\n" for i in range(50_000)))
    dp.convert(text, tmp_path / "t.dbdf")
    with dp.open(text, temporary=tmp_path) as parsed:
        dp.convert(parsed, tmp_path / "same.dbdf")
    assert (tmp_path / "same.dbdf").read_bytes() == (tmp_path / "t.dbdf").read_bytes()
    frame = dp.open(tmp_path / "t.dbdf")
    assert np.array_equal(frame["x"], np.arange(50_000) % 97 + 0.25)
    assert frame.stats()["x"].max == 96.25
    with pytest.raises(FileNotFoundError, match="nowhere"):
        dp.convert(text, tmp_path / "nowhere" / "t.dbdf")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        dp.open(text, temporary=tmp_path / "nowhere")


def test_an_error_about_the_temporary_folder_does_not_name_the_file(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "m.npz", cells((50, 40), "f8"))
    nowhere = str(tmp_path / "nowhere")
    monkeypatch.setenv("TMPDIR", nowhere)
    with pytest.raises(FileNotFoundError, match="temporary file for ") as raised:
        dp.open(tmp_path / "m.npz")
    assert raised.value.filename == nowhere


def test_options_of_text_are_understood(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1;2\n3;NA\n")
    f = dp.open(path, csv={"delimiter": ";", "header": True, "missing_as_nan": True,
                           "types": {"a": "u1"}})  # fmt: skip
    assert f.dtypes["a"] == np.uint8 and np.isnan(f["b"][1])
    again = dp.open(path, csv={"delimiter": ";", "missing_as_nan": True}, threads=0)
    assert again["a"].tolist() == [1, 3]
    with pytest.raises(TypeError, match="csv has no option 'delimeter'") as caught:
        dp.open(path, csv={"delimeter": ";"})
    assert isinstance(caught.value, dp.Error)
    path.write_text("id;n\n9007199254740993;1\nNULL;-999\n")
    f = dp.open(path, csv={"missing_words": ["NULL", "-999"]})
    assert f["id"].tolist() == [2**53 + 1, None] and np.isnan(f["n"][1])
    for kind in ("f8", "f4"):
        f = dp.open(path, csv={"missing_words": ["NULL", "-999"], "types": {"n": kind}})
        assert f.dtypes["n"] == kind and np.isnan(f["n"][1]) and f.meanings["n"].missing is not None
    path.write_text("Report\n# by hand\na;b\n1,5;2\n#\n-2,25;3\n")
    f = dp.open(path, csv={"skip": 1, "comment": "#", "decimal": ","})
    assert f["a"].tolist() == [1.5, -2.25] and f["b"].tolist() == [2, 3]
    with pytest.raises(dp.InvalidArgumentError, match="decimal"):
        dp.open(path, csv={"decimal": "'"})
    with pytest.raises(TypeError, match="missing_words") as caught:
        dp.open(path, csv={"missing_words": "NULL"})
    assert isinstance(caught.value, dp.Error)
    with pytest.raises(ValueError):
        dp.open(path, csv={"delimiter": ";;"})
    with pytest.raises(TypeError):
        dp.open(path, csv=7)
    with pytest.raises(ValueError, match="check"):
        dp.open(path, check="sometimes")


def test_verify_and_repair_report_what_is_wrong(make, tmp_path):
    a = cells((60, 30), "f8", density=1)
    m = make(a, tile=(16, 16), kind="dense", narrow=False)
    assert dp.verify(m.path, payload=True) == dp.VerifyReport([], 8)
    broken = tmp_path / "broken.dbdf"
    whole = bytearray(open(m.path, "rb").read())
    whole[m.blocks[2].offset + 40] ^= 1
    broken.write_bytes(whole)
    assert dp.verify(broken).findings == []
    found = dp.verify(broken, payload=True).findings
    assert len(found) == 1 and isinstance(found[0], dp.CorruptError)
    assert found[0].file == str(broken) and found[0].offset is not None
    with pytest.raises(dp.CorruptError):
        dp.open(broken, check="always")[:]
    report = dp.repair(broken, tmp_path / "sound.dbdf", sync=False)
    assert report.blocks_lost == 1 and report.blocks_kept == 7 and len(report.lost) == 1
    sound = dp.open(tmp_path / "sound.dbdf")
    assert np.array_equal(sound[32:], a[32:])
    with pytest.raises(dp.AbsentError):
        sound[:]


def test_index_writes_a_sidecar(make):
    m = make(cells((60, 30), "f8"), tile=(8, 8), plain=True)
    assert dp.info(m.path)["index"] == "scanned"
    assert dp.index(m.path) == m.path + ".dpx"
    assert dp.info(m.path)["index"] == "sidecar"
    assert dp.index(make(cells((9, 9), "f8")).path) is None


def test_what_the_system_refuses_is_an_os_error(tmp_path):
    missing = str(tmp_path / "none.dbdf")
    with pytest.raises(FileNotFoundError) as caught:
        dp.open(missing)
    error = caught.value
    assert isinstance(error, dp.Error) and (error.code, error.file) == ("io", missing)
    assert error.filename == missing and error.errno == 2
    with pytest.raises(dp.NotRecognisedError, match="no data set"):
        dp.open(tmp_path)
    with pytest.raises(FileNotFoundError):
        dp.write(tmp_path / "no" / "a.dbdf", np.ones((2, 2)))
    with pytest.raises(FileNotFoundError):
        dp.verify(missing)


def test_bad_bytes_are_a_value_error(tmp_path):
    path = tmp_path / "noise"
    path.write_bytes(b"\x07" * 100)
    with pytest.raises(dp.NotRecognisedError) as caught:
        dp.open(path)
    assert isinstance(caught.value, ValueError)
    dp.write(tmp_path / "a.dbdf", np.ones((9, 9)), plain=True, sync=False)
    (tmp_path / "b.dbdf").write_bytes((tmp_path / "a.dbdf").read_bytes()[:-3])
    with pytest.raises(dp.CorruptError) as caught:
        dp.open(tmp_path / "b.dbdf")
    assert "byte" in str(caught.value) and caught.value.offset is not None
    for wrong in (7, None, 1.5, ["a"]):
        with pytest.raises(TypeError):
            dp.open(wrong)


def test_errors_travel_between_processes(tmp_path):
    made = []
    for use in (lambda: dp.open(tmp_path / "none"), lambda: dp.open(tmp_path),
                lambda: dp.verify(__file__)):  # fmt: skip
        try:
            use()
        except dp.Error as error:
            made.append(error)
    made.append(dp.OutOfRangeError("row 7 is outside"))
    for error in made:
        other = pickle.loads(pickle.dumps(error))
        assert type(other) is type(error) and str(other) == str(error)
        assert (other.code, other.file, other.offset) == (error.code, error.file, error.offset)
    assert len(made) >= 3


def test_matrices_are_put_together_and_rows_appended(make, tmp_path):
    a, b = cells((30, 7), "i4"), cells((12, 7), "f8", seed=2)
    m, n = make(a, tile=(8, 4)), make(b)
    dp.concat([m, n.path], tmp_path / "rows.dbdf")
    assert np.array_equal(dp.open(tmp_path / "rows.dbdf")[:], np.concatenate([a, b]))
    dp.concat([m, m], tmp_path / "cols.npy", axis=1)
    assert np.array_equal(np.load(tmp_path / "cols.npy"), np.concatenate([a, a], axis=1))
    dp.append(m.path, cells((5, 7), "i4", seed=3))
    dp.append(m.path, a)
    wanted = np.concatenate([a, cells((5, 7), "i4", seed=3), a])
    assert np.array_equal(dp.open(m.path)[:], wanted) and np.array_equal(m[:], a)
    with pytest.raises(dp.InvalidArgumentError, match="axis is 0 or 1, not 7"):
        dp._core.concat([m], 7, False)
    for wrong in (lambda: dp.concat([m, n], tmp_path / "x.dbdf", axis=1), lambda: dp.concat([], "x"),
                  lambda: dp.concat([m], "x", axis=2), lambda: dp.append(m.path, b[:, :3])):  # fmt: skip
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(FileNotFoundError):
        dp.append(tmp_path / "none.dbdf", a)
    with pytest.raises(ValueError, match=r"^what is appended has 3 columns"):
        dp.append(m.path, a[:, :3])


def test_what_is_no_name_of_a_file_is_an_error_of_dapple(make, tmp_path):
    m = make(np.ones((2, 2)))
    for call in (dp.open, lambda x: dp.write(x, np.ones((2, 2))), lambda x: dp.convert(m, x), dp.verify,
                 lambda x: dp.concat([m, x], tmp_path / "x.dbdf"), lambda x: dp.append(x, m)):  # fmt: skip
        for name, kind, words in ((5, TypeError, "int"), ("a\0b", ValueError, "no file can be called")):
            with pytest.raises(kind, match=words) as caught:
                call(name)
            assert isinstance(caught.value, dp.Error)


def test_frames_are_put_together_with_their_dictionaries(tmp_path):
    first = {"w": np.array(list("abc"), object), "n": np.arange(3)}
    path = tmp_path / "f.dbdf"
    dp.write(path, first, sync=False)
    for words in ("cd", "a"):
        dp.append(path, {"w": np.array(list(words), object), "n": np.arange(len(words))}, sync=False)
    f = dp.open(path)
    assert f["w"].tolist() == list("abccda") and f["n"].tolist() == [0, 1, 2, 0, 1, 0]
    dp.concat([f, f], tmp_path / "g.dbdf")
    assert dp.open(tmp_path / "g.dbdf")["w"].tolist() == list("abccda") * 2


def test_one_array_of_an_archive_is_chosen(tmp_path):
    first, second = np.arange(6.0).reshape(2, 3), np.ones((4, 1), np.int32)
    path = tmp_path / "two.npz"
    np.savez(path, first=first, second=second)
    with pytest.raises(dp.Error, match="array='NAME'"):
        dp.open(path)
    with dp.open(path, array="first") as m:
        assert np.array_equal(m[:], first)
    with dp.open(path, array="second") as m:
        assert m.dtype == np.int32
        assert np.array_equal(m[:], second)


def test_scipy_archives_open_without_scipy(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    m = sparse.random(50, 40, 0.1, "csr", random_state=np.random.default_rng(1))
    for compressed in (False, True):
        path = tmp_path / f"{compressed}.npz"
        sparse.save_npz(path, m, compressed=compressed)
        with dp.open(path) as opened:
            assert np.array_equal(opened[:], m.toarray())
