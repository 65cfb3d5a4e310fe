"""The example of docs/openai-agents.md runs with the package that it is about, over HTTP."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from streambank_client import Streambank
from streambank_local.service import LocalService
from tests.docs.conftest import ROOT, ChatEndpoint
from tests.docs.test_docs_frameworks import PYTHON

BEFORE = """
import asyncio
import sys

from agents import set_default_openai_api, set_tracing_disabled
from agents.memory.session import Session
from streambank_client import Streambank

set_default_openai_api("chat_completions")
set_tracing_disabled(True)
"""
AFTER = """
assert isinstance(StreambankSession(None, "c"), Session)
for line in ("I live in Graz.", "I keep bees."):
    print(asyncio.run(ask("ada", "agents-page", line)))
with Streambank(sys.argv[1], token="local") as client:
    client.bank().ingest_events(scope={"user_id": "ada"}, stream_id="agents-page", force_flush=True).wait()
print(asyncio.run(ask("ada", "another page", "Where do I live?")))
"""


@pytest.mark.skipif(
    not PYTHON.exists(), reason="no Python with the frameworks: STREAMBANK_FRAMEWORKS_PYTHON, .venv-frameworks"
)
def test_openai_agents_session(service: LocalService, chat_endpoint: ChatEndpoint) -> None:
    """A second run goes on with the conversation of the first; another conversation has the memories of both."""
    replies = ["Noted.", "Nice.", "In Graz."]
    chat_endpoint.messages = [{"role": "assistant", "content": text} for text in replies]
    page = (ROOT / "docs" / "openai-agents.md").read_text().replace("http://127.0.0.1:8080", service.base_url)
    program = BEFORE + "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)) + AFTER
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "client"),
        "OPENAI_API_KEY": "key",
        "OPENAI_BASE_URL": chat_endpoint.url,
    }
    ran = subprocess.run(
        [str(PYTHON), "-c", program, service.base_url],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == replies
    assert [message["role"] for message in chat_endpoint.prompts()[1]] == ["system", "user", "assistant", "user"]
    instructions = chat_endpoint.prompts()[2][0]["content"]
    assert "<streambank-memory>" in instructions
    assert "Graz" in instructions
    with Streambank(service.base_url, token="local") as client:
        history = client.bank().load_chat_history(conversation_id="agents-page")
    assert [message.get("role") for message in history.messages] == ["user", "assistant", "user", "assistant"]
    assert "streambank-memory" not in str(history.messages)
    assert history.expire_time is not None
