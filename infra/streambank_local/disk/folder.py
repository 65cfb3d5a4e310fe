"""The data folder: made for its owner alone, and used by one process at a time."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

FOLDER_MODE = 0o700
FILE_MODE = 0o600
LOCK = "lock"


class FolderError(Exception):
    """The data folder cannot be used; the message is one line and names the folder."""


@contextmanager
def locked(folder: Path) -> Iterator[Path]:
    """Make *folder* if it is not there, and hold its lock, which ends with the process. Raises FolderError."""
    _make(folder)
    try:
        file = os.fdopen(os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, FILE_MODE), "r+b")
    except OSError as error:
        raise FolderError(f"the folder {folder} cannot be written ({error.strerror})") from error
    with file:
        if not _lock(file):
            raise FolderError(f"the folder {folder} is used by another process")
        yield folder


def create_file(path: Path) -> IO[bytes]:
    """Return a new file that only its owner can read. Raises OSError."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE), "wb")


def append_file(path: Path) -> IO[bytes]:
    """Return a file that only its owner can read, at its end. Raises OSError."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, FILE_MODE), "ab")


def sync(folder: Path) -> None:
    """Write the names in *folder* to the disk; Windows has no such call."""
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    except FileExistsError as error:
        raise FolderError(f"{folder} is a file; the data need a folder") from error
    except OSError as error:
        raise FolderError(f"the folder {folder} cannot be made ({error.strerror})") from error


def _lock(file: IO[bytes]) -> bool:
    """Lock *file* for as long as it is open; False if another process has locked it."""
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415  it exists on Windows only

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415  Windows does not have it

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
