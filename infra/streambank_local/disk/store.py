"""What local mode keeps: records in a file of SQLite, each write synced before it returns."""

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from streambank_local.disk import database, log, salvage
from streambank_local.disk.folder import FolderError, locked
from streambank_local.disk.record import Kind, Record, record_of, row_of

FILE = "streambank.db"

_log = logging.getLogger(__name__)


class NotKeptError(Exception):
    """A write is not on the disk."""


class Store:
    """The records of a data folder."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self._database = connection
        self._lock = threading.Lock()

    def write(self, records: Sequence[Record]) -> None:
        """Write all of *records* or none. Raises NotKeptError."""
        puts = [row_of(record) for record in records if record.content is not None]
        removals = [(record.kind, record.first, record.second) for record in records if record.content is None]
        with self._lock:
            try:
                database.write(self._database, puts, removals)
            except sqlite3.Error as error:
                _log.error("the folder %s cannot be written: %s", self.folder, error)
                raise NotKeptError(f"the folder {self.folder} cannot be written: {error}") from error

    def read(self, kind: Kind) -> list[Record]:
        """Return the records of a kind; those that are damaged were set aside when the store was opened."""
        with self._lock:
            rows = database.rows(self._database, kind)
        return [record for _, row in rows if (record := record_of(row))]

    def setting(self, name: str, make: Callable[[], bytes]) -> bytes:
        """Return a setting; the first call makes it. Raises NotKeptError."""
        content = {record.first: record.content for record in self.read(Kind.SETTING)}.get(name)
        if content is None:
            content = make()
            self.set(name, content)
        return content

    def set(self, name: str, content: bytes) -> None:
        """Change a setting. Raises NotKeptError."""
        self.write([Record(Kind.SETTING, name, "", content)])

    def close(self) -> None:
        """Close the file; a write that comes later raises NotKeptError."""
        with self._lock:
            self._database.close()


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    """Open the store of a data folder, which is made if it is not there, and close it at the end.

    Raises:
        FolderError: the folder is used by another process, cannot be written, is of a newer version, or is damaged so
            that nothing can be read.
    """
    with locked(folder):
        store = Store(folder, _connection(folder / FILE))
        try:
            yield store
        finally:
            store.close()


def _connection(path: Path) -> sqlite3.Connection:
    try:
        salvage.finish(path)
        if not path.exists():
            database.create(path)
        try:
            if log.is_damaged(database.log_of(path)):
                raise database.DamagedError("its log is not as SQLite wrote it")
            connection = database.opened(path)
        except database.DamagedError as error:
            salvage.rebuild(path, str(error))
            connection = database.opened(path)
        salvage.set_damaged_aside(connection, path)
    except (OSError, sqlite3.Error, database.DamagedError) as error:
        raise FolderError(f"the folder {path.parent} cannot be used ({error})") from error
    return connection
