"""The data folder: what is kept, who may use it, and what is done about damage."""

import json
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from streambank_local.disk import database, log
from streambank_local.disk.folder import FolderError
from streambank_local.disk.record import Kind, Record
from streambank_local.disk.store import FILE, NotKeptError, opened

LOG = FILE + "-wal"
RECORDS = [Record(Kind.ITEM, f"bank{number % 7}", f"M#{number}", os.urandom(40 + number)) for number in range(400)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


def fill(folder: Path) -> None:
    with opened(folder) as store:
        store.write(RECORDS)


def items(folder: Path) -> dict[str, Record]:
    with opened(folder) as store:
        return {record.second: record for record in store.read(Kind.ITEM)}


def refusal(folder: Path) -> str:
    with pytest.raises(FolderError) as refused, opened(folder):
        pass
    return str(refused.value)


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


@pytest.mark.parametrize("content", [b"", b"garbage" * 1000, b"SQLite format 3\0" + b"\0" * 5000])
def test_a_file_of_which_nothing_can_be_read_is_called_damaged(folder: Path, content: bytes) -> None:
    """Nothing is started anew in its place, and the file stays as it is."""
    fill(folder)
    (folder / FILE).write_bytes(content)
    problem = refusal(folder)
    assert f"the file {folder / FILE} is damaged" in problem
    assert "nothing can be read of it" in problem
    assert "\n" not in problem
    assert (folder / FILE).read_bytes() == content


def test_a_damaged_row_is_set_aside_and_named(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A row that is not as it was written costs itself alone; its content goes to a file beside."""
    fill(folder)
    content = (folder / FILE).read_bytes()
    victim = RECORDS[123].content or b""
    assert content.count(victim) == 1
    (folder / FILE).write_bytes(content.replace(victim, b"x" * len(victim)))
    assert items(folder).keys() == {record.second for record in RECORDS} - {"M#123"}
    assert (
        f"1 damaged items were set aside in {folder / 'damaged.jsonl'}: item {RECORDS[123].first} M#123" in caplog.text
    )
    (line,) = (folder / "damaged.jsonl").read_text().splitlines()
    assert json.loads(line)[2] == "M#123"
    caplog.clear()
    assert len(items(folder)) == len(RECORDS) - 1
    assert not caplog.text


def test_a_damaged_page_costs_its_rows_alone(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The rows of other pages are read, and a copy of the damaged file is kept."""
    fill(folder)
    content = bytearray((folder / FILE).read_bytes())
    page = content.index(RECORDS[200].content or b"") // 4096
    on_page = [record for record in RECORDS if (record.content or b"") in content[page * 4096 : (page + 1) * 4096]]
    content[page * 4096 : page * 4096 + 200] = b"\xff" * 200
    (folder / FILE).write_bytes(content)
    left = items(folder)
    assert "M#200" not in left
    assert left.keys() >= {record.second for record in RECORDS} - {record.second for record in on_page}
    assert f"the file {folder / FILE} is damaged" in caplog.text
    assert (folder / "damaged-1" / FILE).read_bytes() == content
    assert len(items(folder)) == len(left)


def test_a_truncated_file_keeps_what_is_left(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A file that lost its end is damaged, and the rows before are read."""
    with opened(folder) as store:
        for record in RECORDS:
            store.write([record])
    os.truncate(folder / FILE, (folder / FILE).stat().st_size - 40 * 4096)
    left = items(folder)
    assert left
    assert all(left[record.second] == record for record in RECORDS if record.second in left)
    assert "is damaged" in caplog.text


@pytest.mark.parametrize("seed", range(20))
def test_flipped_bytes_never_change_a_record(folder: Path, seed: int, caplog: pytest.LogCaptureFixture) -> None:
    """Wherever three bytes are flipped: each record is as it was written, or is missing and damage is reported."""
    fill(folder)
    content = bytearray((folder / FILE).read_bytes())
    chance = random.Random(seed)
    used = [index for index in range(0, len(content), 4096) if any(content[index : index + 4096])]
    for _ in range(3):
        content[chance.choice(used) + chance.randrange(4096)] ^= 1 << chance.randrange(8)
    (folder / FILE).write_bytes(content)
    try:
        left = items(folder)
    except FolderError as refused:
        assert "damaged" in str(refused)  # noqa: PT017  both outcomes are right
        return
    assert all(left[record.second] == record for record in RECORDS if record.second in left)
    assert len(left) == len(RECORDS) or "damaged" in caplog.text
    assert len(left) > len(RECORDS) * 0.8


@pytest.fixture
def killed(folder: Path, tmp_path: Path) -> Path:
    """A folder as `kill -9` leaves it, with the writes of its last seconds in the log."""
    with opened(folder) as store:
        for record in RECORDS[:200]:
            store.write([record])
        shutil.copytree(folder, tmp_path / "killed")
    return tmp_path / "killed"


def test_a_log_is_read_after_a_kill(killed: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Without damage there is no word about it."""
    assert not log.is_damaged(killed / LOG)
    assert len(items(killed)) == 200
    assert not caplog.text


def test_a_write_that_was_cut_off_is_left_out(killed: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A log whose last write is not complete is not damaged: nobody got a reply to that write."""
    frames = list(log._frames((killed / LOG).read_bytes()))
    assert frames[-1].is_commit
    end = 32 + len(frames) * (24 + 4096)
    with (killed / LOG).open("r+b") as file:
        file.seek(end - 100)
        file.write(b"\0" * 100)
    assert len(items(killed)) in (199, 200)
    assert not caplog.text


@pytest.mark.parametrize("seed", range(12))
def test_damage_of_the_log_costs_no_more_than_is_damaged(
    killed: Path, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    """SQLite alone would drop every write behind the damage, and say nothing."""
    content = bytearray((killed / LOG).read_bytes())
    used = 32 + len(list(log._frames(bytes(content)))) * (24 + 4096)
    chance = random.Random(seed)
    content[chance.randrange(used * 9 // 10)] ^= 1 << chance.randrange(8)
    (killed / LOG).write_bytes(content)
    left = items(killed)
    assert "its log is not as SQLite wrote it" in caplog.text
    assert all(left[record.second] == record for record in RECORDS[:200] if record.second in left)
    assert len(left) >= 170


def test_an_interrupted_rebuild_is_finished(folder: Path) -> None:
    """A new file that is complete takes the damaged file's place at the next start, and the old log is not applied."""
    fill(folder)
    sound = folder / "salvaged.db"
    (folder / FILE).rename(sound)
    (folder / FILE).write_bytes(b"damaged")
    (folder / (FILE + "-wal")).write_bytes(b"old")
    assert len(items(folder)) == len(RECORDS)
    assert not sound.exists()


def test_a_log_without_its_file_is_called_damage(folder: Path) -> None:
    """The file was lost: nothing is started anew beside its log."""
    folder.mkdir()
    (folder / (FILE + "-wal")).write_bytes(b"log")
    assert f"{FILE} is missing" in refusal(folder)


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
