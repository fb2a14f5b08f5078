"""The extension: what the modules of the package are built on. Use those, not this."""

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Counts = dict[str, int]
Summary = tuple[Counts, int]
Tiling = tuple[tuple[int, int], tuple[int, int]]
Described = tuple[str, str, bool, str, int | None, "Words | None"]
Pairs = list[tuple[bytes, bytes]]
Rows = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]

class OpenOptions:
    def __init__(
        self,
        *,
        format: str | None = ...,
        array: str | None = ...,
        check: str = ...,
        guard: bool = ...,
        read_ahead: bool = ...,
        threads: int | None = ...,
        cache: str = ...,
        temporary: str = ...,
        csv: dict[str, Any] | None = ...,
        futhark: dict[str, Any] | None = ...,
        idv: dict[str, Any] | None = ...,
    ) -> None: ...

class WriteOptions:
    def __init__(
        self,
        *,
        tile: tuple[int, int] | None = ...,
        kind: str = ...,
        narrow: bool = ...,
        align: int = ...,
        pack: str | None = ...,
        plain: bool = ...,
        overwrite: bool = ...,
        sync: bool = ...,
        attributes: str = ...,
        row_names: Names | None = ...,
        col_names: Names | None = ...,
    ) -> None: ...

class Block:
    """One stored rectangle of cells. It keeps its file mapped, and so do arrays that view it."""

    @property
    def pos(self) -> tuple[int, int]:
        """Row and column of its first cell."""
    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of its cells: that of the matrix, or of the frame's columns."""
    @property
    def stored_dtype(self) -> np.dtype[Any]:
        """The dtype that the values are stored in, which may be narrower."""
    @property
    def kind(self) -> str:
        """How it is stored: 'empty', 'dense', 'csr' or 'coo'."""
    @property
    def nnz(self) -> int:
        """Stored values."""
    @property
    def offset(self) -> int:
        """Byte of the file where the block's header starts."""
    @property
    def nbytes(self) -> int:
        """Bytes of the file that it takes, header included."""
    def numpy(self, copy: bool | None = ..., *, aligned: bool = ...) -> NDArray[Any]:
        """The cells as an array of `shape` and `dtype`.

        Where the block is dense, aligned and stored as declared this is a read-only view of the
        file, O(1); elsewhere a new array. copy=True always copies, copy=False raises ValueError
        instead. aligned=False also views values that are not aligned, which NumPy takes but
        compiled code may not.
        """
    def to_scipy(self) -> Any:
        """The stored cells as a `scipy.sparse.csr_array`, always a copy."""
    def stats(self) -> Any:
        """Statistics of its cells as the file has them, see `Stats`; None where it has none.

        No cell is read; codes of words and ticks of times count as numbers. O(log blocks).
        """
    def _csr(self) -> Rows: ...
    def __array__(self, dtype: DTypeLike | None = ..., copy: bool | None = ...) -> NDArray[Any]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

class Names:
    def __init__(self, texts: Iterable[str], /) -> None: ...
    def __len__(self) -> int: ...
    def get(self, i: int, /) -> str: ...
    def between(self, begin: int, end: int, /) -> list[str]: ...
    def find(self, name: str, /) -> int | None: ...
    def find_all(self, wanted: list[str], /) -> NDArray[np.int64]: ...
    @property
    def unique(self) -> bool: ...

class Object:
    @property
    def closed(self) -> bool:
        """True after `close`."""
    def close(self) -> None:
        """Let go of the file. Arrays that view it keep it mapped."""
    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
    @property
    def format(self) -> str:
        """Name of the file's format, one of `formats()`."""
    @property
    def file_bytes(self) -> int:
        """Length of the file; of text and of what is compressed as a whole, of what it became."""
    @property
    def note(self) -> str:
        """What the format wants the user to see, or an empty string."""
    @property
    def index_origin(self) -> str:
        """Where the block index came from: 'embedded', 'sidecar' or 'scanned'."""
    @property
    def _server_version(self) -> str: ...
    def contents(self) -> list[str]:
        """The objects in the file, for formats that hold several."""
    def _attributes(self) -> str: ...
    def details(self) -> list[tuple[str, bytes]]:
        """What the format has to say beside rows, columns and cells."""
    def prefetch(self, row_begin: int, row_end: int, col_begin: int, col_end: int) -> None:
        """Ask the system to fetch a region from storage; returns at once."""
    def require_intact(self) -> None:
        """Raise OSError when a file opened with guard=True has been cut or changed since."""
    def _grid(self) -> Tiling | None: ...
    def _counts(self) -> Counts: ...
    def _block_count(self) -> int: ...
    def _stored_block(self, k: int, /) -> Block: ...
    def _covers(self, row_begin: int, row_end: int, cols: NDArray[np.int64], /) -> bool: ...
    def _let_go(self) -> None: ...
    def _block(self, rx: int, cx: int, /) -> Block: ...
    def _tile(self, i: int, j: int, /) -> Block: ...
    def _cover(self, row: int, col: int, /) -> Block | None: ...

