"""Requests made from the description by a fuzzer, in a virtual environment of its own."""

import subprocess
import sys

import pytest

from infra.fuzz.__main__ import FUZZER, ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FUZZER.exists(), reason="make fuzz installs the fuzzer"),
]


def test_no_request_meets_a_fault_or_an_undescribed_answer() -> None:
    """Of 2,000 requests none is answered with a 500, a status or a body that the description does not have."""
    done = subprocess.run(
        [sys.executable, "-m", "infra.fuzz"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=1_900
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]
