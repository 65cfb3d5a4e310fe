"""The virtual environments of the tools, one for each: their pins need not agree with ours or with each other's."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENVS = ROOT / ".venv-peers"
REQUIREMENTS = ROOT / "requirements" / "peers"
# A download of some 200 MB; what takes longer hangs.
_LONGEST_SECONDS = 900


class Missing(Exception):
    """A tool's environment cannot be had; the message says what is missing."""


def python(peer: str) -> Path:
    """Return the Python of *peer*'s environment, which is made, or made anew if its pins have changed.

    Raises:
        Missing: it cannot be made.
    """
    pins = REQUIREMENTS / f"{peer}.txt"
    if not pins.is_file():
        raise Missing(f"there is no {pins.relative_to(ROOT)}")
    directory = VENVS / peer
    stamp, wanted = directory / ".installed", hashlib.sha256(pins.read_bytes()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != wanted:
        print(f"Setting up {directory.relative_to(ROOT)} ...", file=sys.stderr, flush=True)
        _install(directory, pins)
        stamp.write_text(wanted)
    return directory / "bin" / "python"


def _install(directory: Path, pins: Path) -> None:
    pip = [str(directory / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([sys.executable, "-m", "venv", "--clear", str(directory)])
    _run([*pip, "--require-hashes", "-r", str(pins)])


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_LONGEST_SECONDS)
    except subprocess.TimeoutExpired:
        raise Missing(f"no end after {_LONGEST_SECONDS} s: {' '.join(command)}") from None
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}").splitlines()[-1]
        raise Missing(f"cannot be installed: {said}")
