"""The data folder: what is kept, and who may use it."""

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from streambank_local.disk import database
from streambank_local.disk.record import Kind, Record
from streambank_local.disk.store import FILE, NotKeptError, opened
from tests.data_folder import RECORDS, fill, items, refusal


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_records_survive(folder: Path) -> None:
    """What was put is there at the next start, changed as it was changed; what was removed is not."""
    first, second, third = RECORDS[:3]
    with opened(folder) as store:
        store.write([first, second, third])
        store.write([Record(second.kind, second.first, second.second, b"new"), Record(*_names(first), None)])
        assert store.setting("a", lambda: b"1") == b"1"
    with opened(folder) as store:
        assert {(record.second, record.content) for record in store.read(Kind.ITEM)} == {
            (second.second, b"new"),
            (third.second, third.content),
        }
        assert store.setting("a", lambda: b"2") == b"1"


def _names(record: Record) -> tuple[str, str, str]:
    return record.kind, record.first, record.second


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_only_the_owner_can_read_it(folder: Path) -> None:
    """The folder has mode 0700 and each file 0600, also while SQLite has its log beside the file."""
    with opened(folder) as store:
        store.write(RECORDS)
        files = list(folder.iterdir())
        assert len(files) >= 3
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_second_process_is_refused_in_one_line_that_names_the_folder(folder: Path) -> None:
    """One process uses a folder at a time, and the lock ends with it."""
    code = (
        "import sys, pathlib\nfrom streambank_local.disk.store import opened\nwith opened(pathlib.Path(sys.argv[1])): 0"
    )
    with opened(folder):
        assert "is used by another process" in refusal(folder)
        other = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=False)
        assert f"the folder {folder} is used by another process" in other.stderr
    assert subprocess.run([sys.executable, "-c", code, str(folder)], check=False).returncode == 0


def test_a_path_that_is_a_file_is_refused(folder: Path) -> None:
    """The data need a folder."""
    folder.write_bytes(b"")
    assert refusal(folder) == f"{folder} is a file; the data need a folder"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="everybody may write")
def test_a_folder_that_cannot_be_written_is_refused(folder: Path) -> None:
    """It is named with the reason."""
    folder.mkdir(0o500)
    assert str(folder) in refusal(folder)


def test_a_file_that_cannot_be_written_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused at the start, and not at the first write."""
    fill(folder)
    connect = database.connect

    def read_only(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.execute("PRAGMA query_only = 1")
        return connection

    monkeypatch.setattr(database, "connect", read_only)
    assert refusal(folder) == f"the folder {folder} cannot be used (attempt to write a readonly database)"


def test_a_folder_in_a_file_is_refused(folder: Path) -> None:
    """A folder that cannot be made is named with the reason."""
    folder.write_bytes(b"")
    assert f"the folder {folder / 'inner'} cannot be made" in refusal(folder / "inner")


def test_a_newer_version_is_refused(folder: Path) -> None:
    """A folder of a newer version is not read, and not changed."""
    fill(folder)
    with sqlite3.connect(folder / FILE) as newer:
        newer.execute("PRAGMA user_version = 7")
        newer.execute(f"PRAGMA application_id = {0x5342_0007}")
    newer.close()
    before = (folder / FILE).read_bytes()
    assert "was written by a newer version of Streambank (it has form 7, and this version reads form 1)" in refusal(
        folder
    )
    assert (folder / FILE).read_bytes() == before


class Faulty:
    """A connection of which one call fails."""

    def __init__(self, connection: sqlite3.Connection, at: int) -> None:
        self._connection = connection
        self._left = at

    def __getattr__(self, name: str) -> Any:
        original = getattr(self._connection, name)

        def call(*arguments: Any) -> Any:
            self._left -= 1
            if self._left == 0:
                raise sqlite3.OperationalError("disk I/O error")
            return original(*arguments)

        return call


@pytest.mark.parametrize("at", range(1, 6))
@pytest.mark.parametrize("removes", [False, True])
def test_a_write_that_fails_at_any_call_writes_nothing(folder: Path, at: int, removes: bool) -> None:
    """It raises, nothing of it is there at the next start, and the next write succeeds."""
    fill(folder)
    changes = [Record(*_names(record), b"changed") for record in RECORDS[:3]]
    changes += [Record(*_names(RECORDS[9]), None)] if removes else []
    with opened(folder) as store:
        connection = store._database
        faulty: Any = Faulty(connection, at)
        store._database = faulty
        if at <= (4 if removes else 1):
            with pytest.raises(NotKeptError, match=f"the folder {folder} cannot be written"):
                store.write(changes)
        else:
            store.write(changes)
            changes = []
        store._database = connection
        store.write([RECORDS[5]])
    left = items(folder)
    assert (left["M#0"] == RECORDS[0]) is bool(changes)
    assert len(left) == len(RECORDS) - (removes and not changes)


def test_a_full_disk_refuses_the_write_and_keeps_the_rest(folder: Path) -> None:
    """SQLite's own limit stands for a full disk: the write raises, and is not there later."""
    fill(folder)
    with opened(folder) as store:
        pages = store._database.execute("PRAGMA page_count").fetchone()[0]
        store._database.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(NotKeptError, match="full"):
            store.write([Record(Kind.OBJECT, "bucket", "key", b"x" * 8_000_000)])
        store.write([Record(*_names(RECORDS[0]), b"small")])
    assert items(folder)["M#0"].content == b"small"
    with opened(folder) as store:
        assert store.read(Kind.OBJECT) == []


def test_a_closed_store_acknowledges_nothing(folder: Path) -> None:
    """A write after the end raises."""
    with opened(folder) as store:
        pass
    with pytest.raises(NotKeptError):
        store.write(RECORDS[:1])


def test_each_commit_is_synced(folder: Path) -> None:
    """SQLite waits for the disk at each commit: in WAL mode that is synchronous = FULL."""
    with opened(folder) as store:
        pragmas = [store._database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    assert pragmas == ["wal", 2]


def test_a_new_file_is_complete_or_not_there(folder: Path) -> None:
    """A process that ended while it made the file leaves a folder that the next one can use."""
    folder.mkdir()
    (folder / "streambank.new").write_bytes(b"half")
    fill(folder)
    assert len(items(folder)) == len(RECORDS)
