"""Batches of rows for training: `pydapple.loader`."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, fetch, keys
from .arguments import told
from .declared import cell_dtype
from .errors import AbsentError, InvalidArgumentError, OutOfRangeError, TypeMismatchError
from .expressions import Condition
from .frame_columns import each_label
from .given import name_of
from .sparse_view import SparseView

if TYPE_CHECKING:
    from concurrent.futures import Future

    from .frame import Frame
    from .matrix import Matrix

Positions = NDArray[np.int64]


class Batch(NamedTuple):
    """Some rows: cells, what is known of them, and their numbers."""

    x: Any  # an array of rows x columns, or a csr_array
    obs: dict[str, NDArray[Any]]  # by column, a value for each row; masked as `Frame` has it
    rows: Positions


@told
def loader(
    x: Matrix | SparseView,
    obs: Frame | Mapping[str, ArrayLike] | None = None,
    *,
    columns: Sequence[str] | None = None,
    batch: int = 256,
    rows: Any = None,
    shuffle: bool = True,
    weights: ArrayLike | None = None,
    stratify: str | None = None,
    seed: int = 0,
    drop_last: bool = False,
    dtype: Any = None,
    reuse: bool = False,
    ahead: int = 2,
) -> Loader:
    """Batches of rows in any order, read straight from the file: no second, shuffled copy of it.

    >>> for x, obs, rows in dp.loader(m, obs, columns=["cell_type"], batch=64): ...
    >>> torch.utils.data.DataLoader(dp.loader(m.sparse, batch=4096), batch_size=None, num_workers=4)

    Batch k of an epoch follows from the seed, the epoch and k alone. So any number of threads and
    processes read them, each its own, and a run can be repeated. Workers get the path of the file,
    not its cells, and share its pages.

    Args:
        x: a matrix, for dense batches; `Matrix.sparse` of one, for csr_arrays.
        obs: what is known of the rows: a frame of as many rows, or a mapping of arrays. Of a frame,
            `columns` are read once and kept.
        columns: which columns of `obs`; all of them if not given.
        batch: rows of a batch.
        rows: which rows: a slice, an array of numbers, Booleans or names, or, with a frame, a
            condition such as ``"cell_type == 'B' and n_genes > 500"``.
        shuffle: False: the rows as they come.
        weights: one for each of these rows: they are drawn with replacement, as often as there are
            rows, each in proportion to its weight.
        stratify: a column of `obs`, whose values have about the same share of each batch as of all
            rows.
        seed: of the order; the same one gives the same batches.
        drop_last: leave out a last batch of fewer rows.
        dtype: of dense cells; that of `x` if not given. They are rounded to it.
        reuse: dense batches are put into the same few arrays again and again: one is valid until
            `ahead` + 1 more have been taken. Memory of sparse ones is always used again, once
            nobody has them.
        ahead: how many batches threads read in advance while one is used; 0: none.

    Raises:
        InvalidArgumentError: lengths that do not fit, weights that are negative or all zero.
    """
    if not isinstance(x, (_core.Matrix, SparseView)):
        raise TypeMismatchError(
            f"batches are of a Matrix, or of its .sparse, not of a {type(x).__name__}: a table may "
            "be obs=, and pydapple.write stores arrays"
        )
    batch, ahead = keys.whole(batch), keys.whole(ahead)
    dtype = None if dtype is None else cell_dtype(dtype)
    labels: list[Any] | None = None if columns is None else list(each_label(columns))
    known = _known(x, obs, labels, stratify)
    if not isinstance(rows, str):  # which is a condition
        rows = (x.matrix if isinstance(x, SparseView) else x)._resolved(rows, 0)
    picked = _picked(rows, obs, len(x))
    shares = None if weights is None else _shares(weights, len(picked))
    if shares is not None and (stratify is not None or not shuffle):
        raise InvalidArgumentError("weights= draws rows: stratify= and shuffle=False do not fit")
    if batch < 1 or ahead < 0:
        raise InvalidArgumentError("a batch has one row or more, and ahead= is not negative")
    strata = None if stratify is None else _codes(known[stratify][picked])
    wanted = known if labels is None else {name: known[name] for name in labels}
    if keys.whole(seed) < 0:
        raise InvalidArgumentError(f"seed= is zero or more, not {seed}")
    order = _Order(picked, keys.whole(seed), shuffle, shares, strata)
    return Loader(x, wanted, order, batch, drop_last, dtype, reuse, ahead)


@told
class Loader:
    """What `loader` makes: an iterable of `Batch`, and a sequence of them (``loader[k]``).

    Each iteration is an epoch, in a new order. Across processes call `set_epoch` in each, or let
    torch's ``DataLoader(loader, batch_size=None, shuffle=False, num_workers=n)`` ask for batches.
    """

    def __init__(
        self, x: Any, obs: dict[str, NDArray[Any]], order: _Order, batch: int, drop_last: bool,
        dtype: Any, reuse: bool, ahead: int,
    ) -> None:  # fmt: skip
        self._x, self._obs, self._order = x, obs, order
        self._batch, self._drop_last = batch, drop_last
        self._dtype, self._reuse, self._ahead = dtype, reuse, ahead
        self._pool = _core.CsrPool(ahead + 2)
        self.epoch = 0

    def __len__(self) -> int:
        """Batches of an epoch."""
        rows = len(self._order.rows)
        return rows // self._batch if self._drop_last else -(-rows // self._batch)

    def set_epoch(self, epoch: int) -> None:
        """The next iteration, and ``loader[k]``, are of this epoch."""
        number = keys.whole(epoch)
        if number < 0:
            raise InvalidArgumentError(f"an epoch is zero or more, not {epoch}")
        self.epoch = number

    def __getitem__(self, k: int) -> Batch:
        """Batch k of the epoch. Any thread."""
        k = keys.whole(k)
        if not 0 <= k < len(self):
            raise OutOfRangeError(f"batch {k} is outside the {len(self)}")
        return self._read(self._order.of_epoch(self.epoch), k, None)

    def __iter__(self) -> Iterator[Batch]:
        """The batches of the epoch, some read in advance; then the epoch is the next one."""
        order = self._order.of_epoch(self.epoch)
        self.epoch += 1
        if self._ahead == 0:
            buffers = self._buffers(2)
            for k in range(len(self)):
                yield self._read(order, k, buffers)
            return
        from concurrent.futures import ThreadPoolExecutor

        buffers = self._buffers(2 * self._ahead + 2)
        waiting: deque[Future[Batch]] = deque()
        with ThreadPoolExecutor(self._ahead) as pool:
            try:
                for k in range(len(self)):
                    waiting.append(pool.submit(self._read, order, k, buffers))
                    if len(waiting) > self._ahead:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:  # nobody wants the others
                for one in waiting:
                    one.cancel()

    def _buffers(self, count: int) -> list[NDArray[Any]] | None:
        if not self._reuse or isinstance(self._x, SparseView):
            return None
        shape = min(self._batch, len(self._order.rows)), self._x.shape[1]
        return [np.empty(shape, self._dtype or self._x.dtype) for _ in range(count)]

    def _read(self, order: Positions, k: int, buffers: list[NDArray[Any]] | None) -> Batch:
        rows = order[k * self._batch : (k + 1) * self._batch]
        if isinstance(self._x, SparseView):
            arrays = self._pool.take(self._x.matrix, rows, self._x._absent)
            cells = fetch.csr_of(arrays, (len(rows), self._x.shape[1]))
            cells = cells if self._dtype is None else cells.astype(self._dtype, copy=False)
        elif buffers is None and self._dtype is None:
            cells = self._x.take(rows)
        else:
            made = np.empty((len(rows), self._x.shape[1]), self._dtype)
            out = made if buffers is None else buffers[k % len(buffers)][: len(rows)]
            cells = self._x.take(rows, out=out, allow_loss=True)
        return Batch(cells, {name: values[rows] for name, values in self._obs.items()}, rows)


class _Order:
    """The order of the rows of an epoch, which follows from seed and epoch."""

    def __init__(
        self, rows: Positions, seed: int, shuffle: bool, shares: NDArray[np.float64] | None,
        strata: NDArray[np.int64] | None,
    ) -> None:  # fmt: skip
        self.rows = rows
        self._given = seed, shuffle, shares, strata
        self._made: tuple[int, Positions] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_made": None}

    def of_epoch(self, epoch: int) -> Positions:
        """All rows of an epoch, in the order in which they come. Made once an epoch."""
        made = self._made
        if made is None or made[0] != epoch:
            made = self._made = epoch, self._make(epoch)
        return made[1]

    def _make(self, epoch: int) -> Positions:
        seed, shuffle, shares, strata = self._given
        rng = np.random.default_rng([seed, epoch])
        if shares is not None:
            drawn = np.searchsorted(shares, rng.random(len(self.rows)), side="right")
            return self.rows[drawn]
        if strata is None:
            return rng.permutation(self.rows) if shuffle else self.rows
        return self.rows[_spread(strata, rng, shuffle)]


def _spread(strata: NDArray[np.int64], rng: np.random.Generator, shuffle: bool) -> Positions:
    """An order in which the members of each stratum are spread evenly over the whole."""
    n = len(strata)
    mixed = rng.permutation(n) if shuffle else np.arange(n)
    grouped = mixed[np.argsort(strata[mixed], kind="stable")]
    sizes = np.bincount(strata)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    size = np.repeat(sizes, sizes)
    offset = rng.random(n) if shuffle else np.full(n, 0.5)
    return grouped[np.argsort((np.arange(n) - first + offset) / size, kind="stable")]


def _known(
    x: Any, obs: Any, columns: Sequence[str] | None, stratify: str | None
) -> dict[str, NDArray[Any]]:
    if obs is None:
        if columns is not None or stratify is not None:
            raise InvalidArgumentError("columns= and stratify= name columns of obs=: give that")
        return {}
    labels = _labels(obs)
    names = list(labels if columns is None else columns)
    if stratify is not None and stratify not in names:
        names.append(stratify)
    for name in names:
        if name not in labels:
            there = ", ".join(repr(label) for label in labels[:20])
            raise AbsentError(f"obs= has no column {name!r}; there are {there}")
    known = {name: np.asanyarray(obs[name]) for name in names}  # np.asarray drops masks
    for name, values in known.items():
        if values.shape[:1] != (len(x),):
            count = len(values) if values.ndim else 1
            raise InvalidArgumentError(f"{count} values of {name!r} do not fit {len(x)} rows")
    return known


def _labels(obs: Any) -> list[Any]:
    """The columns of a frame, a table of another library, or a mapping."""
    named = getattr(obs, "column_names", None)  # of Arrow, whose `columns` are arrays
    named = getattr(obs, "columns", None) if named is None else named
    if named is None and isinstance(obs, Mapping):
        named = obs
    if named is None:
        raise TypeMismatchError(
            f"obs= is a Frame, a DataFrame, or a mapping from labels to arrays, not {name_of(obs)}"
        )
    return list(named)


def _picked(rows: Any, obs: Any, extent: int) -> Positions:
    if rows is None:
        return np.arange(extent, dtype=np.int64)
    if isinstance(rows, (str, Condition)):
        if not hasattr(obs, "count_where"):  # of ours alone
            raise TypeMismatchError("a condition picks rows of a frame, which obs= is not")
        return np.asarray(obs.where(rows), dtype=np.int64)
    return keys.several(rows, extent, "row").positions()


def _shares(weights: ArrayLike, rows: int) -> NDArray[np.float64]:
    """The weights summed up, from above 0 to 1."""
    try:
        given = np.ma.filled(np.ma.asarray(weights, dtype=np.float64), np.nan)
    except (TypeError, ValueError) as error:
        raise TypeMismatchError(
            f"weights are an array of numbers, one for each row: {error}"
        ) from None
    if given.shape != (rows,):
        raise InvalidArgumentError(f"weights of shape {given.shape} do not fit {rows} rows")
    if not np.isfinite(given).all() or (given < 0).any() or not given.any():
        raise InvalidArgumentError("weights are finite, not negative, and some are above zero")
    sums = np.cumsum(given / given.max())  # the sum of the weights itself may be infinite
    shares: NDArray[np.float64] = sums / sums[-1]
    shares[np.flatnonzero(given)[-1] :] = np.nextafter(1, 2)  # rounding leaves out no last row
    return shares


def _codes(values: NDArray[Any]) -> NDArray[np.int64]:
    shown = values if values.dtype.kind in "iufbUSmM" else np.array([str(one) for one in values])
    codes = np.unique(np.ma.getdata(shown), return_inverse=True)[1] + 1
    codes[np.ma.getmaskarray(values)] = 0  # missing ones are a stratum
    return np.asarray(codes, dtype=np.int64)
