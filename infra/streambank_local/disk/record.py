"""The records of the data file."""

import zlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What a record holds; its names are two texts."""

    ITEM = "item"  # PK and SK
    OBJECT = "object"  # bucket and key
    SETTING = "setting"  # its name, and nothing


@dataclass(frozen=True, slots=True)
class Record:
    """A record under its kind and names; without *content* it is to be removed."""

    kind: str
    first: str
    second: str
    content: bytes | None


# A row of the file: kind, first, second, content, checksum. In a damaged file a value may have any type.
Row = tuple[Any, Any, Any, Any, Any]


def row_of(record: Record) -> Row:
    """Return the row of a record that has content."""
    content = record.content or b""
    return (
        record.kind,
        record.first,
        record.second,
        content,
        _checksum(record.kind, record.first, record.second, content),
    )


def record_of(row: Row) -> Record | None:
    """Return the record of a row, or None if the row is not what was written."""
    kind, first, second, content, checksum = row
    if not all(isinstance(name, str) for name in (kind, first, second)) or not isinstance(content, bytes):
        return None
    is_sound = _checksum(kind, first, second, content) == checksum
    return Record(kind, first, second, content) if is_sound else None


def _checksum(kind: str, first: str, second: str, content: bytes) -> int:
    names = f"{kind}\0{first}\0{second}\0".encode(errors="surrogateescape")
    return zlib.crc32(content, zlib.crc32(names))
