"""The data file as SQLite opens it."""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path

from streambank_local.disk.folder import FolderError, create_file, sync
from streambank_local.disk.record import Kind, Row

# A version that writes another form raises it.
VERSION = 1
# The application's id in SQLite's header has the version too: a newer version changes both, and damage one of them.
_APPLICATION = 0x5342_0000

_SCHEMA = """
CREATE TABLE records (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, first TEXT NOT NULL, second TEXT NOT NULL,
    content BLOB NOT NULL, checksum INTEGER NOT NULL
);
CREATE UNIQUE INDEX names ON records (kind, first, second);
CREATE TABLE space (content BLOB);
"""
_PUT = "INSERT INTO records (kind, first, second, content, checksum) VALUES "
_OR_CHANGE = " ON CONFLICT (kind, first, second) DO UPDATE SET content = excluded.content, checksum = excluded.checksum"
_REMOVE = "DELETE FROM records WHERE kind = ? AND first = ? AND second = ?"
# SQLite takes 999 values in a statement, or more.
_ROWS_AT_ONCE = 150
_ROWS = "SELECT id, kind, first, second, content, checksum FROM records"

# SQLite moves the log into the file after 1,000 pages of 4 KB, and then writes the log from its start again.
_LOG_BYTES = 4_500_000


class DamagedError(Exception):
    """The file is not as SQLite wrote it."""


def log_of(path: Path) -> Path:
    """Return the path of SQLite's log, which holds the writes that are not in the file yet."""
    return path.with_name(path.name + "-wal")


def connect(path: Path) -> sqlite3.Connection:
    """Return a connection to a file of SQLite."""
    connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    # Bytes that are no UTF-8 fail the checksum of their row, and stop no reading.
    connection.text_factory = lambda value: value.decode(errors="surrogateescape")
    return connection


def create(path: Path, rows: Sequence[Row] = ()) -> None:
    """Write a new file with *rows*, as a whole or not at all. Raises OSError, sqlite3.Error, DamagedError."""
    if log_of(path).exists():
        raise DamagedError(f"{path.name} is missing, and its log {log_of(path).name} is there")
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    create_file(new).close()
    with closing(connect(new)) as connection:
        connection.executescript(_SCHEMA)
        connection.execute(f"PRAGMA application_id = {_APPLICATION + VERSION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        write(connection, rows, ())
    new.replace(path)
    sync(path.parent)


def opened(path: Path) -> sqlite3.Connection:
    """Open a file that is there and check it; each commit will be synced before it returns.

    Raises:
        DamagedError: it is damaged.
        FolderError: it is of a newer version, or another program uses it.
    """
    connection = connect(path)
    try:
        _prepare(connection, path)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise _translated(error, path) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    _check_version(connection, path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    problem = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if problem != "ok":
        raise DamagedError(" ".join(str(problem).split()))
    _reserve_log(connection)


def _translated(error: sqlite3.DatabaseError, path: Path) -> Exception:
    # Python 3.11 names SQLite's errors. What has no name is a value that cannot be read.
    name = getattr(error, "sqlite_errorname", "SQLITE_CORRUPT")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR")):
        return DamagedError(str(error))
    return FolderError(f"the folder {path.parent} cannot be used ({error})")


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version < 1 or application != _APPLICATION + version:
        raise DamagedError("its header does not name a version of Streambank")
    if version > VERSION:
        raise FolderError(
            f"the folder {path.parent} was written by a newer version of Streambank"
            f" (it has form {version}, and this version reads form {VERSION})"
        )


def _reserve_log(connection: sqlite3.Connection) -> None:
    """Let the log have its full size at once: a commit that has to lengthen a file waits several times as long."""
    try:
        connection.execute("INSERT INTO space VALUES (zeroblob(?))", (_LOG_BYTES,))
        connection.execute("DELETE FROM space")
        connection.execute("PRAGMA wal_checkpoint(RESTART)")
    except sqlite3.OperationalError as error:
        if "full" not in str(error):  # where the space is missing, what was stored can be read
            raise


def rows(connection: sqlite3.Connection, kind: Kind | None = None) -> list[tuple[int, Row]]:
    """Return the rows, of one kind or all, each with its id. Raises sqlite3.Error."""
    where, values = (" WHERE kind = ?", (str(kind),)) if kind else ("", ())
    return [(id_, tuple(row)) for id_, *row in connection.execute(_ROWS + where, values)]


def rows_between(connection: sqlite3.Connection, start: int, end: int) -> Iterable[tuple[int, Row]]:
    """Yield the rows whose ids are from *start* to *end*, in order. Raises sqlite3.Error."""
    # One row is read by its id alone: a range goes on to the next page, which may be damaged.
    where, values = ("id = ?", (start,)) if start == end else ("id BETWEEN ? AND ? ORDER BY id", (start, end))
    for id_, *row in connection.execute(f"{_ROWS} WHERE {where}", values):
        yield id_, tuple(row)


def write(connection: sqlite3.Connection, puts: Sequence[Row], removals: Sequence[tuple[str, str, str]]) -> None:
    """Write all or nothing, synced. Raises sqlite3.Error.

    Python's lock is let go at each statement, and has to be waited for again. So one statement does it where it can.
    """
    if len(puts) <= _ROWS_AT_ONCE and not removals:
        _put(connection, puts)
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany(_REMOVE, removals)
        for start in range(0, len(puts), _ROWS_AT_ONCE):
            _put(connection, puts[start : start + _ROWS_AT_ONCE])
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # after some errors SQLite has rolled back already
            connection.execute("ROLLBACK")
        raise


def _put(connection: sqlite3.Connection, puts: Sequence[Row]) -> None:
    if puts:
        places = ", ".join(["(?, ?, ?, ?, ?)"] * len(puts))
        connection.execute(_PUT + places + _OR_CHANGE, [value for row in puts for value in row])
