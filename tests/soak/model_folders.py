"""Data sets and collections, held against what was put into them."""

import re
import shutil

import numpy as np

import fsspec
import pydapple as dp

import model_frames
from model_frames import Frames, same_column
from model_matrices import TYPES, Matrices, part, random_cells, same


class Datasets(Matrices):
    """Parts at places that nobody else has; cells between them are absent."""

    def write(self):
        self.data = self.folder / "parts"
        self.cells = np.zeros((0, 0), self.r.choice(TYPES))
        self.taken = np.zeros((0, 0), bool)
        self.place()

    def options(self):
        options = super().options()
        options.pop("plain", None)  # parts need an index
        return options

    def step(self):
        self.r.choice((self.place, self.place, self.below, self.compact, self.collect, self.twice,
                       self.convert, self.through, self.concat, self.ask_again))()

    @staticmethod
    def grown(old, cells, row, col):
        """The whole, and what is taken, with these cells, too; None where some are taken already."""
        shape = tuple(max(first + n, known) for first, n, known in zip((row, col), cells.shape, old[0].shape))
        whole, taken = np.zeros(shape, cells.dtype), np.zeros(shape, bool)
        known = tuple(slice(n) for n in old[0].shape)
        whole[known], taken[known] = old
        there = slice(row, row + cells.shape[0]), slice(col, col + cells.shape[1])
        if taken[there].any():
            return None
        whole[there], taken[there] = cells, True
        return whole, taken

    def now(self, grown):
        self.known = [one for one in self.known if one[0] != self.data]
        self.cells, self.taken = grown
        self.keep_parts(self.data)

    def keep_parts(self, path):
        """With zeros for what is absent, where the rest cannot do with that."""
        if self.taken.all():
            self.keep(path, self.cells)
            return
        m, r, (height, width) = dp.open(path), self.r, self.cells.shape
        same(m.read(absent="zero"), self.cells, "all")
        assert not dp.verify(path, payload=True).findings
        for _ in range(4):
            where = part(r, height), part(r, width)
            self.ask_absent(m, where)
        rows = [r.randrange(height) for _ in range(5)]
        if self.taken[rows].all():
            same(m.take(rows), self.cells[rows], ("take", rows))
        filled, options = self.path("filled.dbdf"), self.options()
        self.history[-1] += f" filled {options}"
        dp.convert(path, filled, absent="zero", **options)
        self.keep(filled, self.cells)

    def ask_absent(self, m, where):
        try:
            same(m[where], self.cells[where], where)
            assert self.taken[where].all(), ("nothing is absent", where)
        except dp.AbsentError:
            assert not self.taken[where].all(), ("absent", where)
        same(m.read(*where, absent="zero"), self.cells[where], ("zero", where))
        got = m.read_sparse(*where, absent="zero").toarray()
        same(got, self.cells[where] + np.zeros(1, self.cells.dtype), ("sparse", where))
        if self.cells.dtype.kind == "f":
            same(m.read(*where, absent="nan"), np.where(self.taken, self.cells, np.nan)
                 .astype(self.cells.dtype)[where], ("nan", where))

    def place(self):
        r, parts, grown = self.r, [], (self.cells, self.taken)
        for _ in range(r.randrange(1, 4)):
            cells = random_cells(r, r.randrange(1, 30), r.randrange(1, 30), self.cells.dtype)
            at, options = (r.randrange(0, 60), r.randrange(0, 60)), self.options()
            if r.random() < 0.3:
                at = (self.cells.shape[0], 0)
            self.tell("part", shape=cells.shape, at=at, **options)
            parts.append(dp.dataset.write_part(self.data, cells, at, **options))
            grown = grown and self.grown(grown, cells, *at)
        if grown is None:
            try:
                dp.dataset.commit(self.data, parts, sync=False)
                raise AssertionError("parts that share cells were taken")
            except dp.InvalidArgumentError:
                if self.cells.size == 0:
                    self.place()
                return
        dp.dataset.commit(self.data, parts, sync=False)
        self.now(grown)

    def below(self):
        cells = random_cells(self.r, self.r.randrange(1, 30), self.cells.shape[1], self.cells.dtype)
        options = self.options()
        self.tell("below", rows=len(cells), **options)
        dp.dataset.append(self.data, cells, **options)
        self.now(self.grown((self.cells, self.taken), cells, self.cells.shape[0], 0))

    def compact(self):
        options = self.options()
        threads = options.pop("threads", 1)
        self.tell("compact", threads=threads, **options)
        dp.dataset.compact(self.data, self.r.choice((0, 3000, 64 << 20)), threads=threads, **options)
        self.now((self.cells, self.taken))

    def collect(self):
        keep = self.r.randrange(1, 4)
        self.tell("collect", keep=keep)
        dp.dataset.collect(self.data, keep=keep, grace=self.r.choice((0, 3600)))
        self.now((self.cells, self.taken))

    def twice(self):
        """Copied elsewhere, and each goes its own way."""
        copy = self.path("parts")
        self.tell("copy")
        shutil.copytree(self.data, copy)
        self.keep_parts(copy)


