"""The configurations of docs/mcp.md are read by the server, and its example runs with the OpenAI Agents SDK."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import Any

import pytest

from streambank_client import Streambank
from streambank_client.mcp.options import settings_of
from streambank_local.service import LocalService
from tests.docs.conftest import ROOT, ChatEndpoint
from tests.docs.test_docs_frameworks import PYTHON

PAGE = (ROOT / "docs" / "mcp.md").read_text()
BEFORE = """
import asyncio
import sys

from agents import set_default_openai_api, set_tracing_disabled

set_default_openai_api("chat_completions")
set_tracing_disabled(True)
"""
AFTER = """
PARAMS["command"] = sys.executable
PARAMS["args"][3] = sys.argv[1]
PARAMS["args"][5] = "user_id=mcp-agents"
PARAMS["env"]["PYTHONPATH"] = sys.argv[2]
print(asyncio.run(ask("I live in Graz. Where do I live?")))
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_configurations_start_the_server() -> None:
    """Each configuration is JSON; one with a command starts the server for a scope, one with a URL names its path."""
    servers: list[dict[str, Any]] = []
    for block in blocks("json"):
        config = json.loads(block)
        servers += (config.get("mcpServers") or config["servers"]).values()
    assert len(servers) == 4
    for server in servers:
        if "url" in server:
            assert server["url"] == "http://127.0.0.1:8091/mcp"
            continue
        assert server["args"][:2] == ["-m", "streambank_client.mcp"]
        settings = settings_of(server["args"][2:], server["env"])
        assert (settings.transport, dict(settings.scope)) == ("stdio", {"user_id": "ada"})
        assert settings.token == server["env"]["STREAMBANK_TOKEN"]


def test_options_are_those_of_the_page() -> None:
    """The table names each option of the server."""
    options = re.findall(r"`(--[a-z-]+)", PAGE.partition("## What a model gets")[0].partition("| option")[2])
    values = {"--scope": "user_id=ada", "--transport": "http", "--port": "0"}
    line = [part for option in options for part in (option, values.get(option, "default"))]
    assert settings_of(line, {}).transport == "http"
    assert set(options) == {
        *("--scope", "--url", "--token", "--bank", "--transport", "--host", "--port", "--caller-token", "--host-name")
    }


@pytest.mark.skipif(
    not PYTHON.exists(), reason="no Python with the frameworks: STREAMBANK_FRAMEWORKS_PYTHON, .venv-frameworks"
)
def test_openai_agents_package(service: LocalService, chat_endpoint: ChatEndpoint) -> None:
    """An agent of the SDK calls the tools of the server: what it remembers is a memory, and the model sees it."""
    steps = [("remember", {"text": "I live in Graz."}), ("recall", {"query": "Where do I live?"})]
    for number, (name, arguments) in enumerate(steps):
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": f"call-{number}", "type": "function", "function": function}
        chat_endpoint.messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
    chat_endpoint.messages.append({"role": "assistant", "content": "In Graz."})
    environment = {**os.environ, "OPENAI_API_KEY": "key", "OPENAI_BASE_URL": chat_endpoint.url}
    program = BEFORE + "\n".join(blocks("python")) + AFTER
    command = [str(PYTHON), "-c", program, service.base_url, str(ROOT / "client")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == ["In Graz."]
    offered = {tool["function"]["name"] for tool in chat_endpoint.asked[0]["tools"]}
    assert offered == {"remember", "recall", "list_memories", "forget", "history"}
    assert "I live in Graz" in str(chat_endpoint.prompts()[-1][-1]["content"])
    with Streambank(service.base_url, token="local") as client:
        [row] = client.bank().retrieve_memories(scope={"user_id": "mcp-agents"}, query="town")
    assert row.memory.fact == "I live in Graz"
