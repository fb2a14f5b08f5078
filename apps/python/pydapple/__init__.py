"""dapple for Python: matrices and frames in files of any size, sliced like NumPy arrays.

>>> import pydapple as dp
>>> m = dp.open("ratings.dbdf")     # microseconds, whatever its size
>>> m[10:20, 3]                     # a NumPy array
>>> m.sparse[10:20]                 # a SciPy csr_array
>>> dp.write("copy.dbdf", m)

Start with `open`, which gives a `Matrix` or a `Frame`, and `write`.
"""

import sys as _sys
from typing import Any as _Any

from . import dataset, singlecell
from ._core import Block
from .advice import PACKAGE as _PACKAGE
from .advice import no_attribute as _no_attribute
from .annotated import read_anndata
from .annotated_write import write_anndata
from .collection import Collection
from .collection_files import pack_collection, unpack_collection, write_collection
from .conversion import convert
from .errors import (
    AbsentError,
    CorruptError,
    Error,
    ExistsError,
    InvalidArgumentError,
    InvalidIndexError,
    NotRecognisedError,
    OutOfRangeError,
    StaleError,
    SystemRefusedError,
    TooLargeError,
    TypeMismatchError,
    UnsupportedError,
)
from .expressions import Condition
from .files import estimate_packing, formats, index, repair, verify
from .frame import Frame
from .information import info
from .join import append, concat
from .loader import loader
from .matrix import Matrix
from .meanings import Group, Meaning
from .names import Names
from .opening import open_any as open
from .picture import Picture
from .polars_scan import scan
from .reports import FormatInfo, RepairReport, VerifyReport, WriteSummary
from .search import Hits, Verdict
from .sparse_view import SparseView
from .stats import Stats
from .stores import zarr_store
from .strips import Strip
from .write import frame_writer, write, writer
from .writers import FrameWriter, MatrixWriter

__version__ = "0.3.0"

__all__ = [
    "AbsentError",
    "Block",
    "Collection",
    "Condition",
    "CorruptError",
    "Error",
    "ExistsError",
    "FormatInfo",
    "Frame",
    "FrameWriter",
    "Group",
    "Hits",
    "InvalidArgumentError",
    "InvalidIndexError",
    "Matrix",
    "MatrixWriter",
    "Meaning",
    "Names",
    "NotRecognisedError",
    "OutOfRangeError",
    "Picture",
    "RepairReport",
    "SparseView",
    "StaleError",
    "Stats",
    "Strip",
    "SystemRefusedError",
    "TooLargeError",
    "TypeMismatchError",
    "UnsupportedError",
    "Verdict",
    "VerifyReport",
    "WriteSummary",
    "append",
    "concat",
    "convert",
    "dataset",
    "estimate_packing",
    "formats",
    "frame_writer",
    "index",
    "info",
    "loader",
    "open",
    "pack_collection",
    "read_anndata",
    "repair",
    "scan",
    "singlecell",
    "unpack_collection",
    "verify",
    "write",
    "write_anndata",
    "write_collection",
    "writer",
    "zarr_store",
]


def __getattr__(name: str) -> _Any:
    raise _no_attribute("pydapple", name, _PACKAGE, of=_sys.modules[__name__])
