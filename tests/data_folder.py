"""A data folder with records, for the tests of the store and of its damage."""

import os
from pathlib import Path

import pytest

from streambank_local.disk.folder import FolderError
from streambank_local.disk.record import Kind, Record
from streambank_local.disk.store import FILE, opened

LOG = FILE + "-wal"
RECORDS = [Record(Kind.ITEM, f"bank{number % 7}", f"M#{number}", os.urandom(40 + number)) for number in range(400)]


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
