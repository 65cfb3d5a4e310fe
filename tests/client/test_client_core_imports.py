"""What importing the library brings along."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import streambank_client

SHARED = Path(__file__).resolve().parents[2] / "shared"
SERVERS = ("boto3", "botocore", "aws_lambda_powertools", "re2", "jsonschema", "lark", "snowballstemmer")
EVERYTHING = (
    "from streambank_client import *; import streambank_client.types as types; from streambank_client.types import *"
)


def ran(program: str) -> str:
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(SHARED)})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("imported", ["import streambank_client", EVERYTHING])
def test_import_brings_no_aws(imported: str) -> None:
    """The client is httpx and pydantic: nothing of the service's dependencies is imported with it."""
    assert ran(f"{imported}; import sys; print(sorted(set({SERVERS!r}) & set(sys.modules)))") == "[]\n"


def test_client_calls_without_the_service() -> None:
    """With the service's packages out of reach, a client makes calls and reads replies."""
    program = f"""
import sys
for name in {SERVERS!r}: sys.modules[name] = None
import httpx
from streambank_client import Streambank
answer = httpx.MockTransport(lambda request: httpx.Response(200, json={{"name": "reasoningEngines/b"}}))
print(Streambank("https://h", transport=answer).bank("b").get().id)
"""
    assert ran(program) == "b\n"


def test_names_are_found() -> None:
    """Each public name is there, and no other is made up."""
    assert all(getattr(streambank_client, name) for name in streambank_client.__all__)
    assert set(dir(streambank_client)) == set(streambank_client.__all__)
    with pytest.raises(AttributeError):
        streambank_client.Nonsense  # noqa: B018
