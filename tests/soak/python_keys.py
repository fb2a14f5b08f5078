"""Random keys, of all that Python can put between brackets, held against NumPy: the same cells, or an
exception where NumPy raises one too.

    python_keys.py COUNT [SEED]"""

import random
import sys
import tempfile

import numpy as np

import pydapple as dp

BIG = 2**63


def number(r, n):
    """An integer near the ends, in any of its types."""
    i = r.choice((r.randrange(-n - 2, n + 2), n // 2, 0, -1, n, -n, -n - 1))
    i = r.choice((BIG, -BIG, 2**200)) if r.random() < 0.02 else i
    kind = r.randrange(6)
    if kind == 0 and abs(i) < BIG:
        return np.int64(i)
    if kind == 1 and 0 <= i < 250:
        return np.uint8(i)
    return i


def part(r, n):
    """A slice with anything in its places."""
    def end():
        return None if r.random() < 0.3 else number(r, n)

    step = r.choice((None, 1, 1, 2, 3, -1, -2, 7, n + 5, -n - 5, 0, BIG))
    return slice(end(), end(), step)


def many(r, n):
    """An index array, a list or a Boolean mask."""
    kind = r.randrange(8)
    if kind == 0:
        mask = np.array([r.random() < 0.4 for _ in range(n if r.random() < 0.9 else n + 1)], bool)
        return mask if r.random() < 0.7 else mask.tolist()
    numbers = [r.randrange(-n, n) for _ in range(r.randrange(0, 12) if n else 0)]
    if r.random() < 0.1:
        numbers.append(r.choice((n, -n - 1, BIG)))
    if kind == 1:
        return numbers
    dtype = r.choice(("i8", "i4", "i2", "u4", ">i8", "f8", "O"))
    try:
        return np.array(numbers, dtype)[:: r.choice((1, 1, 2, -1))]
    except OverflowError:
        return numbers


def odd(r):
    """What is no key of a matrix, or a rare one."""
    return r.choice((None, "a", b"a", 1.0, 1j, True, False, np.True_, object(), {}, (), [[1, 2]],
                     np.array(3), np.zeros((2, 2), int), np.datetime64(3, "s"), float("nan")))


def axis(r, n):
    """A key for one axis."""
    kind = r.random()
    if kind < 0.35:
        return number(r, n)
    if kind < 0.7:
        return part(r, n)
    if kind < 0.9:
        return many(r, n)
    return odd(r) if kind < 0.96 else Ellipsis


def key_of(r, shape):
    """A whole key."""
    kind = r.random()
    if kind < 0.3:
        return axis(r, shape[0])
    key = [axis(r, shape[0]), axis(r, shape[1])]
    if r.random() < 0.1:
        key.insert(r.randrange(3), r.choice((Ellipsis, None, 0, slice(None))))
    return tuple(key)


def answer(get):
    """The cells, or the exception."""
    try:
        return get(), None
    except MemoryError:
        raise
    except Exception as error:  # compared by the caller
        return None, error


def same(a, b):
    """The same shape, type and cells; a scalar for a scalar."""
    return (np.asarray(a).dtype == np.asarray(b).dtype and np.shape(a) == np.shape(b)
            and np.array_equal(a, b) and isinstance(a, np.ndarray) == isinstance(b, np.ndarray))


def expect(array, matrix, key, counts):
    """What is wrong with the answer, in words."""
    wanted, refused = answer(lambda: array[key])
    got, error = answer(lambda: matrix[key])
    if error is not None:
        counts["refused"] += 1
        if not isinstance(error, (IndexError, TypeError, ValueError, OverflowError)):
            return f"raises {error!r}"
        # NumPy takes new axes, several arrays and arrays of several axes, which a matrix does not.
        if refused is None and np.ndim(wanted) <= 2 and simple(key):
            return f"raises {error!r}, where NumPy gives {wanted!r}"
        return ""
    counts["read"] += 1
    if refused is not None:
        return f"gives {got!r}, where NumPy raises {refused!r}"
    return "" if same(got, wanted) else f"gives {got!r}, where NumPy gives {wanted!r}"


def expect_sparse(array, matrix, key):
    """The same for `matrix.sparse`: an array of SciPy for rows and columns, a number for a cell."""
    wanted, refused = answer(lambda: array[key])
    got, error = answer(lambda: matrix.sparse[key])
    if error is not None:
        good = isinstance(error, (IndexError, TypeError, ValueError, OverflowError))
        return "" if good else f"raises {error!r}"
    if refused is not None:
        return f"gives {got!r}, where NumPy raises {refused!r}"
    cells = got.toarray() if hasattr(got, "toarray") else got
    right = np.array_equal(np.ravel(cells), np.ravel(wanted))
    return "" if right else f"gives {cells!r}, where NumPy gives {wanted!r}"


def simple(key):
    """Integers, slices and at most one list: what a matrix must take."""
    parts = key if isinstance(key, tuple) else (key,)
    lists = sum(isinstance(p, (list, np.ndarray)) for p in parts)
    return (all(isinstance(p, (int, np.integer, slice)) and not isinstance(p, bool)
                or isinstance(p, (list, np.ndarray)) and np.ndim(p) == 1 for p in parts)
            and lists <= 1)


def main():
    """So many keys."""
    count, seed = int(sys.argv[1]), int((*sys.argv, "1")[2])
    r = random.Random(seed)
    rng = np.random.default_rng(0)
    counts = {"read": 0, "refused": 0}
    with tempfile.TemporaryDirectory() as folder:
        pairs = []
        for n, (shape, dtype, kind) in enumerate(
            (((23, 17), "f8", "dense"), ((40, 9), "i2", "csr"), ((7, 31), "u1", "coo"),
             ((1, 5), "f4", "auto"), ((64, 64), "i8", "auto"), ((5, 0), "f8", "auto"))
        ):
            cells = rng.integers(0, 4, shape).astype(dtype)
            dp.write(f"{folder}/{n}.dbdf", cells, tile=(8, 8), kind=kind, sync=False)
            pairs.append((cells, dp.open(f"{folder}/{n}.dbdf")))
        for k in range(count):
            cells, m = r.choice(pairs)
            key = key_of(r, cells.shape)
            wrong = expect(cells, m, key, counts)
            if wrong:
                print(f"seed {seed}, key {k}: {cells.shape} [{key!r}] {wrong}")
                return 1
            wrong = expect_sparse(cells, m, key)
            if wrong:
                print(f"seed {seed}, key {k}: {cells.shape} sparse[{key!r}] {wrong}")
                return 1
    print(f"{count} keys: {counts['read']} read, {counts['refused']} refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
