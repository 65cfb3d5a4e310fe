"""The tools, in several virtual environments because their pins conflict."""

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from infra.stack.outcome import RequirementError

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "stack"
BUILT_TEMPLATE = BUILD / "template.yaml"
REGION = "us-east-1"
# The processor of this machine, for the built functions; the layer supports both.
ARCHITECTURE = "arm64" if platform.machine() in {"arm64", "aarch64"} else "x86_64"
# A build takes a minute, and many more on a machine that does other things at the same time.
LONGEST_SECONDS = 1_800


def tool(venv: str, program: str) -> Path:
    """Return a program of .venv-*venv*; raises RequirementError if it is not there."""
    path = ROOT / f".venv-{venv}" / "bin" / program
    if not path.exists():
        raise RequirementError(f"there is no .venv-{venv}: it needs Python 3.13 (make test-stack PYTHON313=...)")
    return path


def environment(extra: Mapping[str, str] = {}) -> dict[str, str]:
    """Return an environment without access to an AWS account, with Python 3.13 first on its path."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "SAM_", "PYENV_"))}
    python = (ROOT / ".venv-stack" / "bin" / "python3.13").resolve().parent
    return inherited | {
        "PATH": f"{python}{os.pathsep}{os.environ['PATH']}",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "SAM_CLI_TELEMETRY": "0",
        **extra,
    }


def run(command: Sequence[str | Path], extra: Mapping[str, str] = {}) -> tuple[int, str]:
    """Run a command at the root, and return its status and its output; raises TimeoutExpired."""
    done = subprocess.run(  # noqa: S603  our own tools
        [str(part) for part in command],
        cwd=ROOT,
        env=environment(extra),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LONGEST_SECONDS,
        check=False,
    )
    return done.returncode, done.stdout
