"""The virtual environments of the tools, one for each, because their pins conflict."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENVS = ROOT / ".venv-peers"
REQUIREMENTS = ROOT / "requirements" / "peers"
# A download of about 200 MB; a longer one hangs.
_LONGEST_SECONDS = 900


class ToolMissing(Exception):
    """A tool's environment cannot be created; the message says why."""


def python(peer: str) -> Path:
    """Return the Python of *peer*'s environment, which is created if it is missing or its pins have changed.

    Raises:
        ToolMissing: it cannot be created.
    """
    pins = REQUIREMENTS / f"{peer}.txt"
    if not pins.is_file():
        raise ToolMissing(f"there is no {pins.relative_to(ROOT)}")
    directory = VENVS / peer
    stamp, digest = directory / ".installed", hashlib.sha256(pins.read_bytes()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != digest:
        print(f"Setting up {directory.relative_to(ROOT)} ...", file=sys.stderr, flush=True)
        _install(directory, pins)
        stamp.write_text(digest)
    return directory / "bin" / "python"


def _install(directory: Path, pins: Path) -> None:
    pip = [str(directory / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([sys.executable, "-m", "venv", "--clear", str(directory)])
    _run([*pip, "--require-hashes", "-r", str(pins)])


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_LONGEST_SECONDS)
    except subprocess.TimeoutExpired:
        raise ToolMissing(f"no end after {_LONGEST_SECONDS} s: {' '.join(command)}") from None
    if done.returncode:
        last_line = (done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}").splitlines()[-1]
        raise ToolMissing(f"cannot be installed: {last_line}")
