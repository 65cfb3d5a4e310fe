"""What is done about a damaged data file: a copy is kept, and all that can be read goes on.

Damage inside of a row is found by the row's checksum. Damage of SQLite's own pages makes reading fail, and the rows
behind other pages are read all the same.
"""

import base64
import json
import logging
import os
import shutil
import sqlite3
import struct
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any

from streambank_local.disk import database, log
from streambank_local.disk.folder import FolderError, append_file, sync
from streambank_local.disk.record import Row, record_of

SET_ASIDE = "damaged.jsonl"
_SALVAGED = "salvaged.db"
# A row that cannot be read costs about two failures for each level of the ids above it.
_MOST_FAILURES = 20_000
_LAST_ID = 2**62
_MOST_NAMES = 10
# The size of a page, and the number of pages. https://www.sqlite.org/fileformat.html
_HEADER = struct.Struct(">16xH10xI")
_MOST_BYTES = 2**40

_log = logging.getLogger(__name__)


def set_damaged_aside(connection: sqlite3.Connection, path: Path) -> None:
    """Move the rows whose checksums are wrong to a file beside. Raises OSError, sqlite3.Error."""
    damaged = [(id_, row) for id_, row in database.rows(connection) if record_of(row) is None]
    if damaged:
        _append(path.parent, [row for _, row in damaged])
        connection.executemany("DELETE FROM records WHERE id = ?", [(id_,) for id_, _ in damaged])


def rebuild(path: Path, problem: str) -> None:
    """Keep a copy of the damaged file, and put a new one with all readable rows into its place.

    Raises:
        FolderError: nothing can be read.
        OSError: the folder cannot be written.
    """
    rows = list(_rows(path))
    sound = [row for row in rows if record_of(row)]
    if not sound:
        raise FolderError(
            f"the file {path} is damaged ({problem}), and nothing can be read of it;"
            " restore the folder from a copy, or move it away to begin anew"
        )
    copy = _copy(path)
    database.create(path.with_name(_SALVAGED), sound)
    finish(path)
    _log.error(
        "the file %s is damaged (%s): %d items were read; a copy of the file is in %s", path, problem, len(sound), copy
    )
    if len(sound) < len(rows):
        _append(path.parent, [row for row in rows if record_of(row) is None])


def finish(path: Path) -> None:
    """Put a new file that was written completely into the place of the damaged one. Raises OSError."""
    salvaged = path.with_name(_SALVAGED)
    if salvaged.exists():
        # The damaged file's log must not be applied to the new file.
        database.log_of(path).unlink(missing_ok=True)
        salvaged.replace(path)
        sync(path.parent)


def _rows(path: Path) -> list[Row]:
    """Return the rows that can be read, from a copy: SQLite changes a file that it opens."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        for file in _files(path):
            shutil.copy2(file, folder)
        copy = Path(folder) / path.name
        log.apply(database.log_of(copy), copy)
        _lengthen(copy)
        with closing(database.connect(copy)) as connection:
            return list(readable_rows(connection))


def _lengthen(path: Path) -> None:
    """Give a file that lost its end the length that its header states: SQLite reads nothing of it otherwise."""
    with path.open("r+b") as file:
        header = file.read(_HEADER.size)
        if len(header) == _HEADER.size:
            page_bytes, pages = _HEADER.unpack(header)
            length = min(page_bytes * pages, _MOST_BYTES)
            if length > path.stat().st_size:
                file.truncate(length)


def readable_rows(connection: sqlite3.Connection) -> Iterator[Row]:
    """Yield the rows that can be read: where a range of ids fails, its halves are read on their own."""
    pending = [(1, _last_id(connection))]
    failures = 0
    while pending and failures < _MOST_FAILURES:
        start, end = pending.pop()
        try:
            for id_, row in database.rows_between(connection, start, end):
                start = id_ + 1
                yield row
        except sqlite3.DatabaseError:
            failures += 1
            if start < end:
                middle = (start + end) // 2
                pending += [(middle + 1, end), (start, middle)]


def _last_id(connection: sqlite3.Connection) -> int:
    with suppress(sqlite3.DatabaseError):
        return int(connection.execute("SELECT max(id) FROM records").fetchone()[0] or 0)
    return _LAST_ID


def _files(path: Path) -> list[Path]:
    return [file for file in (path, database.log_of(path)) if file.exists()]


def _copy(path: Path) -> Path:
    for number in count(1):
        folder = path.with_name(f"damaged-{number}")
        if not folder.exists():
            break
    folder.mkdir(0o700)
    for file in _files(path):
        shutil.copy2(file, folder)
    sync(folder)
    return folder


def _append(folder: Path, rows: Iterable[Row]) -> None:
    lines = [json.dumps([_printable(value) for value in row]) for row in rows]
    with append_file(folder / SET_ASIDE) as file:
        file.write("".join(line + "\n" for line in lines).encode())
        file.flush()
        os.fsync(file.fileno())
    names = ", ".join(" ".join(map(str, json.loads(line)[:3])) for line in lines[:_MOST_NAMES])
    more = ", ..." if len(lines) > _MOST_NAMES else ""
    _log.error("%d damaged items were set aside in %s: %s%s", len(lines), folder / SET_ASIDE, names, more)


def _printable(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value