class Matrix(Object):
    def __init__(self, other: Matrix, /) -> None: ...
    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the cells, whatever the tiles are stored in."""
    @property
    def column_copy(self) -> str:
        """The copy by column beside the file: 'none', 'fresh', 'stale' or 'damaged'.

        'stale' is one of another state of the file, or of another object in it. Only a fresh one is
        used. `pydapple.index` writes one. A few small reads.
        """
    @property
    def _storage(self) -> str: ...
    def _give_back(self) -> None: ...
    def _group(self) -> tuple[str, list[str]] | None: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def _read(
        self, row_begin: int, row_end: int, col_begin: int, col_end: int, out: NDArray[Any],
        absent: int, threads: int | None, /,
    ) -> None: ...  # fmt: skip
    def _read_csr(
        self, row_begin: int, row_end: int, col_begin: int, col_end: int, absent: int,
        threads: int | None, /,
    ) -> Rows: ...  # fmt: skip
    def _take(
        self, rows: NDArray[np.int64], col_begin: int, col_end: int, out: NDArray[Any],
        absent: int, /,
    ) -> None: ...  # fmt: skip
    def _take_csr(
        self, rows: NDArray[np.int64], col_begin: int, col_end: int, absent: int, /
    ) -> Rows: ...
    def _take_csc(self, cols: NDArray[np.int64], absent: int, threads: int | None, /) -> Rows: ...
    def _take_cells(
        self, rows: NDArray[np.int64], cols: NDArray[np.int64], out: NDArray[Any], absent: int, /
    ) -> None: ...

class CsrPool:
    """Arrays of rows that nobody has any more, to be filled again."""

    def __init__(self, most: int, /) -> None: ...
    def take(self, matrix: Matrix, rows: NDArray[np.int64], absent: int, /) -> Rows: ...

class Words:
    def __init__(self, words: Iterable[str], /) -> None: ...
    def __len__(self) -> int: ...
    def tolist(self) -> list[str]: ...
    def look_up(self, codes: NDArray[Any], /) -> NDArray[Any]: ...
    def merge(self, other: Words, /) -> NDArray[np.uint32]: ...

class Frame(Object):
    def __init__(self, other: Frame, /) -> None: ...
    def _columns(self) -> list[tuple[str, np.dtype[Any], Described]]: ...
    def _groups(self) -> list[tuple[str, int, list[str]]]: ...
    def _texts(self) -> list[tuple[str, str, int, bool]]: ...
    def _read_columns(
        self, begin: int, end: int, cols: list[int], arrays: list[NDArray[Any]],
        absent: int, threads: int | None, /,
    ) -> None: ...  # fmt: skip
    def _take_columns(
        self, rows: NDArray[np.int64], cols: list[int], arrays: list[NDArray[Any]],
        absent: int, threads: int | None, /,
    ) -> None: ...  # fmt: skip
    def _read_text(self, column: int, begin: int, end: int, /) -> list[str]: ...

class Drawing:
    @property
    def what(self) -> int: ...
    @property
    def source(self) -> str: ...
    def values(self) -> NDArray[np.float64]: ...
    def states(self) -> NDArray[np.uint8]: ...
    def row_edges(self) -> NDArray[np.int64]: ...
    def col_edges(self) -> NDArray[np.int64]: ...
    def scale(self, log: bool | None) -> tuple[float, float, bool, str] | None: ...
    def legend(self) -> list[tuple[str, tuple[int, int, int], int, float]]: ...
    def svg(self, width: int, height: int, title: str, subtitle: str, /) -> str: ...

class Writer:
    @property
    def open(self) -> bool: ...
    def tile_rows(self) -> int: ...
    def strips(self) -> list[tuple[int, int]]: ...
    def put(self, row: int, col: int, cells: NDArray[Any], threads: int | None, /) -> None: ...
    def put_csr(
        self, row: int, col: int, cols: int, data: NDArray[Any], indices: NDArray[Any],
        indptr: NDArray[Any], threads: int | None, /,
    ) -> None: ...  # fmt: skip
    def finish(self) -> Summary: ...
    def abort(self) -> None: ...

def open(path: str | os.PathLike[str], options: OpenOptions, far: bool, /) -> Matrix | Frame: ...
def open_far(store: Any, name: str, options: OpenOptions, /) -> Matrix | Frame: ...
def convert(
    handle: Object, out: str | os.PathLike[str], rows: tuple[int, int] | None,
    cols: list[int] | None, to: str, dtype: Any, allow_loss: bool, absent: int,
    threads: int | None, write: WriteOptions, drop_labels: bool, deflate: bool,
    stored_numbers: bool, short_floats: bool, transpose: bool, progress: Any,
) -> Summary: ...  # fmt: skip
def concat(parts: list[Any], axis: int, allow_loss: bool, /) -> Matrix | Frame: ...
def append(
    path: str | os.PathLike[str], rows: Object, allow_loss: bool, absent: int, threads: int | None,
    write: WriteOptions, progress: Any,
) -> Summary: ...  # fmt: skip
def find_member(path: str, /) -> tuple[os.PathLike[str], str] | None: ...

class Collection:
    members: list[str]
    json_members: list[str]
    def has(self, member: str, /) -> bool: ...
    def has_json(self, member: str, /) -> bool: ...
    def open(self, member: str, far: bool, /) -> Matrix | Frame: ...
    def json(self, member: str, /) -> bytes: ...
    def axes_of(self, member: str, /) -> tuple[str | None, str | None]: ...
    def require_fit(
        self, member: str, rows: int, cols: int, of_rows: str | None, of_cols: str | None, /
    ) -> None: ...
    def require_axes(self) -> None: ...

def find_collection(path: str, options: OpenOptions, /) -> Collection | None: ...
def find_far_collection(store: Any, name: str, options: OpenOptions, /) -> Collection | None: ...
def pack_collection(
    folder: str, file: str, overwrite: bool, progress: Callable[[int, int], object] | None
) -> list[str]: ...
def unpack_collection(
    file: str, folder: str, overwrite: bool, progress: Callable[[int, int], object] | None
) -> None: ...
def publish_collection(made: str, folder: str, overwrite: bool, /) -> None: ...
def dataset_part(folder: str, name: str, at: tuple[int, int], /) -> tuple[Any, ...]: ...
def dataset_tile(rows: int, cols: int, /) -> tuple[int, int]: ...
def dataset_fitted(folder: str, data: Object, /) -> Frame: ...
def dataset_latest(folder: str, /) -> str: ...
def dataset_commit(
    folder: str, parts: list[Any], shape: tuple[int, int], whole: bool, below: bool, sync: bool, /
) -> tuple[Any, ...]: ...
def dataset_append(folder: str, part: Any, below: bool, sync: bool, /) -> tuple[Any, ...]: ...
def dataset_create(
    folder: str, like: Object, shape: tuple[int, int], sync: bool, /
) -> tuple[Any, ...]: ...
def dataset_compact(
    folder: str,
    small: int,
    threads: int | None,
    options: WriteOptions,
    progress: Callable[[int, int], object] | None,
) -> tuple[Any, ...]: ...
def dataset_collect(folder: str, keep: int, grace: int, /) -> tuple[int, int, int]: ...
def dataset_log(folder: str, /) -> tuple[list[tuple[Any, ...]], list[str]]: ...
def verify(
    path: str | os.PathLike[str], payload: bool, options: OpenOptions, progress: Any
) -> tuple[list[Any], int]: ...
def repair(
    src: str | os.PathLike[str], dst: str | os.PathLike[str], write: WriteOptions,
    options: OpenOptions, progress: Any,
) -> tuple[list[Any], int, int, int, Summary]: ...  # fmt: skip
def estimate_packing(handle: Object, threads: int | None, /) -> tuple[int, int, int]: ...
def index(
    path: str | os.PathLike[str], options: OpenOptions, statistics: bool, threads: int | None,
    progress: Any,
) -> os.PathLike[str] | None: ...  # fmt: skip
def copy_columns(
    path: str | os.PathLike[str], options: OpenOptions, sync: bool, threads: int | None,
    progress: Any,
) -> os.PathLike[str]: ...  # fmt: skip
def formats() -> list[tuple[str, str, str, bool, bool, bool]]: ...
def default_tile(rows: int, cols: int, /) -> tuple[int, int]: ...
def default_sparse_tile(rows: int, cols: int, stored: float, dtype: Any, /) -> tuple[int, int]: ...
def checked_dtype(dtype: Any, /) -> np.dtype[Any]: ...
def check_out(out: Any, rows: int, cols: int, /) -> None: ...
def check_cells(out: Any, size: int, /) -> None: ...
def convert_values(values: NDArray[Any], out: NDArray[Any], /) -> int: ...
def create_matrix(
    path: str | os.PathLike[str], rows: int, cols: int, dtype: Any, options: WriteOptions,
    sparse: bool, /,
) -> Writer: ...  # fmt: skip
def create_frame(
    path: str | os.PathLike[str], rows: int, columns: list[tuple[bytes, Any, tuple[Any, ...]]],
    options: WriteOptions, /,
) -> Writer: ...  # fmt: skip
def draw(
    handle: Object, file: str, what: int | None, rows: tuple[int, int], cols: tuple[int, int],
    down: int, across: int, from_stats: bool, threads: int | None, progress: Any,
) -> Drawing: ...  # fmt: skip
def glance(handle: Object, file: str, width: int, height: int, /) -> Drawing | str: ...

class StreamFault:
    def error(self) -> Exception | None: ...

def arrow_stream(
    frame: Frame, names: list[str] | None = ..., fault: StreamFault | None = ...,
    columns: list[int] | None = ..., rows: tuple[int, int] | NDArray[np.int64] | None = ...,
    named_zones: bool = ..., metadata: bytes = ..., of_fields: list[bytes] = ...,
    absent: int = ...,
) -> Any: ...  # fmt: skip
def row_names(opened: Object, /) -> Names | None: ...
def col_names(opened: Object, /) -> Names | None: ...

class ArrowReader:
    def __init__(self, capsule: Any, /) -> None: ...
    def metadata(self) -> Pairs: ...
    def next(
        self, most: int, /
    ) -> list[tuple[str, NDArray[Any], NDArray[np.uint8] | None, Described, Pairs]] | None: ...

def schema_names(capsule: Any, /) -> list[str]: ...
def encode_words(
    texts: Iterable[Any], missing: NDArray[np.uint8], /
) -> tuple[NDArray[np.uint32], Words]: ...
def types_of(
    objects: Iterable[Any], missing: NDArray[np.uint8], is_missing: Callable[[Any], bool], /
) -> set[type]: ...
def multiply(
    matrix: Matrix, x: NDArray[np.float64], transposed: bool, absent: int, threads: int | None, /
) -> NDArray[np.float64]: ...
def add_counts(
    matrix: Matrix, begin: int, end: int, absent: int, target: float, log1p: bool,
    masks: NDArray[np.float64], tops: list[int], genes: NDArray[np.float64],
    cells: NDArray[np.float64], /,
) -> None: ...  # fmt: skip
def find(
    matrix: Matrix, what: str, name: str, low: Any, high: Any, absent: int, nonzero: bool,
    threads: int | None, /,
) -> Any: ...  # fmt: skip
def explain(
    matrix: Matrix, name: str, low: Any, high: Any, absent: int, nonzero: bool, /
) -> list[tuple[tuple[int, int], str | None]]: ...
def find_rows(
    handle: Frame, what: str, text: bytes, others: dict[bytes, int], absent: int, nonzero: bool,
    threads: int | None, /,
) -> Any: ...  # fmt: skip
def explain_rows(
    handle: Frame, text: bytes, others: dict[bytes, int], absent: int, nonzero: bool, /
) -> list[tuple[tuple[int, int], str | None]]: ...
def stats(
    object: Object, axis: int, absent: int, threads: int | None, /
) -> tuple[NDArray[Any], ...]: ...
def run_command(arguments: list[str]) -> int: ...
def block_stats(block: Block, /) -> tuple[NDArray[Any], ...] | None: ...
