python3 - << END
import zipfile
head = b"\x93NUMPY\x01\x00"
def npy(shape):
    text = ("{'descr': '|u1', 'fortran_order': False, 'shape': %s, }" % (shape,)).encode()
    text += b" " * (117 - len(text)) + b"\n"
    return head + len(text).to_bytes(2, "little") + text
with zipfile.ZipFile("two.npz", "w") as file:
    file.writestr("a.npy", npy((1, 2)) + b"\1\2")
    file.writestr("b c.npy", npy((1, 1)) + b"\3")
END
dapple info two.npz
dapple info two.npz --array 'b c'
dapple info two.npz --array a --json