class FrameDatasets(Frames):
    def write(self):
        if hasattr(self, "data"):
            super().write()
            return
        self.data, r = self.folder / "parts", self.r
        self.kinds = r.choices(self.KINDS, k=r.randrange(1, 6))
        self.whole = None
        self.below_all()

    def step(self):
        self.r.choice((self.below_all, self.below_all, self.compact, self.convert, self.through,
                       self.concat, self.ask_again))()

    def now(self, table):
        self.known = [one for one in self.known if one[0] != self.data]
        self.whole = table
        self.keep(self.data, table)

    def below_all(self):
        table, options = self.table(self.r.randrange(1, 60), self.kinds), self.options()
        self.tell("below", rows=len(table), **options)
        try:
            dp.dataset.append(self.data, table, **options)
        except dp.InvalidArgumentError as refusal:
            assert re.search("marks (them|missing cells) in |is a (duration|timestamp|number) ", str(refusal)), \
                refusal
            self.history[-1] += f" refused: {refusal}"
            return
        self.now(table if self.whole is None else self.below(self.whole, table))

    def compact(self):
        options = self.options()
        self.tell("compact", **options)
        dp.dataset.compact(self.data, self.r.choice((0, 3000, 64 << 20)), **options)
        self.now(self.whole)


class Collections:
    NAMES = ("X", "obs", "layers/a", "layers/b", "a.b", "caf\u00e9 x", "deep/er/still", "uns", "uns/more")

    def __init__(self, r, folder):
        self.r, self.folder, self.history = r, folder, []
        self.made = 0
        self.path, self.held = self.fresh("dds"), {}
        self.whole()

    def fresh(self, ending):
        self.made += 1
        return self.folder / f"{self.made}.{ending}"

    def tell(self, what, **how):
        self.history.append(f"{len(self.history)}: {what} {how}")

    def step(self):
        self.r.choice((self.put, self.put, self.put, self.remove, self.pack, self.unpack, self.grow,
                       self.whole))()
        self.ask(dp.open(self.path), self.held)

    def member(self, name):
        """Anything that a member of this name can be."""
        r = self.r
        if name.split("/")[0] == "uns" and r.random() < 0.8:
            return {"n": r.randrange(9), "text": "caf\u00e9", "list": [1, 2.5, None, {"a": "b"}]}
        if r.random() < 0.5 and name != "obs":
            return random_cells(r, r.randrange(1, 40), r.randrange(1, 40), r.choice(TYPES))
        frames = model_frames.Frames.__new__(model_frames.Frames)
        frames.r = r
        return frames.table(r.randrange(1, 40), r.choices(model_frames.Frames.KINDS, k=3))

    def options(self):
        r, options = self.r, {"sync": False}
        if r.random() < 0.3:
            options["pack"] = r.choice(("fast", "small"))
        return options

    def whole(self):
        names = self.r.sample(self.NAMES, self.r.randrange(1, 5))
        members = {name: self.member(name) for name in names}
        members = {k: v for k, v in members.items() if k != "X" and k != "obs" and "layers" not in k}
        path = self.fresh(self.r.choice(("dds", "zip")))
        self.tell("write", path=path.name, members={k: type(v).__name__ for k, v in members.items()})
        dp.write_collection(path, members, **self.options())
        self.ask(dp.open(path), members)
        if path.suffix == ".zip":
            dp.unpack_collection(path, path.with_suffix(".dds"))
            path = path.with_suffix(".dds")
        self.path, self.held = path, members

    def put(self):
        name = self.r.choice(self.NAMES)
        data, options = self.member(name), self.options()
        own = {"axes": (None, None)} if not isinstance(data, dict) else {}
        self.tell("put", name=name, data=type(data).__name__, shape=getattr(data, "shape", ""), **options)
        c = dp.open(self.path)
        if self.r.random() < 0.5 and name in self.held:
            c[name]  # whoever has the old one open
        if isinstance(self.held.get(name), tuple):
            try:
                c.put(name, data, **own, **options)
            except dp.UnsupportedError:
                return
            raise AssertionError("a data set was replaced")
        c.put(name, data, **own, **options)
        self.held[name] = data
        self.one(c, name, data)

    def grow(self):
        """A member that is a data set, which others write."""
        name = "growing/set"
        folder = self.path / f"{name}.dbdf"
        more = random_cells(self.r, 5, 7, "f4")
        self.tell("grow")
        folder.parent.mkdir(exist_ok=True)
        dp.dataset.append(folder, more, **self.options())
        old = self.held.get(name, (np.zeros((0, 7), "f4"),))[0]
        self.held[name] = (np.concatenate([old, more]),)

    def remove(self):
        if not self.held:
            return
        name = self.r.choice(sorted(self.held))
        self.tell("remove", name=name)
        c = dp.open(self.path)
        if isinstance(self.held[name], tuple):
            shutil.rmtree(self.path / f"{name}.dbdf")
        else:
            del c[name]
        del self.held[name]
        assert name not in c

    def pack(self):
        path = self.fresh("zip")
        self.tell("pack", path=path.name)
        growing = any(isinstance(data, tuple) for data in self.held.values())
        try:
            dp.pack_collection(self.path, path)
        except dp.UnsupportedError:
            assert growing and not path.exists()
            return None
        assert not growing
        self.ask(dp.open(path), self.held)
        return path

    def unpack(self):
        path, folder = self.pack(), self.fresh("dds")
        self.tell("unpack", folder=folder.name)
        if path:
            dp.unpack_collection(path, folder)
            self.path = folder

    def ask(self, c, held):
        r = self.r
        assert sorted(c) == sorted(held), (sorted(c), sorted(held))
        for name in r.sample(sorted(held), min(3, len(held))):
            self.one(c, name, held[name])
            if isinstance(held[name], dict):
                continue
            with dp.open(f"{c.path}/{name}") if c._is_folder else dp.open(c.path, array=name) as m:
                self.object(m, held[name], name)
            if r.random() < 0.3:
                far = dp.open(c.path, fs=fsspec.filesystem("file"))
                assert sorted(far) == sorted(held), (sorted(far), sorted(held))
                self.one(far, name, held[name])

    def one(self, c, name, data):
        if isinstance(data, dict):
            assert dict(c[name]) == data, (name, dict(c[name]))
        else:
            self.object(c[name], data, name)

    def object(self, m, data, name):
        if isinstance(data, tuple):
            data = data[0]
        if isinstance(data, np.ndarray):
            same(m[:], data, name)
            rows, cols = (part(self.r, n) for n in data.shape)
            same(m[rows, cols], data[rows, cols], (name, rows, cols))
            return
        got = m.to_pandas()
        assert list(got.columns) == list(data.columns)
        for column in data.columns:
            same_column(got[column], data[column], (name, column))
