"""Matrices, and the arrays that they must equal."""

import numpy as np
import scipy.sparse

import pydapple as dp
from pydapple.pieces import joined

TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8")


def bits(cells):
    """Cells by their bits, but all NaNs are one: signs of zeros count."""
    cells = np.ascontiguousarray(cells)
    if cells.dtype.kind != "f":
        return cells
    cells = np.where(np.isnan(cells), np.nan, cells).astype(cells.dtype)
    return cells.view(f"u{cells.dtype.itemsize}")


def same(got, want, what):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, (what, got.shape, want.shape)
    assert got.dtype == want.dtype, (what, got.dtype, want.dtype)
    if not np.array_equal(bits(got), bits(want)):
        at = np.argwhere(bits(got) != bits(want))[0]
        raise AssertionError((what, tuple(at), got[tuple(at)], want[tuple(at)]))


def same_values(got, want, what):
    """Numbers of any types, exactly; formats may lose the sign of zero."""
    assert got.shape == want.shape, (what, got.shape, want.shape)
    for a, b in zip(got.ravel().tolist(), want.ravel().tolist()):
        assert a == b or (a != a and b != b), (what, a, b)


def random_cells(r, rows, cols, dtype):
    rng = np.random.default_rng(r.randrange(2**32))
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        cells = rng.normal(0, 10 ** r.randrange(-2, 6), (rows, cols)).astype(dtype)
        if r.random() < 0.5:
            cells = np.rint(cells)
        odd = [-0.0, np.nan, np.inf, -np.inf, np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal]
    else:
        info = np.iinfo(dtype)
        low, high = (info.min, info.max) if r.random() < 0.3 else (max(info.min, -9), 100)
        cells = rng.integers(low, high, (rows, cols), dtype, endpoint=True)
        odd = [info.min, info.max]
    if r.random() < 0.4:
        some = rng.random((rows, cols)) < 0.05
        cells[some] = rng.choice(np.array(odd, dtype), int(some.sum()))
    if r.random() < 0.7:
        cells[rng.random((rows, cols)) >= r.choice((0.01, 0.1, 0.5))] = 0
    return cells


def part(r, n):
    """A slice of n, seldom of none."""
    begin = r.randrange(n + 1)
    return slice(begin, r.randrange(begin, n + 1)) if r.random() < 0.7 else slice(0, n)


