"""Cells as they come in and go out."""

import os
import struct

import inputs
import terminal


def check_bad_end_of_input_gives_no_output(dapple):
    """Input that is closed early, or bad in its last line: no file appears, none is replaced."""
    good = {"csv": b"1,2\n3,4\n", "mtx": b"%%MatrixMarket matrix array real general\n1 2\n1\n2\n",
            "futhark": b"[[1, 2], [3, 4]]"}
    bad = {"csv": [b"1,2\n3,4,5\n", b"1,2\n3\n", b"1,2\n3,\"4"],
           "mtx": [good["mtx"][:-2], good["mtx"] + b"3\n", good["mtx"][:-2] + b"x\n"],
           "futhark": [good["futhark"][:-1], good["futhark"][:-2] + b"x]]", b"[[1, 2], [3]]"]}
    for name, text in good.items():
        assert dapple.run("convert", "-", "a.dbdf", "--from", name, "--force", "-q",
                          stdin=None, input=text).returncode == 0
    whole = (dapple.folder / "a.dbdf").read_bytes()
    before = set(os.listdir(dapple.folder))
    for name, texts in bad.items():
        for text in texts:
            for out in ("a.dbdf", "b.dbdf", "b.csv", "b.npy"):
                done = dapple.run("convert", "-", out, "--from", name, "--force",
                                  stdin=None, input=text)
                assert done.returncode == 1, (name, text, done)
                assert done.stderr.count(b"\n") == 1, done
                assert set(os.listdir(dapple.folder)) == before, (name, text)
    assert (dapple.folder / "a.dbdf").read_bytes() == whole


def check_stored_zeros_on_a_terminal_give_a_hint(dapple):
    """A file whose zeros are stored says once, while they are printed, that --sparse leaves them out."""
    hint = b"100 % of the first 65530 cells are zero; --sparse prints only the others"
    for rows, value, hints in ((9999, b"0", 0), (10001, b"5", 0), (10001, b"0", 1)):
        (dapple.folder / "same.csv").write_bytes((b",".join([value] * 10) + b"\n") * rows)
        dapple.run("convert", "same.csv", "same.npy", "--force", "-q")
        done = terminal.run([dapple.path, "get", "same.npy"], 200, 60, cwd=dapple.folder,
                            env=dapple.env)
        assert done[2] == 0 and done[0].count(b"\n") > rows, (rows, value)
        assert done[1].count(hint) == hints and done[1].count(b"--sparse") == hints, done[1]
    quiet = terminal.run([dapple.path, "get", "same.npy", "-q"], 200, 60, cwd=dapple.folder,
                         env=dapple.env)
    assert not quiet[1]


def check_npy_of_every_type(dapple):
    """`get --to npy` against a reader of that format in a few lines."""
    for value_type, letter in inputs.LETTERS.items():
        numbers = [0, 1, 2, 3, 100, 127]
        data = inputs.matrix_header(2, 3, value_type)
        data += inputs.dense(0, 0, 2, 3, value_type, numbers)
        (dapple.folder / "typed.dbdf").write_bytes(data)
        npy = dapple.run("get", "typed.dbdf", "--to", "npy").stdout
        assert npy[:6] == b"\x93NUMPY"
        length = struct.unpack_from("<H", npy, 8)[0]
        header = npy[10:10 + length].decode()
        assert "'shape': (2, 3)" in header and "'fortran_order': False" in header
        assert npy[10 + length:] == struct.pack(f"<6{letter}", *numbers)


def check_bytes_are_the_same_with_every_number_of_threads(dapple):
    outputs = {n: dapple.run("get", "many.dbdf", "--threads", str(n)).stdout for n in (1, 2, 7)}
    assert outputs[1] and len(set(outputs.values())) == 1


def check_many_zeros_on_a_terminal_are_remarked(dapple):
    """A screen of nothing but zeros says what would print less."""
    banner = "%%MatrixMarket matrix coordinate integer general\n1000 1000 1\n"
    (dapple.folder / "zeros.mtx").write_text(banner + "500 500 7\n")

    def printed(*arguments):
        return terminal.run([dapple.path, *arguments], 80, 60, cwd=dapple.folder, env=dapple.env)
    remark = (b"dapple: zeros.mtx: about 99 % of these 100000 cells are zero; "
              b"--sparse prints only the others\n")
    assert printed("get", "zeros.mtx", "--rows", ":100")[1] == remark
    assert printed("get", "zeros.mtx", "--rows", ":100", "-q")[1] == b""
    assert printed("get", "zeros.mtx", "--rows", ":99")[1] == b""
    assert printed("get", "zeros.mtx", "--sparse") == (b"499,499,7\n", b"", 0)
