"""SQLite's log, read without SQLite, which stops at a damaged frame and drops all writes behind it without a word.

Source: https://www.sqlite.org/fileformat.html, "The Write-Ahead Log"
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_HEADER = struct.Struct(">IIII8sII")
_FRAME = struct.Struct(">II8sII")
_BIG_ENDIAN = 0x377F0683
_LITTLE_ENDIAN = 0x377F0682


@dataclass(frozen=True, slots=True)
class Frame:
    """A page as a write left it; *is_commit* ends a write, *is_sound* tells whether it is as SQLite wrote it."""

    page: int
    content: bytes
    is_commit: bool
    is_sound: bool


def is_damaged(path: Path) -> bool:
    """Tell whether a write follows a damaged frame; a damaged end is a write that was under way. Raises OSError."""
    frames = list(_frames(path.read_bytes())) if path.exists() else []
    unsound = next((index for index, frame in enumerate(frames) if not frame.is_sound), len(frames))
    return sum(frame.is_commit for frame in frames[unsound:]) > 1


def apply(log: Path, path: Path) -> None:
    """Write the pages of all complete writes into the file, sound or not, and remove the log. Raises OSError."""
    if not log.exists():
        return
    frames = list(_frames(log.read_bytes()))
    while frames and not frames[-1].is_commit:
        frames.pop()
    with path.open("r+b") as file:
        for frame in frames:
            file.seek((frame.page - 1) * len(frame.content))
            file.write(frame.content)
    log.unlink()


def _frames(log: bytes) -> Iterator[Frame]:
    """Yield the frames of the log's present round; those of earlier rounds have other salts."""
    if len(log) < _HEADER.size + _FRAME.size:
        return
    magic, _, page_bytes, _, salts, first, second = _HEADER.unpack_from(log)
    order = ">" if magic == _BIG_ENDIAN else "<"
    checksum = _checksum(log[:24], order, (0, 0))
    is_sound = magic in (_BIG_ENDIAN, _LITTLE_ENDIAN) and checksum == (first, second)
    if not is_sound:  # the first frame is of the present round
        page_bytes, salts = 4096, _FRAME.unpack_from(log, _HEADER.size)[2]
    for start in range(_HEADER.size, len(log) - _FRAME.size - page_bytes + 1, _FRAME.size + page_bytes):
        page, length, own_salts, first, second = _FRAME.unpack_from(log, start)
        content = log[start + _FRAME.size : start + _FRAME.size + page_bytes]
        if is_sound:
            checksum = _checksum(log[start : start + 8] + content, order, checksum)
            is_sound = own_salts == salts and checksum == (first, second)
        if own_salts == salts and 0 < page < 2**31:
            yield Frame(page, content, length > 0, is_sound)


def _checksum(content: bytes, order: str, before: tuple[int, int]) -> tuple[int, int]:
    first, second = before
    words = struct.unpack(f"{order}{len(content) // 4}I", content)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
