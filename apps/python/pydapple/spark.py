"""Spark 4: ``spark.dataSource.register(Dapple)``, then the format "dapple" reads and writes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import datasource as spark
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from . import dataset
from .dask_frames import row_ranges
from .errors import InvalidArgumentError, TypeMismatchError
from .files import open
from .frame import Frame

# What Spark has no type for becomes one that holds it.
_WIDER = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64(),
          pa.uint64(): pa.decimal128(20, 0)}  # fmt: skip


class Dapple(spark.DataSource):  # type: ignore[misc]
    """Frames: reads the state that is the latest when it starts, and appends parts."""

    @classmethod
    def name(cls) -> str:
        """``spark.read.format("dapple")``."""
        return "dapple"

    def _path(self) -> str:
        if "path" not in self.options:
            raise InvalidArgumentError("there is no path: load(PATH) and save(DIR) give one")
        return str(self.options["path"])

    def _frame(self) -> Frame:
        made = open(self._path())
        if isinstance(made, Frame):
            return made
        raise InvalidArgumentError(f"{self._path()}: Spark reads frames, not matrices")

    def schema(self) -> Any:
        """Spark's types of the columns."""
        types = {f.name: f.type for f in self._frame()._named_arrow(slice(0, 0)).schema}
        for name, kind in types.items():
            types[name] = pa.string() if pa.types.is_dictionary(kind) else _WIDER.get(kind, kind)
        return from_arrow_schema(pa.schema(types))

    def reader(self, schema: Any) -> Any:
        """Ranges of rows of one state."""
        return _Reader(self._frame(), schema)

    def writer(self, schema: Any, overwrite: bool) -> Any:
        """Parts by each task, committed by the driver."""
        if overwrite:
            raise InvalidArgumentError('data sets are never overwritten: use mode("append")')
        return _Writer(os.path.abspath(self._path()))


@dataclass
class _Reader(spark.DataSourceReader):  # type: ignore[misc]
    frame: Frame  # its pickle has the path of the state
    schema: Any

    def partitions(self) -> list[Any]:
        # Without any, Spark asks for rows of none.
        return [spark.InputPartition(rows) for rows in row_ranges(self.frame) or [(0, 0)]]

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        table = self.frame._named_arrow(slice(*partition.value))
        try:
            made = table.cast(to_arrow_schema(self.schema, timezone="UTC"))
        except pa.ArrowInvalid as error:  # Spark has microseconds
            raise TypeMismatchError(f"{self.frame.path} does not fit Spark: {error}") from error
        yield from made.to_batches()


@dataclass
class _Parts(spark.WriterCommitMessage):  # type: ignore[misc]
    parts: list[dataset.Part]


@dataclass
class _Writer(spark.DataSourceArrowWriter):  # type: ignore[misc]
    folder: str

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Any:
        batches = [batch for batch in iterator if batch.num_rows]
        table = pa.Table.from_batches(batches) if batches else None
        return _Parts([] if table is None else [dataset.write_part(self.folder, table)])

    def commit(self, messages: Any) -> None:
        parts = [part for message in messages if message for part in message.parts]
        if parts:
            dataset.commit(self.folder, parts, below=True)
