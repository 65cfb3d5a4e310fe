"""What is done about damage of the data folder."""

import json
import os
import random
import shutil
from pathlib import Path

import pytest

from streambank_local.disk import log
from streambank_local.disk.folder import FolderError
from streambank_local.disk.store import FILE, opened
from tests.data_folder import LOG, RECORDS, fill, items, refusal


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


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