class Matrices:
    def __init__(self, r, folder):
        self.r, self.folder, self.history, self.known = r, folder, [], []
        self.write()

    def path(self, ending="dbdf"):
        return self.folder / f"{len(self.history)}.{ending}"

    def tell(self, what, **how):
        self.history.append(f"{len(self.history)}: {what} {how}")

    def keep(self, path, cells):
        self.known.append((path, cells))
        self.ask(path, cells)

    def options(self):
        r, options = self.r, {"sync": False}
        if r.random() < 0.6:
            options["tile"] = (r.randrange(1, 30), r.randrange(1, 30))
        if r.random() < 0.3:
            options["kind"] = r.choice(("dense", "csr", "coo"))
        if r.random() < 0.3:
            options["narrow"] = False
        if r.random() < 0.3:
            options["pack"] = r.choice(("fast", "small"))
        elif r.random() < 0.2:
            options["plain"] = True
        if r.random() < 0.3:
            options["threads"] = r.choice((0, 1, 2))
        return options

    def step(self):
        ways = (self.write, self.convert, self.convert, self.convert, self.through, self.through,
                self.concat, self.append, self.ask_again)
        self.r.choice(ways)()

    def any(self):
        return self.r.choice(self.known[-4:])

    def write(self):
        r = self.r
        cells = random_cells(r, r.randrange(1, 70), r.randrange(1, 70), r.choice(TYPES))
        path, options, data = self.path(), self.options(), cells
        way = r.randrange(4)
        if way == 1 and not np.signbit(cells[cells == 0]).any():
            data = scipy.sparse.csr_array(cells)
        elif way == 2:
            data = np.asfortranarray(cells)
        self.tell("write", shape=cells.shape, dtype=cells.dtype, data=type(data).__name__, **options)
        dp.write(path, data, **options)
        self.keep(path, cells)

    def convert(self):
        r, (source, cells) = self.r, self.any()
        path, options = self.path(), self.options()
        if r.random() < 0.5:
            options["rows"], options["cols"] = part(r, cells.shape[0]), part(r, cells.shape[1])
            cells = cells[options["rows"], options["cols"]]
        if r.random() < 0.3:
            options["transpose"] = True
            cells = cells.T
        if r.random() < 0.3:
            dtype = np.dtype(r.choice(TYPES))
            with np.errstate(all="ignore"):
                other = cells.astype(dtype)
                lost = dtype.kind != "f" and np.signbit(cells[cells == 0]).any()
                if lost or not (other.astype(cells.dtype) == cells).all() or \
                        other.tolist() != cells.tolist():
                    return
            options["dtype"], cells = dtype, other
        self.tell("convert", source=source.name, **options)
        dp.convert(source, path, **options)
        self.keep(path, np.ascontiguousarray(cells))

    def through(self):
        """Another format, and what it opens as goes on."""
        r, (source, cells) = self.r, self.any()
        ending = r.choice(("npy", "npz", "csv", "csv.gz", "mtx", "mtx.zst", "npy.gz", "idv", "btable", "futhark"))
        if 0 in cells.shape or (ending == "btable" and cells.dtype != np.float64):
            return
        path = self.path(ending)
        self.tell("through", source=source.name, to=ending)
        kinds = {"btable": {"to": "btable"}, "futhark": {"to": "futhark"}}
        try:
            dp.convert(source, path, **kinds.get(ending, {}))
        except (dp.UnsupportedError, dp.TypeMismatchError) as refusal:
            self.history[-1] += f" refused: {refusal}"
            return
        how = {"csv": {"header": False, "missing_as_nan": True}} if ending.startswith("csv") else {}
        m = dp.open(path, **how)
        if isinstance(m, dp.Frame):  # a table of one row, say, is read as one
            return
        got = m[:]
        same_values(got, cells, ending)
        if ending in ("npy", "npy.gz", "npz", "idv"):
            same(got, cells, ending)
        self.known.append((path, got))
        if not ending.startswith("csv"):
            self.ask(path, got)

    def concat(self):
        r = self.r
        (a, x), (b, y) = self.any(), self.any()
        axis = r.randrange(2)
        if x.shape[1 - axis] != y.shape[1 - axis]:
            return
        path, options = self.path(), self.options()
        self.tell("concat", sources=(a.name, b.name), axis=axis, **options)
        try:
            dp.concat([a, b], path, axis=axis, **options)
        except dp.TypeMismatchError:
            assert x.dtype != y.dtype
            self.history[-1] += " refused"
            return
        m = dp.open(path)
        if x.dtype == y.dtype:
            assert m.dtype == x.dtype
        got = m[:]
        same_values(got, np.concatenate([x.astype(object), y.astype(object)], axis), "concat")
        with dp.open(a) as first, dp.open(b) as second, joined([first, second], axis) as both:
            self.question(both, got)
        self.keep(path, got)

    def append(self):
        r, (source, cells) = self.r, self.any()
        more = random_cells(r, r.randrange(1, 30), cells.shape[1], cells.dtype) \
            if cells.shape[1] else None
        if more is None or source.suffix != ".dbdf":
            return
        path = self.path()
        path.write_bytes(source.read_bytes())
        self.tell("append", source=source.name, rows=len(more))
        dp.append(path, more, sync=False)
        self.keep(path, np.concatenate([cells, more]))

    def ask_again(self):
        source, cells = self.any()
        self.tell("ask", source=source.name)
        self.ask(source, cells)

    def ask(self, path, cells):
        assert not dp.verify(path, payload=True).findings
        self.question(dp.open(path), cells)

    def question(self, m, cells):
        r = self.r
        assert m.shape == cells.shape and m.dtype == cells.dtype, (m, cells.shape, cells.dtype)
        same(m[:], cells, "all")
        if 0 in cells.shape:
            return
        questions = (self.ask_region, self.ask_take, self.ask_sparse, self.ask_stats, self.ask_where)
        for question in r.sample(questions, 3):
            question(m, cells)

    def ask_region(self, m, cells):
        r = self.r
        rows, cols = part(r, cells.shape[0]), part(r, cells.shape[1])
        same(m[rows, cols], cells[rows, cols], (rows, cols))
        rows = slice(None, None, r.choice((-1, 2, 3, -4)))
        same(m[rows, cols], cells[rows, cols], (rows, cols))
        if cells.dtype.kind != "f" and np.abs(cells.astype(object)).max() < 2**53:
            same(m.read(dtype="f8"), cells.astype("f8"), "as f8")

    def ask_take(self, m, cells):
        r, (height, width) = self.r, cells.shape
        rows = [r.randrange(-height, height) for _ in range(r.randrange(1, 40))]
        cols = [r.randrange(-width, width) for _ in range(len(rows))]
        same(m.take(rows), cells[rows], ("take", rows))
        same(m.take(rows, cols), cells[np.ix_(rows, cols)], ("take", rows, cols))
        same(m.cells(rows, cols), cells[rows, cols], ("cells", rows, cols))
        same(m.take_columns(cols).toarray(), np.where(cells == 0, 0, cells).astype(cells.dtype)[:, cols],
             ("take_columns", cols)) if not np.signbit(cells[cells == 0]).any() else None
        same(m[rows], cells[rows], ("rows", rows))

    def ask_sparse(self, m, cells):
        r = self.r
        rows, cols = part(r, cells.shape[0]), part(r, cells.shape[1])
        got = m.sparse[rows, cols]
        cells = cells + np.zeros(1, cells.dtype)  # SciPy adds to zero: no sign of it is left
        same(got.toarray(), cells[rows, cols], ("sparse", rows, cols))
        assert got.has_sorted_indices and got.has_canonical_format
        for form in ("csr", "csc", "coo"):
            whole = m.to_scipy(form)
            assert whole.format == form
            same(whole.toarray(), cells, form)

    def ask_stats(self, m, cells):
        axis = self.r.choice((None, 0, 1))
        stats = m.stats(axis)
        finite = cells.astype("f8")
        if not np.isfinite(finite[~np.isnan(finite)]).all() or np.abs(finite).max(initial=0) > 1e100:
            return
        nan = np.isnan(finite)
        assert np.array_equal(stats.nans, nan.sum(axis)), "nans"
        assert np.array_equal(stats.nnz, ((cells != 0) & ~nan).sum(axis)), "nnz"
        with np.testing.suppress_warnings() as quiet:
            quiet.filter(RuntimeWarning)
            for name, want in (("min", np.nanmin(finite, axis)), ("max", np.nanmax(finite, axis)),
                               ("sum", np.nansum(finite, axis)), ("mean", np.nanmean(finite, axis)),
                               ("var", np.nanvar(finite, axis))):
                scale = np.abs(finite[~nan]).max(initial=0) ** (2 if name == "var" else 1)
                np.testing.assert_allclose(getattr(stats, name), want, rtol=1e-9,
                                           atol=1e-10 * (scale * cells.size) + 1e-300, err_msg=name)

    def ask_where(self, m, cells):
        bound = self.r.choice(cells.ravel().tolist() + [0])
        if bound != bound:
            return
        real = cells == cells
        exact = np.where(real, cells.astype(object), 0)
        for how, test in (("above", real & (exact > bound)), ("at_most", real & (exact <= bound)),
                          ("equal", real & (exact == bound))):
            rows, cols, values = m.where(**{how: bound})
            want = np.argwhere(test.astype(bool))
            order = np.lexsort((cols, rows))
            assert np.array_equal(np.stack([rows[order], cols[order]], 1), want), (how, bound)
            same(np.asarray(values)[order] + 0, cells[tuple(want.T)] + 0, (how, bound))
            assert m.count_where(**{how: bound}) == len(want)
