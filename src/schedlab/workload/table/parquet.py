"""A Parquet file as chunks of columns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from schedlab.files.bytestream import Progress
from schedlab.model.errors import InputError
from schedlab.model.mistakes import printable
from schedlab.workload.table.files import Chunk

ROWS = 1 << 16  # at a time


class ParquetTable:
    """A Parquet file; read by batches of rows."""

    word = "row"

    def __init__(self, path: Path, progress: Progress | None) -> None:
        self.path, self.progress = path, progress
        self._hash = ""
        file = self._open()
        self._rows = file.metadata.num_rows
        self.titles = list(file.schema_arrow.names)
        self.metadata = (file.schema_arrow.metadata or {}).get(b"schedlab")

    @property
    def sha256(self) -> str:
        if not self._hash:
            with self.path.open("rb") as file:
                self._hash = hashlib.file_digest(file, "sha256").hexdigest()
        return self._hash

    def chunks(self, wanted: Sequence[str]) -> Iterator[Chunk]:
        import pyarrow as pa

        size, rows, done = self.path.stat().st_size, max(self._rows, 1), 0
        columns = list(dict.fromkeys(wanted)) or self.titles[:1]
        try:
            for batch in self._open().iter_batches(batch_size=ROWS, columns=columns, use_threads=False):
                first = done + 1
                done += batch.num_rows
                named = dict(zip(batch.schema.names, batch.columns, strict=True))
                yield Chunk({title: named[title] for title in wanted}, batch.num_rows, first.__add__)
                if self.progress:
                    self.progress(size * done // rows, size)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._damaged(error) from None

    def _open(self) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            file = pq.ParquetFile(self.path)
            _ = file.schema_arrow.names  # titles that are not text are found here
            return file
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> InputError:
        reason = printable((str(error) or type(error).__name__).splitlines()[0], 200)
        hint = "fetch the file again, or write it again with the program it came from"
        return InputError(f"is not a sound Parquet file: {reason}", where=str(self.path), hint=hint)
