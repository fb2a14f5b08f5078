"""Ray: ``data.write_datasink(DappleDatasink(DIR))``, ``read_datasource(DappleDatasource(DIR))``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from typing import Any

from ray.data import Datasink, Datasource
from ray.data.block import BlockAccessor, BlockMetadata
from ray.data.datasource import ReadTask

from . import dataset
from .files import open
from .identity import file_name
from .matrix import Matrix
from .reports import Path

_CELLS = "data"  # how Ray calls the column of an array of NumPy


def _block(source: Any, begin: int, end: int) -> list[Any]:
    rows = slice(begin, end)
    if isinstance(source, Matrix):
        return [BlockAccessor.batch_to_block({_CELLS: source[rows]})]
    return [source._named_arrow(rows)]


class DappleDatasource(Datasource):  # type: ignore[misc]
    """Rows of a frame, or of a matrix as the column "data". Every task reads the same state."""

    def __init__(self, path: Path, **options: Any) -> None:
        self._object = open(path, **options)

    def estimate_inmemory_data_size(self) -> int:
        """Bytes of the file or of all parts."""
        return int(self._object.file_bytes)

    def get_read_tasks(self, parallelism: int, *_: Any, **__: Any) -> list[Any]:
        """One task for each range of rows."""
        rows = self._object.shape[0]
        step = max(1, -(-rows // parallelism))
        tasks = []
        for begin in range(0, rows, step):
            end = min(begin + step, rows)
            size = self.estimate_inmemory_data_size() * (end - begin) // rows
            about = BlockMetadata(num_rows=end - begin, size_bytes=size, exec_stats=None)
            tasks.append(ReadTask(partial(_block, self._object, begin, end), about))
        return tasks


class DappleDatasink(Datasink[Any]):  # type: ignore[misc]
    """Each task writes parts of its own; all are committed at once, below the rows that are there.

    A matrix is written of blocks whose only column is "data" and holds arrays. Options are those of
    `write_part`.
    """

    def __init__(self, folder: Path, **options: Any) -> None:
        self._folder = os.path.abspath(file_name(folder))
        self._options = options

    def write(self, blocks: Iterable[Any], ctx: Any) -> Any:
        """Write a part for each block."""
        parts = []
        for rows in map(BlockAccessor.for_block, blocks):
            if rows.num_rows() > 0:
                only = rows.to_numpy(_CELLS) if rows.column_names() == [_CELLS] else None
                data = rows.to_arrow() if only is None or only.ndim == 1 else only
                parts.append(dataset.write_part(self._folder, data, **self._options))
        return ctx.task_idx, parts

    def on_write_complete(self, write_result: Any) -> None:
        """Commit what tasks wrote, in their order."""
        parts = [part for _, some in sorted(write_result.write_returns) for part in some]
        if parts:
            dataset.commit(self._folder, parts, below=True)
